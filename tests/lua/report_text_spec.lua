-- SPDX-License-Identifier: Apache-2.0
--- How report.md puts together what holds for several metrics or runs.
package.path = "tests/lua/?.lua;" .. package.path
local core = require "pairperf.core"
local fixture = require "fixture"
local json_schema = require "pairperf.json_schema"
local report = require "pairperf.report"
local report_order = require "pairperf.report_order"

-- proves: REP-8
describe("report.md", function()
  local dir
  before_each(function()
    dir = fixture.directory()
  end)
  after_each(function()
    fixture.remove(dir)
  end)

  -- Runs by slot that were all taken, but for those named.
  local function markdown(repetitions, changed)
    local runs = {}
    for slot = 0, 2 * repetitions - 1 do
      runs[slot] = { frames = changed[slot] or fixture.steady(20) }
    end
    fixture.session(dir, fixture.plan { repetitions = repetitions }, runs)
    assert(report.write(dir))
    return assert(core.fs.read(dir .. "/report.md"))
  end

  local function says(text, line)
    assert.is_truthy(text:find("\n- " .. line .. "\n", 1, true), line)
  end

  it("gives slots in a row as a range", function()
    local late = fixture.steady(20)
    for _, frame in ipairs(late) do
      frame.end_ns = frame.t_ns + 2 * fixture.S
      frame.used_ns = frame.end_ns
    end
    local text = markdown(3, { [0] = late, [1] = late, [2] = late, [4] = late, [5] = late })
    says(
      text,
      "slots 0 to 2, 4, 5: window warning: frame_too_long (a pass over the processes took "
        .. "longer than a tenth of the interval)"
    )
    says(text, "slots 0 to 5: no post-run check configured")
  end)

  it("says once what holds for several metrics", function()
    says(
      markdown(1, {}),
      "Footprint, maximum; Footprint, mean; Package idle wakeups; Interrupt wakeups; "
        .. "Processes started; Kernel billed energy counter; Processes started that no frame met: "
        .. "not available: unsupported"
    )
  end)

  -- proves: REP-8 CLI-8
  it(
    "says first what is concluded, then how the variants differ, then what that rests on",
    function()
      local runs = {}
      for slot = 0, 9 do
        runs[slot] = { frames = fixture.steady(slot % 2 == 0 and 20 or 30) }
      end
      local plan =
        fixture.plan { repetitions = 5, differences = core.json.array { "arguments: -x" } }
      plan.tool.test_switches = { PP_LOCK = "mine" }
      plan.diagnostic = { diagnostic_only = true, reasons = core.json.array { "warmup" } }
      fixture.session(dir, plan, runs)
      assert(report.write(dir))
      local text = assert(core.fs.read(dir .. "/report.md")):match "^(.-)\n## "
      local from = 1
      for _, words in ipairs {
        "- Diagnostic only (warm-up under 60 s)",
        "- Scenario overview, indicative only: CPU regressed, +10.0 % of one core or +50.0%",
        "- Scenario overview, indicative only: Resident memory, maximum equivalent, ",
        "the variants differ in:\n\n- arguments: -x",
        "What this rests on:",
        "- Scenario overview: baseline 5 of 5 runs successful",
        "- Scenario overview, only lower bounds: ",
        "- Scenario overview, 5+5 runs: smallest possible p 0.0079; ",
        "- Order: ",
        "- Switches that are for tests only were set: PP_LOCK=mine.",
      } do
        local at = text:find(words, 1, true)
        assert.truthy(at, words .. "\nis not in\n" .. text)
        assert.truthy(at > from, words .. "\nis too early in\n" .. text)
        from = at
      end
    end
  )

  it("begins with failures, which make the rest a matter of luck", function()
    local runs = {}
    for slot = 0, 9 do
      runs[slot] = { frames = fixture.steady(20) }
    end
    runs[1].frames[2].t_ns = runs[1].frames[1].t_ns -- a clock that stood still
    fixture.session(dir, fixture.plan { repetitions = 5 }, runs)
    assert(report.write(dir))
    local first = assert(core.fs.read(dir .. "/report.md")):match "\n\n(%- [^\n]*)"
    assert.matches("candidate 4 of 5 runs successful %(1 failed%)", first)
    assert.matches("failed unequally often", first)
  end)

  it("says once what keeps several metrics open", function()
    local text = markdown(1, {})
    says(
      text,
      "Scenario overview, not concluded: CPU; Resident memory, maximum; Voluntary context switches "
        .. "(at least); Disk writes inconclusive: too few runs for any interval, at least 4 "
        .. "repetitions per variant are needed."
    )
  end)

  -- proves: REP-4
  it("says that carry-over cannot be estimated, and how long the pauses were", function()
    local rows, summaries = {}, {}
    for slot = 0, 4 do
      rows[slot + 1] = { slot = slot, scenario = "a", variant = "baseline", status = "success" }
      local times = { spawned_ns = slot * 10 * fixture.S, verdict_ns = slot * 9 * fixture.S }
      summaries[slot] = { times = times }
    end
    summaries[2].times.verdict_ns = core.json.null -- no pause before slot 3 is known
    summaries[4] = nil -- nor one before a run that did not happen
    local pauses = report_order.pauses(rows, summaries)
    assert.same({ 2, 10 * fixture.S, 11 * fixture.S }, {
      pauses.count,
      pauses.min_ns,
      pauses.max_ns,
    })
    assert.equal(core.json.null, report_order.pauses({ rows[1] }, summaries))
    local text = markdown(1, {})
    local page = assert(core.fs.read(dir .. "/report.html"))
    local built = assert(core.json.decode(assert(core.fs.read(dir .. "/report.json"))))
    assert.equal("not_estimable", built.comparison.carry_over)
    assert.is_nil(json_schema.problem(built))
    for _, whole in ipairs { text, page } do
      assert.truthy(whole:find("Carry-over, what one run leaves behind", 1, true))
    end
    built.pauses = pauses
    assert.matches("lay 10.0 s to 11.0 s, median 10.5 s", report_order.carry_over(built))
  end)

  -- proves: REP-6
  it("ends with the checklist and the lines of the context, each for itself", function()
    fixture.session(dir, fixture.plan { context = "# one\n_two_" }, {})
    assert(report.write(dir))
    local text = assert(core.fs.read(dir .. "/report.md"))
    says(text, "session.log")
    local last = text:match ".*\n## ([^\n]*)\n"
    assert.equal("Checklist", last)
    assert.equal("> \\# one  \n> \\_two\\_  \n", text:match "context:\n\n(.*)$")
  end)

  -- proves: PLAN-1
  it("says when switches for tests were set", function()
    local plan = fixture.plan {}
    plan.tool.test_switches = { PP_KERNEL = "6.1" }
    fixture.session(dir, plan, {})
    assert(report.write(dir))
    local text = assert(core.fs.read(dir .. "/report.md"))
    assert.matches("for tests only were set: PP_KERNEL=6.1", text)
  end)
end)
