-- SPDX-License-Identifier: Apache-2.0
-- What the words of a comparison are worth: words about equals (A/A), in real short sessions and in
-- simulated ones from their run values; what screens catch; and inputs for the peer, in
-- WORK/cases.jsonl. Words: BUILD WORK SESSIONS COUNT, a directory of so many A/A sessions; one that
-- left no report is a miss.
local bench = require "bench"
local compare = require "pairperf.compare"
local decide = require "pairperf.stats.gate"
local interval = require "pairperf.stats.interval"
local metric_names = require "pairperf.metric_names"
local normal = require "pairperf.stats.normal"
local pairperf = require "pairperf"
local ranks = require "pairperf.stats.ranks"
local report = require "pairperf.report"
local report_build = require "pairperf.report_build"
local stats = require "pairperf.stats"

local build, work, sessions, asked = ...
bench.begin(build, work)

local RUNS <const>, SIMULATED <const>, CASES <const>, SCREENS <const> = 5, 2000, 200, 20000
local WRONG = { improved = true, regressed = true }

local function share(count, of)
  return ("%d of %d (%.2f %%)"):format(count, of, 100 * count / math.max(1, of))
end

-- ---------------------------------------------------------------- real sessions

local function known(value)
  return value ~= nil and value ~= pairperf.json.null
end

local function word(comparison)
  return known(comparison.indicative) and comparison.indicative or comparison.verdict
end

