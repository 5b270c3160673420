-- SPDX-License-Identifier: Apache-2.0
--- The totals of one run by their source, the best one as the run's headline, and what two sources
--- say of each other.
local cgroup_totals = require "pairperf.cgroup_totals"
local conserved = require "pairperf.conserved"
local measured = require "pairperf.measured"

local M = {}

--- Sources of a CPU total, the best first.
M.CPU = { "cgroup", "conservation", "observed" }

--- Sources of written bytes. The group's own io counter is none of them: it counts what reached a
--- device, the others what made pages dirty.
M.WRITES = { "conservation", "observed" }

-- From here on two CPU totals of one window disagree: above both.
local APART_SHARE <const> = 0.01
local APART_NS <const> = 30000000

-- A total as a metric: a value, or a partial figure when it is doubtful.
local function total_metric(unit, tier, total, elapsed_ns, scale)
  local figure = measured.rate(total.delta, elapsed_ns, scale)
  return measured.metric(unit, tier, {
    value = not total.doubt and figure or nil,
    partial = total.doubt and figure or nil,
    flags = total.flags,
    reason = total.reason or total.doubt or "no elapsed time",
    error = measured.rate(total.error_ns, elapsed_ns, scale),
  })
end

local function copy(list)
  return table.move(list, 1, #list, 1, {})
end

--- The best of a run's own sources with a value as NAME, else the last; a comparison takes the one
--- that all its runs have.
---@param metrics table<string, table>
---@param name string
---@param tiers string[]
function M.headline(metrics, name, tiers)
  for _, tier in ipairs(tiers) do
    metrics[name] = metrics[name .. "_" .. tier]
    if measured.known(metrics[name].value) then
      return
    end
  end
end

-- What the tree used and no component was seen using. An observed total has no such rest.
local function add_unattributed(metrics, components_percent)
  for _, tier in ipairs(M.CPU) do
    local total = metrics["cpu_percent_" .. tier]
    local there = measured.known(total.value)
    local reason = not there and total.reason or "no elapsed time"
    local value = there and components_percent and total.value - components_percent or nil
    if tier == "observed" then
      value, reason = nil, "an observed total is the sum of its components"
    end
    metrics["cpu_percent_unattributed_" .. tier] =
      measured.metric("%", tier, { value = value, flags = copy(total.flags), reason = reason })
  end
  M.headline(metrics, "cpu_percent_unattributed", M.CPU)
end

-- Two totals of the same work side by side; nil when one of them is none.
local function cross_check(group, by_conservation)
  if group.doubt or by_conservation.doubt or not (group.delta and by_conservation.delta) then
    return nil
  end
  local one, other = group.delta, by_conservation.delta
  local apart = math.abs(one - other)
  local share = apart / math.max(one, other, 1)
  return {
    cgroup_ns = one,
    conservation_ns = other,
    difference_ns = other - one,
    share = share,
    lower_bound = by_conservation.lower_bound,
    agrees = apart <= APART_NS or share <= APART_SHARE,
  }
end

local function add_writes(metrics, window, elapsed_ns, left)
  metrics.write_bytes_per_second_conservation =
    total_metric("B/s", "conservation", conserved.writes(window), elapsed_ns, 1e9)
  metrics.write_bytes_per_second_observed = metrics.write_bytes_per_second
  M.headline(metrics, "write_bytes_per_second", M.WRITES)
  for _, field in ipairs { "write_bytes", "read_bytes" } do
    if cgroup_totals.readable(window, field) then
      metrics[field .. "_per_second_cgroup"] =
        total_metric("B/s", "cgroup", cgroup_totals.gained(window, field, left), elapsed_ns, 1e9)
    end
  end
end

-- What was charged to the group; nothing where no frame could read it.
local function add_memory(metrics, window, left)
  for _, part in ipairs(cgroup_totals.PARTS) do
    local found = cgroup_totals.memory(window, part, left)
    for _, kind in ipairs(found and { "max", "mean" } or {}) do
      metrics[("cgroup_memory_%s_%s_bytes"):format(part, kind)] = measured.metric("B", "cgroup", {
        value = not found.doubt and found[kind] or nil,
        partial = found.doubt and found[kind] or nil,
        flags = found.doubt and { "incomplete" } or {},
        reason = found.doubt,
        passes = found.passes,
      })
    end
  end
  local peak = cgroup_totals.peak(window)
  if peak then
    metrics.cgroup_memory_peak_bytes = measured.metric("B", "cgroup", { value = peak })
  end
end

--- Adds every total by its source, and the headlines.
---@param metrics table<string, table> with what was observed
---@param input {records: table[], window: table[], elapsed_ns: integer, usage: table}
---@return table<string, integer> cpu_ns of the trusted totals by source
---@return table? cross_check
function M.add(metrics, input)
  local window, elapsed_ns = input.window, input.elapsed_ns
  local observed_ns = tonumber(input.usage.partial_totals.cpu_ns)
  local left = cgroup_totals.left(input.records, window)
  local group = cgroup_totals.gained(window, "cpu_ns", left)
  local by_conservation = conserved.cpu(window, observed_ns)
  metrics.cpu_percent_cgroup = total_metric("%", "cgroup", group, elapsed_ns, 100)
  metrics.cpu_percent_conservation =
    total_metric("%", "conservation", by_conservation, elapsed_ns, 100)
  M.headline(metrics, "cpu_percent", M.CPU)
  add_unattributed(metrics, input.usage.partial.cpu_percent_total)
  add_writes(metrics, window, elapsed_ns, left)
  add_memory(metrics, window, left)
  return {
    cgroup = not group.doubt and group.delta or nil,
    conservation = not by_conservation.doubt and by_conservation.delta or nil,
    observed = measured.known(metrics.cpu_percent_observed.value) and observed_ns or nil,
  },
    cross_check(group, by_conservation)
end

return M
