-- SPDX-License-Identifier: Apache-2.0
-- CPU time by each tier and each peer against what a control group counted, on the same work.
-- Polling peers watch our run; perf stat and GNU time wrap a second run with a truth of its own.
-- proves: MET-7, TRK-5
local bench = require "bench"
local pairperf = require "pairperf"
bench.begin(...)

local CGROUP_BAR <const>, CONSERVATION_BAR <const>, CONSERVATION_NS <const> = 0.001, 0.005, 30e6
local PAGE <const> = "file://" .. pairperf.fs.getcwd() .. "/tests/bench/page.html"

-- pattern: what the work's processes are called
local WORK = {
  {
    name = "stress-ng --fork 2",
    command = { "/usr/bin/stress-ng", "--quiet", "--fork", "2", "-t", "10" },
    pattern = "^stress%-ng",
  },
  {
    name = "6 s tree with escapee",
    command = { bench.bin "ppwork", "tree" },
    pattern = "^ppwork",
  },
  {
    name = "thread churn",
    command = { bench.bin "ppwork", "threads" },
    pattern = "^ppwork",
  },
  {
    name = "SIGCHLD ignored",
    command = { bench.bin "ppwork", "deaf" },
    pattern = "^ppwork",
    deaf = true,
  },
  {
    name = "SA_NOCLDWAIT",
    command = { bench.bin "ppwork", "discards" },
    pattern = "^ppwork",
    deaf = true,
  },
  {
    name = "Chromium loads a page",
    command = {
      "/usr/lib/chromium/chromium",
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--no-first-run",
      "--disable-extensions",
      "--dump-dom",
      PAGE .. "#3",
    },
    pattern = "chrom",
  },
}

-- ---------------------------------------------------------------- peers

-- The largest figure per process, summed.
local function last_seen(text, pattern, row)
  local seen, sum = {}, 0
  for line in text:gmatch "[^\n]+" do
    local pid, seconds, name = row(line)
    if pid and name:find(pattern) then
      seen[pid] = math.max(seen[pid] or 0, seconds)
    end
  end
  for _, seconds in pairs(seen) do
    sum = sum + seconds
  end
  return sum
end

local function ps_row(line)
  local pid, seconds, name = line:match "^%s*(%d+)%s+(%d+)%s+(.+)$"
  return pid, tonumber(seconds), name
end

local function top_row(line)
  local pid, minutes, seconds, name = line:match "^%s*(%d+)%s.*%s(%d+):([%d.]+)%s+(.-)%s*$"
  return pid, pid and minutes * 60 + seconds, name
end

