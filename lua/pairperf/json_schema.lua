-- SPDX-License-Identifier: Apache-2.0
--- Checks values against docs/schema, for the keywords that those files use; any other keyword
--- raises, so that no rule is skipped silently.
local core = require "pairperf.core"

local json = core.json
local M = {}

local PASSIVE = {
  ["$schema"] = true,
  ["$comment"] = true,
  ["$id"] = true,
  ["$defs"] = true,
  title = true,
  description = true,
}

local function kind(value)
  if value == json.null then
    return "null"
  elseif type(value) == "table" then
    return (json.is_array(value) or #value > 0) and "array" or "object"
  end
  return math.type(value) or type(value)
end

local function is_type(value, wanted)
  local found = kind(value)
  return found == wanted or (wanted == "number" and (found == "integer" or found == "float"))
end

-- Only anchored classes and repetitions are used: "^[0-9a-f]{64}$", "^[0-9]+$", "^[0-9]*$".
local function matches(text, pattern)
  local class, count = pattern:match "^%^(%[[^%]]+%])(.+)%$$"
  assert(class, "pattern not understood: " .. pattern)
  local times = count:match "^{(%d+)}$"
  assert(times or count == "+" or count == "*", "pattern not understood: " .. pattern)
  local repeated = class .. (count == "*" and "*" or "+")
  return text:match("^" .. repeated .. "$") ~= nil and (not times or #text == tonumber(times))
end

local check
local KEYWORD = {}

KEYWORD["$ref"] = function(value, name, root, where)
  return check(value, assert(root["$defs"][name:match "^#/%$defs/(.*)$"], name), root, where)
end

function KEYWORD.type(value, wanted, _, where)
  for _, one in ipairs(type(wanted) == "table" and wanted or { wanted }) do
    if is_type(value, one) then
      return
    end
  end
  return ("%s: %s is no %s"):format(where, kind(value), json.encode(wanted))
end

function KEYWORD.const(value, wanted, _, where)
  return value ~= wanted and ("%s: not %s"):format(where, wanted) or nil
end

function KEYWORD.enum(value, list, _, where)
  for _, one in ipairs(list) do
    if one == value then
      return
    end
  end
  return ("%s: %s is not in the list"):format(where, tostring(value))
end

function KEYWORD.anyOf(value, list, root, where)
  for _, one in ipairs(list) do
    if not check(value, one, root, where) then
      return
    end
  end
  return where .. ": fits none of the forms"
end

function KEYWORD.minimum(value, limit, _, where)
  return type(value) == "number" and value < limit and where .. ": too small" or nil
end

function KEYWORD.pattern(value, pattern, _, where)
  return type(value) == "string" and not matches(value, pattern) and where .. ": form" or nil
end

function KEYWORD.items(value, item, root, where)
  for i, one in ipairs(kind(value) == "array" and value or {}) do
    local problem = check(one, item, root, ("%s[%d]"):format(where, i))
    if problem then
      return problem
    end
  end
end

function KEYWORD.required(value, names, _, where)
  for _, name in ipairs(kind(value) == "object" and names or {}) do
    if value[name] == nil then
      return ("%s: %s is missing"):format(where, name)
    end
  end
end

function KEYWORD.properties(value, properties, root, where)
  for name, one in pairs(properties) do
    if kind(value) == "object" and value[name] ~= nil then
      local problem = check(value[name], one, root, where .. "." .. name)
      if problem then
        return problem
      end
    end
  end
end

function KEYWORD.additionalProperties(value, rest, root, where, schema)
  for name, one in pairs(kind(value) == "object" and value or {}) do
    if not (schema.properties or {})[name] then
      local problem = rest == false and ("%s: %s is unknown"):format(where, name)
        or (rest and check(one, rest, root, where .. "." .. name))
      if problem then
        return problem
      end
    end
  end
end

check = function(value, schema, root, where)
  for keyword, argument in pairs(schema) do
    if not PASSIVE[keyword] then
      local rule = assert(KEYWORD[keyword], "keyword not understood: " .. keyword)
      local problem = rule(value, argument, root, where, schema)
      if problem then
        return problem
      end
    end
  end
end

local loaded = {}

-- Compiled in; unit tests run without and read the tree that they stand in.
local function source(id)
  local name = ("docs/schema/%s.schema.json"):format(id)
  local there, embedded = pcall(require, "pairperf.embedded")
  if there then
    return (embedded.get(name))
  end
  return core.fs.read(name)
end

--- What is wrong with a decoded document, by the schema it names; nil when nothing is.
---@param value any
---@return string? problem begins with where it is: "pairperf-plan-1.runs[3].slot: ..."
function M.problem(value)
  local id = type(value) == "table" and value.schema
  local text = type(id) == "string" and (loaded[id] or source(id))
  if not text then
    return "schema: unknown: " .. tostring(id)
  end
  loaded[id] = type(text) == "string" and assert(json.decode(text)) or text
  return check(value, loaded[id], loaded[id], id)
end

return M
