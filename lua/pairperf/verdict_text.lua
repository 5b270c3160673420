-- SPDX-License-Identifier: Apache-2.0
--- A comparison in words, alike for first lines, Markdown and terminal. Plain text: whoever puts it
--- into Markdown escapes it.
local compare = require "pairperf.compare"
local format = require "pairperf.format"
local report_values = require "pairperf.report_values"
local units = require "pairperf.units"

local M = {}

local known = report_values.known

-- ---------------------------------------------------------------- numbers

-- The spread that decides how many decimals the numbers of a row show.
local function spread(row)
  local widest = 0
  for _, variant in ipairs { "baseline", "candidate" } do
    local iqr = row[variant] and row[variant].iqr
    widest = known(iqr) and math.max(widest, iqr * row.scale) or widest
  end
  return widest
end

--- One value of a row in its printed unit.
function M.value(row, value)
  return (format.value(value * row.scale, spread(row)))
end

--- The same for a difference, with its sign.
function M.signed(row, value)
  return format.signed(value * row.scale, spread(row))
end

--- "+10.0", "+45.5%" of a row's estimate.
function M.estimate(row)
  local estimate = row.comparison.estimate
  if not known(estimate) then
    return "n/a", "n/a"
  end
  local median = known(row.baseline.median) and row.baseline.median or nil
  return M.signed(row, estimate.shift), format.change(estimate.shift, median)
end

--- "96.8 %" of a level.
function M.percent(level)
  return ("%.1f %%"):format(100 * level)
end

local percent = M.percent

--- "+6.0 to +14.0 (96.8 %)", or that there is none, for a table.
---@param span table|userdata of a comparison
function M.interval(row, span)
  if not known(span) then
    return "none"
  end
  return ("%s to %s (%s)"):format(
    M.signed(row, span.low),
    M.signed(row, span.high),
    percent(span.level)
  )
end

--- "96.8 % interval +6.0 to +14.0", or that there is none, for a sentence.
function M.interval_words(row, span)
  if not known(span) then
    return "no interval"
  end
  return ("%s interval %s to %s"):format(
    percent(span.level),
    M.signed(row, span.low),
    M.signed(row, span.high)
  )
end

function M.margin(row)
  local margin = row.comparison.margin
  return known(margin) and M.value(row, margin) or "n/a"
end

--- The same for a table, with where it comes from when that is not the starting value.
function M.margin_cell(row)
  local floor = row.comparison.margin_origin == "noise_floor"
  return M.margin(row) .. (floor and " (noise floor)" or "")
end

--- "5+5 runs: smallest possible p 0.0079"
function M.smallest_p(found)
  return ("%d+%d runs: smallest possible p %s"):format(
    found.baseline_runs,
    found.candidate_runs,
    format.p(known(found.smallest_p) and found.smallest_p or nil)
  )
end

