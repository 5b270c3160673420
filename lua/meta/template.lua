---@meta pairperf.core.template
-- SPDX-License-Identifier: Apache-2.0

---@class pairperf.core.template
local template = {}

---@class pairperf.Template
---@field entries integer
---@field bytes integer sizes of its files
---@field sha256 string of its manifest

--- May this tree serve as a template? Symlinks, devices, sockets and FIFOs are all named.
---@param directory string
---@return pairperf.Template? found
---@return pairperf.Error? err codes: refused, invalid, and those of manifest.build
---@nodiscard
function template.check(directory) end

--- Checks it, copies what it holds into an existing directory with modes, times and holes, and
--- checks that it is still what it was.
---@param directory string
---@param home string
---@return pairperf.Template? copied
---@return pairperf.Error? err as above, exists, unverified (the template changed)
function template.copy(directory, home) end

return template
