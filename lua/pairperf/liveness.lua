-- SPDX-License-Identifier: Apache-2.0
--- Does an energy counter live? It must advance often enough, and over a long enough span, while
--- this thread burns CPU between the reads.
local json = require "pairperf.json"

local M = {}

local FEWEST_ADVANCES <const>, SHORTEST_SPAN_MS <const>, MOST_INTERVALS <const> = 5, 300, 40

-- Counters go up to 2^64-1 and come as decimal strings: longer is larger, then digit by digit.
local function less(a, b)
  a, b = tostring(a), tostring(b)
  if #a ~= #b then
    return #a < #b
  end
  return a < b
end

local function often_enough(probe)
  return 5 * probe.advances >= 4 * probe.intervals
end

local function live(probe)
  return probe.advances >= FEWEST_ADVANCES
    and often_enough(probe)
    and probe.span_ms >= SHORTEST_SPAN_MS
end

-- Why a probe that ended without a fault is not live.
local function frozen_reason(probe)
  return probe.advances < FEWEST_ADVANCES and "too_few_advances"
    or not often_enough(probe) and "advanced_too_rarely"
    or "span_too_short"
end

local function ended(probe, status, reason)
  probe.status, probe.reason = status, reason
  return probe
end

local function unreadable(reading)
  return reading.value == nil or reading.value == json.null
end

--- Judges the readings of a probe, in order.
---@param readings {t_ms: number, value: integer|string|nil}[]
---@return {status: "Live"|"Frozen"|"Unavailable", reason: string?, intervals: integer,
---  advances: integer, span_ms: number}
function M.judge(readings)
  local probe = { intervals = 0, advances = 0, span_ms = 0 }
  if not readings[1] or unreadable(readings[1]) then
    return ended(probe, "Unavailable", "unreadable")
  end
  for i = 2, #readings do
    local before, now = readings[i - 1], readings[i]
    if unreadable(now) then
      return ended(probe, "Unavailable", "unreadable")
    elseif now.t_ms <= before.t_ms then
      return ended(probe, "Unavailable", "clock_reversed")
    elseif less(now.value, before.value) then
      return ended(probe, "Frozen", "regressed")
    end
    probe.intervals = probe.intervals + 1
    probe.advances = probe.advances + (less(before.value, now.value) and 1 or 0)
    probe.span_ms = now.t_ms - readings[1].t_ms
    if live(probe) then
      return ended(probe, "Live")
    elseif probe.intervals == MOST_INTERVALS then
      break
    end
  end
  return ended(probe, "Frozen", frozen_reason(probe))
end

return M
