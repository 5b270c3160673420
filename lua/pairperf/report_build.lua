-- SPDX-License-Identifier: Apache-2.0
--- The report as a table, from plan.json and the summaries. Pure: no file, no clock.
local caveats = require "pairperf.caveats"
local conclusions = require "pairperf.conclusions"
local confining = require "pairperf.confining"
local json = require "pairperf.json"
local measured = require "pairperf.measured"
local noise_floor = require "pairperf.noise_floor"
local report_compare = require "pairperf.report_compare"
local report_findings = require "pairperf.report_findings"
local report_intervals = require "pairperf.report_intervals"
local report_metrics = require "pairperf.report_metrics"
local report_order = require "pairperf.report_order"
local run_remarks = require "pairperf.run_remarks"
local stats = require "pairperf.stats"

local M = {}

local known, or_null = measured.known, measured.or_null

local function variant_names(plan)
  return plan.mode == "single" and { "baseline" } or { "baseline", "candidate" }
end

-- ---------------------------------------------------------------- runs

-- A run of the plan with what its summary says; one without a summary was not run yet.
local function run_row(slot, summary, interrupted)
  local failure = summary and known(summary.failure) and summary.failure or {}
  local status = summary and summary.status or (interrupted and "skipped" or "pending")
  return {
    slot = slot.slot,
    scenario = slot.scenario,
    variant = slot.variant,
    repetition = slot.repetition,
    directory = slot.directory,
    status = status,
    step = or_null(status ~= "skipped" and failure.step or nil),
    reason = or_null(
      failure.reason or (status == "skipped" and "the session was interrupted") or nil
    ),
    evidence = or_null(failure.evidence),
    next = or_null(failure.next),
    escapees = summary and known(summary.escapees) and summary.escapees[1] and summary.escapees
      or nil,
  }
end

local function all_runs(plan, summaries, interrupted)
  local rows = json.array {}
  for i, slot in ipairs(plan.runs) do
    rows[i] = run_row(slot, summaries[slot.slot], interrupted)
  end
  return rows
end

local function counts(rows)
  local n = { scheduled = 0, success = 0, failed = 0, skipped = 0, pending = 0 }
  for _, row in ipairs(rows) do
    n.scheduled = n.scheduled + 1
    n[row.status] = n[row.status] + 1
  end
  return {
    scheduled = n.scheduled,
    successful = n.success,
    failed = n.failed,
    skipped = n.skipped,
    pending = n.pending,
  }
end

