-- SPDX-License-Identifier: Apache-2.0
--- The runs of each metric as dots, and the interval of the difference beside the margin.
local html_svg = require "pairperf.html_svg"
local html_text = require "pairperf.html_text"
local report_values = require "pairperf.report_values"
local verdict_text = require "pairperf.verdict_text"

local M = {}

local known = report_values.known
local WIDTH <const>, HEIGHT <const> = 900, 108
local SPLIT <const> = 520

-- By the source that the row shows, which may not be each run's own best one.
local function run_values(row, rows, summaries)
  local of_tier = known(row.tier) and ("%s_%s"):format(row.name, row.tier)
  local list = of_tier and report_values.of_runs(rows, summaries, of_tier) or {}
  return list[1] and list or report_values.of_runs(rows, summaries, row.name)
end

-- Limits of an axis with some air; never empty.
local function limits(values)
  local low, high = math.huge, -math.huge
  for _, value in ipairs(values) do
    low, high = math.min(low, value), math.max(high, value)
  end
  local air = high > low and (high - low) * 0.08 or high ~= 0 and math.abs(high) * 0.05 or 1
  return low - air, high + air
end

local LANES = { baseline = 26, candidate = 58 }

local function dots(out, row, runs, variants)
  local scaled = {}
  for i, run in ipairs(runs) do
    scaled[i] = run.value * row.scale
  end
  local low, high = limits(scaled)
  local x = html_svg.scale(low, high, 92, SPLIT - 30)
  for _, variant in ipairs(variants) do
    html_svg.text(out, 0, LANES[variant] + 4, "start", variant)
    html_svg.line(out, "grid", x(low), LANES[variant], x(high), LANES[variant])
    local median = row[variant] and row[variant].median
    if known(median) then
      local at = x(median * row.scale)
      html_svg.line(out, variant .. " median", at, LANES[variant] - 11, at, LANES[variant] + 11)
    end
  end
  for i, run in ipairs(runs) do
    local title = ("slot %d, %s: %s"):format(
      run.slot,
      run.variant,
      verdict_text.value(row, run.value)
    )
    html_svg.dot(out, run.variant .. " dot", x(scaled[i]), LANES[run.variant], title)
  end
  html_svg.x_axis(out, x, low, high, 80)
end

local function interval(out, row)
  local comparison = row.comparison
  local shift = comparison.estimate.shift * row.scale
  local span, margin = comparison.difference_interval, comparison.margin
  local edge = known(margin) and margin * row.scale or 0
  local values = { 0, shift, -edge, edge }
  if known(span) then
    table.move({ span.low * row.scale, span.high * row.scale }, 1, 2, 5, values)
  end
  local low, high = limits(values)
  local x = html_svg.scale(low, high, SPLIT + 20, WIDTH - 30)
  html_svg.rect(out, "margin", x(-edge), 10, x(edge) - x(-edge), 70)
  html_svg.line(out, "axis", x(0), 10, x(0), 80)
  if known(span) then
    html_svg.line(out, "interval", x(span.low * row.scale), 42, x(span.high * row.scale), 42)
  end
  html_svg.dot(
    out,
    "shift",
    x(shift),
    42,
    "estimated shift " .. verdict_text.signed(row, comparison.estimate.shift)
  )
  html_svg.x_axis(out, x, low, high, 80)
end

local function describe(row, variants)
  local words = {}
  for i, variant in ipairs(variants) do
    local side = report_values.side(row, variant)
    words[i] = ("%s median %s, %s"):format(variant, side.median, side.range)
  end
  local comparison = row.comparison
  if known(comparison) and known(comparison.estimate) then
    words[#words + 1] = "shift "
      .. verdict_text.estimate(row)
      .. ", "
      .. verdict_text.interval_words(row, comparison.difference_interval)
  end
  return ("%s: %s"):format(row.title, table.concat(words, "; "))
end

local function picture(out, row, runs, variants)
  local comparison = known(row.comparison) and row.comparison or nil
  out[#out + 1] = "<figure>\n<figcaption>"
    .. html_text.escape(("%s, %s"):format(row.title, report_values.unit(row)))
  if comparison then
    out[#out + 1] = (' <span class="word %s">%s</span>'):format(
      comparison.verdict,
      html_text.escape(verdict_text.word(comparison))
    )
  end
  out[#out + 1] = "</figcaption>\n"
  html_svg.open(out, WIDTH, HEIGHT, describe(row, variants))
  dots(out, row, runs, variants)
  if comparison and known(comparison.estimate) then
    interval(out, row)
  end
  html_svg.close(out)
  out[#out + 1] = "</figure>\n"
end

--- The pictures of a scenario's main metrics.
---@param out string[]
---@param scenario table of the report
---@param rows table[] its runs
---@param summaries table<integer, table>
function M.section(out, scenario, rows, summaries)
  local variants = scenario.runs.candidate and { "baseline", "candidate" } or { "baseline" }
  html_text.heading(out, 3, "Run by run")
  html_text.paragraph(
    out,
    "Left, each dot is one successful run and the bar is the median. Right, the estimated shift "
      .. "with its interval, where one exists; the shaded band is the margin around 0."
  )
  local others = {}
  for _, row in ipairs(scenario.metrics) do
    local runs = not row.detail and run_values(row, rows, summaries) or {}
    local comparison = known(row.comparison) and row.comparison
    local first = not comparison or comparison.family == "primary"
    if #runs > 0 then
      picture(first and out or others, row, runs, variants)
    end
  end
  if #others > 0 then
    out[#out + 1] = "<details><summary>Exploratory metrics</summary>\n"
    table.move(others, 1, #others, #out + 1, out)
    out[#out + 1] = "</details>\n"
  end
end

return M
