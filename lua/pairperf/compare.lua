-- SPDX-License-Identifier: Apache-2.0
--- What may be said about two variants, metric by metric: estimate, intervals, verdict with its
--- reason, and what to make of the runs. Pure: from the values of successful runs alone.
local interval = require "pairperf.stats.interval"
local json = require "pairperf.json"
local measured = require "pairperf.measured"
local order = require "pairperf.stats.order"
local outliers = require "pairperf.stats.outliers"
local power = require "pairperf.stats.power"
local ranks = require "pairperf.stats.ranks"
local stats = require "pairperf.stats"
local verdict = require "pairperf.stats.verdict"

local M = {}

local or_null = measured.or_null

M.ALPHA = verdict.ALPHA

local SEESAW <const> = -0.5

local function split(runs)
  local values = { baseline = json.array {}, candidate = json.array {} }
  for _, run in ipairs(runs) do
    table.insert(values[run.variant], run.value)
  end
  return values
end

-- ---------------------------------------------------------------- parts of a comparison

local function span(found)
  if not found.k then
    return json.null
  end
  return { low = found.lo, high = found.hi, level = found.achieved }
end

local function estimate(b, c)
  local shift = interval.shift(b, c, M.ALPHA / 2)
  local median = stats.median(b)
  if not shift.shift then
    return json.null
  end
  return {
    shift = shift.shift,
    percent = median > 0 and 100 * shift.shift / median or json.null,
  }
end

local function ratio(b, c)
  local found = interval.ratio(b, c, M.ALPHA / 2)
  if not found.ratio then
    return json.null
  end
  return { estimate = found.ratio, interval = span(found) }
end

local function test(b, c)
  local found = ranks.mann_whitney(b, c)
  return {
    p = or_null(found.p_two_sided),
    method = or_null(found.method),
    candidate_higher = or_null(found.a12),
    cliffs_delta = or_null(found.cliffs_delta),
    adjusted_p = json.null,
  }
end

--- What so many runs of each variant can ever show.
function M.attainable(n, m)
  local found = interval.attainable(n, m, M.ALPHA)
  return {
    baseline_runs = n,
    candidate_runs = m,
    smallest_p = or_null(found.min_p),
    difference_level = or_null(found.level_difference),
    equivalence_level = or_null(found.level_equivalence),
    largest_family = found.max_family,
  }
end

--- Fewest runs per variant with which a family of this size can be significant.
function M.runs_for_family(size)
  local n = 4
  while M.attainable(n, n).largest_family < size do
    n = n + 1
  end
  return n
end

local function drift_part(drift)
  local r1 = drift.residual_r1
  return {
    slope_per_slot = or_null(drift.slope),
    p = or_null(drift.p),
    bias = or_null(drift.bias),
    shift_detrended = or_null(drift.shift_detrended),
    suspected = drift.suspected,
    material = drift.material,
    residual_lag1 = or_null(r1),
    seesaw = r1 ~= nil and r1 <= SEESAW,
  }
end

local function paired_part(runs)
  local found = order.paired(runs)
  return {
    pairs = found.pairs,
    shift = or_null(found.walsh),
    p = or_null(found.p),
    smallest_p = or_null(found.min_p),
  }
end

