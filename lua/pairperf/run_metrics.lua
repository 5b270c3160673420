-- SPDX-License-Identifier: Apache-2.0
--- The metrics of one run from its window. Nothing that cannot be trusted is a value.
local core = require "pairperf.core"
local json = require "pairperf.json"
local measured = require "pairperf.measured"
local run_tiers = require "pairperf.run_tiers"
local stats = require "pairperf.stats"
local window_frames = require "pairperf.window_frames"

local M = {}

-- Linux stamps process starts in 10 ms ticks; macOS stamps are exact, and 10 ms more leniency there
-- could only take a process for newborn that was born within 10 ms before a frame that missed it.
local START_STEP_NS <const> = 10000000

local COUNTERS = {
  { field = "voluntary_switches", unit = "1/s", per_thread = true },
  { field = "involuntary_switches", unit = "1/s", per_thread = true },
  { field = "wakeups_pkg_idle", unit = "1/s" },
  { field = "wakeups_interrupt", unit = "1/s" },
  { field = "write_bytes", unit = "B/s" },
  { field = "cancelled_write_bytes", unit = "B/s" },
  { field = "billed_energy", unit = "raw/s" },
}

local MEMORY = {
  { field = "rss_bytes", name = "rss" },
  { field = "footprint_bytes", name = "footprint" },
  { field = "pss_bytes", name = "pss", pass = true },
  { field = "uss_bytes", name = "uss", pass = true },
  { field = "swap_bytes", name = "swap", pass = true },
  { field = "footprint_pss_bytes", name = "footprint_pss", pass = true },
}

local known, metric, or_null = measured.known, measured.metric, measured.or_null

