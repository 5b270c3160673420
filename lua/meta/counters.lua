---@meta pairperf.core.counters
-- SPDX-License-Identifier: Apache-2.0

--- Exact arithmetic on kernel counters. Arguments are Lua integers or strings of decimal digits, so
--- that values above 2^63-1 pass; results of 64 bits are strings of digits. A value that does not
--- exist is nil. Unknown fields and wrong types raise.
---@class pairperf.core.counters
local counters = {}

---@alias pairperf.Decimal integer|string unsigned 64-bit

--- What a counter advanced. A fall is a regression, never a wrap.
---@param step {prev: pairperf.Decimal, next: pairperf.Decimal}
---@return {delta: string?, as_double: number?, regressed: boolean}
---@nodiscard
function counters.counter_delta(step) end

--- floor(ticks * numer / denom) nanoseconds, without overflow on the way.
---@param time {ticks: pairperf.Decimal, numer: integer, denom: integer}
---@return {ns: string?, overflow: boolean}
---@nodiscard
function counters.ticks_to_ns(time) end

--- A delta per second, and in percent of one core when it is CPU nanoseconds; both nil without a
--- positive duration.
---@param over {delta: pairperf.Decimal, elapsed_ns: integer}
---@return {per_second: number?, cpu_percent_of_core: number?}
---@nodiscard
function counters.rate(over) end

return counters