-- Runs of either variant that lie far from their fellows, in the order of their slots.
local function outlier_part(runs, margin)
  local list = json.array {}
  for _, variant in ipairs { "baseline", "candidate" } do
    local own = {}
    for _, run in ipairs(runs) do
      own[#own + 1] = run.variant == variant and run or nil
    end
    local values = split(own)[variant]
    for _, place in ipairs(outliers.find(values, margin).flagged) do
      local run = own[place + 1]
      list[#list + 1] = { slot = run.slot, variant = variant, value = run.value }
    end
  end
  table.sort(list, function(a, b)
    return a.slot < b.slot
  end)
  return list
end

local function shift_range(b, c)
  local low, high = outliers.shift_range(b, c)
  return low and { low = low, high = high } or json.null
end

local function power_part(b, c, margin)
  local found = power.advise(b, c, margin)
  if not found.sd_pooled then
    return json.null
  end
  return {
    effect = margin,
    sd = found.sd_pooled,
    runs_for_difference = found.n_difference,
    runs_for_difference_cautious = found.n_difference_cautious,
    runs_for_equivalence = found.n_equivalence,
    more_per_variant = found.more_per_arm,
    detectable_now = or_null(found.detectable_now),
  }
end

-- ---------------------------------------------------------------- one metric

--- Compares one metric in one scenario. The word is not yet adjusted for its family.
---@param entry pairperf.MetricEntry
---@param runs pairperf.SlotValue[] successful ones with a value, in the order of their slots
---@param floor number? the noise floor, in the place of the starting margin
---@return table comparison as in report.json
function M.metric(entry, runs, floor)
  local values = split(runs)
  local b, c = values.baseline, values.candidate
  local decided, raw, drift = order.verdict(runs, {
    direction = entry.direction,
    margin_abs = floor or entry.margin.abs,
    margin_rel = not floor and entry.margin.rel or nil,
    alpha = M.ALPHA,
  })
  local margin = raw.margin or 0
  return {
    family = "exploratory",
    direction = entry.direction,
    values = values,
    attainable = M.attainable(#b, #c),
    margin = or_null(raw.margin),
    margin_origin = floor and "noise_floor" or "default",
    estimate = estimate(b, c),
    difference_interval = span(interval.shift(b, c, M.ALPHA / 2)),
    equivalence_interval = span(interval.shift(b, c, M.ALPHA)),
    ratio = ratio(b, c),
    test = test(b, c),
    verdict = decided.verdict,
    reason = or_null(decided.reason),
    indicative = json.null,
    indicative_reason = json.null,
    raw_verdict = raw.verdict,
    detrended_verdict = or_null(decided.detrended_verdict),
    beyond_margin = raw.beyond_margin,
    below_margin_difference = raw.below_margin_difference,
    outliers = outlier_part(runs, margin),
    shift_without_one = shift_range(b, c),
    drift = drift_part(drift),
    paired = paired_part(runs),
    power = power_part(b, c, margin),
  }
end

-- ---------------------------------------------------------------- family

local function index(scenarios)
  local rows = {}
  for _, scenario in ipairs(scenarios) do
    rows[scenario.name] = {}
    for _, row in ipairs(scenario.metrics) do
      rows[scenario.name][row.name] = row
    end
  end
  return rows
end

-- Certain words of the family must survive the adjustment of their p.
local function adjust(family, rows)
  local p, members = {}, {}
  for i, one in ipairs(family) do
    local row = rows[one.scenario] and rows[one.scenario][one.metric]
    members[i] = row and row.comparison
    p[i] = row and row.comparison.test.p or json.null
  end
  local found = verdict.holm(p, M.ALPHA)
  for i = 1, #family do
    local member = members[i]
    if member then
      member.family = "primary"
      member.test.adjusted_p = found.adjusted[i]
      local certain = member.verdict == "regressed" or member.verdict == "improved"
      if certain and not found.reject[i] then
        member.verdict, member.reason = "inconclusive", "not_significant_in_family"
      end
    end
  end
end

local DIRECTIONAL = { regressed = "higher", improved = "lower" }

-- An unvalidated counter gets a direction, never a verdict.
local function directional(comparison)
  for _, field in ipairs { "verdict", "raw_verdict", "detrended_verdict" } do
    if measured.known(comparison[field]) then
      comparison[field] = DIRECTIONAL[comparison[field]] or "unclear"
    end
  end
end

local function void_word(comparison, entry, void)
  if measured.known(void) then
    comparison.indicative = comparison.verdict
    comparison.indicative_reason = comparison.reason
    comparison.verdict = entry.directional and "unclear" or "inconclusive"
    local missing = comparison.reason == "missing_metric"
    comparison.reason = missing and comparison.reason or void
  end
end

--- Finishes the words of all scenarios of a report: family, directions, and what voids them.
---@param scenarios table[] of a report, each row with its `comparison`; `void` of a scenario says
---  why none of its words counts
---@param entries table<string, pairperf.MetricEntry>
---@param family {scenario: string, metric: string}[]
function M.finish(scenarios, entries, family)
  adjust(family, index(scenarios))
  for _, scenario in ipairs(scenarios) do
    for _, row in ipairs(scenario.metrics) do
      local entry = entries[row.name]
      if entry.directional then
        directional(row.comparison)
      end
      void_word(row.comparison, entry, scenario.void)
    end
  end
end

return M
