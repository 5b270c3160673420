-- SPDX-License-Identifier: Apache-2.0
--- The runs of a session as a trace in the Trace Event Format (JSON), which Perfetto and Chrome
--- show. Each run is a process of the trace, all aligned at the start of their windows; its threads
--- are the phases, the requests of the hook, and every process that was seen.
local html_run = require "pairperf.html_run"
local json = require "pairperf.json"
local measured = require "pairperf.measured"

local M = {}

local known = measured.known

local PHASES_TID <const>, REQUESTS_TID <const>, FIRST_TID <const> = 1, 2, 10
local S <const> = 1000000000

-- Nanoseconds as the format's microseconds.
local function us(ns)
  return ns % 1000 == 0 and ns // 1000 or ns / 1000
end

---@class pairperf.TraceRun
---@field pid integer of the trace
---@field from_ns integer what becomes 0 of the trace's time
---@field out string[] events

local function event(run, fields)
  fields.pid = run.pid
  run.out[#run.out + 1] = assert(json.encode(fields))
end

local function name_it(run, kind, tid, value)
  event(run, { ph = "M", name = kind, ts = 0, tid = tid, args = value })
end

local function span(run, tid, name, first_ns, last_ns, args)
  event(run, {
    ph = "X",
    cat = args.cat,
    name = name,
    tid = tid,
    ts = us(first_ns - run.from_ns),
    dur = us(math.max(0, last_ns - first_ns)),
    args = args.args,
  })
end

local function instant(run, tid, name, t_ns)
  event(
    run,
    { ph = "i", s = "t", cat = "event", name = name, tid = tid, ts = us(t_ns - run.from_ns) }
  )
end

local function counter(run, name, t_ns, unit, value)
  local fields = { ph = "C", cat = "counter", name = name, tid = 0, args = { [unit] = value } }
  fields.ts = us(t_ns - run.from_ns)
  event(run, fields)
end

-- ---------------------------------------------------------------- phases

-- Each from the first of its times that there is to the first of its ends.
local PHASES = {
  { "prepare", { "run_started_ns" }, { "spawned_ns", "run_finished_ns" } },
  { "start", { "spawned_ns" }, { "warmup_started_ns", "quit_requested_ns", "run_finished_ns" } },
  {
    "warm-up",
    { "warmup_started_ns" },
    { "sampling_started_ns", "quit_requested_ns", "run_finished_ns" },
  },
  {
    "sampling",
    { "sampling_started_ns" },
    { "sampling_finished_ns", "quit_requested_ns", "run_finished_ns" },
  },
  { "check", { "sampling_finished_ns" }, { "quit_requested_ns", "run_finished_ns" } },
  { "quit", { "quit_requested_ns" }, { "verdict_ns", "run_finished_ns" } },
}

local function first_known(times, names)
  for _, name in ipairs(names) do
    if known(times[name]) then
      return times[name]
    end
  end
end

local function add_phases(run, times)
  name_it(run, "thread_name", PHASES_TID, { name = "phases" })
  for _, phase in ipairs(PHASES) do
    local first, last = first_known(times, phase[2]), first_known(times, phase[3])
    if first and last then
      span(run, PHASES_TID, phase[1], first, last, { cat = "phase" })
    end
  end
  if known(times.ready_ns) then
    instant(run, PHASES_TID, "ready", times.ready_ns)
  end
end

-- ---------------------------------------------------------------- requests, processes, counters

local function add_requests(run, requests)
  if #requests == 0 then
    return
  end
  name_it(run, "thread_name", REQUESTS_TID, { name = "hook requests" })
  for i, request in ipairs(requests) do
    span(run, REQUESTS_TID, "request " .. i, request.send_ns, request.end_ns, {
      cat = "request",
      args = { status = request.status, tokens = request.tokens },
    })
  end
end

local function add_processes(run, seen)
  for i, one in ipairs(seen.lives) do
    local tid, name = FIRST_TID + i, ("%s %d"):format(one.name or "(unknown)", one.pid)
    name_it(run, "thread_name", tid, { name = name })
    name_it(run, "thread_sort_index", tid, { sort_index = tid })
    span(run, tid, one.name or "(unknown)", one.first_ns, one.last_ns, {
      cat = "process",
      args = {
        pid = one.pid,
        escaped = one.escaped or false,
        end_seen = one.ended or false,
      },
    })
  end
  for _, t_ns in ipairs(seen.escapes) do
    instant(run, PHASES_TID, "escape", t_ns)
  end
end

-- Name of the counter, field of a point, unit, factor to it. A rate holds to the next frame.
local RATES = {
  { "CPU", "cpu", "% of one core", 100 / S },
  { "context switches", "switches", "per second", 1 },
  { "wakeups", "wakeups", "per second", 1 },
  { "written", "writes", "bytes per second", 1 },
}

local function add_rates(run, before, now)
  local seconds = (now.t_ns - before.t_ns) / S
  for _, rate in ipairs(RATES) do
    local from, to = before[rate[2]], now[rate[2]]
    if from and to and seconds > 0 then
      counter(run, rate[1], before.t_ns, rate[3], math.max(0, to - from) * rate[4] / seconds)
    end
  end
end

local function add_counters(run, points)
  for i, now in ipairs(points) do
    if points[i + 1] then
      add_rates(run, now, points[i + 1])
    end
    if now.rss then
      counter(run, "resident memory", now.t_ns, "bytes", now.rss)
    end
    if now.missed then
      instant(run, PHASES_TID, ("%d passes missed"):format(now.missed), now.t_ns)
    end
  end
end

-- ---------------------------------------------------------------- the whole

-- How long before its origin a run began.
local function lead_ns(summary, seen)
  local first = seen.points[1] and seen.points[1].t_ns or seen.origin_ns
  for _, one in ipairs(seen.lives) do
    first = math.min(first, one.first_ns)
  end
  local began_ns = first_known(summary.times or {}, { "run_started_ns", "spawned_ns" })
  return seen.origin_ns - math.min(first, began_ns or first)
end

local function add_run(out, row, summary, seen, lead)
  local run = { pid = row.slot + 1, from_ns = seen.origin_ns - lead, out = out }
  local words = "%s, %s %d (slot %d)"
  local name = words:format(row.scenario, row.variant, row.repetition, row.slot)
  name_it(run, "process_name", 0, { name = name })
  name_it(run, "process_labels", 0, { labels = row.status })
  name_it(run, "process_sort_index", 0, { sort_index = row.slot })
  add_phases(run, summary.times or {})
  add_requests(run, seen.requests)
  add_processes(run, seen)
  add_counters(run, seen.points)
end

local function read_runs(output_dir, report, summaries)
  local scenarios, runs, lead = {}, {}, 0
  for _, scenario in ipairs(report.scenarios) do
    scenarios[scenario.name] = scenario
  end
  for _, row in ipairs(report.runs) do
    local summary = summaries[row.slot]
    local seen, err =
      html_run.read(output_dir .. "/" .. row.directory, summary, scenarios[row.scenario])
    if not seen then
      return nil, err
    end
    runs[#runs + 1] = { row = row, summary = summary or {}, seen = seen }
    lead = math.max(lead, lead_ns(summary or {}, seen))
  end
  return runs, lead
end

--- The runs of a session.
---@param report table as built
---@param summaries table<integer, table> by slot
---@param output_dir string
---@return string? trace
---@return pairperf.Error? err
function M.text(report, summaries, output_dir)
  local runs, lead = read_runs(output_dir, report, summaries)
  if not runs then
    return nil, lead
  end
  local events = {}
  for _, one in ipairs(runs) do
    add_run(events, one.row, one.summary, one.seen, lead)
  end
  local about = assert(json.encode {
    tool = "pairperf " .. report.tool.version,
    created = report.created_utc,
    zero = "each run is shifted so that the windows of all runs start together",
    window_start_us = us(lead),
  })
  return ('{"displayTimeUnit":"ms","otherData":%s,"traceEvents":[\n%s\n]}\n'):format(
    about,
    table.concat(events, ",\n")
  )
end

return M
