-- SPDX-License-Identifier: Apache-2.0
--- The numbers of a comparison row as text, alike for Markdown and terminal.
local format = require "pairperf.format"
local json = require "pairperf.json"

local M = {}

local function known(value)
  return value ~= nil and value ~= json.null
end
M.known = known

local function number(value)
  return known(value) and value or nil
end

local function scaled(value, row)
  return known(value) and value * row.scale or nil
end

--- Median, range and IQR of one variant: "12.3", "11.9 to 12.8", "0.5".
---@param row table of report.scenarios[].metrics
---@param variant string
function M.side(row, variant)
  local a = row[variant]
  if not a then
    return nil
  end
  local spread = scaled(a.iqr, row)
  local median, spread_text = format.value(scaled(a.median, row), spread)
  local range = "n/a"
  if known(a.min) then
    range = ("%s to %s"):format(
      (format.value(scaled(a.min, row), spread)),
      (format.value(scaled(a.max, row), spread))
    )
  end
  local n = ("%d of %d"):format(a.n, a.scheduled)
  if a.missing > 0 then
    n = ("%s, %d missing"):format(n, a.missing)
  end
  return { median = median, range = range, iqr = spread_text or "n/a", n = n }
end

--- Difference of medians, absolute and in percent of the baseline: "+0.6", "+5.0%".
function M.difference(row)
  local d = row.difference
  if not known(d) then
    return "n/a", "n/a"
  end
  local spread = math.max(scaled(row.baseline.iqr, row) or 0, scaled(row.candidate.iqr, row) or 0)
  local absolute = format.signed(d.absolute * row.scale, spread)
  return absolute, format.change(d.absolute, number(row.baseline.median))
end

--- Three significant digits.
function M.short(value)
  return (format.value(number(value), nil))
end

--- Bytes as MiB, three significant digits.
function M.mebibytes(value)
  return M.short(known(value) and value / 1048576 or nil)
end

--- Unit with the source of the total: "% of one core (conservation)".
function M.unit(row)
  return known(row.tier) and ("%s (%s)"):format(row.unit, row.tier) or row.unit
end

return M
