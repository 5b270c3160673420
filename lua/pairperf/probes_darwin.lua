-- SPDX-License-Identifier: Apache-2.0
--- Probes of a Mac, from commands of the system that need no privilege, each with a time limit. Not
--- run on a Mac yet: the forms of the answers are those that are documented or reported.
local captured = require "pairperf.captured"
local core = require "pairperf.core"
local json = require "pairperf.json"
local probe = require("pairperf.probe").of

local M = {}

local SW_VERS <const> = "/usr/bin/sw_vers"
local SYSCTL <const> = "/usr/sbin/sysctl"
local PMSET <const> = "/usr/bin/pmset"
local VM_STAT <const> = "/usr/bin/vm_stat"
local PROFILER <const> = "/usr/sbin/system_profiler"
local LIMITS = { limit_s = 10, cap_bytes = 65536, env = { "LC_ALL=C", "PATH=/usr/bin:/usr/sbin" } }
local DISPLAY_LIMITS = { limit_s = 30, cap_bytes = 1 << 20, env = LIMITS.env }

-- Why a command gave no answer.
local function failure(result, err)
  if err then
    return (err.code == "timeout" or err.code == "cancelled") and err.code or tostring(err)
  elseif not result.exit or result.exit.code ~= 0 then
    return "the command failed"
  end
  return "empty"
end

-- What a command printed, without trailing white space; and its source.
local function answer(root, limits, ...)
  local argv = { ... }
  local source = table.concat(argv, " ")
  argv[1] = root .. argv[1]
  local result, err = captured.run(argv, limits)
  local text = result and result.stdout:gsub("%s+$", "") or ""
  return source, text ~= "" and text or nil, text == "" and failure(result, err) or nil
end

-- A command's answer, or what `pick` finds in it: a value, or nil and why not.
local function command(root, pick, ...)
  local source, text, reason = answer(root, LIMITS, ...)
  if text and pick then
    text, reason = pick(text)
  end
  return probe(source, text, reason)
end

-- One question for many names; those that this machine does not know are absent.
local function sysctl(root, names)
  local _, text, reason = answer(root, LIMITS, SYSCTL, table.unpack(names))
  local values = {}
  for name, value in ((text or "") .. "\n"):gmatch "([%w_.]+): ([^\n]*)\n" do
    values[name] = value
  end
  return function(name, pick)
    local value, why = values[name], text and "absent" or reason
    if value and pick then
      value, why = pick(value)
    end
    return probe(SYSCTL .. " " .. name, value, why)
  end
end

local function integer(text)
  return math.tointeger(tonumber(text)), "no number"
end

-- "10" -> "0-9", as Linux tells it
local function cpu_range(text)
  local count = integer(text)
  return count and ("0-%d"):format(count - 1), "no number"
end

local function virtual(text)
  if text == "1" then
    return "a hypervisor is present"
  end
  return nil, "no hypervisor is present"
end

-- "{ 1.52 1.60 1.70 }"
local function unbraced(text)
  return text:match "^{%s*(.-)%s*}$" or text
end

local function power_source(text)
  return text:match "Now drawing from '([^']*)'", "not in the answer"
end

-- The battery's line may hold an id of this one machine.
local function without_ids(text)
  return (text:gsub("%(id=[^)]*%)", "(id=[redacted])"))
end

-- "No thermal warning level has been recorded" is said while a machine throttles, too.
local function thermal_notes(text)
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    if line ~= "" and not line:match "No .* recorded" then
      return text
    end
  end
  return nil, "nothing was recorded, which does not mean that nothing happened"
end

local SHOWN = {
  _name = "name",
  spdisplays_connection_type = "connection",
  spdisplays_main = "main",
  spdisplays_mirror = "mirror",
  spdisplays_online = "online",
  _spdisplays_pixels = "pixels",
  _spdisplays_resolution = "resolution",
}

-- What is shown of each display; whatever else is said of it may name this one machine.
local function displays(text)
  local tree = json.decode(text)
  local cards = type(tree) == "table" and tree.SPDisplaysDataType
  if type(cards) ~= "table" then
    return nil, "unparsed"
  end
  local list = json.array {}
  for _, card in ipairs(cards) do
    for _, one in ipairs(card.spdisplays_ndrvs or {}) do
      local shown = {}
      for key, name in pairs(SHOWN) do
        shown[name] = one[key]
      end
      list[#list + 1] = shown
    end
  end
  if #list == 0 then
    return nil, "no display is attached"
  end
  return list
end

local function display(root)
  local source, text, reason =
    answer(root, DISPLAY_LIMITS, PROFILER, "-json", "-timeout", "20", "SPDisplaysDataType")
  if text then
    text, reason = displays(text)
  end
  return { displays = probe(source, text, reason) }
end

--- Whether there is a macOS below this root.
---@param root string prefix of the commands; for tests
---@return boolean
function M.is_here(root)
  return core.fs.stat(root .. SW_VERS) ~= nil
end

--- What does not change while the session runs.
---@param root string
---@return table<string, table>
function M.static(root)
  local known = sysctl(root, {
    "kern.ostype",
    "kern.osrelease",
    "kern.version",
    "kern.boottime",
    "kern.hv_vmm_present",
    "hw.model",
    "hw.memsize",
    "hw.ncpu",
    "hw.nperflevels",
    "hw.perflevel0.name",
    "hw.perflevel0.physicalcpu",
    "hw.perflevel1.name",
    "hw.perflevel1.physicalcpu",
    "hw.tbfrequency",
    "machdep.cpu.brand_string",
  })
  return {
    system = known "kern.ostype",
    os = command(root, nil, SW_VERS, "-productVersion"),
    os_build = command(root, nil, SW_VERS, "-buildVersion"), -- has no compatible form
    kernel = known "kern.osrelease",
    kernel_build = known "kern.version",
    boot_time = known "kern.boottime",
    hardware_model = known "hw.model",
    cpu_model = known "machdep.cpu.brand_string",
    cpus_online = known("hw.ncpu", cpu_range),
    performance_levels = {
      count = known("hw.nperflevels", integer),
      level0 = known "hw.perflevel0.name",
      level0_cpus = known("hw.perflevel0.physicalcpu", integer),
      level1 = known "hw.perflevel1.name",
      level1_cpus = known("hw.perflevel1.physicalcpu", integer),
    },
    memory_bytes = known("hw.memsize", integer),
    timebase_hz = known("hw.tbfrequency", integer),
    virtualisation = known("kern.hv_vmm_present", virtual),
    display = display(root),
  }
end

--- How the machine stands at this moment.
---@param root string
---@return table<string, table>
function M.around_run(root)
  local known = sysctl(root, {
    "vm.loadavg",
    "vm.swapusage",
    "kern.memorystatus_vm_pressure_level",
    "kern.waketime",
  })
  local source, battery, reason = answer(root, LIMITS, PMSET, "-g", "batt")
  local drawing, problem
  if battery then
    drawing, problem = power_source(battery)
  end
  return {
    load = known("vm.loadavg", unbraced),
    swap = known "vm.swapusage",
    memory = command(root, nil, VM_STAT),
    pressure = { memory_level = known("kern.memorystatus_vm_pressure_level", integer) },
    wake_time = known "kern.waketime",
    thermal = { notes = command(root, thermal_notes, PMSET, "-g", "therm") },
    power = {
      source = probe(source, drawing, problem or reason),
      battery = probe(source, battery and without_ids(battery), reason),
      modes = command(root, nil, PMSET, "-g", "custom"),
    },
    display = display(root),
  }
end

return M
