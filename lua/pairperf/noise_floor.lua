-- SPDX-License-Identifier: Apache-2.0
--- The noise floor of an A/A session: how far apart the same build can seem to be on this machine.
--- Written into its output; a comparison of the same scenario, windows and machine may take it in
--- the place of the starting margins.
local core = require "pairperf.core"
local errors = require "pairperf.error"
local forms = require "pairperf.forms"
local json = require "pairperf.json"
local json_schema = require "pairperf.json_schema"
local measured = require "pairperf.measured"

local M = {}

local known = measured.known

M.FILE = "noise-floor.json"

local SCHEMA <const> = "pairperf-floor-1"

-- What must be alike for two sessions to be of one machine.
local MACHINE = { "hardware_vendor", "hardware_model", "cpu_model", "cpus_online", "os", "kernel" }
local WINDOW = { "warmup_ns", "duration_ns", "interval_ns" }

-- ---------------------------------------------------------------- writing

--- What the static probes say of the machine.
---@param probes table? probes.json
---@return table<string, any>
function M.machine(probes)
  local machine = {}
  for _, name in ipairs(MACHINE) do
    local probe = known(probes) and probes and probes[name]
    machine[name] = probe and probe.value or json.null
  end
  return machine
end

--- Whether the control of a report holds: also a short one shows noise, a void one nothing.
---@param report table as built
function M.measured(report)
  local void = report.null_control and report.comparison.void
  return void == json.null or void == "diagnostic_only"
end

-- The least margin within which this comparison is certain to lie; none without an interval.
local function floor_of(row)
  local comparison = row.comparison
  local interval = comparison.equivalence_interval
  if not known(interval) then
    return nil
  end
  return {
    metric = row.name,
    tier = row.tier,
    floor = math.max(math.abs(interval.low), math.abs(interval.high)),
    low = interval.low,
    high = interval.high,
    level = interval.level,
    baseline_runs = #comparison.values.baseline,
    candidate_runs = #comparison.values.candidate,
  }
end

local function scenario_floors(scenario)
  local metrics = json.array {}
  for _, row in ipairs(scenario.metrics) do
    metrics[#metrics + 1] = floor_of(row)
  end
  return {
    name = scenario.name,
    warmup_ns = scenario.warmup_ns,
    duration_ns = scenario.duration_ns,
    interval_ns = scenario.interval_ns,
    metrics = metrics,
  }
end

--- noise-floor.json of an A/A session's report.
---@param report table as built
---@param probes table? probes.json
---@return table
function M.build(report, probes)
  local scenarios = json.array {}
  for i, scenario in ipairs(report.scenarios) do
    scenarios[i] = scenario_floors(scenario)
  end
  return {
    schema = SCHEMA,
    created_utc = report.created_utc,
    machine = M.machine(probes),
    scenarios = scenarios,
  }
end

-- ---------------------------------------------------------------- citing

--- Reads a noise floor.
---@param path string
---@return table? floor with its `sha256` and `path`
---@return pairperf.Error? err
function M.read(path)
  local text, err = core.fs.read(path)
  local floor
  if text then
    floor, err = json.decode(text)
  end
  if floor then
    floor, err = forms.known(floor, path)
  end
  if not floor then
    return nil, err
  elseif type(floor) ~= "table" or floor.schema ~= SCHEMA then
    return errors.fail("invalid", path, "no noise floor of an A/A session")
  end
  local problem = json_schema.problem(floor)
  if problem then
    return errors.fail("invalid", path, problem)
  end
  floor.path, floor.sha256 = path, core.digest.bytes(text)
  return floor
end

--- Why a floor says nothing about a machine; nil when it was made on it.
---@param floor table
---@param probes table? static probes of the machine
---@return string?
function M.foreign(floor, probes)
  local here = M.machine(probes)
  for _, name in ipairs(MACHINE) do
    local one, other = floor.machine[name], here[name]
    if one ~= other then
      local words = "was made on another machine: %s is %s there, %s here"
      return words:format(name, json.encode(one), json.encode(other))
    end
  end
end

local function same_windows(one, other)
  for _, field in ipairs(WINDOW) do
    if one[field] ~= other[field] then
      return false
    end
  end
  return true
end

--- What a plan keeps of a floor: the margins of its own scenarios with the same windows. A floor of
--- 0 replaces nothing: that no noise was seen does not make every difference matter.
---@param floor table as read
---@param scenarios table[] of the plan
---@return table cited for the plan
---@return string[] without scenarios that keep their starting margins
function M.cited(floor, scenarios)
  local margins, without = json.array {}, {}
  for _, scenario in ipairs(scenarios) do
    local before = #margins
    for _, own in ipairs(floor.scenarios) do
      for _, one in
        ipairs(own.name == scenario.name and same_windows(own, scenario) and own.metrics or {})
      do
        margins[#margins + 1] = one.floor > 0
            and { scenario = own.name, metric = one.metric, tier = one.tier, floor = one.floor }
          or nil
      end
    end
    without[#without + 1] = #margins == before and scenario.name or nil
  end
  local cited = { path = floor.path, sha256 = floor.sha256, created_utc = floor.created_utc }
  cited.margins = margins
  return cited, without
end

--- Where a plan's margins come from, for its report.
---@param cited table?
---@param scenarios table[] of the report
---@return table?
function M.source(cited, scenarios)
  if not cited then
    return nil
  end
  local used = 0
  for _, scenario in ipairs(scenarios) do
    for _, row in ipairs(scenario.metrics) do
      used = used + (row.comparison.margin_origin == "noise_floor" and 1 or 0)
    end
  end
  return {
    path = cited.path,
    sha256 = cited.sha256,
    created_utc = cited.created_utc,
    margins = used,
  }
end

--- The margins that a plan cites for a scenario.
---@return table[]? margins
function M.of_scenario(plan, scenario)
  local cited = plan.comparison and plan.comparison.noise_floor
  local list = {}
  for _, one in ipairs(cited and cited.margins or {}) do
    list[#list + 1] = one.scenario == scenario and one or nil
  end
  return cited and list
end

--- The margin of a metric by one source; nil where none is cited.
---@param margins table[]?
---@param metric string
---@param tier string|userdata
---@return number?
function M.margin(margins, metric, tier)
  for _, one in ipairs(margins or {}) do
    if one.metric == metric and one.tier == tier then
      return one.floor
    end
  end
end

return M
