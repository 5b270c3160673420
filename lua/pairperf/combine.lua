-- SPDX-License-Identifier: Apache-2.0
--- Several sessions side by side. Their runs are never pooled: each keeps its own word, and the
--- combined one is the worst of them.
local format = require "pairperf.format"
local json = require "pairperf.json"
local metric_names = require "pairperf.metric_names"
local report_row = require "pairperf.report_row"

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
      local row = report_row.find(report, one.scenario, one.metric)
      local comparison = row and row.comparison
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

-- ---------------------------------------------------------------- gates

M.GATE_RULES = {
  all = "A gate or screen must hold in every session.",
  any = "A gate or screen must hold in any one session (--gate-hosts any).",
}

local GATE_RANK = { pass = 1, not_shown = 2, inconclusive = 3, fail = 4 }

-- Each gate and screen of several sessions: what it says where.
local function gate_rows(reports)
  local rows, by_key = {}, {}
  for place, report in ipairs(reports) do
    for _, list in ipairs { report.gates, report.screens } do
      for _, one in ipairs(list) do
        local text = one.gate and "Gate " .. one.gate or "Screen " .. one.screen
        local key = one.scenario .. "\0" .. text
        if not by_key[key] then
          by_key[key] = { text = text, scenario = one.scenario, decisions = {} }
          rows[#rows + 1] = by_key[key]
        end
        by_key[key].decisions[place] = one.decision
      end
    end
  end
  return rows
end

-- The best or worst decision that any session gives.
local function extreme(decisions, sign)
  local found
  for _, decision in pairs(decisions) do
    local better = found and sign * GATE_RANK[decision] < sign * GATE_RANK[found]
    found = (not found or better) and decision or found
  end
  return found
end

--- The best decision of each gate over the sessions, as the exit status takes them.
---@param reports table[]
---@return string[]
function M.best_decisions(reports)
  local list = {}
  for i, row in ipairs(gate_rows(reports)) do
    local best = extreme(row.decisions, 1)
    list[i] = best == "not_shown" and "pass" or best
  end
  return list
end

local DECISION_WORDS = { not_shown = "no regression shown" }

local function gate_lines(lines, directories, reports, which)
  local rows = gate_rows(reports)
  lines[#lines + 1] = #rows > 0 and M.GATE_RULES[which] or nil
  for _, row in ipairs(rows) do
    local parts = {}
    for place = 1, #reports do
      local decision = row.decisions[place]
      local word = DECISION_WORDS[decision] or decision or "not asked"
      parts[place] = format.text(directories[place]) .. " " .. word
    end
    local all = extreme(row.decisions, which == "any" and 1 or -1)
    lines[#lines + 1] = ("  %s, scenario %s: %s (%s)"):format(
      row.text,
      row.scenario,
      DECISION_WORDS[all] or all,
      table.concat(parts, ", ")
    )
  end
end

-- ---------------------------------------------------------------- text

local function machine_text(machine)
  local parts = {}
  for _, name in ipairs { "cpu_model", "cpus_online", "os", "kernel" } do
    local value = machine[name]
    parts[#parts + 1] = value ~= json.null and format.text(tostring(value)) or nil
  end
  return #parts > 0 and table.concat(parts, ", ") or "unknown machine"
end

--- The same as text for a terminal, with what the gates say together.
---@param directories string[]
---@param reports table[]
---@param machines table[] as noise_floor.machine gives them
---@param which "all"|"any"|nil where a gate must hold
---@return string
function M.text(directories, reports, machines, which)
  local lines = { ("%d sessions combined"):format(#reports), M.RULE }
  for i, machine in ipairs(machines) do
    lines[#lines + 1] = ("  %s: %s"):format(format.text(directories[i]), machine_text(machine))
  end
  for _, row in ipairs(M.rows(reports)) do
    local parts = {}
    for i, word in ipairs(row.words) do
      parts[i] = format.text(directories[i]) .. " " .. word
    end
    lines[#lines + 1] = ("  %s, %s: %s%s (%s)"):format(
      row.scenario,
      row.title,
      row.combined,
      row.indicative ~= row.combined and ", indicative " .. row.indicative or "",
      table.concat(parts, ", ")
    )
  end
  gate_lines(lines, directories, reports, which or "all")
  return table.concat(lines, "\n") .. "\n"
end

return M
