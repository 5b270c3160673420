-- SPDX-License-Identifier: Apache-2.0
--- Verdicts, families and gates of whole sessions.
package.path = "tests/lua/?.lua;" .. package.path
local compare = require "pairperf.compare"
local conclusions_verdicts = require "pairperf.conclusions_verdicts"
local core = require "pairperf.core"
local gate = require "pairperf.gate"
local html_tables = require "pairperf.html_tables"
local metric_names = require "pairperf.metric_names"
local report_compare = require "pairperf.report_compare"
local report_md_verdicts = require "pairperf.report_md_verdicts"
local stats = require "pairperf.stats"
local units = require "pairperf.units"
local verdict_text = require "pairperf.verdict_text"

local json = core.json
local LOW <const> = { 10.0, 10.4, 10.1, 10.9, 10.6 }
local HIGH <const> = { 15.0, 15.5, 14.8, 16.0, 15.2 }
local WIDE <const> = { 10.2, 10.7, 10.05, 11.2, 10.5 }

-- Runs in alternation, the baseline first.
local function runs_of(b, c)
  local runs = {}
  for i = 1, math.max(#b, #c) do
    for place, values in ipairs { b, c } do
      local slot = 2 * i + place - 3
      local variant = place == 1 and "baseline" or "candidate"
      if values[i] then
        runs[#runs + 1] = { slot = slot, variant = variant, value = values[i] }
      end
    end
  end
  return runs
end

local function row(name, b, c)
  local entry = assert(metric_names.entry(name))
  local one = {
    name = name,
    title = entry.title,
    unit = entry.unit,
    scale = entry.scale,
    detail = false,
    tier = json.null,
    baseline = stats.summary(b),
    candidate = stats.summary(c),
    comparison = compare.metric(entry, runs_of(b, c)),
  }
  one.baseline.iqr = one.baseline.iqr or json.null
  one.baseline.median = one.baseline.median or json.null
  one.candidate.iqr = one.candidate.iqr or json.null
  return one
end

local function report_of(rows, change)
  local report = {
    mode = "ab",
    session = json.null,
    totals = { pending = 0 },
    scenarios = {
      {
        name = "overview",
        warmup_ns = 60000000000,
        duration_ns = 120000000000,
        runs = { baseline = { successful = 5 }, candidate = { successful = 5 } },
        metrics = rows,
        intervals = {},
      },
    },
  }
  for key, value in pairs(change or {}) do
    local whole = key ~= "diagnostic_only" and report or report.scenarios[1]
    whole[key] = value
  end
  return report
end

local function plan_of(primary, gates)
  return {
    scenarios = { { name = "overview" } },
    excluded_components = {},
    comparison = report_compare.plan({ primary = primary, gates = gates }, { "overview" }, false),
  }
end

local function compared(rows, how)
  how = how or {}
  local report = report_of(rows, how.change)
  report_compare.add(report, plan_of(how.primary, how.gates))
  return report
end

local function lines_of(report)
  local lines = {}
  local function add(line)
    lines[#lines + 1] = line
  end
  conclusions_verdicts.lines(report, add)
  conclusions_verdicts.circumstances(report, add)
  return table.concat(lines, "\n")
end

describe("a comparison", function()
  -- proves: REP-4
  it("gives estimate, intervals, margin, p and word of a metric", function()
    local found = row("cpu_percent", LOW, HIGH).comparison
    assert.equal("regressed", found.verdict)
    assert.equal(json.null, found.reason)
    assert.truthy(found.beyond_margin)
    assert.near(4.9, found.estimate.shift, 1e-9)
    assert.near(100 * 4.9 / 10.4, found.estimate.percent, 1e-9)
    assert.near(4.2, found.difference_interval.low, 1e-9)
    assert.near(0.968, found.difference_interval.level, 1e-3)
    assert.near(5.4, found.equivalence_interval.high, 1e-9)
    assert.near(0.52, found.margin, 1e-9)
    assert.near(2 / 252, found.test.p, 1e-12)
    assert.equal("exact", found.test.method)
    assert.same({ 15.0, 15.5, 14.8, 16.0, 15.2 }, { table.unpack(found.values.candidate) })
    assert.equal(5, found.paired.pairs)
    assert.equal(6, found.attainable.largest_family)
  end)

  -- proves: REP-4
  it("never has an interval, a margin or an estimate that its runs do not allow", function()
    local found = row("cpu_percent", { 10.0, 10.4 }, { 15.0, 15.5 }).comparison
    assert.equal("too_few_runs", found.reason)
    assert.equal(json.null, found.difference_interval)
    assert.equal(json.null, found.equivalence_interval)
    assert.near(1 / 3, found.test.p, 1e-12)
    local none = row("cpu_percent", {}, { 15.0 }).comparison
    assert.equal("missing_metric", none.reason)
    assert.equal(json.null, none.estimate)
    assert.equal(json.null, none.margin)
    assert.equal(json.null, none.test.p)
    assert.equal(json.null, none.power)
  end)

  -- proves: REP-4
  it("keeps an outlier, names its slot, and shows what leaving out one run does", function()
    local far = { 10.0, 10.4, 10.1, 30.0, 10.2 }
    local found = row("cpu_percent", LOW, far).comparison
    assert.same({ { slot = 7, variant = "candidate", value = 30.0 } }, {
      table.unpack(found.outliers),
    })
    assert.equal(5, #found.values.candidate)
    assert.truthy(found.shift_without_one.low <= found.estimate.shift)
    assert.truthy(found.estimate.shift <= found.shift_without_one.high)
  end)

  -- proves: REP-4
  it("withdraws a word that a drift explains, and says both", function()
    local drifting = row(
      "cpu_percent",
      { 10, 10.8, 11.6, 12.4, 13.2 },
      { 12, 12.8, 13.6, 14.4, 15.2 }
    )
    local found = drifting.comparison
    assert.truthy(found.drift.suspected)
    assert.near(0.4, found.drift.slope_per_slot, 1e-9)
    local pure = row(
      "voluntary_switches_per_second",
      { 10, 30, 50, 70, 90 },
      { 20, 40, 60, 80, 100 }
    )
    local one = compared({ pure }, { primary = { "voluntary_switches_per_second" } })
    assert.equal("order_sensitive", pure.comparison.reason)
    assert.equal("equivalent", pure.comparison.detrended_verdict)
    assert.matches("inconclusive as measured, equivalent without the drift", lines_of(one))
  end)

  -- proves: REP-4
  it("warns of neighbours that go up and down in turn", function()
    local one = row("cpu_percent", { 10, 11, 10, 11, 10 }, { 12, 11, 12, 11, 12 })
    assert.truthy(one.comparison.drift.residual_lag1 <= -0.5)
    assert.is_true(one.comparison.drift.seesaw)
    local out, report = {}, compared { one }
    report_md_verdicts.details(out, report.scenarios[1], report.comparison.family)
    assert.matches("go up and down in turn", table.concat(out, "\n"))
    assert.is_false(row("cpu_percent", LOW, WIDE).comparison.drift.seesaw)
  end)

  -- proves: REP-4
  it("says nothing of a metric that a side does not have", function()
    local report = compared({ row("cpu_percent", LOW, HIGH) }, {
      primary = { "cpu_percent", "overview/rss_max_bytes" },
    })
    assert.matches(
      "not concluded: Resident memory, maximum without a value in any run%.",
      lines_of(report)
    )
    assert.near(2 * 2 / 252, report.scenarios[1].metrics[1].comparison.test.adjusted_p, 1e-12)
  end)

  -- proves: MET-4
  it("gives an unvalidated counter a direction and no verdict", function()
    local words = {}
    for i, values in ipairs { HIGH, { 1.0, 1.1, 1.2, 1.3, 1.4 }, WIDE } do
      local one = row("billed_energy_per_second", LOW, values)
      compared({ one })
      words[i] = one.comparison.verdict
    end
    assert.same({ "higher", "lower", "unclear" }, words)
    local drifting = row(
      "billed_energy_per_second",
      { 10, 30, 50, 70, 90 },
      { 200, 220, 240, 260, 280 }
    )
    compared { drifting }
    assert.same(
      { "higher", "higher" },
      { drifting.comparison.raw_verdict, drifting.comparison.detrended_verdict }
    )
  end)
end)

describe("a family", function()
  -- proves: REP-4
  it("is the default one unless it is declared", function()
    local planned = plan_of().comparison
    assert.equal("default", planned.primary_origin)
    assert.equal(4, #planned.primary)
    assert.equal("cpu_percent", planned.primary[1].metric)
    local excludes = report_compare.plan({}, { "a", "b" }, true)
    assert.equal(8, #excludes.primary)
    assert.equal("cpu_percent_without_excluded", excludes.primary[1].metric)
    local declared = report_compare.plan(
      { primary = { "a/cpu_percent", "cpu_percent" } },
      { "a", "b" },
      true
    )
    assert.equal("option", declared.primary_origin)
    assert.same({
      { scenario = "a", metric = "cpu_percent" },
      { scenario = "b", metric = "cpu_percent" },
    }, { table.unpack(declared.primary) })
  end)

  -- proves: REP-4
  it("takes back a difference that does not survive its number, exploratory ones stay", function()
    local names = {
      "cpu_percent",
      "rss_max_bytes",
      "rss_mean_bytes",
      "pss_max_bytes",
      "uss_max_bytes",
      "request_p50_ms",
      "ttft_p50_ms",
    }
    local report = compared({
      row("cpu_percent", LOW, HIGH),
      row("voluntary_switches_per_second", LOW, HIGH),
    }, { primary = names })
    local primary, other = table.unpack(report.scenarios[1].metrics)
    assert.equal("inconclusive", primary.comparison.verdict)
    assert.equal("not_significant_in_family", primary.comparison.reason)
    assert.equal("regressed", primary.comparison.raw_verdict)
    assert.equal("exploratory", other.comparison.family)
    assert.equal("regressed", other.comparison.verdict)
    assert.equal(json.null, other.comparison.test.adjusted_p)
  end)
end)

describe("words that do not count", function()
  -- proves: CLI-5 REP-4
  it("are kept as indicative when the scenario is diagnostic", function()
    local report = compared(
      { row("cpu_percent", LOW, HIGH) },
      { change = { diagnostic_only = true }, gates = { "cpu_percent:+50%" } }
    )
    local found = report.scenarios[1].metrics[1].comparison
    assert.same(
      { "inconclusive", "diagnostic_only", "regressed" },
      { found.verdict, found.reason, found.indicative }
    )
    assert.matches("Scenario overview, indicative only: CPU regressed", lines_of(report))
    assert.equal("inconclusive (indicative: regressed)", verdict_text.word(found))
    local other = compared(
      { row("cpu_percent", LOW, HIGH) },
      { change = { diagnostic_only = true }, primary = { "rss_max_bytes" } }
    )
    assert.matches(
      "indicative only, exploratory, not adjusted for their number: regressed is CPU%.",
      lines_of(other)
    )
    assert.equal("inconclusive", report.gates[1].decision)
    assert.equal("diagnostic_only", report.gates[1].reason)
  end)

  it("keep it that a variant has no value", function()
    local report = compared(
      { row("cpu_percent", LOW, {}) },
      { change = { diagnostic_only = true }, gates = { "cpu_percent:+5%" } }
    )
    assert.equal("missing_metric", report.scenarios[1].metrics[1].comparison.reason)
    assert.equal("missing_metric", report.gates[1].reason)
  end)

  -- proves: PROV-3
  it("are void when an artifact changed or runs are still to come", function()
    for reason, change in pairs {
      artifact_changed = {
        diagnostic_only = true,
        session = { artifacts = { baseline = { unchanged = false } } },
      },
      unfinished = { diagnostic_only = true, totals = { pending = 1 } },
    } do
      local report = compared(
        { row("cpu_percent", LOW, HIGH) },
        { change = change, gates = { "cpu_percent:+5%" } }
      )
      assert.equal(reason, report.scenarios[1].metrics[1].comparison.reason)
      assert.equal(reason, report.comparison.void)
      assert.equal("inconclusive", report.gates[1].decision)
    end
  end)
end)

describe("a gate", function()
  local function read(text)
    return gate.read(text, { "overview", "tray" })
  end

  -- proves: CLI-7 REP-4 CLI-11
  it("reads relative budgets, absolute ones in the metric's unit, and limits", function()
    assert.same(
      { text = "cpu_percent:+5%", metric = "cpu_percent", budget_rel = 0.05 },
      read "cpu_percent:+5%"
    )
    assert.equal(0.5, read("cpu_percent:+0.5").budget_abs)
    assert.equal(50, read("cpu_percent:<=50%").limit)
    local memory = read "tray/rss_max_bytes:+20MiB"
    assert.same({ "tray", 20 << 20 }, { memory.scenario, memory.budget_abs })
    assert.equal(4096, read("write_bytes_per_second:+4KiB").budget_abs)
    assert.equal(4096, read("write_bytes_per_second:<=4KiB/s").limit)
    assert.equal(250, read("ttft_p50_ms:<=250ms").limit)
    assert.equal(2000, read("ttft_p50_ms:<=2").limit)
    assert.equal(2, read("voluntary_switches_per_second:+2").budget_abs)
    assert.equal(0.125, read("rss_max_bytes:+12.5%").budget_rel)
  end)

  -- proves: CLI-7
  it("that cannot be read says why, with the nearest name", function()
    for text, reason in pairs {
      ["cpu_precent:+5%"] = "did you mean 'cpu_percent'",
      ["trai/cpu_percent:+5%"] = "did you mean 'tray'",
      ["cpu_percent"] = "not of the form",
      ["cpu_percent:5%"] = "no budget of the form",
      ["cpu_percent:<5"] = "no budget of the form",
      ["cpu_percent:=5"] = "no budget of the form",
      ["cpu_percent:+x%"] = "no number of percent",
      ["cpu_percent:+-5%"] = "no number of percent",
      ["cpu_percent:+5MiB"] = "no number of percent of one core",
      ["rss_max_bytes:+20"] = "a whole number with B, KiB",
      ["rss_max_bytes:<=20%"] = "a whole number with B, KiB",
      ["ttft_p50_ms:+5MiB"] = "a time such as",
      ["billed_energy_per_second:+5%"] = "cannot gate",
    } do
      local found, why = read(text)
      assert.is_nil(found, text)
      assert(why:find(reason, 1, true), text .. ": " .. why)
    end
  end)

  -- proves: CLI-7 REP-4
  it("decides about the scenario that it names only", function()
    local other = report_of { row("cpu_percent", LOW, HIGH) }
    other.scenarios[2] = report_of({ row("cpu_percent", LOW, LOW) }).scenarios[1]
    other.scenarios[2].name = "tray"
    local gates = assert(gate.read_all({ "tray/cpu_percent:+5%", "cpu_percent:+5%" }, {
      "overview",
      "tray",
    }))
    local found = {}
    for i, one in ipairs(gate.results(gates, other.scenarios)) do
      found[i] = one.scenario .. " " .. one.decision
    end
    assert.same({ "tray pass", "overview fail", "tray pass" }, found)
  end)

  -- proves: CLI-7 REP-4
  it("passes, fails or stays open, for every scenario that it names", function()
    local rows = { row("cpu_percent", LOW, HIGH) }
    local report = compared(rows, {
      gates = {
        "cpu_percent:+100%",
        "cpu_percent:+5%",
        "cpu_percent:+5",
        "cpu_percent:<=17",
        "cpu_percent:<=15",
        "ttft_p50_ms:+5%",
      },
    })
    local found = {}
    for i, one in ipairs(report.gates) do
      found[i] = one.decision .. (one.reason ~= json.null and " " .. one.reason or "")
    end
    assert.same({
      "pass",
      "fail",
      "inconclusive straddles_budget",
      "pass",
      "inconclusive straddles_limit",
      "inconclusive missing_metric",
    }, found)
    assert.same(
      { "pass", "fail", "inconclusive", "pass", "inconclusive", "inconclusive" },
      gate.decisions(report)
    )
    assert.matches("Gate cpu_percent:%+5%%, scenario overview: fail%.", lines_of(report))
  end)
end)

-- proves: CLI-7 MET-7
describe("a gate on lower bounds", function()
  local function decisions(baseline, candidate)
    local one = row("cpu_percent", LOW, HIGH)
    one.baseline.lower_bound, one.candidate.lower_bound = baseline, candidate
    local scenarios = compared({ one }).scenarios
    local gates = assert(
      gate.read_all(
        { "cpu_percent:<=50%", "cpu_percent:<=14%", "cpu_percent:+100%", "cpu_percent:+5%" },
        { "overview" }
      )
    )
    local found = gate.results(gates, scenarios)
    scenarios[1].void = "diagnostic_only"
    table.move(gate.screen_results({ table.unpack(gates, 3) }, scenarios), 1, 2, 5, found)
    for i, one_result in ipairs(found) do
      local reason = one_result.reason
      found[i] = reason == "lower_bound" and "open" or one_result.decision
    end
    return { table.unpack(found) }
  end

  it("does not pass by what was not counted, and fails by what was", function()
    assert.same({ "pass", "fail", "pass", "fail", "not_shown", "fail" }, decisions(0, 0))
    assert.same({ "open", "fail", "open", "fail", "open", "fail" }, decisions(0, 1))
    assert.same({ "pass", "fail", "open", "open", "open", "open" }, decisions(5, 0))
    assert.same({ "open", "fail", "open", "open", "open", "open" }, decisions(5, 5))
  end)
end)

describe("verdicts in words", function()
  -- proves: REP-4
  it("give the interval beside every difference, the margin beside every equality", function()
    local report = compared {
      row("cpu_percent", LOW, HIGH),
      row("voluntary_switches_per_second", LOW, WIDE),
    }
    local text = lines_of(report)
    assert.matches(
      "CPU regressed, %+4.90 %% of one core or %+47.1%% %(96.8 %% interval %+4.20 to %+5.60, "
        .. "p 0.0079, adjusted 0.032%)",
      text
    )
    assert.matches("equivalent, the difference is within 2.00 per second %(90.5 %% interval ", text)
    assert.matches("5%+5 runs: smallest possible p 0.0079; difference interval at 96.8 %%", text)
    local out = {}
    report_md_verdicts.table(out, report)
    report_md_verdicts.details(out, report.scenarios[1], report.comparison.family)
    local markdown = table.concat(out, "\n")
    assert.is_nil((text .. markdown):find("±", 1, true))
    assert.matches("Baseline runs: 10.00, 10.40, 10.10, 10.90, 10.60%.", markdown)
    assert.matches("No outlier%.", markdown)
    assert.matches("Ratio 1.468, 96.8 %% interval 1.%d+ to 1.%d+%.", markdown)
    assert.matches("Each p is exact %(above 60 runs of both variants: by the normal", markdown)
    assert.matches("Second opinion by 5 pairs", markdown)
  end)

  -- proves: REP-4
  it("say how many more runs would settle an open one, and how long they take", function()
    local report = compared { row("cpu_percent", LOW, { 10.2, 11.7, 10.05, 12.2, 10.5 }) }
    local one = report.scenarios[1].metrics[1]
    assert.equal("interval_too_wide", one.comparison.reason)
    local more = one.comparison.power.more_per_variant
    assert.truthy(more > 0)
    local advice = ("about %d more repetitions per variant (%s) would resolve 5.0 %%"):format(
      more,
      units.format_long(2 * more * 180)
    )
    assert.truthy(lines_of(report):find(advice, 1, true))
  end)

  -- proves: REP-4
  it("say how many runs a family needs, not what one metric on its own would", function()
    local seven = { "cpu_percent", "rss_max_bytes", "rss_mean_bytes", "pss_max_bytes" }
    table.move({ "uss_max_bytes", "request_p50_ms", "ttft_p50_ms" }, 1, 3, 5, seven)
    local report = compared({ row("cpu_percent", LOW, HIGH) }, { primary = seven })
    local text = lines_of(report)
    assert.matches("at least 6 repetitions per variant are needed for 7 primary metrics", text)
    assert.is_nil(text:find("would", 1, true))
    local near = row("cpu_percent", LOW, { 10.8, 15.5, 14.8, 16.0, 10.95 }) -- p 0.016
    report = compared({ near }, { primary = { table.unpack(seven, 1, 4) } })
    assert.equal("not_significant_in_family", near.comparison.reason)
    text = lines_of(report)
    assert.matches("more repetitions than these, or fewer than 4 primary metrics, are needed", text)
  end)

  -- proves: REP-4 MET-7
  it("show a detail that was declared primary, in every table", function()
    local one = row("cpu_percent_cgroup", LOW, HIGH)
    one.detail = true
    for _, variant in ipairs { "baseline", "candidate" } do
      one[variant].n, one[variant].scheduled, one[variant].missing = 5, 5, 0
    end
    local function tables(primary)
      local report = compared({ one }, { primary = { primary } })
      local out = {}
      report_md_verdicts.table(out, report)
      report_md_verdicts.details(out, report.scenarios[1], report.comparison.family)
      html_tables.verdicts(out, report)
      return table.concat(out, "\n")
    end
    local _, count = tables("cpu_percent_cgroup"):gsub("CPU of the control group", "")
    assert.equal(3, count)
    one.comparison.family = "exploratory"
    assert.is_nil(tables("cpu_percent"):find("CPU of the control group", 1, true))
  end)

  -- proves: REP-4 MET-7
  it("say at least of a lower bound", function()
    local one = row("voluntary_switches_per_second", LOW, { 30, 31, 32, 33, 34 })
    one.candidate.lower_bound = 1
    local report = compared({ one }, { primary = { "voluntary_switches_per_second" } })
    assert.matches(
      "concluded: Voluntary context switches %(candidate at least%) regressed",
      lines_of(report)
    )
  end)

  it("say that a family is larger than the runs can show", function()
    assert.matches(
      "2%+2 runs: smallest possible p 0.33; no difference interval; no equivalence interval; "
        .. "no difference can be significant",
      verdict_text.attainable(compare.attainable(2, 2))
    )
  end)
end)
