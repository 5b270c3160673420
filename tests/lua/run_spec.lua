-- SPDX-License-Identifier: Apache-2.0
local fake_session = dofile "tests/lua/support/fake_session.lua"

local host, run, session

before_each(function()
  host, run, session = fake_session.fresh()
end)

local function execute()
  return fake_session.execute(run, session)
end

local function kinds()
  local list = {}
  for _, event in ipairs(host.texts) do
    list[#list + 1] = event.kind
  end
  return list
end

local function event(kind, nth)
  return fake_session.event(host, kind, nth)
end

local function add_hook(behaviour)
  host.commands["/load"] = behaviour
  session.scenarios.busy.pre_sample_hook = { path = "/load", argv = { "/load" }, text = "/load" }
end

local function add_check(behaviour)
  host.commands["/check"] = behaviour
  session.scenarios.busy.post_run_check = { path = "/check", argv = { "/check" }, text = "/check" }
end

-- proves: RUN-1, HOOK-5
describe("a run", function()
  it("goes through its steps in order and ends verified", function()
    local done = execute()
    assert.is_nil(done.failure)
    assert.same({
      "run_started",
      "guard_before",
      "sandbox_ready",
      "probes_before",
      "ready",
      "warmup_started",
      "sampling_started",
      "sampling_finished",
      "check_not_configured",
      "quit_requested",
      "guard_after",
      "probes_after",
    }, kinds())
    assert.equal("none", event("ready").how)
    assert.equal("leader", host.spawned[1].stop_plan.first)
    assert.is_true(host.spawned[1].closed)
  end)

  -- proves: BOX-9
  it("confines the application, and nothing else, to its home and what was named", function()
    session.confine = { abi = 7, writable = { "/data" }, not_covered = {} }
    add_check { exit_after_s = 1 }
    assert.is_nil(execute().failure)
    assert.same({ "/data", "/out/busy/run-01/home" }, host.spawned[1].spec.writable)
    assert.is_nil(host.spawned[2].spec.writable)
    assert.same({ "/data", "/out/busy/run-01/home" }, event("confined").writable)
    assert.equal(7, event("confined").landlock_abi)
    assert.same({ "/data" }, host.probed_with)
  end)

  -- proves: PROV-1
  it("settles before every run but the first, as far as it was asked to", function()
    session.values.settle = 0.01
    assert.is_nil(execute().failure)
    assert.is_nil(event "settled")
    host.texts = {}
    local slot = { slot = 1, scenario = "busy", variant = "baseline", repetition = 2 }
    slot.directory = "busy/run-02"
    assert.is_nil(run.execute(session, slot).failure)
    assert.is_true(event("settled").waited_ns >= 0)
    assert.equal("settled", kinds()[2])
  end)

  it("is not told to be confined when it is not", function()
    assert.is_nil(execute().failure)
    assert.is_nil(host.spawned[1].spec.writable)
    assert.is_nil(event "confined")
  end)

  it(
    "starts the hook before warm-up, ends it before the check, and the check before quit",
    function()
      add_hook {}
      add_check { exit_after_s = 1 }
      assert.is_nil(execute().failure)
      local order = table.concat(kinds(), " ")
      assert.matches(
        "hook_started ready warmup_started .- hook_finished check_started check_finished quit_",
        order
      )
    end
  )

  -- proves: HOOK-2
  it("tells the hook where it is", function()
    add_hook {}
    execute()
    local env = table.concat(host.spawned[2].spec.env, " ")
    assert.matches("PAIR_PERF_APP_PID=100", env)
    assert.matches("PAIR_PERF_OUTPUT=/out/busy/run%-01 ", env)
    assert.matches("PAIR_PERF_SANDBOX=/out/busy/run%-01/home", env)
    assert.matches("PAIR_PERF_SCENARIO=busy", env)
    assert.equal("/out/busy/run-01/home", host.spawned[2].spec.cwd)
  end)
end)

-- proves: CAN-2, PLAN-3, REP-8
describe("an application", function()
  it("that cannot be started fails at launch with the failing call", function()
    host.commands["/app"] = nil
    local done = execute()
    assert.equal("launch", done.failure.step)
    assert.matches("execve.*ENOENT", done.failure.reason)
    assert.is_nil(done.halt)
    assert.is_truthy(event("guard_after"))
  end)

  it("that exits during warm-up fails there, and the session goes on", function()
    host.commands["/app"] = { exit_after_s = 1 }
    local done = execute()
    assert.equal("warmup", done.failure.step)
    assert.matches("ended by itself after 1%.%d s: exit status 0", done.failure.reason)
    assert.is_nil(done.halt)
    assert.equal(1, host.spawned[1].stops)
  end)

  for step, after_s in pairs { warmup = 1, sampling = 4, quit = 7.5 } do
    it("that ended by itself sends to what it wrote last, at " .. step, function()
      add_hook { term_s = 1 }
      host.commands["/app"] = { exit_after_s = after_s }
      session.values["keep-app-output"] = 1024
      local failure = execute().failure
      assert.equal(step, failure.step)
      assert.equal("less '/out/busy/run-01/app-stderr'", failure.next)
    end)

    it("whose last words were not kept asks for them, at " .. step, function()
      add_hook { term_s = 1 }
      host.commands["/app"] = { exit_after_s = after_s }
      assert.matches("^run it again with %-%-keep%-app%-output", execute().failure.next)
    end)
  end

  it("that runs while a step fails is not what to look at", function()
    session.values["keep-app-output"] = 1024
    add_hook { exit_after_s = 1, exit = { code = 1 } }
    assert.equal("less '/out/busy/run-01/hook/stderr'", execute().failure.next)
  end)

  it("that exits during sampling fails there", function()
    host.commands["/app"] = { exit_after_s = 4 }
    assert.equal("sampling", execute().failure.step)
    assert.is_false(event("sampling_finished").complete)
  end)

  it("that ends too early and leaves what needs SIGKILL is told with that in an event", function()
    host.commands["/app"] = { exit_after_s = 4, forced = true }
    execute()
    assert.matches(
      "^the application: what it left did not end within 30 s %(%-%-quit%-timeout%), and had to be",
      event("run_failed", 2).reason
    )
  end)

  it("that ignores SIGTERM is ended by SIGKILL: failed, but the session goes on", function()
    host.commands["/app"] = { on_term = "ignore" }
    local done = execute()
    assert.equal("quit", done.failure.step)
    assert.matches("SIGKILL", done.failure.reason)
    assert.is_nil(done.halt)
  end)

  -- proves: GRP-12, CAN-2
  it(
    "that needs SIGKILL is told with those who were still there, the stopped ones first",
    function()
      local outlasted = {}
      for pid = 41, 46 do
        outlasted[#outlasted + 1] = { pid = pid, start = 7, exe = "/e", phase = "alive" }
      end
      outlasted[4].phase, outlasted[4].exe = "stopped", { bytes_hex = "2fff" }
      local verdict = { verdict = "echild", outlasted = outlasted, outlasted_total = 70 }
      host.commands["/app"] = { on_term = "ignore", verdict = verdict }
      assert.equal(
        "the application: did not end within 30 s (--quit-timeout), and had to be ended by "
          .. "SIGKILL; still there then: "
          .. "pid 44 start 7 /\\xff (stopped, state T: it could not end by itself); "
          .. "pid 41 start 7 /e; pid 42 start 7 /e; pid 43 start 7 /e; "
          .. "pid 45 start 7 /e; and 65 more",
        execute().failure.reason
      )
    end
  )

  it("that dies by our SIGTERM is no failure", function()
    host.commands["/app"] = { term_exit = { signal = "SIGTERM" } }
    assert.is_nil(execute().failure)
  end)

  -- proves: CAN-3, GRP-9
  it(
    "that leaves a process behind fails and stops everything further, with pid and start",
    function()
      host.commands["/app"] = {
        verdict = {
          verdict = "left_running",
          survivors = {
            { pid = 42, start = "7", exe = "/d", phase = "alive" },
            { pid = 43, start = "8", exe = "/e", phase = "zombie" },
          },
        },
      }
      local done = execute()
      assert.matches(
        "left running: pid 42 start 7 /d; pid 43 start 8 /e %(ended, not reaped by its parent%) "
          .. "%(check pid and start token",
        done.failure.reason
      )
      assert.is_truthy(done.halt)
    end
  )

  -- proves: CAN-3, GRP-9 (B16)
  it("that leaves somebody unverified is told with everybody, and without 'requested'", function()
    local verdict = {
      verdict = "unverified",
      cause = "requested",
      survivors = { { pid = 42, start = "7", exe = "/d", phase = "alive" } },
      unverified = {
        { pid = 43, start = "8", exe = "/e", phase = "alive" },
        { pid = 44, start = 0, exe = "[unread]" },
      },
    }
    host.commands["/app"] = { verdict = verdict }
    local reason = execute().failure.reason
    assert.matches("cleanup unverified: no proof that everything is gone; ", reason)
    assert.matches("pid 42 start 7 /d; could not be looked at: pid 43 start 8 /e; ", reason)
    assert.matches("; pid 44 start not read %[unread%] %(check", reason)
    verdict.verdict = "left_running"
    host.files = {}
    reason = execute().failure.reason
    assert.matches("left running: pid 42 start 7 /d; could not be looked at: pid 43", reason)
  end)

  -- proves: CAN-5
  it("that its supervisor ended is not called ended by itself", function()
    host.commands["/app"] =
      { exit_after_s = 2, exit = { signal = "SIGTERM" }, ended_because = "latest_end" }
    local reason = execute().failure.reason
    assert.matches("the application ended after 2", reason)
    assert.matches("its supervisor ended it because the harness had not answered in time", reason)
    assert.is_nil(reason:find "by itself")
  end)

  -- proves: CAN-5, GRP-9
  it("whose supervisor is silent at its start may run: it is swept, and nothing follows", function()
    host.commands["/app"] = { silent = true }
    local done = execute()
    assert.equal("launch", done.failure.step)
    assert.matches(
      "; cleanup unverified: the supervisor was lost; 1 process that it left was ended by",
      done.failure.reason
    )
    assert.is_truthy(done.halt)
    assert.is_true(host.supervisors[1].closed)
    assert.is_truthy(event "sweep")
  end)

  -- proves: CAN-5, GRP-9
  it("whose supervisor does not end fails its run, and nothing follows", function()
    host.commands["/app"] = { hangs = true }
    local done = execute()
    assert.equal("quit", done.failure.step)
    assert.matches("its supervisor is left: supervisor 9 hangs", done.failure.reason)
    assert.is_truthy(done.halt)
  end)

  -- proves: CAN-5
  it("whose lost supervisor hangs is no complete sweep", function()
    host.commands["/app"] = { lost = true, hangs = true }
    assert.is_truthy(execute().halt)
    assert.is_false(event("sweep").sweep.complete)
    assert.matches("supervisor 9 hangs", event("sweep").sweep.error)
    assert.matches(
      "sweep, which is not complete: .*supervisor 9 hangs",
      event("run_failed", 2).reason
    )
  end)

  -- proves: GRP-9, GRP-3
  it("whose cleanup is unverified stops everything further, and says what a sweep found", function()
    host.commands["/app"] = { lost = true }
    host.met = {
      { pid = 5, start = 1, exe = "/a", outcome = "gone" },
      { pid = 6, start = 2, exe = "/b", outcome = "alive" },
      { pid = 7, start = 3, exe = "/c", outcome = "stranger" },
      { pid = 8, start = 0, exe = "[unread]", outcome = "unverified" },
      { pid = 9, start = 4, exe = "/d", outcome = "gone" },
    }
    local done = execute()
    assert.is_truthy(done.halt)
    assert.equal(
      "the application: cleanup unverified: the supervisor was lost; "
        .. "2 processes that it left were ended by the sweep; "
        .. "still there after SIGKILL: pid 6 start 2 /b; "
        .. "could not be looked at: pid 8 start not read [unread]; "
        .. "left alone, as nobody can tell whose they are: pid 7 start 3 /c "
        .. "(check pid and start token before ending anything by hand)",
      event("run_failed", 2).reason
    )
  end)
end)

-- proves: HOOK-4
describe("a failing load hook", function()
  it("fails the run at once, before the window ends", function()
    add_hook { exit_after_s = 3, exit = { code = 7 } }
    local done = execute()
    assert.equal("pre_sample_hook", done.failure.step)
    assert.matches("exit status 7", done.failure.reason)
    assert.is_false(event("sampling_finished").complete)
    assert.equal(1, host.spawned[2].stops)
  end)

  it("leaves the check unrun, said so", function()
    add_hook { term_exit = { code = 1 } }
    add_check { exit_after_s = 1 }
    local done = execute()
    assert.equal("pre_sample_hook", done.failure.step)
    assert.matches("failed at pre_sample_hook", event("check_not_run").reason)
  end)
end)

-- proves: HOOK-5
describe("a check", function()
  it("is not run when the application is gone, and the run fails", function()
    add_check { exit_after_s = 1 }
    add_hook { term_s = 1 }
    host.commands["/app"] = { exit_after_s = 7.5 }
    local done = execute()
    assert.equal("post_run_check", done.failure.step)
    assert.matches("^not run: the application was gone", done.failure.reason)
    assert.matches("%-%-keep%-app%-output", done.failure.next)
    assert.is_truthy(event("check_not_run"))
    assert.equal(2, #host.spawned)
  end)

  it("is ended when the application ends under it", function()
    add_check {}
    host.commands["/app"] = { exit_after_s = 9 }
    local done = execute()
    assert.equal("post_run_check", done.failure.step)
    assert.matches("overtaken by the application's end", done.failure.reason)
    assert.matches("%-%-keep%-app%-output", done.failure.next)
  end)
end)

-- proves: GUARD-3, GUARD-2
describe("the guard", function()
  it("fails the run and stops everything when the launcher changed", function()
    local calls = 0
    host.snapshots["/usr/local/bin/nvpair"] = function()
      calls = calls + 1
      return { state = calls == 1 and "absent" or "file" }
    end
    local done = execute()
    assert.equal("guard", done.failure.step)
    assert.matches("/usr/local/bin/nvpair: state", done.failure.reason)
    assert.is_truthy(done.halt)
    assert.is_true(event("guard_after").changed)
  end)

  it("that cannot read afterwards stops everything", function()
    local calls = 0
    local absent = function()
      return { state = "absent" }
    end
    host.snapshots["/usr/local/bin/nvpair"] = absent
    host.commands["/app"].on_spawn = function()
      calls = calls + 1
      host.snapshots["/usr/local/bin/nvpair"] = false
    end
    local done = execute()
    assert.equal(1, calls)
    assert.equal("guard", done.failure.step)
    assert.matches("cannot be read and verified", done.failure.reason)
    assert.is_truthy(done.halt)
  end)

  it("that finds a change between two runs launches nothing further", function()
    assert.is_nil(execute().failure)
    host.snapshots["/usr/local/bin/nvpair"] = function()
      return { state = "file" }
    end
    host.files["/out/busy/run-01/home"] = nil
    host.files["/out/busy/run-01"] = nil
    local done = execute()
    assert.equal("guard_before", done.failure.step)
    assert.matches("nvpair: state since the session's first snapshot", done.failure.reason)
    assert.is_truthy(done.halt)
    assert.equal(1, #host.spawned)
  end)

  it("that cannot read launches nothing", function()
    host.snapshots["/usr/local/bin/nvpair"] = false
    local done = execute()
    assert.equal("guard_before", done.failure.step)
    assert.is_truthy(done.halt)
    assert.equal(0, #host.spawned)
  end)

  it("that finds the directory writable later launches nothing", function()
    host.launcher_writable = true
    local done = execute()
    assert.matches("became writable", done.failure.reason)
    assert.is_truthy(done.halt)
    assert.equal(0, #host.spawned)
  end)
end)

-- proves: API-1
describe("an error in a scenario's function", function()
  it("names the script's line, stops the application and everything further", function()
    session.scenarios.busy.ready =
      load("return function(run)\n  local nothing\n  return nothing.field\nend", "@mine.lua")()
    local done = execute()
    assert.matches("mine.lua:3: attempt to index a nil value", done.script_error)
    assert.is_truthy(done.halt)
    assert.equal(1, host.spawned[1].stops)
    assert.is_truthy(event("guard_after"))
  end)
end)

-- proves: REP-8
describe("what a scenario's function raises", function()
  it("is named by its type when it is no text", function()
    session.scenarios.busy.ready = function()
      error({ "mine" }, 0)
    end
    local done = execute()
    assert.equal("error value of type table", done.script_error)
    assert.matches("error in script or harness: error value of type table", done.failure.reason)
  end)

  it("speaks for itself when it is an error of ours", function()
    session.scenarios.busy.ready = function()
      error(require("pairperf.error").new("refused", "my step", "my reason"), 0)
    end
    assert.equal("my step: my reason", execute().script_error)
  end)

  it("is told with its line when it is os.exit", function()
    local exit = require("pairperf.sandboxed").exit
    local chunk = load("local exit = ...\nreturn function()\n  exit(0)\nend", "@mine.lua")
    session.scenarios.busy.ready = chunk(exit)
    assert.equal("the script called os.exit(0) at mine.lua:3", execute().script_error)
  end)
end)

-- proves: CAN-1
describe("a cancellation", function()
  for _, case in ipairs { { "warmup", 1 }, { "sampling", 4 } } do
    it(
      "in " .. case[1] .. " keeps the record, stops the application and everything further",
      function()
        host.signal = { at_s = case[2], name = "SIGINT" }
        local done = execute()
        assert.is_true(done.cancelled)
        assert.equal(case[1], done.failure.step)
        assert.equal("SIGINT", event("cancelled").signal)
        assert.is_truthy(done.halt)
        assert.equal(1, host.spawned[1].stops)
        assert.is_truthy(event("guard_after"))
      end
    )
  end

  it("during teardown does not shorten it", function()
    host.commands["/app"] = { on_term = "ignore" }
    host.signal = { at_s = 8, name = "SIGTERM" }
    local done = execute()
    assert.equal("quit", done.failure.step)
    assert.is_true(host.now_ns >= 37 * 1000000000)
  end)

  it("reaches a script", function()
    host.signal = { at_s = 1, name = "SIGHUP" }
    session.scenarios.busy.ready = function(view)
      view:pause(100)
    end
    local done = execute()
    assert.is_true(done.cancelled)
    assert.is_nil(done.script_error)
  end)
end)

-- proves: REP-2, CAN-4
describe("evidence that cannot be written", function()
  it("fails the run, and the application is still stopped", function()
    host.append_error = "events.jsonl"
    local done = execute()
    assert.equal("evidence", done.failure.step)
    assert.matches("ENOSPC", done.failure.reason)
    for _, spawned in ipairs(host.spawned) do
      assert.equal(1, spawned.stops)
    end
  end)
end)
