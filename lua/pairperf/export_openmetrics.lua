-- SPDX-License-Identifier: Apache-2.0
--- The values of a session's runs and its words as OpenMetrics text: base units, a family per
--- metric, a sample per run that has a value.
local format = require "pairperf.format"
local json = require "pairperf.json"
local metric_catalogue = require "pairperf.metric_catalogue"

local M = {}

-- printed unit -> unit of the family, factor from the stored value, and what of the metric's name
-- stands for the unit: that is left out and the unit put at the end
local UNITS = {
  ["% of one core"] = { unit = "cores", factor = 0.01, marks = { "_percent" } },
  ["MiB"] = { unit = "bytes", factor = 1, marks = { "_bytes" } },
  ["KiB per second"] = {
    unit = "bytes_per_second",
    factor = 1,
    marks = { "_bytes_per_second" },
  },
  ["per second"] = { unit = "per_second", factor = 1, marks = { "_per_second" } },
  ["raw per second"] = { unit = "per_second", factor = 1, marks = { "_per_second" } },
  ["ms"] = {
    unit = "seconds",
    factor = 0.001,
    marks = { "_ms_per_request", "_ms_per_token", "_ms" },
  },
}

local PER = { _ms_per_request = "seconds_per_request", _ms_per_token = "seconds_per_token" }

--- Name, unit and factor of a metric's family.
---@param entry pairperf.MetricEntry
---@return {name: string, unit: string, factor: number}
function M.family(entry)
  local rule = assert(UNITS[entry.unit], entry.unit)
  for _, mark in ipairs(rule.marks) do
    local first, last = entry.name:find(mark, 1, true)
    if first then
      local unit = PER[mark] or rule.unit
      local stem = entry.name:sub(1, first - 1) .. entry.name:sub(last + 1)
      return { name = ("pairperf_%s_%s"):format(stem, unit), unit = unit, factor = rule.factor }
    end
  end
  error("no unit in the name " .. entry.name)
end

local ESCAPES = { ["\\"] = "\\\\", ['"'] = '\\"', ["\n"] = "\\n" }

local function quoted(value)
  local text = type(value) == "number" and tostring(value) or format.text(value)
  return '"' .. text:gsub('[\\"\n]', ESCAPES) .. '"'
end

-- Pairs of name and value, in their order.
local function labels(list)
  local parts = {}
  for i, pair in ipairs(list) do
    parts[i] = pair[1] .. "=" .. quoted(pair[2])
  end
  return "{" .. table.concat(parts, ",") .. "}"
end

local function run_labels(run)
  return {
    { "scenario", run.scenario },
    { "variant", run.variant },
    { "repetition", run.repetition },
    { "slot", run.slot },
  }
end

local function head(out, name, unit, help)
  out[#out + 1] = ("# TYPE %s gauge\n"):format(name)
  out[#out + 1] = unit and ("# UNIT %s %s\n"):format(name, unit) or nil
  out[#out + 1] = ("# HELP %s %s\n"):format(name, (help:gsub('[\\"\n]', ESCAPES)))
end

local function sample(out, name, pairs_of_labels, value)
  out[#out + 1] = ("%s%s %s\n"):format(name, labels(pairs_of_labels), assert(json.encode(value)))
end

-- Integers stay integers where the unit does.
local function scaled(value, factor)
  return factor == 1 and value or value * factor
end

local function metric_family(out, entry, report, summaries)
  local family, begun = M.family(entry), false
  for _, run in ipairs(report.runs) do
    local summary = summaries[run.slot]
    local metric = run.status == "success" and summary and summary.metrics[entry.name]
    if metric and metric.value ~= nil and metric.value ~= json.null then
      if not begun then
        local help = entry.title .. ", of each successful run."
        head(out, family.name, family.unit, help)
        begun = true
      end
      local list = run_labels(run)
      list[#list + 1] = metric.tier ~= json.null and metric.tier and { "tier", metric.tier } or nil
      sample(out, family.name, list, scaled(metric.value, family.factor))
    end
  end
end

local function session_family(out, report)
  local name = "pairperf_session_info"
  head(out, name, nil, "Version that measured, and how; always 1.")
  sample(out, name, {
    { "version", report.tool.version },
    { "created", report.created_utc },
    { "seed", report.seed },
    { "first", report.first },
    { "diagnostic_only", tostring(report.diagnostic_only) },
  }, 1)
end

local function run_family(out, report)
  local name = "pairperf_run_success"
  head(out, name, nil, "1 for a successful run, 0 for a failed, skipped or pending one.")
  for _, run in ipairs(report.runs) do
    sample(out, name, run_labels(run), run.status == "success" and 1 or 0)
  end
end

local function verdict_family(out, report)
  if report.comparison == json.null then
    return
  end
  local name = "pairperf_verdict"
  head(out, name, nil, "The word about a metric, as a label; always 1.")
  for _, scenario in ipairs(report.scenarios) do
    for _, row in ipairs(scenario.metrics) do
      sample(out, name, {
        { "scenario", scenario.name },
        { "metric", row.name },
        { "family", row.comparison.family },
        { "verdict", row.comparison.verdict },
      }, 1)
    end
  end
end

--- The values and words of a session.
---@param report table as built
---@param summaries table<integer, table> by slot
---@return string openmetrics ends with # EOF
function M.text(report, summaries)
  local out = {}
  session_family(out, report)
  run_family(out, report)
  for _, entry in ipairs(metric_catalogue) do
    metric_family(out, entry, report, summaries)
  end
  verdict_family(out, report)
  out[#out + 1] = "# EOF\n"
  return table.concat(out)
end

return M
