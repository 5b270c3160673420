-- SPDX-License-Identifier: Apache-2.0
--- Decisions of gates: pass, fail or inconclusive with a reason; and of screens.
local interval = require "pairperf.stats.interval"
local stats = require "pairperf.stats"
local verdict = require "pairperf.stats.verdict"

local M = {}

--- Is the worsening within the budget?
---@param b number[]
---@param c number[]
---@param how pairperf.VerdictHow with budget_abs and budget_rel
---@return table decision, reason, budget, worse_low, worse_high
function M.relative(b, c, how)
  if #b == 0 or #c == 0 then
    return { decision = "inconclusive", reason = "missing_metric" }
  end
  local budget = math.max(how.budget_abs or 0, (how.budget_rel or 0) * math.abs(stats.median(b)))
  local found = interval.shift(b, c, how.alpha or verdict.ALPHA)
  if not found.k then
    return { decision = "inconclusive", reason = "too_few_runs", budget = budget }
  end
  local low, high = verdict.oriented(found, how.direction)
  local decision = high <= budget and "pass" or low > budget and "fail" or "inconclusive"
  return {
    decision = decision,
    reason = decision == "inconclusive" and "straddles_budget" or nil,
    budget = budget,
    worse_low = low,
    worse_high = high,
  }
end

--- Does a short session show a worsening beyond the budget? One that does not is no pass.
---@param b number[]
---@param c number[]
---@param how pairperf.VerdictHow with budget_abs and budget_rel
---@return table decision, reason, budget, worse_low, worse_high
function M.screen(b, c, how)
  local found = M.relative(b, c, how)
  if found.worse_low then
    found.decision = found.decision == "fail" and "fail" or "not_shown"
    found.reason = nil
  end
  return found
end

local FEWEST <const> = 5

--- Is every run of the candidate within a limit?
---@param c number[]
---@param limit number
---@param direction "lower"|"higher"
---@return {decision: string, reason: string?, confidence: number?} confidence: about the median
function M.absolute(c, limit, direction)
  local n, within = #c, 0
  for _, value in ipairs(c) do
    local good = value <= limit
    if direction == "higher" then
      good = value >= limit
    end
    within = good and within + 1 or within
  end
  local result = { decision = "inconclusive", confidence = n > 0 and 1 - 2.0 ^ -n or nil }
  if n < FEWEST then
    result.reason = n == 0 and "missing_metric" or "too_few_runs"
  elseif within == n then
    result.decision = "pass"
  elseif within == 0 then
    result.decision = "fail"
  else
    result.reason = "straddles_limit"
  end
  return result
end

return M
