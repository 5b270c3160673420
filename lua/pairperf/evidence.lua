-- SPDX-License-Identifier: Apache-2.0
--- The harness's own evidence: one event per line, appended; files that appear whole. A failed
--- write is remembered and fails the run, but never stops a shutdown.
local core = require "pairperf.core"

local M = {}

local SCHEMA = "pairperf-event-1"

---@class pairperf.Events
---@field error pairperf.Error? the first write that failed
---@field unsaved string lines that could not be written yet; the next event takes them along
local Events = {}
Events.__index = Events

--- Events of a run, appended to `path` beside those of its supervisor.
---@param path string
---@return pairperf.Events
function M.events(path)
  return setmetatable({ path = path, unsaved = "" }, Events)
end

--- Appends one event and syncs it.
---@param kind string
---@param fields table?
---@return boolean ok
function Events:add(kind, fields)
  local t_ns, _, wall_ns = core.clock.now()
  local event = { schema = SCHEMA, source = "harness", kind = kind, t_ns = t_ns, wall_ns = wall_ns }
  for name, value in pairs(fields or {}) do
    event[name] = value
  end
  local line, err = core.json.encode(event)
  local ok = line
  if line then
    local lines = self.unsaved .. line .. "\n"
    ok, err = core.fs.append(self.path, lines, true)
    self.unsaved = ok and "" or lines
  end
  if not ok then
    self.error = self.error or err
  end
  return ok and true or false
end

--- Writes a value as one canonical JSON file, atomically.
---@return true? ok
---@return pairperf.Error? err
function M.write_json(path, value)
  local text, err = core.json.encode(value)
  if not text then
    return nil, err
  end
  return core.fs.write_atomic(path, text .. "\n")
end

---@class pairperf.Log
---@field error pairperf.Error? the first line that could not be written
local Log = {}
Log.__index = Log

--- session.log: one line per thing that happened, for people.
---@return pairperf.Log
function M.log(path)
  return setmetatable({ path = path }, Log)
end

--- A failed line is not fatal, but remembered: no session with one ends with status 0.
---@return boolean ok
function Log:line(text)
  local _, _, wall_ns = core.clock.now()
  local line = core.clock.utc(wall_ns) .. " " .. text:gsub("%c", " ") .. "\n"
  local ok, err = core.fs.append(self.path, line)
  self.error = self.error or err
  return ok or false
end

return M
