---@meta pairperf.core.digest
-- SPDX-License-Identifier: Apache-2.0

--- SHA-256 as 64 lowercase hex digits.
---@class pairperf.core.digest
local digest = {}

--- Of the regular file that the path leads to, links followed. Invalid is what is no such
--- file, unverified one that changed while it was read.
---@param path string
---@return string? hex
---@return pairperf.Error? err codes: sys, denied, invalid, unverified
---@nodiscard
function digest.file(path) end

--- Of a string.
---@param bytes string
---@return string? hex
---@return pairperf.Error? err codes: nomem, sys (libcrypto refused)
---@nodiscard
function digest.bytes(bytes) end

--- The first digits of the digest of every line, its end included, one after the other.
---@param bytes string
---@param digits integer 1 to 64
---@return string? hex
---@return pairperf.Error? err codes: nomem, sys (libcrypto refused)
---@nodiscard
function digest.lines(bytes, digits) end

--- The same for the lines of a file, which is read once and not held in memory; and its own.
---@param path string
---@param digits integer
---@return string? lines
---@return string|pairperf.Error hex of the whole file; err codes: nomem, sys
---@return integer size of what was read
---@nodiscard
function digest.file_lines(path, digits) end

return digest
