---@meta pairperf.core.window
-- SPDX-License-Identifier: Apache-2.0

--- From the frames of one window to its numbers; docs/METRICS.md has the definitions. Counters and
--- bytes are Lua integers or strings of decimal digits, nil or json.null when missing; sums come
--- back as strings of digits. A number that cannot be trusted is nil beside a flag.
---@class pairperf.core.window
local window = {}

---@class pairperf.UsageRow one reading of one process in one frame; further fields are ignored
---@field pid integer
---@field start pairperf.Decimal? start token; default start_ns
---@field unique pairperf.Decimal?
---@field start_ns integer on the clock of start_clock_ns
---@field name string executable component
---@field unreadable boolean? nothing of it could be read
---@field missing table<string, string>? counter -> status; vanished and stale spoil no total

---@class pairperf.UsageInput
---@field frames {t_ns: integer, start_clock_ns: integer?, procs: pairperf.UsageRow[]}[]
---@field excluded string[] components reported on their own
---@field counters string[]? fields of the rows, cpu_ns first; default: that, wakeups, write_bytes
---@field start_step_ns integer? start stamps are rounded down to multiples of this
---@field rows pairperf.Rows? packed rows: each frame says its own, beside its `procs`
---@field names string[]? components of the packed rows, by executable
---@field closed table<integer, table>? exit records by identity: counters they have spoil no total

---@class pairperf.UsageResult
---@field flags string[] late_discovery, unreadable, counter_regressed:C, overflow:C, unreadable:C
---@field value table<string, number> trusted rates: cpu_percent_total, cpu_percent_excluded,
--- cpu_percent_without_excluded, C_per_second
---@field partial table<string, number> the same, trusted or not
---@field partial_totals table<string, string> sums of deltas by counter
---@field elapsed_ns integer
---@field components_cpu_percent table<string, number>

--- Deltas per process identity over a window: the `observed` tier.
---@param input pairperf.UsageInput
---@return pairperf.UsageResult? usage
---@return pairperf.Error? err codes: invalid, nomem
---@nodiscard
function window.window_usage(input) end

---@class pairperf.MemoryResult
---@field max string? nil with a flag
---@field mean number?
---@field flags string[] incomplete, overflow
---@field partial {frames: integer, max: string?, mean: number?} over the complete frames
---@field components table<string, {max: string?, mean: number?}>

---@class pairperf.MemoryInput
---@field frames {name: string, bytes: pairperf.Decimal?}[][] with packed rows: ranges, too
---@field rows pairperf.Rows? packed rows; those that hold no memory of their own are left out
---@field names string[]? components of the packed rows, by executable
---@field column string? the field of the packed rows

--- Per-frame sums, their maximum and mean.
---@param input pairperf.MemoryInput
---@return pairperf.MemoryResult? memory
---@return pairperf.Error? err codes: nomem
---@nodiscard
function window.memory(input) end

---@class pairperf.FrameTimes
---@field t_ns integer just before the first counter was read
---@field end_ns integer after the last
---@field used_ns integer when the frame was handed on
---@field cont_ns integer at t_ns, on the clock that counts sleep

---@class pairperf.WindowVerdict
---@field valid boolean
---@field reasons string[] they void the window
---@field warnings string[]
---@field elapsed_ns integer?

--- Whether the frames are a window, and every reason why not.
---@param input {frames: pairperf.FrameTimes[], interval_ms: number, duration_s: number}
---@return pairperf.WindowVerdict verdict
---@nodiscard
function window.window_validity(input) end

---@class pairperf.PolicyPass
---@field members {id: string, bytes: pairperf.Decimal?, escaped: boolean?}[]
---@field begin_ns integer
---@field end_ns integer
---@field used_ns integer when the sum is compared with the limit
---@field max_pass_ns integer
---@field max_age_ns integer

---@class pairperf.PolicySum
---@field usable boolean
---@field reasons string[]
---@field total string? only when usable
---@field known string? nil after overflow
---@field missing string[] ids of owned members without a reading
---@field escaped string[]

--- Whether a policy may compare the sum of one sampling pass with a limit.
---@param pass pairperf.PolicyPass
---@return pairperf.PolicySum sum
---@nodiscard
function window.policy_aggregate(pass) end

---@class pairperf.Until
---@field outcome "observed"|"right_censored"|"unobserved"
---@field low_ms number?
---@field high_ms number? nil: unbounded

--- When a condition ended after an event: between two samples, or not before the last one.
---@param input {samples: {t_ms: number, holds: boolean}[]}
---@return pairperf.Until when
---@nodiscard
function window.time_until(input) end

---@class pairperf.CensoredSummary
---@field n integer
---@field right_censored integer
---@field median_low_ms number?
---@field median_high_ms number? nil: unbounded
---@field max_low_ms number?
---@field max_high_ms number? nil: unbounded

--- Bounds on median and maximum of such results.
---@param input {results: pairperf.Until[]}
---@return pairperf.CensoredSummary? summary
---@return pairperf.Error? err codes: nomem
---@nodiscard
function window.censored_summary(input) end

return window
