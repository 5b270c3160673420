-- SPDX-License-Identifier: Apache-2.0
-- A member whose memory roll-up does not return for 10 s: frames and the stop go on in time.
-- proves: SMP-6
local bench = require "bench"
bench.begin(...)

local NAME <const>, INTERVAL_S <const> = "memory roll-up held for 10 s", 0.5

local app <close> = bench.launch(
  { bench.bin "ppstall", "10" },
  { output = "app", interval_s = INTERVAL_S }
)
local ready = bench.until_true(10, function()
  return app.child:ended() or (bench.read(app.dir .. "/app-stdout") or ""):match "ready (%d+)"
end)
local stuck = math.tointeger(tonumber(ready))
if not stuck then
  local why = (bench.read(app.dir .. "/app-stderr") or ""):gsub("\n", " ")
  bench.cannot(NAME, why .. "(needs root and /dev/fuse)")
  return bench.finish()
end

local window = assert(app:sample { duration_s = 4, interval_s = INTERVAL_S })
-- The proof that it is stuck: a plain reader does not come back either.
local plain = ("timeout -s KILL 1 cat /proc/%d/smaps_rollup"):format(stuck)
local returned = os.execute(plain .. " >/dev/null 2>&1")
local verdict = app:stop { grace_s = 5 }

local longest, blocked, known, before = 0, 0, 0, nil
for _, frame in ipairs(bench.frames(app)) do
  if frame.window > 0 then
    longest = math.max(longest, before and frame.t_ns - before or 0)
    before = frame.t_ns
    for _, proc in ipairs(frame.procs) do
      if proc.pid == stuck and frame.memory_pass then
        blocked = blocked + (proc.missing.pss_bytes == "blocked" and 1 or 0)
        known = known + (bench.known(proc.pss_bytes) and 1 or 0)
      end
    end
  end
end
if returned then
  bench.cannot(NAME, "the memory lock was not held")
  return bench.finish()
end
bench.row {
  name = NAME .. ": frames at 500 ms",
  ours = ("%d missed, longest gap %s"):format(window.missed, bench.ms(longest)),
  peer = "cat had to be killed",
  bar = "no gap above 1 s",
  ok = longest > 0 and longest <= 2 * INTERVAL_S * 1e9,
}
bench.row {
  name = NAME .. ": readings",
  ours = ("%d typed blocked, %d as numbers"):format(blocked, known),
  bar = "blocked, none a number",
  ok = blocked > 0 and known == 0,
}
bench.row {
  name = NAME .. ": SIGTERM to verified gone",
  ours = ("%s, %s%s"):format(
    bench.ms(verdict.verified_ns),
    verdict.verdict,
    verdict.forced and ", forced" or ""
  ),
  bar = "echild within 1 s",
  ok = verdict.verdict == "echild" and verdict.verified_ns <= 1e9,
}
return bench.finish()
