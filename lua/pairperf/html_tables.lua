-- SPDX-License-Identifier: Apache-2.0
--- The tables and lists of report.html; they say everything that can be said without a picture.
local format = require "pairperf.format"
local html_text = require "pairperf.html_text"
local interval_text = require "pairperf.interval_text"
local report_findings = require "pairperf.report_findings"
local report_order = require "pairperf.report_order"
local report_values = require "pairperf.report_values"
local request_text = require "pairperf.request_text"
local verdict_text = require "pairperf.verdict_text"

local M = {}

local known = report_values.known

local function or_else(value, fallback)
  return known(value) and value or fallback
end

local function verdict_row(scenario, row)
  local comparison = row.comparison
  local absolute, relative = verdict_text.estimate(row)
  local p = comparison.test.adjusted_p
  p = known(p) and p or comparison.test.p
  return {
    row.title,
    scenario.name,
    { text = verdict_text.word(comparison), class = "word " .. comparison.verdict },
    report_values.side(row, "baseline").median,
    report_values.side(row, "candidate").median,
    report_values.unit(row),
    absolute,
    relative,
    verdict_text.interval(row, comparison.difference_interval),
    verdict_text.margin(row),
    format.p(known(p) and p or nil),
    verdict_text.reason(comparison.reason),
  }
end

local VERDICT_HEAD = {
  "Metric",
  "Scenario",
  "Verdict",
  "Baseline median",
  "Candidate median",
  "Unit",
  "Estimated shift",
  "in percent",
  "Difference interval (level)",
  "Margin",
  "p (adjusted where primary)",
  "Reason",
}

