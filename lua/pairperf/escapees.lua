-- SPDX-License-Identifier: Apache-2.0
--- Who left the application's group or session: when that was first seen, and what became of them.
local json = require "pairperf.json"

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

local function was_ended(event)
  local failed = event.error ~= nil and event.error ~= json.null
  return event.kind == "signal" and event.target == "escapee" and not failed
end

local function listed(list)
  local set = {}
  for _, one in ipairs(list or {}) do
    set[identity(one)] = true
  end
  return set
end

--- The escapees of a verdict, completed from the events of the run.
---@param events table[] events.jsonl
---@param verdict table? the verdict event
---@return table[] escapees with seen_after_ns (null: not told) and became: "gone", "ended_by_us",
---  "still_running" or "unverified"
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
  local ended = first_by_identity(events, was_ended)
  local alive, unsure = listed(verdict.survivors), listed(verdict.unverified)
  for i, one in ipairs(verdict.escapees or {}) do
    local id = identity(one)
    local copy = {}
    for name, value in pairs(one) do
      copy[name] = value
    end
    copy.seen_after_ns = seen[id] and spawned and seen[id].t_ns - spawned.t_ns or json.null
    copy.became = alive[id] and "still_running"
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
  still_running = "it is still running",
  unverified = "whether it is gone could not be verified",
}

local function ending(one)
  if one.became == "ended_by_us" then
    return one.expected and "it was ended by us as a declared helper"
      or "it was ended by us as --reap-escapees asks"
  end
  return BECAME[one.became] or BECAME.unverified
end

--- One sentence about an escapee.
---@param one table as M.build makes it
---@return string
function M.describe(one)
  local exe = one.exe ~= "" and one.exe ~= json.null and one.exe or "executable unknown"
  local seen = type(one.seen_after_ns) == "number"
      and (", first seen outside %.1f s after launch"):format(one.seen_after_ns / 1e9)
    or ""
  return (
    "a process left the application's group or session: "
    .. "%s (pid %s, start token %s)%s%s; %s"
  ):format(
    exe,
    one.pid,
    one.start,
    seen,
    one.expected and ", declared by --expect-escapee" or "",
    ending(one)
  )
end

--- Whether nothing of them is left as far as was observed.
---@param escapees table[]
---@return boolean
function M.all_gone(escapees)
  for _, one in ipairs(escapees) do
    if one.became ~= "gone" and one.became ~= "ended_by_us" then
      return false
    end
  end
  return #escapees > 0
end

return M
