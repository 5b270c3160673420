-- SPDX-License-Identifier: Apache-2.0
--- The inference hook as it is run: a process of its own, against a scripted server.
package.path = "tests/lua/?.lua;" .. package.path
local stub = dofile "tests/lua/support/stub_server.lua"
local chat_loop = require "pairperf.chat_loop"
local core = require "pairperf.core"
local json = require "pairperf.json"
local schema = require "pairperf.json_schema"

local PROGRAM = os.getenv "PP_TEST_BUILD_DIR" .. "/pairperf-lua"
local HOOK = os.getenv "PP_TEST_SOURCE_DIR" .. "/scenarios/hooks/chat_loop.lua"
local GOOD = stub.stream { stub.ROLE, stub.content "a", stub.FINISH, stub.usage(5), stub.DONE }
local HANGING = stub.stream { stub.ROLE, stub.content "a" } .. "sleep 60000\n"

local dir, server

before_each(function()
  dir = stub.directory()
end)

after_each(function()
  if server then
    server.stop()
  end
  server = nil
  os.execute("rm -rf " .. dir)
end)

-- The hook in the background, as the harness starts it; its exit status once it has ended.
local function start(arguments, environment)
  local script = [[cd %s && PAIR_PERF_OUTPUT=%s/out %s %s --run-hook %s -- %s 2>stderr >stdout &
echo $! >hook.pid
wait $!
echo $? >status
]]
  local words = { dir, dir, environment or "", PROGRAM, HOOK, arguments }
  assert(core.fs.append(dir .. "/run.sh", script:format(table.unpack(words))))
  stub.spawn(dir, ("cd %s && sh run.sh"):format(dir))
end

local function status()
  return tonumber(stub.await("exit status", stub.first_line(dir .. "/status")))
end

local function terminate()
  os.execute("kill -TERM " .. stub.await("hook", stub.first_line(dir .. "/hook.pid")))
  return status()
end

local function stderr()
  return assert(core.fs.read(dir .. "/stderr"))
end

local function await_lines(count)
  stub.await("requests", function()
    local text = core.fs.read(dir .. "/out/hook/requests.jsonl") or ""
    return select(2, text:gsub("\n", "")) >= count or nil
  end)
end

