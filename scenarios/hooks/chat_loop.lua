-- SPDX-License-Identifier: Apache-2.0
-- Inference load for an OpenAI-compatible endpoint; `--help` after the `--` lists its options:
--   --pre-sample-hook 'PAIRPERF-LUA --run-hook HERE/chat_loop.lua -- --base-url URL'
return function(...)
  return require("pairperf.chat_loop").main { ... }
end
