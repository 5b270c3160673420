-- SPDX-License-Identifier: Apache-2.0
--- One run: one launch of one variant under one scenario. Its steps are a list; the first failure
--- ends the list, and the shutdown below it always happens, whole and uninterrupted.
local child = require "pairperf.child"
local confining = require "pairperf.confining"
local core = require "pairperf.core"
local core_file = require "pairperf.core_file"
local errors = require "pairperf.error"
local evidence = require "pairperf.evidence"
local guarding = require "pairperf.guarding"
local hooks = require "pairperf.hooks"
local machine = require "pairperf.machine"
local next_command = require "pairperf.next_command"
local probes = require "pairperf.probes"
local readiness = require "pairperf.readiness"
local units = require "pairperf.units"
local waiting = require "pairperf.waiting"

local M = {}

---@class pairperf.Run
---@field session pairperf.Session
---@field slot table entry of plan.runs
---@field dir string evidence directory of the run
---@field home string
---@field options table the scenario's own options, by field name
---@field scenario pairperf.Scenario
---@field failure {step: string, reason: string, next: string}? the first one
---@field halt string? why nothing further may be launched
---@field lost boolean? evidence that could not be written is among its failures
---@field script_error string? an error inside the script or the harness
local Run = {}
Run.__index = Run

local SLACK_S <const> = 600 -- beyond all planned time, until the supervisor ends the tree by itself

local function lifetime_s(session, scenario)
  local values = session.values
  return scenario.warmup_s
    + scenario.duration_s
    + values["ready-timeout"]
    + values["quit-timeout"]
    + 2 * values["hook-timeout"]
    + values["post-run-timeout"]
    + SLACK_S
end

-- Records a failure; the first one is the run's. `app_ended`: the application is what failed.
function Run:fail(step, reason, halt, app_ended)
  local kept = self.session.values["keep-app-output"] ~= nil
  local next = next_command(step, { dir = self.dir, app_ended = app_ended, app_output_kept = kept })
  local failure = { step = step, reason = reason, next = next }
  self.failure = self.failure or failure
  self.lost = self.lost or step == "evidence"
  if halt then
    self.halt = self.halt or ("%s: %s"):format(step, reason)
  end
  failure.halt = halt and true or nil
  self.events:add("run_failed", failure)
  self.session.log:line(("%s failed at %s: %s"):format(self.slot.directory, step, reason))
end

--- Fails the run for evidence that could not be written, once.
---@param problem any? nil: all could
function Run:lose(problem)
  if problem and not self.lost then
    self:fail("evidence", tostring(problem), true)
  end
end

-- ---------------------------------------------------------------- steps, in order

function Run:open()
  local ok, err = core.fs.mkdirs(self.session.output .. "/" .. self.slot.scenario)
  if ok then
    ok, err = core.fs.mkdir_exclusive(self.dir) -- an earlier run's application may have made one
  end
  if not ok then
    return nil, tostring(err), true
  end
  local slot = self.slot
  self.events:add("run_started", {
    slot = slot.slot,
    scenario = slot.scenario,
    variant = slot.variant,
    repetition = slot.repetition,
  })
  return not self.events.error or nil, tostring(self.events.error), true
end

-- Between runs: what the run before left behind may still be at work.
function Run:settle()
  local seconds = self.session.values.settle or 0
  if seconds == 0 or self.slot.slot == 0 then
    return true
  end
  self.session.progress:phase("settling, at most " .. units.format_seconds(seconds))
  local settled, err = machine.settle(seconds)
  if not settled then
    return nil, err
  end
  self.events:add("settled", settled)
  return true
end

function Run:guard_before()
  local session = self.session
  local before, problem = guarding.snapshot(session.guard_paths)
  if not before then
    return nil, problem, true
  end
  self.before = before
  self.events:add("guard_before", { snapshots = before })
  session.guard_first = session.guard_first or before
  local changed = guarding.changes(session.guard_paths, session.guard_first, before)
  if changed then
    return nil, changed .. " since the session's first snapshot (nothing is restored)", true
  end
  local confined_to = confining.paths(session.confine)
  for _, path in ipairs(session.guard_paths) do
    local directory = not session.values["allow-system-launcher-write"]
      and guarding.writable(path, confined_to)
    if directory then
      return nil, ("%s became writable by this user"):format(directory), true
    end
  end
  return true
end

-- Why there is no home; all that the template may not hold stands in an event.
local function template_problem(run, err)
  local template = run.session.values.template
  local rejects = template and err.code == "refused" and core.template.rejects(template)
  if rejects and #rejects > 0 then
    run.events:add("template_refused", { template = template, rejects = core.json.array(rejects) })
  end
  return errors.is_cancelled(err) and err or tostring(err)
