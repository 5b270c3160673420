-- SPDX-License-Identifier: Apache-2.0
--- The summaries of a session's runs as CSV (RFC 4180): a line per run and metric, and per
--- component of a run. Names of unknown origin cannot become formulas of a spreadsheet.
local format = require "pairperf.format"
local json = require "pairperf.json"
local measured = require "pairperf.measured"
local metric_catalogue = require "pairperf.metric_catalogue"

local M = {}

local known = measured.known

M.COLUMNS = {
  "scenario",
  "slot",
  "variant",
  "repetition",
  "status",
  "component",
  "metric",
  "unit",
  "value",
  "tier",
  "flags",
  "reason",
}

local UNIT_OF_COMPONENT = { cpu_percent = "%" }

-- What a spreadsheet takes for the beginning of a formula, in full width, too.
local FORMULA = { "[=+%-@]", "\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}" }

local function guarded(text)
  for _, beginning in ipairs(FORMULA) do
    if text:find("^ *" .. beginning) then
      return "'" .. text
    end
  end
  return text
end

-- A number as it is stored, or text that is only text.
local function cell(value)
  if not known(value) then
    return ""
  elseif type(value) == "number" then
    return assert(json.encode(value))
  end
  local text = guarded(format.text(value))
  if text:find '[",\r\n]' then
    return '"' .. text:gsub('"', '""') .. '"'
  end
  return text
end

local function add_line(lines, cells)
  local parts = {}
  for i, name in ipairs(M.COLUMNS) do
    parts[i] = cell(cells[name])
  end
  lines[#lines + 1] = table.concat(parts, ",") .. "\r\n"
end

-- A line that begins as all lines of its run do.
local function of_run(run, fields)
  for _, name in ipairs { "scenario", "slot", "variant", "repetition", "status" } do
    fields[name] = run[name]
  end
  return fields
end

local function add_metrics(lines, run, metrics)
  for _, entry in ipairs(metric_catalogue) do
    local metric = metrics[entry.name]
    if metric then
      add_line(
        lines,
        of_run(run, {
          metric = entry.name,
          unit = metric.unit,
          value = metric.value,
          tier = metric.tier,
          flags = table.concat(metric.flags, " "),
          reason = metric.reason,
        })
      )
    end
  end
end

local function sorted_names(map)
  local names = {}
  for name in pairs(map) do
    names[#names + 1] = name
  end
  table.sort(names)
  return names
end

-- Why a component has no value: the tree has none for the same reason.
local function component_reason(metrics, name)
  local whole = measured.whole_of(metrics, name)
  return whole and known(whole.reason) and whole.reason or "not measured"
end

local function add_components(lines, run, components, metrics)
  for _, component in ipairs(sorted_names(components)) do
    local one = components[component]
    for _, name in ipairs(sorted_names(one)) do
      local unit = UNIT_OF_COMPONENT[name] or name:find "_bytes$" and "B"
      if unit and (one[name] == json.null or type(one[name]) == "number") then
        local fields = { component = component, metric = name, unit = unit, value = one[name] }
        fields.reason = not known(one[name]) and component_reason(metrics, name) or nil
        add_line(lines, of_run(run, fields))
      end
    end
  end
end

--- The runs of a session.
---@param report table as built
---@param summaries table<integer, table> by slot
---@return string csv
function M.text(report, summaries)
  local lines = { table.concat(M.COLUMNS, ",") .. "\r\n" }
  for _, run in ipairs(report.runs) do
    local summary, before = summaries[run.slot] or {}, #lines
    local metrics = summary.metrics or {}
    add_metrics(lines, run, metrics)
    add_components(lines, run, summary.components or {}, metrics)
    if #lines == before then -- nothing was measured, but the run is not left out
      add_line(lines, of_run(run, { reason = run.reason }))
    end
  end
  return table.concat(lines)
end

return M
