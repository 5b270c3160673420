-- SPDX-License-Identifier: Apache-2.0
--- How many runs of a new experiment would resolve an effect.
local interval = require "pairperf.stats.interval"
local normal = require "pairperf.stats.normal"
local sums = require "pairperf.stats.sums"

local M = {}

local ALPHA <const>, POWER <const> = 0.05, 0.8

-- Sum of squares about the mean; the second term takes off what rounding of the mean adds.
local function scatter(values)
  local mean, rest = sums.mean(values), {}
  for i, value in ipairs(values) do
    rest[i] = value - mean
  end
  return math.max(0.0, sums.squares(values, mean) - sums.sum(rest) ^ 2 / #values)
end

-- Runs per variant for a spread in units of the effect.
local function runs_needed(spread, z, z_power, fewest)
  local n = 2 * (z + z_power) ^ 2 * spread ^ 2 * math.pi / 3 + z * z / 4
  return math.max(fewest, math.ceil(n) + 1)
end

-- Factor from a standard deviation to its upper bound, cautious to 80 %.
local function caution(df)
  local g = 2 / (9 * df)
  return 1 / math.sqrt((1 - g + normal.quantile(1 - 0.2) * math.sqrt(g)) ^ 3)
end

local function detectable(b, c, alpha, z_sum, z, sd)
  local harmonic = 2 / (1 / #b + 1 / #c)
  local free = harmonic - 1 - z * z / 4
  if not interval.k(#b, #c, alpha / 2) or free <= 0 then
    return nil
  end
  return z_sum * sd * math.sqrt(2 * math.pi / 3 / free)
end

---@class pairperf.Power all runs are per variant; empty when a spread cannot be estimated
---@field sd_pooled number?
---@field n_difference integer?
---@field n_difference_cautious integer?
---@field n_equivalence integer? if truly equal
---@field more_per_arm integer?
---@field detectable_now number?

--- Repetitions that would resolve `effect`.
---@param b number[]
---@param c number[]
---@param effect number
---@param alpha number?
---@param target number? power
---@return pairperf.Power
function M.advise(b, c, effect, alpha, target)
  alpha, target = alpha or ALPHA, target or POWER
  if #b < 2 or #c < 2 or effect <= 0 then
    return {}
  end
  local df = #b + #c - 2
  local sd = math.sqrt((scatter(b) + scatter(c)) / df)
  local z, z_power = normal.quantile(alpha / 2), normal.quantile(1 - target)
  local needed = runs_needed(sd / effect, z, z_power, 4)
  return {
    sd_pooled = sd,
    n_difference = needed,
    n_difference_cautious = runs_needed(sd * caution(df) / effect, z, z_power, 4),
    n_equivalence = runs_needed(
      sd / effect,
      normal.quantile(alpha),
      normal.quantile((1 - target) / 2),
      3
    ),
    more_per_arm = math.max(0, needed - math.min(#b, #c)),
    detectable_now = detectable(b, c, alpha, z + z_power, z, sd),
  }
end

return M
