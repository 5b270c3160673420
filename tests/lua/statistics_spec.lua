-- SPDX-License-Identifier: Apache-2.0
--- Properties of the comparison statistics over random data, the same every time.
-- proves: REP-4 MET-5
local gate = require "pairperf.stats.gate"
local interval = require "pairperf.stats.interval"
local normal = require "pairperf.stats.normal"
local order = require "pairperf.stats.order"
local outliers = require "pairperf.stats.outliers"
local power = require "pairperf.stats.power"
local ranks = require "pairperf.stats.ranks"
local stats = require "pairperf.stats"
local sums = require "pairperf.stats.sums"
local verdict = require "pairperf.stats.verdict"

local SETS <const> = 2000
local ALPHA <const> = 0.05

-- A generator of our own: math.random gives other numbers under other Lua versions.
local function generator(seed)
  local state = seed
  return function()
    state = (state * 6364136223846793005 + 1442695040888963407) & -1
    return ((state >> 11) & (1 << 53) - 1) / 2 ^ 53
  end
end

local function normal_value(random)
  return math.sqrt(-2 * math.log(1 - random())) * math.cos(2 * math.pi * random())
end

local function draw(random, n, center)
  local values = {}
  for i = 1, n do
    values[i] = center + normal_value(random)
  end
  return values
end

local function tied(values)
  local list = {}
  for i, value in ipairs(values) do
    list[i] = math.floor(2 * value + 0.5) / 2
  end
  return list
end

local function mapped(values, f)
  local list = {}
  for i, value in ipairs(values) do
    list[i] = f(value)
  end
  return list
end

