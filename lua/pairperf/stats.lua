-- SPDX-License-Identifier: Apache-2.0
--- Statistics over runs. A value is a number or absent; nothing here turns an absent one into 0.
--- docs/METRICS.md has the definitions, tests/vectors the numbers.
local json = require "pairperf.json"

local M = {}

local function is_absent(value)
  return value == nil or value == json.null
end

---@return number[] copy in ascending order
local function sorted(values)
  local copy = table.move(values, 1, #values, 1, {})
  table.sort(copy)
  return copy
end

-- Median of sorted[first..last]; nil when that is empty.
local function middle(values, first, last)
  local n = last - first + 1
  if n < 1 then
    return nil
  end
  local half = first + n // 2
  if n % 2 == 1 then
    return values[half]
  end
  return (values[half - 1] + values[half]) / 2
end

--- Middle value, or the mean of the two middle ones; nil for none.
---@param values number[]
---@return number?
function M.median(values)
  return middle(sorted(values), 1, #values)
end

--- Median, range and Tukey-half IQR: an odd n leaves the median out of both halves, a single value
--- has IQR 0, no value has none.
---@param values number[]
---@return {n: integer, median: number?, min: number?, max: number?, iqr: number?}
function M.summary(values)
  local s = sorted(values)
  local n = #s
  local result = { n = n, median = middle(s, 1, n), min = s[1], max = s[n] }
  if n == 1 then
    result.iqr = 0
  elseif n > 1 then
    local half = n // 2
    result.iqr = middle(s, n - half + 1, n) - middle(s, 1, half)
  end
  return result
end

--- One metric over runs: successful ones only, those without the metric counted as missing.
---@param runs {status: string, metrics: table<string, number?>, diagnostic_only: boolean?}[]
---@param metric string
function M.aggregate(runs, metric)
  local values, successful, diagnostic = {}, 0, false
  for _, run in ipairs(runs) do
    if run.status == "success" then
      successful = successful + 1
      diagnostic = diagnostic or run.diagnostic_only or false
      local value = run.metrics[metric]
      if not is_absent(value) then
        values[#values + 1] = value
      end
    end
  end
  local result = M.summary(values)
  result.scheduled = #runs
  result.successful = successful
  result.missing = successful - #values
  result.diagnostic_only = diagnostic
  return result
end

--- Nearest-rank quantile; 1000 is the maximum. Nil while n cannot show it, with the n it needs.
---@param values number[]
---@param permille integer
---@return {value: number?, rank: integer?, needs: integer?}
function M.quantile(values, permille)
  local n = #values
  if permille ~= 1000 and n * (1000 - permille) < 1000 then
    return { needs = (1000 + 999 - permille) // (1000 - permille) }
  elseif n == 0 then
    return { needs = 1 }
  end
  local rank = math.max(1, (permille * n + 999) // 1000)
  return { value = sorted(values)[rank], rank = rank }
end

local FULL = {
  { "duration", "duration_s", 120 },
  { "repetitions", "repetitions", 5 },
  { "warmup", "warmup_s", 60 },
}

--- Shorter or fewer than the defaults: summarised and marked, never a finding.
---@param plan {warmup_s: number, duration_s: number, repetitions: integer}
---@return {diagnostic_only: boolean, reasons: string[]}
function M.diagnostic_only(plan)
  local reasons = {}
  for _, limit in ipairs(FULL) do
    if plan[limit[2]] < limit[3] then
      reasons[#reasons + 1] = limit[1]
    end
  end
  return { diagnostic_only = #reasons > 0, reasons = reasons }
end

---@class pairperf.Outcome
---@field usage_error boolean? usage error or refusal
---@field cancelled boolean?
---@field failed_runs integer? failed and skipped runs
---@field allow_failed integer?
---@field decisions string[]? of the gates: "pass", "fail", "inconclusive"
---@field allow_inconclusive boolean?

--- Exit status of a session or report; the first match wins.
---@param outcome pairperf.Outcome
---@return integer
function M.exit_code(outcome)
  if outcome.usage_error then
    return 2
  elseif outcome.cancelled then
    return 3
  elseif (outcome.failed_runs or 0) > (outcome.allow_failed or 0) then
    return 1
  end
  for _, decision in ipairs(outcome.decisions or {}) do
    if decision == "fail" or (decision == "inconclusive" and not outcome.allow_inconclusive) then
      return 4
    end
  end
  return 0
end

return M
