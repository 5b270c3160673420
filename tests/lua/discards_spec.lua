-- SPDX-License-Identifier: Apache-2.0
--- Who discards what its children used: named in a run's summary and among the findings.
package.path = "tests/lua/?.lua;" .. package.path
local core = require "pairperf.core"
local fixture = require "fixture"
local report_findings = require "pairperf.report_findings"
local summary = require "pairperf.summary"

local json, S = core.json, fixture.S

describe("parents that discard what their children used", function()
  local dir
  before_each(function()
    dir = fixture.directory()
  end)
  after_each(function()
    fixture.remove(dir)
  end)

  local function told(seq, pid, exe)
    return fixture.event("discards_children", 100 * S + pid, {
      source = "supervisor",
      seq = seq,
      pid = pid,
      start = 7000 + pid,
      exe = exe,
    })
  end

  local function built(events)
    fixture.run(dir, { frames = fixture.steady(25), events = fixture.events(events) })
    local plan = fixture.plan()
    return assert(summary.build(dir, plan, plan.runs[1]))
  end

  -- proves: MET-7, TRK-5
  it("are named by executable, number and start in the summary, each once", function()
    local found = built {
      told(40, 12, "/opt/forkd"),
      told(41, 13, "/opt/other"),
      told(40, 12, "/opt/forkd"), -- saved by both
    }
    assert.same({
      { exe = "/opt/forkd", pid = 12, start = 7012 },
      { exe = "/opt/other", pid = 13, start = 7013 },
    }, found.discarders)
    assert.equal("[]", json.encode(built({}).discarders))
  end)

  local function findings(discarders)
    local rows = { { slot = 3, scenario = "idle", variant = "baseline" } }
    return report_findings.build(rows, { [3] = { discarders = discarders } })
  end

  -- proves: MET-7, REP-12
  it("are a finding, by name, with the processes beside it", function()
    local one = { exe = "/opt/forkd", pid = 12, start = 1 }
    local same = { exe = "/usr/forkd", pid = 14, start = 1 }
    local other = { exe = { bytes_hex = "2f61ff" }, pid = 13, start = 1 }
    local found = findings { one }
    assert.equal(1, #found)
    assert.equal("children_discarded", found[1].kind)
    assert.equal(3, found[1].slot)
    assert.same({ one }, found[1].processes)
    assert.equal(
      "CPU and writes by conservation are lower bounds: forkd discards what its children used",
      found[1].text
    )
    assert.matches(
      "lower bounds: a\\xff, forkd discard what their children used",
      findings({ one, other, same })[1].text,
      1,
      true
    )
    assert.same({}, findings {})
    assert.same({}, findings(nil))
  end)
end)
