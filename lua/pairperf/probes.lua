-- SPDX-License-Identifier: Apache-2.0
--- What the machine is and how it stood, best effort and read-only: on Linux from files, on macOS
--- from commands of the system. Every probe is {value, reason, source}: a value, or null with the
--- reason.
local darwin = require "pairperf.probes_darwin"
local linux = require "pairperf.probes_linux"
local probe = require("pairperf.probe").of

local M = {}

local getenv = os.getenv

local NONE = {}

function NONE.static()
  return { all_others = probe("this system", nil, "no probe for this system is built") }
end
NONE.around_run = NONE.static

local function system(root)
  return linux.is_here(root) and linux or darwin.is_here(root) and darwin or NONE
end

local function environment(name)
  return probe("environment " .. name, getenv(name), "not set")
end

local function display()
  return {
    display = environment "DISPLAY",
    wayland = environment "WAYLAND_DISPLAY",
    session_type = environment "XDG_SESSION_TYPE",
    desktop = environment "XDG_CURRENT_DESKTOP",
  }
end

local function finished(result, kind)
  result.schema = "pairperf-probes-1"
  result.kind = kind
  result.display = result.display or display()
  return result
end

--- What does not change while the session runs.
---@param root string? prefix of the system's files and commands; for tests
---@return table
function M.static(root)
  root = root or ""
  return finished(system(root).static(root), "static")
end

--- How the machine stands at this moment; taken before and after each run.
---@param root string? as for static()
---@return table
function M.around_run(root)
  root = root or ""
  return finished(system(root).around_run(root), "around_run")
end

--- Time of all CPUs together so far, in ticks; nil where it is not told.
---@param root string? as for static()
---@return {busy: integer, total: integer}?
function M.cpu_ticks(root)
  return linux.cpu_ticks(root or "")
end

return M
