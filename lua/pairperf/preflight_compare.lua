-- SPDX-License-Identifier: Apache-2.0
--- What can be known about the comparison before the first launch: metric names, gates, and whether
--- the runs can show anything.
local compare = require "pairperf.compare"
local core = require "pairperf.core"
local gate = require "pairperf.gate"
local metric_names = require "pairperf.metric_names"

local M = {}

local function scenario_names(draft)
  local names = {}
  for i, one in ipairs(draft.scenarios) do
    names[i] = one.name
  end
  return names
end

local function check_gates(values, names, add)
  local texts = values["fail-on"] or {}
  if values.single and #texts > 0 then
    add("refused", "option '--fail-on' has no place beside '--single': nothing is compared")
  end
  local _, reason = gate.read_all(texts, names)
  if reason then
    add("refused", "option '--fail-on': " .. reason)
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

-- Fewest runs per variant with which a family of this size can be significant.
local function runs_for_family(size)
  local n = 4
  while compare.attainable(n, n).largest_family < size do
    n = n + 1
  end
  return n
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
    add("warning", words:format(size, fewest, fewest, largest, runs_for_family(size)))
  end
end

--- Findings about the comparison of a draft.
---@param draft pairperf.Draft
---@param add fun(level: string, text: string)
function M.examine(draft, add)
  local names = scenario_names(draft)
  check_gates(draft.values, names, add)
  local list = read_primary(draft.values, names, add)
  if list and not draft.values.single then
    check_family(draft, names, list, add)
  end
end

return M
