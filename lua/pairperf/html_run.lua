-- SPDX-License-Identifier: Apache-2.0
--- What the pictures of a report show of one run, frame by frame. Frames are read one at a time and
--- only a few numbers of each are kept; no figure of the report depends on them.
local core = require "pairperf.core"
local json = require "pairperf.json"
local records = require "pairperf.records"
local run_requests = require "pairperf.run_requests"
local window_frames = require "pairperf.window_frames"

local M = {}

local COUNTERS = {
  switches = { "voluntary_switches", "involuntary_switches" },
  wakeups = { "wakeups_pkg_idle", "wakeups_interrupt" },
}

local function known(value)
  return value ~= nil and value ~= json.null
end

-- ---------------------------------------------------------------- one frame

-- Adds what a process counted since it was seen last; all of it when it is new.
local function count(state, proc, id)
  local last = state.last[id] or {}
  for name, fields in pairs(COUNTERS) do
    for _, field in ipairs(fields) do
      local value = proc[field]
      if known(value) then
        state.total[name] = (state.total[name] or 0) + math.max(0, value - (last[field] or 0))
        last[field] = value
      end
    end
  end
  state.last[id] = last
end

local function live(state, proc, id, frame)
  local one = state.lives[id]
  if not one then
    local start_ns = known(proc.start_ns) and proc.start_ns + frame.t_ns - frame.cont_ns
    one = { pid = proc.pid, first_ns = math.min(start_ns or frame.t_ns, frame.t_ns) }
    state.lives[id], state.order[#state.order + 1] = one, one
  end
  if known(proc.exe) and proc.exe ~= "" then
    one.name = window_frames.component(proc.exe)
  end
  one.last_ns = frame.t_ns
  one.escaped = one.escaped or proc.escaped or false
  return one
end

local function resident(frame)
  local sum
  for _, proc in ipairs(frame.procs) do
    if window_frames.holds(proc, "rss_bytes") and known(proc.rss_bytes) then
      sum = (sum or 0) + proc.rss_bytes
    end
  end
  return sum
end

local function add_frame(state, frame)
  if frame.seq <= state.seq then
    return
  end
  state.seq = frame.seq
  for _, proc in ipairs(frame.procs) do
    local id = window_frames.identity(proc)
    count(state, proc, id)
    live(state, proc, id, frame)
  end
  for _, exit in ipairs(frame.exits) do
    local id = window_frames.identity(exit)
    count(state, exit, id)
    live(state, exit, id, frame).ended = true
    state.last[id] = nil
  end
  local sums, group = frame.conservation, known(frame.cgroup) and frame.cgroup or {}
  state.points[#state.points + 1] = {
    t_ns = frame.t_ns,
    conservation = known(sums.cpu_ns) and sums.cpu_ns or nil,
    cgroup = known(group.cpu_ns) and group.cpu_ns or nil,
    writes = known(sums.write_bytes) and sums.write_bytes or nil,
    switches = state.total.switches,
    wakeups = state.total.wakeups,
    rss = resident(frame),
    missed = frame.missed > 0 and frame.missed or nil,
  }
end

local function add_file(state, path)
  local text, err = core.fs.read(path)
  if not text then
    return err.errno == "ENOENT" or nil, err
  end
  for line in text:gmatch "([^\n]*)\n" do
    local frame = core.json.decode(line)
    if type(frame) == "table" then
      add_frame(state, frame)
    end
  end
  return true
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

-- The frames of a run, read again only when its files have changed.
local function read_frames(run_dir)
  local first, second = run_dir .. "/samples.jsonl", run_dir .. "/samples.supervisor.jsonl"
  local stamps = stamp(first) .. "\n" .. stamp(second)
  if cache[run_dir] and cache[run_dir].stamps == stamps then
    return cache[run_dir]
  end
  local state = { seq = -1, last = {}, total = {}, lives = {}, order = {}, points = {} }
  for _, path in ipairs { first, second } do
    local ok, err = add_file(state, path)
    if not ok then
      return nil, err
    end
  end
  cache[run_dir] = { stamps = stamps, points = state.points, lives = state.order }
  return cache[run_dir]
end

-- CPU by the one source that the scenario's runs are compared by.
local function choose_cpu(points, scenario)
  local source = "conservation"
  for _, row in ipairs(scenario.metrics or {}) do
    source = row.name == "cpu_percent" and row.tier == "cgroup" and "cgroup" or source
  end
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
