-- SPDX-License-Identifier: Apache-2.0
--- Probes of a Linux machine, from files of /proc, /sys and /etc. Nothing that names this one
--- machine (serial numbers, host name) is read.
local core = require "pairperf.core"
local json = require "pairperf.json"
local probe = require("pairperf.probe").of

local M = {}

local open = io.open
local LIMIT <const> = 65536 -- bytes of one probe file
local OSTYPE <const> = "/proc/sys/kernel/ostype"
local ENTRIES <const> = 64 -- of one listed directory

local REASON = { [1] = "denied", [2] = "absent", [13] = "denied", [20] = "absent" }

-- The first bytes of a file, without trailing white space.
local function slurp(path)
  local file, message, code = open(path, "rb")
  if not file then
    return nil, REASON[code] or message
  end
  local text, problem = file:read(LIMIT)
  file:close()
  if not text or text:match "^%s*$" then
    return nil, problem or "empty"
  end
  return (text:gsub("%s+$", ""))
end

-- A file's content, or what `pick` finds in it.
local function file(root, path, pick)
  local text, reason = slurp(root .. path)
  local value = text
  if text and pick then
    value = pick(text)
    reason = "not in the file"
  end
  return probe(path, value, reason)
end

-- file() for every entry of a directory: {entry = value}; entries without an answer are left out.
local function each(root, dir, name, pattern)
  local entries, err = core.fs.list(root .. dir)
  if not entries then
    return probe(dir, nil, err.code == "denied" and "denied" or "absent")
  end
  local values, any = {}, false
  for i, entry in ipairs(entries) do
    if i <= ENTRIES and entry:match(pattern) then
      values[entry] = slurp(("%s%s/%s/%s"):format(root, dir, entry, name))
      any = any or values[entry] ~= nil
    end
  end
  return probe(("%s/*/%s"):format(dir, name), any and values or nil)
end

