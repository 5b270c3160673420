-- SPDX-License-Identifier: Apache-2.0
--- Gates: `[SCENARIO/]METRIC:BUDGET` with +5%, +20MiB or <=LIMIT, and what they decide about the
--- rows of a report. Screens are gates for short sessions: they fail, or show nothing.
local decide = require "pairperf.stats.gate"
local json = require "pairperf.json"
local measured = require "pairperf.measured"
local metric_names = require "pairperf.metric_names"
local report_row = require "pairperf.report_row"
local units = require "pairperf.units"

local M = {}

local or_null = measured.or_null

M.FORM = "[SCENARIO/]METRIC:+5%, :+20MiB or :<=LIMIT"

--- Fewest runs per variant with which a screen can fail.
M.SCREEN_RUNS = 3

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

--- Reads a list of screens: gates with a budget, not with a limit.
---@param texts string[]
---@param scenarios string[]
---@return pairperf.Gate[]? screens
---@return string? reason names the screen
function M.read_screens(texts, scenarios)
  local screens, reason = M.read_all(texts, scenarios)
  for _, one in ipairs(screens or {}) do
    if one.limit then
      return nil, ("'%s' is a limit; a screen takes a budget, +5%% or +20MiB"):format(one.text)
    end
  end
  return screens, reason
end

local NO_VALUES = { baseline = {}, candidate = {} }

local function budget_of(gate, entry)
  return {
    direction = entry.direction,
    budget_abs = gate.budget_abs,
    budget_rel = gate.budget_rel,
  }
end

local function screen_decision(screen, values, entry)
  return decide.screen(values.baseline, values.candidate, budget_of(screen, entry))
end

local function decision(gate, values, entry)
  if gate.limit then
    return decide.absolute(values.candidate, gate.limit, entry.direction)
  end
  return decide.relative(values.baseline, values.candidate, budget_of(gate, entry))
end

-- Whether the values of a variant are only known to be at least what they are. Higher is worse.
local function at_least(row, variant)
  return (row[variant].lower_bound or 0) > 0
end

-- What lower bounds do not show stays open: that the candidate is within a limit or no worse; and
-- that it is worse than a baseline which may be higher itself.
local function of_lower_bounds(gate, row, found)
  local b, c = at_least(row, "baseline") and not gate.limit, at_least(row, "candidate")
  if (b or c) and (found.decision ~= "fail" or b) and found.decision ~= "inconclusive" then
    found.decision, found.reason = "inconclusive", "lower_bound"
  end
  return found
end

-- What a gate or screen decides about one scenario. What voids it leaves it open.
local function decided(gate, scenario, void, rule)
  local row = report_row.of(scenario, gate.metric)
  local values = row and row.comparison.values or NO_VALUES
  local found = rule(gate, values, assert(metric_names.entry(gate.metric)))
  found = row and of_lower_bounds(gate, row, found) or found
  local open = void and found.reason ~= "missing_metric"
  return {
    scenario = scenario.name,
    metric = gate.metric,
    decision = void and "inconclusive" or found.decision,
    reason = or_null(open and void or found.reason),
    budget = or_null(found.budget),
    worse_low = or_null(found.worse_low),
    worse_high = or_null(found.worse_high),
  },
    found
end

local function result(gate, scenario)
  local void = measured.known(scenario.void) and scenario.void or nil
  local one, found = decided(gate, scenario, void, decision)
  one.gate, one.limit, one.confidence = gate.text, or_null(gate.limit), or_null(found.confidence)
  return one
end

-- Short windows and few runs do not void a screen.
local function screened(screen, scenario)
  local void = measured.known(scenario.void) and scenario.void ~= "diagnostic_only"
  local one = decided(screen, scenario, void and scenario.void or nil, screen_decision)
  one.screen = screen.text
  return one
end

local function for_scenarios(gates, scenarios, one_result)
  local results = json.array {}
  for _, gate in ipairs(gates) do
    for _, scenario in ipairs(scenarios) do
      if gate.scenario == nil or gate.scenario == scenario.name then
        results[#results + 1] = one_result(gate, scenario)
      end
    end
  end
  return results
end

--- What the gates decide about the scenarios of a report.
---@param gates pairperf.Gate[]
---@param scenarios table[] of a report, compared
---@return table[] results
function M.results(gates, scenarios)
  return for_scenarios(gates, scenarios, result)
end

--- The same for screens.
function M.screen_results(screens, scenarios)
  return for_scenarios(screens, scenarios, screened)
end

-- How the exit status takes the decisions.
local AS_GATE = { not_shown = "pass" }

--- The decisions of a report's gates and screens, as the exit status takes them.
---@param report table
---@return string[]
function M.decisions(report)
  local list = {}
  for _, results in ipairs { report.gates, report.screens } do
    for _, one in ipairs(results) do
      list[#list + 1] = AS_GATE[one.decision] or one.decision
    end
  end
  return list
end

return M
