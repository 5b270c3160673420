-- SPDX-License-Identifier: Apache-2.0
--- os.execute, io.popen and os.exit for scripts: the command runs under a supervisor while this
--- process goes on serving the others and sees a cancellation.
local captured = require "pairperf.captured"
local core = require "pairperf.core"

local M = {}

local CAP_BYTES <const> = 16 << 20
local LONGEST_S <const> = 86400

local function run(command)
  local argv = { "/bin/sh", "-c", command }
  local result, err = captured.run(argv, { limit_s = LONGEST_S, cap_bytes = CAP_BYTES })
  if not result then
    error(err, 0)
  end
  return result
end

local function results(exit)
  if not exit then
    return nil, "signal", 9
  elseif exit.signal then
    return nil, "signal", core.process.signal_number(exit.signal)
  end
  return exit.code == 0 or nil, "exit", exit.code
end

--- As os.execute; output appears when the command has ended.
function M.execute(command)
  if command == nil then
    return true
  end
  local result = run(command)
  io.stdout:write(result.stdout)
  io.stderr:write(result.stderr)
  return results(result.exit)
end

--- As io.popen for reading: the command has ended when this returns.
function M.popen(command, mode)
  if mode and mode:sub(1, 1) ~= "r" then
    error("io.popen: only reading is supported in scripts", 2)
  end
  local result = run(command)
  io.stderr:write(result.stderr)
  local file = assert(io.tmpfile())
  assert(file:write(result.stdout))
  file:seek "set"
  return M.stream(file, result.exit)
end

local Stream = {}

--- A file whose close gives the command's end, as a popen handle does.
function M.stream(file, exit)
  return setmetatable({ file = file, exit = exit }, Stream)
end

function Stream.__index(self, name)
  if name == "close" then
    return function()
      self.file:close()
      return results(self.exit)
    end
  end
  return function(_, ...)
    return self.file[name](self.file, ...)
  end
end

function Stream.__close(self)
  self.file:close()
end

local Exit = {}

function Exit.__tostring(value)
  return ("the script called os.exit(%s)%s"):format(value.status, value.place)
end

--- The status that a script asked for with os.exit; nil for other errors.
function M.exit_status(value)
  return getmetatable(value) == Exit and value.status or nil
end

--- As os.exit, through the script's <close> variables and the end of what it launched.
function M.exit(code)
  local status = code == nil and 0 or code == true and 0 or code == false and 1 or code
  local caller = debug.getinfo(2, "Sl")
  local place = caller and caller.currentline > 0 and " at %s:%d" or ""
  place = place:format(caller and caller.short_src, caller and caller.currentline)
  error(setmetatable({ status = status, place = place }, Exit), 0)
end

--- Puts these forms into the standard tables; a script cannot change the locale either.
function M.install()
  rawset(os, "execute", M.execute)
  rawset(os, "exit", M.exit)
  rawset(io, "popen", M.popen)
  rawset(os, "setlocale", function(locale)
    return locale == nil and "C" or nil
  end)
end

return M
