-- SPDX-License-Identifier: Apache-2.0
--- The verdicts in report.md: one table after the first lines, and the details of each scenario.
local format = require "pairperf.format"
local interval_text = require "pairperf.interval_text"
local markdown = require "pairperf.markdown"
local report_order = require "pairperf.report_order"
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
  markdown.paragraph(out, verdict_text.METHOD)
  markdown.paragraph(out, report_order.carry_over(report))
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
  return #list > 0 and "Outliers, kept: " .. table.concat(list, ", ") .. "." or "No outlier."
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
  local text = ("%s over the slots (p %s; %s the shift by %s%s)."):format(
    drift.suspected and "A drift is suspected" or "No drift is seen",
    format.p(drift.p),
    drift.suspected and "it moves" or "it would move",
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
  return ("Second opinion by %d pairs of neighbours: shift %s, p %s (at best %s)."):format(
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
    verdict_text.smallest_p(comparison.attainable) .. ".",
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
  local advice = {}
  for i, text in ipairs(interval_text.items(scenario)) do
    advice[i] = md(text)
  end
  if #advice > 0 then
    markdown.paragraph(out, interval_text.HEAD)
    markdown.list(out, advice)
  end
end

return M
