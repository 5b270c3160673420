-- SPDX-License-Identifier: Apache-2.0
--- The built-in scripts that look at finished sessions: compare, report, export, recover, verify,
--- metrics. They start nothing.
local catalogue = require "pairperf.metric_catalogue"
local combine = require "pairperf.combine"
local compare_command = require "pairperf.compare_command"
local errors = require "pairperf.error"
local exit_status = require "pairperf.exit_status"
local export = require "pairperf.export"
local format = require "pairperf.format"
local options = require "pairperf.options"
local recover = require "pairperf.recover"
local report = require "pairperf.report"
local verify = require "pairperf.verify"

local M = {}

local function fail(text, ...)
  return errors.fail("invalid", "", text:format(...))
end

-- ---------------------------------------------------------------- report

local function rebuild(directories, values)
  local inputs, err = compare_command.load_all(directories)
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
  return compare_command.conclude(directories, inputs, reports, values)
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
    run = compare_command.run,
    entries = compare_command.entries(),
    usage = "Usage: pairperf-lua compare DIR... [options]",
    summary = "Compares the variants of finished sessions again, with gates, screens, primary "
      .. "metrics and noise floor of your choice. Writes nothing. --fail-on, --screen and "
      .. "--primary, where given, each replace the plan's own list in every session; one that "
      .. "names a scenario of none of them is refused. "
      .. combine.RULE,
  },
  report = {
    run = rebuild,
    entries = compare_command.entries_of {
      help = true,
      ["allow-failed"] = true,
      ["allow-inconclusive"] = true,
    },
    usage = "Usage: pairperf-lua report DIR... [options]",
    summary = "Builds summaries and reports of finished sessions again from their raw evidence.",
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
    entries = compare_command.entries_of { help = true },
    usage = "Usage: pairperf-lua recover DIR",
    summary = "Completes a session whose harness died: its unfinished run failed at the step "
      .. "'interrupted', later ones were skipped, finished ones stay as they are. Status 0: the "
      .. "report is complete; 1: it cannot be; 2: no session, or it has not ended yet.",
  },
  verify = {
    run = verify.run,
    entries = compare_command.entries_of { help = true },
    usage = "Usage: pairperf-lua verify DIR...",
    summary = "Checks that the evidence of sessions holds: digests, schemas, sums, and reports "
      .. "computed again. Names what does not by file, line or field. Writes nothing. Status 0: "
      .. "all hold; 1: one does not; 2: no session, or of a newer form.",
  },
  metrics = {
    run = metrics,
    entries = compare_command.entries_of { help = true },
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

local ORDER <const> = { "compare", "report", "export", "verify", "recover", "metrics" }

--- The commands as --help and the manual page show them.
---@return {name: string, usage: string, summary: string, entries: table[]}[]
function M.list()
  local list = {}
  for i, name in ipairs(ORDER) do
    local command = COMMANDS[name]
    list[i] = {
      name = name,
      usage = command.usage:gsub("^Usage: ", ""),
      summary = command.summary,
      entries = command.entries,
    }
  end
  return list
end

--- Runs one of the commands.
---@param name "compare"|"report"|"export"|"recover"|"verify"|"metrics"
---@param ... string words of the command line
---@return integer exit_status
function M.main(name, ...)
  local command = COMMANDS[name]
  local status, err = parse(command, command.entries, { ... })
  if not status then
    io.stderr:write("pairperf-lua: ", errors.text(err), "\n")
    return exit_status.USAGE
  end
  return status
end

return M