end

function Run:sandbox()
  local session = self.session
  local values = session.values
  local ok, copied = core.sandbox.prepare {
    home = self.home,
    template = values.template,
    link_dotdirs = values["link-dotdir"] or {},
    real_home = session.real_home,
  }
  if not ok then
    return nil, template_problem(self, copied)
  end
  self.events:add("sandbox_ready", { home = self.home, template = copied })
  if copied and copied.sha256 ~= session.plan.template.sha256 then
    local problem =
      "template '%s' is not what it was when the session started: %d entries of %d bytes"
    return nil, problem:format(values.template, copied.entries, copied.bytes), true
  end
  self.events:add("probes_before", { probes = probes.around_run() })
  return true
end

-- The sandbox environment, with what belongs to hooks only.
function Run:environment(extra)
  local variant = self.variant
  local environment = assert(core.sandbox.environment {
    home = self.home,
    set = variant.env_set,
    pass = variant.env_pass,
    extra = extra or {},
  })
  return environment.env
end

-- What was done about a tree whose supervisor was lost; there is no other verdict then.
local function note_sweep(run, verdict)
  if verdict and verdict.sweep then
    run.events:add("sweep", verdict)
  end
end

function Run:launch()
  local values, variant = self.session.values, self.variant
  local cap = values["keep-app-output"]
  local confine = self.session.confine
  local writable = confining.paths(confine, self.home)
  local app, err, lost = child.start(
    { run_dir = self.dir, samples = self.dir .. "/samples.jsonl", events = self.events.path },
    {
      path = variant.path,
      argv = { variant.path, table.unpack(variant.args) },
      env = self:environment(),
      cwd = self.home,
      output = cap and "capture" or "null",
      stdout = cap and "app-stdout" or nil,
      stderr = cap and "app-stderr" or nil,
      cap_bytes = cap,
      interval_s = math.min(1, self.scenario.interval_s),
      track = true,
      expect_escapees = values["expect-escapee"] or {},
      reap_escapees = values["reap-escapees"] or false,
      writable = writable,
      lifetime_s = lifetime_s(self.session, self.scenario),
    }
  )
  if not app then
    note_sweep(self, lost)
    return nil, tostring(err), lost ~= nil
  end
  self.app = app
  if confine then
    self.events:add(
      "confined",
      { landlock_abi = confine.abi, writable = core.json.array(writable) }
    )
  end
  return true
end

function Run:hook_plan(kind)
  local values = self.session.values
  local extra = {
    PAIR_PERF_OUTPUT = self.dir,
    PAIR_PERF_SANDBOX = self.home,
    PAIR_PERF_APP_PID = tostring(self.app.pid),
    PAIR_PERF_SCENARIO = self.scenario.label,
  }
  for name, value in pairs(self.session.hook_env) do
    extra[name] = value
  end
  return {
    kind = kind,
    dir = self.dir .. "/" .. kind,
    home = self.home,
    env = self:environment(extra),
    cap_bytes = values["hook-output-cap"],
    grace_s = values["hook-timeout"],
    lifetime_s = lifetime_s(self.session, self.scenario),
    events = self.events,
  }
end

function Run:start_hook()
  local command = self.scenario.pre_sample_hook
  if not command then
    return true
  end
  local hook, err, halt = hooks.start(command, self:hook_plan "hook")
  if not hook then
    return nil, ("'%s' could not be started: %s"):format(command.text, tostring(err)), halt
  end
  self.hook = hook
  self.session.progress:phase("hook " .. command.text)
  return true
end

local AT_ONCE_S <const> = 10
local HANDED_OVER = "; one that ends so early and with success has usually handed over to a copy "
  .. "of itself that runs already outside the sandbox: end that copy first"

-- The application's early end as words.
local function early_end(run, ending, exit)
  local age_s = run.app:age_s()
  local ended_by = child.own_cause(run.app:state().verdict)
  if ended_by then -- the harness was stopped, or could not be heard
    return ("after %.1f s: %s; its supervisor ended it because %s"):format(age_s, ending, ended_by)
  end
  local handed_over = exit and exit.code == 0 and age_s < AT_ONCE_S
  local more = handed_over and HANDED_OVER or core_file.words(run.home, exit)
  return ("after %.1f s: %s%s"):format(age_s, ending, more)
end

-- What stops a run while it waits: the application or the hook failed, or evidence is lost.
function Run:trouble()
  if self.app:state().phase == "lost" then
    return { reason = "the application's supervisor was lost" }
  end
  local ending, exit = self.app:ended()
  if ending then
    local itself = not child.own_cause(self.app:state().verdict) and "by itself " or ""
    local reason = ("the application ended %s%s"):format(itself, early_end(self, ending, exit))
    return { reason = reason, app_ended = true }
  end
  local problem = self.hook and self.hook:look()
  if problem then
    return { step = "pre_sample_hook", reason = self.hook:describe(problem) }
  elseif self.events.error then
    return { step = "evidence", reason = tostring(self.events.error) }
  end
  local state = self.app:state()
  if state.error then
    return { step = "evidence", reason = tostring(state.error) }
  end
