-- SPDX-License-Identifier: Apache-2.0
return pairperf.scenario {
  name = "tray",
  summary = "tray icon only, no window (a label, not a validated state)",
  interval_s = 10,
}
