-- SPDX-License-Identifier: Apache-2.0
--- Gates: `[SCENARIO/]METRIC:BUDGET` with +5%, +20MiB or <=LIMIT, and what they decide about the
--- rows of a report.
local decide = require "pairperf.stats.gate"
local json = require "pairperf.json"
local metric_names = require "pairperf.metric_names"
local units = require "pairperf.units"

local M = {}

M.FORM = "[SCENARIO/]METRIC:+5%, :+20MiB or :<=LIMIT"

---@class pairperf.Gate
---@field text string as given
---@field scenario string? nil: every scenario
---@field metric string
---@field budget_rel number? tolerated worsening, of the baseline's median
---@field budget_abs number? the same in the stored unit
---@field limit number? for every run of the candidate, in the stored unit

local function plain_number(text)
  return text:match "^%d+%.?%d*$" and tonumber(text) or nil
end

local function bytes(text)
  local size, reason = units.size_bytes(text)
  if not size then
    return nil, ("'%s' %s"):format(text, reason)
  end
  return size
end

local function milliseconds(text)
  local ns, reason = units.duration_ns(text)
  if not ns then
    return nil, ("'%s' %s"):format(text, reason)
  end
  return ns / 1e6
end

-- printed unit -> function(text) -> amount in the stored unit | nil, reason
local AMOUNT = {
  ["MiB"] = bytes,
  ["KiB per second"] = function(text)
    return bytes((text:gsub("/s$", "")))
  end,
  ["ms"] = milliseconds,
  ["% of one core"] = function(text)
    local amount = plain_number((text:gsub("%%$", "")))
    return amount, not amount and ("'%s' is no number of percent of one core"):format(text) or nil
  end,
  ["per second"] = function(text)
    local amount = plain_number((text:gsub("/s$", "")))
    return amount, not amount and ("'%s' is no number per second"):format(text) or nil
  end,
}

local function read_relative(gate, amount)
  local percent = plain_number(amount:sub(1, -2))
  if not percent then
    return nil, ("'%s' is no number of percent"):format(amount)
  end
  gate.budget_rel = percent / 100
  return gate
end

-- Puts budget or limit into a gate.
local function read_budget(gate, text, entry)
  local sign, amount = text:match "^([+<]=?)(.+)$"
  if sign == "+" and amount:sub(-1) == "%" then
    return read_relative(gate, amount)
  elseif sign ~= "+" and sign ~= "<=" then
    return nil, ("has no budget of the form %s"):format(M.FORM)
  end
  local value, reason = AMOUNT[entry.unit](amount)
  if not value then
    return nil, reason
  end
  gate[sign == "+" and "budget_abs" or "limit"] = value
  return gate
end

--- Reads one gate.
---@param text string
---@param scenarios string[] names in use
---@return pairperf.Gate? gate
---@return string? reason
function M.read(text, scenarios)
  local name, budget = text:match "^([^:]+):(.+)$"
  if not name then
    return nil, "is not of the form " .. M.FORM
  end
  local found, reason = metric_names.read(name, scenarios)
  if not found then
    return nil, reason
  end
  local entry = assert(metric_names.entry(found.metric))
  if entry.directional then
    return nil, ("'%s' is directional only; it cannot gate"):format(found.metric)
  end
  return read_budget(
    { text = text, scenario = found.scenario, metric = found.metric },
    budget,
    entry
  )
end

--- Reads a list of gates. The first that cannot be read ends it.
---@param texts string[]
---@param scenarios string[]
---@return pairperf.Gate[]? gates
---@return string? reason names the gate
function M.read_all(texts, scenarios)
  local gates = {}
  for i, text in ipairs(texts) do
    local gate, reason = M.read(text, scenarios)
    if not gate then
      return nil, ("'%s' %s"):format(text, reason)
    end
    gates[i] = gate
  end
  return gates
end

local function or_null(value)
  if value == nil then
    return json.null
  end
  return value
end

local function find_row(scenario, metric)
  for _, row in ipairs(scenario.metrics) do
    if row.name == metric then
      return row
    end
  end
end

local function decision(gate, row, entry)
  local values = row and row.comparison.values or { baseline = {}, candidate = {} }
  if gate.limit then
    return decide.absolute(values.candidate, gate.limit, entry.direction)
  end
  return decide.relative(values.baseline, values.candidate, {
    direction = entry.direction,
    budget_abs = gate.budget_abs,
    budget_rel = gate.budget_rel,
  })
end

-- One gate on one scenario. What makes every verdict of the session void leaves the gate open.
local function result(gate, scenario, void)
  local entry = assert(metric_names.entry(gate.metric))
  local found = decision(gate, find_row(scenario, gate.metric), entry)
  local open = void and found.reason ~= "missing_metric"
  return {
    gate = gate.text,
    scenario = scenario.name,
    metric = gate.metric,
    decision = void and "inconclusive" or found.decision,
    reason = or_null(open and void or found.reason),
    budget = or_null(found.budget),
    limit = or_null(gate.limit),
    worse_low = or_null(found.worse_low),
    worse_high = or_null(found.worse_high),
    confidence = or_null(found.confidence),
  }
end

--- What the gates decide about the scenarios of a report.
---@param gates pairperf.Gate[]
---@param scenarios table[] of a report, compared
---@param void string? reason that no word of this session counts
---@return table[] results
function M.results(gates, scenarios, void)
  local results = json.array {}
  for _, gate in ipairs(gates) do
    for _, scenario in ipairs(scenarios) do
      if gate.scenario == nil or gate.scenario == scenario.name then
        results[#results + 1] = result(gate, scenario, void)
      end
    end
  end
  return results
end

--- The decisions alone, as the exit status takes them.
---@param results table[]
---@return string[]
function M.decisions(results)
  local list = {}
  for i, one in ipairs(results) do
    list[i] = one.decision
  end
  return list
end

return M
