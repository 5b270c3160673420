-- SPDX-License-Identifier: Apache-2.0
--- From recorded frames to the rows that the core sums: which frames are the window, what a process
--- is called, which processes a member's exit or a failed read adds.
local format = require "pairperf.format"
local json = require "pairperf.json"

local M = {}

local ENDED = { vanished = true, stale = true }

--- Executable component of a process: the last part of its path, as printable text.
---@param exe string|table|nil
---@return string
function M.component(exe)
  local bytes = format.bytes(exe)
  if not bytes or bytes == "" then
    return "(unknown)"
  end
  return format.text(bytes:match "([^/]+)/*$" or bytes)
end

-- Whichever of harness and supervisor saved it, each frame counts once.
local function once(records)
  local frames, seen, sorted, last = {}, {}, true, 0
  for _, frame in ipairs(records) do
    if not seen[frame.seq] then
      seen[frame.seq] = true
      frames[#frames + 1] = frame
      sorted, last = sorted and frame.seq >= last, frame.seq
    end
  end
  if not sorted then
    table.sort(frames, function(a, b)
      return a.seq < b.seq
    end)
  end
  return frames
end

local function last_window(frames)
  local id = 0
  for _, frame in ipairs(frames) do
    id = math.max(id, frame.window)
  end
  return id
end

-- Exits seen after one window frame belong to the next, also when another frame noted them.
local function give_exits(frames, id)
  local window, waiting, dropped = {}, {}, 0
  for _, frame in ipairs(frames) do
    if #window > 0 then -- before it, and in the boundary itself, nothing counts
      table.move(frame.exits, 1, #frame.exits, #waiting + 1, waiting)
      dropped = dropped + (frame.exits_dropped or 0)
    end
    if frame.window == id and id ~= 0 then
      window[#window + 1] = { frame = frame, exits = waiting, exits_dropped = dropped }
      waiting, dropped = {}, 0
    end
  end
  return window
end

---@class pairperf.Window: {frame: table, exits: table[], exits_dropped: integer, unseen: table[]}[]
---@field rows pairperf.Rows of all frames

--- The frames of the last window, each with the exits since the one before.
---@param samples pairperf.Samples
---@return pairperf.Window
function M.window(samples)
  local frames = once(samples)
  local window = give_exits(frames, last_window(frames))
  window.rows = samples.rows
  return window
end

-- Components by the number of an executable in `rows`; 0: it has none.
local function names(rows)
  local list = { [0] = M.component(nil) }
  for number, exe in ipairs(rows:exes()) do
    list[number] = M.component(exe)
  end
  return list
end
M.names = names

-- A member whose look failed has no row: it was there, and nothing of it is known.
local function unseen_members(entry, rows, last_by_pid)
  local present, unseen = {}, {}
  rows:pids(entry.frame, present)
  for _, failure in ipairs(entry.frame.failures) do
    if failure.owned and not present[failure.pid] and not ENDED[failure.status] then
      local last = last_by_pid[failure.pid]
      local known = last and rows:about(last) or { start_ns = 0, exe = "(unread)" }
      unseen[#unseen + 1] = {
        pid = failure.pid,
        start = known.start,
        unique = known.unique,
        start_ns = known.start_ns,
        exe = known.exe,
        phase = "alive",
        unreadable = true,
        failure = failure,
      }
    end
  end
  return unseen
end

local function some_failed(window)
  for _, entry in ipairs(window) do
    if #entry.frame.failures > 0 then
      return true
    end
  end
  return false
end

--- Adds to each entry `unseen`: rows for members that could not be looked at.
---@param window pairperf.Window
function M.mark_unseen(window)
  local failed, last_by_pid = some_failed(window), {}
  for _, entry in ipairs(window) do
    entry.unseen = failed and unseen_members(entry, window.rows, last_by_pid) or {}
    if failed then
      window.rows:pids(entry.frame, last_by_pid)
    end
  end
  return window
end

-- The last reading of a process that ended: what it lacks, it keeps from before.
local function exit_row(exit, counters)
  local row = { missing = {} }
  local any = false
  for key, value in pairs(exit) do
    row[key] = key ~= "missing" and value or row[key]
  end
  for _, counter in ipairs(counters) do
    local known = exit[counter] ~= nil and exit[counter] ~= json.null
    any = any or known
    row.missing[counter] = not known and "vanished" or nil
  end
  return any and row or nil
end

-- Counters of an identity that its exit record has and that it was too young to need a start for:
-- a refused read before that hides nothing.
local function closed_by_exit(window, step_ns)
  local closed = {}
  local began = window[1] and window[1].frame.cont_ns or 0
  for _, entry in ipairs(window) do
    for _, exit in ipairs(entry.exits) do
      if exit.final and exit.start_ns + step_ns >= began then
        closed[window.rows:identity(exit)] = exit
      end
    end
  end
  return closed
end

--- Identities that ended in the window and whose writes are in its conserved total all the same:
--- whoever waited for them got them, and could be read at both ends.
---@param window pairperf.Window
---@return table<integer, boolean>
function M.conserved_writes(window)
  local ended = {}
  for _, at in ipairs { 1, #window } do
    local total = window[at] and window[at].frame.conservation
    local bytes = total and total.write_bytes
    if bytes == nil or bytes == json.null or total.unreaped > 0 then
      return ended
    end
  end
  for _, entry in ipairs(window) do
    for _, exit in ipairs(entry.exits) do
      ended[window.rows:identity(exit)] = true
    end
  end
  return ended
end

--- What core.window.window_usage reads of a window.
---@param window pairperf.Window after mark_unseen
---@param counters string[]
---@param step_ns integer how coarse start stamps are
---@return table input
function M.usage_input(window, counters, step_ns)
  local frames = {}
  for i, entry in ipairs(window) do
    local rows = {}
    local function add(row)
      if row then
        row.name = M.component(row.exe)
        rows[#rows + 1] = row
      end
    end
    for _, row in ipairs(entry.unseen) do
      add(row)
    end
    for _, exit in ipairs(entry.exits) do
      add(exit_row(exit, counters))
    end
    local frame = entry.frame
    frames[i] = {
      t_ns = frame.t_ns,
      start_clock_ns = frame.listed_cont_ns,
      procs = rows,
      first_row = frame.first_row,
      last_row = frame.last_row,
    }
  end
  return {
    frames = frames,
    rows = window.rows,
    names = names(window.rows),
    closed = closed_by_exit(window, step_ns),
    counters = counters,
    start_step_ns = step_ns,
  }
end

local function memory_frame(entry)
  local frame = entry.frame
  local rows = { first_row = frame.first_row, last_row = frame.last_row }
  for _, row in ipairs(entry.unseen) do
    rows[#rows + 1] = { name = M.component(row.exe) }
  end
  if frame.enumeration ~= "ok" then
    rows[#rows + 1] = { name = "(enumeration)" } -- an unknown rest
  end
  return rows
end

--- What core.window.memory reads of a window: of every frame, or of those with a memory pass.
---@param window pairperf.Window after mark_unseen
---@param field string
---@param passes_only boolean
---@return table input
function M.memory_input(window, field, passes_only)
  local frames = {}
  for _, entry in ipairs(window) do
    if entry.frame.memory_pass or not passes_only then
      frames[#frames + 1] = memory_frame(entry)
    end
  end
  return { frames = frames, rows = window.rows, names = names(window.rows), column = field }
end

--- Why a field is nowhere in the window: the one reason that all rows give; nil when some have it.
---@return string?
function M.nowhere(window, field, passes_only)
  local reason
  for _, entry in ipairs(window) do
    if entry.frame.memory_pass or not passes_only then
      local nowhere, unsupported = window.rows:nowhere(entry.frame, field)
      if not nowhere then
        return nil
      end
      reason = unsupported and "unsupported" or reason
    end
  end
  return reason or "not_measured"
end

return M
