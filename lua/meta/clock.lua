---@meta pairperf.core.clock
-- SPDX-License-Identifier: Apache-2.0

---@class pairperf.core.clock
local clock = {}

--- Nanoseconds: a clock that stops in sleep, one that does not, and the wall clock (display only).
---@return integer? t_ns
---@return integer|pairperf.Error cont_ns the error when t_ns is nil
---@return integer? wall_ns since the epoch
---@nodiscard
function clock.now() end

--- "2026-11-29T19:31:12Z"
---@param wall_ns integer
---@return string
---@nodiscard
function clock.utc(wall_ns) end

--- "20261129T193112Z"
---@param wall_ns integer
---@return string
---@nodiscard
function clock.compact_utc(wall_ns) end

return clock
