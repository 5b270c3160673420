-- SPDX-License-Identifier: Apache-2.0
--- What the insides of the runs advise, in words: steps, where time is better spent, and why the
--- intervals of a run are no replicates. Plain text, alike for Markdown and HTML.
local format = require "pairperf.format"
local report_row = require "pairperf.report_row"
local report_values = require "pairperf.report_values"
local verdict_text = require "pairperf.verdict_text"

local M = {}

local known = report_values.known

M.HEAD = "Inside the runs (advice; nothing is left out because of it, and a run counts once, "
  .. "however many values it has inside):"

local function unsteady(row, one)
  return ("%s, slot %d (%s): it changed by %s %s after %s; a longer warm-up may help"):format(
    row.title,
    one.slot,
    one.variant,
    verdict_text.signed(row, one.step),
    row.unit,
    format.seconds(one.after_ns)
  )
end

-- Far fewer intervals than were taken would do: time is better spent on runs.
local function length(row, variant, variance)
  if not known(variance) or not known(variance.best_intervals) then
    return nil
  elseif variance.best_intervals >= variance.intervals_per_run / 2 then
    return nil
  end
  return (
    "%s, %s: runs differ more than intervals inside a run do (%.0f %% of the variance); more runs "
    .. "would help, longer ones hardly"
  ):format(row.title, variant, 100 * variance.share_between)
end

-- Why a run counts once: neighbouring intervals are alike, so they are no replicates.
local function independent(row, variant, likeness)
  if not known(likeness) then
    return nil
  end
  return (
    "%s, %s: the %d values inside a run are worth about %.0f independent ones (medians of %d runs; "
    .. "likeness of neighbours, lag-1: %.2f)"
  ):format(
    row.title,
    variant,
    likeness.intervals_per_run,
    likeness.effective_n,
    likeness.runs,
    likeness.lag1
  )
end

--- One item per thing to know.
---@param scenario table of report.scenarios
---@return string[]
function M.items(scenario)
  local items = {}
  for _, one in ipairs(scenario.intervals) do
    local row = assert(report_row.of(scenario, one.metric))
    for _, run in ipairs(one.unsteady) do
      items[#items + 1] = unsteady(row, run)
    end
    for _, variant in ipairs { "baseline", "candidate" } do
      items[#items + 1] = length(row, variant, one.variance[variant])
      items[#items + 1] = independent(row, variant, one.likeness[variant])
    end
  end
  return items
end

return M
