-- SPDX-License-Identifier: Apache-2.0
--- What the order of the runs says about a comparison, and what it cannot: places in the pairs, and
--- the pauses in which the machine could forget the run before.
local format = require "pairperf.format"
local json = require "pairperf.json"
local measured = require "pairperf.measured"
local stats = require "pairperf.stats"

local M = {}

local known = measured.known

--- Of a comparison: in an alternating order each variant follows the other, so what a run leaves
--- behind for the next cannot be told from a difference between them.
M.CARRY_OVER = "not_estimable"

--- How often each variant came first and second in its pair, of the runs that succeeded.
---@param rows table[] of report.runs
---@return table<string, {first: integer, second: integer}>
function M.positions(rows)
  local place, result = {}, {}
  for _, row in ipairs(rows) do
    place[row.scenario] = (place[row.scenario] or 0) + 1
    local count = result[row.variant] or { first = 0, second = 0 }
    result[row.variant] = count
    if row.status == "success" then
      local position = place[row.scenario] % 2 == 1 and "first" or "second"
      count[position] = count[position] + 1
    end
  end
  return result
end

--- The time from the proven end of one run's application to the launch of the next one, over
--- neighbouring runs of which both are known.
---@param rows table[] of report.runs
---@param summaries table<integer, table> by slot
---@return {count: integer, min_ns: integer, median_ns: number, max_ns: integer}|userdata
function M.pauses(rows, summaries)
  local list, ended_ns = {}, nil
  for _, row in ipairs(rows) do
    local times = summaries[row.slot] and summaries[row.slot].times or {}
    local launched = ended_ns and known(times.spawned_ns) and times.spawned_ns >= ended_ns
    list[#list + 1] = launched and times.spawned_ns - ended_ns or nil
    ended_ns = known(times.verdict_ns) and times.verdict_ns or nil
  end
  local found = stats.summary(list)
  if #list == 0 then
    return json.null
  end
  return { count = #list, min_ns = found.min, median_ns = found.median, max_ns = found.max }
end

--- Carry-over in words, for whoever reads the verdicts.
---@param report table compared
---@return string
function M.carry_over(report)
  local pauses, between = known(report.pauses) and report.pauses, ""
  if pauses then
    local words = " Between the end of one run's application and the launch of the next lay "
      .. "%s to %s, median %s."
    between = words:format(
      format.seconds(pauses.min_ns),
      format.seconds(pauses.max_ns),
      format.seconds(pauses.median_ns)
    )
  end
  return "Carry-over, what one run leaves behind for the next (heat, caches), cannot be estimated: "
    .. "each variant follows the other, so it looks like a difference between them."
    .. between
    .. " Where it matters, repeat the session with a seed that puts the other variant first."
end

return M
