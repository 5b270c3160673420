-- SPDX-License-Identifier: Apache-2.0
--- The metrics that reports show, in their order: title, unit as printed, the factor from the
--- stored unit to it, and the difference that is too small to matter. docs/METRICS.md defines each.
local run_tiers = require "pairperf.run_tiers"

local MIB <const> = 1 / 1048576
local KIB <const> = 1 / 1024

-- Starting values, to be replaced by what an A/A comparison shows on the machine.
local CPU <const> = { rel = 0.05, abs = 0.5 }
local MEMORY <const> = { rel = 0.03, abs = 4 * 1048576 }
local SWITCHES <const> = { rel = 0.10, abs = 2 }
local BIRTHS <const> = { rel = 0.10, abs = 0.5 }
local WRITES <const> = { rel = 0.10, abs = 4096 }
local REQUEST <const> = { rel = 0.05, abs = 5 }
local PER_REQUEST <const> = { rel = 0.05, abs = 0 }
local READY <const> = { rel = 0.05, abs = 100 } -- readiness is polled every 100 ms
local NONE <const> = { rel = 0, abs = 0 }

---@class pairperf.MetricEntry
---@field name string as in summary.json
---@field title string
---@field unit string as printed
---@field scale number stored value to printed value
---@field tiers string[]? the headline of several tiers, the best first: NAME_cgroup and so on
---@field tier_of string? the metric whose tier it follows
---@field detail boolean? shown in the table of sources, not in the main one
---@field excluded boolean? shown only when components are excluded
---@field note string?
---@field margin {rel: number, abs: number} the larger of both counts; abs in the stored unit
---@field direction "lower"|"higher" which is better
---@field directional boolean? unvalidated: it gets no verdict, only lower, higher or unclear

