-- SPDX-License-Identifier: Apache-2.0
--- The known word nearest to an unknown one (edit distance), for messages.

local function distance(a, b)
  local row = {}
  for j = 0, #b do
    row[j] = j
  end
  for i = 1, #a do
    local diagonal = row[0]
    row[0] = i
    for j = 1, #b do
      local cost = a:byte(i) == b:byte(j) and 0 or 1
      diagonal, row[j] = row[j], math.min(row[j] + 1, row[j - 1] + 1, diagonal + cost)
    end
  end
  return row[#b]
end

--- nil when nothing is near enough to be meant.
---@param word string
---@param known string[]
---@return string?
return function(word, known)
  local best, least = nil, math.max(2, #word // 3) + 1
  for _, candidate in ipairs(known) do
    local steps = distance(word, candidate)
    if steps < least then
      best, least = candidate, steps
    end
  end
  return best
end
