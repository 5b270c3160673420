---@meta pairperf.core.json
-- SPDX-License-Identifier: Apache-2.0

--- Canonical JSON, the one form of evidence: no spaces, keys sorted by their bytes, raw UTF-8,
--- exact integers, the shortest float of 15 to 17 digits that reads back, whatever the locale.
---@class pairperf.core.json
---@field null lightuserdata JSON's null
local json = {}

--- Tables are read raw. A table with the mark of `array`, or with the keys 1..n, is an array;
--- an empty table without the mark is {}; else all keys must be strings. A string that is not
--- UTF-8 becomes {"bytes_hex":"..."}. Refused are NaN, infinity, functions and the like, other
--- keys (invalid), keys that are not UTF-8 (malformed), and more than 100 levels (nomem).
---@param value any
---@return string? text
---@return pairperf.Error? err codes: invalid, malformed, nomem
---@nodiscard
function json.encode(value) end

--- Strict. Arrays get the mark, null becomes `json.null`. Numbers without fraction and exponent
--- are integers.
---@param text string
---@return any value
---@return pairperf.Error? err codes: malformed (also: duplicate keys, integers beyond 64 bits)
---@nodiscard
function json.decode(text) end

--- Marks a table as an array and returns it; without one, a new one.
---@generic T
---@param list? T[]
---@return T[]
---@nodiscard
function json.array(list) end

--- Has this value the mark of an array?
---@param value any
---@return boolean
---@nodiscard
function json.is_array(value) end

return json
