-- SPDX-License-Identifier: Apache-2.0
--- report.md. Every foreign text passes format.markdown, so that no name breaks a table or a line.
local format = require "pairperf.format"
local json = require "pairperf.json"
local markdown = require "pairperf.markdown"
local report_findings = require "pairperf.report_findings"
local report_md_scenario = require "pairperf.report_md_scenario"
local report_md_verdicts = require "pairperf.report_md_verdicts"
local report_values = require "pairperf.report_values"

local M = {}

local known = report_values.known
local md = format.markdown

local function text_or(value, fallback)
  return known(value) and md(value) or fallback
end

-- ---------------------------------------------------------------- top

local function differences(out, report)
  markdown.paragraph(out, report_values.differences(report))
  local items = {}
  for i, difference in ipairs(report.differences) do
    items[i] = md(difference)
  end
  if #items > 0 then
    markdown.list(out, items)
  end
end

local function top(out, report)
  markdown.heading(out, 1, "pairperf report")
  local lines = {}
  for i, line in ipairs(report.conclusions) do
    lines[i] = md(line)
  end
  markdown.list(out, lines)
  if report.mode ~= "single" then
    differences(out, report)
  end
  lines = {}
  for i, line in ipairs(report.circumstances) do
    lines[i] = md(line)
  end
  markdown.paragraph(out, "What this rests on:")
  markdown.list(out, lines)
end

local function variant_table(out, report)
  markdown.heading(out, 2, "Variants")
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
  markdown.table(out, {
    "Variant",
    "Artifact",
    "Version",
    "SHA-256 of the executable",
    "SHA-256 of the bundle manifest",
  }, rows)
end

-- ---------------------------------------------------------------- runs

-- "slot 3", "slots 0 to 4, 7"
local function slot_list(out, head, notes)
  local items = {}
  for i, note in ipairs(notes) do
    items[i] = ("%s: %s"):format(report_findings.slots_text(note.slots), md(note.text))
  end
  if #items > 0 then
    markdown.paragraph(out, head)
    markdown.list(out, items)
  end
end

local function runs_section(out, report)
  markdown.heading(out, 2, "Runs")
  markdown.paragraph(
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
  markdown.table(out, {
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
  slot_list(out, "Findings on the numbers:", report_findings.grouped(report.findings))
  slot_list(out, "Remarks on runs:", report.notes)
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
  markdown.heading(out, 2, "Guard and isolation")
  markdown.paragraph(out, md(report.isolation))
  for _, line in ipairs(report.confinement or {}) do
    markdown.paragraph(out, md(line))
  end
  markdown.paragraph(out, md(report.guard.text))
  local guard, rows = report.guard, {}
  for i, path in ipairs(guard.paths) do
    rows[i] = {
      md(path),
      snapshot_text(guard.before_first, path),
      snapshot_text(guard.after_last, path),
    }
  end
  markdown.table(out, { "Guarded path", "Before the first run", "After the last run" }, rows)
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
  markdown.list(out, #items > 0 and items or { "No change was seen." })
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
      local title = prefix == name .. " " and name or prefix .. name
      items[#items + 1] = known(value) and ("%s: %s"):format(title, md(text))
        or ("%s: not available (%s)"):format(title, text_or(one.reason, "no reason"))
    elseif type(one) == "table" then
      probe_lines(items, prefix .. name .. " ", one)
    end
  end
end

local function machine_section(out, report)
  markdown.heading(out, 2, "Machine")
  if not known(report.probes) then
    return markdown.paragraph(out, "The machine was not probed.")
  end
  local items = {}
  probe_lines(items, "", report.probes)
  markdown.list(out, items)
end

-- One row per capability; where runs disagree, in how many each state was found.
local function capability_rows(list)
  local rows, by_name = {}, {}
  for _, one in ipairs(list) do
    local group = by_name[one.capability]
    if not group then
      group = { states = {}, consequence = "" }
      by_name[one.capability], rows[#rows + 1] = group, { md(one.capability), group }
    end
    group.states[#group.states + 1] = one
    if one.consequence ~= "" then -- that of "ok" says nothing
      group.consequence = text_or(one.consequence, group.consequence)
    end
  end
  for _, row in ipairs(rows) do
    local group, states = row[2], {}
    for i, one in ipairs(group.states) do
      states[i] = #group.states == 1 and md(one.state)
        or ("%s in %d of the runs"):format(md(one.state), one.runs)
    end
    row[2], row[3] = table.concat(states, ", "), group.consequence
  end
  return rows
end

local function harness_section(out, report)
  markdown.heading(out, 2, "The harness itself")
  local build = known(report.tool.build) and report.tool.build or {}
  markdown.paragraph(
    out,
    ("pairperf %s, source commit %s%s. Plan made %s."):format(
      text_or(report.tool.version, "unknown"),
      text_or(build.commit, "unknown"),
      build.dirty and " with uncommitted changes" or "",
      text_or(report.created_utc, "unknown")
    )
  )
  markdown.paragraph(out, md(report_values.own_cost(report.own_cost)))
  local rows = capability_rows(report.capabilities)
  if #rows > 0 then
    markdown.table(out, { "Capability, found by trying it", "State", "Consequence" }, rows)
  end
end

-- ---------------------------------------------------------------- closing

local function caveat_section(out, report)
  markdown.heading(out, 2, "What to keep in mind")
  local items = {}
  for i, caveat in ipairs(report.caveats) do
    items[i] = md(caveat.text)
  end
  markdown.list(out, items)
  if #report.warnings > 0 then
    markdown.paragraph(out, "Warnings from before the first run:")
    local warnings = {}
    for i, warning in ipairs(report.warnings) do
      warnings[i] = md(warning)
    end
    markdown.list(out, warnings)
  end
end

local function context_lines(out, context)
  if not known(context) then
    return markdown.paragraph(out, "The controller gave no context.")
  end
  markdown.paragraph(out, "The controller's context:")
  for line in (format.bytes(context) .. "\n"):gmatch "([^\n]*)\n" do
    out[#out + 1] = "> " .. md(line) .. "  " -- two spaces keep the lines apart
  end
  out[#out + 1] = ""
end

local function checklist_section(out, report)
  markdown.heading(out, 2, "Checklist")
  markdown.paragraph(out, "The harness covered:")
  markdown.list(out, report.checklist.covered)
  markdown.paragraph(out, "The controller must add:")
  markdown.list(out, report.checklist.controller)
  context_lines(out, report.checklist.context)
end

local function evidence_section(out, report)
  markdown.heading(out, 2, "Evidence")
  local items = {}
  for i, path in ipairs(report.evidence) do
    items[i] = md(path)
  end
  if not known(report.session) then
    items[#items + 1] = "session.json and digests.json are written when the session ends"
  end
  items[#items + 1] =
    "per run, in its directory: samples.jsonl, events.jsonl, summary.json, hook, check, home"
  markdown.list(out, items)
end

--- The report as Markdown.
---@param report table of report_build.build
---@return string
function M.render(report)
  local out = {}
  top(out, report)
  report_md_verdicts.table(out, report)
  variant_table(out, report)
  local family = known(report.comparison) and report.comparison.family or nil
  for _, scenario in ipairs(report.scenarios) do
    report_md_scenario.section(out, scenario, family)
  end
  runs_section(out, report)
  guard_section(out, report)
  machine_section(out, report)
  harness_section(out, report)
  caveat_section(out, report)
  evidence_section(out, report)
  checklist_section(out, report)
  return table.concat(out, "\n")
end

return M
