-- SPDX-License-Identifier: Apache-2.0
--- What the order of the runs does to a comparison: drift over the slots, a verdict that survives
--- its removal, and the pairs of neighbours as a second opinion.
local interval = require "pairperf.stats.interval"
local stats = require "pairperf.stats"
local sums = require "pairperf.stats.sums"
local verdict = require "pairperf.stats.verdict"

local M = {}

---@class pairperf.SlotValue
---@field slot integer place in the alternating sequence; the first of a scenario is even
---@field variant "baseline"|"candidate"
---@field value number

local function split(runs)
  local sides = { baseline = {}, candidate = {} }
  for _, run in ipairs(runs) do
    table.insert(sides[run.variant], run)
  end
  for _, side in pairs(sides) do
    table.sort(side, function(a, b)
      return a.slot < b.slot
    end)
  end
  return sides.baseline, sides.candidate
end

local function values_of(runs, slope)
  local list = {}
  for i, run in ipairs(runs) do
    list[i] = run.value - (slope or 0) * run.slot
  end
  return list
end

-- Slopes between runs of one variant, and how many rise more than fall.
local function add_slopes(slopes, runs)
  local s = 0
  for i = 1, #runs do
    for j = i + 1, #runs do
      local rise = runs[j].value - runs[i].value
      slopes[#slopes + 1] = rise / (runs[j].slot - runs[i].slot)
      s = s + (rise > 0 and 1 or rise < 0 and -1 or 0)
    end
  end
  return s
end

-- Chances of 0, 1, … falling pairs among n untied values in random order, from index 0.
local function falling_chances(n)
  local chances, most = { [0] = 1.0 }, 0
  for i = 2, n do
    local longer = {}
    for falls = 0, most + i - 1 do
      local sum = 0.0
      for k = math.max(0, falls - i + 1), math.min(most, falls) do
        sum = sum + chances[k]
      end
      longer[falls] = sum / i
    end
    chances, most = longer, most + i - 1
  end
  return chances, most
end

local cache = {}

-- The same for two variants of n and m runs together.
local function falling_chances_of_both(n, m)
  local key = n << 32 | m
  if not cache[key] then
    local a, most_a = falling_chances(n)
    local b, most_b = falling_chances(m)
    local both = {}
    for i = 0, most_a do
      for j = 0, most_b do
        both[i + j] = (both[i + j] or 0.0) + a[i] * b[j]
      end
    end
    cache[key] = { chances = both, most = most_a + most_b }
  end
  return cache[key]
end

local function trend_p(s, n, m)
  local both = falling_chances_of_both(n, m)
  local above, below = 0.0, 0.0
  for falls = 0, both.most do
    local its_s = both.most - 2 * falls
    above = its_s >= s and above + both.chances[falls] or above
    below = its_s <= s and below + both.chances[falls] or below
  end
  return math.min(1.0, 2 * math.min(above, below))
end

local function slot_sum(runs)
  local sum = 0
  for _, run in ipairs(runs) do
    sum = sum + run.slot
  end
  return sum
end

-- Mean slot of c minus that of b, rounded once.
local function slot_distance(b, c)
  return (slot_sum(c) * #b - slot_sum(b) * #c) / (#b * #c)
end

local SEESAW_RUNS <const> = 8

-- Lag-1 of what is left when each variant's median is taken off; only slots side by side count.
local function residual_r1(b, c)
  if #b + #c < SEESAW_RUNS then
    return nil
  end
  local residual, list = {}, {}
  for _, runs in ipairs { b, c } do
    local median = stats.median(values_of(runs))
    for _, run in ipairs(runs) do
      residual[run.slot] = run.value - median
      list[#list + 1] = residual[run.slot]
    end
  end
  local mean = sums.mean(list)
  local whole = sums.squares(list, mean)
  local products = {}
  for slot, value in pairs(residual) do
    local next_value = residual[slot + 1]
    products[#products + 1] = next_value and (value - mean) * (next_value - mean)
  end
  return whole > 0 and sums.sum(products) / whole or nil
end

local SUSPECTED_P <const> = 0.10

--- A trend over the slots, from pairs of runs of the same variant.
---@param runs pairperf.SlotValue[]
---@param margin number
function M.drift(runs, margin)
  local b, c = split(runs)
  local result = { suspected = false, material = false }
  local slopes = {}
  local s = add_slopes(slopes, b) + add_slopes(slopes, c)
  result.shift_raw = interval.shift(values_of(b), values_of(c), verdict.ALPHA / 2).shift
  if #slopes == 0 or #b == 0 or #c == 0 then
    return result
  end
  local slope = stats.median(slopes)
  result.slope, result.s, result.p = slope, s, trend_p(s, #b, #c)
  result.bias = slope * slot_distance(b, c)
  result.shift_detrended =
    interval.shift(values_of(b, slope), values_of(c, slope), verdict.ALPHA / 2).shift
  result.suspected = result.p <= SUSPECTED_P + interval.EPSILON
  result.material = math.abs(result.bias) > margin / 4
  result.residual_r1 = residual_r1(b, c)
  return result
end

-- Detrended values on a grid, so that values equal but for rounding are equal.
local function snapped(runs, slope, step)
  local list = values_of(runs, slope)
  for i, value in ipairs(list) do
    list[i] = step > 0 and step * math.floor(value / step + 0.5) or value
  end
  return list
end

local function largest(runs)
  local most = 0
  for _, run in ipairs(runs) do
    most = math.max(most, math.abs(run.value))
  end
  return most
end

--- A verdict that must hold with a suspected drift removed, too.
---@param runs pairperf.SlotValue[]
---@param how pairperf.VerdictHow
---@return table result raw_verdict, drift_suspected, detrended_verdict, verdict, reason
---@return table raw as verdict.decide gives it
---@return table drift
function M.verdict(runs, how)
  local b, c = split(runs)
  local raw = verdict.decide(values_of(b), values_of(c), how)
  local drift = M.drift(runs, raw.margin or 0)
  local result = {
    raw_verdict = raw.verdict,
    drift_suspected = drift.suspected,
    verdict = raw.verdict,
    reason = raw.reason,
  }
  if drift.suspected then
    local step = 1e-9 * largest(runs)
    local again = verdict.decide(snapped(b, drift.slope, step), snapped(c, drift.slope, step), {
      direction = how.direction,
      margin_abs = raw.margin,
      alpha = how.alpha,
    })
    result.detrended_verdict = again.verdict
    if again.verdict ~= raw.verdict then
      result.verdict, result.reason = "inconclusive", "order_sensitive"
    end
  end
  return result, raw, drift
end

-- Candidate minus baseline of every pair of slots 2i and 2i+1 that has both.
local function pair_differences(runs)
  local by_slot, list = {}, {}
  for _, run in ipairs(runs) do
    by_slot[run.slot] = run
  end
  for _, run in ipairs(runs) do
    local other = run.slot % 2 == 0 and by_slot[run.slot + 1] or nil
    if other and other.variant ~= run.variant then
      local difference = other.value - run.value
      list[#list + 1] = other.variant == "candidate" and difference or -difference
    end
  end
  return list
end

local EXACT_PAIRS <const> = 20

-- How many of all sign changes give a sum at least as far from 0. The first sign is kept: changing
-- all of them changes no distance.
local function sign_flip_p(differences)
  local n, size = #differences, {}
  for i, d in ipairs(differences) do
    size[i] = math.abs(d)
  end
  local tolerance = 1e-9 * sums.sum(size)
  local least = math.abs(sums.sum(differences)) - tolerance
  local hits = 0
  local function flip(i, sum)
    if i > n then
      hits = math.abs(sum) >= least and hits + 1 or hits
      return
    end
    flip(i + 1, sum + differences[i])
    flip(i + 1, sum - differences[i])
  end
  flip(2, differences[1])
  return hits / 2 ^ (n - 1)
end

--- Neighbouring runs as pairs: Walsh average and exact sign-flip p, which above 20 pairs is left
--- out.
---@param runs pairperf.SlotValue[]
---@return {pairs: integer, walsh: number?, p: number?, min_p: number?}
function M.paired(runs)
  local differences = pair_differences(runs)
  local n = #differences
  if n == 0 then
    return { pairs = 0 }
  end
  local averages = {}
  for i = 1, n do
    for j = i, n do
      averages[#averages + 1] = (differences[i] + differences[j]) / 2
    end
  end
  return {
    pairs = n,
    walsh = stats.median(averages),
    p = n <= EXACT_PAIRS and sign_flip_p(differences) or nil,
    min_p = math.min(1.0, 2 / 2 ^ n),
  }
end

return M
