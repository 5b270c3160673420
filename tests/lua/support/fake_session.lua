-- SPDX-License-Identifier: Apache-2.0
--- A session of one scenario and one variant on a fake host.
local fake = dofile "tests/lua/support/fake_core.lua"

local M = {}

local function quiet_progress()
  local silent = function() end
  return { phase = silent, tick = silent, starting = silent, finished = silent, closing = silent }
end

local function new_session()
  return {
    output = "/out",
    guard_paths = { "/usr/local/bin/nvpair" },
    hook_env = {},
    progress = quiet_progress(),
    log = { line = function() end },
    real_home = "/root",
    values = {
      ["ready-timeout"] = 60,
      ["quit-timeout"] = 30,
      ["hook-timeout"] = 30,
      ["post-run-timeout"] = 30,
      ["hook-output-cap"] = 1024,
    },
    scenarios = {
      busy = {
        name = "busy",
        label = "busy",
        warmup_s = 2,
        duration_s = 5,
        interval_s = 1,
        options = {},
      },
    },
    variants = { baseline = { path = "/app", args = {}, env_set = {}, env_pass = {} } },
  }
end

---@return table host
---@return table run the module under test
---@return table session
function M.fresh()
  local host, run = fake.fresh "pairperf.run"
  host.commands["/app"] = {}
  return host, run, new_session()
end

--- Runs the session's only slot.
function M.execute(run, session)
  return run.execute(
    session,
    { slot = 0, scenario = "busy", variant = "baseline", repetition = 1, directory = "busy/run-01" }
  )
end

--- The first event of a kind, or the nth.
function M.event(host, kind, nth)
  local left = nth or 1
  for _, one in ipairs(host.texts) do
    left = left - (one.kind == kind and 1 or 0)
    if left == 0 then
      return one
    end
  end
end

return M
