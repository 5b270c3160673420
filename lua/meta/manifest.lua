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

---@class pairperf.ManifestProgress
---@field files_done integer
---@field files integer
---@field bytes_done integer
---@field bytes integer? of all files, once they are known

---@class pairperf.ManifestOptions
---Called about ten times a second, and when a signal came; an error in it ends the hashing and is
---raised.
---@field progress fun(progress: pairperf.ManifestProgress)?

--- What a bundle, directory or single file holds: types, modes, sizes, digests, link targets; no
--- times, owners, extended attributes. Links are not followed, special files are not opened.
--- Anything unreadable is an error that names it; so is a file that changes meanwhile. Every file
--- is read each time, by several threads; a signal that asks to stop ends it.
---@param root string
---@param options pairperf.ManifestOptions?
---@return pairperf.Manifest? manifest
---@return pairperf.Error? err codes: denied, sys, unverified, invalid, cancelled, overflow
---@nodiscard
function manifest.build(root, options) end

return manifest
