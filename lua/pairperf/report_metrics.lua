-- SPDX-License-Identifier: Apache-2.0
--- The rows of a comparison: per metric the statistics of each variant over its successful runs,
--- the difference of the medians, the source that all of them share, and what it shows. Pure.
local catalogue = require "pairperf.metric_catalogue"
local compare = require "pairperf.compare"
local json = require "pairperf.json"
local noise_floor = require "pairperf.noise_floor"
local measured = require "pairperf.measured"
local report_values = require "pairperf.report_values"
local stats = require "pairperf.stats"

local M = {}

local known, or_null = measured.known, measured.or_null

--- Runs in the form that stats.aggregate takes.
---@param rows table[] of report.runs
---@param summaries table<integer, table> by slot
function M.value_runs(rows, summaries)
  local runs = {}
  for i, row in ipairs(rows) do
    local summary = summaries[row.slot]
    local values = {}
    for name, metric in pairs(summary and summary.metrics or {}) do
      values[name] = metric.value
    end
    runs[i] = { status = row.status, metrics = values }
  end
  return runs
end

local function all_have(runs, name)
  local any = false
  for _, run in ipairs(runs) do
    if run.status == "success" then
      any = true
      if not known(run.metrics[name]) then
        return false
      end
    end
  end
  return any
end

-- The best tier that all successful runs of all variants have.
local function common_tier(sides, entry)
  local name = entry.tier_of or entry.name
  for _, tier in ipairs(entry.tiers) do
    local everywhere, any = true, false
    for _, side in pairs(sides) do
      local successes = stats.aggregate(side, name).successful
      any = any or successes > 0
      everywhere = everywhere and (successes == 0 or all_have(side, name .. "_" .. tier))
    end
    if any and everywhere then
      return tier
    end
  end
end

local function aggregate(runs, name)
  local a = stats.aggregate(runs, name)
  return {
    scheduled = a.scheduled,
    successful = a.successful,
    missing = a.missing,
    n = a.n,
    median = or_null(a.median),
    min = or_null(a.min),
    max = or_null(a.max),
    iqr = or_null(a.iqr),
  }
end

local function successes(rows)
  local list = {}
  for _, row in ipairs(rows) do
    list[#list + 1] = row.status == "success" and row or nil
  end
  return #list > 0 and list or rows
end

-- Flags and reasons of this metric, each once: of the successful runs, or of all when none is.
local function remarks(rows, summaries, name)
  local flags, reasons, metric_tier = {}, {}, nil
  for _, row in ipairs(successes(rows)) do
    local metric = summaries[row.slot] and (summaries[row.slot].metrics or {})[name]
    if metric then
      for _, flag in ipairs(metric.flags) do
        flags[flag] = true
      end
      if known(metric.reason) then
        reasons[metric.reason] = true
      end
      metric_tier = known(metric.tier) and metric.tier or metric_tier
    end
  end
  local function sorted(set)
    local list = json.array {}
    for item in pairs(set) do
      list[#list + 1] = item
    end
    table.sort(list)
    return list
  end
  return sorted(flags), sorted(reasons), metric_tier
end

-- Successful runs of one variant whose value is a lower bound.
local function lower_bounds(context, variant, name)
  local count = 0
  for _, row in ipairs(context.rows) do
    local summary = row.status == "success"
      and row.variant == variant
      and context.summaries[row.slot]
    local metric = summary and (summary.metrics or {})[name]
    for _, flag in ipairs(metric and known(metric.value) and metric.flags or {}) do
      count = count + (flag == "lower_bound" and 1 or 0)
    end
  end
  return count
end

-- Smallest and largest of a number that runs state beside the value; nil where none does.
local function stated(context, name, field)
  local low, high
  for _, row in ipairs(successes(context.rows)) do
    local summary = context.summaries[row.slot]
    local metric = summary and (summary.metrics or {})[name]
    local number = metric and metric[field]
    if known(number) then
      low, high = math.min(low or number, number), math.max(high or number, number)
    end
  end
  return low, high
end

local function difference(sides)
  local b, c = sides.baseline, sides.candidate
  if not c or not known(b.median) or not known(c.median) then
    return json.null
  end
  local absolute = c.median - b.median
  return {
    absolute = absolute,
    percent = b.median > 0 and 100 * absolute / b.median or json.null,
  }
end

-- The metric of the summaries that a row shows: {name, tier}; no name: no source covers all runs.
local function source_of(entry, context)
  if not entry.tiers then
    return { name = entry.name }
  end
  local tier = common_tier(context.sides, entry)
  return { name = tier and entry.name .. "_" .. tier, tier = tier }
end

-- What runs say beside their values.
local function add_remarks(row, context, source)
  local own_tier
  row.flags, row.reasons, own_tier =
    remarks(context.rows, context.summaries, source.name or row.name)
  row.tier = or_null(source.name and (source.tier or own_tier) or nil)
  if not source.name then
    row.reasons[#row.reasons + 1] = "no source that all successful runs have"
  end
  local name = source.name or row.name
  local _, largest_error = stated(context, name, "error")
  local fewest, most = stated(context, name, "passes")
  local low, high = stated(context, name, "partial")
  row.error = or_null(largest_error)
  row.passes = fewest and { fewest = fewest, most = most } or json.null
  row.partial = low and { low = low, high = high } or json.null
end

local function comparison(entry, context)
  local source = source_of(entry, context)
  local row = {
    name = entry.name,
    title = entry.title,
    unit = entry.unit,
    scale = entry.scale,
    detail = entry.detail or false,
    note = or_null(entry.note),
  }
  add_remarks(row, context, source)
  for variant, runs in pairs(context.sides) do
    -- Runs measured by different sources are not put together.
    row[variant] = aggregate(runs, source.name or "")
    row[variant].lower_bound = lower_bounds(context, variant, source.name)
  end
  row.difference = difference(row)
  row.comparison = json.null
  if context.sides.candidate then
    local values = source.name
        and report_values.of_runs(context.rows, context.summaries, source.name)
      or {}
    local floor = noise_floor.margin(context.floors, entry.name, row.tier)
    row.comparison = compare.metric(entry, values, floor)
  end
  return row
end

local function has_value(row)
  return row.baseline.n > 0 or (row.candidate ~= nil and row.candidate.n > 0)
end

local function recorded(context, entry)
  for _, row in ipairs(context.rows) do
    local summary = context.summaries[row.slot]
    if summary and (summary.metrics or {})[entry.name] then
      return true
    end
  end
  return false
end

--- Rows with values, and the names and reasons of those without.
---@param context {rows: table[], summaries: table<integer, table>, sides: table<string, table[]>,
---  floors: table[]?}
---@param plan table
---@return table[] rows
---@return table[] absent
function M.rows(context, plan)
  local rows, absent = json.array {}, json.array {}
  for _, entry in ipairs(catalogue) do
    local wanted = not entry.excluded or #plan.excluded_components > 0
    if wanted and recorded(context, entry) then
      local row = comparison(entry, context)
      if has_value(row) then
        rows[#rows + 1] = row
      else
        absent[#absent + 1] = {
          name = entry.name,
          title = entry.title,
          unit = entry.unit,
          scale = entry.scale,
          reasons = row.reasons,
          partial = row.partial,
        }
      end
    end
  end
  return rows, absent
end

return M
