-- SPDX-License-Identifier: Apache-2.0
--- The forms of evidence that this version reads (REP-12): every file names its schema, older
--- versions of it are read, a newer one is refused by its name.
local errors = require "pairperf.error"

local M = {}

-- name -> newest version
local NEWEST = {
  chat = 1,
  digests = 1,
  event = 1,
  floor = 1,
  frame = 1,
  manifest = 1,
  plan = 1,
  probes = 1,
  report = 1,
  request = 1,
  session = 1,
  summary = 1,
}

-- Lua patterns of paths below the output directory -> name of the form
local PLACES = {
  { "^digests%.json$", "digests" },
  { "^noise%-floor%.json$", "floor" },
  { "^plan%.json$", "plan" },
  { "^probes%.json$", "probes" },
  { "^report%.json$", "report" },
  { "^session%.json$", "session" },
  { "^%a+%-bundle%-manifest%.json$", "manifest" },
  { "^[^/]+/run%-%d+/summary%.json$", "summary" },
  { "^[^/]+/run%-%d+/samples[.%a]*%.jsonl$", "frame" },
  { "^[^/]+/run%-%d+/events[.%a]*%.jsonl$", "event" },
  { "^[^/]+/run%-%d+/%a+/events[.%a]*%.jsonl$", "event" },
  { "^[^/]+/run%-%d+/hook/requests%.jsonl$", "request" },
  { "^[^/]+/run%-%d+/hook/chat%.json$", "chat" },
}

--- The schema that a file has by its place; nil for text, and for what hooks leave.
---@param path string below the output directory
---@return string? schema "pairperf-plan-1"
function M.of(path)
  for _, place in ipairs(PLACES) do
    if path:find(place[1]) then
      return ("pairperf-%s-%d"):format(place[2], NEWEST[place[2]])
    end
  end
end

--- Refuses a value whose schema this version does not know; one that names none is let through.
---@param value any decoded
---@param file string for the message
---@return any value
---@return pairperf.Error? err code unsupported
function M.known(value, file)
  local schema = type(value) == "table" and value.schema
  if type(schema) ~= "string" then
    return value
  end
  local name, version = schema:match "^pairperf%-(%l+)%-(%d+)$"
  local newest = NEWEST[name]
  if not newest then
    return errors.fail("unsupported", file, "unknown form " .. schema)
  elseif tonumber(version) > newest then
    local text = "unknown form %s: newer than pairperf-%s-%d, the newest that this version reads"
    return errors.fail("unsupported", file, text:format(schema, name, newest))
  end
  return value
end

return M
