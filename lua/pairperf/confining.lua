-- SPDX-License-Identifier: Apache-2.0
--- --confine: where the application may write, what the kernel does not keep it from, and whether
--- that can be had here at all.
local core = require "pairperf.core"
local errors = require "pairperf.error"

local M = {}

local IOCTL_ABI <const> = 5

-- What stays open whatever the kernel; each reads as a part of a list.
local OPEN = {
  "chmod, chown, utime and extended attributes, of whatever this user may change",
  "signals to other processes of this user",
  "sockets: the network, and what other programs do when they are asked (D-Bus, daemons)",
  "what hooks, checks and ready commands do",
}

--- What confinement does not cover under an ABI of Landlock.
---@param abi integer
---@return string[]
function M.not_covered(abi)
  local list = table.move(OPEN, 1, #OPEN, 1, core.json.array {})
  if abi < IOCTL_ABI then
    list[#list + 1] = ("ioctl on devices (Landlock ABI %d is needed)"):format(IOCTL_ABI)
  end
  return list
end

--- How a session confines its applications, as the plan keeps it.
---@param values table option values
---@return table? state {abi, writable, not_covered}; nil when it was not asked for
---@return string? problem it was asked for and cannot be had
function M.resolve(values)
  local paths = core.json.array {}
  for i, path in ipairs(values.writable or {}) do
    local real, err = core.fs.realpath(path)
    if not real then
      return nil, ("option '--writable': '%s': %s"):format(path, errors.reason(err))
    end
    paths[i] = real
  end
  if not values.confine then
    return nil, paths[1] and "option '--writable' has no place without '--confine'"
  end
  local found, err = core.guard.confinement()
  if not found then
    return nil,
      ("option '--confine': writes cannot be confined here: %s"):format(errors.reason(err))
  end
  return { abi = found.abi, writable = paths, not_covered = M.not_covered(found.abi) }
end

--- The paths that the application of a run may write to; nil: it is not confined.
---@param state table? as resolve() gives it
---@param home string?
---@return string[]?
function M.paths(state, home)
  if not state then
    return nil
  end
  local paths = table.move(state.writable, 1, #state.writable, 1, {})
  paths[#paths + 1] = home
  return paths
end

--- As sentences, for report and --dry-run.
---@param state table
---@return string[]
function M.lines(state)
  local also = #state.writable > 0 and ", and " .. table.concat(state.writable, ", ") or ""
  return {
    ("Confined by Landlock (ABI %d), root too: the application and all that it starts "):format(
      state.abi
    )
      .. "can write, make, remove, rename and link only in the home of the run"
      .. also
      .. ", and on devices that keep nothing; it gains no privileges. Reading is free.",
    "Not covered: " .. table.concat(state.not_covered, "; ") .. ".",
  }
end

return M
