-- SPDX-License-Identifier: Apache-2.0
-- From SIGTERM to verified gone: a cooperative application of 16 processes that was sampled before,
-- as in a session, 100 times.
local bench = require "bench"
bench.begin(...)

local RUNS <const>, BAR_MS <const> = 100, 20
local took, proven = {}, 0

for i = 1, RUNS do
  local app <close> = bench.launch_ready(
    { bench.bin "ppwork", "group", "16" },
    { output = "run-" .. i, interval_s = 1 }
  )
  assert(app:sample { duration_s = 0.1, interval_s = 0.05 })
  local verdict = app:stop { grace_s = 5 }
  proven = proven + (verdict.verdict == "echild" and not verdict.forced and 1 or 0)
  took[i] = verdict.verified_ns
end

local dir = bench.dir "floor"
local command = { bench.bin "ppfloor", "gone", tostring(RUNS), bench.bin "ppwork", "group", "16" }
local floor = bench.figures(bench.output_of(bench.start(command, dir), dir, 120))
local p95 = bench.quantile(took, 0.95)
bench.row {
  name = "SIGTERM to verified gone, 16 processes, p95 of " .. RUNS,
  ours = ("%s (median %s, longest %s)"):format(
    bench.ms(p95),
    bench.ms(bench.median(took)),
    bench.ms(bench.quantile(took, 1))
  ),
  floor = ("%s (median %s)"):format(bench.ms(floor.p95_ns), bench.ms(floor.median_ns)),
  peer = "mlx-guard 60 ms (its TERM to report, on its own host)",
  bar = "<= " .. BAR_MS .. " ms",
  ok = p95 <= BAR_MS * 1e6,
}
bench.row {
  name = "of these, proven by ECHILD and not forced",
  ours = ("%d of %d"):format(proven, RUNS),
  bar = "all",
  ok = proven == RUNS,
}
return bench.finish()
