-- SPDX-License-Identifier: Apache-2.0
return pairperf.scenario {
  name = "inference",
  summary = "requests to a running endpoint, sent by your hook (a label, not a validated state)",
  interval_s = 5,
}
