-- SPDX-License-Identifier: Apache-2.0
-- Memory against what a control group was charged, written bytes, switches, waited-for CPU.
-- proves: MET-2, MET-3
local bench = require "bench"
local pairperf = require "pairperf"
bench.begin(...)

local function sum(frame, field)
  local total = 0
  for _, proc in ipairs(frame.procs) do
    if proc.phase ~= "zombie" then
      if not bench.known(proc[field]) then
        return nil
      end
      total = total + proc[field]
    end
  end
  return total
end

local function plateau()
  local dir = bench.dir "plateau"
  local truth, why = bench.truth(dir)
  if not (truth and truth.memory) then
    return bench.cannot("footprint_pss", why or "no memory controller (cgroup v1) here")
  end
  local command = truth:words { bench.bin "ppwork", "plateau", "4" }
  local app <close> = bench.launch_ready(command, { output = "plateau/ours" })
  assert(app:sample { duration_s = 3, interval_s = 1 })
  local charged = truth:memory_bytes()
  local peer_dir = bench.dir "plateau/psutil"
  local scan = { "python3", pairperf.fs.getcwd() .. "/tests/bench/peer_psutil.py" }
  table.move({ tostring(app.pid), "0", "1" }, 1, 3, 3, scan)
  local peer = bench.start(scan, peer_dir)
  local theirs = peer and bench.figures(bench.output_of(peer, peer_dir, 60)).tree_rss_bytes
  app:stop { grace_s = 5 }
  truth:remove()
  local worst, frames, rss, pss = 0, 0, nil, nil
  for _, frame in ipairs(bench.frames(app)) do
    local footprint = frame.window > 0 and frame.memory_pass and sum(frame, "footprint_pss_bytes")
    if footprint then
      frames, rss, pss = frames + 1, sum(frame, "rss_bytes"), footprint
      worst = math.max(worst, math.abs(footprint / charged - 1))
    end
  end
  bench.row {
    name = "footprint_pss, worst of " .. frames .. " frames",
    ours = ("%s (off by %.2f %%)"):format(bench.mib(pss), worst * 100),
    floor = "charged " .. bench.mib(charged),
    peer = ("summed RSS %s, psutil %s"):format(
      bench.mib(rss),
      theirs and bench.mib(theirs) or "cannot run"
    ),
    bar = "within 3 % of what was charged, in at least 3 frames",
    ok = frames >= 3 and worst <= 0.03,
  }
end

-- Runs a kind of ppwork until it is ready; the frames, the last of them after its end.
local function after(kind, ...)
  local app <close> = bench.launch_ready(
    { bench.bin "ppwork", kind, ... },
    { output = kind, interval_s = 0.05 }
  )
  pairperf.sleep(0.3)
  app:stop { grace_s = 5 }
  return bench.frames(app), app
end

local function writes()
  local frames = after("writes", "data")
  local bytes = frames[#frames].conservation.write_bytes
  bench.row {
    name = "40 MiB by 20 short dd processes",
    ours = bench.known(bytes) and bench.mib(bytes) or "unknown",
    floor = "40.00 MiB",
    bar = "40.0 MiB",
    ok = bench.known(bytes) and math.abs(bytes / 1048576 - 40) < 0.05,
  }
end

local function switches()
  local frames, app = after "switches"
  local voluntary, involuntary = 0, 0
  for _, frame in ipairs(frames) do
    for _, exit in ipairs(frame.exits) do
      if exit.pid == app.pid and bench.known(exit.voluntary_switches) then
        voluntary, involuntary = exit.voluntary_switches, exit.involuntary_switches
      end
    end
  end
  local all = voluntary + involuntary -- a sleep that was preempted on its way is the other kind
  bench.row {
    name = "5 threads x 200 sleeps, switches",
    ours = ("%d (%d voluntary)"):format(all, voluntary),
    floor = "1000 and a few",
    bar = ">= 1000",
    ok = all >= 1000,
  }
end

local function reaped()
  local frames, app = after "reaped"
  local own, waited
  for _, frame in ipairs(frames) do
    for _, proc in ipairs(frame.procs) do
      if proc.pid == app.pid and proc.phase ~= "zombie" then
        own, waited = proc.cpu_ns, proc.child_cpu_ns
      end
    end
  end
  bench.row {
    name = "a leader without work and its reaped child",
    ours = ("%.1f s and %.1f s"):format(own / 1e9, waited / 1e9),
    floor = "0.0 s and 0.3 s",
    bar = "0.0 s and 0.3 s",
    ok = own < 5e7 and math.abs(waited - 3e8) < 5e7,
  }
end

plateau()
writes()
switches()
reaped()
return bench.finish()
