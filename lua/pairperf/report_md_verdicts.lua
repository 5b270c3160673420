-- SPDX-License-Identifier: Apache-2.0
--- The verdicts in report.md: one table after the first lines, and the details of each scenario.
local format = require "pairperf.format"
local markdown = require "pairperf.markdown"
local report_row = require "pairperf.report_row"
local report_values = require "pairperf.report_values"
local verdict_text = require "pairperf.verdict_text"

local M = {}

local known = report_values.known
local md = format.markdown

local function p_text(p)
  return md(format.p(known(p) and p or nil))
end

-- ---------------------------------------------------------------- table

local HEAD = {
  "Scenario",
  "Metric",
  "Family",
  "Unit (source)",
  "Estimated shift",
  "in percent",
  "Difference interval (level)",
  "Margin",
  "p",
  "adjusted p",
  "Verdict",
  "Reason",
}

local function table_row(scenario, row)
  local comparison = row.comparison
  local absolute, relative = verdict_text.estimate(row)
  return {
    md(scenario.name),
    md(row.title),
    comparison.family,
    md(report_values.unit(row)),
    absolute,
    relative,
    verdict_text.interval(row, comparison.difference_interval),
    verdict_text.margin_cell(row),
    p_text(comparison.test.p),
    known(comparison.test.adjusted_p) and p_text(comparison.test.adjusted_p) or "",
    verdict_text.word(comparison),
    md(verdict_text.reason(comparison.reason)),
  }
end

