-- SPDX-License-Identifier: Apache-2.0
--- The environment that a session's options ask for, before anything is created.
local core = require "pairperf.core"
local errors = require "pairperf.error"

local M = {}

local CONTRACT <const> = "^PAIR_PERF_"

local function check_hook_env(draft, add)
  for name in pairs(draft.hook_env) do
    if name:find(CONTRACT) then
      add(
        "refused",
        ("option '--hook-env': %s is what the harness tells hooks and checks"):format(name)
      )
    end
  end
end

local function check_passed(draft, add)
  for _, name in ipairs(draft.values["pass-env"] or {}) do
    if name:find "^LD_" or name:find "^DYLD_" then
      add(
        "refused",
        ("option '--pass-env': %s changes what the loader puts into the application"):format(name)
      )
    elseif not os.getenv(name) then
      add("warning", ("option '--pass-env': %s is not set, so nothing is passed"):format(name))
    end
  end
end

local function check_variant(draft, name, add)
  local variant = draft.variants[name]
  local ok, err = true, nil
  if variant then
    ok, err = core.sandbox.environment {
      home = draft.output,
      set = variant.env_set,
      pass = variant.env_pass,
      extra = draft.hook_env,
    }
  end
  if not ok then
    add("refused", ("environment of the %s: %s"):format(name, errors.reason(err)))
  end
end

--- Checks --env, --pass-env and --hook-env.
---@param draft pairperf.Draft
---@param add fun(level: string, text: string)
function M.examine(draft, add)
  check_hook_env(draft, add)
  check_passed(draft, add)
  for _, name in ipairs(draft.names) do
    check_variant(draft, name, add)
  end
end

return M
