-- SPDX-License-Identifier: Apache-2.0
--- The reports of a session, from the files of its output directory alone. Called
--- after every run, also when runs failed, were skipped or did not happen yet.
local core = require "pairperf.core"
local digests = require "pairperf.digests"
local evidence = require "pairperf.evidence"
local forms = require "pairperf.forms"
local html = require "pairperf.html"
local html_run = require "pairperf.html_run"
local noise_floor = require "pairperf.noise_floor"
local report_build = require "pairperf.report_build"
local report_md = require "pairperf.report_md"
local report_table = require "pairperf.report_table"
local summary = require "pairperf.summary"

local M = {}

-- A file's value; nil without an error when it is not there.
local function load_json(output_dir, name)
  local text, err = core.fs.read(output_dir .. "/" .. name)
  if not text then
    return nil, err.errno ~= "ENOENT" and err or nil
  end
  local value
  value, err = core.json.decode(text)
  if not value then
    return nil, err
  end
  return forms.known(value, name)
end

local function load_summaries(output_dir, plan)
  local summaries = {}
  for _, slot in ipairs(plan.runs) do
    local one, err = load_json(output_dir, slot.directory .. "/summary.json")
    if err then
      return nil, err
    end
    summaries[slot.slot] = one
  end
  return summaries
end

--- The plan of a session. A newer form than this version knows is refused by its name.
---@param output_dir string
---@return table? plan
---@return pairperf.Error? err
function M.plan(output_dir)
  local text, err = core.fs.read(output_dir .. "/plan.json")
  local plan
  if text then
    plan, err = core.json.decode(text)
  end
  if not plan then
    return nil, err
  end
  return forms.known(plan, "plan.json")
end

--- What a report is built from.
---@param output_dir string
---@return table? input for report_build.build
---@return pairperf.Error? err
function M.load(output_dir)
  local plan, err = M.plan(output_dir)
  local summaries
  if plan then
    summaries, err = load_summaries(output_dir, plan)
  end
  if not summaries then
    return nil, err
  end
  local input = { plan = plan, summaries = summaries }
  for _, name in ipairs { "probes", "session" } do
    input[name], err = load_json(output_dir, name .. ".json")
    if err then
      return nil, err
    end
  end
  local session = input.session
  input.interrupted = session and (session.cancelled or session.interrupted) or false
  return input
end

--- The files of a report.
---@param output_dir string
---@param input table of M.load
---@return {[1]: string, [2]: string}[]? files name and content; of an A/A session that holds also
---  its noise floor
---@return table|pairperf.Error report
function M.files(output_dir, input)
  local report = report_build.build(input)
  local text, err = core.json.encode(report)
  local page
  if text then
    page, err = html.page(output_dir, report, input.summaries)
  end
  if not page then
    return nil, err
  end
  local files = {
    { "report.json", text .. "\n" },
    { "report.md", report_md.render(report) },
    { "report.html", page },
  }
  if noise_floor.measured(report) then
    local floor = noise_floor.build(report, input.probes)
    files[4] = { noise_floor.FILE, assert(core.json.encode(floor)) .. "\n" }
  end
  return files, report
end

--- Builds and writes the reports, each atomically.
---@param output_dir string
---@param how {interrupted: boolean?}? interrupted: what did not run will not
---@return table? report
---@return pairperf.Error? err
function M.write(output_dir, how)
  local input, err = M.load(output_dir)
  if not input then
    return nil, err
  end
  input.interrupted = input.interrupted or (how and how.interrupted) or false
  local files, report = M.files(output_dir, input)
  if not files then
    return nil, report
  end
  for _, file in ipairs(files) do
    local ok
    ok, err = core.fs.write_atomic(output_dir .. "/" .. file[1], file[2])
    if not ok then
      return nil, err
    end
  end
  return report
end

-- A run that left raw evidence gets its summary from it again.
local function rebuild_summary(output_dir, plan, slot)
  local run_dir = ("%s/%s"):format(output_dir, slot.directory)
  if not core.fs.lstat(run_dir .. "/events.jsonl") then
    return true
  end
  local built, err = summary.build(run_dir, plan, slot, html_run.keeper(run_dir))
  if not built then
    return nil, err
  end
  return evidence.write_json(run_dir .. "/summary.json", built)
end

--- Builds the summaries and both reports again, from raw evidence; the same version of pairperf
--- writes the same bytes.
---@param output_dir string
---@return table? report
---@return pairperf.Error? err
---@return pairperf.Error? seal_error digests.json is left as it was
function M.rebuild(output_dir)
  output_dir = core.fs.realpath(output_dir) or output_dir
  local plan, err = M.plan(output_dir)
  for _, slot in ipairs(plan and plan.runs or {}) do
    local ok
    ok, err = rebuild_summary(output_dir, plan, slot)
    if not ok then
      return nil, err
    end
  end
  local report
  if plan then
    report, err = M.write(output_dir)
  end
  if not report then
    return nil, err
  end
  return report, nil, select(2, digests.seal(output_dir))
end

--- The comparison as plain text for a terminal.
---@param report table
---@return string
function M.table(report)
  return report_table.render(report)
end

return M
