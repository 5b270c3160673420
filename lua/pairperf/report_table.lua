-- SPDX-License-Identifier: Apache-2.0
--- The comparison as a plain text table, for the end of a session on a terminal.
local metric_names = require "pairperf.metric_names"
local report_values = require "pairperf.report_values"

local M = {}

local HEAD = { "metric", "unit", "baseline", "n", "candidate", "n", "difference", "", "verdict" }
local WORD <const> = #HEAD

local LEGEND <const> = "\n  * primary metric; a word in brackets is only indicative"

-- A star marks primary metrics; a word that does not count is in brackets.
local function word(comparison)
  local indicative = comparison.indicative
  local text = report_values.known(indicative) and "(" .. indicative .. ")" or comparison.verdict
  return text .. (comparison.family == "primary" and " *" or "")
end

local function cells(row)
  local b, c = report_values.side(row, "baseline"), report_values.side(row, "candidate")
  local absolute, percent = report_values.difference(row)
  local list = { row.title, report_values.unit(row), b.median, b.n }
  if c then
    table.move({ c.median, c.n, absolute, percent, word(row.comparison) }, 1, 5, 5, list)
  end
  return list
end

local function width(text)
  return utf8.len(text) or #text
end

local function aligned(rows)
  local widths = {}
  for _, row in ipairs(rows) do
    for i, cell in ipairs(row) do
      widths[i] = math.max(widths[i] or 0, width(cell))
    end
  end
  local lines = {}
  for i, row in ipairs(rows) do
    local parts = {}
    for column, cell in ipairs(row) do
      local pad = (" "):rep(widths[column] - width(cell))
      parts[column] = (column <= 2 or column == WORD) and cell .. pad or pad .. cell
    end
    lines[i] = ("  " .. table.concat(parts, "  ")):gsub("%s+$", "")
  end
  return table.concat(lines, "\n")
end

local function only_unsupported(metric)
  return #metric.reasons == 1 and metric.reasons[1] == "unsupported"
end

-- Whether the table would not show it anyway.
local function is_detail(metric)
  local entry = metric_names.entry(metric.name)
  return entry ~= nil and entry.detail or false
end

-- Metrics without any value have no row; nil when there is none.
local function absent_text(scenario)
  local titles, unsupported = {}, 0
  for _, metric in ipairs(scenario.unavailable) do
    if only_unsupported(metric) then
      unsupported = unsupported + 1
    elseif not is_detail(metric) then
      titles[#titles + 1] = metric.title
    end
  end
  if unsupported > 0 then
    titles[#titles + 1] = ("%d that this system does not have"):format(unsupported)
  end
  return #titles > 0
      and ("\n  without a value: %s (why: report.md, Scenario %s)"):format(
        table.concat(titles, "; "),
        scenario.name
      )
    or nil
end

local function scenario_text(scenario)
  local rows = { HEAD }
  if not scenario.runs.candidate then
    rows[1] = { "metric", "unit", "baseline", "n" }
  end
  for _, row in ipairs(scenario.metrics) do
    if report_values.shown(row) then
      rows[#rows + 1] = cells(row)
    end
  end
  local text = "scenario " .. scenario.name .. " (medians of successful runs)\n"
  if #rows == 1 then
    return text .. "  no successful run"
  end
  text = text .. aligned(rows) .. (scenario.runs.candidate and LEGEND or "")
  return text .. (absent_text(scenario) or "")
end

--- Conclusions and circumstances, then a table per scenario.
---@param report table
---@return string
function M.render(report)
  local parts = {}
  for _, lines in ipairs { report.conclusions, report.circumstances } do
    table.move(lines, 1, #lines, #parts + 1, parts)
  end
  for _, scenario in ipairs(report.scenarios) do
    parts[#parts + 1] = ""
    parts[#parts + 1] = scenario_text(scenario)
  end
  return table.concat(parts, "\n") .. "\n"
end

return M
