-- SPDX-License-Identifier: Apache-2.0
--- Server-sent events by the rules of the WHATWG: LF, CR and CRLF end a line, one leading BOM is
--- dropped, lines with a leading colon are comments, one space after a colon is dropped, several
--- data lines are joined by LF, and an event without data, or cut off by the end of the stream, is
--- none. Bytes may be cut anywhere.
local M = {}

local BOM <const> = "\xEF\xBB\xBF"
local LIMIT <const> = 4 * 1024 * 1024 -- bytes of one unfinished line or event

local Parser = {}
Parser.__index = Parser

---@class pairperf.SseEvent
---@field type string "message" unless the stream says otherwise
---@field data string

---@param on_event fun(event: pairperf.SseEvent)
---@return pairperf.SseParser
function M.parser(on_event)
  return setmetatable({
    on_event = on_event,
    pending = {}, -- pieces of the line that has not ended yet
    held = 0, -- bytes in them and in data
    at_start = true, -- a BOM may still come
    after_cr = false, -- a LF now belongs to the line ended before
    data = {},
    type = "",
  }, Parser)
end

local function dispatch(self)
  local data, type = self.data, self.type
  self.data, self.type, self.held = {}, "", 0
  if #data > 0 then
    self.on_event { type = type ~= "" and type or "message", data = table.concat(data, "\n") }
  end
end

local function take_field(self, line)
  local name, value = line:match("^([^:]*): ?(.*)$")
  name, value = name or line, value or ""
  if name == "data" then
    self.data[#self.data + 1] = value
    self.held = self.held + #value
  elseif name == "event" then
    self.type = value
  end
end

local function take_line(self, line)
  if self.at_start then
    self.at_start = false
    if line:sub(1, #BOM) == BOM then
      line = line:sub(#BOM + 1)
    end
  end
  if line == "" then
    dispatch(self)
  elseif line:sub(1, 1) ~= ":" then
    take_field(self, line)
  end
end

local function keep(self, piece)
  self.pending[#self.pending + 1] = piece
  self.held = self.held + #piece
  return self.held <= LIMIT or nil
end

local function end_line(self, piece)
  self.pending[#self.pending + 1] = piece
  local line = table.concat(self.pending)
  self.held = self.held - (#line - #piece)
  self.pending = {}
  take_line(self, line)
end

--- Takes the next bytes; calls on_event for each event that is complete.
---@param bytes string
---@return true? ok nil when one event or line grows without end
function Parser:feed(bytes)
  local from = 1
  if self.after_cr and bytes ~= "" then
    self.after_cr = false
    from = bytes:byte() == 10 and 2 or 1
  end
  while true do
    local at = bytes:find("[\r\n]", from)
    if not at then
      break
    end
    end_line(self, bytes:sub(from, at - 1))
    from = at + 1
    if bytes:byte(at) == 13 then
      self.after_cr = from > #bytes
      from = bytes:byte(from) == 10 and from + 1 or from
    end
  end
  return keep(self, bytes:sub(from))
end

return M
