-- SPDX-License-Identifier: Apache-2.0
--- The public table of scripts: `require "pairperf"`. Each piece can be called by itself.
local M = {}

-- public name -> module, loaded when first used
local MODULES = {
  json = "pairperf.json",
  units = "pairperf.units",
  options = "pairperf.options",
  stats = "pairperf.stats",
  plan = "pairperf.plan",
  guarding = "pairperf.guarding",
  probes = "pairperf.probes",
  summary = "pairperf.summary",
  report = "pairperf.report",
  verify = "pairperf.verify",
  compare = "pairperf.compare",
  evidence = "pairperf.evidence",
  hooks = "pairperf.hooks",
  child = "pairperf.child",
  errors = "pairperf.error",
}

-- public name -> module and field
local FUNCTIONS = {
  scenario = { "pairperf.scenario", "declare" },
  suite = { "pairperf.scenario", "suite" },
  builtin = { "pairperf.scenario", "builtin" },
  session = { "pairperf.controller", "session" },
  launch = { "pairperf.controller", "launch" },
  sleep = { "pairperf.controller", "sleep" },
  finished = { "pairperf.report_commands", "main" },
}

local CORE = {
  guard = true,
  manifest = true,
  digest = true,
  sandbox = true,
  supervisor = true,
  template = true,
  argv = true,
  fs = true,
  clock = true,
  window = true,
  counters = true,
  http = true,
  process = true,
}

local function find(name)
  if MODULES[name] then
    return require(MODULES[name])
  elseif FUNCTIONS[name] then
    return require(FUNCTIONS[name][1])[FUNCTIONS[name][2]]
  elseif CORE[name] then
    return require("pairperf.core")[name]
  end
  error(("pairperf has no '%s'"):format(tostring(name)), 3)
end

return setmetatable(M, {
  __index = function(self, name)
    local value = find(name)
    rawset(self, name, value)
    return value
  end,
})
