-- SPDX-License-Identifier: Apache-2.0
--- summary.build on evidence that was torn, broken, or saved by the supervisor.
package.path = "tests/lua/?.lua;" .. package.path
local fixture = require "fixture"
local summary = require "pairperf.summary"

local S = fixture.S

describe("a run's summary", function()
  local dir
  before_each(function()
    dir = fixture.directory()
  end)
  after_each(function()
    fixture.remove(dir)
  end)

  local function build(run)
    fixture.run(dir, run)
    local plan = fixture.plan()
    return assert(summary.build(dir, plan, plan.runs[1]))
  end

  -- proves: REP-2 (B31)
  it("B31: drops a last line without its end and says so", function()
    local text = fixture.lines(fixture.steady(25))
    local result = build { samples = text:sub(1, -2) }
    assert.same({ "samples.jsonl" }, result.evidence.torn)
    assert.equal(2, result.window.frames)
    assert.equal("failed", result.status) -- what is left is a partial window
    assert.same({ "partial_window" }, result.window.reasons)
  end)

  it("a whole line that does not parse fails the run", function()
    local text = fixture.lines(fixture.steady(25))
    local result = build { samples = "{broken\n" .. text }
    assert.equal("failed", result.status)
    assert.equal("evidence", result.failure.step)
    assert.equal(1, result.evidence.malformed)
  end)

  it("counts a frame once that harness and supervisor both saved", function()
    local list = fixture.steady(25)
    list[4] = list[3]
    local result = build { frames = list }
    assert.equal(3, result.window.frames)
    assert.equal("success", result.status)
  end)

  -- proves: CAN-5
  it("reads what the supervisor saved when the harness was gone", function()
    local list = fixture.steady(25)
    fixture.run(dir, { frames = { list[1], list[2] }, events = fixture.events { verdict = false } })
    fixture.write(dir .. "/samples.supervisor.jsonl", fixture.lines { list[2], list[3] })
    local saved = fixture.event("verdict", 123 * S, fixture.VERDICT)
    local known = fixture.event("capability", 4 * S, {
      source = "supervisor",
      seq = 1,
      capability = "adoption",
      state = "ok",
      consequence = "again",
    })
    fixture.write(dir .. "/events.supervisor.jsonl", fixture.lines { known, saved })
    local plan = fixture.plan()
    local result = assert(summary.build(dir, plan, plan.runs[1]))
    assert.equal(3, result.window.frames)
    assert.equal("echild", result.verdict.verdict)
    assert.equal(1, #result.capabilities)
    assert.equal("success", result.status)
  end)
end)
