-- SPDX-License-Identifier: Apache-2.0
local fake = dofile "tests/lua/support/fake_core.lua"

local host, hooks, waiting, evidence

before_each(function()
  host, hooks, waiting, evidence =
    fake.fresh("pairperf.hooks", "pairperf.waiting", "pairperf.evidence")
end)

local function plan(kind)
  return {
    kind = kind or "hook",
    dir = "/run/" .. (kind or "hook"),
    home = "/run/home",
    env = {},
    cap_bytes = 1024,
    grace_s = 30,
    lifetime_s = 1000,
    events = evidence.events "/run/events.jsonl",
  }
end

local command = { path = "/load", argv = { "/load" }, text = "/load" }

local function start(behaviour, kind)
  host.commands["/load"] = behaviour
  return assert(hooks.start(command, plan(kind)))
end

local function last_event()
  return host.texts[#host.texts]
end

-- proves: HOOK-4
describe("a load hook", function()
  it("that handles SIGTERM and exits 0 is a success", function()
    local hook = start {}
    assert.is_nil(hook:look())
    assert.is_nil(hook:finish())
    assert.equal("hook_finished", last_event().kind)
    assert.is_false(last_event().ended_early)
    assert.equal("group", host.spawned[1].stop_plan.first)
  end)

  it("that dies by our SIGTERM fails, with words that say how to trap it", function()
    local problem, halt = start({ term_exit = { signal = "SIGTERM" } }):finish()
    assert.matches("died by our SIGTERM instead of handling it; .*trap 'exit 0' TERM", problem)
    assert.is_falsy(halt)
  end)

  it("that ignores SIGTERM is ended by SIGKILL and fails", function()
    local problem, halt = start({ on_term = "ignore" }):finish()
    assert.matches("did not end within 30 s of SIGTERM and was ended by SIGKILL", problem)
    assert.is_falsy(halt)
  end)

  -- proves: GRP-12, HOOK-6
  it("that needs SIGKILL is told with those who were still there", function()
    local left = { { pid = 41, start = 7, exe = "/e", phase = "stopped" } }
    local verdict = { verdict = "echild", outlasted = left, outlasted_total = 1 }
    local problem = start({ on_term = "ignore", verdict = verdict }):finish()
    assert.matches(
      "TERM; still there then: pid 41 start 7 /e %(stopped, state T: it could not end by itself%)$",
      problem
    )
  end)

  it("that ends early with 0 is a success, flagged with the time", function()
    local hook = start { exit_after_s = 2 }
    waiting.pause(3)
    assert.is_nil(hook:look())
    assert.is_nil(hook:finish())
    assert.is_true(last_event().ended_early)
    assert.is_true(last_event().ended_after_s >= 2)
  end)

  it("that ends early with another status is a problem at once", function()
    local hook = start { exit_after_s = 1, exit = { code = 3 } }
    waiting.pause(2)
    assert.equal("ended with exit status 3", hook:look())
    assert.equal("ended with exit status 3", (hook:finish()))
  end)

  it("that dies early by SIGTERM was not ended by us", function()
    local hook = start { exit_after_s = 1, exit = { signal = "SIGTERM" } }
    waiting.pause(2)
    assert.equal("ended with signal SIGTERM", hook:look())
  end)
end)

-- proves: HOOK-6
describe("a hook's end", function()
  it("is finalized exactly once", function()
    local hook = start { term_exit = { code = 4 } }
    local first = hook:finish()
    assert.equal(first, hook:finish())
    assert.equal(1, host.spawned[1].stops)
    local finished = 0
    for _, event in ipairs(host.texts) do
      finished = finished + (event.kind == "hook_finished" and 1 or 0)
    end
    assert.equal(1, finished)
  end)

  it("with a process outside its group fails the run", function()
    local hook = start { escapees = 1 }
    assert.matches("1 of its processes left its group", hook:look())
    assert.matches("left its group", hook:finish())
  end)

  it("that cannot be verified stops everything further", function()
    local problem, halt =
      start({ verdict = { verdict = "unverified", cause = "a member could not be read" } }):finish()
    assert.matches("unverified: a member could not be read", problem)
    assert.is_true(halt)
  end)

  -- proves: GRP-9, CAN-5
  it("whose supervisor does not end stops everything further, and tells its number", function()
    local problem, halt = start({ hangs = true }):finish()
    assert.equal("its supervisor is left: supervisor 9 hangs", problem)
    assert.is_true(halt)
    assert.equal(problem, last_event().problem)
  end)

  it("with a lost supervisor is unverified", function()
    local hook = start { lost = true }
    assert.equal("its supervisor was lost", hook:look())
    local _, halt = hook:finish()
    assert.is_true(halt)
  end)
end)

-- proves: HOOK-5
describe("a post-run check", function()
  local function check(behaviour, watch)
    host.commands["/load"] = behaviour
    return hooks.check(command, plan "check", 30, watch or function() end)
  end

  it("that exits 0 passes", function()
    assert.is_true(check { exit_after_s = 1 })
    assert.equal("check_finished", last_event().kind)
  end)

  it("that exits otherwise fails", function()
    local ok, err = check { exit_after_s = 1, exit = { code = 1 } }
    assert.is_nil(ok)
    assert.matches("ended with exit status 1", err.detail)
  end)

  it("that does not end is ended and fails with its time-out", function()
    local ok, err = check {}
    assert.is_nil(ok)
    assert.matches("did not end within 30 s", err.detail)
    assert.equal(1, host.spawned[1].stops)
  end)

  it("overtaken by the application's end fails", function()
    local ok, err = check({}, function()
      return "was overtaken by the application's end"
    end)
    assert.is_nil(ok)
    assert.matches("overtaken", err.detail)
  end)

  it("is cancelled by a signal and still finalized", function()
    host.signal = { at_s = 1, name = "SIGINT" }
    local ok, err = check {}
    assert.is_nil(ok)
    assert.equal("cancelled", err.code)
    assert.equal(1, host.spawned[1].stops)
  end)
end)