local function records()
  local list = {}
  local text = core.fs.read(dir .. "/out/hook/requests.jsonl") or ""
  for line in text:gmatch "([^\n]+)\n" do
    list[#list + 1] = assert(json.decode(line))
    assert.is_nil(schema.problem(list[#list]))
  end
  return list
end

local function summary()
  local found = assert(json.decode(assert(core.fs.read(dir .. "/out/hook/chat.json"))))
  assert.is_nil(schema.problem(found))
  return found
end

local function serve(script)
  server = stub.start(dir, script)
end

-- proves: INF-1 INF-3
it("sends one request after the other until SIGTERM, and exits 0", function()
  serve(stub.MODELS .. GOOD)
  start "--base-url-file endpoint.url --model m --max-tokens 5 --delay 10ms"
  await_lines(3)
  assert.are.equal(0, terminate())

  local list, before_ns = records(), 0
  for index, record in ipairs(list) do
    assert.are.equal(index, record.index)
    assert.are.equal(index < #list and "ok" or record.status, record.status)
    assert(record.send_ns >= before_ns + (index > 1 and 10000000 or 0))
    before_ns = record.end_ns
  end
  local found = summary()
  assert.are.equal(#list, found.requests.ok + found.requests.censored)
  assert.are.equal(0, found.requests.failed)
  assert.are.equal(server.url:match "//(.-)/", found.endpoint)
  assert.are.same({ "m", 5, 0.01 }, { found.model, found.max_tokens, found.delay_s })
  assert(found.ready_wait_s >= 0)
end)

-- proves: INF-2
it("a request in flight at SIGTERM is censored, and the hook exits 0 at once", function()
  serve(stub.MODELS .. GOOD .. HANGING)
  start "--base-url-file endpoint.url --delay 0"
  await_lines(1)
  local began_ns = core.clock.now()
  assert.are.equal(0, terminate())
  assert(core.clock.now() - began_ns < 5e9)

  local list = records()
  assert.are.equal("censored", list[2].status)
  assert.is_nil(list[2].error)
  assert.are.same({ ok = 1, failed = 0, censored = 1 }, summary().requests)
end)

-- proves: INF-2
it("SIGTERM in a pause ends the hook at once", function()
  serve(stub.MODELS .. GOOD)
  start "--base-url-file endpoint.url --delay 1h"
  await_lines(1)
  assert.are.equal(0, terminate())
  assert.are.same({ ok = 1, failed = 0, censored = 0 }, summary().requests)
end)

-- proves: INF-2
it("a failed request is recorded and ends the hook with status 1", function()
  serve(stub.MODELS .. GOOD .. stub.stream { stub.content "a" })
  start "--base-url-file endpoint.url --delay 0"
  assert.are.equal(1, status())
  local list = records()
  assert.are.equal(2, #list)
  assert.are.equal("ended_before_done", list[2].error)
  assert.are.same({ ok = 1, failed = 1, censored = 0 }, summary().requests)
  assert(stderr():find("ended_before_done", 1, true))
end)

it("ends with 0 when its time is over", function()
  serve(stub.MODELS .. GOOD)
  start "--base-url-file endpoint.url --delay 0 --max-duration 1s"
  assert.are.equal(0, status())
  assert(#records() > 0)
end)

-- proves: INF-3
describe("until the endpoint is ready", function()
  it("nothing is counted, and the wait is kept", function()
    local busy = "GET\nsend HTTP/1.1 503 Busy\\r\\nContent-Length: 0\\r\\n\\r\\n\n"
    serve(busy .. busy .. "GET\n" .. stub.MODELS .. GOOD)
    start "--base-url-file endpoint.url --delay 0"
    await_lines(1)
    assert.are.equal(0, terminate())
    assert.are.equal(0, summary().requests.failed)
    assert(summary().ready_wait_s >= 0.25)
  end)

  it("the file with its URL is awaited", function()
    start "--base-url-file endpoint.url --delay 0"
    stub.await("hook", stub.first_line(dir .. "/hook.pid"))
    serve(stub.MODELS .. GOOD)
    await_lines(1)
    assert.are.equal(0, terminate())
  end)

  it("a hook that waited too long ends with 1 and names the last answer", function()
    serve(("GET\nsend HTTP/1.1 503 Busy\\r\\nContent-Length: 0\\r\\n\\r\\n\n"):rep(20))
    start "--base-url-file endpoint.url --ready-timeout 2s" -- for one answer on a busy machine
    assert.are.equal(1, status())
    assert(stderr():find("HTTP status 503", 1, true))
    assert.are.equal(json.null, summary().ready_wait_s)
    assert.are.same({}, records())
  end)

  it("SIGTERM ends the hook with 1: there was no inference", function()
    start "--base-url-file endpoint.url"
    stub.await("output directory", function()
      return core.fs.stat(dir .. "/out/hook") and true
    end)
    assert.are.equal(1, terminate())
    assert.are.equal(json.null, summary().ready_wait_s)
  end)
end)

it("the key goes to the server and into no file", function()
  serve(stub.MODELS .. GOOD)
  local url = server.url:gsub("//", "//user:s3cret@")
  start(("--base-url %s --api-key-env KEY --delay 0 --max-duration 50ms"):format(url), "KEY=s3cret")
  assert.are.equal(0, status())
  assert(os.execute("! grep -rqF s3cret " .. dir .. "/out " .. dir .. "/stderr"))
end)

describe("a command line", function()
  for text, reason in pairs {
    [""] = "either --base-url or --base-url-file",
    ["--base-url http://h/v1 --base-url-file f"] = "either --base-url or --base-url-file",
    ["--base-url ftp://h/v1"] = "not an http or https URL",
    ["--base-url http://"] = "not an http or https URL",
    ["--base-url http://h --delay x"] = "--delay",
    ["--base-url http://h --max-tokens 0"] = "--max-tokens",
    ["--base-url http://h --timeout 0"] = "--timeout",
    ["--base-url http://h --modell x"] = "--model",
    ["--base-url http://h --api-key-env PAIRPERF_NO_SUCH"] = "PAIRPERF_NO_SUCH",
  } do
    it(("'%s' is refused"):format(text), function()
      local words = {}
      for word in text:gmatch "%S+" do
        words[#words + 1] = word
      end
      local settings, err = chat_loop.parse(words)
      assert.is_nil(settings)
      assert(tostring(err):find(reason, 1, true), tostring(err))
    end)
  end

  it("has the published defaults", function()
    local settings = assert(chat_loop.parse { "--base-url", "http://h:1/v1/" })
    assert.are.same({
      base_url = "http://h:1/v1",
      model = "default",
      max_tokens = 64,
      timeout_s = 15,
      delay_s = 1,
      max_duration_s = 3600,
      ready_timeout_s = 30,
    }, settings)
  end)

  it("that is wrong ends the hook with 2", function()
    start "--delay 1"
    assert.are.equal(2, status())
  end)
end)
