-- SPDX-License-Identifier: Apache-2.0
-- runs under valgrind
--- One request against a scripted server: real sockets, real libcurl.
local stub = dofile "tests/lua/support/stub_server.lua"
local chat = require "pairperf.chat"
local core = require "pairperf.core"
local json = require "pairperf.json"

local C, ROLE, FINISH, DONE = stub.content, stub.ROLE, stub.FINISH, stub.DONE
local SECRET = "never-kept"

local dir, server

local function serve(script)
  dir = stub.directory()
  server = stub.start(dir, script)
end

after_each(function()
  if server then
    server.stop()
    os.execute("rm -rf " .. dir)
  end
  server = nil
end)

local function ask(script, timeout_s)
  serve(script)
  return chat.ask {
    base_url = server.url,
    model = "m",
    max_tokens = 4,
    timeout_s = timeout_s or 10,
    api_key = SECRET,
  }
end

local function expect(status, class, record)
  assert.are.equal(class, record.error)
  assert.are.equal(status, record.status)
end

-- proves: INF-1
describe("a whole answer", function()
  it("counts content, not the role, the finish or the usage", function()
    local record = ask(stub.stream { ROLE, C "a", C "b", C "c", FINISH, stub.usage(7), DONE })
    expect("ok", nil, record)
    assert.are.equal(3, record.chunks)
    assert.are.equal(7, record.tokens)
    assert.are.equal("usage", record.token_source)
    assert.are.equal(200, record.http_status)
    assert.are.equal(2, #record.itl_ms)
    assert(record.send_ns < record.first_content_ns and record.first_content_ns <= record.end_ns)
    assert.are.equal((record.end_ns - record.send_ns) / 1e6, record.e2e_ms)
  end)

  it("counts chunks when the server tells no usage", function()
    local record = ask(stub.stream { ROLE, C "a", C "b", DONE })
    expect("ok", nil, record)
    assert.are.equal(2, record.tokens)
    assert.are.equal("chunks", record.token_source)
  end)

  it("takes reasoning for a first token, but no empty or odd chunk", function()
    local record = ask(stub.stream {
      [[data: {"choices":[]}\n\n]],
      [[data: {"choices":[{"delta":{"content":""}}]}\n\n]],
      [[data: {"choices":[{"finish_reason":null}]}\n\n]],
      [[data: {"object":"chat.completion.chunk"}\n\n]],
      [[data: {"choices":[{"delta":{"reasoning_content":"hm"}}]}\n\n]],
      C "a",
      DONE,
    })
    expect("ok", nil, record)
    assert.are.equal(2, record.chunks)
    assert.are.equal(record.first_reasoning_ns, record.first_content_ns)
  end)

  it("takes its first token from when content came, not from the first byte", function()
    local script = stub.stream { ROLE } .. "sleep 100\nsend " .. C "a" .. "\nsend " .. DONE .. "\n"
    local record = ask(script)
    expect("ok", nil, record)
    assert(record.ttft_ms >= 100)
  end)

  it("ends at [DONE] although the connection stays open", function()
    local record = ask(stub.stream { C "a", DONE } .. "sleep 9000\n", 5)
    expect("ok", nil, record)
    assert(record.e2e_ms < 4000)
  end)

  -- B24
  for _, step in ipairs { "send", "drip" } do
    for name, ending in pairs { LF = [[\n]], CRLF = [[\r\n]], CR = [[\r]] } do
      it(("counts alike with %s, by %s"):format(name, step), function()
        local events = { ROLE, ": comment\\n\\n", C "a", C "b", FINISH, [[data:[DONE]\n\n]] }
        for i, event in ipairs(events) do
          events[i] = event:gsub([[\n]], (ending:gsub("%%", "%%%%"))):gsub("^data: ", "data:")
        end
        local record = ask(stub.stream(events, step))
        expect("ok", nil, record)
        assert.are.equal(2, record.tokens)
      end)
    end
  end

  it("comes through a chunked body that is cut anywhere", function()
    local head = [[HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n]]
      .. [[Transfer-Encoding: chunked\r\n\r\n]]
    local lines = { "POST", "send " .. head }
    for byte in (C("a") .. C("b") .. DONE):gsub([[\n]], "\n"):gmatch "." do
      lines[#lines + 1] = "chunk " .. (byte == "\n" and [[\n]] or byte)
    end
    local record = ask(table.concat(lines, "\n") .. "\nsend 0\\r\\n\\r\\n\n")
    expect("ok", nil, record)
    assert.are.equal(2, record.tokens)
  end)
end)

-- proves: INF-2
describe("a broken answer fails", function()
  local function fails(name, class, script, timeout_s)
    it(name, function()
      local record = ask(script, timeout_s)
      expect("failed", class, record)
      assert.is_nil(record.e2e_ms)
      assert(record.end_ns > record.send_ns)
    end)
  end

  -- B22
  fails("when it ends before [DONE]", "ended_before_done", stub.stream { ROLE, C "a", C "b" })
  fails("when it ends inside an event", "ended_before_done", stub.stream { C "a", "data: [DONE]" })
  fails(
    "when it is shorter than it said",
    "closed",
    "POST\nsend HTTP/1.1 200 OK\\r\\nContent-Type: text/event-stream\\r\\n"
      .. "Content-Length: 9000\\r\\n\\r\\n"
      .. C "a"
      .. "\n"
  )
  fails(
    "when a chunked body has no end",
    "closed",
    "POST\nsend HTTP/1.1 200 OK\\r\\nContent-Type: text/event-stream\\r\\n"
      .. "Transfer-Encoding: chunked\\r\\n\\r\\n\nchunk "
      .. C "a"
      .. "\n"
  )
  fails("when the connection is reset", "closed", stub.stream { C "a" } .. "sleep 20\nreset\n")
  fails("when nothing is answered", "closed", "POST\nsleep 1\n")

  -- B23
  local in_band = [[data: {"error":{"message":"secret words","type":"server_error"}}\n\n]]
  fails(
    "by an error in band, and [DONE] redeems nothing",
    "in_band:server_error",
    stub.stream {
      C "a",
      in_band,
      DONE,
    }
  )
  fails(
    "by an error in band that is text",
    "in_band",
    stub.stream {
      [[data: {"error":"some words"}\n\n]],
      DONE,
    }
  )
  fails(
    "by an error in band whose class is free text",
    "in_band",
    stub.stream {
      [[data: {"error":{"type":"words and words"}}\n\n]],
    }
  )
  fails(
    "by an error in band that has a number",
    "in_band:500",
    stub.stream {
      [[data: {"error":{"code":500}}\n\n]],
    }
  )
  fails(
    "by an event of type error",
    "in_band",
    stub.stream { [[event: error\ndata: {}\n\n]], DONE }
  )

  fails("by a chunk that is no JSON", "malformed_chunk", stub.stream { [[data: {mal\n\n]], DONE })
  fails("by a chunk that is no object", "malformed_chunk", stub.stream { [[data: 7\n\n]], DONE })
  fails(
    "by another content type, whatever the body",
    "content_type",
    "POST\nsend " .. stub.JSON .. "Connection: close\\r\\n\\r\\n{malformed json\n"
  )
  fails(
    "by a content type that only begins alike",
    "content_type",
    "POST\nsend HTTP/1.1 200 OK\\r\\nContent-Type: text/event-streams\\r\\n\\r\\n" .. DONE .. "\n"
  )
  for _, status in ipairs { 204, 302, 404, 429, 500 } do
    local answer = "POST\nsend HTTP/1.1 %d X\\r\\nLocation: /v1/models\\r\\n"
      .. "Content-Length: 0\\r\\n\\r\\n\n"
    fails("by HTTP status " .. status, "http_status", answer:format(status))
  end
  fails("by a timeout", "timeout", stub.stream { C "a" } .. "sleep 9000\n", 0.3)

  it("when nobody listens", function()
    serve(stub.MODELS)
    local url = server.url
    server.stop()
    stub.await("the port is closed", function()
      local _, err = core.http.status(url)
      return err and err.errno == "ECONNREFUSED" or nil
    end)
    local record = chat.ask { base_url = url, model = "m", max_tokens = 4, timeout_s = 5 }
    expect("failed", "sys:ECONNREFUSED", record)
    assert.are.equal(json.null, record.http_status)
  end)
end)

it("a record keeps no text and no key", function()
  local script = stub.stream {
    C "secret words",
    [[data: {"error":{"message":"secret words","type":"t"}}\n\n]],
  }
  local text = assert(json.encode(ask(script)))
  assert.is_nil(text:find("secret", 1, true))
  assert.is_nil(text:find(SECRET, 1, true))
  assert.is_nil(text:find(chat.PROMPT:sub(1, 12), 1, true))
end)

describe("a callback", function()
  local function request(on_data)
    serve(stub.stream { C "a", C "b", DONE })
    return core.http.stream { url = server.url .. "/x", body = "{}", on_data = on_data }
  end

  it("raises through stream() with its own error value", function()
    local value = {}
    local ok, raised = pcall(request, function()
      error(value)
    end)
    assert.is_false(ok)
    assert.are.equal(value, raised)
  end)

  it("may itself send requests", function()
    local inner = 0
    local answer = assert(request(function()
      inner = inner + (core.http.connect("127.0.0.1", tonumber(server.url:match ":(%d+)/")) and 1)
    end))
    assert(inner > 0 and answer.status == 200 and not answer.aborted)
  end)

  it("that returns false ends the request", function()
    local answer = assert(request(function()
      return false
    end))
    assert.is_true(answer.aborted)
  end)
end)

describe("misuse of http is raised:", function()
  for name, options in pairs {
    ["unknown field"] = { url = "http://127.0.0.1/", proxy = "x" },
    ["no url"] = {},
    ["no function"] = { url = "http://127.0.0.1/", on_data = 1 },
    ["no time"] = { url = "http://127.0.0.1/", timeout_s = 0 },
    ["not a number"] = { url = "http://127.0.0.1/", timeout_s = 0 / 0 },
  } do
    it(name, function()
      assert.has_error(function()
        local _ = core.http.stream(options)
      end)
    end)
  end

  it("but a URL of another scheme is a failure", function()
    local _, err = core.http.status "file:///etc/hostname"
    assert.are.equal("invalid", err.code)
  end)
end)
