-- SPDX-License-Identifier: Apache-2.0
--- Several sessions side by side. Their runs are never pooled: each keeps its own word, and the
--- combined one is the worst of them.
local json = require "pairperf.json"
local metric_names = require "pairperf.metric_names"

local M = {}

M.RULE = "The runs of several sessions are not pooled. A combined word is the worst: regressed if "
  .. "any session says so, else inconclusive if any is, else equivalent if any is, and improved "
  .. "only if all say so."

local RANK = {
  improved = 1,
  lower = 1,
  equivalent = 2,
  unclear = 3,
  inconclusive = 3,
  regressed = 4,
  higher = 4,
}

--- The worst of several words; nil for none.
---@param words string[]
---@return string?
function M.worst(words)
  local worst
  for _, word in ipairs(words) do
    worst = (not worst or RANK[word] > RANK[worst]) and word or worst
  end
  return worst
end

local function find(report, scenario_name, metric)
  for _, scenario in ipairs(report.scenarios) do
    for _, row in ipairs(scenario.name == scenario_name and scenario.metrics or {}) do
      if row.name == metric then
        return row.comparison
      end
    end
  end
end

local function union_of_families(reports)
  local pairs_of_all, seen = {}, {}
  for _, report in ipairs(reports) do
    for _, one in ipairs(report.comparison ~= json.null and report.comparison.family or {}) do
      local key = one.scenario .. "/" .. one.metric
      pairs_of_all[#pairs_of_all + 1] = not seen[key] and one or nil
      seen[key] = true
    end
  end
  return pairs_of_all
end

-- A word that does not count, as it would be.
local function indicative(comparison)
  return comparison.indicative ~= json.null and comparison.indicative or comparison.verdict
end

--- The primary metrics of several sessions: each one's word, and the worst. A session without the
--- metric is inconclusive about it.
---@param reports table[] of two variants each
---@return {scenario: string, title: string, words: string[], combined: string,
---  indicative: string}[]
function M.rows(reports)
  local rows = {}
  for i, one in ipairs(union_of_families(reports)) do
    local words, would_be = {}, {}
    for place, report in ipairs(reports) do
      local comparison = find(report, one.scenario, one.metric)
      words[place] = comparison and comparison.verdict or "inconclusive"
      would_be[place] = comparison and indicative(comparison) or "inconclusive"
    end
    rows[i] = {
      scenario = one.scenario,
      title = metric_names.entry(one.metric).title,
      words = words,
      combined = M.worst(words),
      indicative = M.worst(would_be),
    }
  end
  return rows
end

--- The same as text for a terminal.
---@param directories string[]
---@param reports table[]
---@return string
function M.text(directories, reports)
  local lines = { ("%d sessions combined"):format(#reports), M.RULE }
  for _, row in ipairs(M.rows(reports)) do
    local parts = {}
    for i, word in ipairs(row.words) do
      parts[i] = directories[i] .. " " .. word
    end
    lines[#lines + 1] = ("  %s, %s: %s%s (%s)"):format(
      row.scenario,
      row.title,
      row.combined,
      row.indicative ~= row.combined and ", indicative " .. row.indicative or "",
      table.concat(parts, ", ")
    )
  end
  return table.concat(lines, "\n") .. "\n"
end

return M
