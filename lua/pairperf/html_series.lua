-- SPDX-License-Identifier: Apache-2.0
--- The timelines of a scenario's runs on one grid, aligned at the start of the window, with a
--- bounded number of points. Pure. Values are whole numbers of the chart's `digit`.
local json = require "pairperf.json"

local M = {}

local MOST_POINTS <const> = 600
local S <const> = 1000000000

M.CHARTS = {
  { name = "cpu", title = "CPU", unit = "% of one core", per = 1e-9 * 1000, digit = 0.1 },
  {
    name = "rss",
    title = "Resident memory",
    unit = "MiB",
    per = 10 / 1048576,
    digit = 0.1,
    level = true,
  },
  { name = "switches", title = "Context switches", unit = "per second", per = 1, digit = 1 },
  { name = "wakeups", title = "Wakeups", unit = "per second", per = 1, digit = 1 },
  { name = "writes", title = "Written", unit = "KiB per second", per = 10 / 1024, digit = 0.1 },
}

--- First and last time of all runs, in nanoseconds from the start of the window.
---@param runs pairperf.HtmlRun[]
---@return integer? first_ns
---@return integer? last_ns
function M.span(runs)
  local first, last
  for _, run in ipairs(runs) do
    for _, point in ipairs { run.points[1], run.points[#run.points] } do
      local t = point.t_ns - run.origin_ns
      first, last = math.min(first or t, t), math.max(last or t, t)
    end
  end
  return first, last
end

--- The grid for all runs of a scenario: at least an interval wide, whole milliseconds.
---@return {width_ns: integer, first: integer, count: integer}? nil without a frame
function M.grid(runs, interval_ns)
  local first_ns, last_ns = M.span(runs)
  if not first_ns then
    return nil
  end
  local width_ns = math.max(interval_ns, (last_ns - first_ns) // MOST_POINTS)
  width_ns = (width_ns + 999999) // 1000000 * 1000000
  local first = (first_ns + width_ns // 2) // width_ns
  return {
    width_ns = width_ns,
    first = first,
    count = (last_ns + width_ns // 2) // width_ns - first + 1,
  }
end

local function bucket_of(grid, run, point)
  return (point.t_ns - run.origin_ns + grid.width_ns // 2) // grid.width_ns - grid.first + 1
end

-- The highest level in each bucket.
local function levels(chart, run, grid)
  local buckets = {}
  for _, point in ipairs(run.points) do
    local value, i = point[chart.name], bucket_of(grid, run, point)
    if value then
      buckets[i] = math.max(buckets[i] or 0, value)
    end
  end
  return buckets
end

-- The mean rate over the frames that end in each bucket.
local function rates(chart, run, grid)
  local sums, spans = {}, {}
  for k = 2, #run.points do
    local before, now = run.points[k - 1], run.points[k]
    local from, to, i = before[chart.name], now[chart.name], bucket_of(grid, run, now)
    if from and to and now.t_ns > before.t_ns then
      sums[i] = (sums[i] or 0) + math.max(0, to - from)
      spans[i] = (spans[i] or 0) + now.t_ns - before.t_ns
    end
  end
  for i, sum in pairs(sums) do
    sums[i] = sum / spans[i] * S
  end
  return sums
end

--- One run's values on the grid, whole numbers or null.
---@return (integer|userdata)[] values
---@return boolean any
function M.values(chart, run, grid)
  local buckets = (chart.level and levels or rates)(chart, run, grid)
  local values, any = json.array {}, false
  for i = 1, grid.count do
    local value = buckets[i]
    values[i] = value and math.floor(value * chart.per + 0.5) or json.null
    any = any or value ~= nil
  end
  return values, any
end

return M
