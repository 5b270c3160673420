-- SPDX-License-Identifier: Apache-2.0
--- The parser of server-sent events under random bytes: cut anywhere it finds the same events, and
--- the same as a second, plain reading of the whole.
---   lua5.4 tests/fuzz/sse.lua SECONDS SEED FILE...
local sse = require "pairperf.sse"

local seconds, seed = tonumber(arg[1]), tonumber(arg[2])
local samples = {}
for i = 3, #arg do
  local file <close> = assert(io.open(arg[i], "rb"))
  samples[#samples + 1] = file:read "a"
end
math.randomseed(seed)
local random = math.random

local PIECES = {
  "data",
  "data:",
  "data: ",
  "event: ",
  "id: 7",
  ":",
  "\r",
  "\n",
  "\r\n",
  "\n\n",
  "\xEF\xBB\xBF",
  "[DONE]",
  '{"choices":[]}',
  "\0",
  "\xFF",
  " ",
  "retry: 1",
}

local function mutated()
  local text = samples[random(#samples)]
  for _ = 1, random(0, 8) do
    local at, length = random(0, #text), random(0, 4)
    local piece = random(2) == 1 and PIECES[random(#PIECES)] or string.char(random(0, 255))
    text = text:sub(1, at) .. piece .. text:sub(at + 1 + (random(2) == 1 and length or 0))
  end
  return text
end

local function parsed(pieces)
  local events = {}
  local parser = sse.parser(function(event)
    events[#events + 1] = event.type .. "\1" .. event.data
  end)
  for _, piece in ipairs(pieces) do
    assert(parser:feed(piece), "small input was refused")
  end
  return events
end

local function cut(text)
  local pieces, from = {}, 1
  while from <= #text do
    local to = from + random(0, 5)
    pieces[#pieces + 1] = text:sub(from, to)
    from = to + 1
  end
  return pieces
end

-- The rules once more: whole text, one kind of line end.
local function plainly(text)
  local events, data, kind = {}, {}, ""
  text = text:gsub("\r\n", "\n"):gsub("\r", "\n")
  local first = true
  for line in text:gmatch "([^\n]*)\n" do
    line = first and line:gsub("^\xEF\xBB\xBF", "") or line
    first = false
    local colon = line:find(":", 1, true)
    local name = colon and line:sub(1, colon - 1) or line
    local value = colon and line:sub(colon + 1):gsub("^ ", "") or ""
    if line == "" then
      if #data > 0 then
        events[#events + 1] = (kind ~= "" and kind or "message") .. "\1" .. table.concat(data, "\n")
      end
      data, kind = {}, ""
    elseif name == "data" then
      data[#data + 1] = value
    elseif name == "event" then
      kind = value
    end
  end
  return events
end

local function same(one, other)
  return table.concat(one, "\2") == table.concat(other, "\2") and #one == #other
end

local count, ends = 0, os.time() + seconds
repeat
  for _ = 1, 200 do
    local text = mutated()
    local whole = parsed { text }
    local ok = same(whole, parsed(cut(text))) and same(whole, plainly(text))
    if not ok then
      print(("finding, seed %d, input %d: %q"):format(seed, count, text))
      os.exit(1)
    end
    count = count + 1
  end
until os.time() >= ends
print(("sse: %d inputs, no finding"):format(count))
