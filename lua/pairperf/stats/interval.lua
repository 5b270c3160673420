-- SPDX-License-Identifier: Apache-2.0
--- Hodges-Lehmann estimates with distribution-free intervals, and what a number of runs can show.
local normal = require "pairperf.stats.normal"
local ranks = require "pairperf.stats.ranks"
local stats = require "pairperf.stats"

local M = {}

--- A tail probability this close above its limit meets it.
M.EPSILON = 1e-12

local cache = {}

-- Counts of U from 0 to n*m over all orders of n and m untied values: the coefficients of the
-- Gaussian binomial, factor by factor times (1 - q^(n+i)) / (1 - q^i).
local function null_counts(n, m)
  local key = n << 32 | m
  if cache[key] then
    return cache[key]
  end
  local counts = { [0] = 1 }
  for u = 1, n * m do
    counts[u] = 0
  end
  for i = 1, m do
    for u = n * i, n + i, -1 do
      counts[u] = counts[u] - counts[u - n - i]
    end
    for u = i, n * i do
      counts[u] = counts[u] + counts[u - i]
    end
  end
  cache[key] = counts
  return counts
end

local function exact_k(n, m, tail)
  local counts, total = null_counts(n, m), 0
  for u = 0, n * m do
    total = total + counts[u]
  end
  local below, k, level = 0, nil, nil
  for u = 0, n * m do
    below = below + counts[u]
    if below / total > tail + M.EPSILON then
      break
    end
    k, level = u, 1 - 2 * (below / total)
  end
  return k, level
end

--- How many differences to leave out at each end, and the level that the interval then has; nil
--- when no interval has this tail.
---@param n integer
---@param m integer
---@param tail number one-sided error
---@return integer? k
---@return number? level
function M.k(n, m, tail)
  if n == 0 or m == 0 then
    return nil, nil
  elseif n + m <= ranks.EXACT_RUNS then
    return exact_k(n, m, tail)
  end
  local spread = normal.quantile(tail) * math.sqrt(n * m * (n + m + 1) / 12)
  local k = math.floor(n * m / 2 - 0.5 - spread)
  if k < 0 then
    return nil, nil
  end
  return k, 1 - 2 * tail
end

-- The middle of op(c, b) over all pairs, and the interval.
local function estimate(b, c, tail, op)
  local list = {}
  for _, x in ipairs(b) do
    for _, y in ipairs(c) do
      list[#list + 1] = op(y, x)
    end
  end
  table.sort(list)
  local k, level = M.k(#b, #c, tail)
  local result = { k = k, achieved = level }
  if k then
    result.lo, result.hi = list[k + 1], list[#list - k]
  end
  return stats.median(list), result
end

---@class pairperf.Interval
---@field shift number?
---@field ratio number?
---@field k integer? nil when no interval exists
---@field lo number?
---@field hi number?
---@field achieved number? its level

--- Candidate minus baseline. Empty when a variant has no value.
---@param b number[]
---@param c number[]
---@param tail number one-sided error
---@return pairperf.Interval
function M.shift(b, c, tail)
  if #b == 0 or #c == 0 then
    return {}
  end
  local middle, result = estimate(b, c, tail, function(y, x)
    return y - x
  end)
  result.shift = middle
  return result
end

local function all_positive(values)
  for _, value in ipairs(values) do
    if value <= 0 then
      return false
    end
  end
  return #values > 0
end

--- Candidate over baseline. Empty unless every value is positive.
---@param b number[]
---@param c number[]
---@param tail number
---@return pairperf.Interval
function M.ratio(b, c, tail)
  if not all_positive(b) or not all_positive(c) then
    return {}
  end
  local middle, result = estimate(b, c, tail, function(y, x)
    return y / x
  end)
  result.ratio = middle
  return result
end

-- As a double: it passes 64 bits at 34 + 34 runs.
local function binomial(n, m)
  local value = 1.0
  for i = 1, n do
    value = value * (m + i) / i
  end
  return value
end

--- What this many runs can ever show.
---@param n integer
---@param m integer
---@param alpha number
---@return {min_p: number?, k_difference: integer?, level_difference: number?,
---  k_equivalence: integer?, level_equivalence: number?, max_family: number}
function M.attainable(n, m, alpha)
  local result = { max_family = 0 }
  if n > 0 and m > 0 then
    result.min_p = math.max(2.0 ^ -1022, math.min(1.0, 2 / binomial(n, m)))
    result.max_family = math.floor(alpha / result.min_p + M.EPSILON)
  end
  result.k_difference, result.level_difference = M.k(n, m, alpha / 2)
  result.k_equivalence, result.level_equivalence = M.k(n, m, alpha)
  return result
end

return M
