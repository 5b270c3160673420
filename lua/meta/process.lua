---@meta pairperf.core.process
-- SPDX-License-Identifier: Apache-2.0

--- Facts about this very process.
---@class pairperf.core.process
local process = {}

--- Is the signal ignored now?
---@param name string for example "SIGHUP"
---@return boolean? ignored
---@return pairperf.Error? err codes: sys
---@nodiscard
function process.signal_ignored(name) end

--- This system's number of a signal.
---@param name string
---@return integer
---@nodiscard
function process.signal_number(name) end

---@return integer
---@nodiscard
function process.getpid() end

---@return integer
---@nodiscard
function process.geteuid() end

--- Directory of the running executable, absolute.
---@return string? path
---@return pairperf.Error? err
---@nodiscard
function process.exe_dir() end

--- The running executable, absolute, links resolved.
---@return string? path
---@return pairperf.Error? err
---@nodiscard
function process.exe_path() end

--- The kernel's own name: "Linux", "Darwin".
---@return string? name
---@return pairperf.Error? err codes: sys
---@nodiscard
function process.system() end

---@param fd integer
---@return boolean
---@nodiscard
function process.is_terminal(fd) end

--- The environment as "K=V" strings.
---@return string[]
---@nodiscard
function process.environment() end

--- Which source this was built from; `id` must be equal in harness and supervisors.
---@return { version: string, commit: string, dirty: boolean, id: string }
---@nodiscard
function process.build() end

return process
