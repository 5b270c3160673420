-- SPDX-License-Identifier: Apache-2.0
--- A short command under a supervisor of its own, for what it prints: it ends in bounded time,
--- nothing of it is left, and this process goes on serving the others meanwhile.
local child = require "pairperf.child"
local core = require "pairperf.core"
local waiting = require "pairperf.waiting"

local M = {}

local SLACK_S <const> = 10 -- beyond the limit, until its supervisor ends the command by itself

local count = 0

local function scratch_directory()
  count = count + 1
  local parent = os.getenv "TMPDIR" or "/tmp"
  local dir = ("%s/pairperf-command-%d-%d"):format(parent, core.process.getpid(), count)
  assert(core.fs.mkdir_exclusive(dir))
  return dir
end

local function remove(dir)
  for _, name in ipairs(core.fs.list(dir) or {}) do
    os.remove(dir .. "/" .. name)
  end
  os.remove(dir)
end

local function run(argv, options, dir)
  local started, problem = child.start({ run_dir = dir }, {
    path = argv[1],
    argv = argv,
    env = options.env or core.process.environment(),
    cwd = core.fs.getcwd(),
    output = "capture",
    stdout = "stdout",
    stderr = "stderr",
    cap_bytes = options.cap_bytes,
    track = false,
    lifetime_s = options.limit_s + SLACK_S,
  })
  if not started then
    return nil, problem
  end
  local _, err = waiting.wait(options.limit_s, function()
    return started:ended()
  end)
  local _, exit = started:ended()
  started:stop { first = "group", grace_s = 1 }
  started:close()
  if err then
    return nil, err
  end
  return {
    exit = exit,
    stdout = core.fs.read(dir .. "/stdout", options.cap_bytes) or "",
    stderr = core.fs.read(dir .. "/stderr", options.cap_bytes) or "",
  }
end

---@class pairperf.Captured
---@field exit {code: integer?, signal: string?}? nil: its supervisor was lost
---@field stdout string
---@field stderr string

--- Runs argv[1], an absolute path, in the current directory.
---@param argv string[]
---@param options {limit_s: number, cap_bytes: integer, env: string[]?} bytes kept of each output
---@return pairperf.Captured? result
---@return pairperf.Error? err codes: timeout, cancelled, or why it could not be started
function M.run(argv, options)
  local dir = scratch_directory()
  local ok, result, err = pcall(run, argv, options, dir)
  remove(dir)
  if not ok then
    error(result, 0)
  end
  return result, err
end

return M
