---@meta pairperf.core.template
-- SPDX-License-Identifier: Apache-2.0

---@class pairperf.core.template
local template = {}

---@class pairperf.Template
---@field entries integer
---@field bytes integer sizes of its files
---@field sha256 string of its manifest

--- May this tree serve as a template? A signal ends the hashing (`cancelled`).
---@param directory string
---@return pairperf.Template? found
---@return pairperf.Error? err codes: refused (it names some, `rejects` all), invalid, and those of
---  manifest.build
---@nodiscard
function template.check(directory) end

---@class pairperf.TemplateReject
---@field path string relative to the template
---@field type "symlink"|"fifo"|"socket"|"char"|"block"|"unknown"

--- All that no home may start with, by path; nothing is read but the lists of names.
---@param directory string
---@return pairperf.TemplateReject[]? rejects
---@return pairperf.Error? err codes: invalid, and those of manifest.build
---@nodiscard
function template.rejects(directory) end

--- Checks it, copies what it holds into an existing directory with modes, times and holes, and
--- checks that it is still what it was. A signal ends it (`cancelled`); what was made stays.
---@param directory string
---@param home string
---@return pairperf.Template? copied
---@return pairperf.Error? err as above, exists, unverified (the template changed)
function template.copy(directory, home) end

return template
