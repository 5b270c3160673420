-- SPDX-License-Identifier: Apache-2.0
--- The inside of one run's window: was it steady, and how alike are its intervals? For the advice
--- of a report; no value of the run depends on it.
local json = require "pairperf.json"
local measured = require "pairperf.measured"
local window_frames = require "pairperf.window_frames"
local within_run = require "pairperf.stats.within_run"

local M = {}

local known, or_null = measured.known, measured.or_null

-- CPU in percent of one core, interval by interval; nil when a frame has no such total.
local function cpu_by(window, source)
  local values = {}
  for i, entry in ipairs(window) do
    local now, before = entry.frame, window[i - 1] and window[i - 1].frame
    local total = now[source]
    if not known(total) or not known(total.cpu_ns) or (before and now.t_ns <= before.t_ns) then
      return nil
    elseif before then
      local used_ns = total.cpu_ns - before[source].cpu_ns
      values[i - 1] = 100 * used_ns / (now.t_ns - before.t_ns)
    end
  end
  return values
end

-- By the source of the run's value: `tier` is that of its CPU.
local function cpu_series(window, tier)
  return cpu_by(window, tier == "cgroup" and "cgroup" or "conservation")
end

-- Resident memory, frame by frame; nil when one is incomplete.
local function memory_series(window)
  local values = {}
  for i, entry in ipairs(window) do
    local sum, complete = window.rows:resident(entry.frame)
    if not complete or entry.frame.enumeration ~= "ok" or #entry.unseen > 0 then
      return nil
    end
    values[i] = sum or 0
  end
  return values
end

-- The step is kept whatever its size: what is small is known only when runs are compared.
local function described(values, window)
  local step, lag = within_run.steadiness(values, 0), within_run.lag1(values)
  local moments = within_run.moments(values)
  local at = step.at and window[step.at + 1]
  return {
    n = moments.n,
    total = moments.total,
    mean = moments.mean,
    squares = moments.squares,
    step = or_null(step.shift),
    step_p = or_null(step.p),
    step_ns = at and at.frame.t_ns - window[1].frame.t_ns or json.null,
    lag1 = or_null(lag.r1),
    effective_n = or_null(lag.n_eff),
  }
end

--- By the metric whose run value they make: cpu_percent, rss_mean_bytes; one that cannot be given
--- for every interval is absent.
---@param samples pairperf.Samples
---@param tier string? source of the run's CPU value
---@return table<string, table>
function M.build(samples, tier)
  local window = window_frames.mark_unseen(window_frames.window(samples))
  local result = {}
  for name, series in pairs { cpu_percent = cpu_series, rss_mean_bytes = memory_series } do
    local values = series(window, tier)
    result[name] = values and #values > 0 and described(values, window) or nil
  end
  return result
end

return M
