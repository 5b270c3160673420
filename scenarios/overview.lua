-- SPDX-License-Identifier: Apache-2.0
return pairperf.scenario {
  name = "overview",
  summary = "overview window open, no requests (a label, not a validated state)",
  interval_s = 5,
}
