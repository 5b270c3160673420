-- SPDX-License-Identifier: Apache-2.0
--- The texts of --help: the general page, and the page of a scenario from its option entries.
local caveats = require "pairperf.caveats"
local exit_status = require "pairperf.exit_status"
local options = require "pairperf.options"
local script = require "pairperf.script"

local M = {}

local function wrap(text, indent)
  local lines, line = {}, ""
  for word in text:gmatch "%S+" do
    if #line + #word + 1 > 96 - #indent and line ~= "" then
      lines[#lines + 1], line = indent .. line, ""
    end
    line = line == "" and word or line .. " " .. word
  end
  lines[#lines + 1] = indent .. line
  return table.concat(lines, "\n")
end

-- Conditions of use (REP-7); the report's other caveats are about its figures.
local CONDITIONS = {
  ["idle-machine"] = true,
  ["fresh-node"] = true,
  ["labels"] = true,
  ["no-uninstaller"] = true,
  ["templates"] = true,
  ["link-dotdirs"] = true,
  ["engines"] = true,
  ["unit-tests"] = true,
  ["hook-output"] = true,
}

--- The conditions of use, one text each.
---@return string[]
function M.conditions()
  local texts = {}
  for _, caveat in ipairs(caveats.LIST) do
    texts[#texts + 1] = CONDITIONS[caveat[1]] and caveat[2] or nil
  end
  return texts
end

local function caveat_lines()
  local lines = { " -" .. wrap(caveats.ISOLATION, "   "):sub(3) }
  for _, text in ipairs(M.conditions()) do
    lines[#lines + 1] = " -" .. wrap(text, "   "):sub(3)
  end
  return table.concat(lines, "\n")
end

local function epilog()
  return "Conditions of use:\n"
    .. caveat_lines()
    .. "\n\nExit status, the first that applies:\n"
    .. exit_status.text()
    .. "\n"
end

--- --help of a scenario or suite.
---@return string
function M.session(suite, entries)
  return options.help(entries, {
    usage = "Usage: pairperf-lua SCRIPT --baseline PATH --candidate PATH --authorize-launch"
      .. " [options]",
    summary = wrap(("%s: %s."):format(suite.name, suite.summary), ""),
  }) .. "\n" .. epilog()
end

M.USAGE = {
  "pairperf-lua SCRIPT [options]",
  "pairperf-lua SCRIPT --help",
  "pairperf-lua compare DIR... | report DIR... | recover DIR | verify DIR... | metrics",
  "pairperf-lua export csv|openmetrics|perfetto DIR [--to FILE]",
  "pairperf-lua --list | --version | --help",
  "pairperf-lua --run-hook FILE [NAME] [-- ARG...]",
}

M.SUMMARY = "Profiles two variants of an application under a scenario and compares them. SCRIPT is "
  .. "a built-in name or a file (with / or .lua in its name). Nothing is started by --help, "
  .. "--list, --version or --dry-run, and no A/B session starts an application without "
  .. "--authorize-launch."

M.EXAMPLE = [[
Look first, then measure; the report is DIR/report.md:
  pairperf-lua overview --baseline OLD --candidate NEW --output DIR --dry-run
  pairperf-lua overview --baseline OLD --candidate NEW --output DIR --authorize-launch]]

--- --help without a script.
---@return string
function M.general()
  return table.concat({
    "Usage: " .. table.concat(M.USAGE, "\n       "),
    "",
    wrap(M.SUMMARY, ""),
    "",
    "Built-in scripts: " .. table.concat(script.builtins(), ", ") .. ".",
    "",
    M.EXAMPLE,
    "",
    epilog(),
  }, "\n")
end

return M