---@type pairperf.MetricEntry[]
local M = {
  {
    name = "cpu_percent",
    margin = CPU,
    title = "CPU",
    unit = "% of one core",
    tiers = run_tiers.CPU,
  },
  {
    name = "cpu_percent_without_excluded",
    margin = CPU,
    title = "CPU without excluded components",
    unit = "% of one core",
    excluded = true,
  },
  {
    name = "cpu_percent_excluded",
    margin = CPU,
    title = "CPU of excluded components",
    unit = "% of one core",
    excluded = true,
  },
  {
    name = "rss_max_bytes",
    margin = MEMORY,
    title = "Resident memory, maximum",
    unit = "MiB",
    scale = MIB,
  },
  {
    name = "rss_mean_bytes",
    margin = MEMORY,
    title = "Resident memory, mean",
    unit = "MiB",
    scale = MIB,
  },
  {
    name = "footprint_max_bytes",
    margin = MEMORY,
    title = "Footprint, maximum",
    unit = "MiB",
    scale = MIB,
  },
  {
    name = "footprint_mean_bytes",
    margin = MEMORY,
    title = "Footprint, mean",
    unit = "MiB",
    scale = MIB,
  },
  {
    name = "pss_max_bytes",
    margin = MEMORY,
    title = "Proportional memory (PSS), maximum",
    unit = "MiB",
    scale = MIB,
  },
  {
    name = "pss_mean_bytes",
    margin = MEMORY,
    title = "Proportional memory (PSS), mean",
    unit = "MiB",
    scale = MIB,
  },
  {
    name = "uss_max_bytes",
    margin = MEMORY,
    title = "Private memory (USS), maximum",
    unit = "MiB",
    scale = MIB,
  },
  {
    name = "uss_mean_bytes",
    margin = MEMORY,
    title = "Private memory (USS), mean",
    unit = "MiB",
    scale = MIB,
  },
  {
    name = "footprint_pss_max_bytes",
    margin = MEMORY,
    title = "Footprint from PSS, maximum",
    unit = "MiB",
    scale = MIB,
  },
  {
    name = "footprint_pss_mean_bytes",
    margin = MEMORY,
    title = "Footprint from PSS, mean",
    unit = "MiB",
    scale = MIB,
  },
  {
    name = "swap_max_bytes",
    margin = MEMORY,
    title = "Swapped out, maximum",
    unit = "MiB",
    scale = MIB,
  },
  {
    name = "swap_mean_bytes",
    margin = MEMORY,
    title = "Swapped out, mean",
    unit = "MiB",
    scale = MIB,
  },
  {
    name = "voluntary_switches_per_second",
    margin = SWITCHES,
    title = "Voluntary context switches",
    unit = "per second",
  },
  {
    name = "involuntary_switches_per_second",
    margin = SWITCHES,
    title = "Involuntary context switches",
    unit = "per second",
  },
  {
    name = "wakeups_pkg_idle_per_second",
    margin = SWITCHES,
    title = "Package idle wakeups",
    unit = "per second",
  },
  {
    name = "wakeups_interrupt_per_second",
    margin = SWITCHES,
    title = "Interrupt wakeups",
    unit = "per second",
  },
  {
    name = "process_births_per_second",
    margin = BIRTHS,
    title = "Processes started",
    unit = "per second",
  },
  {
    name = "write_bytes_per_second",
    margin = WRITES,
    title = "Disk writes",
    unit = "KiB per second",
    scale = KIB,
    tiers = run_tiers.WRITES,
  },
  {
    name = "cancelled_write_bytes_per_second",
    margin = WRITES,
    title = "Cancelled disk writes",
    unit = "KiB per second",
    scale = KIB,
  },
  {
    name = "request_p50_ms",
    margin = REQUEST,
    title = "Request time, p50 of the run",
    unit = "ms",
  },
  {
    name = "request_max_ms",
    margin = REQUEST,
    title = "Request time, maximum of the run",
    unit = "ms",
  },
  {
    name = "ttft_p50_ms",
    margin = REQUEST,
    title = "Time to first token, p50 of the run",
    unit = "ms",
  },
  {
    name = "time_per_token_p50_ms",
    margin = PER_REQUEST,
    title = "Time per output token, p50 of the run",
    unit = "ms",
  },
  {
    name = "cpu_ms_per_request",
    margin = PER_REQUEST,
    title = "CPU per completed request",
    unit = "ms",
    tiers = run_tiers.CPU,
    tier_of = "cpu_percent",
  },
  {
    name = "cpu_ms_per_token",
    margin = PER_REQUEST,
    title = "CPU per output token",
    unit = "ms",
    tiers = run_tiers.CPU,
    tier_of = "cpu_percent",
  },
  { name = "time_to_ready_ms", margin = READY, title = "Time from launch to ready", unit = "ms" },
  {
    name = "billed_energy_per_second",
    margin = NONE,
    directional = true,
    title = "Kernel billed energy counter",
    unit = "raw per second",
    note = "units and attribution unvalidated; directional only",
  },
  {
    name = "process_births_unmet_per_second",
    margin = BIRTHS,
    title = "Processes started that no frame met",
    unit = "per second",
    detail = true,
  },
  {
    name = "cpu_percent_cgroup",
    margin = CPU,
    title = "CPU of the control group",
    unit = "% of one core",
    detail = true,
  },
  {
    name = "cpu_percent_conservation",
    margin = CPU,
    title = "CPU by conservation",
    unit = "% of one core",
    detail = true,
  },
  {
    name = "cpu_percent_observed",
    margin = CPU,
    title = "CPU as observed",
    unit = "% of one core",
    detail = true,
  },
  {
    name = "cpu_percent_unattributed",
    margin = CPU,
    title = "CPU that no component was seen using",
    unit = "% of one core",
    tiers = run_tiers.CPU,
    tier_of = "cpu_percent",
    detail = true,
  },
  {
    name = "write_bytes_per_second_conservation",
    margin = WRITES,
    title = "Disk writes by conservation",
    unit = "KiB per second",
    scale = KIB,
    detail = true,
  },
  {
    name = "write_bytes_per_second_observed",
    margin = WRITES,
    title = "Disk writes as observed",
    unit = "KiB per second",
    scale = KIB,
    detail = true,
  },
}

local WHOSE = {
  cgroup = "of the control group",
  conservation = "by conservation",
  observed = "as observed",
}

for _, what in ipairs { "request", "token" } do
  for _, tier in ipairs(run_tiers.CPU) do
    M[#M + 1] = {
      name = ("cpu_ms_per_%s_%s"):format(what, tier),
      margin = PER_REQUEST,
      title = ("CPU per %s, %s"):format(what, WHOSE[tier]),
      unit = "ms",
      detail = true,
    }
  end
end

for _, what in ipairs { "read", "write" } do
  M[#M + 1] = {
    name = what .. "_bytes_per_second_cgroup",
    margin = WRITES,
    title = ("Device %ss of the control group"):format(what),
    unit = "KiB per second",
    scale = KIB,
    detail = true,
  }
end

-- What is charged to the control group, by part.
local CHARGED = {
  { "current", "Charged memory" },
  { "anon", "Charged anonymous memory" },
  { "file", "Charged file memory" },
  { "shmem", "Charged shared memory" },
  { "kernel", "Charged kernel memory" },
  { "swap", "Charged swap" },
}

local function charged(name, title)
  M[#M + 1] = {
    name = ("cgroup_memory_%s_bytes"):format(name),
    margin = MEMORY,
    title = title,
    unit = "MiB",
    scale = MIB,
    detail = true,
  }
end

for _, part in ipairs(CHARGED) do
  charged(part[1] .. "_max", part[2] .. ", maximum")
  charged(part[1] .. "_mean", part[2] .. ", mean")
end
charged("peak", "Charged memory, highest since the start of the run")

for _, entry in ipairs(M) do
  entry.scale = entry.scale or 1
  entry.direction = entry.direction or "lower"
end

return M
