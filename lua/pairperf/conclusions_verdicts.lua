-- SPDX-License-Identifier: Apache-2.0
--- The first lines about verdicts: what can be concluded in each scenario, what cannot, and what
--- gates and screens decided.
local measured = require "pairperf.measured"
local report_row = require "pairperf.report_row"
local verdict_text = require "pairperf.verdict_text"

local M = {}

local known = measured.known

local OPEN = { inconclusive = true, unclear = true }

-- Sentences on the primary metrics whose word is settled, and on those where it is open; and the
-- words of exploratory metrics that changed.
local function sentences(scenario, family)
  local settled, open, changed = {}, {}, {}
  for _, row in ipairs(scenario.metrics) do
    local comparison = row.comparison
    local indicative = comparison.indicative
    local word = known(indicative) and indicative or comparison.verdict
    if comparison.family == "primary" then
      local list = OPEN[word] and open or settled
      list[#list + 1] = verdict_text.sentence(row, scenario, word, family)
    elseif not row.detail and not OPEN[word] and word ~= "equivalent" then
      changed[#changed + 1] = verdict_text.title(row) .. " " .. word
    end
  end
  return settled, open, changed
end

-- Primary metrics of which there is no row at all.
local function absent(scenario, report)
  local list = {}
  for _, one in ipairs(report.comparison.family) do
    if one.scenario == scenario.name and not report_row.of(scenario, one.metric) then
      list[#list + 1] = ("%s: no value"):format(one.metric)
    end
  end
  return list
end

local function scenario_lines(scenario, report, add)
  local void = known(scenario.void)
  local settled, open, changed = sentences(scenario, report.comparison.family)
  local missing = absent(scenario, report)
  table.move(missing, 1, #missing, #open + 1, open)
  local function line(what, list)
    if #list > 0 then
      add(("Scenario %s, %s: %s."):format(scenario.name, what, table.concat(list, "; ")))
    end
  end
  line(void and "indicative only" or "concluded", settled)
  line("not concluded", open)
  local exploratory = "exploratory, not adjusted for their number"
  line(void and "indicative only, " .. exploratory or exploratory, changed)
  add(("Scenario %s, %s."):format(scenario.name, verdict_text.attainable(scenario.attainable)))
end

local function gate_line(one)
  local text = ("Gate %s, scenario %s: %s"):format(one.gate, one.scenario, one.decision)
  local reason = verdict_text.reason(one.reason)
  return text .. (reason ~= "" and ": " .. reason or "") .. "."
end

-- Never "pass": a short session that shows nothing proves nothing.
local function screen_line(one, report)
  local head = ("Screen %s, scenario %s: "):format(one.screen, one.scenario)
  if one.decision == "inconclusive" then
    return head .. "nothing can be said: " .. verdict_text.reason(one.reason) .. "."
  end
  local row = assert(report_row.find(report, one.scenario, one.metric))
  local budget = ("+%s %s"):format(verdict_text.value(row, one.budget), row.unit)
  local words = one.decision == "fail" and "fail: a regression above %s" or "no regression above %s"
  return ("%s%s shown; the worsening is between %s and %s (indicative interval, %s)."):format(
    head,
    words:format(budget),
    verdict_text.signed(row, one.worse_low),
    verdict_text.signed(row, one.worse_high),
    verdict_text.percent(row.comparison.equivalence_interval.level)
  )
end

local function floor_line(comparison)
  local floor = comparison.noise_floor
  if known(floor) then
    return (
      "The margin of %d metrics is the noise floor of an A/A session (%s, %s); the others have "
      .. "their starting values."
    ):format(floor.margins, floor.created_utc, floor.path)
  end
end

--- Appends the lines.
---@param report table compared
---@param add fun(line: string)
function M.lines(report, add)
  for _, one in ipairs(report.gates) do
    add(gate_line(one))
  end
  for _, one in ipairs(report.screens) do
    add(screen_line(one, report))
  end
  add(floor_line(report.comparison))
  if report.comparison.family_origin == "after the runs" and #report.comparison.family > 0 then
    add "The primary metrics were chosen after the runs, so their words are exploratory, too."
  end
  for _, scenario in ipairs(report.scenarios) do
    scenario_lines(scenario, report, add)
  end
end

return M
