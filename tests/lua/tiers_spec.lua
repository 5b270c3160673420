-- SPDX-License-Identifier: Apache-2.0
--- Totals by source: the control group, conservation, what was observed; which of them leads, and
--- what they say of each other.
package.path = "tests/lua/?.lua;" .. package.path
local core = require "pairperf.core"
local fixture = require "fixture"
local json = require "pairperf.json"
local report = require "pairperf.report"
local report_table = require "pairperf.report_table"
local run_metrics = require "pairperf.run_metrics"

local S = fixture.S
local PLANNED = { interval_ns = 10 * S, duration_ns = 20 * S }

local function built(frames, excluded)
  return run_metrics.build(fixture.samples(frames), PLANNED, excluded or {})
end

describe("the control group's total", function()
  local frames
  before_each(function()
    frames = fixture.in_cgroup(fixture.steady(25), 1.2)
  end)

  -- proves: MET-7
  it("leads, names its source, and leaves the others beside it", function()
    local metrics = built(frames).metrics
    assert.equal("cgroup", metrics.cpu_percent.tier)
    assert.near(30, metrics.cpu_percent.value, 1e-9)
    assert.is_nil(metrics.cpu_percent.error)
    assert.near(25, metrics.cpu_percent_conservation.value, 1e-9)
    assert.near(25, metrics.cpu_percent_observed.value, 1e-9)
  end)

  -- proves: MET-6, MET-7
  it("is partial once a process was seen outside, before the window, too", function()
    local early = fixture.frame { t = 95, seq = 0, window = 0, kind = "track" }
    early.cgroup = fixture.cgroup { cpu_ns = 0, strays = 1 }
    table.insert(frames, 1, early)
    local metrics = built(frames).metrics
    assert.equal(json.null, metrics.cpu_percent_cgroup.value)
    assert.equal("a process left the cgroup", metrics.cpu_percent_cgroup.reason)
    assert.near(30, metrics.cpu_percent_cgroup.partial, 1e-9)
    assert.same({ "lower_bound" }, metrics.cpu_percent_cgroup.flags)
    assert.equal("conservation", metrics.cpu_percent.tier)
  end)

  it("does not mind who is seen outside after the window", function()
    frames[4] = fixture.frame { t = 125, seq = 9, window = 0, kind = "track" }
    frames[4].cgroup = fixture.cgroup { cpu_ns = 0, strays = 1 }
    assert.equal("cgroup", built(frames).metrics.cpu_percent.tier)
  end)

  -- proves: MET-6
  it("is partial where a reading is missing, wherever that is", function()
    for at, partial in ipairs { 15, 30, 15 } do
      local list = fixture.in_cgroup(fixture.steady(25), 1.2)
      list[at].cgroup = fixture.cgroup { cpu_ns = { missing = "denied" } }
      local total = built(list).metrics.cpu_percent_cgroup
      assert.equal(json.null, total.value)
      assert.equal("denied", total.reason)
      assert.near(partial, total.partial, 1e-9)
    end
  end)

  -- proves: MET-6, SMP-5
  it("is partial when it falls, and a fall adds nothing", function()
    frames[2].cgroup.cpu_ns = frames[2].cgroup.cpu_ns + 9 * S
    local total = built(frames).metrics.cpu_percent_cgroup
    assert.equal(json.null, total.value)
    assert.equal("counter_regressed", total.reason)
    assert.near(60, total.partial, 1e-9)
  end)

  -- proves: MET-6, REP-12
  it("is null with a reason without a group, and in evidence from before there was one", function()
    for _, nothing in ipairs { json.null, false } do
      for _, frame in ipairs(frames) do
        frame.cgroup = nothing or nil
      end
      local metrics = built(frames).metrics
      assert.equal("no_cgroup", metrics.cpu_percent_cgroup.reason)
      assert.equal(json.null, metrics.cpu_percent_cgroup.partial)
      assert.equal("conservation", metrics.cpu_percent.tier)
    end
  end)

  -- proves: MET-1, MET-7
  it("minus the components is unattributed; an observed total has no such rest", function()
    local metrics = built(frames).metrics
    assert.near(5, metrics.cpu_percent_unattributed.value, 1e-9)
    assert.equal("cgroup", metrics.cpu_percent_unattributed.tier)
    assert.near(0, metrics.cpu_percent_unattributed_conservation.value, 1e-9)
    assert.equal(json.null, metrics.cpu_percent_unattributed_observed.value)
  end)

  it("is void in a void window", function()
    frames[2].cont_ns = frames[2].cont_ns + 5 * S
    assert.equal("window void: suspended", built(frames).metrics.cpu_percent_cgroup.reason)
  end)
end)

