-- SPDX-License-Identifier: Apache-2.0
-- Frames every 50 ms for 30 s, while the script sits in os.execute for 20 of them; a bare timer
-- program beside it.
-- proves: SMP-7
local bench = require "bench"
bench.begin(...)

local SECONDS <const>, INTERVAL_S <const>, SLACK_NS <const> = 30, 0.05, 2e6

local app <close> = bench.launch_ready(
  { bench.bin "ppwork", "group", "16" },
  { output = "app", interval_s = INTERVAL_S }
)
local dir = bench.dir "timer"
local timer = bench.start({ bench.bin "ppfloor", "timer", "50", tostring(SECONDS * 20) }, dir)
assert(app.child.supervisor:sample { duration_s = SECONDS, interval_s = INTERVAL_S })
os.execute "sleep 20"
local window = bench.until_true(60, function()
  local state = app.child:state().window
  return state and state.done and state
end)
local bare = bench.figures(bench.output_of(timer, dir, 20))
app:stop { grace_s = 5 }

local late = {}
for _, frame in ipairs(bench.frames(app)) do
  if frame.window > 0 then
    late[#late + 1] = bench.began_ns(frame) - frame.scheduled_ns
  end
end
bench.row {
  name = "frames missed in 30 s at 50 ms",
  ours = ("%d of %d"):format(window.missed, SECONDS * 20 + 1),
  floor = tostring(bare.missed),
  bar = "none",
  ok = window.missed == 0,
}
local p99 = bench.quantile(late, 0.99)
bench.row {
  name = "lateness of a frame, p99",
  ours = ("%s = %+.2f ms (median %s, most %s)"):format(
    bench.ms(p99),
    (p99 - bare.late_p99_ns) / 1e6,
    bench.ms(bench.median(late)),
    bench.ms(bench.quantile(late, 1))
  ),
  floor = ("%s (median %s)"):format(bench.ms(bare.late_p99_ns), bench.ms(bare.late_median_ns)),
  bar = "floor + 2 ms",
  ok = p99 <= bare.late_p99_ns + SLACK_NS,
}
return bench.finish()
