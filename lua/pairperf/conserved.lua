-- SPDX-License-Identifier: Apache-2.0
--- The conserved totals of one window, and when they may not pass for totals. A total that may
--- have lost what it should have kept is a partial figure: named, kept for diagnosis, no value.
local measured = require "pairperf.measured"

local M = {}

-- Two 10 ms ticks: what one parent's waited-for times may lag behind, first ones included.
local TICKS_NS <const> = 20000000

-- `clamped` says of the total in question how far it was held up.
local function look(window, clamped)
  local seen = { lower_bound = false, held_up = 0, beyond = false, unreaped = false }
  for i, entry in ipairs(window) do
    local total = entry.frame.conservation
    seen.lower_bound = seen.lower_bound or total.lower_bound
    seen.held_up = math.max(seen.held_up, total[clamped])
    seen.beyond = seen.beyond or total.clamped_ns > math.max(total.error_ns, TICKS_NS)
    if i == 1 or i == #window then
      seen.unreaped = seen.unreaped or total.unreaped > 0
    end
  end
  return seen
end

-- Closing minus boundary; nil and the reason.
local function delta(window, field)
  local first, last = window[1], window[#window]
  if not first then
    return nil, "no frame"
  end
  local from, to = first.frame.conservation, last.frame.conservation
  for _, total in ipairs { from, to } do
    if not measured.known(total[field]) then
      return nil, total.missing and total.missing[field] or "not_measured"
    end
  end
  return to[field] - from[field]
end

local function flags_of(seen)
  local flags = {}
  if seen.held_up > 0 then
    flags[1] = "clamped"
  end
  if seen.lower_bound then
    flags[#flags + 1] = "lower_bound"
  end
  return flags
end

---@class pairperf.Conserved
---@field delta? integer over the window
---@field reason? string why there is no delta
---@field doubt? string why the delta is partial
---@field flags string[]
---@field lower_bound? boolean a member discards what its children used
---@field error_ns? integer of the CPU total

--- CPU. A member that discards its children's times shows as `lower_bound`: by SIGCHLD ignored, or
--- by what it was not given for a child that frames had met. Doubtful when less was conserved than
--- was observed, or more was held up than clocks can explain. A lower bound that is not below what
--- was observed stays a value, flagged.
---@param window table[] frames
---@param observed_ns integer? what was observed in the same window
---@return pairperf.Conserved
function M.cpu(window, observed_ns)
  local seen = look(window, "clamped_ns")
  local ns, reason = delta(window, "cpu_ns")
  local last = window[#window]
  local error_ns = last and last.frame.conservation.error_ns
  local short = ns and observed_ns and ns + math.max(error_ns, TICKS_NS) < observed_ns
  return {
    delta = ns,
    reason = reason,
    error_ns = error_ns,
    lower_bound = seen.lower_bound,
    flags = flags_of(seen),
    doubt = ns and (short and "below_observed" or seen.beyond and "clamped_beyond_error") or nil,
  }
end

--- Written bytes. Doubtful, too, when an ended process hid its counters at an edge of the window.
---@param window table[]
---@return pairperf.Conserved
function M.writes(window)
  local seen = look(window, "clamped_write_bytes")
  local bytes, reason = delta(window, "write_bytes")
  local flags = flags_of(seen)
  if seen.unreaped then
    flags[#flags + 1] = "unreaped_at_edge"
  end
  return {
    delta = bytes,
    reason = reason,
    flags = flags,
    doubt = bytes and (bytes < 0 and "counter_regressed" or seen.unreaped and "unreaped_at_edge")
      or nil,
  }
end

return M
