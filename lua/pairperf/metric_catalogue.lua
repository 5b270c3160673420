-- SPDX-License-Identifier: Apache-2.0
--- The metrics that reports show, in their order: title, unit as printed, and the factor from the
--- stored unit to it. docs/METRICS.md defines each.
local MIB <const> = 1 / 1048576
local KIB <const> = 1 / 1024

---@class pairperf.MetricEntry
---@field name string as in summary.json
---@field title string
---@field unit string as printed
---@field scale number stored value to printed value
---@field tiered boolean? the headline of several tiers, NAME_conservation and NAME_observed
---@field detail boolean? shown in the table of sources, not in the main one
---@field excluded boolean? shown only when components are excluded
---@field note string?

---@type pairperf.MetricEntry[]
local M = {
  { name = "cpu_percent", title = "CPU", unit = "% of one core", tiered = true },
  {
    name = "cpu_percent_without_excluded",
    title = "CPU without excluded components",
    unit = "% of one core",
    excluded = true,
  },
  {
    name = "cpu_percent_excluded",
    title = "CPU of excluded components",
    unit = "% of one core",
    excluded = true,
  },
  { name = "rss_max_bytes", title = "Resident memory, maximum", unit = "MiB", scale = MIB },
  { name = "rss_mean_bytes", title = "Resident memory, mean", unit = "MiB", scale = MIB },
  { name = "footprint_max_bytes", title = "Footprint, maximum", unit = "MiB", scale = MIB },
  { name = "footprint_mean_bytes", title = "Footprint, mean", unit = "MiB", scale = MIB },
  {
    name = "pss_max_bytes",
    title = "Proportional memory (PSS), maximum",
    unit = "MiB",
    scale = MIB,
  },
  { name = "pss_mean_bytes", title = "Proportional memory (PSS), mean", unit = "MiB", scale = MIB },
  { name = "uss_max_bytes", title = "Private memory (USS), maximum", unit = "MiB", scale = MIB },
  { name = "uss_mean_bytes", title = "Private memory (USS), mean", unit = "MiB", scale = MIB },
  {
    name = "footprint_pss_max_bytes",
    title = "Footprint from PSS, maximum",
    unit = "MiB",
    scale = MIB,
  },
  {
    name = "footprint_pss_mean_bytes",
    title = "Footprint from PSS, mean",
    unit = "MiB",
    scale = MIB,
  },
  { name = "swap_max_bytes", title = "Swapped out, maximum", unit = "MiB", scale = MIB },
  {
    name = "voluntary_switches_per_second",
    title = "Voluntary context switches",
    unit = "per second",
  },
  {
    name = "involuntary_switches_per_second",
    title = "Involuntary context switches",
    unit = "per second",
  },
  { name = "wakeups_pkg_idle_per_second", title = "Package idle wakeups", unit = "per second" },
  { name = "wakeups_interrupt_per_second", title = "Interrupt wakeups", unit = "per second" },
  {
    name = "write_bytes_per_second",
    title = "Disk writes",
    unit = "KiB per second",
    scale = KIB,
    tiered = true,
  },
  {
    name = "cancelled_write_bytes_per_second",
    title = "Cancelled disk writes",
    unit = "KiB per second",
    scale = KIB,
  },
  { name = "request_p50_ms", title = "Request time, p50 of the run", unit = "ms" },
  { name = "request_max_ms", title = "Request time, maximum of the run", unit = "ms" },
  { name = "ttft_p50_ms", title = "Time to first token, p50 of the run", unit = "ms" },
  { name = "time_per_token_p50_ms", title = "Time per output token, p50 of the run", unit = "ms" },
  { name = "cpu_ms_per_request", title = "CPU per completed request", unit = "ms" },
  { name = "cpu_ms_per_token", title = "CPU per output token", unit = "ms" },
  { name = "time_to_ready_ms", title = "Time from launch to ready", unit = "ms" },
  {
    name = "billed_energy_per_second",
    title = "Kernel billed energy counter",
    unit = "raw per second",
    note = "units and attribution unvalidated; directional only",
  },
  {
    name = "cpu_percent_conservation",
    title = "CPU by conservation",
    unit = "% of one core",
    detail = true,
  },
  {
    name = "cpu_percent_observed",
    title = "CPU as observed",
    unit = "% of one core",
    detail = true,
  },
  {
    name = "cpu_percent_unattributed",
    title = "CPU that no component was seen using",
    unit = "% of one core",
    detail = true,
  },
  {
    name = "write_bytes_per_second_conservation",
    title = "Disk writes by conservation",
    unit = "KiB per second",
    scale = KIB,
    detail = true,
  },
  {
    name = "write_bytes_per_second_observed",
    title = "Disk writes as observed",
    unit = "KiB per second",
    scale = KIB,
    detail = true,
  },
}

for _, entry in ipairs(M) do
  entry.scale = entry.scale or 1
end

return M
