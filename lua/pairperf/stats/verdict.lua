-- SPDX-License-Identifier: Apache-2.0
--- From two samples to a word: equivalent, regressed, improved or inconclusive with a reason.
local interval = require "pairperf.stats.interval"
local json = require "pairperf.json"
local ranks = require "pairperf.stats.ranks"
local stats = require "pairperf.stats"

local M = {}

M.ALPHA = 0.05

--- Ends of an interval, turned so that positive is worse.
---@param direction "lower"|"higher" which is better
function M.oriented(found, direction)
  if direction == "higher" then
    return -found.hi, -found.lo
  end
  return found.lo, found.hi
end

--- The difference that is too small to matter.
---@param how {margin_abs: number?, margin_rel: number?}
---@param baseline_median number
function M.margin(how, baseline_median)
  return math.max(how.margin_abs or 0, (how.margin_rel or 0) * math.abs(baseline_median))
end

local function ends(found)
  return found.k and { found.lo, found.hi } or nil
end

local function equivalent(found, margin, direction)
  if not found.k then
    return false
  end
  local low, high = M.oriented(found, direction)
  return -margin < low and high < margin
end

-- Why there is no word.
local function open_reason(difference, equivalence, margin)
  return not equivalence.k and "too_few_runs"
    or not difference.k and "too_few_runs_for_difference"
    or margin == 0 and "no_margin"
    or "interval_too_wide"
end

---@class pairperf.VerdictHow
---@field direction "lower"|"higher" which is better
---@field margin_abs number?
---@field margin_rel number?
---@field alpha number?

--- One metric, before any correction for the family. Intervals are of candidate minus baseline.
---@param b number[]
---@param c number[]
---@param how pairperf.VerdictHow
function M.decide(b, c, how)
  local result = {
    verdict = "inconclusive",
    reason = "missing_metric",
    beyond_margin = false,
    below_margin_difference = false,
  }
  if #b == 0 or #c == 0 then
    return result
  end
  local alpha, direction = how.alpha or M.ALPHA, how.direction
  local margin = M.margin(how, stats.median(b))
  local difference = interval.shift(b, c, alpha / 2)
  local equivalence = interval.shift(b, c, alpha)
  result.shift, result.margin = difference.shift, margin
  result.p = ranks.mann_whitney(b, c).p_two_sided
  result.difference_interval, result.equivalence_interval = ends(difference), ends(equivalence)
  local low, high = 0, 0
  if difference.k then
    low, high = M.oriented(difference, direction)
  end
  if equivalent(equivalence, margin, direction) then
    result.verdict, result.reason = "equivalent", nil
    result.below_margin_difference = low > 0 or high < 0
  elseif low > 0 then
    result.verdict, result.reason, result.beyond_margin = "regressed", nil, low > margin
  elseif high < 0 then
    result.verdict, result.reason, result.beyond_margin = "improved", nil, high < -margin
  else
    result.reason = open_reason(difference, equivalence, margin)
  end
  return result
end

local function absent(p)
  return p == nil or p == json.null
end

-- Input places in the order of their p, a missing one as 1.
local function ascending(p, m)
  local order, value = {}, {}
  for i = 1, m do
    order[i], value[i] = i, absent(p[i]) and 1.0 or p[i]
  end
  table.sort(order, function(a, b)
    return value[a] < value[b] or (value[a] == value[b] and a < b)
  end)
  return order, value
end

--- Holm's step-down adjustment, in input order. A missing p stays missing and counts as 1.
---@param p (number|userdata)[] json.null where missing
---@param alpha number
---@param verdicts string[]? certain words that fall below become inconclusive
---@return {adjusted: table, reject: boolean[], verdicts: string[]?}
function M.holm(p, alpha, verdicts)
  local m, running = #p, 0.0
  local order, value = ascending(p, m)
  local result = { adjusted = {}, reject = {}, verdicts = verdicts and {} or nil }
  for place, i in ipairs(order) do
    running = math.max(running, math.min(1.0, (m - place + 1) * value[i]))
    local missing = absent(p[i])
    result.adjusted[i] = missing and json.null or running
    result.reject[i] = not missing and running <= alpha + interval.EPSILON
  end
  for i, word in ipairs(verdicts or {}) do
    local certain = word == "regressed" or word == "improved"
    result.verdicts[i] = certain and not result.reject[i] and "inconclusive" or word
  end
  return result
end

return M
