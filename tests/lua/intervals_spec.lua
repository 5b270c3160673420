-- SPDX-License-Identifier: Apache-2.0
--- The inside of runs: what a summary keeps of it, and what a report advises.
-- proves: REP-4
package.path = "tests/lua/?.lua;" .. package.path
local core = require "pairperf.core"
local fixture = require "fixture"
local report = require "pairperf.report"
local run_intervals = require "pairperf.run_intervals"

local S = fixture.S

-- Frames one second apart: CPU by `percent(i)` in interval i, memory `bytes(i)` in frame i.
local function frames(count, percent, bytes)
  local list, cpu_ns = {}, 0
  for i = 0, count do
    cpu_ns = cpu_ns + (i > 0 and math.floor(percent(i) / 100 * S) or 0)
    list[i + 1] = {
      t = 100 + i,
      procs = { fixture.proc { cpu_ns = cpu_ns, rss_bytes = bytes(i), leader = true } },
    }
  end
  return fixture.frames(list)
end

local function memory(i)
  return (100 << 20) + 4096 * (i % 3)
end

-- 10 intervals at `first`, then 14 at `rest`, each with a little noise.
local function stepped(first, rest)
  return frames(24, function(i)
    return (i <= 10 and first or rest) + 0.1 * (i * 7 % 5)
  end, memory)
end

describe("a run's intervals", function()
  it("keep size, place and p of the largest step", function()
    local found = run_intervals.build(fixture.samples(stepped(40, 20)))
    local cpu = found.cpu_percent
    assert.equal(24, cpu.n)
    assert.near(-20, cpu.step, 0.5)
    assert.equal(10 * S, cpu.step_ns)
    assert.truthy(cpu.step_p < 0.01)
    assert.truthy(cpu.lag1 > 0.5 and cpu.effective_n < 12)
    assert.near(cpu.total / 24, cpu.mean, 1e-9)
    assert.equal(25, found.rss_mean_bytes.n)
  end)

  it("are by the source of the run's value", function()
    local list = fixture.in_cgroup(stepped(40, 20), 2)
    local samples = fixture.samples(list)
    assert.near(-40, run_intervals.build(samples, "cgroup").cpu_percent.step, 1)
    assert.near(-20, run_intervals.build(samples, "conservation").cpu_percent.step, 0.5)
    list[5].cgroup = core.json.null
    assert.is_nil(run_intervals.build(fixture.samples(list), "cgroup").cpu_percent)
  end)

  it("are absent where one frame has no total", function()
    local list = stepped(40, 20)
    list[5].conservation.cpu_ns = core.json.null
    list[7].procs[1].rss_bytes = core.json.null
    list[7].procs[1].missing.rss_bytes = "denied"
    assert.same({}, run_intervals.build(fixture.samples(list)))
    list = stepped(40, 20)
    list[7].failures[1] =
      { owned = true, pid = 9, op = "stat", status = "denied", errno = "EACCES" }
    assert.is_nil(run_intervals.build(fixture.samples(list)).rss_mean_bytes)
    list[7].failures[1], list[7].enumeration = nil, "denied"
    assert.is_nil(run_intervals.build(fixture.samples(list)).rss_mean_bytes)
    assert.same({}, run_intervals.build(fixture.samples {}))
  end)

  it("have no test when there are few", function()
    local cpu = run_intervals.build(fixture.samples(fixture.steady(20))).cpu_percent
    assert.equal(2, cpu.n)
    assert.equal(core.json.null, cpu.step_p)
    assert.equal(core.json.null, cpu.lag1)
  end)
end)

describe("a report's advice from inside the runs", function()
  local dir
  before_each(function()
    dir = fixture.directory()
  end)
  after_each(function()
    fixture.remove(dir)
  end)

  local function session(make, seconds)
    local plan = fixture.plan { repetitions = 3 }
    plan.scenarios[1].interval_ns, plan.scenarios[1].duration_ns = S, (seconds or 24) * S
    local runs = {}
    for slot = 0, 5 do
      runs[slot] = { frames = make(slot) }
    end
    fixture.session(dir, plan, runs)
    local built = assert(report.write(dir))
    return built.scenarios[1].intervals[1], assert(core.fs.read(dir .. "/report.md"))
  end

  it("names a run that was not steady, with its slot and the time of the step", function()
    local cpu, markdown = session(function(slot)
      return stepped(slot == 3 and 40 or 20, 20)
    end)
    assert.equal(1, #cpu.unsteady)
    assert.equal(3, cpu.unsteady[1].slot)
    assert.equal(10 * S, cpu.unsteady[1].after_ns)
    assert.matches(
      "CPU, slot 3 %(candidate%): it changed by %-[%d.]+ %% of one core after 10.0 s; a longer "
        .. "warm%-up may help",
      markdown
    )
  end)

  it("does not mind a step that is smaller than the margin", function()
    local cpu, markdown = session(function()
      return stepped(20.6, 20)
    end)
    assert.equal(0, #cpu.unsteady)
    assert.is_nil(markdown:find "a longer warm%-up")
  end)

  it("does not mind noise, however large", function()
    local cpu = session(function()
      return frames(24, function(i)
        return 20 + 15 * (i * 7 % 5)
      end, memory)
    end)
    assert.equal(0, #cpu.unsteady)
  end)

  it("says how few independent values the intervals are worth, in every report", function()
    local cpu, markdown = session(function()
      return stepped(40, 20)
    end)
    local likeness = cpu.likeness.baseline
    assert.equal(3, likeness.runs)
    assert.equal(24, likeness.intervals_per_run)
    assert.truthy(likeness.lag1 > 0.5 and likeness.effective_n < 12)
    local words = "CPU, candidate: the 24 values inside a run are worth about %d+ independent ones"
    assert.matches(words, markdown)
    assert.matches(words, assert(core.fs.read(dir .. "/report.html")))
    local few = session(function()
      return frames(6, function()
        return 20
      end, memory)
    end, 6)
    assert.same({ baseline = core.json.null, candidate = core.json.null }, few.likeness)
  end)

  it("says when runs differ more than intervals", function()
    local cpu, markdown = session(function(slot)
      return stepped(20 + 5 * slot, 20 + 5 * slot)
    end)
    assert.truthy(cpu.variance.baseline.share_between > 0.9)
    assert.equal(24, cpu.variance.baseline.intervals_per_run)
    assert.matches("CPU, baseline: runs differ more than intervals inside a run do", markdown)
  end)
end)
