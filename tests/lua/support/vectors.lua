-- SPDX-License-Identifier: Apache-2.0
--- Golden vectors against the product's own modules: every operation, and the file's own rule of
--- comparison. Used by vectors_spec.lua and `make vectors`.
local core = require "pairperf.core"
local format = require "pairperf.format"
local gate = require "pairperf.stats.gate"
local interval = require "pairperf.stats.interval"
local latency = require "pairperf.latency"
local liveness = require "pairperf.liveness"
local order = require "pairperf.stats.order"
local outliers = require "pairperf.stats.outliers"
local plan = require "pairperf.plan"
local power = require "pairperf.stats.power"
local ranks = require "pairperf.stats.ranks"
local stats = require "pairperf.stats"
local verdict = require "pairperf.stats.verdict"
local within_run = require "pairperf.stats.within_run"

local json = core.json
local M = {}

local function nullable(value)
  if value ~= json.null then
    return value
  end
end

-- op -> function(in) -> out
M.RUN = {
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
  liveness = function(case)
    return liveness.judge(case.readings)
  end,
  mann_whitney = function(case)
    return ranks.mann_whitney(case.baseline, case.candidate)
  end,
  shift_interval = function(case)
    return interval.shift(case.baseline, case.candidate, case.tail)
  end,
  ratio_interval = function(case)
    return interval.ratio(case.baseline, case.candidate, case.tail)
  end,
  attainable = function(case)
    return interval.attainable(case.n_baseline, case.n_candidate, case.alpha)
  end,
  verdict = function(case)
    return verdict.decide(case.baseline, case.candidate, case)
  end,
  holm = function(case)
    return verdict.holm(case.p, case.alpha, nullable(case.verdicts))
  end,
  drift = function(case)
    return order.drift(case.runs, case.margin)
  end,
  verdict_ordered = function(case)
    return (order.verdict(case.runs, case))
  end,
  paired = function(case)
    return order.paired(case.runs)
  end,
  outliers = function(case)
    return outliers.find(case.values, case.margin)
  end,
  power = function(case)
    return power.advise(case.baseline, case.candidate, case.effect, case.alpha, case.target)
  end,
  gate = function(case)
    return gate.relative(case.baseline, case.candidate, case)
  end,
  absolute_limit = function(case)
    return gate.absolute(case.candidate, case.limit, case.direction)
  end,
  steadiness = function(case)
    return within_run.steadiness(case.values, case.margin)
  end,
  lag1 = function(case)
    return within_run.lag1(case.values)
  end,
  variance = function(case)
    local moments = {}
    for i, values in ipairs(case.runs) do
      moments[i] = within_run.moments(values)
    end
    return within_run.variance(moments, case.run_cost_s, case.interval_s)
  end,
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

---@param path string
---@return table vectors
function M.load(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "a"
  file:close()
  return assert(json.decode(text))
end

local function entries_problem(expected, actual, where)
  if type(actual) ~= "table" then
    return ("%s: a table expected, got %s"):format(where, tostring(actual))
  elseif json.is_array(expected) and #expected ~= #actual then
    return ("%s: %d entries expected, got %d"):format(where, #expected, #actual)
  end
  for key, value in pairs(expected) do
    local problem = M.problem(value, actual[key], where .. "." .. tostring(key))
    if problem then
      return problem
    end
  end
end

local function number_problem(expected, actual, where)
  local tolerance = math.max(1e-12, 1e-9 * math.abs(expected))
  local close = type(actual) == "number" and math.abs(actual - expected) <= tolerance
  if not close then
    return ("%s: %s expected, got %s"):format(where, expected, tostring(actual))
  end
end

--- What is wrong, by the file's own rule: numbers within tolerance, everything else exactly,
--- further keys ignored. A null is met by an absent field.
---@return string? problem
function M.problem(expected, actual, where)
  if expected == json.null then
    return actual ~= nil
        and actual ~= json.null
        and ("%s: null expected, got %s"):format(where, tostring(actual))
      or nil
  elseif type(expected) == "table" then
    return entries_problem(expected, actual, where)
  elseif type(expected) == "number" then
    return number_problem(expected, actual, where)
  elseif expected ~= actual then
    return ("%s: %s expected, got %s"):format(where, tostring(expected), tostring(actual))
  end
end

--- Runs one case; an operation that does not exist or raises is a problem, too.
---@return string? problem
function M.run(case)
  local run = M.RUN[case.op]
  if not run then
    return ("%s: no operation '%s'"):format(case.id, case.op)
  end
  local ok, result = pcall(run, case["in"])
  if not ok then
    return ("%s: %s"):format(case.id, tostring(result))
  end
  return M.problem(case.out, result, case.id)
end

return M