-- pidstat -h -u: Time UID PID %usr %system %guest %wait %CPU CPU Command
local function pidstat_sum(text, pattern)
  local sum = 0
  for line in text:gmatch "[^\n]+" do
    local words = {}
    for word in line:gmatch "%S+" do
      words[#words + 1] = word
    end
    if
      #words == 10
      and words[1] ~= "Average:"
      and words[10]:find(pattern)
      and tonumber(words[8])
    then
      sum = sum + words[8] / 100
    end
  end
  return sum
end

-- Each goes on until it is told to end; psutil ends with the root.
local function pollers(work, pid)
  local ps = "while :; do ps -e -o pid=,cputimes=,comm=; sleep 0.5; done"
  local scan = { "python3", pairperf.fs.getcwd() .. "/tests/bench/peer_psutil.py", tostring(pid) }
  table.move({ "0.25", "100000" }, 1, 2, 4, scan)
  return {
    {
      command = scan,
      ends = true,
      figures = function(text)
        local found = bench.figures(text)
        return { { "psutil", found.psutil_s }, { "psrecord-like", found.psrecord_s } }
      end,
    },
    {
      command = { "stdbuf", "-oL", "pidstat", "-h", "-u", "-p", "ALL", "1" },
      figures = function(text)
        return { { "pidstat", pidstat_sum(text, work.pattern) } }
      end,
    },
    {
      command = { "top", "-b", "-w", "200", "-d", "0.5" },
      figures = function(text)
        return { { "top", last_seen(text, work.pattern, top_row) } }
      end,
    },
    {
      command = { "/bin/sh", "-c", ps },
      figures = function(text)
        return { { "ps", last_seen(text, work.pattern, ps_row) } }
      end,
    },
  }
end

local function start_pollers(work, pid, name)
  local list = {}
  for i, one in ipairs(pollers(work, pid)) do
    one.dir = bench.dir(("%s/peer-%d"):format(name, i))
    one.child = bench.start(one.command, one.dir)
    list[i] = one
  end
  return list
end

local function off(seconds, truth_ns)
  if not seconds then
    return "gave nothing"
  end
  return ("%+.1f %%"):format((seconds * 1e9 / truth_ns - 1) * 100)
end

local function peer_words(list, truth_ns)
  local words = {}
  pairperf.sleep(1.2) -- one more look for each
  for _, one in ipairs(list) do
    if not one.child then
      words[#words + 1] = one.command[1] .. " is not installed"
    else
      local text = bench.output_of(one.child, one.dir, one.ends and 10 or 0)
      for _, figure in ipairs(one.figures(text)) do
        words[#words + 1] = figure[1] .. " " .. off(figure[2], truth_ns)
      end
    end
  end
  return words
end

-- A second run of the same work, in groups of its own.
local function wrapped_words(work, name)
  local dir = bench.dir(name .. "/wrapped")
  local truth <close> = assert(bench.truth(dir))
  local command = { "perf", "stat", "-x,", "-o", dir .. "/perf", "-e", "task-clock", "--" }
  table.move({ "/usr/bin/time", "-o", dir .. "/time", "-f", "%U %S" }, 1, 5, #command + 1, command)
  local inner = truth:words(work.command)
  local child = bench.start(table.move(inner, 1, #inner, #command + 1, command), dir)
  if not child then
    return { "perf is not installed" }
  end
  bench.until_true(240, function()
    return truth:empty() and child:ended()
  end)
  bench.output_of(child, dir, 0)
  local truth_ns = truth:cpu_ns()
  local clock = (bench.read(dir .. "/perf") or ""):match "([%d.]+),msec"
  local user, system = (bench.read(dir .. "/time") or ""):match "([%d.]+) ([%d.]+)"
  return {
    "on a second run perf stat " .. off(clock and clock / 1000, truth_ns),
    "GNU time " .. off(user and user + system, truth_ns),
  }
end

-- ---------------------------------------------------------------- ours

-- From birth on, so each process's largest reading is its whole sum.
local function observed_ns(frames)
  local seen, sum = {}, 0
  local function look(one)
    if bench.known(one.cpu_ns) then
      local key = one.pid .. ":" .. one.start .. ":" .. one.unique
      seen[key] = math.max(seen[key] or 0, one.cpu_ns)
    end
  end
  for _, frame in ipairs(frames) do
    for _, list in ipairs { frame.procs, frame.exits } do
      for _, one in ipairs(list) do
        look(one)
      end
    end
  end
  for _, ns in pairs(seen) do
    sum = sum + ns
  end
  return sum
end

local function tiers(frames)
  local last = frames[#frames]
  local cgroup, flagged = last.cgroup, false
  for _, frame in ipairs(frames) do
    flagged = flagged or frame.conservation.lower_bound
  end
  return {
    cgroup = bench.known(cgroup) and bench.known(cgroup.cpu_ns) and cgroup.cpu_ns or nil,
    conservation = bench.known(last.conservation.cpu_ns) and last.conservation.cpu_ns or nil,
    observed = observed_ns(frames),
    flagged = flagged,
  }
end

local function ours_words(ns, truth_ns)
  return ns and ("%s (%+.3f %%)"):format(bench.s(ns), (ns / truth_ns - 1) * 100) or "none"
end

local function judge_conservation(work, ns, truth_ns, flagged)
  local near = ns ~= nil
    and math.abs(ns - truth_ns) <= math.max(CONSERVATION_BAR * truth_ns, CONSERVATION_NS)
  if work.deaf then
    return flagged, "said to be a lower_bound"
  end
  return near, "within 0.5 % or 30 ms of the truth"
end

local function measure(work)
  local name = work.name:gsub("[^%w]+", "-")
  local dir = bench.dir(name)
  local truth <close> = assert(bench.truth(dir))
  local app <close> = bench.launch(truth:words(work.command), { output = name .. "/ours" })
  local list = start_pollers(work, app.pid, name)
  bench.until_true(240, function()
    return truth:empty() and app.child:ended()
  end)
  app:stop { grace_s = 5 }
  local truth_ns, told = truth:cpu_ns(), tiers(bench.frames(app))
  local peers = peer_words(list, truth_ns)
  local wrapped = wrapped_words(work, name)
  table.move(wrapped, 1, #wrapped, #peers + 1, peers)
  local near, bar = judge_conservation(work, told.conservation, truth_ns, told.flagged)
  local floor = "truth " .. bench.s(truth_ns)
  bench.row {
    name = work.name .. ", cgroup",
    ours = ours_words(told.cgroup, truth_ns),
    floor = floor,
    peer = table.concat(peers, "; "),
    bar = "within 0.1 % of the truth",
    ok = told.cgroup ~= nil and math.abs(told.cgroup / truth_ns - 1) <= CGROUP_BAR,
  }
  bench.row {
    name = work.name .. ", conservation",
    ours = ours_words(told.conservation, truth_ns) .. (told.flagged and " lower_bound" or ""),
    floor = floor,
    bar = bar,
    ok = near,
  }
  bench.row {
    name = work.name .. ", observed",
    ours = ours_words(told.observed, truth_ns),
    floor = floor,
  }
end

local probe, why = bench.truth(bench.work)
if not probe then
  bench.cannot("CPU against a control group", why)
  return bench.finish()
end
probe:remove()
for _, work in ipairs(WORK) do
  if pairperf.fs.stat(work.command[1]) then
    measure(work)
  else
    bench.cannot(work.name, work.command[1] .. " is not installed")
  end
end
return bench.finish()
