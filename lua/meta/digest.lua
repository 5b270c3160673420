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

return digest
