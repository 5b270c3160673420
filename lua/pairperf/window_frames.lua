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
  local frames, seen = {}, {}
  for _, frame in ipairs(records) do
    if not seen[frame.seq] then
      seen[frame.seq] = true
      frames[#frames + 1] = frame
    end
  end
  table.sort(frames, function(a, b)
    return a.seq < b.seq
  end)
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

--- The frames of the last window, each with the exits since the one before.
---@param records table[] as read from samples.jsonl
---@return {frame: table, exits: table[]}[]
function M.window(records)
  local frames = once(records)
  return give_exits(frames, last_window(frames))
end

local function identity(proc)
  return ("%s:%s:%s"):format(proc.pid, proc.start, proc.unique)
end
M.identity = identity

--- Whether a reading is absent only because its process had ended.
function M.ended(proc, field)
  return ENDED[proc.missing and proc.missing[field]] or false
end

-- A member whose look failed has no row: it was there, and nothing of it is known.
local function unseen_members(entry, last_by_pid)
  local present, rows = {}, {}
  for _, proc in ipairs(entry.frame.procs) do
    present[proc.pid] = true
  end
  for _, failure in ipairs(entry.frame.failures) do
    if failure.owned and not present[failure.pid] and not ENDED[failure.status] then
      local known = last_by_pid[failure.pid] or { start_ns = 0, exe = "(unread)" }
      rows[#rows + 1] = {
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
  return rows
end

--- Adds to each entry `unseen`: rows for members that could not be looked at.
function M.mark_unseen(window)
  local last_by_pid = {}
  for _, entry in ipairs(window) do
    entry.unseen = unseen_members(entry, last_by_pid)
    for _, proc in ipairs(entry.frame.procs) do
      last_by_pid[proc.pid] = proc
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
        closed[identity(exit)] = exit
      end
    end
  end
  return closed
end

--- Identities that ended in the window and whose writes are in its conserved total all the same:
--- whoever waited for them got them, and could be read at both ends.
---@param window table[]
---@return table<string, boolean>
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
      ended[identity(exit)] = true
    end
  end
  return ended
end

local function live_row(proc, counters, exit)
  local row = { missing = {} }
  for key, value in pairs(proc) do
    row[key] = key ~= "missing" and value or row[key]
  end
  for _, counter in ipairs(counters) do
    local closed = exit and exit[counter] ~= nil and exit[counter] ~= json.null
    row.missing[counter] = closed and "vanished" or (proc.missing and proc.missing[counter])
  end
  return row
end

--- Rows for core.window.window_usage.
---@param window table[] after mark_unseen
---@param counters string[]
---@param step_ns integer how coarse start stamps are
---@return table[] frames
function M.usage_frames(window, counters, step_ns)
  local closed = closed_by_exit(window, step_ns)
  local frames = {}
  for i, entry in ipairs(window) do
    local rows = {}
    local function add(row)
      if row then
        row.name = M.component(row.exe)
        rows[#rows + 1] = row
      end
    end
    for _, proc in ipairs(entry.frame.procs) do
      add(live_row(proc, counters, closed[identity(proc)]))
    end
    for _, row in ipairs(entry.unseen) do
      add(row)
    end
    for _, exit in ipairs(entry.exits) do
      add(exit_row(exit, counters))
    end
    local frame = entry.frame
    frames[i] = { t_ns = frame.t_ns, start_clock_ns = frame.listed_cont_ns, procs = rows }
  end
  return frames
end

--- Whether a process adds to a sum of memory: a zombie holds none, and a vfork child that is still
--- in its parent's address space is no second copy of it.
---@param proc table
---@param field string
---@return boolean
function M.holds(proc, field)
  return proc.phase ~= "zombie" and not proc.shares_memory and not M.ended(proc, field)
end

local function memory_rows(entry, field)
  local rows = {}
  for _, proc in ipairs(entry.frame.procs) do
    if M.holds(proc, field) then
      rows[#rows + 1] = { name = M.component(proc.exe), bytes = proc[field] }
    end
  end
  for _, row in ipairs(entry.unseen) do
    rows[#rows + 1] = { name = M.component(row.exe) }
  end
  if entry.frame.enumeration ~= "ok" then
    rows[#rows + 1] = { name = "(enumeration)" } -- an unknown rest
  end
  return rows
end

--- Rows for core.window.memory: of every frame, or of those with a memory pass.
---@param window table[] after mark_unseen
---@param field string
---@param passes_only boolean
---@return table[][] frames
function M.memory_frames(window, field, passes_only)
  local frames = {}
  for _, entry in ipairs(window) do
    if entry.frame.memory_pass or not passes_only then
      frames[#frames + 1] = memory_rows(entry, field)
    end
  end
  return frames
end

--- Why a field is nowhere in the window: the one reason that all rows give; nil when some have it.
---@return string?
function M.nowhere(window, field, passes_only)
  local reason
  for _, entry in ipairs(window) do
    local read = entry.frame.memory_pass or not passes_only
    for _, proc in ipairs(read and entry.frame.procs or {}) do
      local value = proc[field]
      local why = proc.missing and proc.missing[field]
      if (value ~= nil and value ~= json.null) or (why and why ~= "unsupported") then
        return nil
      end
      reason = why or reason
    end
  end
  return reason or "not_measured"
end

return M
