-- SPDX-License-Identifier: Apache-2.0
--- Timelines of a scenario: every run over one time axis that is 0 at the start of the window.
--- Drawn as SVG, which a browser with scripts replaces by charts of the same data.
local html_series = require "pairperf.html_series"
local html_svg = require "pairperf.html_svg"
local html_text = require "pairperf.html_text"
local json = require "pairperf.json"

local M = {}

local WIDTH <const>, HEIGHT <const>, LEFT <const>, RIGHT <const> = 900, 190, 60, 890
local BOTTOM <const> = 150
local MOST_MARKS <const> = 400 -- per run and kind
local S <const> = 1000000000

local function seconds(ns, run)
  return (ns - run.origin_ns) / S
end

-- Warm-up and window as the plan has them.
local function phases(out, x, scenario, from, to, bottom)
  local function band(class, first, last)
    first, last = math.max(first, from), math.min(last, to)
    if last > first then
      html_svg.rect(out, class, x(first), 8, x(last) - x(first), bottom - 8)
    end
  end
  band("warmup", -scenario.warmup_ns / S, 0)
  band("window", 0, scenario.duration_ns / S)
end

local function limits(grid)
  local width = grid.width_ns / S
  return grid.first * width, (grid.first + math.max(1, grid.count - 1)) * width
end

local function highest(series)
  local most = 0
  for _, one in ipairs(series) do
    for _, value in ipairs(one.values) do
      most = value ~= json.null and math.max(most, value) or most
    end
  end
  return most
end

