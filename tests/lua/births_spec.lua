-- SPDX-License-Identifier: Apache-2.0
--- Processes that were born, by the kernel's notices, and those that a frame met.
package.path = "tests/lua/?.lua;" .. package.path
local fixture = require "fixture"
local json = require "pairperf.json"
local report_findings = require "pairperf.report_findings"
local run_metrics = require "pairperf.run_metrics"

local PLANNED <const> = { interval_ns = 10 * fixture.S, duration_ns = 20 * fixture.S }

describe("births", function()
  local frames
  before_each(function()
    frames = fixture.steady(25)
    for i, frame in ipairs(frames) do
      frame.births = { count = 100 * i, missing = {} }
    end
  end)

  local function built()
    return run_metrics.build(fixture.samples(frames), PLANNED, {}).metrics
  end

  local function later(pid)
    local proc = {}
    for key, value in pairs(frames[2].procs[1]) do
      proc[key] = value
    end
    proc.pid, proc.start, proc.leader = pid, proc.start + pid, false
    return proc
  end

  -- proves: TRK-5
  it("count from the first pass of the window to the last, met ones or not", function()
    table.insert(frames[2].procs, later(501))
    table.insert(frames[3].procs, later(502))
    local metrics = built()
    assert.near(200 / 20, metrics.process_births_per_second.value, 1e-9)
    assert.near(198 / 20, metrics.process_births_unmet_per_second.value, 1e-9)
  end)

  it("are not fewer than were met, whoever was noticed earlier than met", function()
    for _, frame in ipairs(frames) do
      frame.births.count = 1
    end
    table.insert(frames[2].procs, later(501))
    assert.equal(0, built().process_births_unmet_per_second.value)
  end)

  -- proves: SMP-9
  it("have no value with the reason where the kernel does not tell, or lost a notice", function()
    frames[3].births = { count = json.null, missing = { count = "enumeration" } }
    for _, name in ipairs { "process_births_per_second", "process_births_unmet_per_second" } do
      local one = built()[name]
      assert.equal(json.null, one.value)
      assert.equal("enumeration", one.reason)
    end
  end)

  -- proves: REP-12
  it("were not measured in evidence from before there was a count", function()
    for _, frame in ipairs(frames) do
      frame.births = nil
    end
    assert.equal("not_measured", built().process_births_per_second.reason)
  end)

  local function findings()
    local rows = { { slot = 3, scenario = "idle", variant = "baseline" } }
    return report_findings.build(rows, { [3] = { metrics = built() } })
  end

  -- proves: TRK-5
  it("are a finding where most of them lived between two frames", function()
    local found = findings()
    assert.equal(1, #found)
    assert.equal("births_unmet", found[1].kind)
    assert.equal(3, found[1].slot)
    assert.near(10, found[1].unmet_per_second, 1e-9)
    frames[2].births.count, frames[3].births.count = 101, 110
    for pid = 501, 509 do
      table.insert(frames[3].procs, later(pid))
    end
    assert.same({}, findings())
  end)
end)
