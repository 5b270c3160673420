-- SPDX-License-Identifier: Apache-2.0
--- The row of a metric in a report.
local M = {}

--- Of one scenario; nil where no run has a value.
---@param scenario table of report.scenarios
---@param metric string
---@return table?
function M.of(scenario, metric)
  for _, row in ipairs(scenario.metrics) do
    if row.name == metric then
      return row
    end
  end
end

--- Of the scenario of that name.
---@param report table
---@param scenario_name string
---@param metric string
---@return table?
function M.find(report, scenario_name, metric)
  for _, scenario in ipairs(report.scenarios) do
    if scenario.name == scenario_name then
      return M.of(scenario, metric)
    end
  end
end

return M
