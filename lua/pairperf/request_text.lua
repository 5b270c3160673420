-- SPDX-License-Identifier: Apache-2.0
--- The requests of a scenario's runs as a table of plain text, alike for Markdown and HTML. Runs
--- are never pooled.
local format = require "pairperf.format"
local report_values = require "pairperf.report_values"

local M = {}

local known = report_values.known

M.INTRO = "Requests sent inside the window, run by run. One request is in flight at a time, with a "
  .. "pause after each; the busy fraction is the share of the window in which one was in flight. "
  .. "Where some failed or were cut off, the range in brackets is over all requests."

M.HEAD = {
  "Slot",
  "Variant",
  "Run",
  "Sent",
  "Completed well",
  "Failed",
  "Cut off",
  "p50, ms",
  "p90, ms",
  "Maximum, ms",
  "Busy fraction",
  "Pause, s",
}

-- One quantile of a run: its value, or the bounds over all requests where they differ.
local function quantile(latency, name)
  local low, high = table.unpack(latency.e2e_bounds_ms[name])
  local value = latency.e2e_ms[name]
  local text = known(value) and (format.value(value, nil)) or "n/a"
  if known(low) and low ~= high then
    local upper = known(high) and (format.value(high, nil)) or "no upper bound"
    text = ("%s (all: %s to %s)"):format(text, (format.value(low, nil)), upper)
  end
  return text
end

--- A row per run that has a record of requests.
---@param scenario table of report.scenarios
---@return string[][]
function M.rows(scenario)
  local rows = {}
  for i, one in ipairs(scenario.requests) do
    rows[i] = {
      tostring(one.slot),
      one.variant,
      one.status,
      tostring(one.attempted),
      tostring(one.ok),
      tostring(one.failed),
      tostring(one.censored),
      quantile(one, "p50"),
      quantile(one, "p90"),
      quantile(one, "max"),
      report_values.short(one.busy_fraction),
      report_values.short(one.delay_s),
    }
  end
  return rows
end

return M
