-- SPDX-License-Identifier: Apache-2.0
-- What sampling 16 processes costs at 50 ms, by the cgroup leaf, by notices of births (connector)
-- or by the children walk alone, with so many other processes in the system; the bare reads and
-- psutil on the same application. The caller switches off what is not to be used (PP_KERNEL).
--   cost.lua BUILD WORK cgroup|connector|walk PROCESSES ticking|group
-- ticking: each of the 16 wakes every 20 ms; group: they sleep. Bars in milliseconds and percent
-- are those of a tree at rest, as those who set them measured it beside a bare loop of their own
-- (floor.c, reference). A bar holds as it stands, with nothing beside us, or, since machines
-- differ, by ratio: we take no more of what that loop takes here than the bar is of what it took
-- there.
-- psutil's scan, in a system of 200 processes, is held against a tree at rest, too, and against
-- frames without PSS, which it does not read.
-- A tree at work makes every counter move; what that may cost the same reads alone tell: twice as
-- much is the bar of both.
-- Whatever ours is held against runs at the same time; of such runs the middle one counts.
-- proves: SMP-2, SMP-8
local bench = require "bench"
local pairperf = require "pairperf"
local build, work, how, system, kind = ...
bench.begin(build, work)

local PASSES <const>, INTERVAL_S <const> = 100, 0.05
local RUNS <const>, FLOOR_RUNS <const> = 3, 5
local RSS_BAR <const> = 4 << 20
-- `there`: what the bare loop took on the machine that the bars are from; of each range (0.18 to
-- 0.19 ms, and 0.34 to 0.38 % of a core by cgroup, 0.87 to 1.02 % by walk) the end that leaves us
-- least; without the 5 us of reading cgroup.procs and cpu.stat where ours has neither. A frame is
-- held against bare reads without a walk, by whatever way we find the members.
local FRAME_NS <const> = { bar = 200000, there = 190000 }
local CORE <const> = {
  cgroup = { bar = 0.5, there = 0.38 },
  connector = { bar = 0.5, there = 0.37 },
  walk = { bar = 1.2, there = 1.02 },
}
local FLOOR_BAR <const>, PSUTIL_BAR <const> = 2, 15

local label = ("%s, %s, %s"):format(
  how,
  kind == "group" and "asleep" or "ticking",
  system == "0" and "system as it is" or system .. " processes"
)

local app <close> = bench.launch_ready(
  { bench.bin "ppwork", kind, "16" },
  { output = "app", interval_s = INTERVAL_S }
)

-- Our leaf is where the leader is.
local function leaf()
  local place = bench.read(("/proc/%d/cgroup"):format(app.pid)):match "0::([^\n]*pairperf%-[^\n]*)"
  local at = bench.read("/proc/self/mounts"):match "%S+ (%S+) cgroup2"
  return place and at and at .. place
end

-- What the command printed when it ended, and what `meanwhile` answered.
local function beside(name, command, meanwhile)
  local dir = bench.dir(name)
  local child = bench.start(command, dir)
  local result = meanwhile and meanwhile()
  return child and bench.figures(bench.output_of(child, dir, 120)), result
end

local supervisor, own = bench.supervisor_of(app), pairperf.process.getpid()

-- What supervisor and harness use for each of the frames that `action` counts.
local function taken(action)
  local before, own_before = bench.cpu_of(supervisor), bench.cpu_of(own)
  local frames = action()
  return {
    cpu_ns = (bench.cpu_of(supervisor) - before) / frames,
    harness_ns = (bench.cpu_of(own) - own_before) / frames,
  }
end

