-- SPDX-License-Identifier: Apache-2.0
--- Pieces of SVG with whole-number coordinates. Colours come from the page's style sheet by class.
local format = require "pairperf.format"
local html_text = require "pairperf.html_text"

local M = {}

local floor = math.floor

--- A linear map from values to whole pixels.
---@return fun(value: number): integer
function M.scale(from, to, first_px, last_px)
  local span = to > from and to - from or 1
  return function(value)
    return floor(first_px + (value - from) / span * (last_px - first_px) + 0.5)
  end
end

--- Round values between two limits, about `count` of them, with their texts.
---@return {value: number, text: string}[]
function M.ticks(from, to, count)
  local raw = math.max((to - from) / count, 1e-9)
  local unit = 10.0 ^ floor(math.log(raw, 10))
  local step = 10 * unit
  for _, factor in ipairs { 5, 2, 1 } do
    step = factor * unit >= raw and factor * unit or step
  end
  local list = {}
  for i = math.ceil(from / step - 1e-9), floor(to / step + 1e-9) do
    local text = i == 0 and "0" or (format.value(i * step, step))
    if text:find("%.") and step >= 0.1 then
      text = text:gsub("0$", ""):gsub("%.$", "")
    end
    list[#list + 1] = { value = i * step, text = text }
  end
  return list
end

--- Opens a picture; `label` says what a reader who does not see it needs.
function M.open(out, width, height, label)
  out[#out + 1] = ('<svg viewBox="0 0 %d %d" role="img" aria-label="%s">\n'):format(
    width,
    height,
    html_text.escape(label)
  )
end

function M.close(out)
  out[#out + 1] = "</svg>\n"
end

function M.line(out, class, x1, y1, x2, y2)
  out[#out + 1] = ('<path class="%s" d="M%d %dL%d %d"/>\n'):format(class, x1, y1, x2, y2)
end

--- A rectangle of at least one pixel; with `title`, a tooltip.
function M.rect(out, class, x, y, width, height, title)
  local content = title and "><title>" .. html_text.escape(title) .. "</title></rect>" or "/>"
  out[#out + 1] = ('<rect class="%s" x="%d" y="%d" width="%d" height="%d"%s\n'):format(
    class,
    x,
    y,
    math.max(1, width),
    math.max(1, height),
    content
  )
end

function M.dot(out, class, x, y, title)
  out[#out + 1] = ('<circle class="%s" cx="%d" cy="%d" r="5"><title>%s</title></circle>\n'):format(
    class,
    x,
    y,
    html_text.escape(title)
  )
end

---@param anchor "start"|"middle"|"end"
function M.text(out, x, y, anchor, text)
  out[#out + 1] = ('<text x="%d" y="%d" text-anchor="%s">%s</text>\n'):format(
    x,
    y,
    anchor,
    html_text.escape(text)
  )
end

--- A line through points; a gap where one is nil.
---@param points ({[1]: integer, [2]: integer}|false)[]
function M.polyline(out, class, points, title)
  local parts, pen = {}, "M"
  for _, point in ipairs(points) do
    if point then
      parts[#parts + 1] = ("%s%d %d"):format(pen, point[1], point[2])
    end
    pen = point and "L" or "M"
  end
  out[#out + 1] = ('<path class="%s" d="%s"><title>%s</title></path>\n'):format(
    class,
    table.concat(parts),
    html_text.escape(title)
  )
end

--- A horizontal axis with its ticks and what it shows.
function M.x_axis(out, x, from, to, y, label)
  M.line(out, "axis", x(from), y, x(to), y)
  for _, tick in ipairs(M.ticks(from, to, 8)) do
    M.line(out, "axis", x(tick.value), y, x(tick.value), y + 4)
    M.text(out, x(tick.value), y + 17, "middle", tick.text)
  end
  if label then
    M.text(out, x(to), y + 33, "end", label)
  end
end

--- A vertical axis: ticks on the left, lines across.
function M.y_axis(out, y, from, to, left, right)
  for _, tick in ipairs(M.ticks(from, to, 4)) do
    M.line(out, "grid", left, y(tick.value), right, y(tick.value))
    M.text(out, left - 6, y(tick.value) + 4, "end", tick.text)
  end
end

return M
