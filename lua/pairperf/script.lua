-- SPDX-License-Identifier: Apache-2.0
--- Finds and loads scenario and controller scripts in a guarded environment: reading an unknown
--- name or setting a global is an error that names the script's line.
local core = require "pairperf.core"
local embedded = require "pairperf.embedded"
local errors = require "pairperf.error"
local nearest = require "pairperf.nearest"
local run_view = require "pairperf.run_view"

local M = {}

---@type pairperf.Script? the one that the command line named
M.current = nil

---@class pairperf.Script
---@field path string as given, or the embedded name
---@field source string
---@field chunk string chunk name for messages
---@field absolute string the same from any directory, for hook processes

-- Scripts under this name are parts of others, not commands of their own.
local function builtin_name(file)
  return file:match("^scenarios/([%w_-]+)%.lua$")
end

--- Names of the built-in scripts, sorted.
---@return string[]
function M.builtins()
  local names = {}
  for _, file in ipairs(embedded.names()) do
    names[#names + 1] = builtin_name(file)
  end
  table.sort(names)
  return names
end

local function read_file(path)
  local file, message = io.open(path, "rb")
  local source = file and file:read("a")
  if file then
    file:close()
  end
  if not source then
    return errors.fail("invalid", "", message or path .. ": not a readable file")
  end
  return source
end

local function find_builtin(word)
  local source, chunk = embedded.get("scenarios/" .. word .. ".lua")
  if source then
    return { path = word, source = source, chunk = chunk, absolute = word }
  end
  local near = nearest(word, M.builtins())
  local hint = near and ("did you mean '%s'?"):format(near) or "--list names them all"
  return errors.fail(
    "invalid",
    word,
    "no built-in script has this name (a file needs / or .lua); " .. hint
  )
end

--- The script that a word of the command line names. A word with `/` or `.lua` is a file.
---@param word string
---@return pairperf.Script? script
---@return pairperf.Error? err
function M.find(word)
  if not word:find("/", 1, true) and not word:find("%.lua$") then
    return find_builtin(word)
  end
  local source, err = read_file(word)
  if not source then
    return nil, err
  end
  local absolute = word:sub(1, 1) == "/" and word or core.fs.getcwd() .. "/" .. word
  return { path = word, source = source, chunk = "@" .. word, absolute = absolute }
end

-- A cancellation, and what ends a run, go through a script's pcall: a script cannot swallow them.
local function ends_script(err)
  return errors.is_cancelled(err) or run_view.is_stop(err)
end

local function pass_on(ok, err, ...)
  if not ok and ends_script(err) then
    error(err, 0)
  end
  return ok, err, ...
end

local function guarded_pcall(f, ...)
  return pass_on(pcall(f, ...))
end

local function guarded_xpcall(f, handler, ...)
  return pass_on(xpcall(f, function(err)
    return ends_script(err) and err or handler(err)
  end, ...))
end

local function guarded()
  local environment = {}
  for _, name in ipairs {
    "assert",
    "collectgarbage",
    "error",
    "getmetatable",
    "ipairs",
    "next",
    "pairs",
    "pcall",
    "print",
    "rawequal",
    "rawget",
    "rawlen",
    "rawset",
    "require",
    "select",
    "setmetatable",
    "tonumber",
    "tostring",
    "type",
    "warn",
    "xpcall",
    "_VERSION",
    "coroutine",
    "debug",
    "io",
    "math",
    "os",
    "string",
    "table",
    "utf8",
  } do
    environment[name] = _G[name]
  end
  environment.pcall, environment.xpcall = guarded_pcall, guarded_xpcall
  environment.pairperf = require "pairperf"
  environment._G = environment
  return setmetatable(environment, {
    __index = function(_, name)
      error(("undefined name '%s'"):format(tostring(name)), 2)
    end,
    __newindex = function(_, name)
      error(("global '%s' is not allowed; write local"):format(tostring(name)), 2)
    end,
  })
end

local loading -- the script whose chunk runs now

local function leave(outer, ...)
  loading = outer
  return ...
end

--- Compiles a script. The chunk takes the words of its command line as `...`.
---@param script pairperf.Script
---@return function? chunk
---@return pairperf.Error? err syntax errors, with file and line
function M.load(script)
  local chunk, message = load(script.source, script.chunk, "t", guarded())
  if not chunk then
    return errors.fail("invalid", "load", message)
  end
  return function(...)
    local outer = loading
    loading = script
    return leave(outer, chunk(...))
  end
end

-- First line from `from` on that matches a pattern.
local function find_line(source, from, pattern)
  local line = 0
  for text in (source .. "\n"):gmatch "(.-)\n" do
    line = line + 1
    if line >= from and text:find(pattern) then
      return line
    end
  end
  return from
end

--- Where the script that runs now writes a field of a declaration. (A declaration is usually a
--- tail call, `return pairperf.scenario {…}`, of which the stack keeps no line.)
---@param call string "scenario" or "suite"
---@param field string?
---@return string place "FILE:LINE"
function M.place(call, field)
  if not loading then
    return "?"
  end
  local line = find_line(loading.source, 1, "pairperf%." .. call)
  if field then
    local name = "%f[%w_]" .. field:gsub("%W", "%%%0") .. "%f[^%w_]%s*="
    line = find_line(loading.source, line, name)
  end
  return ("%s:%d"):format(loading.chunk:gsub("^@", ""), line)
end

return M
