-- SPDX-License-Identifier: Apache-2.0
--- The order of runs, decided and written before the first launch. Pure: no clock, no files.
local core = require "pairperf.core"

local M = {}

local OTHER = { baseline = "candidate", candidate = "baseline" }

--- A random seed: an integer from 0 to 2^63-1.
---@return integer
function M.random_seed()
  return math.random(0) & math.maxinteger
end

--- The variant that goes first: baseline when the last byte of SHA-256(decimal digits) is even.
---@param seed integer
---@return "baseline"|"candidate"
function M.first_variant(seed)
  local last = tonumber(core.digest.bytes(("%d"):format(seed)):sub(-2), 16)
  return last % 2 == 0 and "baseline" or "candidate"
end

--- The variants of one scenario in order: strictly alternating; abba mirrors every second pair.
---@param first "baseline"|"candidate"
---@param repetitions integer
---@param order "alternate"|"abba"
---@return string[]
function M.order(first, repetitions, order)
  local variants = {}
  for pair = 1, repetitions do
    local leader = (order == "abba" and pair % 2 == 0) and OTHER[first] or first
    variants[#variants + 1] = leader
    variants[#variants + 1] = OTHER[leader]
  end
  return variants
end

local function alone(repetitions)
  local variants = {}
  for i = 1, repetitions do
    variants[i] = "baseline"
  end
  return variants
end

-- Directories have equal length for both variants, so the number is padded for all.
local function directory_form(total)
  return "%s/run-%0" .. math.max(2, #tostring(total)) .. "d"
end

local function total_runs(scenarios, single)
  local total = 0
  for _, scenario in ipairs(scenarios) do
    total = total + scenario.repetitions * (single and 1 or 2)
  end
  return total
end

--- All runs of a session.
---@param scenarios {name: string, repetitions: integer}[]
---@param how {first: string, order: string, single: boolean}
---@return table[] slots { slot, scenario, variant, repetition, directory }
function M.runs(scenarios, how)
  local runs, form = {}, directory_form(total_runs(scenarios, how.single))
  for _, scenario in ipairs(scenarios) do
    local seen = { baseline = 0, candidate = 0 }
    local order = how.single and alone(scenario.repetitions)
      or M.order(how.first, scenario.repetitions, how.order)
    for _, variant in ipairs(order) do
      seen[variant] = seen[variant] + 1
      local slot = #runs
      runs[slot + 1] = {
        slot = slot,
        scenario = scenario.name,
        variant = variant,
        repetition = seen[variant],
        directory = form:format(scenario.name, slot + 1),
      }
    end
  end
  return runs
end

--- Least wall time of all runs, in seconds.
---@return number
function M.least_s(scenarios, single)
  local total = 0
  for _, scenario in ipairs(scenarios) do
    total = total
      + scenario.repetitions * (single and 1 or 2) * (scenario.warmup_s + scenario.duration_s)
  end
  return total
end

return M
