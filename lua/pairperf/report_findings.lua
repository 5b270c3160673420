-- SPDX-License-Identifier: Apache-2.0
--- What a reader must know about the numbers of single runs: sources that contradict each other,
--- figures that were lost, names that no process had.
local json = require "pairperf.json"
local measured = require "pairperf.measured"
local window_frames = require "pairperf.window_frames"

local M = {}

local function seconds(ns)
  return ("%.3f s"):format(ns / 1e9)
end

local function differ_text(check)
  local text = ("CPU by two sources is %.1f %% apart: %s by the cgroup, %s by conservation"):format(
    100 * check.share,
    seconds(check.cgroup_ns),
    seconds(check.conservation_ns)
  )
  return text
    .. (
      check.lower_bound
        and "; the latter is a lower bound, as a member discards what its children used"
      or ""
    )
end

local function totals_differ(summary)
  local check = summary.cross_check
  if not measured.known(check) or check.agrees then
    return nil
  end
  return {
    kind = "cpu_totals_differ",
    cgroup_ns = check.cgroup_ns,
    conservation_ns = check.conservation_ns,
    difference_ns = check.difference_ns,
    share = check.share,
    lower_bound = check.lower_bound,
    text = differ_text(check),
  }
end

local MOST <const> = 0.1 -- of those that were born; fewer are at the edges of the window

local function births_unmet(summary)
  local metrics = summary.metrics or {}
  local all, unmet = metrics.process_births_per_second, metrics.process_births_unmet_per_second
  if not (unmet and measured.known(unmet.value)) or unmet.value <= MOST * all.value then
    return nil
  end
  return {
    kind = "births_unmet",
    per_second = all.value,
    unmet_per_second = unmet.value,
    text = "processes lived between two frames (see 'Processes started that no frame met'): what"
      .. " they used is in the CPU of the control group and, if their parents waited for them, in"
      .. " CPU by conservation; it is in no component and no figure of memory",
  }
end

-- The same in each run that the same programs do it in; which process it was stands beside it.
local function children_discarded(summary)
  local names, seen = {}, {}
  for _, one in ipairs(summary.discarders or {}) do
    local name = window_frames.component(one.exe)
    names[#names + 1] = not seen[name] and name or nil
    seen[name] = true
  end
  if #names == 0 then
    return nil
  end
  table.sort(names)
  return {
    kind = "children_discarded",
    processes = summary.discarders,
    text = ("CPU and writes by conservation are lower bounds: %s %s what %s children used"):format(
      table.concat(names, ", "),
      #names > 1 and "discard" or "discards",
      #names > 1 and "their" or "its"
    ),
  }
end

--- The findings of all runs.
---@param rows table[] of report.runs
---@param summaries table<integer, table> by slot
---@return table[]
function M.build(rows, summaries)
  local list = json.array {}
  for _, row in ipairs(rows) do
    local summary = summaries[row.slot] or {}
    local function add(finding)
      if finding then
        finding.slot, finding.scenario, finding.variant = row.slot, row.scenario, row.variant
        list[#list + 1] = finding
      end
    end
    add(totals_differ(summary))
    add(births_unmet(summary))
    add(children_discarded(summary))
    for _, name in ipairs(summary.excluded_unseen or {}) do
      add {
        kind = "excluded_unseen",
        component = name,
        text = ("excluded component %s: no process of that name was seen"):format(name),
      }
    end
  end
  return list
end

--- Each text once, with the slots that it holds for.
---@param findings table[]
---@return {text: string, slots: integer[]}[]
function M.grouped(findings)
  local groups, by_text = {}, {}
  for _, one in ipairs(findings) do
    local group = by_text[one.text]
    if not group then
      group = { text = one.text, slots = {} }
      by_text[one.text], groups[#groups + 1] = group, group
    end
    group.slots[#group.slots + 1] = one.slot
  end
  return groups
end

--- "slot 2", "slots 1, 3 to 5".
---@param slots integer[] ascending
---@return string
function M.slots_text(slots)
  local parts, i = {}, 1
  while slots[i] do
    local last = i
    while slots[last + 1] == slots[last] + 1 do
      last = last + 1
    end
    parts[#parts + 1] = last > i + 1 and ("%d to %d"):format(slots[i], slots[last])
      or table.concat(slots, ", ", i, last)
    i = last + 1
  end
  return (#slots > 1 and "slots " or "slot ") .. table.concat(parts, ", ")
end

return M
