-- SPDX-License-Identifier: Apache-2.0
--- The entry point: command line in, exit status out.
local authority = require "pairperf.authority"
local command_line = require "pairperf.command_line"
local controller = require "pairperf.controller"
local core = require "pairperf.core"
local errors = require "pairperf.error"
local exit_status = require "pairperf.exit_status"
local help = require "pairperf.help"
local hook_file = require "pairperf.hook_file"
local sandboxed = require "pairperf.sandboxed"
local scenario = require "pairperf.scenario"
local script = require "pairperf.script"
local waiting = require "pairperf.waiting"

local function complain(value, status)
  io.stderr:write("pairperf-lua: ", errors.raised(value), "\n")
  return status
end

local function print_version()
  local build = core.process.build()
  print(("pairperf %s (build %s)"):format(build.version, build.id))
  return exit_status.OK
end

local function print_list()
  for _, name in ipairs(script.builtins()) do
    print(name)
  end
  return exit_status.OK
end

local function print_help()
  io.stdout:write(help.general())
  return exit_status.OK
end

local FIRST_WORDS = {
  ["--help"] = print_help,
  ["--version"] = print_version,
  ["--list"] = print_list,
  ["--run-hook"] = function(args)
    return hook_file.main(table.move(args, 2, #args, 1, {}))
  end,
}

local function find_script(word)
  if not word then
    return errors.fail(
      "invalid",
      "",
      "name a script first: pairperf-lua SCRIPT [options]; --help tells more"
    )
  elseif word:sub(1, 1) == "-" then
    return errors.fail(
      "invalid",
      "",
      ("'%s' comes too early: the script is the first word"):format(word)
    )
  end
  return script.find(word)
end

-- What a caught error means for the exit status.
local function status_of(raised)
  local asked = sandboxed.exit_status(raised)
  if asked then
    return asked
  elseif errors.is_cancelled(raised) then
    return complain(raised, exit_status.CANCELLED)
  elseif errors.is(raised) and (raised.code == "invalid" or raised.code == "refused") then
    return complain(raised, exit_status.USAGE)
  end
  return complain(raised, exit_status.INTERNAL)
end

-- The status of a controller script from what it returned.
local function controller_status(result)
  local status = result == nil and 0 or math.tointeger(result)
  if not status then
    return complain(
      "a script returns a scenario, a suite, an exit status or nothing",
      exit_status.INTERNAL
    )
  end
  return status
end

local function run_script(found, args)
  local chunk, err = script.load(found)
  if not chunk then
    return complain(err, exit_status.USAGE)
  end
  local ok, result = waiting.exposed(chunk, table.unpack(args))
  if ok and scenario.as_suite(result) then
    ok, result = xpcall(command_line.run, waiting.caught, result, args, found)
  end
  local left = controller.stop_all()
  if not ok then
    return status_of(result)
  elseif left > 0 then
    return complain("the script left applications running; they were stopped", exit_status.INTERNAL)
  end
  return controller_status(result)
end

local function main(args)
  local special = FIRST_WORDS[args[1]]
  if special then
    return special(args)
  end
  local found, err = find_script(args[1])
  if not found then
    return complain(err, exit_status.USAGE)
  end
  local rest = table.move(args, 2, #args, 1, {})
  script.current = found
  authority.read(rest)
  core.cancel.install()
  core.cancel.shield(true)
  sandboxed.install()
  return run_script(found, rest)
end

return main
