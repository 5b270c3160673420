-- SPDX-License-Identifier: Apache-2.0
--- One started command under its own supervisor: application, hook, check or probe. Its end is
--- always verified, and the words for a verdict are the same everywhere.
local core = require "pairperf.core"
local errors = require "pairperf.error"
local format = require "pairperf.format"
local measured = require "pairperf.measured"
local waiting = require "pairperf.waiting"

local known = measured.known

local M = {}

M.VERIFY_S = 5 -- for proving the group gone after SIGKILL
local SLACK_S <const> = 10 -- for a supervisor's own work after its deadlines
local SWEEP_S <const> = 2
local LOST = "the supervisor was lost"

---@class pairperf.Child
---@field pid integer
---@field began_ns integer
---@field verdict table? once stopped
---@field assignment string? what its whole tree was started with, and nothing of ours
local Child = {}
Child.__index = Child

local held -- the session's lock: supervisors inherit it

--- From now on every supervisor keeps the lock until it ends, whatever becomes of the harness.
---@param lock pairperf.Lock?
function M.share(lock)
  held = lock
end

-- The HOME that tells this tree from everything else; nil when it is the harness's own.
local function home_of(env)
  for _, assignment in ipairs(env) do
    if assignment:sub(1, 5) == "HOME=" then
      return assignment ~= "HOME=" .. (os.getenv "HOME" or "") and assignment or nil
    end
  end
end

