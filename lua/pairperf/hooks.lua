-- SPDX-License-Identifier: Apache-2.0
--- Pre-sample hooks and post-run checks: each under its own supervisor, finalized exactly once,
--- group first, whether the run failed or not.
local child = require "pairperf.child"
local core = require "pairperf.core"
local errors = require "pairperf.error"
local units = require "pairperf.units"
local waiting = require "pairperf.waiting"

local M = {}

---@class pairperf.Hook
---@field ended_early_s number? seconds after its start at which it was seen to have ended by itself
local Hook = {}
Hook.__index = Hook

---@class pairperf.HookPlan
---@field kind "hook"|"check"
---@field dir string its evidence directory
---@field home string sandbox: cwd and HOME
---@field env string[]
---@field cap_bytes integer
---@field grace_s number
---@field lifetime_s number
---@field events pairperf.Events of the run

--- Starts a hook or check.
---@param command pairperf.Command
---@param plan pairperf.HookPlan
---@return pairperf.Hook? hook
---@return pairperf.Error? err
---@return boolean? halt nothing further may be launched
function M.start(command, plan)
  local ok, err = core.fs.mkdir_exclusive(plan.dir)
  if not ok then
    return nil, err
  end
  local started, failure, lost = child.start(
    { run_dir = plan.dir, events = plan.dir .. "/events.jsonl" },
    {
      path = command.path,
      argv = command.argv,
      env = plan.env,
      cwd = plan.home,
      output = "capture",
      stdout = "stdout",
      stderr = "stderr",
      cap_bytes = plan.cap_bytes,
      track = true,
      interval_s = 1,
      lifetime_s = plan.lifetime_s,
    }
  )
  if not started then
    return nil, failure, lost ~= nil
  end
  plan.events:add(
    plan.kind .. "_started",
    { pid = started.pid, argv = command.argv, command = command.text }
  )
  return setmetatable({ child = started, plan = plan, command = command }, Hook)
end

local TRAP = "; it must handle SIGTERM and exit 0, in a shell: trap 'exit 0' TERM"

-- What an exit status or signal means, given whether we had asked it to stop.
local function exit_problem(exit, asked)
  if exit.signal == "SIGTERM" and asked then
    return "died by our SIGTERM instead of handling it" .. TRAP
  elseif exit.signal or exit.code ~= 0 then
    return "ended with " .. child.ending(exit)
  end
end

local function escapee_problem(state)
  if (state.escapees or 0) > 0 then
    return ("%d of its processes left its group or session"):format(state.escapees)
  end
end

--- Looks at a running hook; a problem fails the run at once. An early exit with 0 is only noted.
---@return string? problem
function Hook:look()
  local state = self.child:state()
  if state.phase == "lost" then
    return "its supervisor was lost"
  elseif state.exit and not self.ended_early_s then
    self.ended_early_s = self.child:age_s()
  end
  return state.exit and exit_problem(state.exit, false) or escapee_problem(state)
end

function Hook:describe(words)
  local where = self.plan.dir
  return ("%s '%s': %s (output in %s)"):format(self.plan.kind, self.command.text, words, where)
end

local function first_problem(self, state, verdict)
  local problem, halt = child.problem(verdict)
  if verdict.forced and not halt then
    local grace = units.format_seconds(self.plan.grace_s)
    problem = ("did not end within %s of SIGTERM and was ended by SIGKILL%s%s"):format(
      grace,
      TRAP,
      child.outlasted(verdict)
    )
  end
  local own = not halt and child.own_cause(verdict)
  if own then
    problem = "was ended by its supervisor because " .. own
  end
  local exit = state.exit or verdict.leader_exit
  problem = problem or exit and exit_problem(exit, not self.ended_early_s) or escapee_problem(state)
  local unwritten = not problem and self.child:unwritten()
  if unwritten then
    return "its evidence could not be written: " .. unwritten, true
  end
  return problem, halt
end

--- Ends the hook, proves its group gone and keeps how it went. Again: the first answer.
---@return string? problem
---@return boolean? halt nothing further may be launched
function Hook:finish()
  if self.finished then
    return self.finished.problem, self.finished.halt
  end
  self:look()
  local verdict = self.child:stop { first = "group", grace_s = self.plan.grace_s }
  local state = self.child.final or self.child:state()
  local problem, halt = first_problem(self, state, verdict)
  local duration_ns = units.ns(self.child:age_s())
  local left = self.child:close()
  if left then
    problem, halt = problem or left, true
  end
  self.finished = { problem = problem, halt = halt }
  self.plan.events:add(self.plan.kind .. "_finished", {
    exit = state.exit or verdict.leader_exit,
    verdict = verdict,
    output = state.output,
    duration_ns = duration_ns,
    problem = problem,
    ended_early = self.ended_early_s ~= nil,
    ended_after_s = self.ended_early_s,
  })
  return problem, halt
end

local function run_check(check, seconds, watch)
  return waiting.wait(seconds, function()
    if check.child:ended() then
      return "ended"
    end
    return watch()
  end)
end

--- Runs a check to its end or its time-out.
---@param command pairperf.Command
---@param plan pairperf.HookPlan
---@param seconds number its own time
---@param watch fun(): string? an answer ends it
---@return true? ok
---@return pairperf.Error? err
---@return boolean? halt
function M.check(command, plan, seconds, watch)
  local check, err, lost = M.start(command, plan)
  if not check then
    return nil, err, lost
  end
  local answer, failure = run_check(check, seconds, watch)
  local problem, halt = check:finish()
  if failure and failure.code == "timeout" then
    problem = "did not end within " .. units.format_seconds(seconds)
  elseif failure then
    return nil, failure, halt
  elseif answer ~= "ended" then
    problem = answer
  end
  if problem then
    local _, refused = errors.fail("refused", "check", check:describe(problem))
    return nil, refused, halt
  end
  return true
end

return M
