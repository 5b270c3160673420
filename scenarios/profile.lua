-- SPDX-License-Identifier: Apache-2.0
-- The original's surface: all three labels, or those named by --scenario.
return pairperf.suite {
  name = "profile",
  summary = "tray, overview and inference in one session",
  scenarios = {
    pairperf.builtin "tray",
    pairperf.builtin "overview",
    pairperf.builtin "inference",
  },
}