-- What a lost supervisor left behind is ended as far as it can be attributed. The supervisor is
-- closed first: one that only hangs then ends its tree itself, or is ended.
---@return table sweep what was met, as in the event of that name
local function sweep(supervisor, assignment)
  local state = supervisor:state()
  local leader = state.leader
  local members, groups = supervisor:members(), {}
  for _, one in ipairs(members) do
    groups[#groups + 1] = one.pgid
  end
  if leader then
    members[#members + 1], groups[#groups + 1] = leader, leader.pid
  end
  local closed, hangs = supervisor:close()
  local order = {
    members = members,
    groups = groups,
    assignment = assignment,
    leaf = state.leaf,
    limit_s = SWEEP_S,
  }
  local met, err = core.sweep.run(order)
  err = err or not closed and hangs or nil -- it may still hold what it adopted
  return { met = core.json.array(met or {}), complete = err == nil, error = err and tostring(err) }
end

--- Starts a supervisor and its command.
---@param place {run_dir: string, samples: string?, events: string?}
---@param spawn table as core.supervisor spawn takes it, but lifetime_s (from now) for its end
---@return pairperf.Child? child
---@return pairperf.Error? err op names the step that failed
---@return table? lost the verdict, when the supervisor was lost while it started the command
function M.start(place, spawn)
  core.sweep.prepare() -- where that is impossible, every sweep says so
  place.lock_fd = held and held:fd()
  local supervisor, err = core.supervisor.start(place)
  if not supervisor then
    return nil, err
  end
  local began_ns = core.clock.now()
  spawn.latest_end_s, spawn.lifetime_s = began_ns / 1e9 + spawn.lifetime_s, nil
  local id, failure = supervisor:spawn(spawn)
  local assignment = home_of(spawn.env)
  local silent = not id and failure.code == "timeout" -- it may have started the command
  if silent or not id and supervisor:state().phase == "lost" then
    local verdict = { verdict = "unverified", cause = LOST, sweep = sweep(supervisor, assignment) }
    local detail = ("%s; %s"):format(errors.reason(failure), (M.problem(verdict)))
    return nil, errors.new(failure.code, failure.op, detail), verdict
  elseif not id then
    supervisor:close()
    return nil, failure
  end
  return setmetatable({
    supervisor = supervisor,
    id = id,
    pid = id.pid,
    began_ns = began_ns,
    assignment = assignment,
  }, Child)
end

function Child:state()
  return self.last or self.supervisor:state()
end

--- How the leader ended, as words; nil while it runs.
---@return string? ending
---@return table? exit
function Child:ended()
  local state = self:state()
  if state.phase == "lost" then
    return "lost with its supervisor", nil
  elseif state.exit then
    return M.ending(state.exit), state.exit
  end
end

function Child:age_s()
  return (core.clock.now() - self.began_ns) / 1e9
end

local function finished(self)
  local state = self:state()
  if state.phase == "done" then
    return state
  elseif state.phase == "lost" then
    return { verdict = { verdict = "unverified", cause = LOST } }
  end
end

local function stop(self, plan)
  self.supervisor:stop { first = plan.first, grace_s = plan.grace_s, verify_s = M.VERIFY_S }
  local state, err = waiting.wait(plan.grace_s + M.VERIFY_S + SLACK_S, function()
    return finished(self)
  end, { teardown = true })
  local cause = state and "no verdict" or tostring(err)
  self.final = state or self:state()
  self.verdict = state and state.verdict or { verdict = "unverified", cause = cause }
  if self.final.phase ~= "done" then
    self.last = self.supervisor:state()
    self.verdict.sweep = sweep(self.supervisor, self.assignment)
  end
end

--- Ends the command and proves it gone; never interrupted. Again: the first verdict.
---@param plan {first: "leader"|"group", grace_s: number}
---@return table verdict
function Child:stop(plan)
  if not self.verdict then
    waiting.undisturbed(stop, self, plan)
  end
  return self.verdict
end

--- Samples a window and waits for its end.
---@param window {duration_s: number, interval_s: number}
---@param watch (fun(): any)? an answer ends the wait early
---@return table? done the window's state, or what `watch` answered
---@return pairperf.Error? err
function Child:sample(window, watch)
  local ok, err = self.supervisor:sample(window)
  if not ok then
    return nil, err
  end
  return waiting.wait(window.duration_s + window.interval_s + SLACK_S, function()
    local state = self:state().window
    if state and state.done then
      return state
    end
    return watch and watch()
  end)
end

--- What of its evidence could not be written; nil when all could, and of a lost supervisor.
---@return string?
function Child:unwritten()
  local state = self.final or self:state()
  if state.phase == "lost" then
    return nil
  elseif state.error then
    return tostring(state.error)
  end
  local failure = state.output and state.output.failure
  return failure and "kept output: " .. failure
end

--- Releases the supervisor; what still runs is ended by it.
---@return string? problem it did not end
function Child:close()
  local closed, err = self.supervisor:close()
  return not closed and ("its supervisor is left: %s"):format(err.detail) or nil
end

--- "exit status 3", "signal SIGKILL".
---@return string
function M.ending(exit)
  if exit.signal then
    return "signal " .. exit.signal .. (exit.core and " (core dumped)" or "")
  end
  return ("exit status %d"):format(exit.code)
end

local STATES = {
  zombie = " (ended, not reaped by its parent)",
  stopped = " (stopped, state T: it could not end by itself)",
}

local function named(one)
  local exe = one.exe and format.text(one.exe) or "?"
  local start = measured.start_token(one.start)
  return ("pid %s start %s %s%s"):format(one.pid, start, exe, STATES[one.phase] or "")
end

local function listed(identities)
  local parts = {}
  for i, one in ipairs(identities or {}) do
    parts[i] = named(one)
  end
  return table.concat(parts, "; ")
end

local OUTLASTED_NAMED <const> = 5

--- Who was still there when the time to end was over, those that were stopped first; an empty text
--- when nobody was, or nobody knows.
---@param verdict table
---@return string
function M.outlasted(verdict)
  local list, first = {}, 1
  for _, one in ipairs(verdict.outlasted or {}) do
    local stopped = one.phase == "stopped"
    table.insert(list, stopped and first or #list + 1, one)
    first = first + (stopped and 1 or 0)
  end
  if #list == 0 then
    return ""
  end
  local named_here = listed(table.move(list, 1, OUTLASTED_NAMED, 1, {}))
  local others = verdict.outlasted_total - OUTLASTED_NAMED
  return ("; still there then: %s%s"):format(
    named_here,
    others > 0 and ("; and %d more"):format(others) or ""
  )
end

local ADVICE = " (check pid and start token before ending anything by hand)"

local function met(done, outcome)
  local list = {}
  for _, one in ipairs(done and done.met or {}) do
    if one.outcome == outcome then
      list[#list + 1] = one
    end
  end
  return list
end

-- Everybody who is not proven gone, whoever looked last: the supervisor, or a sweep.
local function left(verdict)
  local done, parts = verdict.sweep, {}
  for _, one in ipairs {
    { "", verdict.survivors },
    { "still there after SIGKILL: ", met(done, "alive") },
    { "could not be looked at: ", verdict.unverified },
    { "could not be looked at: ", met(done, "unverified") },
    { "left alone, as nobody can tell whose they are: ", met(done, "stranger") },
  } do
    local who = listed(one[2])
    parts[#parts + 1] = who ~= "" and one[1] .. who or nil
  end
  return table.concat(parts, "; ")
end

-- What a sweep did, of which there is no better proof.
local function swept(done)
  if not done then
    return ""
  end
  local ended = #met(done, "gone")
  local text = ended == 1 and "; 1 process that it left was ended by the sweep"
    or ("; %d processes that it left were ended by the sweep"):format(ended)
  return text .. (done.complete and "" or ", which is not complete: " .. tostring(done.error))
end

local CAUSES = {
  requested = "no proof that everything is gone",
  harness_gone = "the harness had died",
  latest_end = "the harness had not answered in time",
  wait_failed = "the supervisor could not wait any more",
}

--- Why a supervisor ended its command by itself, as words; nil when it was asked to, or is not yet
--- at the end.
---@param verdict table?
---@return string?
function M.own_cause(verdict)
  local cause = verdict and verdict.cause
  return known(cause) and cause ~= "requested" and (CAUSES[cause] or cause) or nil
end

--- What a verdict means for the run: nil when the end is proven and was not forced.
---@return string? problem
---@return boolean? halt whether nothing further may be launched
function M.problem(verdict)
  if verdict.verdict == "left_running" then
    return "left running: " .. left(verdict) .. ADVICE, true
  elseif verdict.verdict == "unverified" then
    local who = left(verdict)
    local cause = CAUSES[verdict.cause]
      or known(verdict.cause) and verdict.cause
      or CAUSES.requested
    if verdict.cgroup_empty == false then
      cause = cause .. "; somebody lives in its cgroup"
    end
    cause = cause .. swept(verdict.sweep)
    return "cleanup unverified: " .. cause .. (who ~= "" and "; " .. who .. ADVICE or ""), true
  elseif verdict.forced then
    return "had to be ended by SIGKILL" .. M.outlasted(verdict), false
  end
end

return M
