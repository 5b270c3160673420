-- SPDX-License-Identifier: Apache-2.0
--- The standard normal distribution: upper tail and its inverse.
local M = {}

-- The series of the lower half and the continued fraction of the tail are both exact to the last
-- digits on their side of this point.
local FAR <const> = 2.5

local function density(z)
  return math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
end

-- P(0 < Z < z) by z + z^3/3 + z^5/15 + …, all terms positive.
local function middle(z)
  local term, sum, k = z, z, 1
  while term > sum * 1e-17 do
    k = k + 2
    term = term * z * z / k
    sum = sum + term
  end
  return sum * density(z)
end

-- P(Z > z) by 1/(z + 1/(z + 2/(z + …))), from the inside out.
local function tail(z)
  local value = z
  for k = 200, 1, -1 do
    value = z + k / value
  end
  return density(z) / value
end

--- P(Z > z).
---@param z number
---@return number
function M.upper(z)
  if z < 0 then
    return 1 - M.upper(-z)
  end
  return z < FAR and 0.5 - middle(z) or tail(z)
end

--- z with P(Z > z) = p, for 0 < p < 1.
---@param p number
---@return number
function M.quantile(p)
  if p > 0.5 then
    return -M.quantile(1 - p)
  end
  -- The tail is convex, so Newton's steps from 0 approach from the left and never overshoot.
  local z = 0.0
  repeat
    local step = (M.upper(z) - p) / density(z)
    z = z + step
  until step <= 1e-15 * (1 + z)
  return z
end

return M
