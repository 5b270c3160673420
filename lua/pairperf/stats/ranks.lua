-- SPDX-License-Identifier: Apache-2.0
--- The rank-sum test of two samples: exact over all relabellings of the pooled midranks up to 60
--- runs, with the tie-corrected normal above.
local normal = require "pairperf.stats.normal"

local M = {}

--- Up to this many runs of both variants together every count is exact and fits 64 bits.
M.EXACT_RUNS = 60

-- Smallest double of full precision: p is never 0.
local LEAST_P <const> = 2.0 ^ -1022

--- Twice the midrank of every value, in input order: integers also with ties.
---@param values number[]
---@return integer[] doubled
---@return integer[] ties sizes of the groups of equal values
function M.doubled_midranks(values)
  local order, doubled, ties = {}, {}, {}
  for i = 1, #values do
    order[i] = i
  end
  table.sort(order, function(a, b)
    return values[a] < values[b]
  end)
  local first = 1
  while first <= #order do
    local last = first
    while last < #order and values[order[last + 1]] == values[order[first]] do
      last = last + 1
    end
    for i = first, last do
      doubled[order[i]] = first + last
    end
    ties[#ties + 1] = last - first + 1
    first = last + 1
  end
  return doubled, ties
end

local function pooled(b, c)
  return table.move(c, 1, #c, #b + 1, table.move(b, 1, #b, 1, {}))
end

-- ways[s]: how many choices of `size` of the ranks have the sum s.
local function subset_sums(ranks, size)
  local ways = { [0] = { [0] = 1 } }
  for k = 1, size do
    ways[k] = {}
  end
  for _, rank in ipairs(ranks) do
    for k = size, 1, -1 do
      local from, to = ways[k - 1], ways[k]
      for sum, count in pairs(from) do
        to[sum + rank] = (to[sum + rank] or 0) + count
      end
    end
  end
  return ways[size]
end

local function exact_tails(b, c)
  local doubled = M.doubled_midranks(pooled(b, c))
  local observed = 0
  for i = #b + 1, #doubled do
    observed = observed + doubled[i]
  end
  local less, greater, total = 0, 0, 0
  for sum, count in pairs(subset_sums(doubled, #c)) do
    total = total + count
    less = sum <= observed and less + count or less
    greater = sum >= observed and greater + count or greater
  end
  return less / total, greater / total
end

-- z of U, the tie-corrected standard deviation and the continuity of one half.
local function normal_tails(b, c, u)
  local n, m = #b, #c
  local _, ties = M.doubled_midranks(pooled(b, c))
  local tied = 0
  for _, t in ipairs(ties) do
    tied = tied + t ^ 3 - t
  end
  local variance = n * m / 12 * ((n + m + 1) - tied / ((n + m) * (n + m - 1)))
  if variance <= 0 then
    return 0.5, 0.5, 1.0
  end
  local deviation, sd = u - n * m / 2, math.sqrt(variance)
  local two_sided = 2 * normal.upper(math.max(0, (math.abs(deviation) - 0.5) / sd))
  return normal.upper((-deviation - 0.5) / sd), normal.upper((deviation - 0.5) / sd), two_sided
end

-- Pairs with c above b, ties one half.
local function count_pairs(b, c)
  local u = 0
  for _, x in ipairs(b) do
    for _, y in ipairs(c) do
      u = u + (y > x and 1 or y == x and 0.5 or 0)
    end
  end
  return u
end

--- Is the candidate higher? Empty when a variant has no value.
---@param b number[] baseline
---@param c number[] candidate
---@return {u: number?, a12: number?, cliffs_delta: number?, p_less: number?, p_greater: number?,
---  p_two_sided: number?, method: "exact"|"normal"|nil}
function M.mann_whitney(b, c)
  if #b == 0 or #c == 0 then
    return {}
  end
  local u = count_pairs(b, c)
  local a12 = u / (#b * #c)
  local result = { u = u, a12 = a12, cliffs_delta = 2 * a12 - 1, method = "exact" }
  local less, greater, two_sided
  if #b + #c > M.EXACT_RUNS then
    result.method = "normal"
    less, greater, two_sided = normal_tails(b, c, u)
  else
    less, greater = exact_tails(b, c)
    two_sided = 2 * math.min(less, greater)
  end
  result.p_less, result.p_greater = less, greater
  result.p_two_sided = math.max(LEAST_P, math.min(1.0, two_sided))
  return result
end

return M