end

-- Waits with progress; answers true when the time is over.
function Run:pass_time(seconds, phase)
  local trouble, err = waiting.wait(seconds, function(left_s)
    self.session.progress:tick(phase, left_s, self)
    return self:trouble()
  end)
  if trouble then
    return nil, trouble
  elseif err.code == "timeout" then
    return true
  end
  return nil, err
end

function Run:become_ready()
  if self.scenario.ready then
    self.session.progress:phase "waiting until ready"
  end
  local ready, problem, halt = readiness.await(self)
  if not ready then
    return nil, problem, halt
  end
  self.events:add("ready", ready)
  return true
end

function Run:warm_up()
  self.session.progress:phase("warm-up, " .. units.format_seconds(self.scenario.warmup_s))
  self.events:add("warmup_started", { duration_ns = units.ns(self.scenario.warmup_s) })
  return self:pass_time(self.scenario.warmup_s, "warm-up")
end

function Run:sample()
  local scenario = self.scenario
  self.session.progress:phase("sampling, " .. units.format_seconds(scenario.duration_s))
  self.events:add("sampling_started", { duration_ns = units.ns(scenario.duration_s) })
  local began_ns = core.clock.now()
  local window, err = self.app:sample(
    { duration_s = scenario.duration_s, interval_s = scenario.interval_s },
    function()
      local left_s = scenario.duration_s - (core.clock.now() - began_ns) / 1e9
      self.session.progress:tick("sampling", math.max(0, left_s), self)
      return self:trouble()
    end
  )
  self.events:add("sampling_finished", { complete = window ~= nil and window.done == true })
  if window and window.done then
    return true
  end
  return nil, window or err
end

function Run:end_hook()
  if self.hook and not self.hook.finished then
    local problem, halt = self.hook:finish()
    if problem then
      return nil, self.hook:describe(problem), halt
    end
  end
  return true
end

function Run:check()
  local command = self.scenario.post_run_check
  if not command then
    self.events:add("check_not_configured")
    return true
  end
  local ending = self.app:ended()
  if ending then
    return nil, { reason = "not run: the application was gone: " .. ending, app_ended = true }
  end
  self.checked = true
  self.session.progress:phase("check " .. command.text)
  local ok, err, halt = hooks.check(
    command,
    self:hook_plan "check",
    self.session.values["post-run-timeout"],
    function()
      return self.app:ended() and "was overtaken by the application's end"
    end
  )
  if not ok and not errors.is_cancelled(err) and self.app:ended() then
    return nil, { reason = err.detail, app_ended = true }, halt
  end
  return ok, err, halt
end

local STEPS = {
  { "evidence", Run.open },
  { "settle", Run.settle },
  { "guard_before", Run.guard_before },
  { "sandbox", Run.sandbox },
  { "launch", Run.launch },
  { "pre_sample_hook", Run.start_hook },
  { "ready", Run.become_ready },
  { "warmup", Run.warm_up },
  { "sampling", Run.sample },
  { "pre_sample_hook", Run.end_hook },
  { "post_run_check", Run.check },
}

-- ---------------------------------------------------------------- shutdown

-- One that ends otherwise than by our SIGTERM or SIGKILL when it is asked to has crashed.
---@return string? ending
---@return string? where its core is, as words
local function crash(run, forced)
  local ending, exit = run.app:ended()
  if exit and exit.core then
    run.events:add("core_dumped", core_file.find(run.home))
  end
  local ours = { SIGTERM = true, SIGKILL = forced }
  if exit and exit.signal and not ours[exit.signal] then
    return ending, core_file.words(run.home, exit)
  end
end

-- What the verdict means, and whether nothing further may be launched.
local function end_problem(verdict, grace_s, ending)
  local problem, halt = child.problem(verdict)
  if verdict.forced and not halt and not child.own_cause(verdict) then
    local grace = units.format_seconds(grace_s)
    local who = ending and "what it left " or ""
    problem = ("%sdid not end within %s (--quit-timeout), and %s"):format(who, grace, problem)
  end
  return problem, halt
end

