-- SPDX-License-Identifier: Apache-2.0
--- Sums without rounding on the way, so that equal values have a spread of exactly 0.
local M = {}

-- Adds x to the non-overlapping parts of a sum (Shewchuk); what is lost of it becomes a part.
local function add(parts, x)
  local kept = 0
  for i = 1, #parts do
    local y = parts[i]
    if math.abs(x) < math.abs(y) then
      x, y = y, x
    end
    local high = x + y
    local low = y - (high - x)
    if low ~= 0 then
      kept = kept + 1
      parts[kept] = low
    end
    x = high
  end
  for i = #parts, kept + 1, -1 do
    parts[i] = nil
  end
  parts[kept + 1] = x
end

-- The parts as one double, rounded once, halves to even.
local function rounded(parts)
  local n = #parts
  local high, low = parts[n] or 0.0, 0.0
  while n > 1 and low == 0 do
    n = n - 1
    local x, y = high, parts[n]
    high = x + y
    low = y - (high - x)
  end
  local below = parts[n - 1]
  if below and low * below > 0 then
    local doubled = 2 * low
    local moved = high + doubled
    high = moved - high == doubled and moved or high
  end
  return high
end

--- The sum of the values, rounded once.
---@param values number[]
---@return number
function M.sum(values)
  local parts = {}
  for _, value in ipairs(values) do
    add(parts, value + 0.0)
  end
  return rounded(parts)
end

---@param values number[] at least one
---@return number
function M.mean(values)
  return M.sum(values) / #values
end

--- Sum of squared distances from `center`.
---@param values number[]
---@param center number
---@return number
function M.squares(values, center)
  local list = {}
  for i, value in ipairs(values) do
    list[i] = (value - center) ^ 2
  end
  return M.sum(list)
end

return M
