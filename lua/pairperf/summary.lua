-- SPDX-License-Identifier: Apache-2.0
--- summary.json of one run, read from its evidence alone: events.jsonl, samples.jsonl and what the
--- hook recorded. Building it twice gives the same table.
local escapees = require "pairperf.escapees"
local format = require "pairperf.format"
local json = require "pairperf.json"
local measured = require "pairperf.measured"
local next_command = require "pairperf.next_command"
local records = require "pairperf.records"
local run_intervals = require "pairperf.run_intervals"
local run_metrics = require "pairperf.run_metrics"
local run_requests = require "pairperf.run_requests"
local samples = require "pairperf.samples"

local M = {}

local or_null = measured.or_null

-- ---------------------------------------------------------------- events

-- First event of each kind; every one of some kinds in order. An event of the supervisor
-- counts once, whoever saved it.
local function index(events)
  local first, lists, seen = {}, { run_failed = {}, capability = {}, discards_children = {} }, {}
  for _, event in ipairs(events) do
    local again = event.source == "supervisor" and seen[event.seq]
    local list = lists[event.kind]
    if event.source == "supervisor" then
      seen[event.seq] = true
    end
    first[event.kind] = first[event.kind] or event
    if list and not again then
      list[#list + 1] = event
    end
  end
  return first, lists
end

local PHASES = {
  "run_started",
  "spawned",
  "ready",
  "warmup_started",
  "sampling_started",
  "sampling_finished",
  "quit_requested",
  "verdict",
  "run_finished",
}

local function times(first)
  local result = {}
  for _, kind in ipairs(PHASES) do
    result[kind .. "_ns"] = first[kind] and first[kind].t_ns or json.null
  end
  result.wall_ns = first.run_started and first.run_started.wall_ns or json.null
  return result
end

local ENVELOPE =
  { schema = true, source = true, kind = true, t_ns = true, wall_ns = true, seq = true }

-- What an event says, without its envelope; null when there was none.
local function body(event)
  if not event then
    return json.null
  end
  local copy = {}
  for key, value in pairs(event) do
    if not ENVELOPE[key] then
      copy[key] = value
    end
  end
  return copy
end

local function guard(first)
  local before, after = first.guard_before, first.guard_after
  return {
    checked = before ~= nil and after ~= nil,
    changed = after and after.changed or false,
    fields = json.array(after and after.fields or {}),
    before = before and before.snapshots or json.null,
    after = after and after.snapshots or json.null,
  }
end

local function check(first)
  if first.check_finished then
    local copy = body(first.check_finished)
    copy.state = "ran"
    return copy
  elseif first.check_not_run then
    return { state = "not run", reason = first.check_not_run.reason }
  elseif first.check_not_configured then
    return { state = "no check configured" }
  end
  return json.null
end

local function capabilities(list)
  local result = json.array {}
  for i, event in ipairs(list) do
    result[i] = {
      capability = event.capability,
      state = event.state,
      consequence = or_null(event.consequence),
    }
  end
  return result
end

-- Who was seen to discard what its children used.
local function discarders(list)
  local result = json.array {}
  for i, event in ipairs(list) do
    result[i] = { exe = event.exe, pid = event.pid, start = event.start }
  end
  return result
end

-- What a hook or check and its supervisor used; null where there was none.
local function helper_cost(finished)
  local verdict = finished and finished.verdict
  if not (verdict and verdict.own) then
    return json.null
  end
  return {
    program_cpu_ns = or_null(verdict.reaped_cpu_ns),
    cpu_ns = or_null(verdict.own.cpu_ns),
    rss_bytes = or_null(verdict.own.rss_bytes),
  }
end

local function own_cost(verdict, window, first)
  local own = verdict and verdict.own or {}
  local frames = measured.known(own.frames) and own.frames > 0 and own.frames
  return {
    cpu_ns = or_null(own.cpu_ns),
    rss_bytes = or_null(own.rss_bytes),
    frames = or_null(own.frames),
    cpu_ns_per_frame = frames and measured.known(own.cpu_ns) and own.cpu_ns // frames or json.null,
    pass_ns = window.pass_ns,
    hook = helper_cost(first.hook_finished),
    check = helper_cost(first.check_finished),
  }
end

-- ---------------------------------------------------------------- status

local function failure(slot, step, reason, evidence, next)
  return {
    step = step,
    reason = reason,
    evidence = ("%s/%s"):format(slot.directory, evidence),
    next = next or next_command(step, { dir = slot.directory }),
  }
end

local EVIDENCE = { pre_sample_hook = "hook", post_run_check = "check", sampling = "samples.jsonl" }

-- The first reason, and whatever stopped the session after it: who is left must not go untold.
local function reason_of(failures)
  local parts = { format.bytes(failures[1].reason) }
  for i = 2, #failures do
    local one = failures[i]
    if one.halt == true then
      parts[#parts + 1] = ("then, at %s: %s"):format(one.step, format.bytes(one.reason) or "?")
    end
  end
  return table.concat(parts, "; ")
end

-- Why the run failed, the first reason first; nil for a success.
local function find_failure(slot, read, first, lists, result)
  local said = lists.run_failed[1]
  local window = result.window
  if said then
    local reason = reason_of(lists.run_failed)
    return failure(slot, said.step, reason, EVIDENCE[said.step] or "events.jsonl", said.next)
  elseif #result.denied > 0 then
    return failure(
      slot,
      "sampling",
      "reading a known process was refused or failed: " .. table.concat(result.denied, "; "),
      "samples.jsonl"
    )
  elseif not window.valid then
    return failure(
      slot,
      "sampling",
      "the window is void: " .. table.concat(window.reasons, ", "),
      "samples.jsonl"
    )
  elseif read.malformed > 0 then
    return failure(
      slot,
      "evidence",
      ("%d lines of the evidence do not parse"):format(read.malformed),
      "events.jsonl",
      next_command("reading", { dir = slot.directory }) -- no disk is full here
    )
  elseif not first.verdict then
    return failure(
      slot,
      "quit",
      "the record ends before the application's end was proven",
      "events.jsonl"
    )
  end
end

local function ready_metric(first)
  local ready = first.ready
  local asked = ready and ready.how ~= "none" and ready.waited_ns
  return measured.metric("ms", nil, {
    value = asked and ready.waited_ns / 1e6 or nil,
    reason = ready and "no readiness condition" or "not reached",
  })
end

-- Components that were to be excluded and that no process was called.
local function excluded_unseen(plan, result)
  local unseen = json.array {}
  for _, name in ipairs(result.window.frames > 0 and plan.excluded_components or {}) do
    unseen[#unseen + 1] = not result.components[name] and name or nil
  end
  return unseen
end

local function scenario_of(plan, name)
  for _, scenario in ipairs(plan.scenarios) do
    if scenario.name == name then
      return scenario
    end
  end
end

-- What the harness wrote, what the supervisor saved when the harness was gone, and what recover
-- found out after both.
local SAVED = { "events.supervisor", "events.recover" }

local function read_events(run_dir)
  local list, err = records.read_if_any(run_dir .. "/events.jsonl")
  for _, more in ipairs(list and SAVED or {}) do
    local saved
    saved, err = records.read_if_any(("%s/%s.jsonl"):format(run_dir, more))
    if not saved then
      return nil, err
    end
    table.move(saved, 1, #saved, #list + 1, list)
    list.malformed = list.malformed + saved.malformed
    list.torn = list.torn or saved.torn
  end
  return list, err
end

local function read_all(run_dir)
  local read = { malformed = 0, torn = json.array {} }
  local err
  read.events, err = read_events(run_dir)
  if read.events then
    read.samples, err = samples.read(run_dir)
  end
  if not read.samples then
    return nil, err
  end
  read.requests, err = run_requests.read(run_dir)
  if err then
    return nil, err
  end
  local files = {
    ["events.jsonl"] = read.events,
    ["samples.jsonl"] = read.samples,
    [run_requests.FILE] = read.requests,
  }
  for name, list in pairs(files) do
    read.malformed = read.malformed + list.malformed
    read.torn[#read.torn + 1] = list.torn and name or nil
  end
  table.sort(read.torn)
  return read
end

--- The summary of a run that was not made.
---@param slot table entry of plan.runs
---@param reason string
---@return table summary
function M.skipped(slot, reason)
  return {
    schema = "pairperf-summary-1",
    slot = slot.slot,
    scenario = slot.scenario,
    variant = slot.variant,
    repetition = slot.repetition,
    status = "skipped",
    failure = {
      step = "skipped",
      reason = reason,
      evidence = "session.log",
      next = "less session.log",
    },
  }
end

--- The summary of one run.
---@param run_dir string
---@param plan table plan.json
---@param slot table entry of plan.runs
---@param look fun(samples: pairperf.Samples)? sees the frames, too
---@return table? summary
---@return pairperf.Error? err evidence that cannot be read
function M.build(run_dir, plan, slot, look)
  local read, err = read_all(run_dir)
  if not read then
    return nil, err
  end
  local scenario = scenario_of(plan, slot.scenario)
  local first, lists = index(read.events)
  local result = run_metrics.build(read.samples, scenario, plan.excluded_components or {})
  local run_latency = run_requests.add(result, read.requests)
  local ready = ready_metric(first)
  result.metrics.time_to_ready_ms = ready
  local failed = find_failure(slot, read, first, lists, result)
  local verdict = first.verdict or first.sweep
  local cpu = result.metrics.cpu_percent
  local intervals = run_intervals.build(read.samples, cpu and cpu.tier)
  if look then
    look(read.samples)
  end
  read.samples.rows:close()
  return {
    schema = "pairperf-summary-1",
    slot = slot.slot,
    scenario = slot.scenario,
    variant = slot.variant,
    repetition = slot.repetition,
    status = failed and "failed" or "success",
    failure = or_null(failed),
    times = times(first),
    time_to_ready_ns = ready.value ~= json.null and first.ready.waited_ns or json.null,
    ready = body(first.ready),
    window = result.window,
    metrics = result.metrics,
    cross_check = or_null(result.cross_check),
    intervals = intervals,
    components = result.components,
    excluded_unseen = excluded_unseen(plan, result),
    latency = or_null(run_latency),
    processes = result.processes,
    discarders = discarders(lists.discards_children),
    escapees = escapees.build(read.events, verdict),
    verdict = body(verdict),
    hook = body(first.hook_finished),
    check = check(first),
    guard = guard(first),
    own_cost = own_cost(verdict, result.window, first),
    capabilities = capabilities(lists.capability),
    probes = {
      before = first.probes_before and first.probes_before.probes or json.null,
      after = first.probes_after and first.probes_after.probes or json.null,
    },
    settled = first.settled and body(first.settled), -- without --settle there is none
    evidence = { torn = read.torn, malformed = read.malformed },
  }
end

return M
