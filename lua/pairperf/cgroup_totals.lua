-- SPDX-License-Identifier: Apache-2.0
--- The totals of the control group that a run was started in, over one window, and when they may
--- not pass for totals: the kernel counts all that happens inside, and nothing of who left.
local measured = require "pairperf.measured"

local M = {}

M.NO_GROUP = "no_cgroup"
M.LEFT = "a process left the cgroup"

--- What is charged to a group, by the fields of a frame's `cgroup.memory`.
M.PARTS = { "current", "anon", "file", "shmem", "kernel", "swap" }

-- A reading of one frame; nil and why. Memory stands by itself, its reasons with the others.
local function reading(group, field, part)
  if not measured.known(group) then
    return nil, M.NO_GROUP
  end
  local place = part and group[part] or group
  if math.type(place[field]) == "integer" then
    return place[field]
  end
  return nil, (group.missing or {})[field] or "not_measured"
end

-- The readings of a window in order: a list with holes, its known ones, and why one is missing.
local function readings(window, field, part)
  local values, count, why = {}, 0, nil
  for i, entry in ipairs(window) do
    local value, reason = reading(entry.frame.cgroup, field, part)
    values[i], why = value, why or reason
    count = count + (value and 1 or 0)
  end
  return values, count, why
end

--- Whether a process was ever seen outside, up to the end of the window.
---@param records table[] of samples.jsonl
---@param window table[]
function M.left(records, window)
  local last = window[#window] and window[#window].frame.seq or 0
  for _, frame in ipairs(records) do
    local group = frame.cgroup
    if frame.seq <= last and measured.known(group) and (group.strays or 0) > 0 then
      return true
    end
  end
  return false
end

--- What a counter gained. A fall adds nothing; it and a missing reading leave a partial figure.
---@param window table[]
---@param field string
---@param left boolean see M.left
---@return pairperf.Conserved
function M.gained(window, field, left)
  local values, count, why = readings(window, field)
  local sum, last, fell = 0, nil, false
  for i = 1, #window do
    local value = values[i]
    fell = fell or (value ~= nil and last ~= nil and value < last)
    sum = sum + (value and last and math.max(0, value - last) or 0)
    last = value or last
  end
  local doubt = left and M.LEFT or fell and "counter_regressed" or why
  return {
    delta = count > 1 and sum or nil,
    reason = count < 2 and (why or "no frame") or nil,
    doubt = count > 1 and doubt or nil,
    flags = count > 1 and doubt and { "lower_bound" } or {},
  }
end

--- Whether a reading was there in any frame.
function M.readable(window, field, part)
  return select(2, readings(window, field, part)) > 0
end

---@class pairperf.CgroupMemory
---@field max integer
---@field mean number
---@field doubt string? why both are partial
---@field passes integer frames that were used

--- Maximum and mean of what was charged under one head; nil when it was never readable.
---@param window table[]
---@param part string of M.PARTS
---@param left boolean
---@return pairperf.CgroupMemory?
function M.memory(window, part, left)
  local values, count, why = readings(window, part .. "_bytes", "memory")
  if count == 0 then
    return nil
  end
  local max, sum = 0, 0
  for i = 1, #window do
    max, sum = math.max(max, values[i] or 0), sum + (values[i] or 0)
  end
  return {
    max = max,
    mean = sum / count,
    doubt = left and M.LEFT or why,
    passes = count,
  }
end

--- The most that was ever charged, from the start of the group to the closing frame.
---@return integer?
function M.peak(window)
  local values = readings(window, "peak_bytes", "memory")
  return values[#window]
end

return M
