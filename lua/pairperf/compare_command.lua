-- SPDX-License-Identifier: Apache-2.0
--- pairperf-lua compare DIR...: the comparison of finished sessions again, with gates, screens,
--- primary metrics and a noise floor of one's choice. Writes nothing.
local combine = require "pairperf.combine"
local errors = require "pairperf.error"
local exit_status = require "pairperf.exit_status"
local format = require "pairperf.format"
local gate = require "pairperf.gate"
local json = require "pairperf.json"
local measured = require "pairperf.measured"
local metric_names = require "pairperf.metric_names"
local noise_floor = require "pairperf.noise_floor"
local report = require "pairperf.report"
local report_build = require "pairperf.report_build"
local report_compare = require "pairperf.report_compare"
local session_options = require "pairperf.session_options"
local terminal = require "pairperf.terminal"

local M = {}

local known = measured.known

local STDOUT <const> = 1

local function fail(text, ...)
  return errors.fail("invalid", "", text:format(...))
end

-- ---------------------------------------------------------------- options

--- Options of sessions that make sense afterwards; a default then comes from the plan.
---@param names table<string, boolean>
---@return table[] entries
function M.entries_of(names)
  local list = {}
  for _, entry in ipairs(session_options) do
    if names[entry.name] then
      local copy = {}
      for key, value in pairs(entry) do
        copy[key] = key ~= "default" and value or nil
      end
      copy.group = nil
      list[#list + 1] = copy
    end
  end
  return list
end

--- The options of compare.
---@return table[] entries
function M.entries()
  local list = M.entries_of {
    ["allow-failed"] = true,
    ["allow-inconclusive"] = true,
    ["fail-on"] = true,
    help = true,
    ["noise-floor"] = true,
    primary = true,
    screen = true,
  }
  list[#list + 1] = {
    name = "gate-hosts",
    type = "choice",
    value = "WHICH",
    choices = { "all", "any" },
    default = "all",
    help = "of several sessions, those in which a gate must hold",
  }
  return list
end

-- ---------------------------------------------------------------- what the command line declares

-- What an option says, else what the plan recorded.
local function setting(values, plan, name)
  if values[name] ~= nil then
    return values[name]
  end
  local recorded = (plan.options or {})[name]
  return recorded and recorded.value
end

-- Those of several names that a session has scenarios for.
local function applicable(texts, scenarios)
  local own, list = {}, {}
  for _, name in ipairs(scenarios) do
    own[name] = true
  end
  for _, text in ipairs(texts) do
    local scenario = text:match "^([^/:]*)/"
    list[#list + 1] = (scenario == nil or own[scenario]) and text or nil
  end
  return list
end

local function given(texts)
  return texts ~= nil and #texts > 0
end

-- Gates or screens in the place of the plan's; what became of those is noted.
local function replace(planned, field, option, texts, scenarios, notes)
  if not given(texts) then
    return
  end
  local before, own = planned[field] or {}, applicable(texts, scenarios)
  planned[field] = json.array(own)
  local gone = #before > 0 and ("; not asked: the plan's own %s"):format(table.concat(before, ", "))
    or ""
  if #own == 0 then
    notes[#notes + 1] = ("--%s names no scenario of this session%s"):format(option, gone)
  elseif #before > 0 then
    notes[#notes + 1] = ("--%s %s%s"):format(option, table.concat(own, ", "), gone)
  end
end

-- Primary metrics of one's own choice in the place of the plan's.
local function replace_primary(planned, texts, scenarios, notes)
  if not given(texts) then
    return
  end
  local list = {}
  for i, text in ipairs(applicable(texts, scenarios)) do
    list[i] = assert(metric_names.read(text, scenarios))
  end
  planned.primary = json.array(metric_names.pairs(list, scenarios))
  planned.primary_origin = "after the runs"
  if #list == 0 then
    notes[#notes + 1] = "--primary names no scenario of this session: no metric is primary"
  end
end

-- Puts what the command line declares in the place of what the plan did, option by option and in
-- every session alike. Gives notes on what a reader of the plan would not expect.
local function declare(input, values, floor)
  local plan, scenarios = input.plan, {}
  for i, one in ipairs(plan.scenarios) do
    scenarios[i] = one.name
  end
  local excludes = #plan.excluded_components > 0
  local planned = plan.comparison or report_compare.plan({}, scenarios, excludes)
  local notes = {}
  replace_primary(planned, values.primary, scenarios, notes)
  replace(planned, "gates", "fail-on", values["fail-on"], scenarios, notes)
  replace(planned, "screens", "screen", values.screen, scenarios, notes)
  if floor then
    planned.noise_floor = noise_floor.cited(floor, plan.scenarios)
  end
  plan.comparison = planned
  return notes
end

local function all_scenarios(inputs)
  local names = {}
  for _, input in ipairs(inputs) do
    for _, one in ipairs(input.plan.scenarios) do
      names[#names + 1] = one.name
    end
  end
  return names
end

-- Unknown names are refused against the scenarios of all sessions together.
local function check_names(inputs, values)
  local names = all_scenarios(inputs)
  local readers = { ["fail-on"] = gate.read_all, screen = gate.read_screens }
  for _, option in ipairs { "fail-on", "screen" } do
    local _, reason = readers[option](values[option] or {}, names)
    if reason then
      return fail("option '--%s': %s", option, reason)
    end
  end
  for _, text in ipairs(values.primary or {}) do
    local found, why = metric_names.read(text, names)
    if not found then
      return fail("option '--primary': '%s' %s", text, why)
    end
  end
  return true
end

-- What is said of a comparison has no place where there is none.
local function check_modes(directories, inputs, values)
  for i, input in ipairs(inputs) do
    for _, option in ipairs { "fail-on", "screen", "primary", "noise-floor" } do
      local value = values[option]
      if input.plan.mode == "single" and value and #value > 0 then
        return fail(
          "option '--%s' has no place beside a session of one variant (%s): nothing is compared",
          option,
          directories[i]
        )
      end
    end
  end
  return true
end

-- A floor must have been measured where every session was.
local function read_floor(directories, inputs, path)
  local floor, err = noise_floor.read(path)
  if not floor then
    return fail("option '--noise-floor': '%s' %s", path, errors.text(err))
  end
  for i, input in ipairs(inputs) do
    local reason = noise_floor.foreign(floor, input.probes)
    if reason then
      return fail("option '--noise-floor': '%s' %s (%s)", path, reason, directories[i])
    end
  end
  return floor
end

-- ---------------------------------------------------------------- conclusion

local function outcome_of(built, input, values, decisions)
  local totals = built.totals
  return {
    cancelled = known(built.session) and built.session.cancelled or false,
    failed_runs = totals.failed + totals.skipped + totals.pending,
    allow_failed = setting(values, input.plan, "allow-failed"),
    allow_inconclusive = setting(values, input.plan, "allow-inconclusive"),
    decisions = decisions,
  }
end

-- The status of several sessions is that of the first in the table's order that any of them has.
local function joint_status(statuses)
  for _, row in ipairs(exit_status.TABLE) do
    for _, status in ipairs(statuses) do
      if status == row[1] then
        return status
      end
    end
  end
  return exit_status.OK
end

local function painted(text)
  return terminal.painted(text, STDOUT)
end

--- Prints the reports and gives their common status.
---@param directories string[]
---@param inputs table[] of load_all
---@param reports table[]
---@param values table option values
---@param notes string[][]? by session: how the options changed what its plan declared
---@return integer exit_status
function M.conclude(directories, inputs, reports, values, notes)
  local statuses, pairs_of_variants = {}, {}
  local best = values["gate-hosts"] == "any" and combine.best_decisions(reports)
  for i, built in ipairs(reports) do
    io.stdout:write(format.text(directories[i]), "\n")
    for _, note in ipairs(notes and notes[i] or {}) do
      io.stdout:write(note, "\n")
    end
    io.stdout:write(painted(report.table(built)), "\n")
    local decisions = best or gate.decisions(built)
    statuses[i] = exit_status.decide(outcome_of(built, inputs[i], values, decisions))
    pairs_of_variants[#pairs_of_variants + 1] = built.mode ~= "single" and built or nil
  end
  if #reports > 1 and #pairs_of_variants == #reports then
    local machines = {}
    for i, input in ipairs(inputs) do
      machines[i] = noise_floor.machine(input.probes)
    end
    io.stdout:write(painted(combine.text(directories, reports, machines, values["gate-hosts"])))
  end
  return joint_status(statuses)
end

--- What the reports of several sessions are built from.
---@param directories string[]
---@return table[]? inputs
---@return pairperf.Error? err
function M.load_all(directories)
  local inputs = {}
  for i, directory in ipairs(directories) do
    local input, err = report.load(directory)
    if not input then
      return fail("%s: not the output of a session: %s", directory, tostring(err))
    end
    inputs[i] = input
  end
  return inputs
end

--- Compares.
---@param directories string[]
---@param values table option values
---@return integer? exit_status
---@return pairperf.Error? err
function M.run(directories, values)
  local inputs, err = M.load_all(directories)
  local ok, floor = inputs, nil
  if inputs then
    ok, err = check_modes(directories, inputs, values)
  end
  if ok and inputs then
    ok, err = check_names(inputs, values)
  end
  if ok and inputs and values["noise-floor"] then
    floor, err = read_floor(directories, inputs, values["noise-floor"])
    ok = floor
  end
  if not (ok and inputs) then
    return nil, err
  end
  local reports, notes = {}, {}
  for i, input in ipairs(inputs) do
    notes[i] = declare(input, values, floor)
    reports[i] = report_build.build(input)
  end
  return M.conclude(directories, inputs, reports, values, notes)
end

return M
