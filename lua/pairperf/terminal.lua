-- SPDX-License-Identifier: Apache-2.0
--- Colour for the words of a comparison, on a terminal only; NO_COLOR and TERM=dumb turn it off.
local core = require "pairperf.core"

local M = {}

local RED <const>, GREEN <const>, YELLOW <const>, CYAN <const> = 31, 32, 33, 36

local COLOURS = {
  regressed = RED,
  fail = RED,
  failed = RED,
  improved = GREEN,
  pass = GREEN,
  equivalent = CYAN,
  inconclusive = YELLOW,
  unclear = YELLOW,
}

--- Whether what goes to a descriptor may have colour.
---@param fd integer
---@return boolean
function M.has_colour(fd)
  local off = os.getenv "NO_COLOR"
  return core.process.is_terminal(fd) and (off == nil or off == "") and os.getenv "TERM" ~= "dumb"
end

--- A text with its words coloured, as it is where there is no colour.
---@param text string
---@param fd integer where it goes
---@return string
function M.painted(text, fd)
  if not M.has_colour(fd) then
    return text
  end
  return (
    text:gsub("%f[%w_]%a+%f[^%w_]", function(word)
      local colour = COLOURS[word]
      return colour and ("\27[1;%dm%s\27[0m"):format(colour, word) or nil
    end)
  )
end

return M
