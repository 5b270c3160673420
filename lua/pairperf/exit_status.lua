-- SPDX-License-Identifier: Apache-2.0
--- Exit statuses of A/B sessions and reports (CLI-7): one table for the code, --help and the docs.
local stats = require "pairperf.stats"

local M = {}

M.OK, M.FAILED_RUNS, M.USAGE, M.CANCELLED, M.GATE, M.INTERNAL = 0, 1, 2, 3, 4, 70

--- In order of precedence; the first that applies is the status.
M.TABLE = {
  { M.INTERNAL, "an error inside the harness or a script" },
  { M.USAGE, "usage error or refusal; nothing was started" },
  { M.CANCELLED, "cancelled by SIGINT, SIGTERM or SIGHUP" },
  { M.FAILED_RUNS, "more failed or skipped runs than --allow-failed" },
  { M.GATE, "a gate or screen that was asked for failed, or stayed open" },
  { M.OK, "none of these" },
}

--- The table as lines of text.
---@return string
function M.text()
  local lines = {}
  for i, row in ipairs(M.TABLE) do
    lines[i] = ("%4d  %s"):format(row[1], row[2])
  end
  return table.concat(lines, "\n")
end

--- The exit status of a session that got past its options.
---@param outcome table as pairperf.stats.exit_code takes it, and `script_error`
---@return integer
function M.decide(outcome)
  return outcome.script_error and M.INTERNAL or stats.exit_code(outcome)
end

return M
