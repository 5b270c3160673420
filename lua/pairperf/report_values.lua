-- SPDX-License-Identifier: Apache-2.0
--- The numbers of a comparison row as text, alike for Markdown and terminal.
local format = require "pairperf.format"
local measured = require "pairperf.measured"

local M = {}

local known = measured.known
M.known = known

local function number(value)
  return known(value) and value or nil
end

local function scaled(value, row)
  return known(value) and value * row.scale or nil
end

--- Whether a row stands among the results: a detail only when it was declared primary.
---@param row table of report.scenarios[].metrics
function M.shown(row)
  return not row.detail or known(row.comparison) and row.comparison.family == "primary"
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

--- A component's name, and what became of its exclusion.
---@param component table of report.scenarios[].components
---@return string
function M.component(component)
  if not component.excluded then
    return component.name
  end
  local seen = component.seen and "" or "; no process of that name was seen"
  return ("%s (excluded%s)"):format(component.name, seen)
end

-- "0.004 s of CPU and 1.00 MiB" of one supervisor's cost.
local function cost(one)
  local cpu = known(one.cpu_ns_per_run) and one.cpu_ns_per_run or nil
  return ("%s of CPU and %s MiB"):format(format.seconds(cpu), M.mebibytes(one.rss_bytes))
end

--- What the harness itself used, medians over the runs.
---@param own table report.own_cost
---@return string
function M.own_cost(own)
  local pass = known(own.pass_ns) and own.pass_ns or nil
  local text = (
    "Not part of any figure above, medians over the runs: the supervisor used %s of resident "
    .. "memory; one frame took %s"
  ):format(cost(own), format.seconds(pass))
  if known(own.cpu_ns_per_frame) then
    text = text .. (" and %s ms of CPU"):format(M.short(own.cpu_ns_per_frame / 1e6))
  end
  for _, part in ipairs { "hook", "check" } do
    local one = own[part]
    if known(one) then
      local program = known(one.program_cpu_ns_per_run) and one.program_cpu_ns_per_run or nil
      text = ("%s; the %s used %s of CPU, its supervisor %s"):format(
        text,
        part,
        format.seconds(program),
        cost(one)
      )
    end
  end
  return text .. "."
end

--- Whose values are lower bounds: "at least", "candidate at least"; nil when nobody's.
---@return string?
function M.at_least(row)
  local b = (row.baseline.lower_bound or 0) > 0
  local c = row.candidate ~= nil and (row.candidate.lower_bound or 0) > 0
  if b and (c or not row.candidate) then
    return "at least"
  end
  return b and "baseline at least" or c and "candidate at least" or nil
end

--- Unit with the source of the total, and whether it is one: "% of one core (conservation, at
--- least)".
function M.unit(row)
  local marks = {}
  marks[1] = known(row.tier) and row.tier or nil
  marks[#marks + 1] = M.at_least(row)
  return #marks > 0 and ("%s (%s)"):format(row.unit, table.concat(marks, ", ")) or row.unit
end

--- What a lower bound lacks.
---@return string
function M.lacking(row)
  if row.name:find "switches" then
    return "what a thread did between its last reading and its end is not counted"
  elseif row.tier == "conservation" then
    return "a member discards what its children used: it is lost when they end"
  end
  return "not all of it was counted"
end

local function same_artifact(report)
  local one, other = report.variants.baseline, report.variants.candidate
  return one.bundle_manifest_sha256 == other.bundle_manifest_sha256
    and one.executable_sha256 == other.executable_sha256
end

--- How the variants differ beside the artifact, as words before the list of report.differences.
---@param report table of two variants
---@return string
function M.differences(report)
  local words = same_artifact(report) and "The artifact is the same on both sides; "
    or "Apart from the artifact, "
  return words
    .. (
      #report.differences > 0 and "the variants differ in:"
      or "nothing differs between the variants."
    )
end

--- Values of one metric in the successful runs that have it, in the order of the rows.
---@param rows table[] the runs
---@param summaries table<integer, table> by slot
---@param name string of the summaries' metrics
---@return {slot: integer, variant: string, value: number}[]
function M.of_runs(rows, summaries, name)
  local list = {}
  for _, row in ipairs(rows) do
    local summary = row.status == "success" and summaries[row.slot]
    local metric = summary and (summary.metrics or {})[name]
    if metric and known(metric.value) then
      list[#list + 1] = { slot = row.slot, variant = row.variant, value = metric.value }
    end
  end
  return list
end

--- What runs were flagged with, in words.
---@param row table
---@return string[]
function M.flags(row)
  local words, others = {}, {}
  for _, flag in ipairs(row.flags) do
    if flag == "lower_bound" then
      words[1] = "at least what is shown: " .. M.lacking(row)
    else
      others[#others + 1] = flag
    end
  end
  words[#words + 1] = #others > 0 and "flagged " .. table.concat(others, ", ") or nil
  return words
end

--- The figures of runs that have no value; nil where there is none.
---@param row table
---@return string?
function M.partial(row)
  if not known(row.partial) then
    return nil
  end
  local low, high = M.short(row.partial.low * row.scale), M.short(row.partial.high * row.scale)
  local range = low == high and low or ("%s to %s"):format(low, high)
  return ("partial, in no statistic: %s %s"):format(range, row.unit)
end

return M
