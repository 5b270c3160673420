-- SPDX-License-Identifier: Apache-2.0
--- The first lines of a report: what can be concluded and what cannot; then the circumstances that
--- qualify it.
local conclusions_verdicts = require "pairperf.conclusions_verdicts"
local diagnostic = require "pairperf.diagnostic"
local format = require "pairperf.format"
local json = require "pairperf.json"
local manifest_changes = require "pairperf.manifest_changes"
local measured = require "pairperf.measured"
local noise_floor = require "pairperf.noise_floor"
local report_values = require "pairperf.report_values"

local M = {}

local known = measured.known

local function diagnostic_lines(report, add)
  for _, short in ipairs(diagnostic.shortfalls(report.scenarios)) do
    add(
      (
        "%siagnostic only (%s): these figures show that the set-up works; they support no "
        .. "conclusion about the builds. %s are what the rules would say."
      ):format(
        short.scenario and ("Scenario %s is d"):format(short.scenario) or "D",
        diagnostic.words(short.reasons),
        short.scenario and "Its words below" or "Words below"
      )
    )
  end
end

local function side(name, count)
  local text = ("%s %d of %d runs successful"):format(name, count.successful, count.scheduled)
  local rest = {}
  for _, kind in ipairs { "failed", "skipped", "pending" } do
    if count[kind] > 0 then
      rest[#rest + 1] = ("%d %s"):format(count[kind], kind)
    end
  end
  return text .. (#rest > 0 and " (" .. table.concat(rest, ", ") .. ")" or "")
end

local function outcome(scenario)
  local b, c = scenario.runs.baseline, scenario.runs.candidate
  local text = ("Scenario %s: %s"):format(scenario.name, side("baseline", b))
  if not c then
    return text .. "."
  end
  text = text .. ", " .. side("candidate", c) .. "."
  if b.failed ~= c.failed and b.successful + c.successful > 0 then
    text = text .. " The variants failed unequally often; the remaining runs may be the lucky ones."
  end
  return text
end

-- Why what was still to come was skipped: as the first run says that was.
local function cut_short(report)
  for _, run in ipairs(report.runs) do
    if run.status == "skipped" and known(run.reason) then
      return ("The session ended early, %d of %d runs were skipped: %s."):format(
        report.totals.skipped,
        report.totals.scheduled,
        format.text(run.reason)
      )
    end
  end
end

-- B36: in strict alternation a position in the pair belongs to a variant.
local function position(report)
  local b, c = report.positions.baseline, report.positions.candidate
  if not b or not c or b.first + b.second == 0 or c.first + c.second == 0 then
    return nil
  end
  return (
    "Order: of the successful runs, the baseline's came first in %d pairs and second in %d, the "
    .. "candidate's first in %d and second in %d. Whatever favours a place in the pair looks like "
    .. "a difference between the variants."
  ):format(b.first, b.second, c.first, c.second)
end

local function artifact_changed(report)
  if not known(report.session) then
    return nil
  end
  local changed = {}
  for name, state in pairs(report.session.artifacts or {}) do
    local what = manifest_changes.text(state)
    changed[#changed + 1] = state.unchanged == false
        and name .. (what and " (" .. what .. ")" or "")
      or nil
  end
  table.sort(changed)
  if #changed > 0 then
    return ("Invalid comparison: the artifact of %s changed while it was measured."):format(
      table.concat(changed, " and of ")
    )
  end
end

local function test_switches(report)
  local names = {}
  for name, value in pairs(report.tool.test_switches or {}) do
    names[#names + 1] = known(value) and ("%s=%s"):format(name, value) or nil
  end
  table.sort(names)
  if #names > 0 then
    return ("Switches that are for tests only were set: %s."):format(table.concat(names, ", "))
  end
end

-- Totals that are only known to be at least what is shown; metrics with the same reason together.
local function lower_bounds(scenario, add)
  local groups, titles = {}, {}
  for _, row in ipairs(scenario.metrics) do
    local c = row.candidate
    local runs = row.baseline.lower_bound + (c and c.lower_bound or 0)
    if report_values.shown(row) and runs > 0 then
      local all = row.baseline.n + (c and c.n or 0)
      local why = ("in %d of %d runs, as %s"):format(runs, all, report_values.lacking(row))
      groups[#groups + 1] = not titles[why] and why or nil
      titles[why] = titles[why] and titles[why] .. "; " .. row.title or row.title
    end
  end
  for _, why in ipairs(groups) do
    local words = "Scenario %s, only lower bounds: %s (%s). A difference of lower bounds proves "
      .. "nothing."
    add(words:format(scenario.name, titles[why], why))
  end
end

local function contradictions(report)
  local slots, worst = {}, 0
  for _, one in ipairs(report.findings) do
    if one.kind == "cpu_totals_differ" then
      slots[#slots + 1] = one.slot
      worst = math.max(worst, one.share)
    end
  end
  if #slots == 0 then
    return nil
  end
  return (
    "CPU by the cgroup and by conservation differ by up to %.1f %% (%s %s): see the findings "
    .. "on the numbers."
  ):format(100 * worst, #slots > 1 and "slots" or "slot", table.concat(slots, ", "))
end

-- Whether every scheduled run of a scenario counts.
local function all_successful(scenario)
  for _, count in pairs(scenario.runs) do
    if count.successful < count.scheduled then
      return false
    end
  end
  return true
end

local function outcomes(report, successful, add)
  for _, scenario in ipairs(report.scenarios) do
    if all_successful(scenario) == successful then
      add(outcome(scenario))
    end
  end
end

local function collector()
  local lines = json.array {}
  return lines, function(line)
    lines[#lines + 1] = line
  end
end

--- The report's first lines: what voids or limits what is said, what is said, and what is not.
---@param report table
---@return string[]
function M.lines(report)
  local lines, add = collector()
  add(artifact_changed(report))
  if report.totals.pending > 0 then
    add(
      ("The session is not finished: %d of %d runs are still to come."):format(
        report.totals.pending,
        report.totals.scheduled
      )
    )
  elseif report.interrupted then
    add "The session was interrupted; the remaining runs were skipped."
  else
    add(cut_short(report))
  end
  if report.null_control then
    add(
      "A/A control: both sides are the same build with the same arguments. Every difference below "
        .. "is noise of machine and method, and its size is what a real comparison must exceed"
        .. (noise_floor.measured(report) and ": noise-floor.json, for --noise-floor." or ".")
    )
  end
  diagnostic_lines(report, add)
  outcomes(report, false, add)
  if report.mode == "single" then
    add "One variant only: nothing is compared."
  else
    conclusions_verdicts.lines(report, add)
  end
  return lines
end

--- What qualifies the first lines, or explains them.
---@param report table
---@return string[]
function M.circumstances(report)
  local lines, add = collector()
  outcomes(report, true, add)
  for _, scenario in ipairs(report.scenarios) do
    lower_bounds(scenario, add)
  end
  if report.mode ~= "single" then
    conclusions_verdicts.circumstances(report, add)
    add(position(report))
  end
  add(contradictions(report))
  add(test_switches(report))
  return lines
end

return M
