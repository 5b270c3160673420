-- SPDX-License-Identifier: Apache-2.0
-- The client for OpenAI-compatible endpoints; its options:
--   pairperf-lua --run-hook inference chat_loop -- --help
return pairperf.scenario {
  name = "inference",
  summary = "requests to a running endpoint, sent by your hook (a label, not a validated state)",
  interval_s = 5,
  hooks = {
    chat_loop = function(...)
      return require("pairperf.chat_loop").main { ... }
    end,
  },
}
