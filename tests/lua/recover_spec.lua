-- SPDX-License-Identifier: Apache-2.0
--- recover on the evidence of sessions whose harness died.
package.path = "tests/lua/?.lua;" .. package.path
local core = require "pairperf.core"
local fixture = require "fixture"
local recover = require "pairperf.recover"

local json = core.json
local LOCK = ("pairperf-recover-spec-%d"):format(core.clock.now())
local VERDICT = { source = "supervisor", seq = 40 }
for name, value in pairs(fixture.VERDICT) do
  VERDICT[name] = VERDICT[name] or value
end

local dir, plan, stdout, printed

-- The session of a plan of four: the first run is finished, the second was cut off.
local function interrupted(events, more)
  fixture.session(dir, plan, { [0] = { frames = fixture.steady(20) } })
  fixture.write(dir .. "/session.log", "session started\n")
  local run_dir = dir .. "/" .. plan.runs[2].directory
  fixture.run(run_dir, { frames = fixture.steady(20), events = events })
  for name, text in pairs(more or {}) do
    fixture.write(run_dir .. "/" .. name, text)
  end
end

local function cut_short(extra)
  local change = { verdict = false, quit_requested = false, guard_after = false }
  change.sampling_finished, change.check_not_configured = false, false
  for _, event in ipairs(extra or {}) do
    change[#change + 1] = event
  end
  return fixture.events(change)
end

local function spawned()
  return fixture.event("spawned", 5 * fixture.S, { source = "supervisor", seq = 2, pid = 100 })
end

local function read(name)
  return core.fs.read(dir .. "/" .. name)
end

local function summary(i)
  return json.decode(assert(read(plan.runs[i].directory .. "/summary.json")))
end

-- Every file with its content.
local function everything()
  local found = {}
  local list = assert(io.popen("cd '" .. dir .. "' && find . -type f | sort"))
  for name in list:lines() do
    found[#found + 1] = name .. "\n" .. read(name)
  end
  list:close()
  return table.concat(found, "\n")
end

before_each(function()
  dir = fixture.directory()
  plan = fixture.plan { repetitions = 2 }
  plan.tool.test_switches = { PP_LOCK = LOCK }
  printed, stdout = {}, io.stdout
  rawset(io, "stdout", {
    write = function(_, ...)
      printed[#printed + 1] = table.concat { ... }
    end,
  })
end)
after_each(function()
  rawset(io, "stdout", stdout)
  fixture.remove(dir)
end)

-- proves: CAN-5
describe("recover", function()
  it("marks the run that was cut off, skips what never began, and completes the report", function()
    interrupted(
      cut_short { spawned() },
      { ["events.supervisor.jsonl"] = fixture.lines { fixture.event("verdict", 123, VERDICT) } }
    )
    assert.equal(0, (assert(recover.run { dir })))
    local cut = summary(2)
    assert.equal("failed", cut.status)
    assert.equal("interrupted", cut.failure.step)
    assert.matches("the harness died during this run", cut.failure.reason)
    assert.matches(
      "the application's end: proven, nothing of it is left (echild)",
      cut.failure.reason,
      1,
      true
    )
    assert.equal("skipped", summary(3).status)
    assert.equal("skipped", summary(4).status)
    assert.equal(0, json.decode(read "report.json").totals.pending)
    assert.matches("| failed | interrupted |", read "report.md", 1, true)
    assert.is_true(json.decode(read "session.json").interrupted)
    assert.matches("skipped: 2 runs", table.concat(printed))
  end)

  it("leaves finished runs and the evidence of the others as they were", function()
    interrupted(cut_short())
    local first, second = plan.runs[1].directory, plan.runs[2].directory
    local before = read(first .. "/summary.json")
    local events, samples = read(second .. "/events.jsonl"), read(second .. "/samples.jsonl")
    assert(recover.run { dir })
    assert.equal(before, read(first .. "/summary.json"))
    assert.equal(events, read(second .. "/events.jsonl"))
    assert.equal(samples, read(second .. "/samples.jsonl"))
  end)

  it("changes nothing the second time", function()
    interrupted(cut_short { spawned() })
    assert(recover.run { dir })
    local before = everything()
    assert.equal(0, (assert(recover.run { dir })))
    assert.equal(before, everything())
  end)

  it("goes on where it was itself cut off", function()
    interrupted(cut_short { spawned() })
    assert(recover.run { dir })
    local whole = everything()
    for _, name in ipairs { "session.json", "report.json", "report.md", "report.html" } do
      os.remove(dir .. "/" .. name)
    end
    os.remove(dir .. "/" .. plan.runs[2].directory .. "/summary.json")
    assert(recover.run { dir })
    assert.equal(whole, everything())
  end)

  it("keeps the words of a session that had ended", function()
    interrupted(cut_short())
    local text = '{"artifacts":{},"cancelled":true,"failed_or_skipped":3,'
      .. '"schema":"pairperf-session-1","stopped":null}'
    fixture.write(dir .. "/session.json", text)
    assert(recover.run { dir })
    assert.equal(text, read "session.json")
  end)

  it("claims no end that nobody saw", function()
    interrupted(cut_short { spawned() })
    assert(recover.run { dir })
    assert.matches("cleanup unverified: no verdict was saved", summary(2).failure.reason)
  end)

  -- proves: CAN-5
  it("tells what the supervisor of a hook saw at its end", function()
    local left = { verdict = "left_running", survivors = { { pid = 9, start = 8, exe = "/h" } } }
    for name, value in pairs(VERDICT) do
      left[name] = left[name] or value
    end
    local saved = fixture.lines { fixture.event("verdict", 123, left) }
    interrupted(cut_short())
    local hook = ("%s/%s/hook"):format(dir, plan.runs[2].directory)
    assert(core.fs.mkdirs(hook))
    fixture.write(hook .. "/events.supervisor.jsonl", saved)
    assert(recover.run { dir })
    assert.matches("; the hook: left running: pid 9 start 8 /h", summary(2).failure.reason)
  end)

  it("says when nothing had been started", function()
    interrupted(cut_short())
    assert(recover.run { dir })
    assert.matches("no application had been started", summary(2).failure.reason)
  end)

  it("counts the frames that the supervisor saved, each once", function()
    local frames = fixture.steady(20)
    local saved = { frames[#frames - 1], frames[#frames] }
    interrupted(cut_short(), { ["samples.supervisor.jsonl"] = fixture.lines(saved) })
    assert(recover.run { dir })
    assert.matches("frames that the supervisor saved: 2", summary(2).failure.reason)
    assert.equal(#frames, summary(2).window.frames)
  end)

  -- proves: CAN-5
  it("names the records that could not be saved", function()
    local frames = { fixture.frame { seq = 2, t = 1 }, fixture.frame { seq = 4, t = 2 } }
    local event = fixture.event("records_lost", 123, {
      seq = 1,
      source = "supervisor",
      error = { detail = "1 frames, 0 events: no", op = "write", status = "sys", errno = "ENOSPC" },
    })
    interrupted(cut_short(), {
      ["samples.supervisor.jsonl"] = fixture.lines(frames),
      ["events.supervisor.jsonl"] = fixture.lines { event },
    })
    os.remove(("%s/%s/samples.jsonl"):format(dir, plan.runs[2].directory))
    assert(recover.run { dir })
    local reason = summary(2).failure.reason
    assert.matches("; records lost: 1 (1 frames, 0 events: no)", reason, 1, true)
  end)

  -- proves: REP-2
  it("drops a last line that was torn and names its file", function()
    interrupted(cut_short())
    local run_dir = plan.runs[2].directory
    local path = run_dir .. "/events.jsonl"
    local torn = read(path) .. '{"kind":"verdict","verdict":"echi'
    fixture.write(dir .. "/" .. path, torn)
    assert(recover.run { dir })
    assert.same({ "events.jsonl" }, summary(2).evidence.torn)
    assert.matches("no application had been started", summary(2).failure.reason)
    assert.equal(torn, read(path))
  end)

  it("manages with a run of which no line was written", function()
    interrupted(cut_short())
    local run_dir = dir .. "/" .. plan.runs[2].directory
    fixture.write(run_dir .. "/events.jsonl", "")
    os.remove(run_dir .. "/samples.jsonl")
    assert(recover.run { dir })
    assert.equal("interrupted", summary(2).failure.step)
  end)

  it("refuses while the session's lock is held, and writes nothing", function()
    interrupted(cut_short())
    local before = everything()
    local _ <close> = assert(core.lock.acquire(LOCK))
    local status, err = recover.run { dir }
    assert.is_nil(status)
    assert.equal("refused", err.code)
    assert.matches("is still there", tostring(err))
    assert.equal(before, everything())
  end)

  it("gives the lock back", function()
    interrupted(cut_short())
    assert(recover.run { dir })
    local lock <close> = assert(core.lock.acquire(LOCK))
    assert.is_truthy(lock)
  end)

  it("refuses what is no session, and more than one", function()
    local _, err = recover.run { dir }
    assert.equal("invalid", err.code)
    assert.matches("not the output of a session", tostring(err))
    _, err = recover.run { dir, dir }
    assert.equal("invalid", err.code)
  end)
end)
