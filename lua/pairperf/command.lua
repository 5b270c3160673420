-- SPDX-License-Identifier: Apache-2.0
--- The commands of hooks, checks and cmd: readiness, resolved before the first launch. Split as a
--- shell splits quotes, without a shell; programs are absolute, since they run in the sandbox.
local core = require "pairperf.core"
local errors = require "pairperf.error"
local hook_file = require "pairperf.hook_file"

local M = {}

---@class pairperf.Command
---@field path string program
---@field argv string[]
---@field text string as it was written

local function refuse(what, text, reason)
  return errors.fail("refused", what, ("'%s' %s"):format(text, reason))
end

local function check_program(what, path)
  if path:sub(1, 1) ~= "/" then
    return refuse(
      what,
      path,
      "is a relative program; give an absolute path (it runs in the sandbox)"
    )
  end
  local entry, err = core.fs.stat(path)
  if not entry then
    return refuse(what, path, "is missing or unreadable: " .. (err.errno or err.code))
  elseif entry.type ~= "file" then
    return refuse(what, path, "is a " .. entry.type .. ", not a program")
  end
  return entry
end

local function program(what, words, text)
  local ok, err = check_program(what, words[1])
  if not ok then
    return nil, err
  end
  ok, err = core.fs.access_exec(words[1])
  if not ok then
    return refuse(what, words[1], "is not executable: " .. (err.errno or err.code))
  end
  return { path = words[1], argv = words, text = text }
end

-- The --lua-path options that this harness was started with, for the same modules in the hook.
local function lua_paths()
  local words = {}
  for directory in package.path:gmatch "([^;]+)/%?%.lua" do
    table.move({ "--lua-path", directory }, 1, 2, #words + 1, words)
  end
  return words
end

local function lua_command(file, name, arguments, text)
  local exe = core.process.exe_path()
  local argv = { exe }
  table.move(lua_paths(), 1, 64, 2, argv)
  table.move({ "--run-hook", file, name }, 1, 3, #argv + 1, argv)
  argv[#argv + 1] = "--"
  table.move(arguments, 1, #arguments, #argv + 1, argv)
  return { path = exe, argv = argv, text = text }
end

local function lua_file(what, words, text)
  local entry, err = check_program(what, words[1])
  if not entry then
    return nil, err
  end
  local hook, failure = hook_file.load(words[1])
  if not hook then
    return nil, failure
  end
  return lua_command(words[1], nil, table.move(words, 2, #words, 1, {}), text)
end

local function named(what, name, arguments, source)
  local hook = source.hooks and source.hooks[name]
  if not hook then
    return refuse(what, name, "is no hook of " .. source.path)
  end
  local ok, err = hook_file.check(hook, name)
  if not ok then
    return nil, err
  end
  local text = table.concat({ "lua:" .. name, table.unpack(arguments) }, " ")
  return lua_command(source.path, name, arguments, text)
end

local function from_words(what, words, text, source)
  local first = words[1]
  if not first or first == "" then
    return refuse(what, text, "names no program")
  elseif first:match("^lua:") then
    return named(what, first:sub(5), table.move(words, 2, #words, 1, {}), source)
  elseif first:match("%.lua$") then
    return lua_file(what, words, text)
  end
  return program(what, words, text)
end

--- Resolves and checks one command.
---@param what string the option or field, for messages
---@param spec string|table|function text; {program, arg…}; {hook = NAME, args = {…}};
--- or a function of the scenario's options that returns one of these
---@param source {path: string, hooks: table?, options: table} the scenario file
---@return pairperf.Command? command
---@return pairperf.Error? err code refused
function M.resolve(what, spec, source)
  if type(spec) == "function" then
    spec = spec(source.options)
  end
  if type(spec) == "string" then
    local words, err = core.argv.split(spec)
    if not words then
      return refuse(what, spec, "cannot be split into words: " .. err.detail)
    end
    return from_words(what, words, spec, source)
  elseif type(spec) == "table" and spec.hook then
    return named(what, spec.hook, spec.args or {}, source)
  elseif type(spec) == "table" then
    return from_words(what, spec, table.concat(spec, " "), source)
  end
  return refuse(what, tostring(spec), "is no command")
end

return M
