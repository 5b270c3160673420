-- SPDX-License-Identifier: Apache-2.0
--- Golden vectors: every case of every operation that exists. The others are listed as pending,
--- by name, and are not counted as passed.
-- proves: MET-1 MET-3 MET-5 MET-6 SMP-3 SMP-5 SMP-6 INF-4 CLI-5 CLI-7 PLAN-2 OBS-3 REP-3
local core = require "pairperf.core"
local format = require "pairperf.format"
local latency = require "pairperf.latency"
local plan = require "pairperf.plan"
local stats = require "pairperf.stats"

local json = core.json
local NOT_BUILT = "no operation of this name yet: comparisons and gates are a later issue"
local NO_ENERGY = "no operation of this name yet: the energy meter is a later issue"

local function nullable(value)
  if value ~= json.null then
    return value
  end
end

local RUN = {
  summary = function(case)
    return stats.summary(case.values)
  end,
  aggregate = function(case)
    return stats.aggregate(case.runs, case.metric)
  end,
  diagnostic_only = stats.diagnostic_only,
  schedule = function(case)
    return { order = plan.order(case.first, case.repetitions, "alternate") }
  end,
  exit_code = function(case)
    return { exit = stats.exit_code(case) }
  end,
  quantile = function(case)
    return stats.quantile(case.values, case.permille)
  end,
  counter_delta = core.counters.counter_delta,
  ticks_to_ns = core.counters.ticks_to_ns,
  rate = core.counters.rate,
  window_usage = core.window.window_usage,
  memory = core.window.memory,
  window_validity = core.window.window_validity,
  policy_aggregate = core.window.policy_aggregate,
  time_until = core.window.time_until,
  censored_summary = core.window.censored_summary,
  request = latency.request,
  latency_run = latency.latency_run,
  fmt_value = function(case)
    local text, spread_text = format.value(nullable(case.value), nullable(case.spread))
    return { text = text, spread_text = spread_text }
  end,
  fmt_p = function(case)
    return { text = format.p(nullable(case.p)) }
  end,
  fmt_change = function(case)
    return { text = format.change(nullable(case.shift), nullable(case.base_median)) }
  end,
  json_number = function(case)
    return { text = assert(json.encode(case.value)) }
  end,
}

local PENDING = {
  absolute_limit = NOT_BUILT,
  attainable = NOT_BUILT,
  drift = NOT_BUILT,
  gate = NOT_BUILT,
  holm = NOT_BUILT,
  lag1 = NOT_BUILT,
  mann_whitney = NOT_BUILT,
  outliers = NOT_BUILT,
  paired = NOT_BUILT,
  power = NOT_BUILT,
  ratio_interval = NOT_BUILT,
  shift_interval = NOT_BUILT,
  steadiness = NOT_BUILT,
  variance = NOT_BUILT,
  verdict = NOT_BUILT,
  verdict_ordered = NOT_BUILT,
  liveness = NO_ENERGY,
}

local function load_vectors()
  local file = assert(io.open "tests/vectors/statistics.json")
  local text = file:read "a"
  file:close()
  return assert(json.decode(text))
end

-- By the file's own rule: numbers within tolerance, everything else exactly, further keys ignored.
-- A null is met by an absent field.
local function check(expected, actual, where)
  if expected == json.null then
    assert(
      actual == nil or actual == json.null,
      where .. ": null expected, got " .. tostring(actual)
    )
  elseif type(expected) == "table" then
    assert.equal("table", type(actual), where)
    if json.is_array(expected) then
      assert.equal(#expected, #actual, where .. ": length")
    end
    for key, value in pairs(expected) do
      check(value, actual[key], where .. "." .. tostring(key))
    end
  elseif type(expected) == "number" then
    assert.equal("number", type(actual), where)
    local tolerance = math.max(1e-12, 1e-9 * math.abs(expected))
    assert(
      math.abs(actual - expected) <= tolerance,
      ("%s: %s expected, got %s"):format(where, expected, actual)
    )
  else
    assert.equal(expected, actual, where)
  end
end

describe("golden vectors", function()
  local vectors = load_vectors()
  local met = {}
  for _, case in ipairs(vectors.cases) do
    met[case.op] = true
    local run = RUN[case.op]
    if run then
      it(case.op .. ": " .. case.id .. ": " .. case.note, function()
        check(case.out, run(case["in"]), case.id)
      end)
    else
      pending(("%s: %s: %s"):format(case.op, case.id, PENDING[case.op] or "?"))
    end
  end

  it("name every operation of the file, as run or as pending with a reason", function()
    for op in pairs(vectors.ops) do
      assert.truthy(met[op], op)
      assert(RUN[op] or PENDING[op], op .. " is neither run nor listed as pending")
      assert(not (RUN[op] and PENDING[op]), op .. " is listed twice")
    end
  end)

  it("tell a wrong number, a wrong null and a missing entry from right ones", function()
    assert.has_error(function()
      check({ a = 1.0 }, { a = 1.00001 }, "x")
    end)
    assert.has_error(function()
      check({ a = json.null }, { a = 0 }, "x")
    end)
    assert.has_error(function()
      check({ a = json.array { 1, 2 } }, { a = { 1 } }, "x")
    end)
    assert.has_error(function()
      check({ a = "750" }, { a = 750 }, "x")
    end)
  end)
end)
