-- SPDX-License-Identifier: Apache-2.0
--- For controller scripts: launch, sample, look, stop and verify one application, step by step.
local authority = require "pairperf.authority"
local child = require "pairperf.child"
local command_line = require "pairperf.command_line"
local core = require "pairperf.core"
local errors = require "pairperf.error"
local script = require "pairperf.script"
local variants = require "pairperf.variants"
local waiting = require "pairperf.waiting"

local M = {}

local open_apps = {} -- launched and not closed; main closes what a script leaves behind

---@class pairperf.App
---@field pid integer
---@field home string
---@field dir string evidence directory
local App = {}
App.__index = App

local FIELDS = {
  artifact = "string",
  executable = "string",
  output = "string",
  args = "table",
  env = "table",
  pass_env = "table",
  template = "string",
  interval_s = "number",
  keep_output_bytes = "number",
  expect_escapees = "table",
  lifetime_s = "number",
}

local function check_fields(given)
  if type(given) ~= "table" then
    error("launch needs a table", 3)
  end
  for name, value in pairs(given) do
    if type(value) ~= FIELDS[name] then
      local problem = FIELDS[name] and ("must be a " .. FIELDS[name]) or "is unknown"
      error(("launch field '%s' %s"):format(tostring(name), problem), 3)
    end
  end
  if not given.artifact or not given.output then
    error("launch needs artifact and output", 3)
  end
end

local function prepare(given, dir)
  local found, err =
    core.sandbox.executable(variants.absolute(given.artifact), { executable = given.executable })
  if not found then
    return nil, err
  end
  local ok, failure = core.fs.mkdir_exclusive(dir)
  if ok then
    ok, failure = core.sandbox.prepare { home = dir .. "/home", template = given.template }
  end
  if not ok then
    return nil, failure
  end
  return found
end

local function spawn_options(given, found, home)
  local environment = assert(core.sandbox.environment {
    home = home,
    set = given.env or {},
    pass = given.pass_env or {},
    extra = {},
  })
  local cap = given.keep_output_bytes
  return {
    path = found.path,
    argv = { found.path, table.unpack(given.args or {}) },
    env = environment.env,
    cwd = home,
    output = cap and "capture" or "null",
    stdout = cap and "app-stdout",
    stderr = cap and "app-stderr",
    cap_bytes = cap,
    track = true,
    interval_s = given.interval_s or 1,
    expect_escapees = given.expect_escapees,
    lifetime_s = given.lifetime_s or 86400,
  }
end

--- Launches an application in a fresh sandbox below a new directory. Needs --authorize-launch.
---@param given table artifact, output; see docs/AUTHORING.md
---@return pairperf.App? app
---@return pairperf.Error? err
function M.launch(given)
  check_fields(given)
  if not authority.granted then
    return errors.fail("refused", "launch", "needs --authorize-launch on the command line")
  end
  local dir = variants.output(given.output)
  local found, err = prepare(given, dir)
  if not found then
    return nil, err
  end
  local started, failure = child.start(
    { run_dir = dir, samples = dir .. "/samples.jsonl", events = dir .. "/events.jsonl" },
    spawn_options(given, found, dir .. "/home")
  )
  if not started then
    return nil, failure
  end
  local app =
    setmetatable({ child = started, pid = started.pid, dir = dir, home = dir .. "/home" }, App)
  open_apps[app] = true
  return app
end

-- A cancellation leaves a script as an error; main ends what it started.
local function or_cancelled(answer, err)
  if answer == nil and errors.is_cancelled(err) then
    error(err, 0)
  end
  return answer, err
end

--- Waits until `condition` answers something true; fails when the application ends before.
---@param what string
---@param limits {timeout_s: number, every_s: number?}
---@param condition fun(): any
---@return any? answer
---@return pairperf.Error? err codes timeout, vanished
function App:wait(what, limits, condition)
  local answer, err = or_cancelled(waiting.wait(limits.timeout_s, function()
    return condition() or (self.child:ended() and self) or nil
  end, { every_s = limits.every_s or 0.1 }))
  if answer == self then
    return errors.fail("vanished", what, "the application ended: " .. self.child:ended())
  end
  return answer, err
end

--- Samples a window; frames go to samples.jsonl.
---@param window {duration_s: number, interval_s: number}
---@return table? window { frames, missed }
---@return pairperf.Error? err
function App:sample(window)
  local done, err = or_cancelled(self.child:sample(window, function()
    return self.child:ended()
  end))
  if type(done) == "string" then
    return errors.fail("vanished", "sample", "the application ended: " .. done)
  end
  return done, err
end

--- The owned tree as of the latest frame.
---@return table[]
function App:members()
  return self.child.supervisor:members()
end

--- Quits the application (SIGTERM to the leader, then SIGKILL to the group) and proves it gone.
---@param limits {grace_s: number}? default 30
---@return table verdict
function App:stop(limits)
  local verdict = self.child:stop { first = "leader", grace_s = limits and limits.grace_s or 30 }
  self:close()
  return verdict
end

--- Releases the application; what still runs is ended by its supervisor.
---@return string? problem the supervisor did not end
function App:close()
  if open_apps[self] then
    open_apps[self] = nil
    return self.child:close()
  end
end

App.__close = App.close

--- Stops whatever a script has left running. Called once, at the end of the script.
---@return integer left how many there were
function M.stop_all()
  local left = 0
  for app in pairs(open_apps) do
    left = left + 1
    app:stop()
  end
  return left
end

--- Waits while supervisors are served; a signal ends it with an error.
---@param seconds number
function M.sleep(seconds)
  or_cancelled(waiting.pause(seconds))
end

--- Runs an A/B session for a scenario or suite, as the command line would.
---@param scenario pairperf.Scenario|pairperf.Suite
---@param args string[] words of options
---@return integer exit_status
function M.session(scenario, args)
  return command_line.run(scenario, args, script.current)
end

return M
