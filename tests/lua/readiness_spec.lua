-- SPDX-License-Identifier: Apache-2.0
--- Readiness of an application under run.execute.
local fake_session = dofile "tests/lua/support/fake_session.lua"

local host, run, session

before_each(function()
  host, run, session = fake_session.fresh()
end)

local function execute()
  return fake_session.execute(run, session)
end

local function event(kind)
  return fake_session.event(host, kind)
end

-- proves: RUN-1
describe("readiness", function()
  before_each(function()
    session.scenarios.busy.ready = { how = "file", argument = "ready", text = "file:ready" }
  end)

  it("by a file waits until it has content and keeps the time", function()
    host.files["/out/busy/run-01/home/ready"] = ""
    host.commands["/app"].on_spawn = nil
    local waiting = require "pairperf.waiting"
    local wait = waiting.wait
    waiting.wait = function(seconds, check, options)
      if host.now_ns > 300000000 then
        host.files["/out/busy/run-01/home/ready"] = "x"
      end
      return wait(seconds, function(left)
        if host.now_ns > 300000000 then
          host.files["/out/busy/run-01/home/ready"] = "x"
        end
        return check(left)
      end, options)
    end
    assert.is_nil(execute().failure)
    assert.equal("file:ready", event("ready").how)
    assert.is_true(event("ready").waited_ns >= 300000000)
  end)

  it("that never comes fails the run with the last answer", function()
    local done = execute()
    assert.equal("ready", done.failure.step)
    assert.matches("not ready within 60 s; last answer: no file: ENOENT", done.failure.reason)
  end)

  it("is overtaken by an application that exits", function()
    host.commands["/app"] = { exit_after_s = 0.5, exit = { code = 3 } }
    local done = execute()
    assert.equal("ready", done.failure.step)
    assert.matches("ended by itself .* exit status 3$", done.failure.reason)
  end)

  it("is overtaken by an application that hands over to a running copy", function()
    host.commands["/app"] = { exit_after_s = 0.5, exit = { code = 0 } }
    assert.matches("exit status 0; .* handed over to a copy of itself", execute().failure.reason)
  end)

  it("is overtaken by an application that ends later", function()
    host.commands["/app"] = { exit_after_s = 20, exit = { code = 0 } }
    assert.matches("after 20%.. s: exit status 0$", execute().failure.reason)
  end)

  -- proves: GRP-9, PLAN-3
  for _, verdict in ipairs { "left_running", "unverified" } do
    it("by a command whose end is " .. verdict .. " launches nothing further", function()
      host.commands["/probe"] = { exit_after_s = 0.2, verdict = { verdict = verdict } }
      local command = { path = "/probe", argv = { "/probe" } }
      session.scenarios.busy.ready = { how = "cmd", argument = command, text = "cmd:/probe" }
      local done = execute()
      assert.equal("ready", done.failure.step)
      assert.matches("probe 'cmd:/probe': .*" .. verdict:match "^%l+", done.failure.reason)
      assert.is_truthy(done.halt)
      assert.equal(2, #host.spawned)
      assert.is_true(host.spawned[2].spec.track)
      assert.equal("/out/busy/run-01/ready/events.jsonl", host.spawned[2].place.events)
    end)
  end

  it("by a command that is still running at the end is ended, and its doubt counts", function()
    host.commands["/probe"] = { verdict = { verdict = "unverified" } }
    local command = { path = "/probe", argv = { "/probe" } }
    session.scenarios.busy.ready = { how = "cmd", argument = command, text = "cmd:/probe" }
    local done = execute()
    assert.matches("cleanup unverified", done.failure.reason)
    assert.is_truthy(done.halt)
  end)

  it("by a command that could not be started is not asked again", function()
    local command = { path = "/nothing", argv = { "/nothing" } }
    session.scenarios.busy.ready = { how = "cmd", argument = command, text = "cmd:/nothing" }
    local done = execute()
    assert.equal("ready", done.failure.step)
    assert.matches("probe 'cmd:/nothing': could not be started: .*ENOENT", done.failure.reason)
    assert.is_true(host.now_ns < 60 * 1000000000)
  end)

  it("may be a script's function", function()
    session.scenarios.busy.ready = function(view)
      return view:poll("three looks", { timeout_s = 5 }, function()
        return host.now_ns > 400000000
      end)
    end
    assert.is_nil(execute().failure)
    assert.equal("script", event("ready").how)
  end)

  it("of a script that gives up fails the run with its reason", function()
    session.scenarios.busy.ready = function(view)
      return view:poll("the window", { timeout_s = 1 }, function() end)
    end
    local done = execute()
    assert.equal("ready", done.failure.step)
    assert.matches("the window: not within 1 s", done.failure.reason)
    assert.is_nil(done.script_error)
  end)

  it("of a script that waits longer than --ready-timeout is ended by it", function()
    session.scenarios.busy.ready = function(view)
      pcall(view.poll, view, "never", { timeout_s = 500 }, function() end)
      return true
    end
    local done = execute()
    assert.equal("ready", done.failure.step)
    assert.is_nil(done.script_error)
    assert.is_true(host.now_ns < 65 * 1000000000)
    assert.is_nil(host.watch)
  end)

  it("of a script that never waits is watched all the while", function()
    session.scenarios.busy.ready = function()
      while true do
        host.now_ns = host.now_ns + 1000000000
        host.watch()
      end
    end
    local done = execute()
    assert.matches("was ended after 6%d%.%d s %(%-%-ready%-timeout 60 s%)", done.failure.reason)
    host.commands["/app"] = { exit_after_s = 5 }
    host.files["/out/busy/run-01"] = nil
    assert.matches("ended by itself after 5", execute().failure.reason)
  end)

  it("leaves a script at once when the application exits", function()
    host.commands["/app"] = { exit_after_s = 0.5 }
    local after = false
    session.scenarios.busy.ready = function(view)
      view:poll("never", { timeout_s = 50 }, function() end)
      after = true
    end
    local done = execute()
    assert.matches("ended by itself", done.failure.reason)
    assert.is_false(after)
    assert.is_nil(done.script_error)
  end)
end)
