-- SPDX-License-Identifier: Apache-2.0
--- Whether this process was told to start applications: set once from the command line.
local M = { granted = false }

--- The words of a command line that stand before `--` decide; --help and --dry-run take it back.
---@param args string[]
function M.read(args)
  local given = {}
  for _, word in ipairs(args) do
    if word == "--" then
      break
    end
    given[word] = true
  end
  M.granted = given["--authorize-launch"] and not given["--help"] and not given["--dry-run"]
    or false
end

return M
