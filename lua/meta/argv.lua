---@meta pairperf.core.argv
-- SPDX-License-Identifier: Apache-2.0

---@class pairperf.core.argv
local argv = {}

--- Words of a command line, split as a shell splits quotes; nothing is expanded.
---@param text string
---@return string[]? words
---@return pairperf.Error? err codes: invalid (a quote that is not closed)
---@nodiscard
function argv.split(text) end

return argv
