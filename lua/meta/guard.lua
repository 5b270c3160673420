---@meta pairperf.core.guard
-- SPDX-License-Identifier: Apache-2.0

--- What stands at a guarded path. Nothing is written, restored or deleted.
---@class pairperf.core.guard
local guard = {}

--- Facts by name: "type" ("absent", "file", "symlink"), "mode" (octal text), what lstat tells but
--- atime and ctime, "sha256" of a file and its "acl" where an access list says more than the mode,
--- "target" of a link and "referent.<fact>" of what it leads to.
---@alias pairperf.GuardSnapshot table<string, string|integer>

--- A directory or special file has no snapshot (unverified), nor has a file that changes meanwhile.
---@param path string
---@return pairperf.GuardSnapshot? snapshot
---@return pairperf.Error? err codes: denied, sys, unverified
---@nodiscard
function guard.snapshot(path) end

--- Names of the facts that differ or stand on one side only, sorted; none = unchanged.
---@param before pairperf.GuardSnapshot
---@param after pairperf.GuardSnapshot
---@return string[] names
---@nodiscard
function guard.differences(before, after) end

--- Could the effective user put something there? The kernel is asked about the directory, or its
--- nearest existing parent.
---@param path string
---@param options { confined_to: string[] }? could a command that is confined to these paths? A
---confined child tries, and leaves nothing
---@return { writable: boolean, directory: string }? answer
---@return pairperf.Error? err codes: unverified (no answer; to be taken as writable); confined
---also: unsupported, sys (one of the paths)
---@nodiscard
function guard.writable(path, options) end

--- Whether a command's writes can be confined here (Linux, Landlock).
---@return { abi: integer }? state
---@return pairperf.Error? err codes: unsupported (the detail says why)
---@nodiscard
function guard.confinement() end

return guard
