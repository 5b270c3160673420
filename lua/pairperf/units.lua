-- SPDX-License-Identifier: Apache-2.0
--- The one grammar of durations and sizes, and how they are echoed.
local M = {}

M.DURATION_FORMS = "a time such as 500ms, 5s, 2m or 1h; a bare number is seconds"
M.SIZE_FORMS = "a whole number with B, KiB, MiB, GiB or TiB"

local NS = { ms = 1000000, s = 1000000000, m = 60000000000, h = 3600000000000 }
local BYTES = { B = 0, KiB = 10, MiB = 20, GiB = 30, TiB = 40 } -- shifts
local LARGEST = 2 ^ 62

--- "500ms", "5s", "1.5m", "2h" or bare seconds, in nanoseconds.
---@param text string
---@return integer? ns
---@return string? reason
function M.duration_ns(text)
  local number, unit = text:match("^(%d+%.?%d*)(%a*)$")
  if not number or number:sub(-1) == "." or not (unit == "" or NS[unit]) then
    return nil, "is not " .. M.DURATION_FORMS
  end
  local scale = NS[unit == "" and "s" or unit]
  local ns = (tonumber(number) + 0.0) * scale
  if ns >= LARGEST then
    return nil, "is too long"
  end
  return math.floor(ns + 0.5)
end

--- The same, in seconds (an integer when whole).
---@return number? seconds
---@return string? reason
function M.duration_s(text)
  local ns, reason = M.duration_ns(text)
  if not ns then
    return nil, reason
  end
  return M.seconds(ns)
end

--- Nanoseconds as seconds, an integer when whole.
---@param ns integer
---@return number
function M.seconds(ns)
  return ns % NS.s == 0 and ns // NS.s or ns / NS.s
end

--- Seconds as whole nanoseconds.
---@param seconds number
---@return integer
function M.ns(seconds)
  return math.floor(seconds * NS.s + 0.5)
end

--- "64KiB" in bytes.
---@param text string
---@return integer? bytes
---@return string? reason
function M.size_bytes(text)
  local number, unit = text:match("^(%d+)(%a+)$")
  if not number or not BYTES[unit] then
    return nil, "is not " .. M.SIZE_FORMS
  end
  if #number > 18 or tonumber(number) * 2 ^ BYTES[unit] >= LARGEST then
    return nil, "is too large"
  end
  return tonumber(number) << BYTES[unit]
end

--- "60 s", "500 ms", "0.25 s".
---@param seconds number
---@return string
function M.format_seconds(seconds)
  if seconds > 0 and seconds < 1 and (seconds * 1000) % 1 == 0 then
    return ("%d ms"):format(seconds * 1000)
  end
  return ("%.14g s"):format(seconds)
end

--- "2 h 5 min 10 s", for a person; whole seconds, rounded up.
---@param seconds number
---@return string
function M.format_long(seconds)
  local whole = math.ceil(seconds)
  local parts = {}
  local steps = { { "h", whole // 3600 }, { "min", whole // 60 % 60 }, { "s", whole % 60 } }
  for _, step in ipairs(steps) do
    if step[2] > 0 then
      parts[#parts + 1] = ("%d %s"):format(step[2], step[1])
    end
  end
  return #parts > 0 and table.concat(parts, " ") or "0 s"
end

local STEPS = { { "TiB", 40 }, { "GiB", 30 }, { "MiB", 20 }, { "KiB", 10 } }

--- "1.5 MiB".
---@param bytes number
---@return string
function M.format_bytes(bytes)
  for _, step in ipairs(STEPS) do
    local value = bytes / (1 << step[2])
    if value >= 1023.95 / 1024 then -- in the unit below it would show as 1024.0
      return (("%.1f"):format(value):gsub("%.0$", "")) .. " " .. step[1]
    end
  end
  return ("%d B"):format(bytes)
end

return M
