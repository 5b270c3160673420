-- SPDX-License-Identifier: Apache-2.0
--- The built-in scripts that look at finished sessions: compare, report, export, recover, verify,
--- metrics. They start nothing.
local catalogue = require "pairperf.metric_catalogue"
local combine = require "pairperf.combine"
local errors = require "pairperf.error"
local exit_status = require "pairperf.exit_status"
local export = require "pairperf.export"
local format = require "pairperf.format"
local gate = require "pairperf.gate"
local json = require "pairperf.json"
local metric_names = require "pairperf.metric_names"
local options = require "pairperf.options"
local recover = require "pairperf.recover"
local report = require "pairperf.report"
local report_build = require "pairperf.report_build"
local report_compare = require "pairperf.report_compare"
local session_options = require "pairperf.session_options"
local verify = require "pairperf.verify"

local M = {}

local function known(value)
  return value ~= nil and value ~= json.null
end

local SHARED = {
  ["allow-failed"] = true,
  ["allow-inconclusive"] = true,
  ["fail-on"] = true,
  help = true,
  primary = true,
}

-- The options of sessions that make sense afterwards; a default then comes from the plan.
local function entries_of(names)
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

local function fail(text, ...)
  return errors.fail("invalid", "", text:format(...))
end

-- ---------------------------------------------------------------- compare

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

-- Puts what the command line declares in the place of what the plan did.
local function declare(input, values)
  local plan, scenarios = input.plan, {}
  for i, one in ipairs(plan.scenarios) do
    scenarios[i] = one.name
  end
  local excludes = #plan.excluded_components > 0
  local planned = plan.comparison or report_compare.plan({}, {}, scenarios, excludes)
  if values.primary and #values.primary > 0 then
    local primary = applicable(values.primary, scenarios)
    planned.primary = report_compare.plan(primary, {}, scenarios, excludes).primary
    planned.primary_origin = "after the runs"
  end
  if values["fail-on"] and #values["fail-on"] > 0 then
    planned.gates = json.array(applicable(values["fail-on"], scenarios))
  end
  plan.comparison = planned
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
  local _, reason = gate.read_all(values["fail-on"] or {}, names)
  if reason then
    return fail("option '--fail-on': %s", reason)
  end
  for _, text in ipairs(values.primary or {}) do
    local found, why = metric_names.read(text, names)
    if not found then
      return fail("option '--primary': '%s' %s", text, why)
    end
  end
  return true
end

