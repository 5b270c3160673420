-- SPDX-License-Identifier: Apache-2.0
--- report.html: one file that needs no other and no network. Its policy lets only its own scripts
--- run, by their digests; without scripts, tables and drawings remain.
local core = require "pairperf.core"
local diagnostic = require "pairperf.diagnostic"
local html_dots = require "pairperf.html_dots"
local html_latency = require "pairperf.html_latency"
local html_processes = require "pairperf.html_processes"
local html_run = require "pairperf.html_run"
local html_script = require "pairperf.html_script"
local html_style = require "pairperf.html_style"
local html_tables = require "pairperf.html_tables"
local html_text = require "pairperf.html_text"
local html_timeline = require "pairperf.html_timeline"
local json = require "pairperf.json"
local report_values = require "pairperf.report_values"

local M = {}

-- ---------------------------------------------------------------- page

local BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

local function base64(bytes)
  local parts = {}
  for i = 1, #bytes, 3 do
    local a, b, c = bytes:byte(i, i + 2)
    local bits = a << 16 | (b or 0) << 8 | (c or 0)
    for k = 1, 4 do
      local six = bits >> (24 - 6 * k) & 63
      parts[#parts + 1] = k > #bytes - i + 2 and "=" or BASE64:sub(six + 1, six + 1)
    end
  end
  return table.concat(parts)
end

-- The source expression of a policy for an inline script.
local function allowed(text)
  local bytes = core.digest.bytes(text):gsub("%x%x", function(hex)
    return string.char(tonumber(hex, 16))
  end)
  return "'sha256-" .. base64(bytes) .. "'"
end

-- dygraphs sets style attributes, which no digest can allow.
local POLICY = "default-src 'none'; script-src %s; style-src 'unsafe-inline'; img-src data:; "
  .. "base-uri 'none'; form-action 'none'"

local HEAD = [[
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>pairperf report</title>
<style>%s</style>
</head>
<body>
]]

local function page(body, sections, library)
  local scripts = library and #sections > 0 and { library, html_script } or {}
  local sources = {}
  for i, script in ipairs(scripts) do
    sources[i] = allowed(script)
  end
  local policy = #sources > 0 and table.concat(sources, " ") or "'none'"
  local parts = { HEAD:format(POLICY:format(policy), html_style), body }
  if #scripts > 0 then
    local data = html_text.data(sections)
    parts[#parts + 1] = '<script type="application/json" id="data">' .. data .. "</script>\n"
  end
  for _, script in ipairs(scripts) do
    parts[#parts + 1] = "<script>" .. script .. "</script>\n"
  end
  parts[#parts + 1] = "</body>\n</html>\n"
  return table.concat(parts)
end

-- ---------------------------------------------------------------- content

local function contents(out, report)
  out[#out + 1] = '<nav aria-label="Scenarios">'
  for i, scenario in ipairs(report.scenarios) do
    out[#out + 1] = ('<a href="#s%d">%s</a> '):format(i, html_text.escape(scenario.name))
  end
  out[#out + 1] = '<a href="#runs">Runs</a></nav>\n'
end

local function top(out, report)
  html_text.heading(out, 1, "pairperf report")
  out[#out + 1] = '<div class="first">\n'
  html_text.list(out, report.conclusions)
  if report.mode ~= "single" then
    html_text.paragraph(out, report_values.differences(report))
    if #report.differences > 0 then
      html_text.list(out, report.differences)
    end
  end
  html_text.paragraph(out, "What this rests on:")
  html_text.list(out, report.circumstances)
  out[#out + 1] = "</div>\n"
  contents(out, report)
end

local function key(out, scenario)
  local candidate = scenario.runs.candidate and '<span class="candidate">candidate</span>' or ""
  out[#out + 1] = '<p class="key"><span class="baseline">baseline</span>' .. candidate .. "</p>\n"
end

local function scenario_rows(report, scenario)
  local rows = {}
  for _, row in ipairs(report.runs) do
    rows[#rows + 1] = row.scenario == scenario.name and row or nil
  end
  return rows
end

-- Reads the evidence of a scenario's runs, those that left any.
local function read_runs(output_dir, rows, summaries, scenario)
  local runs = {}
  for _, row in ipairs(rows) do
    local summary = summaries[row.slot]
    local run, err = html_run.read(("%s/%s"):format(output_dir, row.directory), summary, scenario)
    if not run then
      return nil, err
    end
    run.variant, run.summary = row.variant, summary
    run.label = ("slot %d %s"):format(row.slot, row.variant)
    runs[#runs + 1] = #run.points > 0 and run or nil
  end
  return runs
end

local function scenario_section(out, output_dir, report, summaries, number)
  local scenario = report.scenarios[number]
  local rows = scenario_rows(report, scenario)
  local runs, err = read_runs(output_dir, rows, summaries, scenario)
  if not runs then
    return nil, err
  end
  local id = ("s%d"):format(number)
  out[#out + 1] = ('<section id="%s">\n'):format(id)
  html_text.heading(out, 2, "Scenario " .. scenario.name)
  html_text.paragraph(out, ("%s: %s"):format(scenario.label, scenario.summary))
  if scenario.diagnostic_only then
    html_text.paragraph(out, diagnostic.sentence(scenario.diagnostic_reasons))
  end
  key(out, scenario)
  html_tables.metrics(out, scenario)
  html_dots.section(out, scenario, rows, summaries)
  html_tables.intervals(out, scenario)
  local data = html_timeline.section(out, scenario, runs, id)
  html_latency.section(out, scenario, runs)
  html_processes.section(out, runs)
  html_tables.components(out, scenario)
  out[#out + 1] = "</section>\n"
  return data or false
end

--- The page of a report.
---@param output_dir string of the session, whose evidence the pictures are drawn from
---@param report table of report_build.build
---@param summaries table<integer, table> by slot
---@param library string? dygraphs; without it, drawings stay
---@return string? html
---@return pairperf.Error? err
function M.render(output_dir, report, summaries, library)
  local out, sections = {}, json.array {}
  top(out, report)
  html_tables.verdicts(out, report)
  for i in ipairs(report.scenarios) do
    local data, err = scenario_section(out, output_dir, report, summaries, i)
    if data == nil then
      return nil, err
    end
    sections[#sections + 1] = data or nil
  end
  out[#out + 1] = '<section id="runs">\n'
  html_tables.runs(out, report)
  out[#out + 1] = "</section>\n"
  html_tables.variants(out, report)
  html_tables.closing(out, report)
  html_tables.checklist(out, report)
  return page(table.concat(out), sections, library)
end

-- dygraphs, where the program carries it; unit tests run without.
local function find_library()
  local there, embedded = pcall(require, "pairperf.embedded")
  return there and embedded.get "dygraph.min.js" or nil
end

--- report.html as this program writes it.
---@param output_dir string
---@param report table
---@param summaries table<integer, table>
---@return string? html
---@return pairperf.Error? err
function M.page(output_dir, report, summaries)
  return M.render(output_dir, report, summaries, find_library())
end

return M