-- Few enough pixels for a line that nobody zooms: at most every second one.
local function path(one, chart, grid, x, y)
  local points, width, last = {}, grid.width_ns / S, nil
  for i, value in ipairs(one.values) do
    local at = x((grid.first + i - 1) * width)
    if value ~= json.null and (not last or at >= last + 2) then
      points[#points + 1] = { at, y(value * chart.digit) }
      last = at
    end
  end
  return points
end

local function drawing(out, chart, scenario, grid, series)
  local from, to = limits(grid)
  local most = math.max(highest(series) * chart.digit * 1.05, 1)
  local x = html_svg.scale(from, to, LEFT, RIGHT)
  local y = html_svg.scale(0, most, BOTTOM, 12)
  html_svg.open(
    out,
    WIDTH,
    HEIGHT,
    ("%s of every run over time, %s"):format(chart.title, chart.unit)
  )
  phases(out, x, scenario, from, to, BOTTOM)
  html_svg.y_axis(out, y, 0, most, LEFT, RIGHT)
  for _, one in ipairs(series) do
    html_svg.polyline(out, one.run.variant .. " line", path(one, chart, grid, x, y), one.run.label)
  end
  html_svg.x_axis(out, x, from, to, BOTTOM, "seconds from the start of the window")
  html_svg.close(out)
end

local function figure(out, chart, scenario, grid, series, id)
  local open = '<figure class="chart" id="%s">\n<figcaption>%s, %s</figcaption>\n'
  out[#out + 1] = open:format(id, chart.title, chart.unit)
  drawing(out, chart, scenario, grid, series)
  out[#out + 1] = "</figure>\n"
end

local function chart_data(chart, series)
  local runs = json.array {}
  for i, one in ipairs(series) do
    runs[i] = one.values
  end
  return { title = chart.title, unit = chart.unit, digit = chart.digit, values = runs }
end

-- The values of one chart over all runs; nil when no run has any.
local function chart_series(chart, runs, grid)
  local series, some = {}, false
  for i, run in ipairs(runs) do
    local values, any = html_series.values(chart, run, grid)
    series[i], some = { run = run, values = values }, some or any
  end
  return some and series or nil
end

-- ---------------------------------------------------------------- what happened

-- At most MOST_MARKS of a list, evenly chosen.
local function thinned(list)
  local kept, step = {}, math.max(1, #list / MOST_MARKS)
  local at = 1
  while at <= #list do
    kept[#kept + 1] = list[math.floor(at)]
    at = at + step
  end
  return kept
end

local function stalls(run)
  local list = {}
  for _, point in ipairs(run.points) do
    list[#list + 1] = point.missed and point or nil
  end
  return list
end

local function lane(out, run, x, from, to, y)
  html_svg.text(out, 0, y + 10, "start", run.label)
  html_svg.line(out, "grid", x(from), y + 7, x(to), y + 7)
  local function inside(ns)
    return math.max(from, math.min(to, seconds(ns, run)))
  end
  for _, request in ipairs(thinned(run.requests)) do
    local first, last = x(inside(request.send_ns)), x(inside(request.end_ns))
    local class = request.status == "ok" and run.variant .. " request" or "bad request"
    html_svg.rect(out, class, first, y + 2, last - first, 10)
  end
  for _, point in ipairs(thinned(stalls(run))) do
    local title = ("%d passes missed"):format(point.missed)
    html_svg.rect(out, "stall", x(inside(point.t_ns)) - 1, y - 1, 3, 16, title)
  end
  for _, at_ns in ipairs(thinned(run.escapes)) do
    html_svg.dot(out, "escape", x(inside(at_ns)), y + 7, "a process escaped")
  end
end

local function lanes(out, scenario, runs, grid)
  local from, to = limits(grid)
  local x = html_svg.scale(from, to, 130, RIGHT)
  local bottom = 14 + 20 * #runs
  out[#out + 1] = "<figure>\n<figcaption>Requests, stalls and escapes</figcaption>\n"
  local label = "For each run: requests of the hook, missed passes, escaped processes"
  html_svg.open(out, WIDTH, bottom + 40, label)
  phases(out, x, scenario, from, to, bottom)
  for i, run in ipairs(runs) do
    lane(out, run, x, from, to, 20 * i - 8)
  end
  html_svg.x_axis(out, x, from, to, bottom, "seconds from the start of the window")
  html_svg.close(out)
  html_text.paragraph(
    out,
    "Bars are requests from sending to their end, red when they failed or were cut off; the gaps "
      .. "between them are the hook's pauses; upright "
      .. "red marks are passes of the sampler that were missed; rings are processes that left the "
      .. "application's group or session. Of many marks of a run, some are drawn.",
    "note"
  )
  out[#out + 1] = "</figure>\n"
end

-- ---------------------------------------------------------------- the whole

-- What the script draws from.
local function data(scenario, runs, grid, charts, id)
  local names = json.array {}
  for i, run in ipairs(runs) do
    names[i] = { label = run.label, variant = run.variant }
  end
  return {
    id = id,
    first = grid.first,
    width_ms = grid.width_ns // 1000000,
    warmup_ms = scenario.warmup_ns // 1000000,
    duration_ms = scenario.duration_ns // 1000000,
    runs = names,
    charts = charts,
  }
end

local NOTE = "Every run, from launch to its last frame; the darker band is the window, the "
  .. "lighter one the warm-up. One point covers %d ms: the mean rate, and the highest memory, of "
  .. "the frames in it. Context switches are those of processes that were seen."

--- The timelines of one scenario; what a script draws them from, or nil without a frame.
---@param out string[]
---@param scenario table of the report
---@param runs pairperf.HtmlRun[] with label and variant
---@param id string of the section
---@return table? data
function M.section(out, scenario, runs, id)
  html_text.heading(out, 3, "Timelines")
  local grid = html_series.grid(runs, scenario.interval_ns)
  if not grid then
    html_text.paragraph(out, "No frame was recorded.")
    return nil
  end
  html_text.paragraph(out, NOTE:format(grid.width_ns // 1000000))
  out[#out + 1] = ('<div class="controls" id="%s-controls"></div>\n'):format(id)
  local charts = json.array {}
  for _, chart in ipairs(html_series.CHARTS) do
    local series = chart_series(chart, runs, grid)
    if series then
      figure(out, chart, scenario, grid, series, ("%s-%d"):format(id, #charts))
      charts[#charts + 1] = chart_data(chart, series)
    end
  end
  lanes(out, scenario, runs, grid)
  return data(scenario, runs, grid, charts, id)
end

return M
