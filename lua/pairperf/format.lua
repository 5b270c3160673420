-- SPDX-License-Identifier: Apache-2.0
--- Numbers and foreign text as people read them. The locale touches nothing here, and no byte of a
--- name can break a line or a table.
local M = {}

-- string.format follows the locale's decimal sign; evidence and reports do not.
local function fixed(spec, value)
  local text = spec:format(value)
  local sign = ("%.1f"):format(0.5):sub(2, -2)
  if sign ~= "." then
    local at = text:find(sign, 1, true)
    text = at and text:sub(1, at - 1) .. "." .. text:sub(at + #sign) or text
  end
  return text
end

-- Decimals that let `value` show `digits` significant ones, after rounding.
local function decimals(value, digits)
  local exponent =
    math.tointeger(tonumber(fixed(("%%.%de"):format(digits - 1), value):match "e(.*)$"))
  return math.max(0, math.min(6, digits - 1 - exponent))
end

local function unsigned_zero(text)
  return (text:gsub("^%-([0.]+)$", "%1"))
end

local function with_decimals(value, d)
  return unsigned_zero(fixed(("%%.%df"):format(d), value))
end

--- A value with the decimals of its spread (two digits of the spread), or three significant digits
--- when the spread is 0 or unknown.
---@param value number?
---@param spread number?
---@return string text
---@return string? spread_text
function M.value(value, spread)
  if value == nil then
    return "n/a", nil
  elseif spread == nil or spread == 0 then
    local text = value == 0 and "0" or with_decimals(value, decimals(value, 3))
    return text, spread and "0"
  end
  local d = decimals(spread, 2)
  return with_decimals(value, d), with_decimals(spread, d)
end

---@param p number?
---@return string
function M.p(p)
  if p == nil then
    return "n/a"
  end
  return p < 1e-4 and "<0.0001" or fixed("%.2g", p)
end

--- A shift as a percentage of the baseline's median, with its sign.
---@param shift number?
---@param base_median number?
---@return string
function M.change(shift, base_median)
  if shift == nil or base_median == nil or base_median <= 0 then
    return "n/a"
  end
  local percent = 100 * shift / base_median
  local text = fixed(math.abs(percent) >= 100 and "%+.0f" or "%+.1f", percent)
  return (text:match "^[+-]0%.0$" and "0.0" or text) .. "%"
end

--- Like value(), with a sign; "0" has none.
---@param value number?
---@param spread number?
---@return string
function M.signed(value, spread)
  local text = M.value(value, spread)
  return value and value > 0 and text:find "[1-9]" and "+" .. text or text
end

--- Nanoseconds as seconds, for sentences.
---@param ns number?
---@return string
function M.seconds(ns)
  if ns == nil then
    return "n/a"
  end
  local s = ns / 1e9
  -- By what they show: 9.9999 s would be 10.000 s.
  return with_decimals(s, s >= 99.95 and 0 or s >= 9.9995 and 1 or 3) .. " s"
end

--- "1 run", "2 runs".
---@param n integer
---@param what string in the singular, its plural ends in "s"
---@return string
function M.count(n, what)
  return ("%d %s%s"):format(n, what, n == 1 and "" or "s")
end

local function escaped_byte(byte)
  return ("\\x%02x"):format(byte:byte())
end

-- A character that a terminal or a line would act on: C0, DEL, C1, line and paragraph separators.
local function acts(code)
  return code < 0x20 or (code >= 0x7F and code < 0xA0) or code == 0x2028 or code == 0x2029
end

local function escape_controls(text)
  return (
    text:gsub(utf8.charpattern, function(character)
      local code = utf8.codepoint(character)
      if acts(code) then
        return code < 0x100 and ("\\x%02x"):format(code) or ("\\u{%x}"):format(code)
      end
    end)
  )
end

--- Bytes of unknown origin as printable UTF-8: what is not becomes \xNN.
---@param bytes string|{bytes_hex: string}|nil as evidence carries it
---@return string
function M.text(bytes)
  local rest = M.bytes(bytes) or ""
  local parts = {}
  while #rest > 0 do
    local valid, bad = utf8.len(rest)
    local stop = valid and #rest or bad - 1
    parts[#parts + 1] = escape_controls(rest:sub(1, stop))
    if not valid then
      parts[#parts + 1] = escaped_byte(rest:sub(bad, bad))
      stop = bad
    end
    rest = rest:sub(stop + 1)
  end
  return table.concat(parts)
end

--- The bytes behind a string of the evidence: UTF-8 as it is, others as {bytes_hex = …}.
---@return string?
function M.bytes(value)
  if type(value) == "table" and type(value.bytes_hex) == "string" then
    return (
      value.bytes_hex:gsub("%x%x", function(hex)
        return string.char(tonumber(hex, 16))
      end)
    )
  end
  return type(value) == "string" and value or nil
end

local MARKDOWN = {
  ["&"] = "&amp;",
  ["<"] = "&lt;",
  ["|"] = "&#124;",
  ["`"] = "&#96;",
  ["\\"] = "\\\\",
  ["*"] = "\\*",
  ["["] = "\\[",
  ["]"] = "\\]",
  ["~"] = "\\~",
}

-- What would begin a heading, a list, a quotation or a rule.
local function beginning(text)
  return (text:gsub("^( *)([#+>=-])", "%1\\%2"):gsub("^( *%d+)([.)])%f[ %z]", "%1\\%2"))
end

--- The same for a cell or a sentence in Markdown: nothing in it is markup, no pipe ends a cell.
---@return string
function M.markdown(bytes)
  local text = M.text(bytes):gsub("[&<|`\\*%[%]~]", MARKDOWN)
  -- Underscores inside a word are no markup.
  text = text:gsub("()(_+)()", function(first, run, last)
    local inside = text:sub(first - 1, first - 1):find "%w" and text:sub(last, last):find "%w"
    return not inside and run:gsub("_", "\\_") or run
  end)
  return beginning(text)
end

return M
