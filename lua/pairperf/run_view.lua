-- SPDX-License-Identifier: Apache-2.0
--- What a scenario's functions see of a run: values and waiting, no mechanism.
local core = require "pairperf.core"
local errors = require "pairperf.error"
local units = require "pairperf.units"
local waiting = require "pairperf.waiting"

local M = {}

---@class pairperf.RunView
---@field scenario string name
---@field variant "baseline"|"candidate"
---@field repetition integer
---@field options table the scenario's own options, by field name
---@field dir string the run's evidence directory
---@field home string the application's HOME
---@field pid integer of the application
local View = {}
View.__index = View

local Stop = {} -- raised through a script's function when the run cannot go on

local runs = setmetatable({}, { __mode = "k" })

--- Whether a caught value ended a script because the run could not go on; `problem` says why.
function M.is_stop(value)
  return getmetatable(value) == Stop
end

--- What ends a script because of a problem of its run.
function M.stop(problem)
  return setmetatable({ problem = problem }, Stop)
end

---@param run pairperf.Run
---@return pairperf.RunView
function M.new(run)
  local view = setmetatable({
    scenario = run.scenario.name,
    variant = run.slot.variant,
    repetition = run.slot.repetition,
    options = run.options,
    dir = run.dir,
    home = run.home,
    pid = run.app.pid,
  }, View)
  runs[view] = run
  return view
end

-- Waits while application and hook are watched; what ends the run leaves through the script.
local function watch(view, seconds, every_s, condition)
  local run = runs[view]
  local answer, err = waiting.wait(seconds, function(left_s)
    run.session.progress:tick("ready", left_s, run)
    local met = condition()
    local trouble = not met and run:trouble()
    return met or (trouble and M.stop(trouble)) or nil
  end, { every_s = every_s or 0.1 })
  if M.is_stop(answer) then
    error(answer, 0)
  elseif err and err.code ~= "timeout" then
    error(err, 0)
  end
  return answer
end

--- Asks `condition` until it answers something true, while application and hook are watched.
---@param what string what is awaited, for the message
---@param limits {timeout_s: number, every_s: number?} every_s default 0.1
---@param condition fun(): any
---@return any? answer
---@return pairperf.Error? err code timeout
function View:poll(what, limits, condition)
  local answer = watch(self, limits.timeout_s, limits.every_s, condition)
  if answer ~= nil then
    return answer
  end
  return errors.fail("timeout", what, "not within " .. units.format_seconds(limits.timeout_s))
end

--- Lets time pass while application and hook are watched.
---@param seconds number
function View:pause(seconds)
  watch(self, seconds, 0.2, function() end)
end

--- Whether a file in the application's home exists and is not empty.
---@param path string relative to the home
---@return boolean
function View:has_file(path)
  local entry = core.fs.stat(self.home .. "/" .. path)
  return entry ~= nil and entry.size > 0
end

return M
