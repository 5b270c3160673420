-- SPDX-License-Identifier: Apache-2.0
--- Reading append-only evidence back. A last line without its newline is a torn write: it is
--- dropped and said, however valid its beginning looks.
local core = require "pairperf.core"
local forms = require "pairperf.forms"

local M = {}

---@class pairperf.Records
---@field torn boolean the last line had no end
---@field malformed integer whole lines that do not parse

--- The values of a JSON Lines file, in order.
---@param path string
---@return (table[] | pairperf.Records)? records the list, with its marks as fields
---@return pairperf.Error? err
function M.read(path)
  local text, err = core.fs.read(path)
  if not text then
    return nil, err
  end
  local records = { torn = text ~= "" and text:sub(-1) ~= "\n", malformed = 0 }
  for line in text:gmatch "([^\n]*)\n" do
    local value = core.json.decode(line)
    local known
    known, err = forms.known(value, path)
    if err then
      return nil, err
    elseif type(known) == "table" then
      records[#records + 1] = value
    else
      records.malformed = records.malformed + 1
    end
  end
  return records
end

--- The same, but a file that is not there is an empty list.
---@return (table[] | pairperf.Records)? records
---@return pairperf.Error? err
function M.read_if_any(path)
  local records, err = M.read(path)
  if not records and err.errno == "ENOENT" then
    return { torn = false, malformed = 0 }
  end
  return records, err
end

return M
