-- SPDX-License-Identifier: Apache-2.0
--- Inside one run: was it steady, and how alike are its neighbouring intervals? Advice only;
--- nothing is excluded by it.
local ranks = require "pairperf.stats.ranks"
local stats = require "pairperf.stats"
local sums = require "pairperf.stats.sums"

local M = {}

local FEWEST <const> = 8
local UNSTEADY_P <const> = 0.01

-- The largest distance of the rank sums from even ones, and where it is first reached.
local function change_point(values)
  local n, doubled = #values, ranks.doubled_midranks(values)
  local most, at, sum = -1, nil, 0
  for t = 1, n - 1 do
    sum = sum + doubled[t]
    local distance = math.abs(sum - t * (n + 1))
    if distance > most then
      most, at = distance, t
    end
  end
  return most, at
end

--- Pettitt's test for one step. Empty below 8 values.
---@param values number[]
---@param margin number
---@return table k, at (values before the step), p, shift, steady
function M.steadiness(values, margin)
  local n = #values
  if n < FEWEST then
    return {}
  end
  local k, at = change_point(values)
  local p = math.min(1.0, 2 * math.exp(-6 * k ^ 2 / (n ^ 3 + n ^ 2)))
  local before = stats.median(table.move(values, 1, at, 1, {}))
  local after = stats.median(table.move(values, at + 1, n, 1, {}))
  local shift = after - before
  return {
    k = k,
    at = at,
    p = p,
    shift = shift,
    steady = not (p <= UNSTEADY_P and math.abs(shift) > margin),
  }
end

--- Likeness of neighbours, and to how many independent values the series amounts. Empty below 8
--- values or without spread.
---@param values number[]
---@return {r1: number?, n_eff: number?}
function M.lag1(values)
  local n = #values
  if n < FEWEST then
    return {}
  end
  local mean = sums.mean(values)
  local whole, products = sums.squares(values, mean), {}
  for i = 2, n do
    products[i - 1] = (values[i - 1] - mean) * (values[i] - mean)
  end
  if whole == 0 then
    return {}
  end
  local r1 = sums.sum(products) / whole
  return { r1 = r1, n_eff = math.min(n, math.max(1.0, n * (1 - r1) / (1 + r1))) }
end

local function plain_sum(values)
  local sum = 0
  for _, value in ipairs(values) do
    sum = sum + value
  end
  return sum
end

---@class pairperf.Moments what the split of the variance needs of one run
---@field n integer
---@field total number
---@field mean number
---@field squares number about the mean

--- Of the interval values of one run, at least one.
---@param values number[]
---@return pairperf.Moments
function M.moments(values)
  local mean = sums.mean(values)
  return {
    n = #values,
    total = plain_sum(values),
    mean = mean,
    squares = sums.squares(values, mean),
  }
end

local function sizes(runs)
  local size, size_squared, totals = 0, 0, {}
  for i, run in ipairs(runs) do
    size, size_squared = size + run.n, size_squared + run.n ^ 2
    totals[i] = run.total
  end
  return size, size_squared, sums.sum(totals)
end

-- Sums of squares between and within runs about the mean of all.
local function partition(runs, mean)
  local between, within = {}, {}
  for i, run in ipairs(runs) do
    between[i] = run.n * (run.mean - mean) ^ 2
    within[i] = run.squares
  end
  return sums.sum(between), sums.sum(within)
end

--- How much runs differ, and how much intervals inside a run do. Empty below two runs or without a
--- run of two intervals.
---@param runs pairperf.Moments[]
---@param run_cost_s number
---@param interval_s number
function M.variance(runs, run_cost_s, interval_s)
  local r = #runs
  local size, size_squared, total = sizes(runs)
  if r < 2 or size <= r then
    return {}
  end
  local between, within = partition(runs, total / size)
  local ms_between, ms_within = between / (r - 1), within / (size - r)
  local n0 = (size - size_squared / size) / (r - 1)
  local var_between = math.max(0.0, (ms_between - ms_within) / n0)
  local whole = var_between + ms_within
  return {
    ms_between = ms_between,
    ms_within = ms_within,
    n0 = n0,
    var_between = var_between,
    var_within = ms_within,
    icc = whole > 0 and var_between / whole or nil,
    best_intervals = var_between > 0 and math.sqrt(
      run_cost_s / interval_s * ms_within / var_between
    ) or nil,
  }
end

return M