local function quit(run)
  local session = run.session
  local ending, exit = run.app:ended()
  run.events:add("quit_requested", { already_ended = ending })
  if ending and not run.failure and run.app:state().phase ~= "lost" then
    local reason = "the application had ended before it was asked to, "
    run:fail("quit", reason .. early_end(run, ending, exit), nil, true)
  end
  local grace_s = session.values["quit-timeout"]
  local verdict = run.app:stop { first = "leader", grace_s = grace_s }
  note_sweep(run, verdict)
  local problem, halt = end_problem(verdict, grace_s, ending)
  local crashed, core_words = crash(run, verdict.forced)
  crashed = not ending and crashed or nil -- else it is told already
  if problem then
    local more = crashed and "; it died of " .. crashed .. core_words or ""
    run:fail("quit", "the application: " .. problem .. more, halt)
  elseif crashed then
    local reason = "the application ended with %s when it was asked to end%s"
    run:fail("quit", reason:format(crashed, core_words), nil, true)
  end
  run:lose(run.app:unwritten())
  local left = run.app:close()
  if left then
    run:fail("quit", "the application: " .. left, true)
  end
end

local function guard_after(run)
  local paths = run.session.guard_paths
  local after, problem = guarding.snapshot(paths)
  if not after then
    return run:fail("guard", problem, true)
  end
  local changed, fields = guarding.changes(paths, run.before, after)
  run.events:add(
    "guard_after",
    { snapshots = after, changed = changed ~= nil, fields = core.json.array(fields) }
  )
  if changed then
    run:fail(
      "guard",
      changed .. " (nothing is restored; compare guard_before and guard_after in events.jsonl)",
      true
    )
  end
end

local function note_check_not_run(run)
  if run.app and run.scenario.post_run_check and not run.checked then
    run.events:add("check_not_run", { reason = "the run had failed at " .. run.failure.step })
  end
end

local SHUTDOWN = {
  {
    "pre_sample_hook",
    function(run)
      local ok, problem, halt = run:end_hook()
      if not ok then
        run:fail("pre_sample_hook", problem, halt)
      end
    end,
  },
  { "post_run_check", note_check_not_run },
  {
    "quit",
    function(run)
      if run.app then
        quit(run)
      end
    end,
  },
  {
    "guard",
    function(run)
      if run.before then
        guard_after(run)
        run.events:add("probes_after", { probes = probes.around_run() })
      end
    end,
  },
}

-- ---------------------------------------------------------------- the whole

local function note_cancelled(run)
  local asked = core.cancel.requested() or { signal = "unknown" }
  run.events:add("cancelled", { signal = asked.signal })
  run:fail(run.step, "cancelled by " .. asked.signal, true)
  run.cancelled = true
end

-- A step's problem is text, an error value, or {step, reason, app_ended}.
local function note_problem(run, problem, halt)
  if errors.is_cancelled(problem) then
    return note_cancelled(run)
  elseif type(problem) == "table" and problem.reason then
    return run:fail(problem.step or run.step, problem.reason, halt, problem.app_ended)
  end
  local text = errors.is(problem) and problem.detail or tostring(problem)
  run:fail(run.step, text, halt)
end

local function go_through(run)
  for _, step in ipairs(STEPS) do
    run.step = step[1]
    local cancelled = waiting.cancelled()
    if cancelled then
      return nil, cancelled
    end
    local ok, problem, halt = step[2](run)
    if not ok then
      return nil, problem, halt
    end
  end
  return true
end

-- An error raised by script or harness: the run fails, the rest is skipped, exit status 70.
local function note_raised(run, raised)
  if errors.is_cancelled(raised) then
    return note_cancelled(run)
  end
  local text = errors.raised(raised)
  run.script_error = run.script_error or text
  run:fail(run.step, "error in script or harness: " .. text:match "^[^\n]*", true)
end

local function shut_down(run)
  run.session.progress:phase "shutdown"
  for _, step in ipairs(SHUTDOWN) do
    run.step = step[1]
    local ok, raised = xpcall(step[2], waiting.caught, run)
    if not ok then
      note_raised(run, raised)
    end
  end
  run:lose(run.events.error)
end

--- Executes one run of the plan. Its outcome is in the returned table and in its events.
---@param session pairperf.Session
---@param slot table entry of plan.runs
---@return pairperf.Run
function M.execute(session, slot)
  local dir = session.output .. "/" .. slot.directory
  local scenario = session.scenarios[slot.scenario]
  local run = setmetatable({
    session = session,
    slot = slot,
    dir = dir,
    home = dir .. "/home",
    scenario = scenario,
    options = scenario.options,
    variant = session.variants[slot.variant],
    step = "start",
    events = evidence.events(dir .. "/events.jsonl"),
  }, Run)
  local ok, done, problem, halt = xpcall(go_through, waiting.caught, run)
  if not ok then
    note_raised(run, done)
  elseif not done then
    note_problem(run, problem, halt)
  end
  shut_down(run)
  return run
end

return M
