-- SPDX-License-Identifier: Apache-2.0
-- Prints docs/man/pairperf-lua.1 from the option tables:
--   pairperf-lua tools/gen_man.lua > docs/man/pairperf-lua.1
local caveats = require "pairperf.caveats"
local exit_status = require "pairperf.exit_status"
local help = require "pairperf.help"
local options = require "pairperf.options"
local report_commands = require "pairperf.report_commands"
local session_options = require "pairperf.session_options"

local function escaped(text)
  return (text:gsub("\\", "\\e"):gsub("%-", "\\-"):gsub("^([.'])", "\\&%1"))
end

local of_session = {}
for _, entry in ipairs(session_options) do
  of_session[entry.name] = true
end

local function put(...)
  io.stdout:write(table.concat { ... }, "\n")
end

-- A sentence where it begins with a plain word; names of options, files and forms stay as they are.
local function sentence(text)
  return text:find "^%l+[ ,:;] ?" and text:sub(1, 1):upper() .. text:sub(2) or text
end

local function put_option(entry)
  put ".TP"
  local value = entry.type ~= "flag" and "\\fI" .. escaped(entry.value) .. "\\fR" or ""
  value = entry.optional_value and "[=" .. value .. "]" or value ~= "" and " " .. value or ""
  put("\\fB\\-\\-", escaped(entry.name), "\\fR", value)
  put(escaped(sentence(options.described(entry))), ".")
end

put '.\\" SPDX-License-Identifier: Apache-2.0'
put '.\\" Written by tools/gen_man.lua from the option tables; do not edit.'
put ".TH PAIRPERF\\-LUA 1"
put ".SH NAME"
put "pairperf\\-lua \\- profile two variants of an application and compare them"
put ".SH SYNOPSIS"
put(escaped(table.concat(help.USAGE, "\n.br\n")))
put ".SH DESCRIPTION"
put(escaped(help.SUMMARY))
for _, one in ipairs(help.FIRST_WORDS) do
  put ".TP"
  put("\\fB", escaped(one[1]), "\\fR")
  put(escaped(one[2]))
end
put ".SH EXAMPLES"
for _, example in ipairs(help.EXAMPLES) do
  put ".PP"
  put(escaped(example[1]), ":")
  for i = 2, #example do
    put ".PP"
    put ".RS"
    put(escaped(example[i]))
    put ".RE"
  end
end
put ".SH COMMANDS"
put "Commands for finished sessions; they start nothing."
for _, command in ipairs(report_commands.list()) do
  put ".TP"
  put("\\fB", escaped(command.usage), "\\fR")
  put(escaped(command.summary))
end
put ".PP"
put "The options that only commands have:"
for _, command in ipairs(report_commands.list()) do
  for _, entry in ipairs(command.entries) do
    if not of_session[entry.name] then
      put_option(entry)
    end
  end
end
for _, group in ipairs(options.grouped(session_options)) do
  put(".SH ", escaped(group[1]:upper()))
  for _, entry in ipairs(group[2]) do
    put_option(entry)
  end
end
put ".SH CONDITIONS OF USE"
put(escaped(caveats.ISOLATION))
for _, text in ipairs(help.conditions()) do
  put ".PP"
  put(escaped(text))
end
put ".SH FILES"
put(escaped "Below the output directory: report.md and report.html for people, report.json and a ")
put(escaped "summary.json per run for programs, samples.jsonl and events.jsonl as they were read.")
put ".SH EXIT STATUS"
put "The first that applies:"
for _, row in ipairs(exit_status.TABLE) do
  put ".TP"
  put(("\\fB%d\\fR"):format(row[1]))
  put(escaped(row[2]), ".")
end
