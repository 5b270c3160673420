-- SPDX-License-Identifier: Apache-2.0
--- When is the application ready? `http:URL`, `port:N`, `file:PATH`, `cmd:CMD`, or a scenario's
--- function. Polled every 100 ms beside the running hook, until --ready-timeout.
local child = require "pairperf.child"
local command = require "pairperf.command"
local core = require "pairperf.core"
local errors = require "pairperf.error"
local run_view = require "pairperf.run_view"
local units = require "pairperf.units"
local waiting = require "pairperf.waiting"

local M = {}

local POLL_S <const> = 0.1
local ANSWER_S <const> = 1 -- for one http or port answer

-- form -> function(argument) -> checked argument | nil, reason
local CHECK = {
  http = function(url)
    return url:match("^https?://%S+$") or nil, "needs a URL, http:http://HOST:PORT/PATH"
  end,
  port = function(text)
    local port = text:match("^%d+$") and tonumber(text)
    if not port or port < 1 or port > 65535 then
      return nil, "needs a TCP port from 1 to 65535"
    end
    return port
  end,
  file = function(path)
    if path:find "^/" or ("/" .. path .. "/"):find("/../", 1, true) or path == "" then
      return nil, "needs a path relative to the run's home that does not leave it"
    end
    return path
  end,
}

--- Checks a readiness text before anything is created.
---@param text string
---@param source table scenario source, for cmd:
---@return table? ready { how, argument }
---@return pairperf.Error? err code refused or invalid
function M.parse(text, source)
  local how, argument = text:match("^(%a+):(.*)$")
  if how == "cmd" then
    local resolved, err = command.resolve("option '--ready'", argument, source)
    return resolved and { how = how, argument = resolved, text = text }, err
  elseif how == "http" and not argument:match("^http") then
    argument = text -- http://… is its own form
  end
  local check = CHECK[how]
  if not check then
    return errors.fail(
      "invalid",
      "option '--ready'",
      ("'%s' is none of http:URL, port:N, file:PATH, cmd:CMD"):format(text)
    )
  end
  local checked, reason = check(argument)
  if not checked then
    return errors.fail("invalid", "option '--ready'", ("'%s' %s"):format(text, reason))
  end
  return { how = how, argument = checked, text = text }
end

local function http_probe(url)
  return function()
    local answer, err = core.http.status(url, { timeout_s = ANSWER_S })
    if not answer then
      return nil, tostring(err)
    end
    return answer >= 200 and answer < 300 or nil, "HTTP status " .. answer
  end
end

local function port_probe(port)
  return function()
    local ok, err = core.http.connect("127.0.0.1", port, { timeout_s = ANSWER_S })
    return ok, ok and "connected" or tostring(err)
  end
end

local function file_probe(path)
  return function()
    local entry, err = core.fs.stat(path)
    if not entry then
      return nil, "no file: " .. (err.errno or err.code)
    end
    return entry.size > 0 or nil, ("a %s of %d bytes"):format(entry.type, entry.size)
  end
end

-- What fails the run, whatever the probe would have answered. `halt`: processes of it are left, or
-- may be, or its evidence is lost, and nothing further may be launched.
local function trouble(text, problem, halt)
  return { step = "ready", reason = ("probe '%s': %s"):format(text, problem), halt = halt or nil }
end

-- A command is started, looked at, and started again once it ended otherwise than with 0.
local Probe = {}
Probe.__index = Probe

local function start_probe(self)
  local run = self.run
  return child.start({ run_dir = self.dir, events = self.dir .. "/events.jsonl" }, {
    path = self.command.path,
    argv = self.command.argv,
    env = run:environment(),
    cwd = run.home,
    output = "null",
    track = true,
    interval_s = 1,
    lifetime_s = run.session.values["ready-timeout"] + 60,
  })
end

---@return string? problem
---@return boolean? halt nothing further may be launched
function Probe:stop()
  local running = self.child
  self.child = nil
  if running then
    local verdict = running:stop { first = "group", grace_s = 1 }
    local problem, halt = child.problem(verdict)
    local unwritten = running:unwritten()
    local left = running:close()
    if left then
      return problem or left, true
    end
    if unwritten and not problem then
      return "its evidence could not be written: " .. unwritten, true
    end
    return problem, halt
  end
end