local function add_rows(rows, report, family)
  for _, scenario in ipairs(report.scenarios) do
    for _, row in ipairs(scenario.metrics) do
      if report_values.shown(row) and row.comparison.family == family then
        rows[#rows + 1] = table_row(scenario, row)
      end
    end
  end
end

local METHOD = "A shift is the median of all candidate minus baseline differences. Positive is "
  .. "higher. Equivalent means that the difference is certainly within the margin; inconclusive "
  .. "does not mean equal. Each p is exact (above 60 runs of both variants: by the normal "
  .. "approximation) if runs are exchangeable: the order was alternated, not randomised. Primary "
  .. "metrics were declared before the runs and are adjusted for their number (Holm); exploratory "
  .. "ones are not. What one run leaves behind for the next cannot be estimated in strict "
  .. "alternation: repeat with the other variant first where it matters."

--- The table of verdicts, primary metrics first.
---@param out string[]
---@param report table
function M.table(out, report)
  if not known(report.comparison) then
    return
  end
  markdown.heading(out, 2, "Verdicts")
  local rows = {}
  add_rows(rows, report, "primary")
  add_rows(rows, report, "exploratory")
  if #rows == 0 then
    return markdown.paragraph(out, "No metric has a value yet.")
  end
  markdown.table(out, HEAD, rows)
  markdown.paragraph(out, METHOD)
end

-- ---------------------------------------------------------------- details

local function values_text(row, variant)
  local list = {}
  for i, value in ipairs(row.comparison.values[variant]) do
    list[i] = verdict_text.value(row, value)
  end
  return #list > 0 and table.concat(list, ", ") or "none"
end

local function outlier_text(row)
  local list = {}
  for i, one in ipairs(row.comparison.outliers) do
    list[i] = ("%s slot %d (%s)"):format(one.variant, one.slot, verdict_text.value(row, one.value))
  end
  return #list > 0 and "Far from their fellows, and kept: " .. table.concat(list, ", ") .. "."
    or "No outlier."
end

local function left_out_text(row)
  local range = row.comparison.shift_without_one
  if not known(range) then
    return nil
  end
  return ("Leaving out any single run, the shift is between %s and %s."):format(
    verdict_text.signed(row, range.low),
    verdict_text.signed(row, range.high)
  )
end

local function drift_text(row)
  local drift = row.comparison.drift
  if not known(drift.p) then
    return nil
  end
  local text = ("Drift over the slots %s (p %s, it moves the shift by %s%s)."):format(
    drift.suspected and "suspected" or "not seen",
    format.p(drift.p),
    verdict_text.signed(row, drift.bias),
    drift.material and ", which is material" or ""
  )
  if drift.suspected and known(row.comparison.detrended_verdict) then
    text = ("%s Without it the word is %s."):format(text, row.comparison.detrended_verdict)
  end
  if drift.seesaw then
    text = text .. " Neighbouring runs go up and down in turn, which looks like a difference."
  end
  return text
end

local function paired_text(row)
  local paired = row.comparison.paired
  if paired.pairs == 0 then
    return nil
  end
  return ("Second opinion by %d pairs of neighbours: shift %s, p %s (not below %s)."):format(
    paired.pairs,
    verdict_text.signed(row, paired.shift),
    format.p(known(paired.p) and paired.p or nil),
    format.p(paired.smallest_p)
  )
end

local function ratio_text(row)
  local ratio = row.comparison.ratio
  if not known(ratio) then
    return nil
  end
  local text = ("Ratio %.3f"):format(ratio.estimate)
  if known(ratio.interval) then
    text = ("%s, %s interval %.3f to %.3f"):format(
      text,
      verdict_text.percent(ratio.interval.level),
      ratio.interval.low,
      ratio.interval.high
    )
  end
  return text .. "."
end

local function detail(row, scenario, family)
  local comparison = row.comparison
  local advice = verdict_text.advice(row, scenario, family)
  local parts = {
    ("%s (%s), %s: %s."):format(
      verdict_text.title(row),
      comparison.family,
      row.unit,
      verdict_text.word(comparison)
    ),
    verdict_text.attainable(comparison.attainable) .. ".",
    ("Baseline runs: %s."):format(values_text(row, "baseline")),
    ("Candidate runs: %s."):format(values_text(row, "candidate")),
    ("For equivalence: %s."):format(
      verdict_text.interval_words(row, comparison.equivalence_interval)
    ),
  }
  local function add(text)
    parts[#parts + 1] = text
  end
  add(ratio_text(row))
  add(outlier_text(row))
  add(left_out_text(row))
  add(drift_text(row))
  add(paired_text(row))
  add(advice and advice:sub(1, 1):upper() .. advice:sub(2) .. "." or nil)
  return md(table.concat(parts, " "))
end

-- ---------------------------------------------------------------- inside the runs

local function unsteady_text(row, one)
  return ("%s, slot %d (%s): it changed by %s %s after %s; a longer warm-up may help"):format(
    row.title,
    one.slot,
    one.variant,
    verdict_text.signed(row, one.step),
    row.unit,
    format.seconds(one.after_ns)
  )
end

-- Far fewer intervals than were taken would do: time is better spent on runs.
local function length_text(row, variant, variance)
  if not known(variance) or not known(variance.best_intervals) then
    return nil
  elseif variance.best_intervals >= variance.intervals_per_run / 2 then
    return nil
  end
  return (
    "%s, %s: runs differ more than intervals inside a run do (%.0f %% of the variance); more runs "
    .. "would help, longer ones hardly"
  ):format(row.title, variant, 100 * variance.share_between)
end

-- Advice only; nothing is excluded by it.
local function interval_items(scenario)
  local items = {}
  for _, one in ipairs(scenario.intervals) do
    local row = report_row.of(scenario, one.metric)
    for _, run in ipairs(one.unsteady) do
      items[#items + 1] = md(unsteady_text(row, run))
    end
    for _, variant in ipairs { "baseline", "candidate" } do
      local text = length_text(row, variant, one.variance[variant])
      items[#items + 1] = text and md(text)
    end
  end
  return items
end

--- The details of one scenario's comparisons, and advice from inside its runs.
---@param out string[]
---@param scenario table
---@param family table[]? the primary metrics; nil where nothing is compared
function M.details(out, scenario, family)
  local items = {}
  for _, row in ipairs(scenario.metrics) do
    if family and report_values.shown(row) then
      items[#items + 1] = detail(row, scenario, family)
    end
  end
  if #items > 0 then
    markdown.paragraph(out, "The comparisons in detail, runs in the order of their slots:")
    markdown.list(out, items)
  end
  local advice = interval_items(scenario)
  if #advice > 0 then
    markdown.paragraph(out, "Inside the runs (advice; nothing is left out because of it):")
    markdown.list(out, advice)
  end
end

return M
