-- SPDX-License-Identifier: Apache-2.0
-- runs under valgrind
--- clock, lock, cancel and process. Signals are tried in lua5.4 children of their own.
local core = require "pairperf.core"
local scratch = require "tests.lua.support.scratch"

--- Runs a chunk in a fresh lua5.4 and gives its output, behind which stands its exit status.
local function in_child(chunk, before)
  local dir = scratch.make()
  local path = scratch.write(
    dir .. "/chunk.lua",
    ("package.cpath = %q\nlocal core = require 'pairperf.core'\n%s"):format(package.cpath, chunk)
  )
  local output = scratch.capture(("%s lua5.4 '%s' 2>&1; echo status $?"):format(before or "", path))
  scratch.remove(dir)
  return output
end

describe("core.clock", function()
  it("has three clocks that do not fall", function()
    local t, cont, wall = core.clock.now()
    local t2, cont2 = core.clock.now()
    assert.is_true(t2 >= t and cont2 >= cont)
    assert.is_true(math.abs(wall // 1000000000 - os.time()) <= 2)
    for _, value in ipairs { t, cont, wall } do
      assert.are.equal("integer", math.type(value))
    end
  end)

  it("writes UTC", function()
    assert.are.equal("2024-02-29T12:34:56Z", core.clock.utc(1709210096999999999))
    assert.are.equal("20240229T123456Z", core.clock.compact_utc(1709210096000000000))
  end)
end)

describe("core.lock", function()
  it("is held once and given back", function() -- proves: CLI-3
    local name = "pairperf-test-" .. core.process.getpid()
    local lock = assert(core.lock.acquire(name))
    assert.is_true(lock:fd() > 2)
    local other, err = core.lock.acquire(name)
    assert.is_nil(other)
    assert.are.equal("exists", err.code)
    if core.process.system() == "Linux" then
      assert.is_truthy(err.detail:find("process " .. core.process.getpid(), 1, true))
    end
    lock:close()
    lock:close()
    assert.has_error(function()
      return lock:fd()
    end)
    do
      local again <close> = assert(core.lock.acquire(name))
      assert.is_true(again:fd() > 2)
    end
    assert(core.lock.acquire(name)):close()
    assert.are.equal("invalid", select(2, core.lock.acquire "").code)
  end)

  it("goes with its handle", function()
    local name = "pairperf-test-gc-" .. core.process.getpid()
    assert(core.lock.acquire(name))
    collectgarbage()
    assert(core.lock.acquire(name)):close()
  end)
end)

describe("core.cancel", function()
  local KILL_SELF = "os.execute('kill -TERM ' .. core.process.getpid()) "

  it("interrupts a busy loop with an error object", function() -- proves: CAN-1
    local output = in_child([[
      assert(core.cancel.install())
      assert(core.cancel.requested() == nil)
      local ok, err = pcall(function() ]] .. KILL_SELF .. [[ while true do end end)
      local request = core.cancel.requested()
      core.cancel.shield(true)
      print(ok, err, err.code, request.signal, request.count, math.type(request.t_ns))
    ]])
    assert.are.equal(
      "false\tsignal: SIGTERM: cancelled\tcancelled\tSIGTERM\t1\tinteger\nstatus 0\n",
      output
    )
  end)

  it("interrupts a coroutine, too", function() -- proves: CAN-1
    local output = in_child([[
      assert(core.cancel.install())
      local ok, err = coroutine.resume(coroutine.create(function() ]] .. KILL_SELF .. [[
        while true do end
      end))
      core.cancel.shield(true)
      print(ok, err.code)
    ]])
    assert.are.equal("false\tcancelled\nstatus 0\n", output)
  end)

  it("leaves clean-up alone while shielded, however many signals come", function()
    local output = in_child([[
      assert(core.cancel.install())
      core.cancel.shield(true)
      for _ = 1, 20 do ]] .. KILL_SELF .. [[ end
      local n = 0
      for i = 1, 1000000 do n = n + 1 end
      print(n, core.cancel.requested().count)
      core.cancel.shield(false)
      print(pcall(function() while true do end end))
    ]])
    assert.are.equal("1000000\t20\nfalse\tsignal: SIGTERM: cancelled\nstatus 0\n", output)
  end)

  it("leaves a signal ignored that was ignored at start", function() -- proves: CAN-1
    local output = in_child(
      [[
      assert(core.cancel.install())
      os.execute('kill -HUP ' .. core.process.getpid())
      print(core.process.signal_ignored "SIGHUP", core.process.signal_ignored "SIGINT")
      print(core.cancel.requested())
    ]],
      "trap '' HUP;"
    )
    assert.are.equal("true\tfalse\nnil\nstatus 0\n", output)
  end)
end)

describe("core.process", function()
  it("knows itself", function()
    local stat = scratch.capture "echo $PPID"
    assert.are.equal("integer", math.type(core.process.getpid()))
    assert.are.equal(tonumber(stat), core.process.getpid())
    assert.are.equal(scratch.capture "id -u", core.process.geteuid() .. "\n")
    local path = core.process.exe_path()
    assert.is_truthy(path:find "/lua")
    assert.are.equal(path:match "^(.*)/", core.process.exe_dir())
  end)

  it("names signals and refuses unknown ones", function()
    assert.is_false(core.process.signal_ignored "SIGTERM")
    assert.are.equal(9, core.process.signal_number "SIGKILL")
    assert.has_error(function()
      core.process.signal_ignored "SIGNONE"
    end)
  end)

  it("says what it was built from", function()
    local build = core.process.build()
    assert.is_truthy(build.version:find "^%d+%.%d+%.%d+$")
    assert.is_true(#build.commit == 40 or build.commit == "unknown")
    assert.are.equal("boolean", type(build.dirty))
    assert.are.equal(
      build.version .. "+" .. build.commit .. (build.dirty and ".dirty" or ""),
      build.id
    )
  end)

  it("sees terminals, the system and the environment", function()
    assert.are.equal(scratch.capture "uname -s", core.process.system() .. "\n")
    assert.are.equal("boolean", type(core.process.is_terminal(0)))
    local found
    for _, entry in ipairs(core.process.environment()) do
      found = found or entry == "PATH=" .. os.getenv "PATH"
    end
    assert.is_true(found)
  end)
end)
