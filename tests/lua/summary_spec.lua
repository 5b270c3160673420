-- SPDX-License-Identifier: Apache-2.0
--- summary.build on recorded runs.
package.path = "tests/lua/?.lua;" .. package.path
local core = require "pairperf.core"
local fixture = require "fixture"
local summary = require "pairperf.summary"

local json, S = core.json, fixture.S
local proc, exit, frames = fixture.proc, fixture.exit, fixture.frames

describe("a run's summary", function()
  local dir
  before_each(function()
    dir = fixture.directory()
  end)
  after_each(function()
    fixture.remove(dir)
  end)

  local function build(run, plan)
    fixture.run(dir, run)
    plan = plan or fixture.plan()
    return assert(summary.build(dir, plan, plan.runs[1]))
  end

  local function value(result, name)
    local metric = result.metrics[name]
    return metric and metric.value
  end

  -- proves: MET-1 MET-2 MET-3 MET-7 REP-1
  it("gives every metric of a good run with its tier", function()
    local result = build { frames = fixture.steady(25) }
    assert.equal("success", result.status)
    assert.equal(json.null, result.failure)
    assert.near(25, value(result, "cpu_percent_conservation"), 1e-9)
    assert.near(25, value(result, "cpu_percent_observed"), 1e-9)
    assert.equal("conservation", result.metrics.cpu_percent.tier)
    assert.near(0, value(result, "cpu_percent_unattributed"), 1e-9)
    assert.near(0.025, result.metrics.cpu_percent_conservation.error, 1e-9)
    assert.equal(100 << 20, value(result, "rss_max_bytes"))
    assert.equal(100 << 20, value(result, "pss_mean_bytes"))
    assert.near(4, value(result, "voluntary_switches_per_second"), 1e-9)
    assert.near(819.2, value(result, "write_bytes_per_second"), 1e-9)
    assert.near(1500, value(result, "time_to_ready_ms"), 1e-9)
    assert.near(25, result.components.app.cpu_percent, 1e-9)
  end)

  -- proves: MET-2 MET-6
  it("names what the platform does not have, as null with a reason", function()
    local result = build { frames = fixture.steady(25) }
    assert.equal(json.null, value(result, "wakeups_pkg_idle_per_second"))
    assert.equal("unsupported", result.metrics.wakeups_pkg_idle_per_second.reason)
    assert.equal("unsupported", result.metrics.footprint_max_bytes.reason)
  end)

  -- proves: MET-1 SMP-5 (B06)
  it("B06: sees a busy child at 100 percent and takes the first frame as reference only", function()
    local list = {}
    for i = 0, 5 do
      list[i + 1] = {
        t = 100 + 4 * i,
        procs = {
          proc { cpu_ns = 900 * S, leader = true },
          proc { pid = 101, exe = "/opt/app/worker", cpu_ns = (30 + 4 * i) * S },
        },
      }
    end
    local result = build { frames = frames(list) }
    assert.near(100, result.components.worker.cpu_percent, 1e-9)
    assert.near(0, result.components.app.cpu_percent, 1e-9)
    assert.near(100, value(result, "cpu_percent_observed"), 1e-9)
  end)

  -- proves: SMP-4 (B07)
  it(
    "B07: counts an exited child once, with its final reading, and no reaped-children time",
    function()
      local result = build {
        frames = frames {
          { t = 100, procs = { proc { child_cpu_ns = 0 } }, conservation = { cpu_ns = 0 } },
          {
            t = 110,
            procs = {
              proc { child_cpu_ns = 0 },
              proc { pid = 101, exe = "child", start_ns = 101 * S, start = 101, cpu_ns = 2 * S },
            },
            conservation = { cpu_ns = 2 * S },
          },
          {
            t = 120,
            procs = { proc { child_cpu_ns = 3 * S } },
            conservation = { cpu_ns = 3 * S },
            exits = {
              exit { pid = 101, exe = "child", start_ns = 101 * S, start = 101, cpu_ns = 3 * S },
            },
          },
        },
      }
      assert.near(15, value(result, "cpu_percent_observed"), 1e-9)
      assert.near(15, result.components.child.cpu_percent, 1e-9)
      assert.near(0, result.components.app.cpu_percent, 1e-9)
      assert.near(15, value(result, "cpu_percent_conservation"), 1e-9)
    end
  )

  -- proves: SMP-4
  it("gives the next window frame the exits that a tracking frame between noted", function()
    local list = frames {
      {
        t = 100,
        procs = { proc {} },
        exits = { exit { pid = 99, exe = "before", start = 1, start_ns = S, cpu_ns = S } },
      },
      {
        t = 108,
        window = 0,
        kind = "track",
        procs = { proc {} },
        exits = { exit { pid = 101, exe = "short", start = 105, start_ns = 105 * S, cpu_ns = S } },
      },
      { t = 110, procs = { proc {} } },
      { t = 120, procs = { proc {} } },
    }
    local result = build { frames = list }
    assert.near(5, result.components.short.cpu_percent, 1e-9)
    assert.is_nil(result.components.before)
    assert.equal(3, result.window.frames)
    assert.equal(2, result.processes)
    assert.equal("success", result.status)
  end)

  -- proves: TRK-5
  it(
    "counts ended processes that found no place in the record, tracking frames included",
    function()
      local list = frames {
        { t = 100, procs = { proc {} } },
        { t = 105, window = 0, kind = "track", procs = { proc {} } },
        { t = 110, procs = { proc {} } },
        { t = 120, procs = { proc {} } },
      }
      list[1].exits_dropped, list[2].exits_dropped, list[4].exits_dropped = 5, 2, 1
      assert.equal(3, build({ frames = list }).window.exits_dropped)
    end
  )

  -- proves: SMP-4 CAN-2 (B08)
  it("B08: keeps the totals of an application that left before the closing frame", function()
    local result = build {
      frames = frames {
        { t = 100, procs = { proc {} } },
        { t = 110, procs = { proc { write_bytes = 8 << 20, cpu_ns = S } } },
        {
          t = 120,
          procs = {},
          conservation = { cpu_ns = S, write_bytes = 8 << 20 },
          exits = { exit { write_bytes = 8 << 20, cpu_ns = S } },
        },
      },
      events = fixture.events {
        fixture.event(
          "run_failed",
          120 * S,
          { step = "sampling", reason = "the application ended by itself", next = "less x" }
        ),
      },
    }
    assert.equal("failed", result.status)
    assert.equal("sampling", result.failure.step)
    assert.near((8 << 20) / 20, value(result, "write_bytes_per_second_observed"), 1e-6)
    assert.near((8 << 20) / 20, value(result, "write_bytes_per_second_conservation"), 1e-6)
  end)

  -- proves: SMP-5 MET-6 (B12)
  it("B12: a counter that fell has no value and leaves the other metrics alone", function()
    local list = fixture.steady(25)
    list[3].procs[1].write_bytes = 0
    local result = build { frames = list }
    local writes = result.metrics.write_bytes_per_second_observed
    assert.equal(json.null, writes.value)
    assert.same({ "counter_regressed" }, writes.flags)
    assert.near(409.6, writes.partial, 1e-9)
    assert.near(25, value(result, "cpu_percent_observed"), 1e-9)
    assert.equal("success", result.status)
  end)

  -- proves: SMP-3 (B13)
  it("B13: a window with a stall is void, every window metric null, the run failed", function()
    local list = {}
    for i, t in ipairs { 100, 105, 110, 1010, 1015 } do
      list[i] = { t = t, procs = { proc { cpu_ns = i * S, rss_bytes = 4096 } } }
    end
    local result = build { frames = frames(list) }
    assert.equal("failed", result.status)
    assert.same({ "gap_exceeded" }, result.window.reasons)
    assert.matches("gap_exceeded", result.failure.reason)
    for name, metric in pairs(result.metrics) do
      if name ~= "time_to_ready_ms" then
        assert.equal(json.null, metric.value, name)
      end
    end
    for field, figure in pairs(result.components.app) do
      assert.equal(json.null, figure, field)
    end
    assert.equal("window void: gap_exceeded", result.metrics.cpu_percent.reason)
    assert.near(100 * 4 / 915, result.metrics.cpu_percent_observed.partial, 1e-9)
  end)

  -- proves: SMP-3 (B13)
  it("B13: rates use the measured time, not the configured one", function()
    local list = fixture.steady(25)
    list[3].t_ns, list[3].end_ns, list[3].used_ns, list[3].cont_ns =
      121 * S, 121 * S + 1, 121 * S + 2, 121 * S
    local result = build { frames = list }
    assert.near(25 * 20 / 21, value(result, "cpu_percent_observed"), 1e-9)
    assert.equal(S, result.window.lateness_ns.max)
  end)

  -- proves: TRK-6 MET-6 (B05)
  it("B05: a refused reading of a known member is no zero and fails the run", function()
    local list = fixture.steady(25)
    list[2].procs[1] = proc {
      cpu_ns = 2500000000,
      rss_bytes = 4096,
      write_bytes = { missing = "denied" },
      pss_bytes = { missing = "denied" },
      uss_bytes = 0,
      swap_bytes = 0,
      footprint_pss_bytes = 0,
    }
    local result = build { frames = list }
    assert.equal("failed", result.status)
    assert.matches("write_bytes", result.failure.reason)
    assert.matches("pss_bytes", result.failure.reason)
    assert.equal(json.null, value(result, "write_bytes_per_second_observed"))
    assert.equal(json.null, value(result, "pss_max_bytes"))
    assert.same({ "incomplete" }, result.metrics.pss_max_bytes.flags)
    assert.near(25, value(result, "cpu_percent_observed"), 1e-9)
  end)

  -- proves: TRK-6
  it("a refused reading that the process's end closes hides nothing", function()
    local who = { pid = 101, exe = "helper", start = 105, start_ns = 105 * S }
    local refused = proc {
      pid = 101,
      exe = "helper",
      start = 105,
      start_ns = 105 * S,
      write_bytes = { missing = "denied" },
    }
    local result = build {
      frames = frames {
        { t = 100, procs = { proc {} } },
        { t = 110, procs = { proc {}, refused } },
        {
          t = 120,
          procs = { proc {} },
          exits = {
            exit {
              pid = who.pid,
              exe = who.exe,
              start = who.start,
              start_ns = who.start_ns,
              write_bytes = 2000,
            },
          },
        },
      },
    }
    assert.equal("success", result.status)
    assert.near(100, value(result, "write_bytes_per_second_observed"), 1e-9)
  end)

  -- proves: TRK-6 SMP-6
  it("a member that could not be looked at voids the totals of its frame", function()
    local list = fixture.steady(25)
    list[2].procs = json.array {}
    list[2].failures = json.array {
      { pid = 100, owned = true, op = "inspect", status = "denied", errno = "EACCES" },
    }
    local result = build { frames = list }
    assert.equal("failed", result.status)
    assert.equal(json.null, value(result, "cpu_percent_observed"))
    assert.equal(json.null, value(result, "rss_max_bytes"))
  end)

  -- proves: TRK-6 GRP-8
  it("a stranger that could not be read changes nothing", function()
    local list = fixture.steady(25)
    list[2].failures = json.array {
      { pid = 4242, owned = false, op = "identify", status = "denied", errno = "EPERM" },
    }
    local result = build { frames = list }
    assert.equal("success", result.status)
    assert.near(25, value(result, "cpu_percent_observed"), 1e-9)
  end)

  -- proves: TRK-6
  it("a failed enumeration leaves no memory total", function()
    local list = fixture.steady(25)
    list[2].enumeration = "enumeration"
    local result = build { frames = list }
    assert.equal(json.null, value(result, "rss_max_bytes"))
    assert.equal(100 << 20, result.metrics.rss_max_bytes.partial)
  end)

  -- proves: TRK-7 MET-3
  it("a zombie holds no memory and makes no frame incomplete", function()
    local list = fixture.steady(25)
    list[3].procs[2] = proc {
      pid = 101,
      exe = "worker",
      phase = "zombie",
      start = 105,
      start_ns = 105 * S,
      rss_bytes = { missing = "malformed" },
      pss_bytes = { missing = "vanished" },
      uss_bytes = { missing = "vanished" },
      swap_bytes = { missing = "vanished" },
      footprint_pss_bytes = { missing = "vanished" },
    }
    local result = build { frames = list }
    assert.equal(100 << 20, value(result, "rss_max_bytes"))
    assert.equal(100 << 20, value(result, "pss_max_bytes"))
    assert.equal("success", result.status)
  end)

  -- proves: MET-3
  it("memory of a slower cadence counts its own passes", function()
    local list = fixture.steady(25)
    list[2] = fixture.frame {
      t = 110,
      seq = 2,
      memory_pass = false,
      procs = {
        proc { cpu_ns = 2500000000, rss_bytes = 300 << 20 },
      },
    }
    local result = build { frames = list }
    assert.equal(2, result.metrics.pss_max_bytes.passes)
    assert.equal(100 << 20, value(result, "pss_max_bytes"))
    assert.equal(3, result.metrics.rss_max_bytes.passes)
    assert.equal(300 << 20, value(result, "rss_max_bytes"))
  end)

  -- proves: MET-7 TRK-5
  it("falls back to observed with the reason when conservation is missing", function()
    local list = fixture.steady(25)
    list[3].conservation.cpu_ns = json.null
    list[3].conservation.missing = { cpu_ns = "denied" }
    local result = build { frames = list }
    assert.equal(json.null, value(result, "cpu_percent_conservation"))
    assert.equal("denied", result.metrics.cpu_percent_conservation.reason)
    assert.equal("observed", result.metrics.cpu_percent.tier)
  end)

  -- proves: MET-7
  it("marks conservation as a lower bound and names what no component was seen using", function()
    local list = fixture.steady(25)
    list[2].conservation.lower_bound = true
    list[3].conservation.clamped_ns = 1
    list[3].conservation.cpu_ns = 7 * S
    local result = build { frames = list }
    assert.same({ "clamped", "lower_bound" }, result.metrics.cpu_percent_conservation.flags)
    assert.near(35, value(result, "cpu_percent"), 1e-9)
    assert.near(10, value(result, "cpu_percent_unattributed"), 1e-9)
  end)

  -- A second process, first seen in the second of three frames.
  local function with_newcomer(start_ns)
    local list = fixture.steady(25)
    for i = 2, 3 do
      list[i].procs[2] = proc {
        pid = 101,
        exe = "new",
        start = 7,
        start_ns = start_ns,
        cpu_ns = 2 * S,
        pss_bytes = 0,
        uss_bytes = 0,
        swap_bytes = 0,
        footprint_pss_bytes = 0,
      }
    end
    return list
  end

  -- proves: SMP-5
  it("a process born while the first frame was listed is no late discovery", function()
    local list = with_newcomer(99 * S) -- the window begins at 100 s
    list[1].listed_cont_ns = 98 * S
    local result = build { frames = list }
    assert.same({}, result.metrics.cpu_percent_observed.flags)
    assert.near(35, value(result, "cpu_percent_observed"), 1e-9)
  end)

  -- proves: SMP-5
  it("late discovery voids the observed totals and not conservation", function()
    local list = with_newcomer(7 * S)
    local result = build { frames = list }
    assert.equal(json.null, value(result, "cpu_percent_observed"))
    assert.same({ "late_discovery" }, result.metrics.cpu_percent_observed.flags)
    assert.equal(json.null, result.components.app.cpu_percent) -- a part of a partial sum
    assert.near(25, value(result, "cpu_percent"), 1e-9)
  end)

  -- proves: MET-1
  it("reports excluded components apart", function()
    local list = fixture.steady(25)
    for i = 1, 3 do
      list[i].procs[2] = proc {
        pid = 101,
        exe = "/usr/sbin/ioreg",
        cpu_ns = (i - 1) * S,
        pss_bytes = 0,
        uss_bytes = 0,
        swap_bytes = 0,
        footprint_pss_bytes = 0,
      }
    end
    local result =
      build({ frames = list }, fixture.plan { excluded_components = json.array { "ioreg" } })
    assert.near(10, value(result, "cpu_percent_excluded"), 1e-9)
    assert.near(25, value(result, "cpu_percent_without_excluded"), 1e-9)
    assert.near(35, value(result, "cpu_percent_observed"), 1e-9)
  end)

  local function failed_at(second, step, reason, next_command)
    local fields = { step = step, reason = reason, next = next_command }
    return fixture.event("run_failed", second * S, fields)
  end

  -- proves: REP-8
  it("takes step, reason and next command of the first failure", function()
    local result = build {
      frames = fixture.steady(25),
      events = fixture.events {
        failed_at(121, "pre_sample_hook", "exit status 3", "less e"),
        failed_at(122, "quit", "later", "less q"),
      },
    }
    assert.equal("pre_sample_hook", result.failure.step)
    assert.equal("exit status 3", result.failure.reason)
    assert.equal("less e", result.failure.next)
    assert.equal("overview/run-01/hook", result.failure.evidence)
  end)

  -- proves: GRP-9, CAN-3
  it("names who was left also after another failure", function()
    local left = failed_at(122, "quit", "left running: pid 7", "less q")
    left.halt = true
    local result = build {
      frames = fixture.steady(25),
      events = fixture.events {
        failed_at(121, "sampling", "\xffno", "less e"),
        left,
      },
    }
    assert.equal("sampling", result.failure.step)
    assert.equal("\xffno; then, at quit: left running: pid 7", result.failure.reason)
    assert.equal("less e", result.failure.next)
  end)

  -- proves: GRP-9
  it("a run whose end nobody recorded is no success", function()
    local result =
      build { frames = fixture.steady(25), events = fixture.events { verdict = false } }
    assert.equal("failed", result.status)
    assert.matches("end was proven", result.failure.reason)
  end)

  it("a run that failed before launch has no window and no invented number", function()
    local result = build {
      events = {
        fixture.event("run_started", S),
        fixture.event(
          "run_failed",
          2 * S,
          { step = "guard_before", reason = "unreadable", next = "less e" }
        ),
      },
    }
    assert.equal("failed", result.status)
    assert.same({ "too_few_frames" }, result.window.reasons)
    assert.is_nil(result.metrics.cpu_percent)
    assert.equal(json.null, value(result, "time_to_ready_ms"))
    assert.equal("not reached", result.metrics.time_to_ready_ms.reason)
    assert.truthy(json.encode(result))
  end)

  -- proves: RUN-1
  it("has no time to ready without a readiness condition", function()
    local result = build {
      frames = fixture.steady(25),
      events = fixture.events {
        ready = { how = "none", waited_ns = 0 },
      },
    }
    assert.equal(json.null, result.time_to_ready_ns)
    assert.equal("no readiness condition", result.metrics.time_to_ready_ms.reason)
  end)

  -- proves: INF-4 (B22)
  it("gives CPU per completed request and per token beside the latencies", function()
    local requests = {}
    for i = 0, 3 do
      requests[i + 1] = {
        schema = "pairperf-request-1",
        send_ns = (101 + 4 * i) * S,
        end_ns = (102 + 4 * i) * S,
        status = "ok",
        tokens = 50,
        e2e_ms = 1000.0,
        ttft_ms = 200.0 + i,
      }
    end
    requests[5] = {
      schema = "pairperf-request-1",
      send_ns = 118 * S,
      end_ns = 121 * S,
      status = "censored",
      tokens = 3,
      ttft_ms = 190.0,
    }
    local result = build { frames = fixture.steady(25), requests = requests }
    assert.equal(4, result.latency.completed)
    assert.equal(1, result.latency.censored)
    assert.near(5000 / 4, value(result, "cpu_ms_per_request"), 1e-6)
    assert.near(5000 / 200, value(result, "cpu_ms_per_token"), 1e-6)
    assert.equal("conservation", result.metrics.cpu_ms_per_request.tier)
    assert.near(1000, value(result, "request_p50_ms"), 1e-9)
    assert.near(201, value(result, "ttft_p50_ms"), 1e-9)
    assert.same({ 3000.0, json.null }, { table.unpack(result.latency.e2e_bounds_ms.max) })
    assert.equal(json.null, result.latency.e2e_ms.p90) -- needs 10
  end)

  -- proves: INF-4 MET-6 (B33)
  it("B33: no completed request is null with a reason, not a division by zero", function()
    local result = build {
      frames = fixture.steady(25),
      requests = {
        { send_ns = 110 * S, end_ns = 125 * S, status = "censored", tokens = 0 },
      },
    }
    assert.equal(json.null, value(result, "cpu_ms_per_request"))
    assert.matches("no completed request", result.metrics.cpu_ms_per_request.reason)
    assert.equal("needs 2 requests, has 0", result.metrics.request_p50_ms.reason)
    assert.truthy(json.encode(result))
  end)

  -- proves: REP-3 (B35)
  it("B35: keeps a component whose name is no UTF-8 printable and apart", function()
    local list = fixture.steady(25)
    for i = 1, 3 do
      list[i].procs[1].exe = "/opt/\xff\xfe|`\1"
    end
    local result = build { frames = list }
    local name = next(result.components)
    assert.equal("\\xff\\xfe|`\\x01", name)
    assert.truthy(json.encode(result))
  end)

  -- proves: REP-5 SMP-8
  it("is the same when it is built again, and carries the harness's own cost apart", function()
    local run = { frames = fixture.steady(25) }
    local one, two = json.encode(build(run)), json.encode(build(run))
    assert.equal(one, two)
    local result = json.decode(one)
    assert.equal(4000000, result.own_cost.cpu_ns)
    assert.equal(2000000, result.own_cost.pass_ns.median)
  end)
end)
