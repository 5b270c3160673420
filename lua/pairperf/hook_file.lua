-- SPDX-License-Identifier: Apache-2.0
--- Lua hooks: a function from a file, loaded afresh in a process of its own
--- (`pairperf-lua --run-hook FILE [NAME] [-- ARG…]`). It sees nothing of the session but its
--- arguments and the environment, hence no upvalues.
local core = require "pairperf.core"
local errors = require "pairperf.error"
local scenario = require "pairperf.scenario"
local script = require "pairperf.script"
local waiting = require "pairperf.waiting"

local M = {}

local EXIT_USAGE <const>, EXIT_INTERNAL <const> = 2, 70

--- A hook may reach nothing outside itself: no upvalue but _ENV.
---@return true? ok
---@return pairperf.Error? err code refused
function M.check(hook, name)
  local index, upvalue = 1, debug.getupvalue(hook, 1)
  while upvalue do
    if upvalue ~= "_ENV" then
      local words =
        "a Lua hook is loaded afresh in another process and can have no upvalues; it uses '%s'"
      return errors.fail("refused", "hook " .. name, words:format(upvalue))
    end
    index = index + 1
    upvalue = debug.getupvalue(hook, index)
  end
  return true
end

local function pick(result, name)
  if type(result) == "function" and not name then
    return result
  end
  local suite = name and scenario.as_suite(result)
  for _, one in ipairs(suite and suite.scenarios or { { hooks = result } }) do
    local hook = name and type(one.hooks) == "table" and one.hooks[name]
    if type(hook) == "function" then
      return hook
    end
  end
end

--- The hook that a file holds: the function it returns, or the one called `name` in its table.
---@param path string
---@param name string?
---@return function? hook
---@return pairperf.Error? err
function M.load(path, name)
  local found, err = script.find(path)
  local chunk
  if found then
    chunk, err = script.load(found)
  end
  if not chunk then
    return nil, err
  end
  local hook = pick(chunk(), name)
  if not hook then
    local wanted = name and ("holds no hook named '%s'"):format(name)
      or "does not return one function; name a hook"
    return errors.fail("refused", path, wanted)
  end
  local ok, failure = M.check(hook, name or path)
  if not ok then
    return nil, failure
  end
  return hook
end

local function exit_status(result)
  if result == nil then
    return 0
  end
  return math.tointeger(result) or error("a hook returns an exit status: an integer or nothing", 0)
end

-- path, name, arguments of `FILE [NAME] [-- ARG…]`
local function split(args)
  local name = args[2] ~= "--" and args[2] or nil
  local first = name and 3 or 2
  if not args[1] or (args[first] ~= nil and args[first] ~= "--") then
    return errors.fail("invalid", "--run-hook", "usage: --run-hook FILE [NAME] [-- ARG…]")
  end
  return { path = args[1], name = name, arguments = table.move(args, first + 1, #args, 1, {}) }
end

--- Runs a hook in this process. SIGTERM ends it through its <close> variables, with status 0.
---@param args string[] words after --run-hook
---@return integer exit_status
function M.main(args)
  local wanted, err = split(args)
  local hook
  if wanted then
    hook, err = M.load(wanted.path, wanted.name)
  end
  if not hook then
    io.stderr:write("pairperf-lua: ", errors.text(err), "\n")
    return EXIT_USAGE
  end
  core.cancel.install()
  local ok, result = waiting.exposed(function(...)
    return exit_status(hook(...))
  end, table.unpack(wanted.arguments))
  if ok then
    return result
  elseif errors.is_cancelled(result) then
    return 0
  end
  io.stderr:write("pairperf-lua: ", tostring(result), "\n")
  return EXIT_INTERNAL
end

return M
