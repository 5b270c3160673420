-- SPDX-License-Identifier: Apache-2.0
--- The section of one scenario in report.md: metrics, sources, components, requests.
local diagnostic = require "pairperf.diagnostic"
local format = require "pairperf.format"
local markdown = require "pairperf.markdown"
local report_md_verdicts = require "pairperf.report_md_verdicts"
local report_values = require "pairperf.report_values"
local request_text = require "pairperf.request_text"

local M = {}

local known = report_values.known
local md = format.markdown

local function main_row(row)
  local b, c = report_values.side(row, "baseline"), report_values.side(row, "candidate")
  local title = row.title .. (known(row.note) and " (" .. row.note .. ")" or "")
  local cells = { md(title), md(report_values.unit(row)), b.median, b.range, b.iqr, b.n }
  if c then
    local absolute, percent = report_values.difference(row)
    table.move({ c.median, c.range, c.iqr, c.n, absolute, percent }, 1, 6, 7, cells)
  end
  return cells
end

local SINGLE_HEAD = { "Metric", "Unit (source)", "Median", "Minimum to maximum", "IQR", "Runs" }
local PAIR_HEAD = {
  "Metric",
  "Unit (source)",
  "Baseline median",
  "minimum to maximum",
  "IQR",
  "runs",
  "Candidate median",
  "minimum to maximum",
  "IQR",
  "runs",
  "Difference of medians",
  "in percent",
}

local function metric_table(out, scenario, detail)
  local rows = {}
  for _, row in ipairs(scenario.metrics) do
    if row.detail == detail then
      rows[#rows + 1] = main_row(row)
    end
  end
  if #rows > 0 then
    markdown.table(out, scenario.runs.candidate and PAIR_HEAD or SINGLE_HEAD, rows)
  end
  return #rows > 0
end

-- Remarks in order, each once, with all metrics that it holds for.
local function grouped()
  local remarks, titles = {}, {}
  return function(title, remark)
    if not titles[remark] then
      titles[remark] = {}
      remarks[#remarks + 1] = remark
    end
    table.insert(titles[remark], title)
  end, function()
    local items = {}
    for i, remark in ipairs(remarks) do
      items[i] = md(("%s: %s"):format(table.concat(titles[remark], "; "), remark))
    end
    return items
  end
end

local function passes_text(passes)
  local count = passes.fewest == passes.most and passes.most
    or ("%d to %d"):format(passes.fewest, passes.most)
  return ("over %s passes per run"):format(count)
end

local function anybody_succeeded(scenario)
  for _, count in pairs(scenario.runs) do
    if count.successful > 0 then
      return true
    end
  end
  return false
end

-- Why there is no value, and what there is instead.
local function with_partial(words, row, scenario)
  local parts = table.move(row.reasons, 1, #row.reasons, 1, {})
  if #parts == 0 then
    parts[1] = anybody_succeeded(scenario) and "no reason is known" or "no run was successful"
  end
  parts[#parts + 1] = report_values.partial(row)
  return words .. table.concat(parts, "; ")
end

local function flag_lines(out, scenario)
  local add, items = grouped()
  for _, row in ipairs(scenario.metrics) do
    if known(row.error) then
      local error_text = format.value(row.error * row.scale, nil)
      add(row.title, ("a run's value is an estimate within %s %s"):format(error_text, row.unit))
    end
    if known(row.passes) then
      add(row.title, passes_text(row.passes))
    end
    for _, words in ipairs(report_values.flags(row)) do
      add(row.title, words)
    end
    if #row.reasons > 0 then
      add(row.title, with_partial("missing in some runs: ", row, scenario))
    end
  end
  for _, one in ipairs(scenario.unavailable) do
    add(one.title, with_partial("not available: ", one, scenario))
  end
  local list = items()
  if #list > 0 then
    markdown.paragraph(out, "Remarks on metrics:")
    markdown.list(out, list)
  end
end

local function component_table(out, scenario)
  if #scenario.components == 0 then
    return
  end
  markdown.paragraph(
    out,
    "Components, by executable; medians of the successful runs, 0 where one was absent:"
  )
  local variants = scenario.runs.candidate and { "baseline", "candidate" } or { "baseline" }
  local head = { "Component" }
  for _, variant in ipairs(variants) do
    head[#head + 1] = variant .. " CPU, % of one core"
    head[#head + 1] = variant .. " resident maximum, MiB"
  end
  local rows, unseen_alive = {}, false
  for i, component in ipairs(scenario.components) do
    unseen_alive = unseen_alive or component.name:find "^%[.*%]$" ~= nil
    local cells = { md(report_values.component(component)) }
    for _, variant in ipairs(variants) do
      cells[#cells + 1] = report_values.short(component[variant].cpu_percent)
      cells[#cells + 1] = report_values.mebibytes(component[variant].rss_max_bytes)
    end
    rows[i] = cells
  end
  markdown.table(out, head, rows)
  if unseen_alive then
    markdown.paragraph(
      out,
      "A name in brackets is that of a process whose executable could not be read: it was first "
        .. "seen after its end (\\[demo\\] is then most likely the program demo), or reading was "
        .. "denied."
    )
  end
end

local function request_table(out, scenario)
  local rows = request_text.rows(scenario)
  if #rows > 0 then
    markdown.paragraph(out, request_text.INTRO)
    markdown.table(out, request_text.HEAD, rows)
  end
end

--- Appends the section of one scenario.
---@param out string[]
---@param scenario table of report.scenarios
---@param family table[]? the primary metrics; nil where nothing is compared
function M.section(out, scenario, family)
  markdown.heading(out, 2, "Scenario " .. md(scenario.name))
  markdown.paragraph(
    out,
    ("Label %s: %s. Warm-up %s, window %s, interval %s, %s per variant."):format(
      md(scenario.label),
      md(scenario.summary),
      format.seconds(scenario.warmup_ns),
      format.seconds(scenario.duration_ns),
      format.seconds(scenario.interval_ns),
      format.count(scenario.repetitions, "repetition")
    )
  )
  if scenario.diagnostic_only then
    markdown.paragraph(out, md(diagnostic.sentence(scenario.diagnostic_reasons)))
  end
  if not metric_table(out, scenario, false) then
    markdown.paragraph(out, "No successful run has a metric.")
  else
    markdown.paragraph(
      out,
      "Statistics are over successful runs only. The runs columns count runs with a value "
        .. "against the scheduled ones."
    )
  end
  if metric_table(out, scenario, true) then
    markdown.paragraph(
      out,
      "The second table gives every source of a total on its own; sources are never mixed in "
        .. "one comparison."
    )
  end
  report_md_verdicts.details(out, scenario, family)
  flag_lines(out, scenario)
  component_table(out, scenario)
  request_table(out, scenario)
end

return M