local function load_reports()
  local reports = {}
  for _, name in ipairs(assert(pairperf.fs.list(sessions))) do
    local input = report.load(sessions .. "/" .. name)
    reports[#reports + 1] = input and report_build.build(input)
  end
  return reports
end

-- Wrong words among the primary metrics, all such metrics, and sessions with a wrong word.
local function count_words(scenarios)
  local wrong, all, any = 0, 0, 0
  for _, scenario in ipairs(scenarios) do
    local before = wrong
    for _, row in ipairs(scenario.metrics) do
      if row.comparison.family == "primary" then
        all = all + 1
        wrong = wrong + (WRONG[word(row.comparison)] and 1 or 0)
      end
    end
    any = any + (wrong > before and 1 or 0)
  end
  return wrong, all, any
end

-- The most sessions with a wrong word that chance explains (in 99 of 100 benches) at 5 % each.
local function most_by_chance(n)
  local p, tail, k = 0.95 ^ n, 1 - 0.95 ^ n, 0
  while tail > 0.01 do
    k = k + 1
    p = p * (n - k + 1) / k * 0.05 / 0.95
    tail = tail - p
  end
  return k
end

local function real_sessions(reports)
  local scenarios = {}
  for i, one in ipairs(reports) do
    scenarios[i] = one.scenarios[1]
  end
  local wrong, all, any = count_words(scenarios)
  local most = most_by_chance(#scenarios)
  bench.row {
    name = ("A/A, %d real short sessions, with a wrong indicative word"):format(#scenarios),
    ours = ("%s; %s of the words"):format(share(any, #scenarios), share(wrong, all)),
    bar = ("%s sessions; <= 5 %%, by chance up to %d"):format(asked, most),
    ok = any <= most and #scenarios == tonumber(asked),
  }
end

-- ---------------------------------------------------------------- simulated sessions

-- The primary values of every recorded run: {metric -> value}.
local function recorded_runs(reports)
  local runs, names = {}, {}
  for _, one in ipairs(reports) do
    local sides = { baseline = {}, candidate = {} }
    for _, row in ipairs(one.scenarios[1].metrics) do
      for variant, side in pairs(row.comparison.family == "primary" and sides or {}) do
        for i, value in ipairs(row.comparison.values[variant]) do
          side[i] = side[i] or {}
          side[i][row.name], names[row.name] = value, true
        end
      end
    end
    table.move(sides.baseline, 1, #sides.baseline, #runs + 1, runs)
    table.move(sides.candidate, 1, #sides.candidate, #runs + 1, runs)
  end
  return runs, names
end

-- The first runs of a fresh order of all.
local function draw(runs, count)
  for i = 1, count do
    local j = math.random(i, #runs)
    runs[i], runs[j] = runs[j], runs[i]
  end
end

local function simulated_row(name, runs)
  local entry, values = assert(metric_names.entry(name)), {}
  for slot = 0, 2 * RUNS - 1 do
    local value = runs[slot + 1][name]
    local variant = slot % 2 == 0 and "baseline" or "candidate"
    values[#values + 1] = value and { slot = slot, variant = variant, value = value }
  end
  return { name = name, comparison = compare.metric(entry, values) }, entry
end

local function simulate(runs, names)
  math.randomseed(SIMULATED)
  local scenarios, before = {}, 0
  for i = 1, SIMULATED do
    draw(runs, 2 * RUNS)
    local scenario, family, entries = { name = "aa", metrics = {} }, {}, {}
    for name in pairs(names) do
      local row, entry = simulated_row(name, runs)
      before = before + (WRONG[row.comparison.verdict] and 1 or 0)
      scenario.metrics[#scenario.metrics + 1], entries[name] = row, entry
      family[#family + 1] = { scenario = "aa", metric = name }
    end
    compare.finish({ scenario }, entries, family)
    scenarios[i] = scenario
  end
  return scenarios, before
end

local function simulated_sessions(reports)
  local runs, names = recorded_runs(reports)
  if #runs < 4 * RUNS then
    return bench.cannot("A/A, simulated sessions", "too few recorded runs")
  end
  local scenarios, before = simulate(runs, names)
  local wrong, all, any = count_words(scenarios)
  bench.row {
    name = ("A/A, simulated from %d recorded runs, wrong words"):format(#runs),
    ours = ("%s, %s before the adjustment for the family"):format(
      share(wrong, all),
      share(before, all)
    ),
    bar = "<= 3.2 % of the words (8/252 at 5+5 runs)",
    ok = before <= 0.032 * all and wrong <= before,
  }
  bench.row {
    name = "  sessions with a wrong word",
    ours = share(any, #scenarios),
    bar = "<= 5 %",
    ok = any <= 0.05 * #scenarios,
  }
end

-- ---------------------------------------------------------------- screens

local function normal_values(n, mean)
  local values = {}
  for i = 1, n do
    local radius = math.sqrt(-2 * math.log(1 - math.random()))
    values[i] = mean + radius * math.cos(2 * math.pi * math.random())
  end
  return values
end

-- By how many standard deviations of a run the candidate is worse than the budget allows.
local DISTANCES = { -2, -1, 0, 1, 2, 3, 4 }

local function screens(n)
  math.randomseed(n)
  local budget, parts, at_budget = 2, {}, 0
  for i, distance in ipairs(DISTANCES) do
    local failed = 0
    for _ = 1, SCREENS do
      local b, c = normal_values(n, 10), normal_values(n, 10 + budget + distance)
      local found = decide.screen(b, c, { direction = "lower", budget_abs = budget })
      failed = failed + (found.decision == "fail" and 1 or 0)
    end
    at_budget = distance == 0 and failed / SCREENS or at_budget
    parts[i] = ("%+d sd %.1f %%"):format(distance, 100 * failed / SCREENS)
  end
  bench.row {
    name = ("screens that fail, %d+%d runs, by the distance from the budget"):format(n, n),
    ours = table.concat(parts, ", "),
    bar = "<= 5 % at the budget (and three standard errors of the simulation)",
    ok = at_budget <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / SCREENS),
  }
end

-- ---------------------------------------------------------------- inputs for the peer

local function rounded(values)
  for i, value in ipairs(values) do
    values[i] = math.floor(2 * value + 0.5) / 2
  end
  return values
end

local function case(i)
  local large = i % 20 == 0
  local n, m = math.random(2, 6), math.random(2, 6)
  if large then
    n, m = math.random(31, 40), math.random(31, 40)
  end
  local b, c = normal_values(n, 10), normal_values(m, 10 + 2 * math.random())
  if i % 2 == 0 then
    b, c = rounded(b), rounded(c)
  end
  local tail = i % 3 == 0 and 0.05 or 0.025
  local test, shift = ranks.mann_whitney(b, c), interval.shift(b, c, tail)
  local summary = stats.summary(b)
  return {
    b = b,
    c = c,
    tail = tail,
    ours = {
      p_less = test.p_less,
      p_greater = test.p_greater,
      p_two_sided = test.p_two_sided,
      u = test.u,
      shift = shift.shift,
      k = shift.k,
      lo = shift.lo,
      hi = shift.hi,
      median = summary.median,
      iqr = summary.iqr,
      z = normal.quantile(tail),
    },
  }
end

local function write_cases()
  math.randomseed(CASES)
  local lines = {}
  for i = 1, CASES do
    lines[i] = assert(pairperf.json.encode(case(i))) .. "\n"
  end
  assert(pairperf.fs.write_atomic(work .. "/cases.jsonl", table.concat(lines)))
end

local reports = load_reports()
real_sessions(reports)
simulated_sessions(reports)
screens(3)
screens(5)
write_cases()
return bench.finish()
