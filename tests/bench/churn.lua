-- SPDX-License-Identifier: Apache-2.0
-- The supervisor's memory while processes leave the group all the time.
--   churn.lua BUILD WORK SECONDS
local bench = require "bench"
local pairperf = require "pairperf"
local build, work, seconds = ...
bench.begin(build, work)

local RSS_BAR <const>, GROWTH_BAR <const> = 4 << 20, 256 << 10

local app <close> = bench.launch(
  { bench.bin "ppwork", "churn", seconds },
  { output = "app", interval_s = 0.05 }
)
local supervisor = bench.supervisor_of(app)
local levels = {}
while not app.child:ended() do
  pairperf.sleep(0.5)
  levels[#levels + 1] = bench.rss_of(supervisor)
end
local escapes = app.child:state().escapees
local verdict = app:stop { grace_s = 5 }

local function median_of(from, to)
  return bench.median(
    table.move(levels, math.ceil(from * #levels), math.floor(to * #levels), 1, {})
  )
end

local growth = median_of(0.8, 1) - median_of(0.2, 0.4)
bench.row {
  name = ("%s s of escape churn: supervisor's RSS"):format(seconds),
  ours = ("%s at most, %+d KiB from the second to the last fifth, %d escapes"):format(
    bench.mib(bench.quantile(levels, 1)),
    growth // 1024,
    escapes
  ),
  bar = "<= 4 MiB, growth <= 256 KiB",
  ok = bench.quantile(levels, 1) <= RSS_BAR and growth <= GROWTH_BAR,
}
bench.row {
  name = "churn: verdict",
  ours = verdict.verdict,
  bar = "echild",
  ok = verdict.verdict == "echild",
}
return bench.finish()
