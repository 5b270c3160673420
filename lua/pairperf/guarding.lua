-- SPDX-License-Identifier: Apache-2.0
--- The guard over system launchers: what it finds before a session and around every run. Nothing
--- is ever restored or deleted, and this is no sandbox.
local core = require "pairperf.core"

local M = {}

M.LAUNCHER = "/usr/local/bin/nvpair"

M.WAYS = {
  "--confine (Linux): the kernel keeps the application from writing there, root too; what it does "
    .. "not cover is said",
  "run as a user who cannot write that directory: the guard then holds by permission",
  "--allow-system-launcher-write: a write becomes possible; a change still fails the run, "
    .. "nothing is confined",
  "--dry-run: look at the plan and at the guard's state; nothing is started",
}

--- The guarded paths: the launcher is never dropped.
---@param more string[]?
---@return string[]
function M.paths(more)
  local paths = { M.LAUNCHER }
  for _, path in ipairs(more or {}) do
    paths[#paths + 1] = path
  end
  return paths
end

--- The directory that makes a path writable, nil when none does.
---@param path string
---@param confined_to string[]? where alone the application may write; nil: it is not confined
---@return string? directory
---@return string? reason why an answer is missing, which counts as writable
function M.writable(path, confined_to)
  local answer, err = core.guard.writable(path, confined_to and { confined_to = confined_to })
  if not answer then
    return path, tostring(err)
  end
  return answer.writable and answer.directory or nil
end

--- Snapshots of all paths, by path.
---@return table? snapshots
---@return string? problem
function M.snapshot(paths)
  local snapshots = {}
  for _, path in ipairs(paths) do
    local snapshot, err = core.guard.snapshot(path)
    if not snapshot then
      return nil, ("%s cannot be read and verified: %s"):format(path, tostring(err))
    end
    snapshots[path] = snapshot
  end
  return snapshots
end

--- What changed between two snapshots: "PATH: field, field"; nil when nothing did.
---@return string? problem
---@return string[] fields
function M.changes(paths, before, after)
  local lines, all = {}, {}
  for _, path in ipairs(paths) do
    local fields = core.guard.differences(before[path], after[path])
    if #fields > 0 then
      lines[#lines + 1] = path .. ": " .. table.concat(fields, ", ")
      table.move(fields, 1, #fields, #all + 1, all)
    end
  end
  return #lines > 0 and "changed: " .. table.concat(lines, "; ") or nil, all
end

return M
