-- SPDX-License-Identifier: Apache-2.0
--- Runs that lie far from their fellows. They are flagged, never dropped.
local interval = require "pairperf.stats.interval"
local json = require "pairperf.json"
local stats = require "pairperf.stats"

local M = {}

local FEWEST <const> = 5
local FAR <const> = 3.5
local NORMAL_MAD <const> = 0.6745

--- Modified z-scores; with a median distance of 0 whatever is further off than the margin.
---@param values number[]
---@param margin number
---@return {flagged: integer[], scores: number[]?} flagged places count from 0
function M.find(values, margin)
  local result = { flagged = json.array {} }
  if #values < FEWEST then
    return result
  end
  local median, distance = stats.median(values), {}
  for i, value in ipairs(values) do
    distance[i] = math.abs(value - median)
  end
  local mad = stats.median(distance)
  result.scores = mad > 0 and json.array {} or nil
  for i, value in ipairs(values) do
    local far = distance[i] > margin
    if mad > 0 then
      result.scores[i] = NORMAL_MAD * (value - median) / mad
      far = math.abs(result.scores[i]) > FAR
    end
    if far then
      result.flagged[#result.flagged + 1] = i - 1
    end
  end
  return result
end

local function without(values, place)
  local list = {}
  for i, value in ipairs(values) do
    list[#list + 1] = i ~= place and value or nil
  end
  return list
end

--- Range of the shift when each single run is left out; nil when a variant has one run only.
---@param b number[]
---@param c number[]
---@return number? low
---@return number? high
function M.shift_range(b, c)
  local low, high
  local function widen(one, other)
    local shift = interval.shift(one, other, 0.5).shift
    if shift then
      low, high = math.min(low or shift, shift), math.max(high or shift, shift)
    end
  end
  if #b < 2 or #c < 2 then
    return nil, nil
  end
  for i = 1, #b do
    widen(without(b, i), c)
  end
  for i = 1, #c do
    widen(b, without(c, i))
  end
  return low, high
end

return M
