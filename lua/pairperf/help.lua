-- SPDX-License-Identifier: Apache-2.0
--- The texts of --help: the general page, and the page of a scenario from its option entries.
local caveats = require "pairperf.caveats"
local exit_status = require "pairperf.exit_status"
local options = require "pairperf.options"
local report_commands = require "pairperf.report_commands"
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

local function usage_lines()
  local lines =
    { "pairperf-lua [--lua-path DIR]... SCRIPT [options]", "pairperf-lua SCRIPT --help" }
  for _, command in ipairs(report_commands.list()) do
    lines[#lines + 1] = command.usage
  end
  lines[#lines + 1] = "pairperf-lua --list | --version | --help"
  lines[#lines + 1] = "pairperf-lua --run-hook FILE [NAME] [-- ARG...]"
  return lines
end

M.USAGE = usage_lines()

M.SUMMARY = "Profiles two variants of an application under a scenario and compares them. SCRIPT is "
  .. "a built-in name or a file (with / or .lua in its name). Nothing is started by --help, "
  .. "--list, --version or --dry-run, and no A/B session starts an application without "
  .. "--authorize-launch. SCRIPT --help has the options of a session, COMMAND --help those of a "
  .. "command."

--- What stands where a script would, or before it: {words, text}.
M.FIRST_WORDS = {
  {
    "--lua-path DIR",
    "Before the script, repeatable: scripts and Lua hooks may require the modules of DIR.",
  },
  { "--list", "Lists the built-in scripts." },
  { "--version", "Prints version and build." },
  { "--run-hook FILE [NAME]", "Runs a Lua hook as a session would; what follows -- is for it." },
}

--- {what for, command lines}
M.EXAMPLES = {
  {
    "Look first, then measure; the report is DIR/report.md, with charts DIR/report.html",
    "pairperf-lua overview --baseline OLD --candidate NEW --output DIR --dry-run",
    "pairperf-lua overview --baseline OLD --candidate NEW --output DIR --authorize-launch",
  },
  {
    "A pull request: short, fails on a regression that even few runs show",
    "pairperf-lua overview --baseline OLD --candidate NEW --quick --screen cpu_percent:+5% "
      .. "--authorize-launch",
  },
  {
    "A release: a gate passes only on evidence that the budget is kept",
    "pairperf-lua overview --baseline OLD --candidate NEW --fail-on rss_max_bytes:+20MiB "
      .. "--authorize-launch",
  },
}

local function command_texts()
  local parts = {}
  for _, command in ipairs(report_commands.list()) do
    parts[#parts + 1] = "  " .. command.name .. "\n" .. wrap(command.summary, "      ")
  end
  return table.concat(parts, "\n")
end

local function first_word_texts()
  local parts = {}
  for i, one in ipairs(M.FIRST_WORDS) do
    parts[i] = "  " .. one[1] .. "\n" .. wrap(one[2], "      ")
  end
  return table.concat(parts, "\n")
end

local function example_texts()
  local parts = {}
  for _, example in ipairs(M.EXAMPLES) do
    parts[#parts + 1] = example[1] .. ":"
    for i = 2, #example do
      parts[#parts + 1] = "  " .. example[i]
    end
  end
  return table.concat(parts, "\n")
end

local COMMAND_NAMES = {}
for _, command in ipairs(report_commands.list()) do
  COMMAND_NAMES[command.name] = true
end

local function scenario_names()
  local names = {}
  for _, name in ipairs(script.builtins()) do
    names[#names + 1] = not COMMAND_NAMES[name] and name or nil
  end
  return table.concat(names, ", ")
end

--- --help without a script.
---@return string
function M.general()
  return table.concat({
    "Usage: " .. table.concat(M.USAGE, "\n       "),
    "",
    wrap(M.SUMMARY, ""),
    "",
    "Built-in scenarios: " .. scenario_names() .. ".",
    "",
    example_texts(),
    "",
    "Commands for finished sessions, which start nothing:",
    command_texts(),
    "",
    "Words in the place of a script, or before it:",
    first_word_texts(),
    "",
    epilog(),
  }, "\n")
end

return M
