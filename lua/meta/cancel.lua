---@meta pairperf.core.cancel
-- SPDX-License-Identifier: Apache-2.0

--- SIGINT, SIGTERM and SIGHUP (unless ignored at start) as a request to stop.
---@class pairperf.core.cancel
local cancel = {}

--- Installs the handlers, and a hook that raises the error "cancelled" in a running script once a
--- signal came. Coroutines made afterwards have the hook, too.
---@return true? ok
---@return pairperf.Error? err codes: sys
function cancel.install() end

--- The first signal, the number of all, and when the first came on the clock of clock.now().
---@return { signal: string, count: integer, t_ns: integer }? request nil = none came
---@nodiscard
function cancel.requested() end

--- While shielded (cleaning up) nothing is interrupted; the request stays.
---@param on boolean
function cancel.shield(on) end

--- Calls `f` every few thousand instructions unless shielded; its error ends what runs. nil ends
--- the calls.
---@param f fun()?
function cancel.watch(f) end

return cancel
