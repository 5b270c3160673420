-- SPDX-License-Identifier: Apache-2.0
--- A session before it starts: effective scenarios, order of runs and output directory, from a
--- suite and a command line. Creates nothing.
local core = require "pairperf.core"
local guarding = require "pairperf.guarding"
local plan = require "pairperf.plan"
local scenario = require "pairperf.scenario"
local session_options = require "pairperf.session_options"
local stats = require "pairperf.stats"
local variants = require "pairperf.variants"

local M = {}

local DEFAULTS = { interval = 5 }

--- The option entries of a suite: common ones, its own, and --scenario when there is a choice.
---@param suite pairperf.Suite
---@return table[]? entries
---@return pairperf.Error? err
function M.entries(suite)
  local own, err = scenario.entries(suite, session_options)
  if not own then
    return nil, err
  end
  local entries = table.move(session_options, 1, #session_options, 1, {})
  if #suite.scenarios > 1 then
    local names = {}
    for i, one in ipairs(suite.scenarios) do
      names[i] = one.name
    end
    entries[#entries + 1] = {
      name = "scenario",
      type = "choice",
      value = "NAME",
      choices = names,
      repeatable = true,
      group = "Schedule",
      help = "run this label only (default all)",
    }
  end
  return table.move(own, 1, #own, #entries + 1, entries)
end

local function chosen(suite, names)
  if not names or #names == 0 then
    return suite.scenarios
  end
  local list = {}
  for _, one in ipairs(suite.scenarios) do
    for _, name in ipairs(names) do
      list[#list + 1] = one.name == name and one or nil
    end
  end
  return list
end

-- What a command line decides, by itself or by --quick, no scenario changes.
local DECIDED = { option = true, preset = true }

-- Option, else scenario, else default.
local function effective(parsed, one, option, field)
  if not DECIDED[parsed.origin[option]] and one[field] ~= nil then
    return one[field]
  end
  return parsed.values[option] or DEFAULTS[option]
end

local SCENARIO_FIELDS = {
  interval = "interval_s",
  warmup = "warmup_s",
  duration = "duration_s",
  repetitions = "repetitions",
}

-- What the record of options says where scenarios decided; differing ones stand in plan.scenarios.
local function note_origins(parsed, scenarios, effective_ones)
  for option, field in pairs(SCENARIO_FIELDS) do
    for i, one in ipairs(scenarios) do
      if one[field] ~= nil and not DECIDED[parsed.origin[option]] then
        parsed.origin[option] = "scenario"
        parsed.values[option] = #scenarios == 1 and effective_ones[i][field] or nil
      end
    end
  end
end

local function own_values(parsed, one)
  local values = {}
  for _, entry in ipairs(parsed.entries) do
    if entry.field and one.options and one.options[entry.field] then
      values[entry.field] = parsed.values[entry.name]
    end
  end
  return values
end

local function effective_scenario(parsed, one, script)
  local own = own_values(parsed, one)
  local result = {
    name = one.name,
    label = one.label,
    summary = one.summary,
    options = own,
    interval_s = effective(parsed, one, "interval", "interval_s"),
    warmup_s = effective(parsed, one, "warmup", "warmup_s"),
    duration_s = effective(parsed, one, "duration", "duration_s"),
    repetitions = effective(parsed, one, "repetitions", "repetitions"),
    ready = one.ready,
    pre_sample_hook = one.pre_sample_hook,
    post_run_check = one.post_run_check,
    exclude_components = one.exclude_components,
    source = { path = script.absolute, hooks = one.hooks, options = own },
  }
  result.diagnostic_reasons = stats.diagnostic_only(result).reasons
  return result
end

-- Of the session: what any of its scenarios is short of. Each keeps its own reasons.
local function diagnostic(scenarios)
  local list, seen = {}, {}
  for _, one in ipairs(scenarios) do
    for _, reason in ipairs(one.diagnostic_reasons) do
      list[#list + 1] = not seen[reason] and reason or nil
      seen[reason] = true
    end
  end
  table.sort(list)
  return { diagnostic_only = #list > 0, reasons = list }
end

local function default_output(suite)
  local _, _, wall_ns = core.clock.now()
  return ("pairperf-%s-%s"):format(core.clock.compact_utc(wall_ns), suite.name)
end

local function schedule(draft)
  local values = draft.values
  draft.seed_origin = values.seed and "option" or "random"
  draft.seed = values.seed or plan.random_seed()
  draft.first = values.single and "baseline" or plan.first_variant(draft.seed)
  draft.runs = plan.runs(
    draft.scenarios,
    { first = draft.first, order = values.order, single = values.single or false }
  )
end

-- A relative path names what it names here, whatever the working directory of a later reader.
local function guard_paths(given)
  local paths = {}
  for i, path in ipairs(given or {}) do
    paths[i] = variants.absolute(path)
  end
  return guarding.paths(paths)
end

-- --quick: short windows for pull requests, for every time and number that is not given.
local function apply_quick(parsed)
  for option, value in pairs(parsed.values.quick and session_options.QUICK or {}) do
    if parsed.origin[option] ~= "option" then
      parsed.values[option], parsed.origin[option] = value, "preset"
    end
  end
end

--- A draft from a suite and its parsed command line.
---@param suite pairperf.Suite
---@param parsed pairperf.Options
---@param script pairperf.Script
---@return pairperf.Draft
function M.new(suite, parsed, script)
  apply_quick(parsed)
  local values = parsed.values
  local wanted, scenarios = chosen(suite, values.scenario), {}
  for i, one in ipairs(wanted) do
    scenarios[i] = effective_scenario(parsed, one, script)
  end
  note_origins(parsed, wanted, scenarios)
  local draft = {
    suite = suite,
    parsed = parsed,
    values = values,
    script = script,
    scenarios = scenarios,
    names = values.single and { "baseline" } or variants.NAMES,
    variants = {},
    findings = {},
    output = variants.output(values.output or default_output(suite)),
    guard_paths = guard_paths(values["guard-path"]),
    real_home = os.getenv "HOME",
    hook_env = variants.pairs_of(values["hook-env"]),
    diagnostic = diagnostic(scenarios),
  }
  schedule(draft)
  return draft
end

return M
