-- SPDX-License-Identifier: Apache-2.0
--- Which processes there were, and when: a bar per process, a picture per run.
local html_svg = require "pairperf.html_svg"
local html_text = require "pairperf.html_text"

local M = {}

local WIDTH <const>, LEFT <const>, RIGHT <const> = 900, 250, 890
local MOST_BARS <const> = 40
local MOST_NAME <const> = 26 -- characters
local S <const> = 1000000000

-- The longest-lived ones, in the order in which they started.
local function chosen(lives)
  local list = table.move(lives, 1, #lives, 1, {})
  table.sort(list, function(a, b)
    local one, other = a.last_ns - a.first_ns, b.last_ns - b.first_ns
    if one ~= other then
      return one > other
    elseif a.first_ns ~= b.first_ns then
      return a.first_ns < b.first_ns
    end
    return a.pid < b.pid
  end)
  list = table.move(list, 1, math.min(#list, MOST_BARS), 1, {})
  table.sort(list, function(a, b)
    if a.first_ns ~= b.first_ns then
      return a.first_ns < b.first_ns
    end
    return a.pid < b.pid
  end)
  return list
end

-- The beginning of a name, cut between characters.
local function short(name)
  local stop = utf8.offset(name, MOST_NAME + 1)
  return stop and stop <= #name and name:sub(1, stop - 1) .. "…" or name
end

local function bar(out, one, run, x, y)
  local first, last = (one.first_ns - run.origin_ns) / S, (one.last_ns - run.origin_ns) / S
  local name = one.name or "(unknown)"
  local class = one.escaped and "escaped bar" or run.variant .. " bar"
  local ending = one.ended and "" or ", there to the last frame"
  html_svg.text(out, LEFT - 8, y + 10, "end", ("%s %d"):format(short(name), one.pid))
  html_svg.rect(
    out,
    class,
    x(first),
    y,
    x(last) - x(first),
    12,
    ("%s, pid %d%s%s"):format(name, one.pid, one.escaped and ", escaped" or "", ending)
  )
end

local function picture(out, run, open)
  local list = chosen(run.lives)
  local from, to = math.huge, -math.huge
  for _, one in ipairs(list) do
    from = math.min(from, (one.first_ns - run.origin_ns) / S)
    to = math.max(to, (one.last_ns - run.origin_ns) / S)
  end
  out[#out + 1] = ("<details%s><summary>%s: %d processes</summary>\n"):format(
    open and " open" or "",
    html_text.escape(run.label),
    #run.lives
  )
  local x, bottom = html_svg.scale(from, to, LEFT, RIGHT), 10 + 18 * #list
  html_svg.open(out, WIDTH, bottom + 40, "Lifetimes of the processes of " .. run.label)
  for i, one in ipairs(list) do
    bar(out, one, run, x, 18 * i - 10)
  end
  html_svg.x_axis(out, x, from, to, bottom, "seconds from the start of the window")
  html_svg.close(out)
  if #list < #run.lives then
    local words = "The %d that lived longest are drawn."
    html_text.paragraph(out, words:format(#list), "note")
  end
  out[#out + 1] = "</details>\n"
end

--- The processes of a scenario's runs; the first run of each variant is open.
---@param out string[]
---@param runs pairperf.HtmlRun[]
function M.section(out, runs)
  html_text.heading(out, 3, "Processes")
  html_text.paragraph(
    out,
    "From the start of each process to its end, as far as passes of the sampler or the kernel's "
      .. "notice of its end saw it."
  )
  local opened = {}
  for _, run in ipairs(runs) do
    if #run.lives > 0 then
      picture(out, run, not opened[run.variant])
      opened[run.variant] = true
    end
  end
end

return M
