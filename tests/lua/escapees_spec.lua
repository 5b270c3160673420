-- SPDX-License-Identifier: Apache-2.0
--- What reports say of processes that left the application's group or session.
package.path = "tests/lua/?.lua;" .. package.path
local core = require "pairperf.core"
local fixture = require "fixture"
local report = require "pairperf.report"

local json, S = core.json, fixture.S

describe("a report", function()
  local dir
  before_each(function()
    dir = fixture.directory()
  end)
  after_each(function()
    fixture.remove(dir)
  end)

  local function write(plan, runs)
    fixture.session(dir, plan, runs)
    local built = assert(report.write(dir))
    return built, assert(core.fs.read(dir .. "/report.md"))
  end

  -- proves: GRP-12
  it("names who left the group, when that was seen, and what became of them", function()
    local function escapee(pid, exe, expected)
      return { pid = pid, start = 9, unique = 0, pgid = pid, exe = exe, expected = expected }
    end
    local function event(kind, t, pid, fields)
      fields = fields or {}
      fields.source, fields.pid, fields.start, fields.seq = "supervisor", pid, 9, pid + t
      return fixture.event(kind, t * S, fields)
    end
    local verdict = {}
    for name, value in pairs(fixture.VERDICT) do
      verdict[name] = value
    end
    verdict.escapees = json.array { escapee(77, "/opt/crashpad", true), escapee(78, "/opt/lsd") }
    local gone = {
      frames = fixture.steady(20),
      events = fixture.events {
        verdict = verdict,
        event("spawned", 5, 70),
        event("escaped", 8, 77),
        event("escaped", 9, 78),
        event("signal", 122, 77, { target = "escapee", signal = "SIGKILL" }),
      },
    }
    local left = {}
    for name, value in pairs(verdict) do
      left[name] = value
    end
    left.verdict, left.escapees_total = "left_running", 5
    left.survivors = json.array { escapee(77, "/opt/crashpad", true), escapee(78, "/opt/lsd") }
    left.survivors[1].phase, left.survivors[2].phase = "zombie", "alive"
    local running = { frames = gone.frames, events = fixture.events { verdict = left } }
    local built, markdown = write(fixture.plan {}, { [0] = gone, [1] = running })
    assert.equal("not_reaped", built.runs[2].escapees[1].became)
    assert.equal("still_running", built.runs[2].escapees[2].became)
    local function says(text)
      assert.is_truthy(markdown:find(text, 1, true), text)
    end
    local LEFT = "a process left the application's group or session: "
    says(
      "slot 0: "
        .. LEFT
        .. "/opt/crashpad (pid 77, start token 9), first seen outside 3.0 s "
        .. "after launch, declared by --expect-escapee; it was ended by us as a declared helper"
    )
    says(
      "slot 0: "
        .. LEFT
        .. "/opt/lsd (pid 78, start token 9), first seen outside 4.0 s after "
        .. "launch; it was gone at the end"
    )
    says(
      "slot 1: "
        .. LEFT
        .. "/opt/lsd (pid 78, start token 9); it was not signalled and is still running"
    )
    says "declared by --expect-escapee; it ended, and its parent has not reaped it"
    says "slot 1: before a left-over is ended by hand: its start token tells it from a later"
    says "slot 1: 5 processes left the application's group or session in all; 2 are named here"
    says "slot 0: observed escapees gone"
    assert.is_nil(markdown:find("slots 0, 1: observed escapees gone", 1, true))
    assert.is_nil(markdown:find("contained", 1, true))
  end)

  -- proves: CAN-3, GRP-12
  it("calls nobody signalled who was not, and names what ended the others", function()
    local function escapee(pid, expected)
      return { pid = pid, start = 9, unique = 0, pgid = pid, exe = "/x", expected = expected }
    end
    local function told(verdict, ...)
      local signals = {}
      for i, one in ipairs { ... } do
        one.seq, one.source, one.start = 10 + i, "supervisor", 9
        signals[i] = fixture.event("signal", (120 + i) * S, one)
      end
      for name, value in pairs(fixture.VERDICT) do
        verdict[name] = verdict[name] == nil and value or verdict[name]
      end
      verdict.escapees = json.array { escapee(77, true), escapee(78, false) }
      verdict.escapees_total = 2
      signals.verdict = verdict
      local run = { frames = fixture.steady(20), events = fixture.events(signals) }
      local _, markdown = write(fixture.plan {}, { [0] = run, run })
      return markdown
    end
    local LEFT = {
      verdict = "left_running",
      escapees_killed = true,
      survivors = json.array { escapee(78, false) },
    }
    local text = told(LEFT, { target = "escapee", pid = 77, signal = "SIGKILL" })
    assert.matches("pid 77[^;]*; it was ended by us as a declared helper", text)
    assert.matches("pid 78[^;]*; it was not signalled and is still running", text)
    assert.is_nil(text:find "whoever of them")
    assert.is_nil(text:find "observed escapees gone")

    local refused = { status = "denied", op = "kill", detail = "", errno = "EPERM" }
    text = told(
      { verdict = "left_running", survivors = LEFT.survivors },
      { target = "escapee", pid = 78, signal = "SIGKILL", error = refused }
    )
    assert.matches("pid 78[^;]*; a SIGKILL to it was refused, and it is still running", text)

    text = told({ verdict = "echild", cause = "wait_failed" }, { target = "cgroup" })
    assert.matches("left then was sent SIGKILL because the supervisor could not wait", text)
    assert.is_nil(text:find "reap%-escapees asks")
  end)

  -- proves: TRK-4, GRP-12
  it("does not call escapees gone while others, not named, are left", function()
    local verdict = { survivors = json.array { { pid = 5, start = 1, exe = "/y" } } }
    for name, value in pairs(fixture.VERDICT) do
      verdict[name] = verdict[name] or value
    end
    verdict.verdict, verdict.escapees_total = "left_running", 65
    verdict.escapees = json.array {
      { pid = 77, start = 9, exe = "/x", expected = false },
      { pid = 78, start = 0, exe = "[unread]", expected = false },
    }
    local run = { frames = fixture.steady(20), events = fixture.events { verdict = verdict } }
    local _, markdown = write(fixture.plan {}, { [0] = run, run })
    assert.matches("pid 77[^;]*; it was gone at the end", markdown)
    assert.matches("pid 78, start token not read%)", markdown)
    assert.is_nil(markdown:find "observed escapees gone")
  end)
end)
