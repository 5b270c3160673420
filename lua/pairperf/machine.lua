-- SPDX-License-Identifier: Apache-2.0
--- Whether the machine stands as a measurement wants it: judged from probes alone. --require turns
--- what does not hold into refusals, --settle waits for an idle machine; otherwise it is a remark
--- of the report.
local core = require "pairperf.core"
local json = require "pairperf.json"
local probes = require "pairperf.probes"
local waiting = require "pairperf.waiting"

local M = {}

local LOOK_S <const> = 1 -- CPU time is counted in ticks of 10 ms
M.BUSY_SHARE = 0.1 -- of all CPUs; above it the machine is not idle
local LOAD_PER_CPU <const> = 0.5

local function value_of(probe)
  local value = probe and probe.value
  return value ~= json.null and value or nil
end

local function each(values)
  return pairs(type(values) == "table" and values or {})
end

-- "2-5,7" -> 5
local function count_cpus(text)
  local count = 0
  for first, last in (text or ""):gmatch "(%d+)%-?(%d*)" do
    count = count + (last ~= "" and last - first or 0) + 1
  end
  return count > 0 and count or nil
end

--- Share of the CPUs' time that was not idle between two looks; nil when that is not told.
---@param before table? as probes.cpu_ticks() gives it
---@param after table?
---@return number?
function M.busy_share(before, after)
  local total = before and after and after.total - before.total or 0
  return total > 0 and (after.busy - before.busy) / total or nil
end

-- Waits a second; nil also when cancelled.
local function look()
  local before = probes.cpu_ticks()
  if not before or not waiting.pause(LOOK_S) then
    return nil
  end
  return M.busy_share(before, probes.cpu_ticks())
end

local function percent(share)
  return ("%.0f %%"):format(100 * share)
end

-- Each condition answers true, or false with what is found, or nil: it cannot be known.
local CONDITIONS = {
  idle = function(machine)
    local share = machine.busy_share()
    if not share then
      return nil
    end
    return share <= M.BUSY_SHARE,
      ("its CPUs are busy to %s, at most %s is idle"):format(percent(share), percent(M.BUSY_SHARE))
  end,
  ["ac-power"] = function(machine)
    local power = machine.now.power
    if power and power.source then -- as macOS tells it
      local source = value_of(power.source)
      return source and source == "AC Power", ("it draws from %s"):format(source)
    elseif not power or power.type.reason == "denied" then
      return nil
    end
    for name, status in each(value_of(power.status)) do
      if status == "Discharging" then
        return false, ("battery %s is discharging"):format(name)
      end
    end
    for name, kind in each(value_of(power.type)) do
      local online = value_of(power.online)
      if kind == "Mains" and online and online[name] == "0" then
        return false, ("power supply %s is off line"):format(name)
      end
    end
    return true -- no battery is told of: it has none
  end,
  ["performance-governor"] = function(machine)
    local governors = machine.now.frequency and value_of(machine.now.frequency.governor)
    if not governors then
      return nil
    end
    local list = table.concat(governors, ", ")
    return list == "performance", "the frequency governor is " .. list
  end,
  ["bare-metal"] = function(machine)
    local found = machine.static.virtualisation
    if not found or found.reason == "denied" or found.reason == "absent" then
      return nil
    end
    return found.value == json.null, "it is a virtual machine"
  end,
}

--- The names of all conditions.
---@return string[]
function M.names()
  local names = {}
  for name in pairs(CONDITIONS) do
    names[#names + 1] = name
  end
  table.sort(names)
  return names
end

local function required(values)
  local names = {}
  for _, text in ipairs(values.require or {}) do
    for name in (text .. ","):gmatch "%s*([^,]*),%s*" do
      names[#names + 1] = name
    end
  end
  return names
end

local function refusal(name, machine)
  local judge = CONDITIONS[name]
  if not judge then
    local known = table.concat(M.names(), ", ")
    return ("option '--require': '%s' is no condition; known are %s"):format(name, known)
  end
  local holds, found = judge(machine)
  if holds == nil then
    return ("option '--require': %s cannot be known on this machine"):format(name)
  elseif not holds then
    return ("option '--require': %s does not hold: %s"):format(name, found)
  end
end

--- Refuses what --require asks for and does not hold, or cannot be known.
---@param draft pairperf.Draft
---@param add fun(level: string, text: string)
---@param root string? prefix of /proc and /sys; for tests
---@param busy_share (fun(): number?)? for tests
function M.examine(draft, add, root, busy_share)
  local names = required(draft.values)
  if #names == 0 then
    return
  end
  local machine = {
    static = probes.static(root),
    now = probes.around_run(root),
    busy_share = busy_share or look,
  }
  for _, name in ipairs(names) do
    local text = refusal(name, machine)
    if text then
      add("refused", text)
    end
  end
end

--- What the probes before a run say against it, as sentences.
---@param before table? probes before the run
---@param static table? probes.json
---@return string[]
function M.remarks(before, static)
  local texts = {}
  if type(before) ~= "table" then
    return texts
  end
  local load = tonumber((tostring(value_of(before.load) or "")):match "^[%d.]+")
  local cpus = count_cpus(static and value_of(static.cpus_online))
  if load and cpus and load > LOAD_PER_CPU * cpus then
    texts[#texts + 1] = "the machine was not idle before the run: more than half a running or "
      .. "waiting task per CPU over the last minute"
  end
  for _, name in ipairs { "ac-power", "performance-governor" } do
    local holds, found = CONDITIONS[name] { now = before, static = static }
    if holds == false then
      texts[#texts + 1] = "before the run " .. found
    end
  end
  return texts
end

--- Waits until the machine is idle, at most `seconds`.
---@param seconds number
---@param busy_share (fun(): number?)? for tests
---@return table? settled {idle, waited_ns, busy_share}; idle is null where that cannot be known
---@return pairperf.Error? err code cancelled
function M.settle(seconds, busy_share)
  local began_ns = core.clock.now()
  local share
  repeat
    local left_s = seconds - (core.clock.now() - began_ns) / 1e9
    share = (busy_share or look)()
    local cancelled = waiting.cancelled()
    if cancelled then
      return nil, cancelled
    elseif not share then -- nothing to go by but the time
      local ok, err = waiting.pause(math.max(0, left_s))
      if not ok then
        return nil, err
      end
      break
    end
  until share <= M.BUSY_SHARE or left_s <= LOOK_S
  return {
    idle = share == nil and json.null or share <= M.BUSY_SHARE,
    busy_share = share or json.null,
    waited_ns = core.clock.now() - began_ns,
  }
end

return M
