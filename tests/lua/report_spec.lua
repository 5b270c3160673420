-- SPDX-License-Identifier: Apache-2.0
--- report.write on session directories made from tables.
package.path = "tests/lua/?.lua;" .. package.path
local core = require "pairperf.core"
local fixture = require "fixture"
local report = require "pairperf.report"
local report_table = require "pairperf.report_table"

local json, S = core.json, fixture.S

local failed, skipped = fixture.failed, fixture.skipped

describe("a session's report", function()
  local dir
  before_each(function()
    dir = fixture.directory()
  end)
  after_each(function()
    fixture.remove(dir)
  end)

  local function write(plan, runs, how)
    fixture.session(dir, plan, runs)
    local built = assert(report.write(dir, how))
    local markdown = assert(core.fs.read(dir .. "/report.md"))
    return built, markdown, assert(core.fs.read(dir .. "/report.json"))
  end

  local function row(built, name)
    for _, one in ipairs(built.scenarios[1].metrics) do
      if one.name == name then
        return one
      end
    end
  end

  local function five(baseline, candidate, more)
    local runs = {}
    for i = 0, 4 do
      runs[2 * i] = { frames = fixture.steady(baseline + i, more) }
      runs[2 * i + 1] = { frames = fixture.steady(candidate + i, more) }
    end
    return runs
  end

  -- Every table row has as many cells as its head, and no control byte is left.
  local function check_markdown(markdown)
    assert.truthy(utf8.len(markdown))
    assert.is_nil(markdown:find "[%z\1-\9\11-\31\127]")
    local columns, rows = nil, 0
    for line in markdown:gmatch "([^\n]*)\n" do
      if line:sub(1, 1) == "|" then
        local _, pipes = line:gsub("|", "")
        assert(columns == nil or columns == pipes, "a row of other width: " .. line)
        columns, rows = pipes, rows + 1
      else
        columns = nil
      end
    end
    assert.truthy(rows > 4)
  end

  -- proves: MET-5 REP-1 PLAN-1
  it("compares medians, ranges and IQRs of successful runs", function()
    local built, markdown, text = write(fixture.plan { repetitions = 5 }, five(20, 30))
    local cpu = row(built, "cpu_percent")
    assert.equal("conservation", cpu.tier)
    assert.near(22, cpu.baseline.median, 1e-9)
    assert.near(32, cpu.candidate.median, 1e-9)
    assert.near(3, cpu.baseline.iqr, 1e-9)
    assert.equal(5, cpu.baseline.n)
    assert.near(10, cpu.difference.absolute, 1e-9)
    assert.near(100 * 10 / 22, cpu.difference.percent, 1e-9)
    assert.matches(
      "| CPU | %% of one core %(conservation%) | 22.0 | 20.0 to 24.0 | 3.0 | 5 of 5 | 32.0 |",
      markdown
    )
    assert.matches("%+10.0 | %+45.5%%", markdown)
    assert.equal("pairperf-report-1", json.decode(text).schema)
    check_markdown(markdown)
  end)

  -- proves: REP-7 BOX-8 TRK-5 PROV-4 REP-6 GUARD-4
  it("says what it does not show: isolation, guard, sources, sharing, and what to add", function()
    local built, markdown = write(
      fixture.plan { context = "Unclustered; tracing disabled" },
      { [0] = { frames = fixture.steady(20) }, { frames = fixture.steady(20) } }
    )
    for _, words in ipairs {
      "no file-system or network sandbox",
      "Nothing is ever restored or deleted",
      "no atomic snapshot",
      "born and ended between two frames",
      "share more than once",
      "no promise of absent I/O",
      "digest is no signature",
      "Review paths and identifiers",
      "Do not commit evidence",
      "idle machine",
      "no uninstaller",
      "not read-only",
      "certify no packaged application",
      "directional only",
      "inconclusive does not mean equal",
      "physical energy",
      "Unclustered; tracing disabled",
      "neither hides windows nor checks",
    } do
      assert(markdown:find(words, 1, true), "the report does not say: " .. words)
    end
    assert.equal("too_few_runs", row(built, "cpu_percent").comparison.reason)
  end)

  -- proves: CLI-5 REP-1
  it("begins with diagnostic-only and its reasons", function()
    local _, markdown = write(
      fixture.plan {
        diagnostic = { diagnostic_only = true, reasons = json.array { "duration", "repetitions" } },
      },
      { [0] = { frames = fixture.steady(20) }, { frames = fixture.steady(30) } }
    )
    local first = markdown:match "\n\n(%- [^\n]*)"
    assert.matches("Diagnostic only %(window under 120 s, fewer than 5 repetitions%)", first)
  end)

  -- proves: CLI-8 PLAN-4
  it("puts differences beside the artifact and the A/A label at the top", function()
    local _, markdown = write(
      fixture.plan { null_control = true, differences = json.array { "arguments: --fast" } },
      { [0] = { frames = fixture.steady(20) }, { frames = fixture.steady(30) } }
    )
    local top = markdown:match "^(.-)\n## "
    assert.matches("A/A control", top)
    assert.matches("arguments: %-%-fast", top)
  end)

  -- proves: CLI-8
  it("tells a difference beside the artifact from one with the same artifact", function()
    local runs = { [0] = { frames = fixture.steady(20) }, { frames = fixture.steady(30) } }
    local plan = fixture.plan { differences = json.array { "arguments: --fast" } }
    local _, same = write(plan, runs)
    assert.matches("The artifact is the same on both sides; the variants differ in:\n", same)
    plan.variants.candidate.bundle_manifest_sha256 = ("3"):rep(64)
    local _, other = write(plan, runs)
    assert.matches("Apart from the artifact, the variants differ in:\n", other)
    plan.differences = json.array {}
    local _, none = write(plan, runs)
    assert.matches("Apart from the artifact, nothing differs between the variants", none)
  end)

  -- proves: PROV-1
  it("names each capability once, with how many runs found it how", function()
    local function found(state, consequence)
      return {
        frames = fixture.steady(20),
        events = fixture.events {
          capability = {
            source = "supervisor",
            seq = 1,
            capability = "exact_rss",
            state = state,
            consequence = consequence,
          },
        },
      }
    end
    local unsure = found("unverified", "resident size is unconfirmed")
    local _, markdown = write(
      fixture.plan { repetitions = 2 },
      { [0] = found("ok", ""), unsure, found("ok", ""), found("ok", "") }
    )
    assert.is_truthy(
      markdown:find(
        "| exact_rss | ok in 3 of the runs, unverified in 1 of the runs | "
          .. "resident size is unconfirmed |",
        1,
        true
      )
    )
    assert.equal(1, select(2, markdown:gsub("exact_rss", "")))
  end)

  -- proves: API-3
  it("names metrics without a value on the terminal, too", function()
    local frames = fixture.steady(20)
    frames[2].procs[1].pss_bytes, frames[2].procs[1].missing.pss_bytes = json.null, "blocked"
    local built = write(fixture.plan { mode = "single" }, { [0] = { frames = frames } })
    local last = report_table.render(built):match "([^\n]*)\n$"
    assert.equal(
      "  without a value: Proportional memory (PSS), maximum; Proportional memory (PSS), mean; "
        .. "7 that this system does not have (why: report.md, Scenario overview)",
      last
    )
  end)

  -- proves: PROV-1
  it("says what a machine fact is once", function()
    local absent = { value = json.null, source = "environment", reason = "not set" }
    local probes = { display = { display = absent, wayland = absent } }
    fixture.write(dir .. "/probes.json", assert(json.encode(probes)))
    local _, markdown = write(fixture.plan {}, {})
    assert.matches("\n%- display: not available %(not set%)", markdown)
    assert.matches("\n%- display wayland: not available", markdown)
  end)

  -- proves: REP-1 GRP-9
  it("begins with why a session ended early, and knows no lucky run where there is none", function()
    local built, markdown = write(fixture.plan { repetitions = 2 }, {
      [0] = failed("quit", "left running: pid 5"),
      skipped(1, "quit: left running: pid 5"),
      skipped(2, "quit: left running: pid 5"),
      skipped(3, "quit: left running: pid 5"),
    })
    assert.equal(
      "The session ended early, 3 of 4 runs were skipped: quit: left running: pid 5.",
      built.conclusions[1]
    )
    assert.matches("\n%- The session ended early, 3 of 4 runs were skipped", markdown)
    assert.not_matches("lucky", markdown)
    assert.matches("not available: no run was successful", markdown)
    assert.not_matches("not available: ?[;\n]", markdown)
  end)

  -- proves: REP-1 REP-8 MET-5
  it(
    "keeps failed, skipped and pending runs with step and reason, and out of the statistics",
    function()
      local built, markdown = write(fixture.plan { repetitions = 2 }, {
        [0] = { frames = fixture.steady(20) },
        failed("quit", "had to be ended by SIGKILL"),
        skipped(2, "cancelled by SIGINT"),
      })
      assert.same(
        { scheduled = 4, successful = 1, failed = 1, skipped = 1, pending = 1 },
        built.totals
      )
      assert.equal(0, row(built, "cpu_percent").candidate.n)
      assert.equal(0, #row(built, "cpu_percent").comparison.values.candidate)
      assert.equal("unfinished", built.comparison.void)
      assert.equal(json.null, row(built, "cpu_percent").difference)
      assert.matches(
        "| 1 | overview | candidate | 1 | failed | quit | had to be ended by SIGKILL |",
        markdown
      )
      assert.is_truthy(
        markdown:find("| 2 | overview | baseline | 2 | skipped |  | cancelled by SIGINT |", 1, true)
      )
      assert.matches("still to come", markdown)
      assert.matches("failed unequally often", markdown)
      check_markdown(markdown)
    end
  )

  -- proves: REP-1 CAN-1
  it("calls what an interrupted session did not run skipped", function()
    local built = write(fixture.plan {}, {}, { interrupted = true })
    assert.equal(2, built.totals.skipped)
    assert.matches("interrupted", built.runs[1].reason)
  end)

  -- proves: MET-6 (B33)
  it("B33: stays strict JSON without a successful run and over a zero baseline", function()
    local _, _, text =
      write(fixture.plan {}, { [0] = failed("warmup", "gone"), failed("warmup", "gone") })
    local built = assert(json.decode(text))
    assert.same({}, { table.unpack(built.scenarios[1].metrics) })
    assert.is_nil(text:find "nan")
    fixture.remove(dir)
    dir = fixture.directory()
    local zero = write(
      fixture.plan {},
      { [0] = { frames = fixture.steady(0) }, { frames = fixture.steady(30) } }
    )
    assert.equal(json.null, row(zero, "cpu_percent").difference.percent)
    assert.equal(0, row(zero, "cpu_percent").baseline.iqr)
  end)

  -- proves: MET-7
  it("takes the best source that all successful runs of both variants have", function()
    local runs = five(20, 30)
    runs[3].frames[3].conservation.cpu_ns = json.null
    runs[3].frames[3].conservation.missing = { cpu_ns = "denied" }
    local built = write(fixture.plan { repetitions = 5 }, runs)
    assert.equal("observed", row(built, "cpu_percent").tier)
    assert.equal(5, row(built, "cpu_percent").candidate.n)
    assert.equal(4, row(built, "cpu_percent_conservation").candidate.n)
    assert.equal(1, row(built, "cpu_percent_conservation").candidate.missing)
    assert.same({ "denied" }, { table.unpack(row(built, "cpu_percent_conservation").reasons) })
  end)

  -- proves: MET-6
  it("has no 0 for a component where the run has no figure of that name", function()
    local runs = five(20, 30)
    for _, run in pairs(runs) do
      for _, frame in ipairs(run.frames) do
        frame.memory_pass = false
      end
    end
    runs[0].frames[3].exits = json.array {
      fixture.exit { pid = 7, exe = "[short]", start = 115, start_ns = 115 * S, cpu_ns = 2 * S },
    }
    local built = write(fixture.plan { repetitions = 5 }, runs)
    assert.same(
      { cpu_percent = 0, rss_max_bytes = 0, pss_max_bytes = json.null },
      built.scenarios[1].components[1].candidate
    )
  end)

  -- proves: MET-6 MET-7
  it("has no 0 of CPU for a component where what was observed is only a part", function()
    local runs = five(20, 30)
    for slot = 1, 9, 2 do -- one that is older than the window and was found in it
      for i = 2, 3 do
        runs[slot].frames[i].procs[2] = fixture.proc { pid = 101, start_ns = 7 * S, cpu_ns = 2 * S }
      end
    end
    runs[0].frames[3].exits = json.array {
      fixture.exit { pid = 7, exe = "[short]", start = 115, start_ns = 115 * S, cpu_ns = 2 * S },
    }
    local conservation = runs[0].frames[3].conservation
    conservation.cpu_ns = conservation.cpu_ns + 2 * S
    local built = write(fixture.plan { repetitions = 5 }, runs)
    assert.equal(5, row(built, "cpu_percent").candidate.n) -- another source has the tree's
    local by_name = {}
    for _, one in ipairs(built.scenarios[1].components) do
      by_name[one.name] = one
    end
    assert.near(0, by_name["[short]"].baseline.cpu_percent, 1e-9)
    assert.equal(json.null, by_name["[short]"].candidate.cpu_percent)
    assert.equal(json.null, by_name.app.candidate.cpu_percent)
    assert.equal(0, by_name["[short]"].candidate.rss_max_bytes)
  end)

  -- proves: MET-7
  it("states the error of an estimate, and 0 for a component that was absent", function()
    local runs = five(20, 30)
    runs[0].frames[3].exits = json.array {
      fixture.exit { pid = 7, exe = "[short]", start = 115, start_ns = 115 * S, cpu_ns = 2 * S },
    }
    local conservation = runs[0].frames[3].conservation
    conservation.cpu_ns = conservation.cpu_ns + 2 * S
    local built, markdown = write(fixture.plan { repetitions = 5 }, runs)
    assert.near(0.025, row(built, "cpu_percent").error, 1e-9)
    assert.equal(json.null, row(built, "rss_max_bytes").error)
    assert.matches("\n%- CPU; CPU [^\n]*: a run's value is an estimate within 0.0250 %%", markdown)
    assert.same(
      { cpu_percent = 0, rss_max_bytes = 0, pss_max_bytes = 0 },
      built.scenarios[1].components[1].candidate
    )
    assert.equal("[short]", built.scenarios[1].components[1].name)
    assert.matches("A name in brackets is that of a process whose executable could not", markdown)
  end)

  -- proves: MET-7
  it("compares nothing when no source covers all runs", function()
    local runs = five(20, 30)
    runs[3].frames[3].conservation.cpu_ns = json.null
    for i = 2, 3 do
      runs[4].frames[i].procs[2] = fixture.proc {
        pid = 7,
        exe = "old",
        start = 7,
        start_ns = 7 * S,
        pss_bytes = 0,
        uss_bytes = 0,
        swap_bytes = 0,
        footprint_pss_bytes = 0,
      }
    end
    local built, markdown = write(fixture.plan { repetitions = 5 }, runs)
    assert.is_nil(row(built, "cpu_percent"))
    assert.matches("CPU: not available: [^\n]*no source that all successful runs have", markdown)
    assert.equal(4, row(built, "cpu_percent_observed").baseline.n)
  end)

  -- proves: PLAN-2 PLAN-4 (B36)
  it("B36: records the realised order and says what a position can do", function()
    local built, markdown =
      write(fixture.plan { repetitions = 5, null_control = true }, five(20, 30))
    assert.same(
      { baseline = { first = 5, second = 0 }, candidate = { first = 0, second = 5 } },
      built.positions
    )
    assert.matches("baseline's came first in 5 pairs and second in 0", markdown)
    assert.matches("Whatever favours a place in the pair looks like a difference", markdown)
    assert.matches("noise of machine and method", markdown)
    for i, run in ipairs(built.runs) do
      assert.equal(i - 1, run.slot)
      assert.equal(i % 2 == 1 and "baseline" or "candidate", run.variant)
    end
  end)

  -- proves: REP-1 (B35)
  it("B35: no name, reason or path breaks a table or leaves a raw byte", function()
    local hostile = "\xff\xfe|`\1\27[31m\\|<b>\r\n| x |"
    local plan = fixture.plan {
      context = "a|b\n\0c",
      differences = json.array { hostile },
      warnings = json.array { hostile },
    }
    plan.variants.baseline.artifact = "/opt/\\|app"
    local run = failed("quit", hostile)
    for i = 1, 3 do
      run.frames[i].procs[1].exe = "/x/" .. hostile
    end
    local good = { frames = fixture.steady(20) }
    for i = 1, 3 do
      good.frames[i].procs[1].exe = "/x/" .. hostile
    end
    local _, markdown, text = write(plan, { [0] = good, run })
    check_markdown(markdown)
    assert.is_nil(markdown:find "<b>")
    assert.truthy(json.decode(text))
  end)

  -- proves: GUARD-1 GUARD-4
  it("shows the guard before and after and names a change", function()
    local path = "/usr/local/bin/nvpair"
    local run = failed("guard", path .. " changed: sha256")
    for _, event in ipairs(run.events) do
      if event.kind == "guard_after" then
        event.changed, event.fields = true, json.array { "sha256" }
        event.snapshots = { [path] = { state = "file", sha256 = "beef" } }
      end
    end
    local built, markdown = write(fixture.plan {}, { [0] = run })
    assert.equal(1, #built.guard.changed)
    assert.matches("slot 0 changed: sha256", markdown)
    assert.matches("beef", markdown)
    assert.matches("state absent", markdown)
  end)

  -- proves: HOOK-4 HOOK-5 CAN-3
  it("remarks on hooks that ended early and missing checks", function()
    local _, markdown = write(fixture.plan {}, {
      [0] = {
        frames = fixture.steady(20),
        events = fixture.events {
          fixture.event("hook_finished", 121 * S, {
            ended_early = true,
            ended_after_s = 12.5,
            output = { stdout_bytes = 10485760, stdout_truncated = true, stderr_truncated = false },
          }),
        },
      },
    })
    assert.matches("ended by itself before sampling was over after 12.5 s", markdown)
    assert.matches(
      "the kept stdout of the pre%-sample hook is only the beginning of 10485760",
      markdown
    )
    assert.matches("no post%-run check configured", markdown)
  end)

  -- proves: RUN-1 PROV-1
  it("remarks on a missing readiness condition and on a machine that changed", function()
    local function probes(governor)
      return {
        probes = { frequency = { governor = { value = json.array { governor }, source = "x" } } },
      }
    end
    local events = fixture.events {
      ready = { how = "none" },
      fixture.event("probes_before", 3 * S, probes "performance"),
      fixture.event("probes_after", 124 * S, probes "powersave"),
    }
    local run = { frames = fixture.steady(20), events = events }
    local _, markdown = write(fixture.plan {}, { [0] = run, run })
    assert.matches("slots 0, 1: no readiness condition: warm%-up started at launch", markdown)
    assert.matches("frequency governor changed during the run", markdown)
  end)

  -- proves: PROV-1
  it("names the runs for which the machine did not settle", function()
    local function settled(idle)
      local event = fixture.event("settled", 2 * S, {
        idle = idle,
        busy_share = idle and 0.01 or 0.5,
        waited_ns = 5,
      })
      return { frames = fixture.steady(20), events = fixture.events { event } }
    end
    local runs = { [0] = { frames = fixture.steady(20) }, settled(true), settled(false) }
    local _, markdown = write(fixture.plan { repetitions = 3 }, runs)
    assert.matches("slot 2: still busy when the time of %-%-settle was over", markdown)
    local _, count = markdown:gsub("still busy when", "")
    assert.equal(1, count)
  end)

  -- proves: INF-4 INF-1
  it("lists requests run by run, with bounds over those that failed or were cut off", function()
    local function request(at, status)
      return {
        schema = "pairperf-request-1",
        send_ns = (101 + at) * S,
        end_ns = (102 + at) * S,
        status = status,
        tokens = 4,
        e2e_ms = status == "ok" and 1000.0 or nil,
      }
    end
    local run = {
      frames = fixture.steady(20),
      requests = { request(0, "ok"), request(3, "ok"), request(6, "censored") },
      client = { schema = "pairperf-chat-1", delay_s = 0.5 },
    }
    local built, markdown = write(fixture.plan {}, { [0] = run })
    local one = built.scenarios[1].requests[1]
    assert.same({ 3, 2, 1, 0.5 }, { one.attempted, one.ok, one.censored, one.delay_s })
    assert.matches("| 0 | baseline | success | 3 | 2 | 0 | 1 | 1000 | n/a |", markdown)
    assert.matches("1000 %(all: 1000 to no upper bound%)", markdown)
    assert.matches("One request is in flight at a time", markdown)
    assert.equal(1, row(built, "request_p50_ms").baseline.n)
    check_markdown(markdown)
  end)

  -- proves: MET-3
  it("counts the passes of memory that is read on a slower cadence", function()
    local run = { frames = fixture.steady(20) }
    run.frames[2] =
      fixture.frame { t = 110, seq = 2, memory_pass = false, procs = { fixture.proc {} } }
    local built, markdown = write(fixture.plan {}, { [0] = run })
    assert.same({ fewest = 2, most = 2 }, row(built, "pss_max_bytes").passes)
    assert.is_truthy(
      markdown:find("mean; Swapped out, maximum; Swapped out, mean: over 2 passes per run", 1, true)
    )
  end)

  -- proves: PROV-3
  it("calls the comparison invalid when an artifact changed", function()
    fixture.write(
      dir .. "/session.json",
      assert(json.encode {
        schema = "pairperf-session-1",
        artifacts = { baseline = { unchanged = true }, candidate = { unchanged = false } },
      })
    )
    local _, markdown = write(fixture.plan {}, { [0] = { frames = fixture.steady(20) } })
    assert.matches(
      "^# pairperf report\n\n%- Invalid comparison: the artifact of candidate changed",
      markdown
    )
  end)

  -- proves: CLI-9
  it("reports one variant alone without a comparison", function()
    local built, markdown =
      write(fixture.plan { mode = "single" }, { [0] = { frames = fixture.steady(20) } })
    assert.is_nil(row(built, "cpu_percent").candidate)
    assert.equal(json.null, row(built, "cpu_percent").difference)
    assert.is_nil(markdown:find "Difference of medians")
    check_markdown(markdown)
    assert.is_nil(report.table(built):find "candidate")
  end)

  -- proves: SMP-8
  it("gives the harness's own cost apart", function()
    local built, markdown = write(fixture.plan {}, { [0] = { frames = fixture.steady(20) } })
    assert.equal(4000000, built.own_cost.cpu_ns_per_run)
    assert.matches("Not part of any figure above[^\n]*0.004 s of CPU and 1.00 MiB", markdown)
  end)

  -- proves: REP-5
  it("is byte for byte the same when it is rebuilt", function()
    local _, markdown, text = write(fixture.plan {}, { [0] = { frames = fixture.steady(20) } })
    assert(report.write(dir))
    assert.equal(markdown, core.fs.read(dir .. "/report.md"))
    assert.equal(text, core.fs.read(dir .. "/report.json"))
  end)

  it("needs a plan and says so", function()
    local built, err = report.write(dir)
    assert.is_nil(built)
    assert.equal("ENOENT", err.errno)
  end)

  it("has a plain table for the terminal", function()
    local built = write(fixture.plan { repetitions = 5 }, five(20, 30))
    local text = report.table(built)
    assert.matches(
      "CPU +%% of one core %(conservation%) +22.0 +5 of 5 +32.0 +5 of 5 +%+10.0 +%+45.5%% +"
        .. "regressed %*",
      text
    )
  end)
end)