local function sorted_copy(list)
  local copy = table.move(list, 1, #list, 1, {})
  table.sort(copy)
  return copy
end

-- ---------------------------------------------------------------- validity

local function times(window)
  local list = {}
  for i, entry in ipairs(window) do
    local f = entry.frame
    list[i] = { t_ns = f.t_ns, end_ns = f.end_ns, used_ns = f.used_ns, cont_ns = f.cont_ns }
  end
  return list
end

local function lateness(window)
  local late, missed, pass, dropped = {}, 0, {}, 0
  for i, entry in ipairs(window) do
    late[i] = entry.frame.t_ns - entry.frame.scheduled_ns
    pass[i] = entry.frame.end_ns - entry.frame.t_ns
    missed = missed + entry.frame.missed
    dropped = dropped + entry.exits_dropped
  end
  local s, p = stats.summary(late), stats.summary(pass)
  return missed,
    { median = or_null(s.median), max = or_null(s.max) },
    { median = or_null(p.median), max = or_null(p.max) },
    dropped
end

-- By how much the wall clock was set, at most from one frame to the next.
local function wall_step(window)
  local widest = 0
  for i = 2, #window do
    local before, now = window[i - 1].frame, window[i].frame
    local step = now.wall_ns - before.wall_ns - (now.cont_ns - before.cont_ns)
    widest = math.abs(step) > math.abs(widest) and step or widest
  end
  return widest
end

--- Is the window valid, and how well was its schedule kept?
---@param window table[]
---@param planned {interval_ns: integer, duration_ns: integer}
function M.validity(window, planned)
  local verdict = core.window.window_validity {
    frames = times(window),
    interval_ms = planned.interval_ns / 1e6,
    duration_s = planned.duration_ns / 1e9,
  }
  local missed, late, pass, dropped = lateness(window)
  return {
    valid = verdict.valid,
    reasons = json.array(verdict.reasons),
    warnings = json.array(verdict.warnings),
    elapsed_ns = or_null(verdict.elapsed_ns),
    frames = #window,
    missed = missed,
    lateness_ns = late,
    pass_ns = pass,
    exits_dropped = dropped,
    wall_step_ns = wall_step(window),
    start_ns = window[1] and window[1].frame.t_ns or json.null,
    end_ns = window[1] and window[#window].frame.t_ns or json.null,
  }
end

-- ---------------------------------------------------------------- counters

local function measured_counters(window, metrics)
  local names, specs = { "cpu_ns" }, {}
  for _, spec in ipairs(COUNTERS) do
    local nowhere = window_frames.nowhere(window, spec.field)
    if nowhere then
      metrics[spec.field .. "_per_second"] = metric(spec.unit, "observed", { reason = nowhere })
    else
      names[#names + 1] = spec.field
      specs[#specs + 1] = spec
    end
  end
  return names, specs
end

-- Flags that concern one counter, and why its total is not trusted.
local function flags_of(usage, counter)
  local flags = {}
  for _, flag in ipairs(usage.flags) do
    local name, about = flag:match "^([^:]*):?(.*)$"
    if about == "" or about == counter then
      flags[#flags + 1] = name
    end
  end
  return flags
end

-- Counters of threads: what one did between its last reading and its end is lost. Evidence that
-- does not say whether any ended is no proof that none did.
local function threads_ended(window)
  for _, entry in ipairs(window) do
    if window.rows:threads_ended(entry.frame) then
      return true
    end
    for _, exit in ipairs(entry.exits) do
      if exit.switches_lower_bound ~= false or not exit.final then
        return true
      end
    end
  end
  return false
end

local function observed(usage, key, counter, unit, lower_bound)
  local flags = flags_of(usage, counter)
  local reason = #flags > 0 and table.concat(flags, ", ") or "no elapsed time"
  flags[#flags + 1] = lower_bound and "lower_bound" or nil
  return metric(unit, "observed", {
    value = usage.value[key],
    partial = usage.partial[key],
    flags = flags,
    reason = reason,
  })
end

local function add_observed(metrics, usage, specs, window)
  local least = threads_ended(window)
  metrics.cpu_percent_observed = observed(usage, "cpu_percent_total", "cpu_ns", "%")
  metrics.cpu_percent_excluded = observed(usage, "cpu_percent_excluded", "cpu_ns", "%")
  metrics.cpu_percent_without_excluded =
    observed(usage, "cpu_percent_without_excluded", "cpu_ns", "%")
  for _, spec in ipairs(specs) do
    local key = spec.field .. "_per_second"
    metrics[key] = observed(usage, key, spec.field, spec.unit, spec.per_thread and least)
  end
end

-- ---------------------------------------------------------------- memory

local function whole_bytes(digits)
  return digits and math.tointeger(tonumber(digits))
end

local function add_memory(metrics, window, spec, components)
  local nowhere = window_frames.nowhere(window, spec.field, spec.pass)
  local input = window_frames.memory_input(window, spec.field, spec.pass or false)
  local passes = #input.frames
  if nowhere or passes == 0 then
    local absent = { reason = passes == 0 and "no_pass" or nowhere, passes = passes }
    metrics[spec.name .. "_max_bytes"] = metric("B", nil, absent)
    metrics[spec.name .. "_mean_bytes"] = metric("B", nil, absent)
    return
  end
  local m = core.window.memory(input)
  local reason = table.concat(m.flags, ", ")
  local function put(suffix, value, partial)
    metrics[spec.name .. suffix] = metric("B", nil, {
      value = value,
      partial = partial,
      flags = sorted_copy(m.flags),
      reason = reason,
      passes = passes,
    })
  end
  put("_max_bytes", whole_bytes(m.max), whole_bytes(m.partial.max))
  put("_mean_bytes", m.mean, m.partial.mean)
  for name, part in pairs(m.components) do
    local component = components[name] or {}
    component[spec.name .. "_max_bytes"] = or_null(whole_bytes(part.max))
    component[spec.name .. "_mean_bytes"] = or_null(part.mean)
    components[name] = component
  end
end

-- ---------------------------------------------------------------- births

--- How many processes there were in the window, as far as they were met.
function M.distinct(window)
  local seen, count = {}, 0
  for _, entry in ipairs(window) do
    window.rows:identities(entry.frame, seen)
    for _, exit in ipairs(entry.exits) do
      seen[window.rows:identity(exit)] = true
    end
  end
  for _ in pairs(seen) do
    count = count + 1
  end
  return count
end

-- Born between the two passes by the kernel's notices; nil and the reason.
local function born(first, last)
  for _, frame in ipairs { first, last } do
    local births = frame.births
    if not births or not known(births.count) then
      return nil, births and births.missing.count or "not_measured"
    end
  end
  return last.births.count - first.births.count
end

-- Of those present in the first frame nobody was born since.
local function met_since(window)
  local present, met = {}, 0
  window.rows:identities(window[1].frame, present)
  for _, exit in ipairs(window[1].exits) do
    present[window.rows:identity(exit)] = true
  end
  for _ in pairs(present) do
    met = met - 1
  end
  return met + M.distinct(window)
end

local function add_births(metrics, window, elapsed_ns)
  local count, reason = born(window[1].frame, window[#window].frame)
  -- Who is born during a pass is noticed in it and met by the next one.
  local unmet = count and math.max(0, count - met_since(window))
  local function put(name, value)
    metrics[name] = metric("1/s", nil, {
      value = value and measured.rate(value, elapsed_ns, 1e9),
      reason = reason or "no elapsed time",
    })
  end
  put("process_births_per_second", count)
  put("process_births_unmet_per_second", unmet)
end

-- ---------------------------------------------------------------- the whole

local IO = { write_bytes = true, cancelled_write_bytes = true }

-- Members' readings that were refused: {pid, field} once each. Refused writes of a process that
-- ended are none when who waited for it has them.
local function denied(window, usage_flags)
  local problems, seen = {}, {}
  local conserved_writes = window_frames.conserved_writes(window)
  local function note(pid, exe, what)
    local text = ("%s of pid %s (%s)"):format(what, pid, window_frames.component(exe))
    if not seen[text] then
      seen[text] = true
      problems[#problems + 1] = text
    end
  end
  local unreadable = table.concat(usage_flags, " "):find("unreadable", 1, true)
  for _, entry in ipairs(window) do
    for _, row in ipairs(entry.unseen) do
      note(row.pid, row.exe, ("%s (%s)"):format(row.failure.op, row.failure.status))
    end
    for _, row in ipairs(window.rows:denied(entry.frame)) do
      local proc = window.rows:about(row)
      for field, why in pairs(proc.missing) do
        local is_memory = field:find "_bytes$" and not field:find "write_bytes$"
        local closed = IO[field] and conserved_writes[proc.identity]
        if why == "denied" and not closed and (is_memory or unreadable) then
          note(proc.pid, proc.exe, ("%s (denied)"):format(field))
        end
      end
    end
  end
  table.sort(problems)
  return problems
end

local function void(metrics, window)
  for name, one in pairs(metrics) do
    local voided = {}
    for key, value in pairs(one) do
      voided[key] = value
    end
    if known(one.value) then
      voided.partial = one.value
      voided.value = json.null
      voided.reason = "window void: " .. table.concat(window.reasons, ", ")
    end
    metrics[name] = voided
  end
end

-- What a component was seen using is worth as much as the total of all that was seen.
local function distrust(components, metrics)
  for _, component in pairs(components) do
    for field in pairs(component) do
      if not known(measured.whole_of(metrics, field).value) then
        component[field] = json.null
      end
    end
  end
end

---@class pairperf.RunNumbers
---@field window table see M.validity
---@field metrics table<string, table>
---@field components table<string, table<string, number>>
---@field processes integer distinct ones in the window
---@field denied string[] readings of known members that were refused or failed
---@field cpu_ns table<string, integer> CPU over the window by tier, of trusted totals
---@field cross_check table? two CPU totals of the window side by side

--- Everything that the samples of one run say about its window.
---@param samples pairperf.Samples
---@param planned {interval_ns: integer, duration_ns: integer}
---@param excluded string[] components reported on their own
---@return pairperf.RunNumbers
function M.build(samples, planned, excluded)
  local window = window_frames.mark_unseen(window_frames.window(samples))
  local validity = M.validity(window, planned)
  local metrics, components = {}, {}
  if #window == 0 then
    return {
      window = validity,
      metrics = metrics,
      components = components,
      processes = 0,
      denied = {},
      cpu_ns = {},
    }
  end
  local names, specs = measured_counters(window, metrics)
  local input = window_frames.usage_input(window, names, START_STEP_NS)
  input.excluded = excluded
  local usage = core.window.window_usage(input)
  for name, percent in pairs(usage.components_cpu_percent) do
    components[name] = { cpu_percent = percent }
  end
  add_observed(metrics, usage, specs, window)
  local cpu_ns, cross_check = run_tiers.add(metrics, {
    records = samples,
    window = window,
    elapsed_ns = validity.elapsed_ns,
    usage = usage,
  })
  for _, spec in ipairs(MEMORY) do
    add_memory(metrics, window, spec, components)
  end
  add_births(metrics, window, validity.elapsed_ns)
  if not validity.valid then
    void(metrics, validity)
  end
  distrust(components, metrics)
  return {
    window = validity,
    metrics = metrics,
    components = components,
    processes = M.distinct(window),
    denied = denied(window, usage.flags),
    cpu_ns = cpu_ns,
    cross_check = cross_check,
  }
end

return M
