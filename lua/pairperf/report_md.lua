-- SPDX-License-Identifier: Apache-2.0
--- report.md. Every foreign text passes format.markdown, so that no name breaks a table or a line.
local format = require "pairperf.format"
local json = require "pairperf.json"
local report_values = require "pairperf.report_values"

local M = {}

local known = report_values.known
local md = format.markdown

local function text_or(value, fallback)
  return known(value) and md(value) or fallback
end

-- Cells are already Markdown.
local function md_table(out, head, rows)
  local function line(cells)
    out[#out + 1] = "| " .. table.concat(cells, " | ") .. " |"
  end
  line(head)
  local rule = {}
  for i = 1, #head do
    rule[i] = "---"
  end
  line(rule)
  for _, row in ipairs(rows) do
    line(row)
  end
  out[#out + 1] = ""
end

local function heading(out, level, text)
  out[#out + 1] = ("#"):rep(level) .. " " .. text
  out[#out + 1] = ""
end

local function list(out, items)
  for _, item in ipairs(items) do
    out[#out + 1] = "- " .. item
  end
  out[#out + 1] = ""
end

local function paragraph(out, text)
  out[#out + 1] = text
  out[#out + 1] = ""
end

-- ---------------------------------------------------------------- top

local function top(out, report)
  heading(out, 1, "pairperf report")
  local lines = {}
  for i, line in ipairs(report.conclusions) do
    lines[i] = md(line)
  end
  list(out, lines)
  if report.mode ~= "single" then
    if #report.differences == 0 then
      paragraph(out, "Apart from the artifact, nothing differs between the variants.")
    else
      paragraph(out, "Apart from the artifact, the variants differ in:")
      local items = {}
      for i, difference in ipairs(report.differences) do
        items[i] = md(difference)
      end
      list(out, items)
    end
  end
end

local function variant_table(out, report)
  heading(out, 2, "Variants")
  local rows = {}
  for _, name in ipairs { "baseline", "candidate" } do
    local v = report.variants[name]
    if v then
      rows[#rows + 1] = {
        name,
        text_or(v.artifact, "n/a"),
        text_or(v.version, "n/a"),
        text_or(v.executable_sha256, "n/a"),
        text_or(v.bundle_manifest_sha256, "n/a"),
      }
    end
  end
  md_table(out, {
    "Variant",
    "Artifact",
    "Version",
    "SHA-256 of the executable",
    "SHA-256 of the bundle manifest",
  }, rows)
end

-- ---------------------------------------------------------------- scenarios

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
    md_table(out, scenario.runs.candidate and PAIR_HEAD or SINGLE_HEAD, rows)
  end
  return #rows > 0
end

local function flag_lines(out, scenario)
  local items = {}
  for _, row in ipairs(scenario.metrics) do
    if known(row.error) then
      items[#items + 1] = ("%s: a run's value is an estimate within %s %s"):format(
        md(row.title),
        (format.value(row.error * row.scale, nil)),
        md(row.unit)
      )
    end
    if #row.flags > 0 then
      items[#items + 1] = ("%s: flagged %s"):format(
        md(row.title),
        md(table.concat(row.flags, ", "))
      )
    end
    if #row.reasons > 0 then
      items[#items + 1] = ("%s: missing in some runs: %s"):format(
        md(row.title),
        md(table.concat(row.reasons, "; "))
      )
    end
  end
  for _, one in ipairs(scenario.unavailable) do
    items[#items + 1] = ("%s: not available: %s"):format(
      md(one.title),
      md(table.concat(one.reasons, "; "))
    )
  end
  list(out, items)
end

local function percent(value)
  return known(value) and (format.value(value, nil)) or "n/a"
end

local function mebibytes(value)
  return known(value) and (format.value(value / 1048576, nil)) or "n/a"
end

local function component_table(out, scenario)
  if #scenario.components == 0 then
    return
  end
  paragraph(
    out,
    "Components, by executable; medians of the successful runs, 0 where a component was absent:"
  )
  local variants = scenario.runs.candidate and { "baseline", "candidate" } or { "baseline" }
  local head = { "Component" }
  for _, variant in ipairs(variants) do
    head[#head + 1] = variant .. " CPU, % of one core"
    head[#head + 1] = variant .. " resident maximum, MiB"
  end
  local rows = {}
  for i, component in ipairs(scenario.components) do
    local cells = { md(component.name) }
    for _, variant in ipairs(variants) do
      cells[#cells + 1] = percent(component[variant].cpu_percent)
      cells[#cells + 1] = mebibytes(component[variant].rss_max_bytes)
    end
    rows[i] = cells
  end
  md_table(out, head, rows)
end

local function scenario_section(out, scenario)
  heading(out, 2, "Scenario " .. md(scenario.name))
  paragraph(
    out,
    ("Label %s: %s. Warm-up %s, window %s, interval %s, %d repetitions per variant."):format(
      md(scenario.label),
      md(scenario.summary),
      format.seconds(scenario.warmup_ns),
      format.seconds(scenario.duration_ns),
      format.seconds(scenario.interval_ns),
      scenario.repetitions
    )
  )
  if not metric_table(out, scenario, false) then
    paragraph(out, "No successful run has a metric.")
  else
    paragraph(
      out,
      "Statistics are over successful runs only. The runs columns count the runs with a value "
        .. "against the scheduled ones."
    )
  end
  if metric_table(out, scenario, true) then
    paragraph(
      out,
      "The second table gives every source of a total on its own; sources are never mixed in "
        .. "one comparison."
    )
  end
  flag_lines(out, scenario)
  component_table(out, scenario)
end

-- ---------------------------------------------------------------- runs

local function runs_section(out, report)
  heading(out, 2, "Runs")
  paragraph(
    out,
    ("Order %s, first variant %s, seed %d (%s)."):format(
      md(report.order),
      md(report.first),
      report.seed,
      md(report.seed_origin)
    )
  )
  local rows = {}
  for i, run in ipairs(report.runs) do
    rows[i] = {
      tostring(run.slot),
      md(run.scenario),
      md(run.variant),
      tostring(run.repetition),
      run.status,
      text_or(run.step, ""),
      text_or(run.reason, ""),
      text_or(run.evidence, ""),
      text_or(run.next, ""),
    }
  end
  md_table(out, {
    "Slot",
    "Scenario",
    "Variant",
    "Repetition",
    "Status",
    "Failing step",
    "Reason",
    "Evidence",
    "Next command",
  }, rows)
  local notes = {}
  for i, note in ipairs(report.notes) do
    local slots = (#note.slots > 1 and "slots " or "slot ") .. table.concat(note.slots, ", ")
    notes[i] = ("%s: %s"):format(slots, md(note.text))
  end
  if #notes > 0 then
    paragraph(out, "Remarks on runs:")
    list(out, notes)
  end
end

-- ---------------------------------------------------------------- guard and isolation

local function snapshot_text(snapshots, path)
  local snapshot = known(snapshots) and snapshots[path] or nil
  if not snapshot then
    return "not looked at"
  end
  local facts = {}
  for name, value in pairs(snapshot) do
    facts[#facts + 1] = ("%s %s"):format(md(name), md(tostring(value)))
  end
  table.sort(facts)
  return table.concat(facts, "; ")
end

local function guard_section(out, report)
  heading(out, 2, "Guard and isolation")
  paragraph(out, md(report.isolation))
  paragraph(out, md(report.guard.text))
  local guard, rows = report.guard, {}
  for i, path in ipairs(guard.paths) do
    rows[i] = {
      md(path),
      snapshot_text(guard.before_first, path),
      snapshot_text(guard.after_last, path),
    }
  end
  md_table(out, { "Guarded path", "Before the first run", "After the last run" }, rows)
  local items = {}
  for _, change in ipairs(guard.changed) do
    items[#items + 1] = ("slot %d changed: %s"):format(
      change.slot,
      md(table.concat(change.fields, ", "))
    )
    for _, path in ipairs(guard.paths) do
      items[#items + 1] = ("slot %d, %s before: %s; after: %s"):format(
        change.slot,
        md(path),
        snapshot_text(change.before, path),
        snapshot_text(change.after, path)
      )
    end
  end
  for _, slot in ipairs(guard.unchecked) do
    items[#items + 1] = ("slot %d: not looked at both before and after"):format(slot)
  end
  list(out, #items > 0 and items or { "No change was seen." })
end

-- ---------------------------------------------------------------- machine and harness

local function probe_lines(items, prefix, probes)
  local names = {}
  for name in pairs(probes) do
    names[#names + 1] = name
  end
  table.sort(names)
  for _, name in ipairs(names) do
    local one = probes[name]
    if type(one) == "table" and one.source ~= nil then
      local value = one.value
      local text = type(value) == "table" and json.encode(value) or tostring(value)
      items[#items + 1] = known(value) and ("%s%s: %s"):format(prefix, name, md(text))
        or ("%s%s: not available (%s)"):format(prefix, name, text_or(one.reason, "no reason"))
    elseif type(one) == "table" then
      probe_lines(items, prefix .. name .. " ", one)
    end
  end
end

local function machine_section(out, report)
  heading(out, 2, "Machine")
  if not known(report.probes) then
    return paragraph(out, "The machine was not probed.")
  end
  local items = {}
  probe_lines(items, "", report.probes)
  list(out, items)
end

local function harness_section(out, report)
  heading(out, 2, "The harness itself")
  local build = known(report.tool.build) and report.tool.build or {}
  paragraph(
    out,
    ("pairperf %s, source commit %s%s. Plan made %s."):format(
      text_or(report.tool.version, "unknown"),
      text_or(build.commit, "unknown"),
      build.dirty and " with uncommitted changes" or "",
      text_or(report.created_utc, "unknown")
    )
  )
  local own = report.own_cost
  paragraph(
    out,
    (
      "Not part of any figure above, medians over the runs: the supervisor used %s of CPU and "
      .. "%s MiB of resident memory; one frame took %s."
    ):format(
      format.seconds(known(own.cpu_ns_per_run) and own.cpu_ns_per_run or nil),
      mebibytes(own.rss_bytes),
      format.seconds(known(own.pass_ns) and own.pass_ns or nil)
    )
  )
  if #report.capabilities > 0 then
    local rows = {}
    for i, one in ipairs(report.capabilities) do
      rows[i] = { md(one.capability), md(one.state), text_or(one.consequence, "") }
    end
    md_table(out, { "Capability, found by trying it", "State", "Consequence" }, rows)
  end
end

-- ---------------------------------------------------------------- closing

local function caveat_section(out, report)
  heading(out, 2, "What to keep in mind")
  local items = {}
  for i, caveat in ipairs(report.caveats) do
    items[i] = md(caveat.text)
  end
  list(out, items)
  if #report.warnings > 0 then
    paragraph(out, "Warnings from before the first run:")
    local warnings = {}
    for i, warning in ipairs(report.warnings) do
      warnings[i] = md(warning)
    end
    list(out, warnings)
  end
end

local function context_lines(out, context)
  if not known(context) then
    return paragraph(out, "The controller gave no context.")
  end
  paragraph(out, "The controller's context:")
  for line in (format.bytes(context) .. "\n"):gmatch "([^\n]*)\n" do
    out[#out + 1] = "> " .. md(line)
  end
  out[#out + 1] = ""
end

local function checklist_section(out, report)
  heading(out, 2, "Checklist")
  paragraph(out, "The harness covered:")
  list(out, report.checklist.covered)
  paragraph(out, "The controller must add:")
  list(out, report.checklist.controller)
  context_lines(out, report.checklist.context)
end

local function evidence_section(out, report)
  heading(out, 2, "Evidence")
  local items = {}
  for i, path in ipairs(report.evidence) do
    items[i] = md(path)
  end
  items[#items + 1] =
    "per run, in its directory: samples.jsonl, events.jsonl, summary.json, hook, check, home"
  list(out, items)
end

--- The report as Markdown.
---@param report table of report_build.build
---@return string
function M.render(report)
  local out = {}
  top(out, report)
  variant_table(out, report)
  for _, scenario in ipairs(report.scenarios) do
    scenario_section(out, scenario)
  end
  runs_section(out, report)
  guard_section(out, report)
  machine_section(out, report)
  harness_section(out, report)
  caveat_section(out, report)
  checklist_section(out, report)
  evidence_section(out, report)
  return table.concat(out, "\n")
end

return M
