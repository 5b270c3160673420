-- SPDX-License-Identifier: Apache-2.0
--- Scenarios are declared tables, checked when they are loaded: unknown, missing and ill-typed
--- fields are errors that name file, line and field.
local errors = require "pairperf.error"
local nearest = require "pairperf.nearest"
local option_reader = require "pairperf.options"
local script = require "pairperf.script"

local M = {}

local Scenario, Suite = { __name = "pairperf.Scenario" }, { __name = "pairperf.Suite" }

local function is_type(...)
  local wanted = { ... }
  return function(value)
    for _, name in ipairs(wanted) do
      if type(value) == name then
        return nil
      end
    end
    return "must be a " .. table.concat(wanted, " or a ")
  end
end

local function word(value)
  if type(value) ~= "string" or not value:match("^[%l%d][%w_-]*$") then
    return "must be a word of small letters, digits, - and _ (it names directories)"
  end
end

local function seconds(least)
  return function(value)
    if type(value) ~= "number" or not (value >= least and value <= 86400) then
      return ("must be a number of seconds from %s to 86400"):format(least)
    end
  end
end

local function count(value)
  if math.type(value) ~= "integer" or value < 1 or value > 10000 then
    return "must be a whole number from 1 to 10000"
  end
end

local function hooks(value)
  if type(value) ~= "table" then
    return "must be a table of functions by name"
  end
  for name, hook in pairs(value) do
    if type(name) ~= "string" or type(hook) ~= "function" then
      return ("holds '%s', which is no named function"):format(tostring(name))
    end
  end
end

local function strings(value)
  for _, item in ipairs(type(value) == "table" and value or {}) do
    if type(item) ~= "string" then
      return "must hold strings"
    end
  end
  return is_type "table"(value)
end

local command = is_type("string", "table", "function")

local OPTION_FIELDS = {
  type = true,
  default = true,
  min = true,
  max = true,
  help = true,
  choices = true,
  value = true,
  repeatable = true,
  unit = true,
}

local function option_problem(name, spec)
  if type(name) ~= "string" or not name:match("^%l[%w_]*$") or type(spec) ~= "table" then
    return ("'%s' must be a lower-case name with a table"):format(tostring(name))
  end
  for field in pairs(spec) do
    if not OPTION_FIELDS[field] then
      return ("%s has the unknown field '%s'"):format(name, tostring(field))
    end
  end
  if not spec.help then
    return name .. " has no help"
  end
  for _, known in ipairs(option_reader.TYPES) do
    if known == spec.type then
      return nil
    end
  end
  return ("%s has the type '%s', which is none of %s"):format(
    name,
    tostring(spec.type),
    table.concat(option_reader.TYPES, ", ")
  )
end

local function own_options(value)
  if type(value) ~= "table" then
    return "must be a table of options by name"
  end
  for name, spec in pairs(value) do
    local problem = option_problem(name, spec)
    if problem then
      return problem
    end
  end
end

local FIELDS = {
  name = { required = true, check = word },
  summary = { required = true, check = is_type "string" },
  label = { check = is_type "string" },
  interval_s = { check = seconds(0.01) },
  warmup_s = { check = seconds(0) },
  duration_s = { check = seconds(0.05) },
  repetitions = { check = count },
  ready = { check = is_type("string", "function") },
  pre_sample_hook = { check = command },
  post_run_check = { check = command },
  exclude_components = { check = strings },
  hooks = { check = hooks },
  options = { check = own_options },
}

local SUITE_FIELDS = {
  name = { required = true, check = word },
  summary = { required = true, check = is_type "string" },
  scenarios = { required = true, check = is_type "table" },
}

local function names_of(fields)
  local names = {}
  for name in pairs(fields) do
    names[#names + 1] = name
  end
  table.sort(names)
  return names
end

--- What is wrong with a table under a set of fields: field, words; nothing when all is well.
---@return string? field
---@return string? problem
function M.problem(fields, given)
  for _, name in ipairs(names_of(given)) do
    if not fields[name] then
      local near = nearest(tostring(name), names_of(fields))
      return tostring(name), "is unknown" .. (near and (" (did you mean '%s'?)"):format(near) or "")
    end
  end
  for _, name in ipairs(names_of(fields)) do
    local value = given[name]
    if value == nil and fields[name].required then
      return name, "is missing"
    end
    local problem = value ~= nil and fields[name].check(value)
    if problem then
      return name, problem
    end
  end
end

local function checked(kind, fields, given)
  local field, problem
  if type(given) ~= "table" then
    problem = kind .. " needs a table"
  else
    field, problem = M.problem(fields, given)
    problem = problem and ("%s field '%s' %s"):format(kind, field, problem)
  end
  if problem then
    error(errors.new("invalid", script.place(kind, field), problem), 0)
  end
end

--- Declares a scenario; the script returns the result.
---@param given table see docs/AUTHORING.md
---@return pairperf.Scenario
function M.declare(given)
  checked("scenario", FIELDS, given)
  local scenario = {}
  for name, value in pairs(given) do
    scenario[name] = value
  end
  scenario.label = given.label or given.name
  return setmetatable(scenario, Scenario)
end

--- Declares several scenarios for one session; --scenario chooses among them.
---@param given {name: string, summary: string, scenarios: pairperf.Scenario[]}
---@return pairperf.Suite
function M.suite(given)
  checked("suite", SUITE_FIELDS, given)
  return setmetatable(
    { name = given.name, summary = given.summary, scenarios = given.scenarios },
    Suite
  )
end

--- Whatever a script returned, as a suite; nil when it is neither scenario nor suite.
---@return pairperf.Suite?
function M.as_suite(value)
  local meta = type(value) == "table" and getmetatable(value)
  if meta == Suite then
    return value
  elseif meta == Scenario then
    return setmetatable(
      { name = value.name, summary = value.summary, scenarios = { value } },
      Suite
    )
  end
end

--- A built-in scenario by name.
---@return pairperf.Scenario
function M.builtin(name)
  local chunk = assert(script.load(assert(script.find(name))))
  return chunk()
end

-- settle_s of type seconds is --settle on the command line.
local function option_name(field, spec)
  local stem = spec.type == "seconds" and field:match("^(.*)_s$") or field
  return (stem:gsub("_", "-"))
end

local function add_entry(entries, taken, scenario, field)
  local spec = scenario.options[field]
  local entry =
    { field = field, name = option_name(field, spec), group = "Options of " .. scenario.name }
  if taken[entry.name] then
    return errors.fail(
      "invalid",
      scenario.name,
      ("option '--%s' exists already"):format(entry.name)
    )
  end
  taken[entry.name] = true
  for key, value in pairs(spec) do
    entry[key] = value
  end
  entries[#entries + 1] = entry
  return true
end

--- The own options of a suite's scenarios, as entries for pairperf.options.
---@param suite pairperf.Suite
---@param common table[] entries whose names are taken
---@return table[]? entries
---@return pairperf.Error? err an own option has a name that is taken
function M.entries(suite, common)
  local entries, taken = {}, {}
  for _, entry in ipairs(common) do
    taken[entry.name] = true
  end
  for _, scenario in ipairs(suite.scenarios) do
    for _, field in ipairs(names_of(scenario.options or {})) do
      local ok, err = add_entry(entries, taken, scenario, field)
      if not ok then
        return nil, err
      end
    end
  end
  return entries
end

return M
