-- SPDX-License-Identifier: Apache-2.0
--- One probe of the machine: {value, reason, source}, a value or null with the reason.
local json = require "pairperf.json"

local M = {}

---@class pairperf.Probe
---@field value any null without one
---@field reason string|pairperf.Null why there is none, else null
---@field source string the file, command or variable

--- "absent" is the reason that is not given.
---@param source string
---@param value any nil: none
---@param reason string?
---@return pairperf.Probe
function M.of(source, value, reason)
  local missing = value == nil
  return {
    value = missing and json.null or value,
    reason = missing and (reason or "absent") or json.null,
    source = source,
  }
end

return M
