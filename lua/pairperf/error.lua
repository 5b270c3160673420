-- SPDX-License-Identifier: Apache-2.0
--- Failures as values. What can go wrong while running is `nil, err`; `err` has the fields
--- `code`, `op`, `detail` and `errno`. Branch on `err.code`, never on the text.
local core = require "pairperf.core"

local M = {}

---@class pairperf.Error
---@field code string name of a status: "denied", "refused", "invalid", "timeout", "cancelled", …
---@field op string the failing step
---@field detail string what it was about
---@field errno string? symbolic, for example "EACCES"

--- A new error value.
---@param code string
---@param op string
---@param detail string?
---@return pairperf.Error
function M.new(code, op, detail)
  return core.error.new { code = code, op = op, detail = detail or "" }
end

--- `nil, err`, the form in which every fallible function fails.
---@return nil
---@return pairperf.Error
function M.fail(code, op, detail)
  return nil, M.new(code, op, detail)
end

--- Whether a caught value is one of ours.
---@return boolean
function M.is(value)
  return core.error.is(value)
end

--- Whether a caught value means that the user asked to stop.
---@return boolean
function M.is_cancelled(value)
  return M.is(value) and value.code == "cancelled"
end

--- What a person reads: a refusal or a bad value speaks for itself, other failures name their kind.
---@return string
function M.text(value)
  if not M.is(value) or not (value.code == "invalid" or value.code == "refused") then
    return tostring(value)
  end
  return value.op == "" and value.detail or value.op .. ": " .. value.detail
end

--- What a person reads of a value that was raised, whatever it is.
---@return string
function M.raised(value)
  local meta = getmetatable(value)
  if type(value) == "string" or type(meta) == "table" and meta.__tostring then
    return M.text(value)
  end
  return "error value of type " .. type(value)
end

--- The same inside a sentence that names the step already: what it was about and why.
---@return string
function M.reason(value)
  return value.errno and value.detail .. ": " .. value.errno or value.detail
end

return M
