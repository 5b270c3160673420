-- SPDX-License-Identifier: Apache-2.0
--- Who left the application's group or session: when that was first seen, and what became of them.
local child = require "pairperf.child"
local format = require "pairperf.format"
local json = require "pairperf.json"
local measured = require "pairperf.measured"

local M = {}

local function identity(one)
  return ("%s %s"):format(one.pid, one.start)
end

-- Identities of the events that `wanted` picks, each with its first such event.
local function first_by_identity(events, wanted)
  local first = {}
  for _, event in ipairs(events) do
    if event.pid and wanted(event) then
      first[identity(event)] = first[identity(event)] or event
    end
  end
  return first
end

local function failed(event)
  return event.error ~= nil and event.error ~= json.null
end

local function to_one(event)
  return event.kind == "signal" and event.target == "escapee"
end

local function was_ended(event)
  return to_one(event) and not failed(event)
end

local function was_refused(event)
  return to_one(event) and failed(event)
end

local ALL = { cgroup = true, children = true }

-- Whether all that was left was sent SIGKILL at once, whoever it was.
local function all_signalled(events)
  for _, event in ipairs(events) do
    if event.kind == "signal" and ALL[event.target] and not failed(event) then
      return true
    end
  end
  return false
end

local function listed(list)
  local set = {}
  for _, one in ipairs(list or {}) do
    set[identity(one)] = one
  end
  return set
end

-- Of one that was there at the last look; nil when it was not.
local function remained(survivor)
  return survivor and (survivor.phase == "zombie" and "not_reaped" or "still_running")
end

--- The escapees of a verdict, completed from the events of the run.
---@param events table[] events.jsonl
---@param verdict table? the verdict event
---@return table[] escapees with seen_after_ns (null: not told), signalled (SIGKILL "by_itself",
---  "if_left" with all that was, "refused"; null: no) and became: "gone", "ended_by_us",
---  "still_running", "not_reaped" (by its parent) or "unverified"
function M.build(events, verdict)
  local result = json.array {}
  if not verdict then
    return result
  end
  local spawned
  local seen = first_by_identity(events, function(event)
    spawned = spawned or (event.kind == "spawned" and event) or nil
    return event.kind == "escaped"
  end)
  local ended, refused =
    first_by_identity(events, was_ended), first_by_identity(events, was_refused)
  local all = all_signalled(events)
  local alive, unsure = listed(verdict.survivors), listed(verdict.unverified)
  for i, one in ipairs(verdict.escapees or {}) do
    local id = identity(one)
    local copy = {}
    for name, value in pairs(one) do
      copy[name] = value
    end
    copy.seen_after_ns = seen[id] and spawned and seen[id].t_ns - spawned.t_ns or json.null
    copy.signalled = ended[id] and "by_itself"
      or all and "if_left"
      or refused[id] and "refused"
      or json.null
    copy.became = remained(alive[id])
      or unsure[id] and "unverified"
      or ended[id] and "ended_by_us"
      or verdict.verdict == "unverified" and "unverified"
      or "gone"
    result[i] = copy
  end
  return result
end

local BECAME = {
  gone = "it was gone at the end",
  still_running = "it was not signalled and is still running",
  not_reaped = "it ended, and its parent has not reaped it",
  unverified = "whether it is gone could not be verified",
}

local LEFT = { still_running = true, not_reaped = true, unverified = true }

local function why(verdict, expected)
  local own = child.own_cause(verdict)
  return own and "because " .. own
    or expected and "as a declared helper"
    or "as --reap-escapees asks"
end

local IN_VAIN = {
  by_itself = "it was sent SIGKILL and is still running",
  if_left = "it was sent SIGKILL and is still running",
  refused = "a SIGKILL to it was refused, and it is still running",
}

-- Signalled in vain is not left alone.
local function ending(one, verdict)
  if one.became == "still_running" and IN_VAIN[one.signalled] then
    return IN_VAIN[one.signalled]
  elseif one.became ~= "ended_by_us" then
    return BECAME[one.became] or BECAME.unverified
  end
  return "it was ended by us " .. why(verdict, one.expected)
end

local function seen(one)
  local ns = one.seen_after_ns
  if type(ns) ~= "number" then
    return ""
  end
  local after = ns < 1e9 and ("%.0f ms"):format(ns / 1e6) or ("%.1f s"):format(ns / 1e9)
  return (", first seen outside %s after launch"):format(after)
end

--- One sentence about an escapee.
---@param one table as M.build makes it
---@param verdict table? the run's
---@return string
function M.describe(one, verdict)
  local exe = one.exe ~= "" and one.exe ~= json.null and format.text(one.exe)
  return (
    "a process left the application's group or session: "
    .. "%s (pid %s, start token %s)%s%s; %s"
  ):format(
    exe or "executable unknown",
    one.pid,
    measured.start_token(one.start),
    seen(one),
    one.expected and ", declared by --expect-escapee" or "",
    ending(one, verdict)
  )
end

local UNPROVEN = { left_running = true, unverified = true }

--- What a person is told about the escapees of a run.
---@param escapees table[] as M.build makes them
---@param verdict table? the run's
---@return string[]
function M.sentences(escapees, verdict)
  local list, left, all = {}, verdict and UNPROVEN[verdict.verdict] or false, false
  for i, one in ipairs(escapees) do
    list[i] = M.describe(one, verdict)
    left = left or LEFT[one.became]
    all = all or one.signalled == "if_left"
  end
  if all then -- a whole cgroup names nobody
    list[#list + 1] = "whoever of them was left then was sent SIGKILL " .. why(verdict, false)
  end
  local total = verdict and verdict.escapees_total or 0
  if total > #escapees then
    local text = "%d processes left the application's group or session in all; %d are named here"
    list[#list + 1] = text:format(total, #escapees)
  end
  if left and #escapees > 0 then
    list[#list + 1] = "before a left-over is ended by hand: its start token tells it from a later "
      .. "process with the same pid (Linux: field 22 of /proc/PID/stat)"
  elseif #escapees > 0 then
    list[#list + 1] = "observed escapees gone"
  end
  return list
end

return M
