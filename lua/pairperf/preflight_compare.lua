-- SPDX-License-Identifier: Apache-2.0
--- What can be known about the comparison before the first launch: metric names, gates, and whether
--- the runs can show anything.
local compare = require "pairperf.compare"
local core = require "pairperf.core"
local errors = require "pairperf.error"
local format = require "pairperf.format"
local gate = require "pairperf.gate"
local metric_names = require "pairperf.metric_names"
local noise_floor = require "pairperf.noise_floor"
local probes = require "pairperf.probes"
local units = require "pairperf.units"

local M = {}

local function scenario_names(draft)
  local names = {}
  for i, one in ipairs(draft.scenarios) do
    names[i] = one.name
  end
  return names
end

local READERS = { ["fail-on"] = gate.read_all, screen = gate.read_screens }

local function check_gates(draft, names, add)
  for _, option in ipairs { "fail-on", "screen" } do
    local texts = draft.values[option] or {}
    if draft.values.single and #texts > 0 then
      local words = "option '--%s' has no place beside '--single': nothing is compared"
      add("refused", words:format(option))
    end
    local _, reason = READERS[option](texts, names)
    if reason then
      add("refused", ("option '--%s': %s"):format(option, reason))
    end
  end
end

-- A screen that can never fail would only look like one.
local function check_screen_runs(draft, add)
  local screens = gate.read_screens(draft.values.screen or {}, scenario_names(draft)) or {}
  local function screened(name)
    for _, screen in ipairs(screens) do
      if screen.scenario == nil or screen.scenario == name then
        return true
      end
    end
  end
  for _, one in ipairs(draft.scenarios) do
    if one.repetitions < gate.SCREEN_RUNS and screened(one.name) then
      local words = "option '--screen': %s cannot show a regression; take at least %d"
      add("refused", words:format(format.count(one.repetitions, "repetition"), gate.SCREEN_RUNS))
    end
  end
end

local CANDIDATES =
  { "candidate", "candidate-executable", "candidate-archive", "candidate-arg", "candidate-env" }

local function check_null_control(values, add)
  if not values["null-control"] then
    return
  end
  local words = "option '--%s' has no place beside '--null-control', which runs the baseline twice"
  for _, option in ipairs { "single", table.unpack(CANDIDATES) } do
    local value = values[option]
    if value and (type(value) ~= "table" or #value > 0) then
      add("refused", words:format(option))
    end
  end
end

local function windows_of(draft)
  local list = {}
  for i, one in ipairs(draft.scenarios) do
    list[i] = {
      name = one.name,
      warmup_ns = units.ns(one.warmup_s),
      duration_ns = units.ns(one.duration_s),
      interval_ns = units.ns(one.interval_s),
    }
  end
  return list
end

-- Puts what the plan is to cite of a noise floor into the draft.
local function check_noise_floor(draft, add)
  local path = draft.values["noise-floor"]
  if not path then
    return
  end
  local floor, err = noise_floor.read(path)
  local reason = floor and noise_floor.foreign(floor, probes.static()) or err and errors.text(err)
  if not floor or reason then
    return add("refused", ("option '--noise-floor': '%s' %s"):format(path, reason))
  end
  local without
  draft.noise_floor, without = noise_floor.cited(floor, windows_of(draft))
  for _, name in ipairs(without) do
    local words = "the noise floor has nothing of scenario %s with these windows: its margins are "
      .. "the starting values"
    add("warning", words:format(name))
  end
end

-- The declared metrics, or the default ones; nil when one has no such name.
local function read_primary(values, names, add)
  local list, good = {}, true
  for _, text in ipairs(values.primary or {}) do
    local found, reason = metric_names.read(text, names)
    if not found then
      good = false
      add("refused", ("option '--primary': '%s' %s"):format(text, reason))
    end
    list[#list + 1] = found
  end
  if #list == 0 then
    list = metric_names.default_family(core.process.system(), false)
  end
  return good and list or nil
end

local function check_family(draft, names, list, add)
  local size, fewest = #metric_names.pairs(list, names), math.huge
  for _, one in ipairs(draft.scenarios) do
    fewest = math.min(fewest, one.repetitions)
  end
  local largest = compare.attainable(fewest, fewest).largest_family
  if size > largest then
    local words = "%d primary metrics are more than can be significant with %d+%d runs (%.0f): "
      .. "take %d repetitions, or fewer metrics by --primary"
    add("warning", words:format(size, fewest, fewest, largest, compare.runs_for_family(size)))
  end
end

--- Findings about the comparison of a draft.
---@param draft pairperf.Draft
---@param add fun(level: string, text: string)
function M.examine(draft, add)
  local names = scenario_names(draft)
  check_gates(draft, names, add)
  check_screen_runs(draft, add)
  check_null_control(draft.values, add)
  check_noise_floor(draft, add)
  local list = read_primary(draft.values, names, add)
  if list and not draft.values.single then
    check_family(draft, names, list, add)
  end
end

return M
