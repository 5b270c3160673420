---@meta pairperf.core.sweep
-- SPDX-License-Identifier: Apache-2.0

---@class pairperf.core.sweep
local sweep = {}

--- From now on orphans below this process become its children. Again is harmless.
---@return true? ok
---@return pairperf.Error? err codes: unsupported (macOS), sys
function sweep.prepare() end

---@class pairperf.SweepOrder
---@field members? {pid: integer, start: integer, unique: integer}[] identities seen before
---@field groups? integer[] process groups of the lost tree
---@field assignment? string "NAME=value" in the environment that it was started with
---@field leaf? string the lost tree's own cgroup: all in it are ended, and it is removed
---@field limit_s? number default 2

---@class pairperf.Swept
---@field pid integer
---@field start integer
---@field unique integer
---@field pgid integer
---@field exe string
---@field outcome "gone"|"alive"|"stranger"|"unverified" the last could not be looked at: exe
---  "[unread]", and 0 for start, unique and pgid

--- Ends by SIGKILL what a lost supervisor left to this process and the order names; other adopted
--- processes are listed as strangers and left alone, children of this process's own group are not
--- even listed.
---@param order pairperf.SweepOrder
---@return pairperf.Swept[] met
---@return pairperf.Error? err codes: unsupported (macOS), timeout, enumeration, nomem, sys
function sweep.run(order) end

return sweep
