-- SPDX-License-Identifier: Apache-2.0
--- What the pictures of a report show of one run, frame by frame: only a few numbers of each are
--- kept. No figure of the report depends on them.
local core = require "pairperf.core"
local measured = require "pairperf.measured"
local records = require "pairperf.records"
local report_row = require "pairperf.report_row"
local run_requests = require "pairperf.run_requests"
local samples = require "pairperf.samples"
local window_frames = require "pairperf.window_frames"

local M = {}

local known = measured.known

-- ---------------------------------------------------------------- one frame

-- Adds what was gained since the pass before.
local function count(state, switches, wakeups)
  local total = state.total
  total.switches = switches and (total.switches or 0) + switches or total.switches
  total.wakeups = wakeups and (total.wakeups or 0) + wakeups or total.wakeups
end

local function live(state, id, proc, frame)
  local one = state.lives[id]
  if not one then
    local start_ns = known(proc.start_ns) and proc.start_ns + frame.t_ns - frame.cont_ns
    local first_ns = math.min(start_ns or frame.t_ns, frame.t_ns)
    one = { pid = proc.pid, first_ns = first_ns, last_ns = frame.t_ns, escaped = false }
    state.lives[id], state.order[#state.order + 1] = one, one
  end
  if known(proc.exe) and proc.exe ~= "" then
    one.name = window_frames.component(proc.exe)
  end
  one.escaped = one.escaped or proc.escaped or false
  return one
end

local function add_frame(state, rows, frame)
  if frame.seq <= state.seq then
    return
  end
  state.seq = frame.seq
  local news, switches, wakeups = rows:pass(frame)
  count(state, switches, wakeups)
  for _, i in ipairs(news) do
    local proc = rows:about(i)
    live(state, proc.identity, proc, frame)
  end
  for _, exit in ipairs(frame.exits) do
    local id
    id, switches, wakeups = rows:ended(exit)
    count(state, switches, wakeups)
    local one = live(state, id, exit, frame)
    one.last_ns, one.ended = frame.t_ns, true
  end
  local resident, complete = rows:resident(frame)
  local sums, group = frame.conservation, known(frame.cgroup) and frame.cgroup or {}
  state.points[#state.points + 1] = {
    t_ns = frame.t_ns,
    conservation = known(sums.cpu_ns) and sums.cpu_ns or nil,
    cgroup = known(group.cpu_ns) and group.cpu_ns or nil,
    writes = known(sums.write_bytes) and sums.write_bytes or nil,
    switches = state.total.switches,
    wakeups = state.total.wakeups,
    rss = complete and frame.enumeration == "ok" and resident or nil,
    missed = frame.missed > 0 and frame.missed or nil,
  }
end

-- Each process was there at least until the last pass that showed it.
local function finish(state, rows)
  for id, one in pairs(state.lives) do
    local point = state.points[rows:last_pass(id)]
    one.last_ns = math.max(one.last_ns, point and point.t_ns or one.last_ns)
  end
end

-- ---------------------------------------------------------------- one run

local function escapes(events)
  local list, seen = {}, {}
  for _, event in ipairs(events) do
    local id = event.kind == "escaped" and ("%s %s"):format(event.pid, event.start)
    if id and not seen[id] then
      seen[id] = true
      list[#list + 1] = event.t_ns
    end
  end
  return list
end

-- Zero of the time axis: the start of the window, or where it would have been.
local function origin(summary, scenario, points)
  local window = summary and summary.window
  local times = summary and summary.times or {}
  if window and known(window.start_ns) then
    return window.start_ns
  elseif known(times.warmup_started_ns) then
    return times.warmup_started_ns + scenario.warmup_ns
  end
  return points[1] and points[1].t_ns or 0
end

---@class pairperf.HtmlRun
---@field points table[] of the frames: t_ns and the totals so far
---@field lives table[] processes: name, pid, first_ns, last_ns, ended, escaped
---@field requests table[] of the hook
---@field escapes integer[] times
---@field origin_ns integer

local cache = {} -- frames by run directory: a session reports after every run

local function stamp(path)
  local entry = core.fs.stat(path)
  return entry and ("%d %d"):format(entry.size, entry.mtime_ns) or ""
end

local function stamps_of(run_dir)
  return stamp(run_dir .. "/samples.jsonl") .. "\n" .. stamp(run_dir .. "/samples.supervisor.jsonl")
end

local function keep(run_dir, stamps, frames)
  local state = { seq = -1, total = {}, lives = {}, order = {}, points = {} }
  for _, frame in ipairs(frames) do
    add_frame(state, frames.rows, frame)
  end
  finish(state, frames.rows)
  cache[run_dir] = { stamps = stamps, points = state.points, lives = state.order }
end

--- For whoever is about to read a run's frames: what to call with them, so that the pictures do not
--- read them a second time.
---@param run_dir string
---@return fun(frames: pairperf.Samples)
function M.keeper(run_dir)
  local stamps = stamps_of(run_dir)
  return function(frames)
    keep(run_dir, stamps, frames)
  end
end

-- The frames of a run, read again only when its files have changed.
local function read_frames(run_dir)
  local stamps = stamps_of(run_dir)
  if not cache[run_dir] or cache[run_dir].stamps ~= stamps then
    local frames, err = samples.read(run_dir)
    if not frames then
      return nil, err
    end
    keep(run_dir, stamps, frames)
    frames.rows:close()
  end
  return cache[run_dir]
end

-- CPU by the one source that the scenario's runs are compared by.
local function choose_cpu(points, scenario)
  local row = report_row.of(scenario, "cpu_percent")
  local source = row and row.tier == "cgroup" and "cgroup" or "conservation"
  for _, point in ipairs(points) do
    point.cpu = point[source]
  end
  return points
end

--- The pictures' data of one run; all lists are empty when it left no evidence.
---@param run_dir string
---@param summary table?
---@param scenario table of the report
---@return pairperf.HtmlRun?
---@return pairperf.Error? err
function M.read(run_dir, summary, scenario)
  local frames, err = read_frames(run_dir)
  if not frames then
    return nil, err
  end
  local events, requests
  events, err = records.read_if_any(run_dir .. "/events.jsonl")
  if events then
    requests, err = run_requests.read(run_dir)
  end
  if err then
    return nil, err
  end
  return {
    points = choose_cpu(frames.points, scenario),
    lives = frames.lives,
    requests = requests or {},
    escapes = escapes(events),
    origin_ns = origin(summary, scenario, frames.points),
  }
end

return M