local function shuffled(random, values)
  local list = table.move(values, 1, #values, 1, {})
  for i = #list, 2, -1 do
    local j = 1 + math.floor(random() * i)
    list[i], list[j] = list[j], list[i]
  end
  return list
end

-- SETS pairs of samples of 3 to 8 values, every other pair with ties.
local function each_set(seed, f)
  local random = generator(seed)
  for set = 1, SETS do
    local b = draw(random, 3 + math.floor(6 * random()), 10)
    local c = draw(random, 3 + math.floor(6 * random()), 10 + 2 * random())
    if set % 2 == 0 then
      b, c = tied(b), tied(c)
    end
    f(b, c, random, set)
  end
end

local function near(expected, actual, what, relative)
  local tolerance = relative and relative * expected or 1e-9 * math.max(1, math.abs(expected))
  assert(
    math.abs(expected - actual) <= tolerance,
    ("%s: %.17g expected, got %.17g"):format(what, expected, actual)
  )
end

local function same_interval(expected, actual, turn, what)
  assert.equal(expected.k, actual.k)
  near(turn(expected.shift), actual.shift, what)
  if expected.k then
    local one, other = turn(expected.lo), turn(expected.hi)
    near(math.min(one, other), actual.lo, what .. " low")
    near(math.max(one, other), actual.hi, what .. " high")
  end
end

local function both(b, c)
  return interval.shift(b, c, ALPHA / 2), interval.shift(b, c, ALPHA)
end

describe("over random data the comparison", function()
  it("negates shift and interval and keeps p when the variants are swapped", function()
    each_set(1, function(b, c)
      local function negated(x)
        return -x
      end
      same_interval(interval.shift(b, c, 0.05), interval.shift(c, b, 0.05), negated, "swapped")
      local one, other = ranks.mann_whitney(b, c), ranks.mann_whitney(c, b)
      assert.equal(one.p_two_sided, other.p_two_sided)
      assert.equal(one.p_less, other.p_greater)
      assert.equal(#b * #c, one.u + other.u)
    end)
  end)

  it("keeps shift and interval when a constant is added, and scales both", function()
    each_set(2, function(b, c, random)
      local constant, factor = 100 * random() - 50, 0.1 + 10 * random()
      local found = interval.shift(b, c, 0.05)
      local function same(x)
        return x
      end
      local function moved(x)
        return x + constant
      end
      local function scaled(x)
        return factor * x
      end
      same_interval(found, interval.shift(mapped(b, moved), mapped(c, moved), 0.05), same, "moved")
      same_interval(
        found,
        interval.shift(mapped(b, scaled), mapped(c, scaled), 0.05),
        scaled,
        "scaled"
      )
    end)
  end)

  -- 12 of 252 relabellings at 5+5 runs, 1 of 20 at 3+3, with three standard errors of this test.
  it("has screens that fail at most 1 in 20 times at exactly the budget", function()
    for n, designed in pairs { [3] = 1 / 20, [5] = 12 / 252 } do
      local random, failed = generator(40 + n), 0
      for _ = 1, SETS do
        local how = { direction = "lower", budget_abs = 2 }
        local found = gate.screen(draw(random, n, 10), draw(random, n, 12), how)
        failed = failed + (found.decision == "fail" and 1 or 0)
        assert.not_equal("pass", found.decision)
      end
      local error = math.sqrt(designed * (1 - designed) / SETS)
      near(designed, failed / SETS, "share", 3 * error / designed)
    end
  end)

  it("does not depend on the order inside a variant", function()
    each_set(3, function(b, c, random)
      local how = { direction = "lower", margin_abs = 0.5 }
      local found = verdict.decide(b, c, how)
      local again = verdict.decide(shuffled(random, b), shuffled(random, c), how)
      assert.same(found, again)
    end)
  end)

  it("has a difference interval that leaves 0 out exactly when p <= alpha, without ties", function()
    local without = 0
    each_set(4, function(b, c, _, set)
      local difference = interval.shift(b, c, ALPHA / 2)
      if set % 2 == 1 and difference.k then
        local excludes = difference.lo > 0 or difference.hi < 0
        assert.equal(ranks.mann_whitney(b, c).p_two_sided <= ALPHA, excludes)
        without = excludes and without + 1 or without
      end
    end)
    assert.truthy(without > SETS / 20)
  end)

  it("is never surer by its interval than by p, with ties", function()
    each_set(5, function(b, c)
      local difference = interval.shift(b, c, ALPHA / 2)
      if difference.k and (difference.lo > 0 or difference.hi < 0) then
        assert.truthy(ranks.mann_whitney(b, c).p_two_sided <= ALPHA + 1e-12)
      end
    end)
  end)

  it("has the equivalence interval inside the difference interval, around the shift", function()
    each_set(6, function(b, c)
      local difference, equivalence = both(b, c)
      if difference.k then
        assert.truthy(difference.lo <= equivalence.lo and equivalence.hi <= difference.hi)
        assert.truthy(difference.achieved >= 1 - ALPHA - 1e-12)
      end
      if equivalence.k then
        assert.truthy(equivalence.lo <= equivalence.shift and equivalence.shift <= equivalence.hi)
        assert.truthy(equivalence.achieved >= 1 - 2 * ALPHA - 1e-12)
      end
    end)
  end)

  it("never has a p of 0, nor one below what the runs can show", function()
    each_set(7, function(b, c)
      local p = ranks.mann_whitney(b, c).p_two_sided
      assert.truthy(p >= interval.attainable(#b, #c, ALPHA).min_p - 1e-15 and p <= 1)
    end)
  end)

  it("errs at the designed rate between samples of one distribution", function()
    local random, wrong = generator(8), 0
    for _ = 1, SETS do
      local found = verdict.decide(draw(random, 5, 10), draw(random, 5, 10), {
        direction = "lower",
      })
      wrong = wrong + ((found.verdict == "improved" or found.verdict == "regressed") and 1 or 0)
    end
    -- 8/252 of 2000 is 63.5, with a standard deviation of 7.8.
    assert(wrong > 35 and wrong < 92, wrong .. " of 2000")
  end)

  it("adds failed runs to the counts only", function()
    each_set(9, function(b, _, random)
      local runs = {}
      for i, value in ipairs(b) do
        runs[i] = { status = "success", metrics = { x = value } }
      end
      local before = stats.aggregate(runs, "x")
      for i = 1, 3 do
        runs[#runs + 1] = { status = i == 1 and "skipped" or "failed", metrics = { x = random() } }
      end
      local after = stats.aggregate(runs, "x")
      assert.equal(before.scheduled + 3, after.scheduled)
      after.scheduled = before.scheduled
      assert.same(before, after)
    end)
  end)

  it("reads a pure drift of s per slot as a shift of s, and as 0 when it is removed", function()
    local random = generator(10)
    for _ = 1, SETS do
      local s, start, n = random() - 0.5, 100 * random(), 3 + math.floor(4 * random())
      local runs = {}
      for slot = 0, 2 * n - 1 do
        local variant = slot % 2 == 0 and "baseline" or "candidate"
        runs[slot + 1] = { slot = slot, variant = variant, value = start + s * slot }
      end
      local drift = order.drift(runs, 0.1)
      near(s, drift.slope, "slope")
      near(s, drift.shift_raw, "raw shift")
      near(s, drift.bias, "bias")
      near(0, drift.shift_detrended, "detrended shift")
      assert.equal(drift.p <= 0.10, drift.suspected)
    end
  end)

  it("keeps its word under a relabelling of better and worse", function()
    local opposite = { regressed = "improved", improved = "regressed" }
    each_set(11, function(b, c)
      local one = verdict.decide(b, c, { direction = "lower", margin_rel = 0.05 })
      local other = verdict.decide(b, c, { direction = "higher", margin_rel = 0.05 })
      assert.equal(opposite[one.verdict] or one.verdict, other.verdict)
      assert.equal(one.reason, other.reason)
    end)
  end)

  it("adjusts p upwards only, at most to m times, and never re-orders", function()
    local random = generator(12)
    for _ = 1, SETS do
      local p = {}
      for i = 1, 1 + math.floor(8 * random()) do
        p[i] = random() ^ 4
      end
      local found = verdict.holm(p, ALPHA)
      for i, value in ipairs(found.adjusted) do
        assert.truthy(value >= p[i] and value <= math.min(1, #p * p[i]) + 1e-12)
        for j, other in ipairs(found.adjusted) do
          assert.truthy(p[i] > p[j] or value <= other)
        end
      end
    end
  end)

  it("asks for more runs for a smaller effect, and for none when it is plain", function()
    each_set(13, function(b, c)
      local coarse, fine = power.advise(b, c, 1.0), power.advise(b, c, 0.5)
      assert.truthy(fine.n_difference >= coarse.n_difference)
      assert.truthy(coarse.n_difference_cautious >= coarse.n_difference)
      assert.equal(0, power.advise(b, c, 1e6).more_per_arm * (math.min(#b, #c) >= 4 and 1 or 0))
    end)
  end)

  it("covers the full shift with the range when single runs are left out", function()
    each_set(14, function(b, c)
      local shift = interval.shift(b, c, 0.05).shift
      local low, high = outliers.shift_range(b, c)
      assert.truthy(low <= shift + 1e-12 and shift <= high + 1e-12)
    end)
  end)
end)

describe("the parts below", function()
  it("know the normal distribution to the last digits", function()
    -- From tables with 15 digits.
    for z, p in pairs {
      [0.0] = 0.5,
      [1.0] = 0.158655253931457,
      [2.0] = 0.0227501319481792,
      [3.0] = 0.00134989803163009,
      [6.0] = 9.86587645037698e-10,
      [-1.0] = 0.841344746068543,
    } do
      assert(math.abs(normal.upper(z) / p - 1) < 1e-13, z)
    end
    near(1.959963984540054, normal.quantile(0.025), "z of 0.025")
    near(-1.6448536269514722, normal.quantile(0.95), "z of 0.95")
    for i = 1, 999 do
      near(i / 1000, normal.upper(normal.quantile(i / 1000)), "there and back")
    end
  end)

  it("sum equal values without a spread", function()
    local values = mapped({ 1, 2, 3, 4, 5, 6, 7, 8 }, function()
      return 0.1
    end)
    assert.equal(0.8, sums.sum(values))
    assert.equal(0.0, sums.squares(values, sums.mean(values)))
    assert.equal(1.0, sums.sum { 1e100, 1.0, -1e100 })
    assert.equal(0.0, sums.sum {})
    assert.equal(1 + 2.0 ^ -52, sums.sum { 1.0, 2.0 ^ -53, 2.0 ^ -106 })
    assert.equal(1.0, sums.sum { 1.0, 2.0 ^ -53 })
  end)

  it("agree between the exact count and the normal one where they meet", function()
    local random = generator(15)
    local b, c = draw(random, 30, 10), draw(random, 30, 10.5)
    local exact = ranks.mann_whitney(b, c)
    c[31] = stats.median(c)
    local approximate = ranks.mann_whitney(b, c)
    assert.equal("normal", approximate.method)
    assert.equal("exact", exact.method)
    assert(math.abs(approximate.p_two_sided - exact.p_two_sided) < 0.05)
    local k_exact, k_normal = interval.k(30, 30, 0.025), interval.k(30, 31, 0.025)
    assert.truthy(k_normal - k_exact > 0 and k_normal - k_exact < 20)
  end)

  it("leave the p of pairs out when there are too many for an exact one", function()
    local runs = {}
    for slot = 0, 41 do
      local variant = slot % 2 == 0 and "baseline" or "candidate"
      runs[slot + 1] = { slot = slot, variant = variant, value = slot }
    end
    local found = order.paired(runs)
    assert.equal(21, found.pairs)
    assert.is_nil(found.p)
    assert.equal(1, found.walsh)
  end)
end)
