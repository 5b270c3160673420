---@meta pairperf.core.manifest
-- SPDX-License-Identifier: Apache-2.0

---@class pairperf.core.manifest
local manifest = {}

---@class pairperf.Manifest
---@field json string canonical bytes, schema pairperf-manifest-1
---@field sha256 string of these bytes
---@field entries integer
---@field files integer regular files
---@field bytes integer their sizes summed

--- What a bundle, directory or single file holds: types, modes, sizes, digests, link targets; no
--- times, owners, extended attributes. Links are not followed, special files are not opened.
--- Anything unreadable is an error that names it; so is a file that changes meanwhile.
---@param root string
---@return pairperf.Manifest? manifest
---@return pairperf.Error? err codes: denied, sys, unverified, invalid
---@nodiscard
function manifest.build(root) end

return manifest
