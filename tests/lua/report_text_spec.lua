-- SPDX-License-Identifier: Apache-2.0
--- How report.md puts together what holds for several metrics or runs.
package.path = "tests/lua/?.lua;" .. package.path
local core = require "pairperf.core"
local fixture = require "fixture"
local report = require "pairperf.report"

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
        .. "Kernel billed energy counter: not available: unsupported"
    )
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
