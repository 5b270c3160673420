-- SPDX-License-Identifier: Apache-2.0
--- Advice from inside the runs of a scenario: runs that were not steady, and whether more runs or
--- longer ones would help. It excludes nothing.
local json = require "pairperf.json"
local measured = require "pairperf.measured"
local report_row = require "pairperf.report_row"
local stats = require "pairperf.stats"
local within_run = require "pairperf.stats.within_run"

local M = {}

local UNSTEADY_P <const> = 0.01

local known, or_null = measured.known, measured.or_null

-- Successful runs that have the intervals of a metric: {row, intervals}.
local function with_intervals(rows, summaries, name)
  local list = {}
  for _, row in ipairs(rows) do
    local summary = row.status == "success" and summaries[row.slot]
    local one = summary and summary.intervals and summary.intervals[name]
    list[#list + 1] = one and { run = row, intervals = one } or nil
  end
  return list
end

local function unsteady(list, margin)
  local found = json.array {}
  for _, one in ipairs(list) do
    local i = one.intervals
    if known(i.step_p) and i.step_p <= UNSTEADY_P and math.abs(i.step) > margin then
      found[#found + 1] = {
        slot = one.run.slot,
        variant = one.run.variant,
        step = i.step,
        after_ns = i.step_ns,
        p = i.step_p,
      }
    end
  end
  return found
end

-- The split of one variant's variance; null when there is too little of it.
local function variance(list, variant, scenario)
  local runs, most = {}, 0
  for _, one in ipairs(list) do
    if one.run.variant == variant then
      runs[#runs + 1] = one.intervals
      most = math.max(most, one.intervals.n)
    end
  end
  local found = within_run.variance(runs, scenario.warmup_ns / 1e9, scenario.interval_ns / 1e9)
  if not found.icc then
    return json.null
  end
  return {
    intervals_per_run = most,
    between_runs = found.var_between,
    within_runs = found.var_within,
    share_between = found.icc,
    best_intervals = or_null(found.best_intervals),
  }
end

-- How many independent values the intervals of a variant's runs amount to: medians over the runs;
-- null when none has enough intervals.
local function likeness(list, variant)
  local n, lag1, effective = {}, {}, {}
  for _, one in ipairs(list) do
    local i = one.run.variant == variant and one.intervals
    if i and known(i.effective_n) then
      n[#n + 1], lag1[#lag1 + 1], effective[#effective + 1] = i.n, i.lag1, i.effective_n
    end
  end
  if #n == 0 then
    return json.null
  end
  return {
    runs = #n,
    intervals_per_run = math.floor(stats.median(n)),
    lag1 = stats.median(lag1),
    effective_n = stats.median(effective),
  }
end

--- What the intervals of a scenario's runs advise, metric by metric.
---@param scenario table of a report, with its rows compared
---@param rows table[] its runs
---@param summaries table<integer, table>
---@return table[]
function M.advice(scenario, rows, summaries)
  local list = json.array {}
  for _, name in ipairs { "cpu_percent", "rss_mean_bytes" } do
    local runs, row = with_intervals(rows, summaries, name), report_row.of(scenario, name)
    local comparison = row and row.comparison
    if #runs > 0 and known(comparison) then
      local margin = known(comparison.margin) and comparison.margin or 0
      list[#list + 1] = {
        metric = name,
        unsteady = unsteady(runs, margin),
        variance = {
          baseline = variance(runs, "baseline", scenario),
          candidate = variance(runs, "candidate", scenario),
        },
        likeness = {
          baseline = likeness(runs, "baseline"),
          candidate = likeness(runs, "candidate"),
        },
      }
    end
  end
  return list
end

return M