local function select_rows(rows, scenario, variant)
  local list = {}
  for _, row in ipairs(rows) do
    if row.scenario == scenario and (variant == nil or row.variant == variant) then
      list[#list + 1] = row
    end
  end
  return list
end

-- ---------------------------------------------------------------- components

-- Values of one field of one component over successful runs. A component that is absent from a run
-- is 0 there, if the run has a figure of that name at all.
local function component_values(rows, summaries, name, field)
  local values = {}
  for _, row in ipairs(rows) do
    local summary = summaries[row.slot]
    if row.status == "success" and summary then
      local component = summary.components[name]
      local total = measured.whole_of(summary.metrics, field)
      local value = component and component[field]
      if value == nil and total and known(total.value) then
        values[#values + 1] = 0
      elseif value ~= nil and known(value) then
        values[#values + 1] = value
      end
    end
  end
  return values
end

local FIELDS = { "cpu_percent", "rss_max_bytes", "pss_max_bytes" }

local function component_rows(scenario, rows, summaries, variants, excluded)
  local names, is_excluded = {}, {}
  for _, name in ipairs(excluded or {}) do
    names[name], is_excluded[name] = false, true
  end
  for _, row in ipairs(rows) do
    for name in pairs(summaries[row.slot] and summaries[row.slot].components or {}) do
      names[name] = true
    end
  end
  local list = json.array {}
  for name, seen in pairs(names) do
    local entry = { name = name, excluded = is_excluded[name] or false, seen = seen }
    for _, variant in ipairs(variants) do
      entry[variant] = {}
      local own = select_rows(rows, scenario, variant)
      for _, field in ipairs(FIELDS) do
        local values = component_values(own, summaries, name, field)
        entry[variant][field] = or_null(stats.median(values))
      end
    end
    list[#list + 1] = entry
  end
  table.sort(list, function(a, b)
    return a.name < b.name
  end)
  return list
end

-- ---------------------------------------------------------------- requests

local REQUEST_FIELDS = {
  "attempted",
  "ok",
  "failed",
  "censored",
  "completed",
  "e2e_ms",
  "e2e_bounds_ms",
  "busy_fraction",
  "delay_s",
}

-- Latencies run by run: they are never pooled.
local function request_rows(rows, summaries)
  local list = json.array {}
  for _, row in ipairs(rows) do
    local latency = summaries[row.slot] and summaries[row.slot].latency
    if known(latency) then
      local entry = { slot = row.slot, variant = row.variant, status = row.status }
      for _, field in ipairs(REQUEST_FIELDS) do
        entry[field] = or_null(latency[field])
      end
      list[#list + 1] = entry
    end
  end
  return list
end

-- ---------------------------------------------------------------- run details

-- Median over the runs of a field of one part of their own cost.
local function cost_median(rows, summaries, part, field)
  local values = {}
  for _, row in ipairs(rows) do
    local own = summaries[row.slot] and summaries[row.slot].own_cost
    local one = own and (part == nil and own or own[part])
    values[#values + 1] = known(one) and known(one[field]) and one[field] or nil
  end
  return or_null(stats.median(values))
end

-- Of hooks or checks; null where there was none.
local function helper_cost(rows, summaries, part)
  local cost = {
    program_cpu_ns_per_run = cost_median(rows, summaries, part, "program_cpu_ns"),
    cpu_ns_per_run = cost_median(rows, summaries, part, "cpu_ns"),
    rss_bytes = cost_median(rows, summaries, part, "rss_bytes"),
  }
  for _, value in pairs(cost) do
    if known(value) then
      return cost
    end
  end
  return json.null
end

local function own_cost(rows, summaries)
  return {
    cpu_ns_per_run = cost_median(rows, summaries, nil, "cpu_ns"),
    cpu_ns_per_frame = cost_median(rows, summaries, nil, "cpu_ns_per_frame"),
    rss_bytes = cost_median(rows, summaries, nil, "rss_bytes"),
    pass_ns = cost_median(rows, summaries, "pass_ns", "median"),
    hook = helper_cost(rows, summaries, "hook"),
    check = helper_cost(rows, summaries, "check"),
  }
end

-- Each capability in each state that it was found in, with the number of runs.
local function capabilities(rows, summaries)
  local seen, list = {}, json.array {}
  for _, row in ipairs(rows) do
    for _, one in ipairs(summaries[row.slot] and summaries[row.slot].capabilities or {}) do
      local key = one.capability .. "\0" .. one.state
      local entry = seen[key]
      if not entry then
        entry = {
          capability = one.capability,
          state = one.state,
          consequence = one.consequence,
          runs = 0,
        }
        seen[key], list[#list + 1] = entry, entry
      end
      entry.runs = entry.runs + 1
    end
  end
  return list
end

local function guard(plan, rows, summaries)
  local first, last
  local changed, unchecked = json.array {}, json.array {}
  for _, row in ipairs(rows) do
    local one = summaries[row.slot] and summaries[row.slot].guard
    if one then
      first = first or (known(one.before) and one.before) or nil
      last = known(one.after) and one.after or last
      if one.changed then
        changed[#changed + 1] =
          { slot = row.slot, fields = one.fields, before = one.before, after = one.after }
      elseif not one.checked then
        unchecked[#unchecked + 1] = row.slot
      end
    end
  end
  return {
    paths = plan.guard_paths,
    before_first = or_null(first),
    after_last = or_null(last),
    changed = changed,
    unchecked = unchecked,
    text = caveats.GUARD,
  }
end

-- ---------------------------------------------------------------- the whole

local function scenario_report(scenario, plan, rows, summaries)
  local own = select_rows(rows, scenario.name)
  local context = {
    rows = own,
    summaries = summaries,
    sides = {},
    floors = noise_floor.of_scenario(plan, scenario.name),
  }
  local result = {
    name = scenario.name,
    label = scenario.label,
    summary = scenario.summary,
    warmup_ns = scenario.warmup_ns,
    duration_ns = scenario.duration_ns,
    interval_ns = scenario.interval_ns,
    repetitions = scenario.repetitions,
    runs = {},
  }
  local reasons = scenario.diagnostic_reasons or plan.diagnostic.reasons -- 0.1.0: of the session
  result.diagnostic_only, result.diagnostic_reasons = #reasons > 0, json.array(reasons)
  local variants = variant_names(plan)
  for _, variant in ipairs(variants) do
    local side = select_rows(rows, scenario.name, variant)
    result.runs[variant] = counts(side)
    context.sides[variant] = report_metrics.value_runs(side, summaries)
  end
  result.metrics, result.unavailable = report_metrics.rows(context, plan)
  result.intervals = report_intervals.advice(result, own, summaries)
  result.requests = request_rows(own, summaries)
  result.components =
    component_rows(scenario.name, own, summaries, variants, plan.excluded_components)
  return result
end

local function caveat_list()
  local list = json.array {}
  for i, one in ipairs(caveats.LIST) do
    list[i] = { id = one[1], text = one[2] }
  end
  return list
end

local EVIDENCE = {
  "plan.json",
  "probes.json",
  "session.log",
  "session.json",
  "digests.json",
  "report.json",
  "noise-floor.json",
  "baseline-bundle-manifest.json",
  "candidate-bundle-manifest.json",
}

-- What is written when all runs are over.
local AT_THE_END = { ["session.json"] = true, ["digests.json"] = true }

local function evidence_paths(report)
  local paths = json.array {}
  for _, path in ipairs(EVIDENCE) do
    local has = report.mode ~= "single" or not path:find "^candidate"
    if path == noise_floor.FILE then
      has = noise_floor.measured(report)
    elseif AT_THE_END[path] then
      has = known(report.session)
    end
    paths[#paths + 1] = has and path or nil
  end
  return paths
end

---@class pairperf.ReportInput
---@field plan table plan.json
---@field summaries table<integer, table> summary.json by slot
---@field probes table? probes.json
---@field session table? session.json
---@field interrupted boolean? what did not run will not

--- The report of a session.
---@param input pairperf.ReportInput
---@return table report
function M.build(input)
  local plan, summaries = input.plan, input.summaries
  local rows = all_runs(plan, summaries, input.interrupted)
  local report = {
    schema = "pairperf-report-1",
    tool = plan.tool,
    created_utc = plan.created_utc,
    mode = plan.mode,
    null_control = plan.null_control,
    interrupted = input.interrupted or false,
    diagnostic_only = plan.diagnostic.diagnostic_only,
    diagnostic_reasons = json.array(plan.diagnostic.reasons),
    differences = json.array(plan.differences),
    variants = plan.variants,
    seed = plan.seed,
    seed_origin = plan.seed_origin,
    first = plan.first,
    order = plan.order,
    positions = report_order.positions(rows),
    pauses = report_order.pauses(rows, summaries),
    totals = counts(rows),
    runs = rows,
    scenarios = json.array {},
    own_cost = own_cost(rows, summaries),
    capabilities = capabilities(rows, summaries),
    guard = guard(plan, rows, summaries),
    isolation = caveats.ISOLATION,
    confinement = plan.confine and json.array(confining.lines(plan.confine)) or nil,
    caveats = caveat_list(),
    checklist = {
      covered = json.array(caveats.COVERED),
      controller = json.array(caveats.CONTROLLER),
      context = or_null(plan.context),
    },
    warnings = json.array(plan.warnings),
    probes = or_null(input.probes),
    session = or_null(input.session),
    excluded_components = json.array(plan.excluded_components),
  }
  for i, scenario in ipairs(plan.scenarios) do
    report.scenarios[i] = scenario_report(scenario, plan, rows, summaries)
  end
  report_compare.add(report, plan)
  report.evidence = evidence_paths(report)
  report.findings = report_findings.build(rows, summaries)
  report.notes = run_remarks.list(rows, summaries, input.probes)
  report.conclusions = conclusions.lines(report)
  report.circumstances = conclusions.circumstances(report)
  return report
end

return M