describe("two totals of one window", function()
  -- Conservation says 5 s, the group `more_ns` more.
  local function check(more_ns, change)
    local frames = fixture.in_cgroup(fixture.steady(25))
    frames[3].cgroup.cpu_ns = frames[3].cgroup.cpu_ns + more_ns
    if change then
      change(frames)
    end
    return built(frames).cross_check
  end

  -- proves: MET-7
  it("agree up to one percent or 30 ms, whichever is more", function()
    assert.is_true(check(0).agrees)
    assert.is_true(check(50000000).agrees) -- under one percent
    local apart = check(60000000)
    assert.is_false(apart.agrees)
    assert.equal(5060000000, apart.cgroup_ns)
    assert.equal(5 * S, apart.conservation_ns)
    assert.equal(-60000000, apart.difference_ns)
    assert.near(60 / 5060, apart.share, 1e-12)
    assert.is_false(check(-60000000).agrees)
    local small = fixture.in_cgroup(fixture.steady(1))
    small[3].cgroup.cpu_ns = small[3].cgroup.cpu_ns + 30000000
    assert.is_true(built(small).cross_check.agrees) -- 13 percent, but within the ticks
  end)

  it("are not held against each other when one is known to lack something", function()
    assert.is_nil(check(S, function(frames)
      frames[2].cgroup.strays = 1
    end))
    assert.is_nil(check(S, function(frames)
      frames[3].conservation.cpu_ns = json.null
    end))
    assert.is_true(check(S, function(frames)
      frames[2].conservation.lower_bound = true
    end).lower_bound)
  end)
end)

describe("what is charged to the group", function()
  local function charged(change)
    local frames = fixture.steady(25)
    for i, frame in ipairs(frames) do
      frame.cgroup = fixture.cgroup {
        cpu_ns = i * S,
        write_bytes = 4096 * i,
        memory = { current_bytes = i << 20, anon_bytes = 5 << 20, peak_bytes = (8 + i) << 20 },
      }
    end
    if change then
      change(frames)
    end
    return built(frames).metrics
  end

  -- proves: MET-3
  it("has maximum and mean by part, where it is readable", function()
    local metrics = charged()
    assert.equal(3 << 20, metrics.cgroup_memory_current_max_bytes.value)
    assert.near(2 << 20, metrics.cgroup_memory_current_mean_bytes.value, 1e-6)
    assert.equal(5 << 20, metrics.cgroup_memory_anon_max_bytes.value)
    assert.equal(11 << 20, metrics.cgroup_memory_peak_bytes.value)
    assert.equal(3, metrics.cgroup_memory_current_max_bytes.passes)
    assert.is_nil(metrics.cgroup_memory_swap_max_bytes)
    assert.is_nil(built(fixture.in_cgroup(fixture.steady(25))).metrics.cgroup_memory_peak_bytes)
  end)

  -- proves: MET-3, MET-6
  it("is partial with a missing reading or a process outside", function()
    local missing = charged(function(frames)
      frames[3].cgroup.memory.current_bytes = json.null
      frames[3].cgroup.missing.current_bytes = "denied"
    end).cgroup_memory_current_max_bytes
    assert.same({ json.null, "denied", 2 << 20, 2 }, {
      missing.value,
      missing.reason,
      missing.partial,
      missing.passes,
    })
    local left = charged(function(frames)
      frames[1].cgroup.strays = 2
    end).cgroup_memory_anon_mean_bytes
    assert.equal("a process left the cgroup", left.reason)
  end)

  -- proves: MET-2, MET-7
  it("counts device writes apart from the writes that dirtied pages", function()
    local metrics = charged()
    assert.near(409.6, metrics.write_bytes_per_second_cgroup.value, 1e-9)
    assert.equal("conservation", metrics.write_bytes_per_second.tier)
    assert.near(819.2, metrics.write_bytes_per_second.value, 1e-9)
    assert.is_nil(metrics.read_bytes_per_second_cgroup)
  end)
end)

