-- SPDX-License-Identifier: Apache-2.0
local sse = require "pairperf.sse"

local FIVE = { "one", "two", "three", "four", "[DONE]" }

-- The events of a text that arrives in pieces of `size` bytes; "type=data" for other types.
local function events(text, size)
  local seen = {}
  local parser = sse.parser(function(event)
    seen[#seen + 1] = event.type == "message" and event.data or event.type .. "=" .. event.data
  end)
  for at = 1, #text, size or #text do
    assert(parser:feed(text:sub(at, at + (size or #text) - 1)))
  end
  return seen
end

local function stream(prefix, ending)
  local text = {}
  for _, data in ipairs(FIVE) do
    text[#text + 1] = prefix .. data .. ending .. ending
  end
  return table.concat(text)
end

-- proves: INF-1
describe("the same five events (B24)", function()
  local forms = {
    ["with LF"] = stream("data: ", "\n"),
    ["with CRLF"] = stream("data: ", "\r\n"),
    ["with lone CR"] = stream("data: ", "\r"),
    ["without a space"] = stream("data:", "\n"),
    ["with comments"] = ": hello\n\n:\n\n" .. stream(": ping\ndata: ", "\n"),
    ["behind a BOM"] = "\xEF\xBB\xBF" .. stream("data: ", "\n"),
    ["between other fields"] = stream("id: 7\nretry: 10\nunknown\ndata: ", "\n"),
    ["with mixed line ends"] = "data: one\r\n\ndata: two\n\r\ndata: three\r\r\n"
      .. "data: four\r\n\rdata: [DONE]\n\r",
  }
  for name, text in pairs(forms) do
    for size = 1, 7 do
      it(("come out alike %s, %d bytes at a time"):format(name, size), function()
        assert.are.same(FIVE, events(text, size))
      end)
    end
    it("come out alike " .. name .. ", in one piece", function()
      assert.are.same(FIVE, events(text))
    end)
  end
end)

-- proves: INF-1
it("one event of several lines stays one wherever it is cut (B24)", function()
  for _, ending in ipairs { "\n", "\r", "\r\n" } do
    local text = ("data: a|data: b||data: c|||"):gsub("|", ending)
    for size = 1, #text do
      assert.are.same({ "a\nb", "c" }, events(text, size))
    end
  end
end)

describe("the stream's rules", function()
  it("join data lines by LF", function()
    assert.are.same({ "a\n\nb" }, events "data: a\ndata\ndata: b\n\n")
  end)

  it("drop one space and no more", function()
    assert.are.same({ " a:b " }, events "data:  a:b \n\n")
  end)

  it("keep an event's type for that event alone", function()
    assert.are.same({ "ping={}", "x" }, events "event: ping\ndata: {}\n\ndata: x\n\n")
  end)

  it("make no event of a type without data", function()
    assert.are.same({ "x" }, events "event: ping\n\ndata: x\n\n")
  end)

  it("make an event of an empty data line", function()
    assert.are.same({ "" }, events "data:\n\n")
  end)

  it("drop an event that the end of the stream cuts off", function()
    assert.are.same({ "x" }, events "data: x\n\ndata: y\n")
  end)

  it("take a BOM as a BOM only at the start", function()
    assert.are.same({ "x" }, events "data: x\n\n\xEF\xBB\xBFdata: y\n\n")
  end)

  it("treat field names exactly", function()
    assert.are.same({}, events "Data: x\n data: y\ndatax: z\n\n")
  end)
end)

it("a line without end is refused, not collected", function()
  local parser = sse.parser(function() end)
  local piece, ok = ("x"):rep(1 << 20), true
  for _ = 1, 8 do
    ok = ok and parser:feed(piece)
  end
  assert.is_nil(ok)
end)

it("an event without end is refused, not collected", function()
  local parser = sse.parser(function() end)
  local line, ok = "data: " .. ("x"):rep(1 << 20) .. "\n", true
  for _ = 1, 8 do
    ok = ok and parser:feed(line)
  end
  assert.is_nil(ok)
end)

it("many events do not add up to the limit", function()
  local count = 0
  local parser = sse.parser(function()
    count = count + 1
  end)
  local event = "data: " .. ("x"):rep(1 << 20) .. "\n\n"
  for _ = 1, 8 do
    assert(parser:feed(event))
  end
  assert.are.equal(8, count)
end)
