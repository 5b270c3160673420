-- SPDX-License-Identifier: Apache-2.0
-- What the reports of a long session cost: 10 runs of 2,400 frames of 16 processes, from raw
-- evidence, by the command itself. Words: BUILD WORK.
local bench = require "bench"
local long_session = require "long_session"
local pairperf = require "pairperf"

local build, work = ...
bench.begin(build, work)

local CPU_S <const>, MEMORY <const> = 5, 200 << 20

-- CPU and highest memory of a command, as GNU time says them.
local function cost_of(name, command)
  local told = ("%s/%s.time"):format(work, name)
  local timed = "/usr/bin/time -f 'user=%%U system=%%S rss_kib=%%M' -o '%s' %s >'%s/%s.out' 2>&1"
  local words = timed:format(told, command, work, name)
  assert(os.execute(words), name .. " failed: see its .out")
  local found = bench.figures(bench.read(told))
  return found.user + found.system, math.tointeger(found.rss_kib) << 10
end

local function row(name, cpu_s, rss_bytes)
  bench.row {
    name = name,
    ours = ("%.2f s CPU, %s"):format(cpu_s, bench.mib(rss_bytes)),
    bar = ("<= %d s CPU, <= %s"):format(CPU_S, bench.mib(MEMORY)),
    ok = cpu_s <= CPU_S and rss_bytes <= MEMORY,
  }
end

local dir = work .. "/session"
long_session.write(dir)
local report = ("'%s/pairperf-lua' report '%s'"):format(build, dir)
local size = ("%d runs x %d frames x %d processes"):format(
  long_session.RUNS,
  long_session.FRAMES,
  long_session.PROCESSES
)
row("report of " .. size .. ", sealed for the first time", cost_of("first", report))
local cpu_s, rss_bytes = cost_of("again", report)
row("  and again, over the seal", cpu_s, rss_bytes)

local began = os.clock()
assert(require("pairperf.digests").seal(dir))
local sealing_s = os.clock() - began
bench.row {
  name = "  of that: digests and seal",
  ours = ("%.2f s CPU"):format(sealing_s),
}
bench.row {
  name = "  of that: reading, summaries and reports",
  ours = ("%.2f s CPU"):format(cpu_s - sealing_s),
}
local page = assert(pairperf.fs.stat(dir .. "/report.html"))
bench.row {
  name = "  report.html",
  ours = ("%d bytes"):format(page.size),
  bar = "<= 2000000 bytes",
  ok = page.size <= 2000000,
}
os.execute(("rm -rf '%s'"):format(dir)) -- 270 MiB that can be made again
return bench.finish()
