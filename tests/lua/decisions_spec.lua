-- SPDX-License-Identifier: Apache-2.0
--- Screens of short sessions, noise floors of A/A sessions, and gates over several hosts.
package.path = "tests/lua/?.lua;" .. package.path
local combine = require "pairperf.combine"
local core = require "pairperf.core"
local decide = require "pairperf.stats.gate"
local fixture = require "fixture"
local gate = require "pairperf.gate"
local json_schema = require "pairperf.json_schema"
local noise_floor = require "pairperf.noise_floor"
local report = require "pairperf.report"
local report_commands = require "pairperf.report_commands"

local json = core.json

local dirs
before_each(function()
  dirs = {}
end)
after_each(function()
  for _, dir in ipairs(dirs) do
    fixture.remove(dir)
  end
end)

local DIAGNOSTIC <const> =
  { diagnostic_only = true, reasons = json.array { "duration", "repetitions", "warmup" } }

-- Probes of a machine with a processor of this name.
local function probes(cpu)
  local function probe(value)
    return { value = value, reason = json.null, source = "test" }
  end
  return {
    schema = "pairperf-probes-1",
    kind = "static",
    display = {},
    cpu_model = probe(cpu),
    kernel = probe "6.1",
  }
end

-- A session whose runs use so many percent of a core.
local function session(baseline, candidate, change, cpu)
  local dir = fixture.directory()
  dirs[#dirs + 1] = dir
  change = change or {}
  change.repetitions = #baseline
  local runs = {}
  for i = 1, #baseline do
    runs[2 * i - 2] = { frames = fixture.steady(baseline[i]) }
    runs[2 * i - 1] = candidate[i] and { frames = fixture.steady(candidate[i]) } or nil
  end
  fixture.session(dir, fixture.plan(change), runs)
  fixture.write(dir .. "/probes.json", assert(json.encode(probes(cpu or "A"))))
  return dir
end

-- The scenarios overview and tray, each of whose runs use so much; only tray is short.
local function short_tray(baseline, candidate)
  local dir, plan, runs = fixture.directory(), fixture.plan { repetitions = #baseline }, {}
  dirs[#dirs + 1] = dir
  local tray = {}
  for name, value in pairs(plan.scenarios[1]) do
    tray[name] = value
  end
  tray.name, tray.diagnostic_reasons = "tray", json.array { "duration" }
  plan.scenarios[1].diagnostic_reasons, plan.scenarios[2] = json.array {}, tray
  plan.diagnostic = { diagnostic_only = true, reasons = json.array { "duration" } }
  for i = 1, 2 * #baseline do
    local one = {}
    for name, value in pairs(plan.runs[i]) do
      one[name] = value
    end
    one.slot, one.scenario = #plan.runs, "tray"
    one.directory = ("tray/run-%02d"):format(i)
    plan.runs[#plan.runs + 1] = one
    local values = i % 2 == 1 and baseline or candidate
    local frames = fixture.steady(values[(i + 1) // 2])
    runs[i - 1], runs[one.slot] = { frames = frames }, { frames = frames }
  end
  fixture.session(dir, plan, runs)
  fixture.write(dir .. "/probes.json", assert(json.encode(probes "A")))
  return dir
end

-- Status and words of a command.
local function run(...)
  local out, stdout, stderr = {}, io.stdout, io.stderr
  local sink = {
    write = function(_, ...)
      out[#out + 1] = table.concat { ... }
    end,
  }
  rawset(io, "stdout", sink)
  rawset(io, "stderr", sink)
  local ok, status = pcall(report_commands.main, ...)
  rawset(io, "stdout", stdout)
  rawset(io, "stderr", stderr)
  assert(ok, status)
  return status, table.concat(out)
end

local function says(text, words)
  assert(text:find(words, 1, true), words .. "\nis not in\n" .. text)
end

local LOW <const>, SAME <const> = { 20, 21, 20.5 }, { 20.2, 20.8, 20.6 }
local HIGH <const> = { 30, 31, 30.5 }

describe("a session with one short scenario", function()
  -- proves: CLI-5 CLI-7 REP-4
  it("has words and gates that count in the other one", function()
    local dir = short_tray(LOW, HIGH)
    local status, text = run("compare", dir, "--fail-on", "overview/cpu_percent:+80%")
    assert.equal(0, status)
    says(text, "Gate overview/cpu_percent:+80%, scenario overview: pass.")
    says(text, "Scenario tray is diagnostic only (window under 120 s)")
    status, text = run("compare", dir, "--fail-on", "cpu_percent:+80%")
    assert.equal(4, status)
    says(text, "Gate cpu_percent:+80%, scenario overview: pass.")
    says(text, "Gate cpu_percent:+80%, scenario tray: inconclusive: diagnostic only.")
    status, text = run("compare", dir, "--screen", "cpu_percent:+80%")
    assert.equal(0, status)
    says(text, "Screen cpu_percent:+80%, scenario tray: no regression above")
  end)

  it("says so in every report", function()
    local dir = short_tray(LOW, SAME)
    local built = assert(report.write(dir))
    assert.is_nil(json_schema.problem(assert(json.decode(assert(json.encode(built))))))
    assert.truthy(built.diagnostic_only)
    assert.equal(json.null, built.comparison.void)
    local voids, reasons = {}, {}
    for i, one in ipairs(built.scenarios) do
      voids[i], reasons[i] = one.void, #one.diagnostic_reasons
      local cpu = one.metrics[1].comparison
      assert.equal(i == 2, cpu.indicative ~= json.null)
      assert.equal(i == 2 and "inconclusive" or "equivalent", cpu.verdict)
    end
    assert.same({ json.null, "diagnostic_only" }, voids)
    assert.same({ 0, 1 }, reasons)
    for _, name in ipairs { "report.md", "report.html" } do
      local page = assert(core.fs.read(dir .. "/" .. name))
      says(page, "Scenario overview, concluded: ")
      says(page, "Scenario tray, indicative only: ")
    end
    local markdown = assert(core.fs.read(dir .. "/report.md"))
    local overview, tray = markdown:match "\n## Scenario overview\n(.-)\n## Scenario tray\n(.*)"
    assert.is_nil(overview:find("iagnostic only", 1, true))
    says(tray, "Diagnostic only (window under 120 s): these figures support no conclusion")
  end)
end)

-- proves: CLI-7 REP-4
describe("options of compare", function()
  local function gated()
    local comparison = {
      primary = json.array { { scenario = "overview", metric = "cpu_percent" } },
      primary_origin = "default",
      gates = json.array { "cpu_percent:+5%" },
      screens = json.array {},
    }
    return session(LOW, HIGH, { comparison = comparison })
  end

  it("replace the plan's own list in every session, and say so", function()
    local dir, other = gated(), short_tray(LOW, SAME)
    local status, text = run("compare", dir)
    assert.equal(4, status)
    says(text, "Gate cpu_percent:+5%, scenario overview: fail.")
    status, text = run("compare", dir, "--fail-on", "cpu_percent:+90%")
    assert.equal(0, status)
    says(text, "\n--fail-on cpu_percent:+90%; not asked: the plan's own cpu_percent:+5%\n")
    assert.is_nil(text:find("Gate cpu_percent:+5%", 1, true))
    status, text = run("compare", dir, other, "--fail-on", "tray/cpu_percent:+90%")
    assert.equal(4, status) -- tray is diagnostic only
    local words = "--fail-on names no scenario of this session; not asked: the plan's own "
    says(text, dir .. "\n" .. words .. "cpu_percent:+5%\n")
    assert.is_nil(text:find(other .. "\n--fail-on", 1, true))
    text = select(2, run("compare", dir, "--screen", "cpu_percent:+90%"))
    says(text, "Gate cpu_percent:+5%, scenario overview: fail.") -- another option, another list
  end)

  it("leave no primary metric where none is named", function()
    local b, c = { 20, 21, 20.5, 20.2, 20.8 }, { 30, 31, 30.5, 30.2, 30.8 }
    local first, other = session(b, c), short_tray(b, c)
    local status, text = run("compare", first, other, "--primary", "tray/cpu_percent")
    assert.equal(0, status)
    says(text, "--primary names no scenario of this session: no metric is primary\n")
    says(text, "overview, exploratory, not adjusted for their number: regressed is CPU.")
    says(text, "Scenario tray, indicative only: CPU regressed")
  end)

  it("are refused by name when no session has the scenario", function()
    for option, value in pairs {
      ["--fail-on"] = "ovrview/cpu_percent:+5%",
      ["--screen"] = "ovrview/cpu_percent:+5%",
      ["--primary"] = "ovrview/cpu_percent",
    } do
      local status, text = run("compare", gated(), short_tray(LOW, SAME), option, value)
      assert.equal(2, status)
      local words = "pairperf-lua: option '%s': '%s' names no scenario of this session: 'ovrview'; "
        .. "did you mean 'overview'?\n"
      assert.equal(words:format(option, value), text)
    end
  end)
end)

describe("a screen", function()
  -- proves: CLI-7 REP-4
  it("fails only when the interval lies wholly beyond the budget, and is never a pass", function()
    local how = { direction = "lower", budget_abs = 5 }
    assert.equal("fail", decide.screen(LOW, HIGH, how).decision)
    assert.equal("not_shown", decide.screen(LOW, SAME, how).decision)
    how.budget_abs = 9 -- the interval straddles it
    assert.equal("not_shown", decide.screen(LOW, HIGH, how).decision)
    how.direction = "higher"
    assert.equal("not_shown", decide.screen(LOW, HIGH, how).decision)
    assert.equal(
      "fail",
      decide.screen(HIGH, LOW, { direction = "higher", budget_abs = 5 }).decision
    )
    local few = decide.screen({ 1, 2 }, { 30, 31 }, how)
    assert.equal("inconclusive", few.decision)
    assert.equal("too_few_runs", few.reason)
    assert.equal("missing_metric", decide.screen({}, { 1 }, how).reason)
  end)

  -- proves: CLI-7 REP-4
  it("decides about a diagnostic session, which opens every gate", function()
    local worse = session(LOW, HIGH, { diagnostic = DIAGNOSTIC })
    local status, text = run("compare", worse, "--fail-on", "cpu_percent:+5%")
    assert.equal(4, status)
    says(text, "Gate cpu_percent:+5%, scenario overview: inconclusive: diagnostic only.")
    status, text = run("compare", worse, "--screen", "cpu_percent:+5%")
    assert.equal(4, status)
    says(
      text,
      "Screen cpu_percent:+5%, scenario overview: fail: a regression above +1.0 % of one core"
    )
    says(text, "the worsening is between +9.0 and +11.0 (indicative interval, 90.0 %).")
    local same = session(LOW, SAME, { diagnostic = DIAGNOSTIC })
    status, text = run("compare", same, "--screen", "cpu_percent:+5%")
    assert.equal(0, status)
    says(text, "scenario overview: no regression above +1.0 % of one core shown")
    assert.is_nil(text:find("pass", 1, true))
  end)

  it("of a metric without values stays open", function()
    local dir = session(LOW, SAME, { diagnostic = DIAGNOSTIC })
    local status, text = run("compare", dir, "--screen", "ttft_p50_ms:+5%")
    assert.equal(4, status)
    says(text, "nothing can be said: a variant has no value.")
    assert.equal(0, (run("compare", dir, "--screen", "ttft_p50_ms:+5%", "--allow-inconclusive")))
  end)

  it("of an unfinished session stays open", function()
    local dir = session(LOW, { 30, 31 }, { diagnostic = DIAGNOSTIC })
    local status, text = run("compare", dir, "--screen", "cpu_percent:+5%", "--allow-failed=1")
    assert.equal(4, status)
    says(text, "nothing can be said: the session is not finished.")
  end)

  -- proves: CLI-7
  it("takes a budget, not a limit, and known names", function()
    for text, reason in pairs {
      ["cpu_percent:<=5"] = "'cpu_percent:<=5' is a limit; a screen takes a budget, +5% or +20MiB",
      ["cpu_percnt:+5%"] = "did you mean 'cpu_percent'",
      ["overvew/cpu_percent:+5%"] = "did you mean 'overview'",
    } do
      local _, found = gate.read_screens({ text }, { "overview" })
      says(found, reason)
    end
    local status, text = run("compare", session(LOW, SAME), "--screen", "cpu_percent:<=5")
    assert.equal(2, status)
    says(text, "option '--screen': 'cpu_percent:<=5' is a limit")
  end)

  it("stands in a report that holds to its schema", function()
    local comparison = {
      primary = json.array { { scenario = "overview", metric = "cpu_percent" } },
      primary_origin = "default",
      gates = json.array {},
      screens = json.array { "cpu_percent:+5%" },
    }
    local dir = session(LOW, HIGH, { diagnostic = DIAGNOSTIC, comparison = comparison })
    local built = assert(report.write(dir))
    assert.equal("fail", built.screens[1].decision)
    assert.is_nil(
      json_schema.problem(assert(json.decode(assert(core.fs.read(dir .. "/report.json")))))
    )
  end)
end)

describe("a noise floor", function()
  local function control(cpu)
    local b, c = { 20, 21, 20.5, 20.3, 20.7 }, { 20.1, 20.9, 20.6, 20.2, 21.4 }
    local dir = session(b, c, { null_control = true }, cpu)
    assert(report.write(dir))
    return dir, dir .. "/noise-floor.json"
  end

  local function margin_of(text)
    return text:match "CPU equivalent, the difference is within (%S+) %% of one core"
  end

  -- proves: PLAN-4 REP-3
  it("is written into the output of an A/A session, for its machine and windows", function()
    local dir, path = control()
    local floor = assert(json.decode(assert(core.fs.read(path))))
    assert.is_nil(json_schema.problem(floor))
    assert.equal("A", floor.machine.cpu_model)
    assert.equal(60000000000, floor.scenarios[1].warmup_ns)
    local cpu
    for _, one in ipairs(floor.scenarios[1].metrics) do
      cpu = one.metric == "cpu_percent" and one or cpu
    end
    assert.equal("conservation", cpu.tier)
    assert.near(math.max(-cpu.low, cpu.high), cpu.floor, 1e-12)
    assert.near(0.9048, cpu.level, 1e-4)
    local page = assert(core.fs.read(dir .. "/report.md"))
    says(page, "A/A control")
    local other = session(LOW, SAME)
    assert(report.write(other))
    assert.is_nil(core.fs.lstat(other .. "/noise-floor.json"))
  end)

  -- proves: PLAN-4 REP-4
  it("takes the place of the starting margins, and is named", function()
    local _, path = control()
    local dir = session({ 20, 20.1, 20.2, 20.1, 20 }, { 20, 20.1, 20.2, 20.1, 20.1 })
    local _, text = run("compare", dir)
    assert.equal("1.00", margin_of(text)) -- 5 % of 20.1
    local status
    status, text = run("compare", dir, "--noise-floor", path)
    assert.equal(0, status)
    assert.equal("0.70", margin_of(text)) -- its interval is -0.4 to 0.7
    says(
      text,
      "The margin of 3 metrics is the noise floor of an A/A session (2025-11-29T19:31:12Z, " .. path
    )
  end)

  -- proves: PLAN-4 REP-5
  it("is refused for another machine, and when it is none", function()
    local _, path = control()
    local dir = session(LOW, SAME, {}, "B")
    local status, text = run("compare", dir, "--noise-floor", path)
    assert.equal(2, status)
    says(text, 'was made on another machine: cpu_model is "A" there, "B" here')
    status, text = run("compare", dir, "--noise-floor", dir .. "/probes.json")
    assert.equal(2, status)
    says(text, "no noise floor of an A/A session")
    assert.equal(2, (run("compare", dir, "--noise-floor", "/nonexistent")))
    local wrong = fixture.directory() .. ".json"
    fixture.write(wrong, '{"schema":"pairperf-floor-1","scenarios":[]}')
    status, text = run("compare", dir, "--noise-floor", wrong)
    os.remove(wrong)
    assert.equal(2, status)
    says(text, "is missing")
  end)

  it("says nothing about other windows, other sources, or where it is 0", function()
    local own = { metric = "cpu_percent", tier = "cgroup", floor = 0.5 }
    local zero = { metric = "swap_max_bytes", tier = json.null, floor = 0 }
    local window = { name = "x", warmup_ns = 1, duration_ns = 2, interval_ns = 3 }
    local floor = { scenarios = { { metrics = { own, zero } } } }
    for name, value in pairs(window) do
      floor.scenarios[1][name] = value
    end
    local cited, without = noise_floor.cited(floor, { window })
    assert.equal(0, #without)
    assert.equal(1, #cited.margins)
    assert.equal(0.5, noise_floor.margin(cited.margins, "cpu_percent", "cgroup"))
    assert.is_nil(noise_floor.margin(cited.margins, "cpu_percent", "observed"))
    for name in pairs(window) do
      local other = { name = "x", warmup_ns = 1, duration_ns = 2, interval_ns = 3 }
      other[name] = name == "name" and "y" or 9
      cited, without = noise_floor.cited(floor, { other })
      assert.equal(0, #cited.margins)
      assert.same({ other.name }, without)
    end
  end)

  -- proves: PLAN-4 REP-3
  it("is none when the session is not finished or an artifact changed", function()
    local changed = { artifacts = { baseline = { unchanged = false } } }
    for i, candidate in ipairs { { 20, 21 }, SAME } do
      local dir = session(LOW, candidate, { null_control = true })
      if i == 2 then
        fixture.write(dir .. "/session.json", assert(json.encode(changed)))
      end
      local built = assert(report.write(dir))
      assert.is_nil(core.fs.lstat(dir .. "/noise-floor.json"))
      assert.is_nil(table.concat(built.conclusions):find("noise-floor.json", 1, true))
      assert.is_nil(table.concat(built.evidence, " "):find("noise-floor", 1, true))
    end
    local short = session(LOW, SAME, { null_control = true, diagnostic = DIAGNOSTIC })
    assert(report.write(short))
    assert(core.fs.lstat(short .. "/noise-floor.json"))
    local listed = assert(json.decode(assert(core.fs.read(short .. "/report.json")))).evidence
    says(table.concat(listed, " "), "noise-floor.json")
  end)

  it("counts the metrics that use it, not those that it has", function()
    local _, path = control()
    local dir = session(LOW, SAME)
    local floor = assert(json.decode(assert(core.fs.read(path))))
    local metrics = floor.scenarios[1].metrics
    metrics[#metrics + 1] = { metric = "swap_mean_bytes", tier = "none of these", floor = 1 }
    for name, value in pairs { low = 0, high = 1, level = 0.9 } do
      metrics[#metrics][name] = value
    end
    metrics[#metrics].baseline_runs, metrics[#metrics].candidate_runs = 5, 5
    fixture.write(path, assert(json.encode(floor)))
    local _, text = run("compare", dir, "--noise-floor", path)
    says(text, "The margin of 3 metrics is the noise floor of an A/A session")
  end)

  it("is the same in a report that is built again", function()
    local dir, path = control()
    local before = assert(core.fs.read(path))
    os.remove(path)
    assert.equal(0, (run("report", dir)))
    assert.equal(before, assert(core.fs.read(path)))
  end)
end)

describe("a comparison of one variant", function()
  -- proves: CLI-7
  it("is refused what only a comparison can answer", function()
    local dir = session({ 20 }, {}, { mode = "single" })
    assert.equal(0, (run("compare", dir)))
    for option, value in pairs {
      ["fail-on"] = "rss_max_bytes:<=1MiB",
      screen = "rss_max_bytes:+1MiB",
      primary = "rss_max_bytes",
      ["noise-floor"] = "/nonexistent",
    } do
      local status, text = run("compare", session(LOW, SAME), dir, "--" .. option, value)
      assert.equal(2, status)
      says(text, ("option '--%s' has no place beside a session of one variant"):format(option))
    end
  end)
end)

describe("gates of several hosts", function()
  -- proves: REP-5 CLI-7
  it("follow the worst unless any host is enough", function()
    local b = { 20, 21, 20.5, 20.3, 20.7 }
    local worse = session(b, { 30, 31, 30.5, 30.2, 30.9 }, {}, "A")
    local same = session(b, { 20, 21, 20.5, 20.3, 20.7 }, {}, "B")
    local status, text = run("compare", worse, same, "--fail-on", "cpu_percent:+8%")
    assert.equal(4, status)
    says(text, "A gate or screen must hold in every session.")
    says(
      text,
      "Gate cpu_percent:+8%, scenario overview: fail (" .. worse .. " fail, " .. same .. " pass)"
    )
    says(text, worse .. ": A, 6.1\n")
    says(text, same .. ": B, 6.1\n")
    status, text = run("compare", worse, same, "--fail-on=cpu_percent:+8%", "--gate-hosts=any")
    assert.equal(0, status)
    says(text, "A gate or screen must hold in any one session")
    says(text, "scenario overview: pass (" .. worse .. " fail")
    assert.equal(4, (run("compare", worse, worse, "--fail-on=cpu_percent:+8%", "--gate-hosts=any")))
    -- A pass for one gate is none for another.
    assert.equal(
      4,
      (
        run(
          "compare",
          worse,
          same,
          "--fail-on=cpu_percent:+8%",
          "--fail-on=cpu_percent:<=1",
          "--gate-hosts=any"
        )
      )
    )
  end)

  -- proves: REP-5
  it("have no primary metric of a session without the scenario", function()
    local dir = session(LOW, SAME)
    local other = session(LOW, SAME)
    local input = assert(json.decode(assert(core.fs.read(other .. "/plan.json"))))
    input.scenarios[1].name = "tray"
    for _, one in ipairs(input.runs) do
      one.scenario = "tray"
    end
    fixture.write(other .. "/plan.json", assert(json.encode(input)))
    local _, text = run("compare", dir, other, "--primary", "tray/rss_max_bytes")
    local _, count = text:gsub("The primary metrics were chosen after the runs", "")
    assert.equal(1, count)
    says(text, dir .. "\n--primary names no scenario of this session: no metric is primary\n")
    says(text, "  tray, Resident memory, maximum: ")
    assert.is_nil(text:find("  overview, ", 1, true))
  end)

  it("are put together gate by gate", function()
    local function of(...)
      local gates = {}
      for i, decision in ipairs { ... } do
        gates[i] = { gate = "g" .. i, scenario = "s", decision = decision }
      end
      return { gates = gates, screens = {} }
    end
    assert.same(
      { "pass", "inconclusive", "fail" },
      combine.best_decisions { of("fail", "inconclusive", "fail"), of("pass", "fail", "fail") }
    )
  end)
end)
