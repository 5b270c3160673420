-- SPDX-License-Identifier: Apache-2.0
--- Faults of other tools that concern a run's figures as a whole, from frames to report.
package.path = "tests/lua/?.lua;" .. package.path
local core = require "pairperf.core"
local fixture = require "fixture"
local json = require "pairperf.json"
local report = require "pairperf.report"
local summary = require "pairperf.summary"

local S = fixture.S

describe("a fault seen elsewhere", function()
  local dir
  before_each(function()
    dir = fixture.directory()
  end)
  after_each(function()
    fixture.remove(dir)
  end)

  local function build(frames)
    fixture.run(dir, { frames = frames })
    local plan = fixture.plan()
    return assert(summary.build(dir, plan, plan.runs[1]))
  end

  local function value(result, name)
    return result.metrics[name].value
  end

  -- proves: TRK-1 REP-1 (B01)
  it("B01: an odd name is kept as it is and changes no figure", function()
    local plain, odd = fixture.steady(100), fixture.steady(100)
    for _, frame in ipairs(odd) do
      frame.procs[1].exe = "/opt/app/x) S 1 (y"
    end
    local one, other = build(plain), build(odd)
    assert.same(one.metrics, other.metrics)
    assert.near(100, other.components["x) S 1 (y"].cpu_percent, 1e-9)
    assert.matches("x%) S 1 %(y", core.fs.read(dir .. "/samples.jsonl"))
  end)

  -- proves: SMP-3 (B02)
  it("B02: a wall clock that is set back an hour moves no figure and is noted", function()
    local frames = fixture.steady(25)
    for i = 2, 3 do
      frames[i].wall_ns = frames[i].wall_ns - 3600 * S
    end
    local result = build(frames)
    assert.equal("success", result.status)
    assert.equal(20 * S, result.window.elapsed_ns)
    assert.equal(-3600 * S, result.window.wall_step_ns)
    assert.near(25, value(result, "cpu_percent_observed"), 1e-9)
    assert.equal(1, result.processes) -- the same one, not a newcomer
    frames = fixture.steady(25)
    for i = 2, 3 do
      frames[i].cont_ns = frames[i].cont_ns + 50000000
      frames[i].wall_ns = frames[i].wall_ns + 50000000
    end
    assert.equal(0, build(frames).window.wall_step_ns) -- a sleep sets no clock
  end)

  -- proves: SMP-3 (B02)
  it("B02: the report says that the wall clock was set, not that it was steered", function()
    local set, steered = fixture.steady(20), fixture.steady(20)
    set[3].wall_ns = set[3].wall_ns - 3600 * S
    steered[3].wall_ns = steered[3].wall_ns + 99000000
    fixture.session(dir, fixture.plan {}, { [0] = { frames = set }, { frames = steered } })
    assert(report.write(dir))
    local markdown = assert(core.fs.read(dir .. "/report.md"))
    assert.matches("\n%- slot 0: the wall clock was set by %-3600.0 s during the window;", markdown)
    assert.equal(1, select(2, markdown:gsub("wall clock was set", "")))
  end)

  -- proves: TRK-6 MET-6 (B03)
  it("B03: a process list that never fits is no empty tree", function()
    local frames = fixture.steady(25)
    frames[2].procs, frames[2].enumeration = json.array {}, "enumeration"
    local result = build(frames)
    assert.equal(json.null, value(result, "rss_max_bytes"))
    assert.equal(json.null, value(result, "rss_mean_bytes"))
    assert.equal(100 << 20, result.metrics.rss_max_bytes.partial)
  end)

  -- proves: TRK-6 (B04)
  it("B04: foreign denials are counted in the frame and nothing more", function()
    local frames = fixture.steady(25)
    for _, frame in ipairs(frames) do
      for pid = 1, 40 do
        frame.failures[pid] =
          { pid = 2000 + pid, owned = false, op = "identify", status = "denied", errno = "EPERM" }
      end
    end
    local result = build(frames)
    assert.equal("success", result.status)
    assert.same({}, result.metrics.cpu_percent_observed.flags)
    assert.equal(100 << 20, value(result, "rss_max_bytes"))
    assert.equal(1, result.processes)
  end)

  -- proves: TRK-6 MET-6 (B05)
  it("B05: an unreadable program is alive, and nothing of it is a zero", function()
    local frames = fixture.steady(25)
    for _, frame in ipairs(frames) do
      frame.procs[1] = fixture.proc {
        cpu_ns = frame.procs[1].cpu_ns,
        rss_bytes = 100 << 20,
        write_bytes = { missing = "denied" },
        cancelled_write_bytes = { missing = "denied" },
        pss_bytes = { missing = "denied" },
        uss_bytes = { missing = "denied" },
        swap_bytes = { missing = "denied" },
        footprint_pss_bytes = { missing = "denied" },
        leader = true,
      }
      frame.conservation.write_bytes = json.null
      frame.conservation.missing = { write_bytes = "denied" }
    end
    local result = build(frames)
    assert.equal("failed", result.status)
    assert.matches("write_bytes %(denied%) of pid 100", result.failure.reason)
    for _, name in ipairs { "write_bytes_per_second", "pss_max_bytes" } do
      assert.equal(json.null, value(result, name), name)
    end
    assert.equal(100 << 20, value(result, "rss_max_bytes")) -- plainly resident, and called so
    assert.near(25, value(result, "cpu_percent_observed"), 1e-9)
    assert.equal(json.null, result.components.app.pss_max_bytes)
  end)

  -- proves: SMP-4 SMP-5 (B06)
  it("B06: a single frame has no rate, and no zero in its place", function()
    local result = build { fixture.steady(25)[1] }
    assert.equal(json.null, value(result, "cpu_percent_observed"))
    assert.equal("failed", result.status)
  end)

  -- proves: SMP-4 (B07)
  it("B07: a child's end makes no spike and no fall in any interval", function()
    local function child(i)
      return fixture.proc {
        pid = 101,
        exe = "child",
        start = 100,
        start_ns = 100 * S + 1,
        cpu_ns = i * S,
      }
    end
    local list = {}
    for i = 0, 5 do
      local ended = i > 3
      list[i + 1] = {
        t = 100 + i,
        procs = {
          fixture.proc { child_cpu_ns = ended and 3 * S or 0 },
          not ended and child(i) or nil,
        },
        conservation = { cpu_ns = math.min(i, 3) * S },
        exits = { i == 4 and fixture.exit(child(3)) or nil },
      }
    end
    local intervals = require "pairperf.run_intervals"
    local frames = fixture.frames(list)
    assert.near(60, intervals.build(fixture.samples(frames)).cpu_percent.mean, 1e-9)
    local planned = { interval_ns = S, duration_ns = 5 * S }
    local result = require("pairperf.run_metrics").build(fixture.samples(frames), planned, {})
    assert.near(60, result.metrics.cpu_percent_observed.value, 1e-9)
    assert.near(60, result.metrics.cpu_percent_conservation.value, 1e-9)
    assert.near(60, result.components.child.cpu_percent, 1e-9)
  end)

  -- proves: MET-3 (B10)
  it("B10: copy-on-write pages count once in the proportional sum alone", function()
    local frames = fixture.steady(1)
    for _, frame in ipairs(frames) do
      for i = 1, 5 do
        frame.procs[i] = fixture.proc {
          pid = 99 + i,
          rss_bytes = 256 << 20,
          pss_bytes = (256 << 20) // 5,
          uss_bytes = 0,
          swap_bytes = 0,
          footprint_pss_bytes = 0,
        }
      end
    end
    local result = build(frames)
    assert.near(256 << 20, value(result, "pss_max_bytes"), 8)
    assert.equal(5 * (256 << 20), value(result, "rss_max_bytes"))
  end)

  -- proves: MET-3 (B10)
  it("B10: the report says that resident memory counts shared pages more than once", function()
    fixture.session(dir, fixture.plan {}, { [0] = { frames = fixture.steady(20) } })
    assert(report.write(dir))
    local markdown = assert(core.fs.read(dir .. "/report.md"))
    assert.matches("Proportional memory %(PSS%), maximum", markdown)
    assert.matches("several processes share more than once", markdown)
  end)

  -- proves: SMP-8 SMP-3 (B11)
  it("B11: a pass that overruns is timed, flagged, and changes no method", function()
    local frames = fixture.steady(25)
    frames[2].end_ns, frames[2].used_ns = frames[2].t_ns + 4 * S, frames[2].t_ns + 4 * S
    local result = build(frames)
    assert.equal("success", result.status)
    assert.same({ "frame_too_long" }, { table.unpack(result.window.warnings) })
    assert.equal(4 * S, result.window.pass_ns.max)
    assert.equal(4 * S, result.own_cost.pass_ns.max)
    assert.equal(3, result.metrics.pss_max_bytes.passes)
  end)

  -- proves: SMP-5 MET-4 MET-6 (B12)
  it("B12: an energy counter that falls is regressed, never a wrap and never negative", function()
    local frames = fixture.steady(25)
    for i, raw in ipairs { 3999990000, 4000000000, 10000 } do
      frames[i].procs[1].billed_energy = raw
      frames[i].procs[1].missing.billed_energy = nil
    end
    local energy = build(frames).metrics.billed_energy_per_second
    assert.equal(json.null, energy.value)
    assert.same({ "counter_regressed" }, { table.unpack(energy.flags) })
    assert.near(500, energy.partial, 1e-9)
  end)
end)
