-- SPDX-License-Identifier: Apache-2.0
--- Waiting that serves the supervisors and sees cancellation. The session runs shielded: a signal
--- never interrupts its own code, it is looked at here; scripts run unshielded (`M.exposed`).
local core = require "pairperf.core"
local errors = require "pairperf.error"

local M = {}

local SLICE_S <const> = 0.2 -- between two looks when nothing happens
local NS <const> = 1000000000

--- The cancellation that was asked for, as an error value; nil when none was.
---@return pairperf.Error?
function M.cancelled()
  local asked = core.cancel.requested()
  return asked and errors.new("cancelled", "cancelled", "by " .. asked.signal) or nil
end

--- The same for what was not yet asked for when this is called: a function to ask.
---@return fun(): pairperf.Error?
function M.cancelled_from_now()
  local before = (core.cancel.requested() or { count = 0 }).count
  return function()
    local asked = core.cancel.requested()
    return asked and asked.count > before and M.cancelled() or nil
  end
end

local function elapsed_s(since_ns)
  return (core.clock.now() - since_ns) / NS
end

local look -- what may end the script that runs now

---@class pairperf.WaitOptions
---@field teardown boolean? a cancellation does not end this wait
---@field every_s number? least time between two checks

--- Serves the supervisors until `check` answers something, or `seconds` are over.
---@param seconds number
---@param check fun(left_s: number): any nil = go on waiting
---@param options pairperf.WaitOptions?
---@return any answer
---@return pairperf.Error? err codes: timeout, cancelled, or the pump's; or what ends a script
function M.wait(seconds, check, options)
  options = options or {}
  local began_ns = core.clock.now()
  while true do
    local left_s = seconds - elapsed_s(began_ns)
    local answer = check(left_s)
    if answer ~= nil then
      return answer
    end
    local ended = not options.teardown and (M.cancelled() or look and look())
    if ended then
      return nil, ended
    elseif left_s <= 0 then
      return errors.fail("timeout", "wait", ("after %.3g s"):format(seconds))
    end
    local ok, err = core.supervisor.pump(math.min(left_s, options.every_s or SLICE_S))
    if not ok and err.code ~= "cancelled" then
      return nil, err
    end
  end
end

--- Waits a time, whatever happens meanwhile.
---@return true? ok
---@return pairperf.Error? err code cancelled
function M.pause(seconds)
  local _, err = M.wait(seconds, function() end)
  if err.code == "timeout" then
    return true
  end
  return nil, err
end

local shielded = true

local function shield(on)
  local before = shielded
  shielded = on
  core.cancel.shield(on)
  return before
end

--- Message handler: shields again; our error values stay as they are, others gain a traceback.
function M.caught(value)
  shield(true)
  if type(value) == "table" then
    return value
  end
  return debug.traceback(tostring(value), 2)
end

--- Calls a script's function so that a signal may interrupt it. Errors come back as values.
---@return boolean ok
---@return any ... results, or the error
function M.exposed(f, ...)
  return xpcall(function(...)
    shield(false)
    local results = table.pack(f(...))
    shield(true)
    return table.unpack(results, 1, results.n)
  end, M.caught, ...)
end

--- As `exposed`, but `check` is asked all the while, also where the script never waits; what it
--- answers is raised through the script.
---@param check fun(): any nil = the script may go on
---@return boolean ok
---@return any ... results, or the error
function M.watched(check, f, ...)
  look = check
  core.cancel.watch(function()
    local answer = check()
    if answer then
      error(answer, 0)
    end
  end)
  local results = table.pack(M.exposed(f, ...))
  core.cancel.watch(nil)
  look = nil
  return table.unpack(results, 1, results.n)
end

--- Calls a shutdown so that no signal interrupts it, also when a script asks for it.
---@return any result
function M.undisturbed(f, ...)
  local before = shield(true)
  local ok, result = xpcall(f, M.caught, ...)
  shield(before)
  if not ok then
    error(result, 0)
  end
  return result
end

return M