local function passes_of(frames)
  local pass, reads = {}, {}
  for _, frame in ipairs(frames) do
    pass[#pass + 1] = frame.end_ns - bench.began_ns(frame)
    reads[#reads + 1] = frame.end_ns - frame.t_ns
  end
  return pass, reads
end

local function frames_so_far()
  return select(2, bench.read(app.dir .. "/samples.jsonl"):gsub("\n", ""))
end

-- Outside a window frames come as often and are without PSS, as the bare loop is.
local function track()
  local first = frames_so_far()
  local mine = taken(function()
    pairperf.sleep(PASSES * INTERVAL_S)
    return frames_so_far() - first
  end)
  local frames = bench.frames(app)
  mine.pass, mine.reads = passes_of(table.move(frames, first + 1, #frames, 1, {}))
  mine.p95 = bench.quantile(mine.pass, 0.95)
  return mine
end

local function sample()
  local mine = taken(function()
    return assert(app:sample { duration_s = PASSES * INTERVAL_S, interval_s = INTERVAL_S }).frames
  end)
  mine.rss = bench.rss_of(supervisor)
  return mine
end

local function core(ns)
  return ns / (INTERVAL_S * 1e9) * 100
end

local at = leaf()
local function loop(reads, where)
  local ms, passes = ("%d"):format(INTERVAL_S * 1000), tostring(PASSES)
  return { bench.bin "ppfloor", reads, ms, passes, tostring(app.pid), where }
end

-- Both at the same time, so that whatever else the machine does slows both of them.
local function runs_beside(name, command, count, ours)
  local runs = {}
  for i = 1, count do
    local other, mine = beside(name .. i, command, ours)
    runs[i] = other and { other = other, ours = mine }
  end
  return runs
end

-- The run in the middle, by what we took of what the other did.
local function middle(runs, ours, other)
  local function ratio(run)
    return run.ours[ours] / run.other[other]
  end
  table.sort(runs, function(a, b)
    return ratio(a) < ratio(b)
  end)
  return runs[(#runs + 1) // 2]
end

local at_rest = kind == "group"
local held_to_psutil = at_rest and system == "200"
local scan = { "python3", pairperf.fs.getcwd() .. "/tests/bench/peer_psutil.py", tostring(app.pid) }
table.move({ tostring(INTERVAL_S), tostring(PASSES) }, 1, 2, 4, scan)

-- With nothing beside us: the middle of each figure.
local function runs_alone()
  local p95, cpu_ns = {}, {}
  for i = 1, RUNS do
    local run = track()
    p95[i], cpu_ns[i] = run.p95, run.cpu_ns
  end
  return { p95 = bench.median(p95), core = core(bench.median(cpu_ns)) }
end

local by_walk = how == "walk"
local alone = at_rest and runs_alone()
local loops = runs_beside("bare", loop("reference", by_walk and how or at), RUNS, track)
local reads = by_walk and runs_beside("reads", loop "reference", RUNS, track) or loops
local frame = middle(reads, "p95", "pass_p95_ns")
local whole = middle(loops, "cpu_ns", "cpu_ns")
local full = middle(runs_beside("floor", loop("read", at), FLOOR_RUNS, sample), "cpu_ns", "cpu_ns")
local mine, floor = full.ours, full.other
local beside_psutil =
  middle(runs_beside("psutil", scan, held_to_psutil and RUNS or 1, track), "cpu_ns", "cpu_ns")
local psutil = beside_psutil and beside_psutil.other
app:stop { grace_s = 5 }

if how == "cgroup" and not at then
  bench.row { name = "a leaf for this run", ours = "none", bar = "one", ok = false }
end

local function judged(row, undisturbed, value, bare_now, bars, said)
  if not undisturbed then
    bench.row(row)
    return
  end
  local ratio, most = value / bare_now, bars.bar / bars.there
  local words = "%s alone; %s beside the bare loop's %s: %.2f x"
  row.ours = words:format(said(undisturbed), row.ours, said(bare_now), ratio)
  if undisturbed <= bars.bar then
    row.bar, row.ok = ("<= %s, judged as it stands"):format(said(bars.bar)), true
  else
    row.bar = ("<= %s where the bare loop takes %s; judged by that ratio: <= %.2f x"):format(
      said(bars.bar),
      said(bars.there),
      most
    )
    row.ok = ratio <= most
  end
  bench.row(row)
end

local function percent(value)
  return ("%.2f %%"):format(value)
end

local p95 = frame.ours.p95
judged({
  name = label .. ": frame of 16 without PSS, p95",
  ours = ("%s (median %s; reads alone %s)"):format(
    bench.ms(p95),
    bench.ms(bench.median(frame.ours.pass)),
    bench.ms(bench.quantile(frame.ours.reads, 0.95))
  ),
  floor = ("%s (median %s)"):format(bench.ms(floor.pass_p95_ns), bench.ms(floor.pass_median_ns)),
  peer = "mlx-guard 0.183 ms (on its own host)",
}, alone and alone.p95, p95, frame.other.pass_p95_ns, FRAME_NS, bench.ms)
judged({
  name = label .. ": loop of 50 ms without PSS",
  ours = percent(core(whole.ours.cpu_ns)) .. " of a core",
  peer = "mlx-guard < 2 %",
}, alone and alone.core, core(whole.ours.cpu_ns), core(whole.other.cpu_ns), CORE[how], percent)
bench.row {
  name = label .. ": loop of 50 ms with PSS once a second",
  ours = ("%s of a core (and the harness %s)"):format(
    percent(core(mine.cpu_ns)),
    percent(core(mine.harness_ns))
  ),
  floor = percent(core(floor.cpu_ns)),
  peer = psutil and ("psutil %.1f %%"):format(core(psutil.cpu_ns)),
}
bench.row {
  name = label .. ": CPU per sample (PSS once a second in both), against the floor",
  ours = ("%s = %.2f x"):format(bench.ms(mine.cpu_ns), mine.cpu_ns / floor.cpu_ns),
  floor = bench.ms(floor.cpu_ns),
  bar = ("<= %d x"):format(FLOOR_BAR),
  ok = mine.cpu_ns <= FLOOR_BAR * floor.cpu_ns,
}
if not psutil then
  bench.cannot(label .. ": psutil", "python3 or psutil is not installed")
else
  local ours = beside_psutil.ours.cpu_ns
  local ratio, ok = psutil.cpu_ns / ours, nil
  if held_to_psutil then
    ok = ratio >= PSUTIL_BAR
  end
  bench.row {
    name = label .. ": CPU per sample without PSS, psutil's scan against ours",
    ours = ("%s = 1/%.1f"):format(bench.ms(ours), ratio),
    floor = ("1/%.1f"):format(psutil.cpu_ns / whole.other.cpu_ns),
    peer = bench.ms(psutil.cpu_ns),
    bar = held_to_psutil and (">= %d x less"):format(PSUTIL_BAR) or nil,
    ok = ok,
  }
end
bench.row {
  name = label .. ": supervisor's RSS",
  ours = bench.mib(mine.rss),
  floor = bench.mib(floor.rss_bytes),
  peer = "mlx-guard 2.98 MiB" .. (psutil and "; psutil " .. bench.mib(psutil.rss_bytes) or ""),
  bar = "<= 4 MiB",
  ok = mine.rss <= RSS_BAR,
}
return bench.finish()
