-- SPDX-License-Identifier: Apache-2.0
--- The first lines about verdicts: what can be concluded in each scenario, what cannot, and what
--- gates and screens decided.
local format = require "pairperf.format"
local measured = require "pairperf.measured"
local metric_names = require "pairperf.metric_names"
local report_row = require "pairperf.report_row"
local verdict_text = require "pairperf.verdict_text"

local M = {}

local known = measured.known

local OPEN = { inconclusive = true, unclear = true }

local WORDS = { "regressed", "improved", "higher", "lower" }

-- A sentence per word: "regressed are A; B".
local function by_word(titles)
  local list = {}
  for _, word in ipairs(WORDS) do
    local own = titles[word]
    list[#list + 1] = own
      and ("%s %s %s"):format(word, #own > 1 and "are" or "is", table.concat(own, "; "))
  end
  return list
end

-- Collects sentences; metrics of which the same is to be said share one.
local function sentences()
  local list, by_predicate = {}, {}
  return list,
    function(title, predicate)
      local place = by_predicate[predicate] or #list + 1
      by_predicate[predicate] = place
      local before = list[place] and list[place]:sub(1, -#predicate - 2) .. "; " or ""
      list[place] = ("%s%s %s"):format(before, title, predicate)
    end
end

-- Sentences on the primary metrics whose word is settled, and on those where it is open; and the
-- exploratory metrics that changed, by their word.
local function sorted_out(scenario, family)
  local changed, settled, add_settled = {}, sentences()
  local open, add_open = sentences()
  for _, row in ipairs(scenario.metrics) do
    local comparison = row.comparison
    local indicative = comparison.indicative
    local word = known(indicative) and indicative or comparison.verdict
    if comparison.family == "primary" then
      local add = OPEN[word] and add_open or add_settled
      add(verdict_text.title(row), verdict_text.predicate(row, scenario, word, family))
    elseif not row.detail and not OPEN[word] and word ~= "equivalent" then
      changed[word] = changed[word] or {}
      table.insert(changed[word], verdict_text.title(row))
    end
  end
  for _, one in ipairs(family) do -- those of which there is no row at all
    if one.scenario == scenario.name and not report_row.of(scenario, one.metric) then
      add_open(metric_names.entry(one.metric).title, "without a value in any run")
    end
  end
  return settled, open, by_word(changed)
end

local function scenario_lines(scenario, report, add)
  local settled, open, changed = sorted_out(scenario, report.comparison.family)
  local indicative = known(scenario.void)
  local function say(what, list)
    for _, sentence in ipairs(list) do
      add(("Scenario %s, %s: %s."):format(scenario.name, what, sentence))
    end
  end
  say(indicative and "indicative only" or "concluded", settled)
  say("not concluded", open)
  local exploratory = "exploratory, not adjusted for their number"
  say(indicative and "indicative only, " .. exploratory or exploratory, changed)
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
      "The margin of %s is the noise floor of an A/A session (%s, %s); the others have "
      .. "their starting values."
    ):format(format.count(floor.margins, "metric"), floor.created_utc, floor.path)
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
  if report.comparison.family_origin == "after the runs" and #report.comparison.family > 0 then
    add "The primary metrics were chosen after the runs, so their words are exploratory, too."
  end
  for _, scenario in ipairs(report.scenarios) do
    scenario_lines(scenario, report, add)
  end
end

--- Appends what the words rest on.
---@param report table compared
---@param add fun(line: string?)
function M.circumstances(report, add)
  for _, scenario in ipairs(report.scenarios) do
    add(("Scenario %s, %s."):format(scenario.name, verdict_text.attainable(scenario.attainable)))
  end
  add(floor_line(report.comparison))
end

return M
