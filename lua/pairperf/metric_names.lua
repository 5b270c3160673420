-- SPDX-License-Identifier: Apache-2.0
--- Metrics by name: `[SCENARIO/]METRIC` as options take it, and the family that is primary when
--- none is declared.
local catalogue = require "pairperf.metric_catalogue"
local nearest = require "pairperf.nearest"

local M = {}

local by_name, names = {}, {}
for i, entry in ipairs(catalogue) do
  by_name[entry.name], names[i] = entry, entry.name
end

--- Catalogue entry of a name; nil for an unknown one.
---@param name string
---@return pairperf.MetricEntry?
function M.entry(name)
  return by_name[name]
end

local function contains(list, word)
  for _, one in ipairs(list) do
    if one == word then
      return true
    end
  end
  return false
end

local function unknown(kind, word, known)
  local near = nearest(word, known)
  local hint = near and ("; did you mean '%s'?"):format(near) or ""
  return ("names no %s: '%s'%s"):format(kind, word, hint)
end

--- Reads `[SCENARIO/]METRIC`.
---@param text string
---@param scenarios string[] names in use
---@return {scenario: string?, metric: string}? found without a scenario it stands for all of them
---@return string? reason
function M.read(text, scenarios)
  local scenario, metric = text:match "^([^/]*)/(.*)$"
  metric = metric or text
  if scenario and not contains(scenarios, scenario) then
    return nil, unknown("scenario of this session", scenario, scenarios)
  elseif not by_name[metric] then
    return nil, unknown("metric", metric, names) .. " (pairperf-lua metrics lists them)"
  end
  return { scenario = scenario, metric = metric }
end

--- Every (scenario, metric) pair that a list of names stands for, each once, in order.
---@param list {scenario: string?, metric: string}[]
---@param scenarios string[]
---@return {scenario: string, metric: string}[]
function M.pairs(list, scenarios)
  local found, seen = {}, {}
  for _, scenario in ipairs(scenarios) do
    for _, one in ipairs(list) do
      local key = scenario .. "/" .. one.metric
      if (one.scenario == nil or one.scenario == scenario) and not seen[key] then
        seen[key] = true
        found[#found + 1] = { scenario = scenario, metric = one.metric }
      end
    end
  end
  return found
end

-- Processor without excluded components, memory, wakeups or the nearest thing to them, writes.
local FAMILY = {
  Linux = { "rss_max_bytes", "voluntary_switches_per_second", "write_bytes_per_second" },
  Darwin = { "footprint_max_bytes", "wakeups_pkg_idle_per_second", "write_bytes_per_second" },
}

--- The metrics that are primary when none is declared.
---@param system "Linux"|"Darwin"
---@param excludes boolean whether components are excluded
---@return {metric: string}[]
function M.default_family(system, excludes)
  local list = { { metric = excludes and "cpu_percent_without_excluded" or "cpu_percent" } }
  for _, name in ipairs(FAMILY[system]) do
    list[#list + 1] = { metric = name }
  end
  return list
end

return M