-- The distinct answers of all CPUs, for example {"performance"}.
local function distinct(found)
  if found.value == json.null then
    return found
  end
  local seen, list = {}, json.array {}
  for _, value in pairs(found.value) do
    if not seen[value] then
      seen[value] = true
      list[#list + 1] = value
    end
  end
  table.sort(list)
  found.value = list
  return found
end

local function line(name)
  return function(text)
    return text:match("%f[^\0\n]" .. name .. '%s*[:=]%s*"?([^"\n]*)')
  end
end

local function kibibytes(name)
  return function(text)
    local digits = text:match("%f[^\0\n]" .. name .. ":%s*(%d+) kB")
    return digits and math.tointeger(tonumber(digits)) * 1024
  end
end

local function hypervisor_flag(text)
  return text:match "\nflags[^\n]*%f[%w]hypervisor%f[%W]" and "hypervisor flag set" or nil
end

-- The value of every word that names a serial number or an identity, "serial=X": of this one
-- machine. "console=ttyS0" is none.
local NAMING = { "serial", "uuid", "machine_id", "password", "secret", "token" }

local function redacted(text)
  return (
    text:gsub("([^%s=]+)=([^%s]*)", function(name, value)
      local lower, hides = name:lower() .. "=" .. value:lower(), false
      for _, word in ipairs(NAMING) do
        hides = hides or lower:find(word, 1, true) ~= nil
      end
      return name .. "=" .. (hides and "[redacted]" or value)
    end)
  )
end

local CPU = "/sys/devices/system/cpu"

local function power(root)
  local dir = "/sys/class/power_supply"
  return {
    type = each(root, dir, "type", "."),
    online = each(root, dir, "online", "."),
    status = each(root, dir, "status", "."),
    capacity = each(root, dir, "capacity", "."),
    profile = file(root, "/sys/firmware/acpi/platform_profile"),
  }
end

local function frequency(root)
  return {
    governor = distinct(each(root, CPU .. "/cpufreq", "scaling_governor", "^policy")),
    energy_preference = distinct(
      each(root, CPU .. "/cpufreq", "energy_performance_preference", "^policy")
    ),
    boost = file(root, CPU .. "/cpufreq/boost"),
    no_turbo = file(root, CPU .. "/intel_pstate/no_turbo"),
    current_khz = each(root, CPU .. "/cpufreq", "scaling_cur_freq", "^policy"),
  }
end

local function thermal(root)
  return {
    zones = each(root, "/sys/class/thermal", "type", "^thermal_zone"),
    millidegrees = each(root, "/sys/class/thermal", "temp", "^thermal_zone"),
    throttle_count = file(root, CPU .. "/cpu0/thermal_throttle/core_throttle_count"),
    package_throttle_count = file(root, CPU .. "/cpu0/thermal_throttle/package_throttle_count"),
  }
end

local function pressure(root)
  return {
    cpu = file(root, "/proc/pressure/cpu"),
    memory = file(root, "/proc/pressure/memory"),
    io = file(root, "/proc/pressure/io"),
  }
end

-- Fields of the line "cpu" of /proc/stat, in ticks, by place.
local STEAL <const> = 8

local function cpu_fields(text)
  local fields = {}
  for digits in (text:match "^cpu (.-)\n" or ""):gmatch "%d+" do
    fields[#fields + 1] = math.tointeger(tonumber(digits))
  end
  return fields
end

--- Whether there is a Linux below this root.
---@param root string prefix of /proc, /sys and /etc; for tests
---@return boolean
function M.is_here(root)
  return slurp(root .. OSTYPE) == "Linux"
end

--- What does not change while the session runs.
---@param root string
---@return table<string, table>
function M.static(root)
  return {
    system = file(root, OSTYPE),
    os = file(root, "/etc/os-release", line "PRETTY_NAME"),
    kernel = file(root, "/proc/sys/kernel/osrelease"),
    kernel_build = file(root, "/proc/sys/kernel/version"),
    hardware_vendor = file(root, "/sys/class/dmi/id/sys_vendor"),
    hardware_model = file(root, "/sys/class/dmi/id/product_name"),
    cpu_model = file(root, "/proc/cpuinfo", line "model name"),
    hardware_tree = file(root, "/proc/device-tree/model"),
    cpus_online = file(root, CPU .. "/online"),
    smt = file(root, CPU .. "/smt/active"),
    memory_bytes = file(root, "/proc/meminfo", kibibytes "MemTotal"),
    swap_bytes = file(root, "/proc/meminfo", kibibytes "SwapTotal"),
    virtualisation = file(root, "/proc/cpuinfo", hypervisor_flag),
    hypervisor = file(root, "/sys/hypervisor/type"),
    boot_parameters = file(root, "/proc/cmdline", redacted),
    clocksource = file(root, "/sys/devices/system/clocksource/clocksource0/current_clocksource"),
    frequency = frequency(root),
  }
end

--- How the machine stands at this moment.
---@param root string
---@return table<string, table>
function M.around_run(root)
  return {
    load = file(root, "/proc/loadavg"),
    steal_ticks = file(root, "/proc/stat", function(text)
      return cpu_fields(text)[STEAL]
    end),
    pressure = pressure(root),
    memory_available_bytes = file(root, "/proc/meminfo", kibibytes "MemAvailable"),
    swap_free_bytes = file(root, "/proc/meminfo", kibibytes "SwapFree"),
    frequency = frequency(root),
    thermal = thermal(root),
    power = power(root),
  }
end

--- Time of all CPUs together so far, in ticks; nil where it is not told.
---@param root string
---@return {busy: integer, total: integer}?
function M.cpu_ticks(root)
  local text = slurp(root .. "/proc/stat")
  local fields = text and cpu_fields(text) or {}
  local total = 0
  for i = 1, math.min(#fields, STEAL) do -- guests' time is in user's
    total = total + fields[i]
  end
  if #fields < 5 then
    return nil
  end
  return { busy = total - fields[4] - fields[5], total = total } -- idle, and waiting for disks
end

return M
