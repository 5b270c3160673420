-- SPDX-License-Identifier: Apache-2.0
--- How long requests took: one rising line per run, never pooled.
local html_svg = require "pairperf.html_svg"
local html_tables = require "pairperf.html_tables"
local html_text = require "pairperf.html_text"
local report_values = require "pairperf.report_values"

local M = {}

local known = report_values.known
local WIDTH <const>, LEFT <const>, RIGHT <const>, BOTTOM <const> = 900, 60, 890, 210
local MOST_STEPS <const> = 200

-- Milliseconds of the requests that were sent in the window and completed well, rising.
local function durations(run)
  local list = {}
  local window = run.summary and run.summary.window
  if not window or not known(window.start_ns) or not known(window.end_ns) then
    return list
  end
  for _, request in ipairs(run.requests) do
    local inside = request.send_ns >= window.start_ns and request.send_ns < window.end_ns
    if inside and request.status == "ok" then
      list[#list + 1] = (request.end_ns - request.send_ns) / 1e6
    end
  end
  table.sort(list)
  return list
end

local function steps(list, x, y)
  local points, height = { { x(list[1]), y(0) } }, 0
  local stride = math.max(1, #list / MOST_STEPS)
  local at = 1
  while at <= #list do
    local i = math.floor(at)
    points[#points + 1] = { x(list[i]), y(height) }
    height = 100 * i / #list
    points[#points + 1] = { x(list[i]), y(height) }
    at = at + stride
  end
  points[#points + 1] = { x(list[#list]), y(100) }
  return points
end

local function collect(runs)
  local lines, low, high = {}, math.huge, -math.huge
  for _, run in ipairs(runs) do
    local list = durations(run)
    if #list > 0 then
      lines[#lines + 1] = { run = run, list = list }
      low, high = math.min(low, list[1]), math.max(high, list[#list])
    end
  end
  return lines, low, high
end

local function picture(out, lines, low, high)
  html_text.paragraph(
    out,
    "The share of a run's requests that took at most so long; requests that were sent in the "
      .. "window and completed well, one line per run."
  )
  out[#out + 1] = "<figure>\n<figcaption>Requests completed, %</figcaption>\n"
  html_svg.open(out, WIDTH, BOTTOM + 40, "Distribution of request latencies, one line per run")
  local x = html_svg.scale(low, math.max(high, low + 1e-3), LEFT, RIGHT)
  local y = html_svg.scale(0, 100, BOTTOM, 12)
  html_svg.y_axis(out, y, 0, 100, LEFT, RIGHT)
  for _, one in ipairs(lines) do
    html_svg.polyline(out, one.run.variant .. " line", steps(one.list, x, y), one.run.label)
  end
  html_svg.x_axis(out, x, low, math.max(high, low + 1e-3), BOTTOM, "milliseconds")
  html_svg.close(out)
  out[#out + 1] = "</figure>\n"
end

--- Table and picture of a scenario's requests; nothing where there were none.
---@param out string[]
---@param scenario table of the report
---@param runs pairperf.HtmlRun[]
function M.section(out, scenario, runs)
  if #scenario.requests == 0 then
    return
  end
  html_text.heading(out, 3, "Latency of requests")
  html_tables.requests(out, scenario)
  local lines, low, high = collect(runs)
  if #lines > 0 then
    picture(out, lines, low, high)
  end
end

return M
