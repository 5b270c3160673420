-- SPDX-License-Identifier: Apache-2.0
--- The comparison of a whole session: words adjusted for the family that was declared before the
--- runs, what voids them all, gates and screens.
local compare = require "pairperf.compare"
local core = require "pairperf.core"
local gate = require "pairperf.gate"
local json = require "pairperf.json"
local measured = require "pairperf.measured"
local metric_names = require "pairperf.metric_names"
local noise_floor = require "pairperf.noise_floor"
local report_order = require "pairperf.report_order"

local M = {}

local known = measured.known

local function names_of(scenarios)
  local names = {}
  for i, scenario in ipairs(scenarios) do
    names[i] = scenario.name
  end
  return names
end

---@class pairperf.Declared
---@field primary string[]? `[SCENARIO/]METRIC`, as given; none for the default family
---@field gates string[]? as given
---@field screens string[]? as given; all three have been read before
---@field noise_floor table? as noise_floor.cited gives it

--- What a plan says about its comparison.
---@param declared pairperf.Declared
---@param scenarios string[] names
---@param excludes boolean whether components are excluded
---@return table for plan.json
function M.plan(declared, scenarios, excludes)
  local list = {}
  for i, text in ipairs(declared.primary or {}) do
    list[i] = assert(metric_names.read(text, scenarios))
  end
  local given = #list > 0
  list = given and list or metric_names.default_family(core.process.system(), excludes)
  return {
    primary = json.array(metric_names.pairs(list, scenarios)),
    primary_origin = given and "option" or "default",
    gates = json.array(declared.gates or {}),
    screens = json.array(declared.screens or {}),
    noise_floor = declared.noise_floor,
  }
end

-- What voids every word of a session, however long its windows are; nil when nothing does.
local function session_void(report)
  local session = report.session
  for _, state in pairs(known(session) and session.artifacts or {}) do
    if state.unchanged == false then
      return "artifact_changed"
    end
  end
  return report.totals.pending > 0 and "unfinished" or nil
end

-- Puts into each scenario why none of its words counts. Of the session: why none at all does.
local function void_scenarios(report)
  local session, all_diagnostic = session_void(report), true
  for _, scenario in ipairs(report.scenarios) do
    local own = scenario.diagnostic_only and "diagnostic_only" or nil
    all_diagnostic = all_diagnostic and own ~= nil
    scenario.void = session or own or json.null
  end
  return session or all_diagnostic and "diagnostic_only" or json.null
end

local function entries_of(scenarios)
  local entries = {}
  for _, scenario in ipairs(scenarios) do
    for _, row in ipairs(scenario.metrics) do
      entries[row.name] = metric_names.entry(row.name)
    end
  end
  return entries
end

--- Adds `comparison` and `gates` to a report whose scenarios have their rows.
---@param report table
---@param plan table plan.json
function M.add(report, plan)
  report.gates, report.screens = json.array {}, json.array {}
  if report.mode == "single" then
    report.comparison = json.null
    return
  end
  local scenarios = names_of(plan.scenarios)
  local planned = plan.comparison or M.plan({}, scenarios, #plan.excluded_components > 0)
  for _, scenario in ipairs(report.scenarios) do
    local runs = scenario.runs
    scenario.attainable = compare.attainable(runs.baseline.successful, runs.candidate.successful)
  end
  local void = void_scenarios(report)
  compare.finish(report.scenarios, entries_of(report.scenarios), planned.primary)
  report.comparison = {
    alpha = compare.ALPHA,
    family = planned.primary,
    family_origin = planned.primary_origin,
    void = void,
    carry_over = report_order.CARRY_OVER,
    noise_floor = noise_floor.source(planned.noise_floor, report.scenarios) or json.null,
  }
  local gates = assert(gate.read_all(planned.gates, scenarios))
  local screens = assert(gate.read_screens(planned.screens or {}, scenarios))
  report.gates = gate.results(gates, report.scenarios)
  report.screens = gate.screen_results(screens, report.scenarios)
end

return M
