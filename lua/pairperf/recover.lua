-- SPDX-License-Identifier: Apache-2.0
--- A session whose harness died, brought to its end: runs without a final status are interrupted
--- or skipped, and the report is completed. What was written is never changed; what is found out
--- here about a run goes into a file of its own, events.recover.jsonl.
local child = require "pairperf.child"
local core = require "pairperf.core"
local digests = require "pairperf.digests"
local errors = require "pairperf.error"
local evidence = require "pairperf.evidence"
local exit_status = require "pairperf.exit_status"
local format = require "pairperf.format"
local records = require "pairperf.records"
local report = require "pairperf.report"
local samples = require "pairperf.samples"
local summary = require "pairperf.summary"

local M = {}

M.STEP = "interrupted"

local SKIPPED = "the harness had died before this run"

---@class pairperf.Recovered
---@field interrupted table[] slots of the runs that were cut off
---@field skipped table[] slots of the runs that never began
---@field report table

-- ---------------------------------------------------------------- an interrupted run

-- All events of a run, whoever saved them; a file that is not there has none.
local function events_of(run_dir)
  local list = {}
  for _, name in ipairs { "events.jsonl", "events.supervisor.jsonl" } do
    local read, err = records.read_if_any(("%s/%s"):format(run_dir, name))
    if not read then
      return nil, err
    end
    table.move(read, 1, #read, #list + 1, list)
  end
  return list
end

local function last_of(events, kind)
  for i = #events, 1, -1 do
    if events[i].kind == kind then
      return events[i]
    end
  end
end

-- What the supervisors of hook, check and readiness probes saw at the end and is no clean one; an
-- empty text when all of it is.
local function other_endings(run_dir)
  local parts = {}
  for _, name in ipairs { "ready", "hook", "check" } do
    local events, err = events_of(run_dir .. "/" .. name)
    if not events then
      return nil, err
    end
    local verdict = last_of(events, "verdict")
    local problem = verdict and child.problem(verdict)
    parts[#parts + 1] = problem and ("; the %s: %s"):format(name, problem) or nil
  end
  return table.concat(parts)
end

local PROVEN = {
  echild = "proven, nothing of it is left",
  group_empty_and_recorded_gone = "its group is empty, and every process on record is gone",
}

-- How the application ended, as far as somebody saw it.
local function ending(events)
  local verdict = last_of(events, "verdict")
  if verdict then
    local problem = child.problem(verdict)
    local proven = ("%s (%s)"):format(PROVEN[verdict.verdict] or "verdict", verdict.verdict)
    return "the application's end: " .. (problem or proven)
  elseif last_of(events, "spawned") then
    return "cleanup unverified: no verdict was saved, look for what is left"
  end
  return "no application had been started"
end

local function saved_frames(run_dir)
  local saved, err = records.read_if_any(run_dir .. "/samples.supervisor.jsonl")
  return saved and #saved, err
end

-- The supervisor numbers its records: a gap is one that could not be saved.
local function lost_records(run_dir, events)
  local frames, err = samples.read(run_dir)
  if not frames then
    return nil, err
  end
  local seen, highest, lost = {}, 0, 0
  for _, list in ipairs { frames, events } do
    for _, one in ipairs(list) do
      if math.type(one.seq) == "integer" then
        seen[one.seq], highest = true, math.max(highest, one.seq)
      end
    end
  end
  for seq = 1, highest do
    lost = lost + (seen[seq] and 0 or 1)
  end
  local told = last_of(events, "records_lost")
  local reason = told and (" (%s)"):format(told.error.detail) or ""
  return lost > 0 and ("; records lost: %d%s"):format(lost, reason) or ""
end

-- Once: a second recovery finds the first one's words.
local function note(run_dir)
  local path = run_dir .. "/events.recover.jsonl"
  local before, err = records.read_if_any(path)
  local events, others, frames, lost
  if before then
    events, err = events_of(run_dir)
  end
  if events then
    others, err = other_endings(run_dir)
  end
  if others then
    frames, err = saved_frames(run_dir)
  end
  if frames then
    lost, err = lost_records(run_dir, events)
  end
  if not lost then
    return nil, err
  elseif #before > 0 then
    return true
  end
  local text = "the harness died during this run; %s%s; frames that the supervisor saved: %d%s"
  local reason = text:format(ending(events), others, frames, lost)
  local events_file = evidence.events(path)
  events_file:add("run_failed", { step = M.STEP, reason = reason })
  return not events_file.error or nil, events_file.error
end

local function interrupt(run_dir, plan, slot)
  local ok, err = note(run_dir)
  local built
  if ok then
    built, err = summary.build(run_dir, plan, slot)
  end
  if not built then
    return nil, err
  end
  return evidence.write_json(run_dir .. "/summary.json", built)
end

-- ---------------------------------------------------------------- runs

-- A run that has its summary keeps it, byte for byte.
local function conclude_run(output, plan, slot, found)
  local run_dir = ("%s/%s"):format(output, slot.directory)
  if core.fs.lstat(run_dir .. "/summary.json") then
    return true
  elseif core.fs.lstat(run_dir .. "/events.jsonl") then
    found.interrupted[#found.interrupted + 1] = slot
    return interrupt(run_dir, plan, slot)
  end
  found.skipped[#found.skipped + 1] = slot
  local ok, err = core.fs.mkdirs(run_dir)
  if not ok then
    return nil, err
  end
  return evidence.write_json(run_dir .. "/summary.json", summary.skipped(slot, SKIPPED))
end

local function not_successful(output, plan)
  local count = 0
  for _, slot in ipairs(plan.runs) do
    local text = core.fs.read(("%s/%s/summary.json"):format(output, slot.directory))
    local one = text and core.json.decode(text)
    count = count + ((one and one.status == "success") and 0 or 1)
  end
  return count
end

-- session.json says that nobody looked at the artifacts again.
local function close(output, plan)
  local path = output .. "/session.json"
  if core.fs.lstat(path) then
    return true
  end
  return evidence.write_json(path, {
    schema = "pairperf-session-1",
    artifacts = {},
    cancelled = false,
    interrupted = true,
    stopped = "the harness died; completed by recover",
    failed_or_skipped = not_successful(output, plan),
  })
end

local function complete(output, plan)
  local found = { interrupted = {}, skipped = {} }
  for _, slot in ipairs(plan.runs) do
    local ok, err = conclude_run(output, plan, slot, found)
    if not ok then
      return nil, err
    end
  end
  local ok, err = close(output, plan)
  if ok then
    found.report, err = report.write(output)
  end
  if found.report then
    ok, err = digests.seal(output)
  end
  return found.report and ok and found or nil, err
end

-- ---------------------------------------------------------------- command

-- The session's lock: its harness and every supervisor of it have ended.
local function lock_of(plan)
  local switches = plan.tool.test_switches or {}
  return core.lock.acquire(switches.PP_LOCK)
end

local function say(output, found)
  for _, slot in ipairs(found.interrupted) do
    io.stdout:write(("interrupted: %s\n"):format(slot.directory))
  end
  if #found.skipped > 0 then
    io.stdout:write(("skipped: %s that never began\n"):format(format.count(#found.skipped, "run")))
  end
  local path = format.text(output .. "/report")
  io.stdout:write(("report: %s.md, %s.html\n"):format(path, path))
end

--- Completes the session in `directories[1]`.
---@param directories string[]
---@return integer? exit_status 0: its report is complete; 1: it could not be completed
---@return pairperf.Error? err refused: no session, or it has not ended
function M.run(directories)
  local output = core.fs.realpath(directories[1] or "") or directories[1]
  if #directories > 1 then
    return errors.fail("invalid", "", "recover takes one directory")
  end
  local plan, err = report.plan(output)
  if not plan then
    return errors.fail("invalid", output, "not the output of a session: " .. tostring(err))
  end
  local lock, held = lock_of(plan)
  if not lock then
    local text = "a session, or what it started, is still there: " .. tostring(held)
    return errors.fail("refused", output, text)
  end
  local found, failure = complete(output, plan)
  lock:close()
  if not found then
    io.stderr:write("pairperf-lua: ", errors.text(failure), "\n")
    return exit_status.FAILED_RUNS
  end
  say(output, found)
  return exit_status.OK
end

return M
