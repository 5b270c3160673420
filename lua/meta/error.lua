---@meta pairperf.core.error
-- SPDX-License-Identifier: Apache-2.0

--- What went wrong, as a value. Branch on `code`, never on the text. `tostring` gives
--- "op: detail: code (ERRNO)"; `..` works.
---@class pairperf.Error
---@field code pairperf.ErrorCode
---@field op string the failing step, for example "open"
---@field detail string what it was about, for example a path
---@field errno? string symbolic, for example "ENOENT"; nil when no system call failed

---@alias pairperf.ErrorCode
---| "sys" # a system call failed; errno says why
---| "denied" # the kernel refused
---| "vanished" # the process is gone
---| "stale" # the number now belongs to another process
---| "blocked" # a read did not return in time
---| "malformed" # bytes that do not parse
---| "unsupported" # this system does not have it
---| "enumeration" # a list could not be read in full
---| "unverified" # neither proven nor disproven
---| "overflow" # a sum left 64 bits
---| "regressed" # a counter fell
---| "again" # not yet
---| "closed" # the other end is gone
---| "timeout" # a deadline passed
---| "cancelled" # the user asked to stop
---| "refused" # policy says no
---| "invalid" # an argument is wrong
---| "exists" # it is already there
---| "nomem" # no memory, or a stated limit is reached
---| "protocol" # the peer does not speak our protocol

---@class pairperf.core.error
local error = {}

--- An error like those of the C modules.
---@param fields { code: pairperf.ErrorCode, op: string?, detail: string?, errno: string? }
---@return pairperf.Error
---@nodiscard
function error.new(fields) end

--- Is this value such an error?
---@param value any
---@return boolean
---@nodiscard
function error.is(value) end

return error