function Probe:__call()
  if not self.child then
    local started, err, lost = start_probe(self)
    self.child = started
    if not started then
      return nil, nil, trouble(self.text, "could not be started: " .. tostring(err), lost ~= nil)
    end
  end
  local ending, exit = self.child:ended()
  if not ending then
    return nil, self.answer or "still running"
  end
  self.answer = ending
  local problem, halt = self:stop()
  if halt then
    return nil, nil, trouble(self.text, problem, true)
  end
  return not problem and exit and exit.code == 0 or nil, problem or ending
end

local function probe_of(ready, run)
  if ready.how == "http" then
    return http_probe(ready.argument)
  elseif ready.how == "port" then
    return port_probe(ready.argument)
  elseif ready.how == "file" then
    return file_probe(run.home .. "/" .. ready.argument)
  end
  local dir = run.dir .. "/ready"
  local made, err = core.fs.mkdir_exclusive(dir)
  if not made then
    return nil, err
  end
  return setmetatable({ run = run, command = ready.argument, text = ready.text, dir = dir }, Probe)
end

local function not_ready(run, answer)
  local limit = units.format_seconds(run.session.values["ready-timeout"])
  return {
    step = "ready",
    reason = ("not ready within %s; last answer: %s"):format(limit, answer or "none"),
  }
end

local function waited_s(began_ns)
  return (core.clock.now() - began_ns) / 1e9
end

local function poll(run, ready)
  local probe, last = probe_of(ready, run)
  if not probe then
    return nil, trouble(ready.text, tostring(last))
  end
  local answer, err = waiting.wait(run.session.values["ready-timeout"], function(left_s)
    run.session.progress:tick("ready", left_s, run)
    local met, problem
    met, last, problem = probe()
    if problem then
      return problem
    end
    return met and { answer = last } or run:trouble()
  end, { every_s = POLL_S })
  if getmetatable(probe) == Probe then
    local problem, halt = probe:stop()
    if halt then
      return nil, trouble(ready.text, problem, true), true
    end
  end
  if err and err.code == "timeout" then
    return nil, not_ready(run, last)
  elseif not answer or answer.reason then
    return nil, answer or err, answer and answer.halt
  end
  return answer
end

local function script_late(began_ns, answer)
  local reason = "not ready: the script's function ended after %.1f s; its answer: %s"
  return {
    step = "ready",
    reason = reason:format(waited_s(began_ns), tostring(answer or "none")),
  }
end

-- Asked while a script's function runs: its time is over, or the run cannot go on.
local function script_trouble(run, began_ns)
  local limit_s, now_s = run.session.values["ready-timeout"], waited_s(began_ns)
  if now_s > limit_s then
    local reason = "not ready: the script's function was ended after %.1f s (--ready-timeout %s)"
    return { step = "ready", reason = reason:format(now_s, units.format_seconds(limit_s)) }
  end
  core.supervisor.pump(0)
  return run:trouble()
end

-- A scenario's function: true (or an answer) is ready; false or nil, reason is not.
local function ask_script(run, ready)
  local began_ns = core.clock.now()
  local looked_ns = began_ns
  local function check_script()
    local now_ns = core.clock.now()
    if now_ns - looked_ns < POLL_S * 1e9 then
      return nil
    end
    looked_ns = now_ns
    local problem = script_trouble(run, began_ns)
    return problem and run_view.stop(problem)
  end
  local ok, answer, reason = waiting.watched(check_script, ready, run_view.new(run))
  if ok and answer and waited_s(began_ns) <= run.session.values["ready-timeout"] then
    return { answer = tostring(answer) }
  elseif ok then
    return nil, script_late(began_ns, answer and "ready" or reason)
  elseif run_view.is_stop(answer) then
    return nil, answer.problem
  end
  error(answer, 0)
end

--- Waits until the run's application is ready.
---@param run pairperf.Run
---@return {how: string, waited_ns: integer?, answer: string?}? ready
---@return table|pairperf.Error? problem
---@return boolean? halt nothing further may be launched
function M.await(run)
  local ready = run.scenario.ready
  if not ready then
    return { how = "none" }
  end
  local is_script = type(ready) == "function"
  local answer, problem, halt = (is_script and ask_script or poll)(run, ready)
  if not answer then
    return nil, problem, halt
  end
  local waited_ns = core.clock.now() - run.app.began_ns
  return {
    how = is_script and "script" or ready.text,
    waited_ns = waited_ns,
    answer = answer.answer,
  }
end

return M
