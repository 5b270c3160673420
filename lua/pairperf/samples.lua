-- SPDX-License-Identifier: Apache-2.0
--- The recorded frames of one run, whoever saved them. A frame is a table but for its processes:
--- they stay packed in `rows` (core.samples), and the frame says which of them are its own.
local core = require "pairperf.core"
local forms = require "pairperf.forms"

local M = {}

local FILES = { "samples.jsonl", "samples.supervisor.jsonl" }

---@class pairperf.Samples: table[]
---@field rows pairperf.Rows
---@field torn boolean the last line of a file had no end: it is dropped
---@field malformed integer whole lines that are no frame

local function is_frame(value)
  return math.type(value.seq) == "integer" and value.first_row ~= nil
end

local function append(samples, list, path)
  for _, frame in ipairs(list) do
    local _, err = forms.known(frame, path)
    if err then
      return err
    elseif is_frame(frame) then
      samples[#samples + 1] = frame
    else
      samples.malformed = samples.malformed + 1
    end
  end
  samples.malformed = samples.malformed + list.malformed
  samples.torn = samples.torn or list.torn
end

--- The frames of a run in the order of its files; none when it left none.
---@param run_dir string
---@return pairperf.Samples?
---@return pairperf.Error? err
function M.read(run_dir)
  local samples = { rows = core.samples.open(), torn = false, malformed = 0 }
  for _, name in ipairs(FILES) do
    local path = run_dir .. "/" .. name
    local list, err = samples.rows:read(path)
    if list then
      err = append(samples, list, path)
    elseif err.errno == "ENOENT" then
      err = nil
    end
    if err then
      return nil, err
    end
  end
  return samples
end

return M
