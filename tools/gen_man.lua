-- SPDX-License-Identifier: Apache-2.0
-- Prints docs/man/pairperf-lua.1 from the option tables:
--   pairperf-lua tools/gen_man.lua > docs/man/pairperf-lua.1
local caveats = require "pairperf.caveats"
local exit_status = require "pairperf.exit_status"
local help = require "pairperf.help"
local options = require "pairperf.options"
local session_options = require "pairperf.session_options"

local function escaped(text)
  return (text:gsub("\\", "\\e"):gsub("%-", "\\-"):gsub("^([.'])", "\\&%1"))
end

local function put(...)
  io.stdout:write(table.concat { ... }, "\n")
end

local function put_option(entry)
  put ".TP"
  local value = entry.type ~= "flag" and "\\fI" .. escaped(entry.value) .. "\\fR" or ""
  value = entry.optional_value and "[=" .. value .. "]" or value ~= "" and " " .. value or ""
  put("\\fB\\-\\-", escaped(entry.name), "\\fR", value)
  put(escaped(options.described(entry)), ".")
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
put ".SH EXIT STATUS"
put "The first that applies:"
for _, row in ipairs(exit_status.TABLE) do
  put ".TP"
  put(("\\fB%d\\fR"):format(row[1]))
  put(escaped(row[2]), ".")
end
