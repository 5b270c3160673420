-- SPDX-License-Identifier: Apache-2.0
--- The command line of A/B sessions: options, --help, --dry-run, then the session itself.
local core = require "pairperf.core"
local draft = require "pairperf.draft"
local dry_run = require "pairperf.dry_run"
local errors = require "pairperf.error"
local exit_status = require "pairperf.exit_status"
local help = require "pairperf.help"
local options = require "pairperf.options"
local preflight = require "pairperf.preflight"
local scenario = require "pairperf.scenario"
local session = require "pairperf.session"

local M = {}

local function usage_error(err)
  io.stderr:write("pairperf-lua: ", errors.text(err), "\n")
  return exit_status.USAGE
end

local function has(args, word)
  for _, one in ipairs(args) do
    if one == word then
      return true
    elseif one == "--" then
      return false
    end
  end
  return false
end

local function parse(suite, args)
  local entries, err = draft.entries(suite)
  if not entries then
    return nil, err
  end
  if has(args, "--help") then
    return { help = help.session(suite, entries) }
  end
  local parsed, failure = options.parse(entries, args)
  if parsed and #parsed.rest > 0 then
    return errors.fail(
      "invalid",
      "",
      ("'-- %s': a session takes no command"):format(parsed.rest[1])
    )
  end
  return parsed, failure
end

-- The whole command line as given, for the plan.
local function whole(script, args)
  return { core.process.exe_path(), script.path, table.unpack(args) }
end

--- Runs a scenario or suite with the words of its command line.
---@param value pairperf.Scenario|pairperf.Suite
---@param args string[]
---@param script pairperf.Script
---@return integer exit_status
function M.run(value, args, script)
  local suite = assert(scenario.as_suite(value), "a session needs a scenario or a suite")
  local parsed, err = parse(suite, args)
  if not parsed then
    return usage_error(err)
  elseif parsed.help then
    io.stdout:write(parsed.help)
    return exit_status.OK
  end
  local planned = draft.new(suite, parsed, script)
  preflight.examine(planned)
  if parsed.values["dry-run"] then
    return dry_run.show(planned)
  end
  return session.start(planned, whole(script, args))
end

return M
