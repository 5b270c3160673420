-- SPDX-License-Identifier: Apache-2.0
-- An A/B scenario outside the tree: own option, own label, Lua hook, own readiness.
--   pairperf-lua ./busy.lua --baseline OLD --candidate NEW --authorize-launch --calm 2s
return pairperf.scenario {
  name = "busy",
  label = "busy-window",
  summary = "the application works through a list",
  interval_s = 1,
  options = {
    calm_s = {
      type = "seconds",
      default = 1,
      min = 0,
      help = "wait after the application is ready",
    },
  },
  ready = function(run)
    local ok, err = run:poll("file ready", { timeout_s = 20 }, function()
      return run:has_file "ready"
    end)
    if ok then
      run:pause(run.options.calm_s)
    end
    return ok, err
  end,
  pre_sample_hook = { hook = "load" },
  hooks = {
    load = function()
      local home = os.getenv "PAIR_PERF_SANDBOX"
      for i = 1, math.huge do
        local file <close> = assert(io.open(home .. "/work", "w"))
        file:write(i, "\n")
        pairperf.sleep(0.1)
      end
    end,
  },
}