local function verdict_rows(report, family)
  local rows = {}
  for _, scenario in ipairs(report.scenarios) do
    for _, row in ipairs(scenario.metrics) do
      if report_values.shown(row) and row.comparison.family == family then
        rows[#rows + 1] = verdict_row(scenario, row)
      end
    end
  end
  return rows
end

--- Verdicts, exploratory metrics folded; nothing in a session of one variant.
function M.verdicts(out, report)
  if not known(report.comparison) then
    return
  end
  local primary, others = verdict_rows(report, "primary"), verdict_rows(report, "exploratory")
  html_text.heading(out, 2, "Verdicts")
  if #primary + #others == 0 then
    return html_text.paragraph(out, "No metric has a value yet.")
  end
  html_text.table(out, "Verdict per primary metric", VERDICT_HEAD, primary)
  if #others > 0 then
    out[#out + 1] = "<details><summary>Exploratory metrics</summary>\n"
    html_text.table(out, "Verdict per exploratory metric", VERDICT_HEAD, others)
    out[#out + 1] = "</details>\n"
  end
  html_text.paragraph(out, verdict_text.METHOD)
  html_text.paragraph(out, report_order.carry_over(report))
end

--- Advice from inside the runs of a scenario.
function M.intervals(out, scenario)
  local items = interval_text.items(scenario)
  if #items > 0 then
    html_text.paragraph(out, interval_text.HEAD)
    html_text.list(out, items)
  end
end

--- Medians and ranges of the main metrics of a scenario.
function M.metrics(out, scenario)
  local variants = scenario.runs.candidate and { "baseline", "candidate" } or { "baseline" }
  local head, rows = { "Metric", "Unit (source)" }, {}
  for _, variant in ipairs(variants) do
    head[#head + 1] = variant .. " median"
    head[#head + 1] = "minimum to maximum"
    head[#head + 1] = "runs"
  end
  for _, row in ipairs(scenario.metrics) do
    if not row.detail then
      local cells = { row.title, report_values.unit(row) }
      for _, variant in ipairs(variants) do
        local side = report_values.side(row, variant)
        table.move({ side.median, side.range, side.n }, 1, 3, #cells + 1, cells)
      end
      rows[#rows + 1] = cells
    end
  end
  if #rows > 0 then
    html_text.table(out, "Metrics, of successful runs", head, rows)
  else
    html_text.paragraph(out, "No successful run has a metric.")
  end
end

--- Components of a scenario, by executable.
function M.components(out, scenario)
  if #scenario.components == 0 then
    return
  end
  local variants = scenario.runs.candidate and { "baseline", "candidate" } or { "baseline" }
  local head, rows = { "Component" }, {}
  for _, variant in ipairs(variants) do
    head[#head + 1] = variant .. " CPU, % of one core"
    head[#head + 1] = variant .. " resident maximum, MiB"
  end
  for i, component in ipairs(scenario.components) do
    rows[i] = { report_values.component(component) }
    for _, variant in ipairs(variants) do
      table.insert(rows[i], report_values.short(component[variant].cpu_percent))
      table.insert(rows[i], report_values.mebibytes(component[variant].rss_max_bytes))
    end
  end
  html_text.heading(out, 3, "Components")
  html_text.table(out, "By executable; medians of the successful runs", head, rows)
end

--- The requests of a scenario, run by run; nothing where there were none.
function M.requests(out, scenario)
  local rows = request_text.rows(scenario)
  if #rows > 0 then
    html_text.paragraph(out, request_text.INTRO)
    html_text.table(out, "Requests of each run", request_text.HEAD, rows)
  end
end

local function slot_list(out, head, notes)
  local items = {}
  for i, note in ipairs(notes) do
    items[i] = ("%s: %s"):format(report_findings.slots_text(note.slots), note.text)
  end
  if #items > 0 then
    html_text.paragraph(out, head)
    html_text.list(out, items)
  end
end

--- Every scheduled run and how it ended.
function M.runs(out, report)
  local rows = {}
  for i, run in ipairs(report.runs) do
    rows[i] = {
      ("slot %d"):format(run.slot),
      run.scenario,
      run.variant,
      run.repetition,
      { text = run.status, class = "word " .. run.status },
      or_else(run.step, ""),
      or_else(run.reason, ""),
      or_else(run.evidence, ""),
      or_else(run.next, ""),
    }
  end
  html_text.heading(out, 2, "Runs")
  local head = { "Slot", "Scenario", "Variant", "Repetition", "Status", "Failing step", "Reason" }
  table.move({ "Evidence", "Next command" }, 1, 2, #head + 1, head)
  html_text.table(out, "Every scheduled run", head, rows)
  slot_list(out, "Findings on the numbers:", report_findings.grouped(report.findings))
  slot_list(out, "Remarks on runs:", report.notes)
end

--- What the two sides are.
function M.variants(out, report)
  local rows = {}
  for _, name in ipairs { "baseline", "candidate" } do
    local one = report.variants[name]
    rows[#rows + 1] = one
      and {
        name,
        or_else(one.artifact, "n/a"),
        or_else(one.version, "n/a"),
        or_else(one.executable_sha256, "n/a"),
      }
  end
  html_text.heading(out, 2, "Variants")
  local head = { "Variant", "Artifact", "Version", "SHA-256 of the executable" }
  html_text.table(out, "What was compared", head, rows)
end

--- Caveats, warnings and where the rest stands.
function M.closing(out, report)
  html_text.heading(out, 2, "What to keep in mind")
  local items = {}
  for i, caveat in ipairs(report.caveats) do
    items[i] = caveat.text
  end
  html_text.list(out, items)
  if #report.warnings > 0 then
    html_text.paragraph(out, "Warnings from before the first run:")
    html_text.list(out, report.warnings)
  end
  html_text.paragraph(out, report_values.own_cost(report.own_cost))
  html_text.paragraph(
    out,
    (
      "pairperf %s; plan made %s. report.md beside this file has every source, guard snapshot and "
      .. "machine fact; report.json has the figures."
    ):format(or_else(report.tool.version, "unknown"), or_else(report.created_utc, "unknown"))
  )
end

--- What the harness covered and what the controller must add: it ends the report.
function M.checklist(out, report)
  local checklist = report.checklist
  html_text.heading(out, 2, "Checklist")
  html_text.paragraph(out, "The harness covered:")
  html_text.list(out, checklist.covered)
  html_text.paragraph(out, "The controller must add:")
  html_text.list(out, checklist.controller)
  if not known(checklist.context) then
    return html_text.paragraph(out, "The controller gave no context.")
  end
  html_text.paragraph(out, "The controller's context:")
  local lines = {}
  for line in (format.bytes(checklist.context) .. "\n"):gmatch "([^\n]*)\n" do
    lines[#lines + 1] = html_text.escape(line)
  end
  out[#out + 1] = "<blockquote>" .. table.concat(lines, "<br>\n") .. "</blockquote>\n"
end

return M