local function outcome_of(built, input, values)
  local totals = built.totals
  return {
    cancelled = known(built.session) and built.session.cancelled or false,
    failed_runs = totals.failed + totals.skipped + totals.pending,
    allow_failed = setting(values, input.plan, "allow-failed"),
    allow_inconclusive = setting(values, input.plan, "allow-inconclusive"),
    decisions = gate.decisions(built.gates),
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

-- Prints the reports and gives their common status.
local function conclude(directories, inputs, reports, values)
  local statuses, pairs_of_variants = {}, {}
  for i, built in ipairs(reports) do
    io.stdout:write(format.text(directories[i]), "\n", report.table(built), "\n")
    statuses[i] = exit_status.decide(outcome_of(built, inputs[i], values))
    pairs_of_variants[#pairs_of_variants + 1] = built.mode ~= "single" and built or nil
  end
  if #reports > 1 and #pairs_of_variants == #reports then
    io.stdout:write(combine.text(directories, reports))
  end
  return joint_status(statuses)
end

local function load_all(directories)
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

local function compare(directories, values)
  local inputs, err = load_all(directories)
  local ok = inputs
  if inputs then
    ok, err = check_names(inputs, values)
  end
  if not ok then
    return nil, err
  end
  local reports = {}
  for i, input in ipairs(inputs) do
    declare(input, values)
    reports[i] = report_build.build(input)
  end
  return conclude(directories, inputs, reports, values)
end

-- ---------------------------------------------------------------- report

local function rebuild(directories, values)
  local inputs, err = load_all(directories)
  if not inputs then
    return nil, err
  end
  local reports = {}
  for i, directory in ipairs(directories) do
    local unsealed
    reports[i], err, unsealed = report.rebuild(directory)
    if not reports[i] then
      return fail("%s: %s", directory, tostring(err))
    elseif unsealed then
      local words = "pairperf-lua: %s: digests.json stays as it was: %s\n"
      io.stderr:write(words:format(format.text(directory), errors.text(unsealed)))
    end
  end
  return conclude(directories, inputs, reports, values)
end

-- ---------------------------------------------------------------- metrics

local function margin_text(entry)
  local parts = {}
  if entry.margin.rel > 0 then
    parts[#parts + 1] = ("%g %%"):format(100 * entry.margin.rel)
  end
  if entry.margin.abs > 0 then
    parts[#parts + 1] = ("%g %s"):format(entry.margin.abs * entry.scale, entry.unit)
  end
  return #parts > 0 and "margin " .. table.concat(parts, " or ") or "directional only, no verdict"
end

local function metrics()
  for _, entry in ipairs(catalogue) do
    print(("%-38s %-16s %s; %s"):format(entry.name, entry.unit, entry.title, margin_text(entry)))
  end
  return exit_status.OK
end

-- ---------------------------------------------------------------- command lines

local COMMANDS = {
  compare = {
    run = compare,
    names = SHARED,
    usage = "Usage: pairperf-lua compare DIR... [options]",
    summary = "Compares the variants of finished sessions again, with gates and primary metrics "
      .. "of your choice. Writes nothing. "
      .. combine.RULE,
  },
  report = {
    run = rebuild,
    names = { help = true, ["allow-failed"] = true, ["allow-inconclusive"] = true },
    usage = "Usage: pairperf-lua report DIR...",
    summary = "Builds summaries and reports of sessions again from their raw evidence.",
  },
  export = {
    run = export.run,
    entries = export.OPTIONS,
    usage = "Usage: pairperf-lua export csv|openmetrics|perfetto DIR [--to FILE]",
    lacking = "name a format (csv, openmetrics or perfetto) and the output directory of a session",
    summary = "Writes a finished session for other programs: its runs and their components as "
      .. "CSV, its values and words as OpenMetrics text, or its runs as a trace for Perfetto and "
      .. "Chrome. DIR is only read. docs/EXPORTS.md has a command that loads each.",
  },
  recover = {
    run = recover.run,
    names = { help = true },
    usage = "Usage: pairperf-lua recover DIR",
    summary = "Completes a session whose harness died: its unfinished run failed at the step "
      .. "interrupted, later ones were skipped, finished ones stay as they are. Status 0: the "
      .. "report is complete; 1: it cannot be; 2: no session, or it has not ended yet.",
  },
  verify = {
    run = verify.run,
    names = { help = true },
    usage = "Usage: pairperf-lua verify DIR...",
    summary = "Checks that the evidence of sessions holds: digests, schemas, sums, and reports "
      .. "computed again. Names what does not by file, line or field. Writes nothing. Status 0: "
      .. "all hold; 1: one does not; 2: no session, or of a newer form.",
  },
  metrics = {
    run = metrics,
    names = { help = true },
    usage = "Usage: pairperf-lua metrics",
    summary = "Lists the metrics with their units, and the difference that is too small to matter.",
  },
}

local function parse(command, entries, args)
  local operands, rest = options.operands(entries, args)
  local parsed, err = options.parse(entries, rest)
  if not parsed then
    return nil, err
  elseif parsed.values.help then
    io.stdout:write(options.help(entries, command), "\n")
    return exit_status.OK
  elseif command.run ~= metrics and #operands == 0 then
    return fail(command.lacking or "name the output directory of a session")
  end
  return command.run(operands, parsed.values)
end

--- Runs one of the commands.
---@param name "compare"|"report"|"export"|"recover"|"verify"|"metrics"
---@param ... string words of the command line
---@return integer exit_status
function M.main(name, ...)
  local command = COMMANDS[name]
  local status, err = parse(command, command.entries or entries_of(command.names), { ... })
  if not status then
    io.stderr:write("pairperf-lua: ", errors.text(err), "\n")
    return exit_status.USAGE
  end
  return status
end

return M