describe("a report by sources", function()
  local dir
  before_each(function()
    dir = fixture.directory()
  end)
  after_each(function()
    fixture.remove(dir)
  end)

  local function write(runs, plan)
    fixture.session(dir, plan or fixture.plan { repetitions = 2 }, runs)
    local made = assert(report.write(dir))
    local texts = { terminal = report_table.render(made) }
    for _, kind in ipairs { "md", "html" } do
      texts[kind] = assert(core.fs.read(dir .. "/report." .. kind))
    end
    return made, texts
  end

  local function row(made, name)
    for _, one in ipairs(made.scenarios[1].metrics) do
      if one.name == name then
        return one
      end
    end
  end

  local function request(i)
    return {
      schema = "pairperf-request-1",
      send_ns = (101 + 4 * i) * S,
      end_ns = (102 + 4 * i) * S,
      status = "ok",
      tokens = 10,
      e2e_ms = 1000.0,
    }
  end

  -- Four runs at 20 % by conservation and twice that in the group, with two requests each.
  local function four(change)
    local runs = {}
    for slot = 0, 3 do
      local frames = fixture.in_cgroup(fixture.steady(20), 2)
      runs[slot] = { frames = frames, requests = { request(0), request(1) } }
    end
    if change then
      change(runs)
    end
    return runs
  end

  -- proves: MET-7
  it("takes the group's total when every run has it", function()
    local made, texts = write(four())
    assert.equal("cgroup", row(made, "cpu_percent").tier)
    assert.near(40, row(made, "cpu_percent").baseline.median, 1e-9)
    assert.near(4000, row(made, "cpu_ms_per_request").baseline.median, 1e-6)
    assert.near(20, row(made, "cpu_percent_unattributed").baseline.median, 1e-9)
    assert.matches("CPU | %% of one core %(cgroup%)", texts.md)
    assert.matches("CPU +%% of one core %(cgroup%)", texts.terminal)
    assert.matches("%% of one core %(cgroup%)", texts.html)
  end)

  -- proves: MET-7, INF-4
  it("takes one source for all runs and all that follows from it, never a mixture", function()
    local made, texts = write(four(function(runs)
      for _, frame in ipairs(runs[3].frames) do
        frame.cgroup = json.null
      end
    end))
    for name, median in pairs {
      cpu_percent = 20,
      cpu_ms_per_request = 2000,
      cpu_ms_per_token = 200,
      cpu_percent_unattributed = 0,
    } do
      local one = row(made, name)
      assert.equal("conservation", one.tier, name)
      assert.equal(2, one.candidate.n, name)
      assert.near(median, one.baseline.median, 1e-6, name)
      assert.near(median, one.baseline.max, 1e-6, name)
      assert.near(median, one.candidate.max, 1e-6, name)
    end
    assert.equal(1, row(made, "cpu_percent_cgroup").candidate.n)
    assert.equal(2, row(made, "cpu_percent_observed").candidate.n)
    assert.same({ "no_cgroup" }, { table.unpack(row(made, "cpu_percent_cgroup").reasons) })
    assert.matches("CPU of the control group: missing in some runs: no_cgroup\n", texts.md)
  end)

  -- proves: INF-4, MET-5
  it("counts a run without a completed request as missing, by the same source", function()
    local made = write(four(function(runs)
      local censored = { send_ns = 110 * S, end_ns = 125 * S, status = "censored", tokens = 0 }
      runs[1].requests = { censored }
    end))
    local one = row(made, "cpu_ms_per_request")
    assert.equal("cgroup", one.tier)
    assert.same({ 1, 1 }, { one.candidate.n, one.candidate.missing })
  end)

  -- proves: MET-7, TRK-5
  it("says at least beside a lower bound, and whose it is", function()
    local function ignoring(runs)
      for _, run in pairs(runs) do
        for _, frame in ipairs(run.frames) do
          frame.cgroup = json.null
        end
      end
      runs[1].frames[2].conservation.lower_bound = true
    end
    local made, texts = write(four(ignoring))
    assert.equal(0, row(made, "cpu_percent").baseline.lower_bound)
    assert.equal(1, row(made, "cpu_percent").candidate.lower_bound)
    for kind, text in pairs(texts) do
      assert.matches("of one core %(conservation, candidate at least%)", text, nil, nil, kind)
      assert.matches(
        "only lower bounds: CPU;[^\n]+ %(in 1 of 4 runs, as a member discards what its children",
        text
      )
    end
    assert.matches("at least what is shown: a member discards what its children used", texts.md)
    local _, both = write(four(function(runs)
      ignoring(runs)
      runs[0].frames[2].conservation.lower_bound = true
    end))
    assert.matches("of one core %(conservation, at least%)", both.terminal)
  end)

  it("does not call the group's total a lower bound for that", function()
    local made, texts = write(four(function(runs)
      runs[1].frames[2].conservation.lower_bound = true
    end))
    assert.equal(0, row(made, "cpu_percent").candidate.lower_bound)
    assert.is_nil(texts.terminal:find("only lower bounds: CPU", 1, true))
    assert.matches(
      "only lower bounds: Voluntary context switches; Involuntary context switches %(in 4 of 4 "
        .. "runs, as what a thread did",
      texts.terminal
    )
  end)

  it("marks lower bounds of the source that is shown, not of a run's own best", function()
    local made = write(four(function(runs)
      runs[1].frames[2].conservation.lower_bound = true -- its own best is the group's total
      for _, frame in ipairs(runs[3].frames) do
        frame.cgroup = json.null
      end
    end))
    assert.equal("conservation", row(made, "cpu_percent").tier)
    assert.equal(1, row(made, "cpu_percent").candidate.lower_bound)
  end)

  -- proves: MET-6
  it("shows partial figures as what they are", function()
    local made, texts = write(four(function(runs)
      runs[1].frames[2].cgroup.strays = 1
    end))
    assert.same({ low = 40, high = 40 }, row(made, "cpu_percent_cgroup").partial)
    assert.matches(
      "missing in some runs: a process left the cgroup; partial, in no statistic: 40.0 %% of one",
      texts.md
    )
  end)

  -- proves: MET-7
  it("reports sources that contradict each other", function()
    local made, texts = write(four())
    assert.equal(4, #made.findings)
    local one = made.findings[1]
    assert.same(
      { "cpu_totals_differ", 0, 8 * S, 4 * S, 0.5 },
      { one.kind, one.slot, one.cgroup_ns, one.conservation_ns, one.share }
    )
    for _, text in pairs(texts) do
      assert.matches("by the cgroup and by conservation differ by up to 50.0 %%", text)
    end
    for _, text in ipairs { texts.md, texts.html } do
      assert.matches(
        "slots 0 to 3: CPU by two sources is 50.0 %% apart: 8.000 s by the cgroup, 4.000 s by",
        text
      )
    end
    fixture.remove(dir)
    dir = fixture.directory()
    local same = write(four(function(runs)
      for _, run in pairs(runs) do
        fixture.in_cgroup(run.frames, 1)
      end
    end))
    assert.equal(0, #same.findings)
  end)

  -- proves: MET-1
  it("gives total, total without, each excluded, each component, and who was not seen", function()
    local plan = fixture.plan { excluded_components = json.array { "ioreg", "nobody" } }
    local runs = {}
    for slot = 0, 1 do
      local frames = fixture.steady(25)
      for i = 1, 3 do
        frames[i].procs[2] = fixture.proc {
          pid = 101,
          exe = "/usr/sbin/ioreg",
          cpu_ns = (i - 1) * S,
          pss_bytes = 0,
          uss_bytes = 0,
          swap_bytes = 0,
          footprint_pss_bytes = 0,
        }
      end
      runs[slot] = { frames = frames }
    end
    local made, texts = write(runs, plan)
    assert.near(35, row(made, "cpu_percent_observed").baseline.median, 1e-9)
    assert.near(25, row(made, "cpu_percent_without_excluded").baseline.median, 1e-9)
    assert.near(10, row(made, "cpu_percent_excluded").baseline.median, 1e-9)
    local components = {}
    for _, one in ipairs(made.scenarios[1].components) do
      components[one.name] = { one.excluded, one.seen, one.baseline.cpu_percent }
    end
    assert.same({
      app = { false, true, 25.0 },
      ioreg = { true, true, 10.0 },
      nobody = { true, false, 0 },
    }, components)
    assert.matches("\n| ioreg %(excluded%) | 10.0 |", texts.md)
    assert.matches("\n| nobody %(excluded; no process of that name was seen%) |", texts.md)
    assert.matches("slots 0, 1: excluded component nobody: no process of that name was", texts.md)
    assert.matches("nobody %(excluded; no process of that name was seen%)", texts.html)
  end)

  -- proves: SMP-8
  it("gives what the harness used apart: supervisor, frames, hook and check", function()
    local function finished(kind, cpu_ns)
      return fixture.event(kind, 121 * S, {
        exit = { code = 0 },
        verdict = {
          verdict = "echild",
          own = { cpu_ns = cpu_ns, rss_bytes = 2 << 20 },
          reaped_cpu_ns = kind == "hook_finished" and 5 * S or json.null,
        },
      })
    end
    local events = fixture.events {
      check_not_configured = false,
      finished("hook_finished", 30000000),
      finished("check_finished", 20000000),
    }
    local made, texts = write({ [0] = { frames = fixture.steady(20), events = events } })
    local own = made.own_cost
    assert.same(
      { program_cpu_ns_per_run = 5 * S, cpu_ns_per_run = 30000000, rss_bytes = 2 << 20 },
      own.hook
    )
    assert.same(
      { program_cpu_ns_per_run = json.null, cpu_ns_per_run = 20000000, rss_bytes = 2 << 20 },
      own.check
    )
    assert.equal(4000000 // 3, own.cpu_ns_per_frame)
    for _, kind in ipairs { "md", "html" } do
      assert.matches("Not part of any figure above", texts[kind])
      assert.matches(
        "the hook used 5.000 s of CPU, its supervisor 0.030 s of CPU and 2.00 MiB",
        texts[kind]
      )
      assert.matches("the check used n/a of CPU, its supervisor 0.020 s of CPU", texts[kind])
    end
  end)
end)

describe("context switches", function()
  local function switches(change)
    local frames = fixture.steady(25)
    for _, frame in ipairs(frames) do
      frame.procs[1].switches_lower_bound = false
    end
    change(frames)
    return built(frames).metrics.voluntary_switches_per_second
  end

  -- proves: MET-2
  it("are a lower bound where a thread ended, or may have", function()
    local exact = switches(function() end)
    assert.same({}, exact.flags)
    assert.near(4, exact.value, 1e-9)
    for _, change in ipairs {
      function(frames)
        frames[2].procs[1].switches_lower_bound = true
      end,
      function(frames)
        frames[3].procs[1].switches_lower_bound = nil
      end,
      function(frames)
        frames[3].exits[1] = fixture.exit {
          pid = 9,
          start = 9,
          start_ns = 115 * S,
          final = false,
          switches_lower_bound = false,
        }
      end,
    } do
      local least = switches(change)
      assert.same({ "lower_bound" }, least.flags)
      assert.near(4, least.value, 1e-9)
    end
  end)
end)

describe("writes that cannot be read", function()
  -- A helper that was born in the window and whose io was refused; it ends in it unless it `stays`.
  local function run(stays, change)
    local who = { pid = 101, exe = "helper", start = 105, start_ns = 105 * S }
    local function helper(fields)
      for name, value in pairs(who) do
        fields[name] = value
      end
      return fields
    end
    local function refused()
      return fixture.proc(helper {
        write_bytes = { missing = "denied" },
        cancelled_write_bytes = { missing = "denied" },
      })
    end
    local gone = fixture.exit(helper {
      write_bytes = { missing = "denied" },
      cancelled_write_bytes = { missing = "denied" },
    })
    local frames = fixture.frames {
      { t = 100, procs = { fixture.proc {} } },
      { t = 110, procs = { fixture.proc {}, refused() } },
      {
        t = 120,
        procs = { fixture.proc {}, stays and refused() or nil },
        exits = { not stays and gone or nil },
        conservation = { write_bytes = stays and json.null or 8192 },
      },
    }
    if change then
      change(frames)
    end
    return built(frames)
  end

  -- proves: MET-2, TRK-6
  it("fail no run when who waited for their process has them", function()
    local result = run(false)
    assert.same({}, result.denied)
    assert.near(409.6, result.metrics.write_bytes_per_second.value, 1e-9)
    assert.equal("conservation", result.metrics.write_bytes_per_second.tier)
    assert.equal(json.null, result.metrics.write_bytes_per_second_observed.value)
  end)

  -- proves: TRK-6
  it("fail it when the process stays, or hides them to the end", function()
    assert.matches("write_bytes %(denied%) of pid 101", table.concat(run(true).denied, ";"))
    local hidden = run(false, function(frames)
      frames[3].conservation.unreaped = 1
    end)
    assert.matches("write_bytes %(denied%) of pid 101", table.concat(hidden.denied, ";"))
  end)
end)

describe("a vfork child in its parent's address space", function()
  -- proves: MET-3, SMP-6
  it("is no second copy of the parent's memory", function()
    local frames = fixture.steady(25)
    frames[2].procs[2] = fixture.proc {
      pid = 101,
      exe = "/opt/app/app",
      start = 105,
      start_ns = 105 * S,
      rss_bytes = 100 << 20,
      pss_bytes = 100 << 20,
      uss_bytes = 100 << 20,
      swap_bytes = 0,
      footprint_pss_bytes = 100 << 20,
      shares_memory = true,
    }
    local metrics = built(frames).metrics
    for _, name in ipairs { "rss_max_bytes", "pss_max_bytes", "footprint_pss_max_bytes" } do
      assert.equal(100 << 20, metrics[name].value, name)
    end
    frames[2].procs[2].shares_memory = false
    assert.equal(200 << 20, built(frames).metrics.rss_max_bytes.value)
  end)
end)
