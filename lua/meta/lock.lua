---@meta pairperf.core.lock
-- SPDX-License-Identifier: Apache-2.0

---@class pairperf.core.lock
local lock = {}

--- A lock that one process family of the machine holds; whoever inherits its descriptor holds it.
--- Linux: a listening abstract socket; macOS: flock on "/", or on the file that `name` names.
--- The error "exists" names who took it, where the system tells.
---@param name? string 1 to 100 bytes, default "pairperf-session"
---@return pairperf.Lock? lock
---@return pairperf.Error? err codes: exists, invalid, sys
---@nodiscard
function lock.acquire(name) end

---@class pairperf.Lock
local Lock = {}

--- Gives it up; again is harmless.
function Lock:close() end

--- Its descriptor, close-on-exec, to be handed to supervisors.
---@return integer
---@nodiscard
function Lock:fd() end

return lock
