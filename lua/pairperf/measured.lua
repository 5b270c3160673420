-- SPDX-License-Identifier: Apache-2.0
--- The form of a metric in a summary: {value, unit, tier, flags, reason, partial}. A value is a
--- number, or null with a reason.
local json = require "pairperf.json"

local M = {}

function M.known(value)
  return value ~= nil and value ~= json.null
end

function M.or_null(value)
  if value == nil then
    return json.null
  end
  return value
end

--- A start token as it is told: 0 stands for the one of a process that could not be looked at.
---@param start integer
---@return integer|string
function M.start_token(start)
  return start ~= 0 and start or "not read"
end

---@class pairperf.MetricFields
---@field value? number
---@field partial? number what there is instead of a value
---@field flags? string[]
---@field reason? string why there is no value
---@field error? number
---@field passes? integer frames that were used

--- A metric; `reason` is asked for whenever there is no value.
---@param unit string
---@param tier string?
---@param fields pairperf.MetricFields
function M.metric(unit, tier, fields)
  return {
    value = M.or_null(fields.value),
    unit = unit,
    tier = M.or_null(tier),
    flags = json.array(fields.flags or {}),
    partial = M.or_null(fields.partial),
    reason = fields.value == nil and (fields.reason or "not_measured") or json.null,
    error = fields.error,
    passes = fields.passes,
  }
end

--- The figure of the whole tree that a component's figure is a part of: what is not known of the
--- tree is not known of its parts.
---@param metrics table<string, table> of a summary
---@param field string of a component
---@return table?
function M.whole_of(metrics, field)
  return metrics[field == "cpu_percent" and "cpu_percent_observed" or field]
end

--- `delta` per elapsed time, times `scale`; nil where there is no positive duration.
---@param delta number?
---@param elapsed_ns integer?
---@param scale number
---@return number?
function M.rate(delta, elapsed_ns, scale)
  if delta and M.known(elapsed_ns) and elapsed_ns > 0 and delta >= 0 then
    return delta * scale / elapsed_ns
  end
end

return M
