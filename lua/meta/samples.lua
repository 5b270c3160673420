---@meta pairperf.core.samples
-- SPDX-License-Identifier: Apache-2.0

--- samples.jsonl as tables of its frames, without their processes: those rows stay packed in C,
--- numbered from 1 in the order in which they were read. lua/pairperf/samples.lua uses it.
---@class pairperf.core.samples
local samples = {}

--- An empty store of rows.
---@return pairperf.Rows
---@nodiscard
function samples.open() end

---@class pairperf.Rows
local Rows = {}

---@class pairperf.RowAbout
---@field pid integer
---@field start pairperf.Decimal
---@field unique pairperf.Decimal
---@field identity integer its number
---@field start_ns integer?
---@field exe any as it is written
---@field escaped boolean
---@field missing table<string, string>? field -> why it has no reading

---@class pairperf.Range a frame, for one
---@field first_row integer
---@field last_row integer first_row - 1 when it has none

--- The frames of a file, `procs` replaced by first_row and last_row. JSON that is no such frame has
--- `stranger` = true. The list's `malformed` counts lines that are no JSON object or array, `torn`
--- says that the last line had no end.
---@param path string
---@return table[]? frames
---@return pairperf.Error? err codes: sys
function Rows:read(path) end

--- Drops all rows. A closed store is an empty one.
function Rows:close() end

--- Executables by number, as they are written: strings, {bytes_hex}, json.null. Not to be changed.
---@return any[]
function Rows:exes() end

--- The number of the identity in a table with pid, start and unique.
---@param row {pid: integer, start: pairperf.Decimal?, unique: pairperf.Decimal?}
---@return integer
function Rows:identity(row) end

--- A row as a table, without its readings.
---@param row integer
---@return pairperf.RowAbout
function Rows:about(row) end

--- Resident memory of those that hold any for themselves: the sum of what is known, nil without
--- any; and whether all of them are known.
---@param range pairperf.Range
---@return integer? bytes
---@return boolean complete
function Rows:resident(range) end

--- Whether a field is in none of the rows, and for no other reason than "unsupported"; and whether
--- some row gives that reason.
---@param range pairperf.Range
---@param field string a counter or a sum of bytes
---@return boolean nowhere
---@return boolean? unsupported
function Rows:nowhere(range, field) end

--- Whether in some row a thread had ended, or nothing says that none had.
---@param range pairperf.Range
---@return boolean
function Rows:threads_ended(range) end

--- Sets the numbers of the rows' identities in `set`.
---@param range pairperf.Range
---@param set table<integer, boolean>
function Rows:identities(range, set) end

--- Sets the rows in `map`, by pid.
---@param range pairperf.Range
---@param map table<integer, integer>
function Rows:pids(range, map) end

--- The rows that had a reading denied.
---@param range pairperf.Range
---@return integer[]
function Rows:denied(range) end

--- Goes on to the next pass: what its rows' counters gained since they were seen last, all of them
--- when they are new, nil where none is known; and the rows that show something new of an identity:
--- its first one, another executable, that it escaped.
---@param range pairperf.Range
---@return integer[] rows
---@return integer? switches
---@return integer? wakeups
function Rows:pass(range) end

--- The same for the exit record of a process, whose counters then begin anew.
---@param exit table
---@return integer identity
---@return integer? switches
---@return integer? wakeups
function Rows:ended(exit) end

--- The last pass that showed an identity, from 1; 0 for none.
---@param identity integer
---@return integer
function Rows:last_pass(identity) end

return samples
