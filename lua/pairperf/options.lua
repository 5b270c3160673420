-- SPDX-License-Identifier: Apache-2.0
--- Options declared as tables: parser, --help and man page all come from the same entries.
--- An entry: { name, type, value = "TIME", default, min, max, choices, repeatable, group, help }.
--- Types: flag, seconds, bytes, integer, number, text, path, pair (KEY=VALUE), choice.
--- A value is always bound to its option before argparse sees it, since argparse takes the `-1`
--- of `--warmup -1` for an option.
local argparse = require "argparse"
local errors = require "pairperf.error"
local nearest = require "pairperf.nearest"
local units = require "pairperf.units"

local M = {}

local UNITS = { seconds = "s", bytes = "B" }

-- type -> function(text, entry) -> value | nil, reason
local READ = {
  seconds = units.duration_s,
  bytes = units.size_bytes,
  text = function(text)
    return text
  end,
  path = function(text)
    if text == "" then
      return nil, "is empty; a path is needed"
    end
    return text
  end,
  pair = function(text)
    if not text:match("^[^=]+=") then
      return nil, "is not KEY=VALUE"
    end
    return text
  end,
  number = function(text)
    local number = text:match("^%-?%d+%.?%d*$") and tonumber(text)
    if not number then
      return nil, "is not a decimal number"
    end
    return number
  end,
  integer = function(text, entry)
    local integer = text:match("^%-?%d+$") and math.tointeger(tonumber(text))
    if not integer then
      return nil, "is not a whole number" .. (entry.unit and ": " .. entry.unit or "")
    end
    return integer
  end,
  choice = function(text, entry)
    for _, choice in ipairs(entry.choices) do
      if choice == text then
        return text
      end
    end
    return nil, "is none of " .. table.concat(entry.choices, ", ")
  end,
}