--- What so many runs can show, in one sentence.
function M.attainable(found)
  local words = { M.smallest_p(found) }
  for _, one in ipairs { "difference", "equivalence" } do
    local level = found[one .. "_level"]
    words[#words + 1] = known(level) and ("%s interval at %s"):format(one, percent(level))
      or ("no %s interval"):format(one)
  end
  local most = found.largest_family
  words[#words + 1] = most < 1 and "no difference can be significant"
    or most < 2 and "one primary metric can be significant"
    or ("up to %.0f primary metrics can be significant together"):format(most)
  return table.concat(words, "; ")
end

-- ---------------------------------------------------------------- reasons

local REASONS = {
  missing_metric = "a variant has no value",
  too_few_runs = "too few runs for any interval",
  too_few_runs_for_difference = "too few runs for a difference interval",
  no_margin = "the margin is 0, and the interval touches 0",
  interval_too_wide = "the interval is too wide for the margin",
  order_sensitive = "the word changes when the drift over the runs is removed",
  not_significant_in_family = "not significant among the primary metrics together",
  diagnostic_only = "diagnostic only",
  artifact_changed = "an artifact changed while it was measured",
  unfinished = "the session is not finished",
  straddles_budget = "the interval straddles the budget",
  lower_bound = "its values are lower bounds, which do not show it",
  straddles_limit = "some runs are within the limit and some beyond",
}

---@param reason string|userdata
---@return string empty when there is none
function M.reason(reason)
  return known(reason) and (REASONS[reason] or reason) or ""
end

-- How many more runs, and what they would resolve: a plan for a new session.
local function more_runs(row, scenario)
  local power = row.comparison.power
  if not known(power) then
    return nil
  end
  local effect = M.value(row, power.effect) .. " " .. row.unit
  if known(row.baseline.median) and row.baseline.median > 0 then
    effect = ("%.1f %%"):format(100 * power.effect / row.baseline.median)
  end
  if power.more_per_variant == 0 then
    return ("as many repetitions as these would usually resolve %s"):format(effect)
  end
  local run_s = (scenario.warmup_ns + scenario.duration_ns) / 1e9
  return ("about %s per variant (%s) would resolve %s in a new session"):format(
    format.count(power.more_per_variant, "more repetition"),
    units.format_long(2 * power.more_per_variant * run_s),
    effect
  )
end

-- What a family of so many metrics needs; the power advice is for a metric on its own.
local function family_runs(row, size)
  local fewest, found = compare.runs_for_family(size), row.comparison.attainable
  if fewest > math.min(found.baseline_runs, found.candidate_runs) then
    return ("at least %d repetitions per variant are needed for %s"):format(
      fewest,
      format.count(size, "primary metric")
    )
  end
  return ("more repetitions than these, or fewer than %d primary metrics, are needed"):format(size)
end

-- Why the word is open by the rules, whatever voids it besides.
local function open_reason(comparison)
  return known(comparison.indicative) and comparison.indicative_reason or comparison.reason
end

--- What would settle an open comparison; nil where runs would not.
---@param row table
---@param scenario table
---@param family table[] the primary metrics, report.comparison.family
---@return string?
function M.advice(row, scenario, family)
  local comparison = row.comparison
  local reason = open_reason(comparison)
  if reason == "order_sensitive" then
    return ("%s as measured, %s without the drift; let the machine settle and repeat"):format(
      comparison.raw_verdict,
      comparison.detrended_verdict
    )
  elseif reason == "too_few_runs" or reason == "too_few_runs_for_difference" then
    return "at least 4 repetitions per variant are needed"
  elseif reason == "not_significant_in_family" then
    return family_runs(row, #family)
  end
  return reason == "interval_too_wide" and more_runs(row, scenario) or nil
end

-- ---------------------------------------------------------------- sentences

--- How to read the verdicts of a report.
M.METHOD = "A shift is the median of all candidate minus baseline differences. Positive is higher. "
  .. "Equivalent means that the difference is certainly within the margin; inconclusive does not "
  .. "mean equal. Each p is exact (above 60 runs of both variants: by the normal approximation) if "
  .. "runs are exchangeable: the order was alternated, not randomised. Primary metrics were "
  .. "declared before the runs and are adjusted for their number (Holm); exploratory ones are not."

--- The word, or what it would be: "inconclusive (indicative: regressed)".
function M.word(comparison)
  local indicative = comparison.indicative
  if known(indicative) and indicative ~= comparison.verdict then
    return ("%s (indicative: %s)"):format(comparison.verdict, indicative)
  end
  return comparison.verdict
end

local CHANGES = { regressed = true, improved = true, higher = true, lower = true }

local function evidence(row)
  local comparison = row.comparison
  local parts = { M.interval_words(row, comparison.difference_interval) }
  parts[2] = "p " .. format.p(known(comparison.test.p) and comparison.test.p or nil)
  if known(comparison.test.adjusted_p) then
    parts[3] = "adjusted " .. format.p(comparison.test.adjusted_p)
  end
  return table.concat(parts, ", ")
end

--- The name of a metric, and whose values are lower bounds.
function M.title(row)
  local mark = report_values.at_least(row)
  return mark and ("%s (%s)"):format(row.title, mark) or row.title
end

--- What is said of one metric, after its name: "regressed, +4.90 % of one core or ...".
---@param row table
---@param scenario table
---@param word string the verdict, or the indicative word
---@param family table[] the primary metrics
---@return string
function M.predicate(row, scenario, word, family)
  local comparison = row.comparison
  if CHANGES[word] then
    local absolute, relative = M.estimate(row)
    return ("%s, %s %s or %s (%s)"):format(word, absolute, row.unit, relative, evidence(row))
  elseif word == "equivalent" then
    return ("equivalent, the difference is within %s %s (%s)%s"):format(
      M.margin(row),
      row.unit,
      M.interval_words(row, comparison.equivalence_interval),
      comparison.below_margin_difference and "; that there is a small one is certain" or ""
    )
  end
  local advice = M.advice(row, scenario, family)
  return ("%s: %s%s"):format(
    word,
    M.reason(open_reason(comparison)),
    advice and ", " .. advice or ""
  )
end

return M