M.TYPES = { "flag" }
for name in pairs(READ) do
  M.TYPES[#M.TYPES + 1] = name
end
table.sort(M.TYPES)

local ECHO = { seconds = units.format_seconds, bytes = units.format_bytes }

--- A value as a person reads it, with its unit.
---@return string
function M.echo(entry, value)
  if type(value) == "table" then
    local parts = {}
    for i, item in ipairs(value) do
      parts[i] = M.echo(entry, item)
    end
    return table.concat(parts, ", ")
  end
  local form = ECHO[entry.type]
  return form and form(value) or tostring(value)
end

local function range_reason(entry, value)
  if entry.min and value < entry.min then
    return "is below the least value, " .. M.echo(entry, entry.min)
  elseif entry.max and value > entry.max then
    return "is above the largest value, " .. M.echo(entry, entry.max)
  end
end

local function unit_note(entry)
  if entry.type == "seconds" then
    return " (" .. units.DURATION_FORMS .. ")"
  elseif entry.type == "bytes" then
    return " (" .. units.SIZE_FORMS .. ")"
  end
  return entry.unit and " (" .. entry.unit .. ")" or ""
end

--- One value of one option from its text.
---@return any? value
---@return string? reason names the option, the value and the unit
function M.read(entry, text)
  local value, reason = READ[entry.type](text, entry)
  if value ~= nil then
    reason = range_reason(entry, value)
    reason = reason and reason .. unit_note(entry)
  end
  if not reason then
    return value
  end
  return nil, ("option '--%s': '%s' %s"):format(entry.name, text, reason)
end

local function by_name(entries)
  local index = {}
  for _, entry in ipairs(entries) do
    index["--" .. entry.name] = entry
  end
  return index
end

local function names_of(entries)
  local names = {}
  for i, entry in ipairs(entries) do
    names[i] = "--" .. entry.name
  end
  return names
end

local function not_an_option(word, entries)
  if word:sub(1, 1) ~= "-" then
    return ("'%s' belongs to no option"):format(word)
  end
  local near = nearest(word, names_of(entries))
  local hint = near and ("did you mean '%s'?"):format(near) or "--help lists the options"
  return ("unknown option '%s'; %s"):format(word, hint)
end

-- Takes the value of args[i], which is the option `name`; returns the bound word and its length.
local function bind_value(index, args, i, name, entry)
  if entry.type == "flag" then
    return name, 1
  elseif entry.optional_value then
    return name .. "=" .. entry.optional_value, 1
  end
  local value = args[i + 1]
  if value == nil or (index[value] and not entry.verbatim) then
    return nil, ("option '%s' needs a value: %s"):format(name, entry.value or "VALUE")
  end
  return name .. "=" .. value, 2
end

-- The bound form of args[i] and how many words it took, or nil and what is wrong.
local function bind_one(entries, index, seen, args, i)
  local word = args[i]
  local name = word:match("^(%-%-[^=]+)=") or word
  local entry = index[name]
  if not entry then
    return nil, not_an_option(name, entries)
  elseif seen[name] and not entry.repeatable then
    return nil, ("option '%s' is given twice"):format(name)
  end
  seen[name] = true
  if name ~= word then
    return word, 1
  end
  return bind_value(index, args, i, name, entry)
end

--- Rewrites `--name VALUE` to `--name=VALUE`; words after `--` are returned apart.
---@return string[]? bound
---@return string[]|pairperf.Error rest words after `--`
function M.bind(entries, args)
  local index, seen, bound, i = by_name(entries), {}, {}, 1
  while args[i] and args[i] ~= "--" do
    local word, taken = bind_one(entries, index, seen, args, i)
    if not word then
      return errors.fail("invalid", "", taken --[[@as string]])
    end
    bound[#bound + 1] = word
    i = i + taken
  end
  return bound, table.move(args, i + 1, #args, 1, {})
end

--- Takes the words that are neither options nor their values, such as directories, out of a
--- command line.
---@return string[] operands
---@return string[] rest
function M.operands(entries, args)
  local index, operands, rest, i = by_name(entries), {}, {}, 1
  while args[i] do
    local word = args[i]
    local entry = index[word]
    local takes = entry and entry.type ~= "flag" and not entry.optional_value
    local list = word:sub(1, 1) == "-" and rest or operands
    table.move(args, i, takes and i + 1 or i, #list + 1, list)
    i = i + (takes and 2 or 1)
  end
  return operands, rest
end

local function declare(parser, entry)
  local flag = "--" .. entry.name
  if entry.type == "flag" then
    return parser:flag(flag):target(entry.name)
  end
  local value = entry.value or "VALUE"
  value = entry.optional_value and ("[=%s]"):format(value) or value
  local option = parser:option(flag):argname(value):target(entry.name)
  option:convert(function(text)
    return M.read(entry, text)
  end)
  return entry.repeatable and option:count("*") or option
end

local function described(entry)
  local text = entry.help
  if entry.choices then
    text = text .. " (" .. table.concat(entry.choices, ", ") .. ")"
  end
  if entry.repeatable then
    text = text .. "; repeatable"
  end
  if entry.default ~= nil and entry.type ~= "flag" then
    text = ("%s (default %s)"):format(text, M.echo(entry, entry.default))
  end
  return text
end

M.described = described

--- Entries by group, in order of first appearance: { {title, {entry, …}}, … }.
function M.grouped(entries)
  local groups, index = {}, {}
  for _, entry in ipairs(entries) do
    local title = entry.group or "Options"
    if not index[title] then
      index[title] = { title, {} }
      groups[#groups + 1] = index[title]
    end
    table.insert(index[title][2], entry)
  end
  return groups
end

local function new_parser(entries, about)
  local parser = argparse("pairperf-lua")
    :add_help(false)
    :usage(about.usage or "")
    :description(about.summary or "")
    :epilog(about.epilog or "")
    :help_max_width(100)
    :help_description_margin(34)
  for _, group in ipairs(M.grouped(entries)) do
    local elements = {}
    for i, entry in ipairs(group[2]) do
      elements[i] = declare(parser, entry):description(described(entry))
    end
    parser:group(group[1], table.unpack(elements))
  end
  return parser
end

--- The text of --help.
---@param about {usage: string, summary: string, epilog: string?}
---@return string
function M.help(entries, about)
  local text = new_parser(entries, about):get_help():gsub("[ \t]+\n", "\n")
  text = text:gsub(" (%[=%u+%])", "%1 ") -- bound to its option
  return (text:gsub("\n+$", "\n"))
end

---@class pairperf.Options
---@field values table<string, any> by option name, defaults filled in
---@field origin table<string, "option"|"default"|"scenario">
---@field rest string[] words after `--`

--- Parses a command line against entries.
---@param args string[]
---@return pairperf.Options? options
---@return pairperf.Error? err code invalid; one line naming option, value and unit
function M.parse(entries, args)
  local bound, rest = M.bind(entries, args)
  if not bound then
    return nil, rest
  end
  local ok, found = new_parser(entries, {}):pparse(bound)
  if not ok then
    return errors.fail("invalid", "", (found:gsub("%s*\n%s*", " ")))
  end
  local parsed = { values = {}, origin = {}, rest = rest, entries = entries }
  for _, entry in ipairs(entries) do
    local given = found[entry.name]
    local present = given ~= nil and not (entry.repeatable and #given == 0)
    parsed.origin[entry.name] = present and "option" or "default"
    parsed.values[entry.name] = given
    if not present then
      parsed.values[entry.name] = entry.default
    end
  end
  return parsed
end

--- { NAME = {value, unit, origin} } for the evidence; flags and options that are not set left out.
function M.record(parsed)
  local record = {}
  for _, entry in ipairs(parsed.entries) do
    local value = parsed.values[entry.name]
    if value ~= nil then
      record[entry.name] = {
        value = value,
        unit = UNITS[entry.type] or entry.unit,
        origin = parsed.origin[entry.name],
      }
    end
  end
  return record
end

return M
