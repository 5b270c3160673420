-- SPDX-License-Identifier: Apache-2.0
-- A page that takes and drops memory as fast as it can, in turn without and with our sampling
-- every 250 ms and PSS every second: rounds per second, and the longest stall that it noticed.
local bench = require "bench"
local pairperf = require "pairperf"
bench.begin(...)

local PAIRS <const>, SECONDS <const>, NOISE <const> = 6, 3, 0.02
local PROGRAM <const> = "/usr/lib/chromium/chromium"

if not pairperf.fs.stat(PROGRAM) then
  bench.cannot("Chromium with and without sampling", PROGRAM .. " is not installed")
  return bench.finish()
end

local command = { PROGRAM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run" }
command[6], command[7] = "--disable-extensions", "--dump-dom"
command[8] = ("file://%s/tests/bench/page.html#%d"):format(pairperf.fs.getcwd(), SECONDS)

-- What the page said, and its rounds per second of the whole application's CPU.
local function figures(text, truth)
  local found = bench.figures(text)
  assert(found.rounds, "the page said nothing")
  found.per_cpu = found.rounds / (truth:cpu_ns() / 1e9)
  found.rounds = found.rounds / SECONDS
  return found
end

local function without(i)
  local dir = bench.dir("without-" .. i)
  local truth <close> = assert(bench.truth(dir))
  local text = bench.output_of(bench.start(truth:words(command), dir, true), dir, 240)
  return figures(text, truth)
end

local function with(i)
  local dir = bench.dir("with-" .. i)
  local truth <close> = assert(bench.truth(dir))
  local app <close> = bench.launch(truth:words(command), { output = ("with-%d/ours"):format(i) })
  pcall(app.sample, app, { duration_s = 240, interval_s = 0.25 }) -- to its end
  app:stop { grace_s = 5 }
  local found = figures(bench.read(app.dir .. "/app-stdout"), truth)
  found.pass_ns, found.processes = 0, 0
  for _, frame in ipairs(bench.frames(app)) do
    if frame.memory_pass then
      found.pass_ns = math.max(found.pass_ns, frame.end_ns - frame.t_ns)
      found.processes = math.max(found.processes, #frame.procs)
    end
  end
  return found
end

local probe, why = bench.truth(bench.work)
if not probe then
  bench.cannot("Chromium with and without sampling", why)
  return bench.finish()
end
probe:remove()

local off, on = {}, {}
for i = 1, PAIRS do -- a machine that changes its pace must not favour one of them
  if i % 2 == 1 then
    off[i], on[i] = without(i), with(i)
  else
    on[i], off[i] = with(i), without(i)
  end
end

local function column(list, field)
  local values = {}
  for i, one in ipairs(list) do
    values[i] = one[field]
  end
  return values
end

-- Beyond the noise it is a difference when every pair shows it, the same way; else none is shown.
local function compare(field, name)
  local ratios, lower = {}, 0
  for i = 1, PAIRS do
    ratios[i] = on[i][field] / off[i][field]
    lower = lower + (ratios[i] < 1 and 1 or 0)
  end
  local change = bench.median(ratios) - 1
  local ok = math.abs(change) <= NOISE
  if not ok and lower > 0 and lower < PAIRS then
    ok = nil
  end
  bench.row {
    name = name,
    ours = ("%.0f (%+.1f %%, lower in %d of %d pairs)"):format(
      bench.median(column(on, field)),
      change * 100,
      lower,
      PAIRS
    ),
    floor = ("%.0f without sampling"):format(bench.median(column(off, field))),
    bar = ("within %.0f %%; beyond it with pairs that disagree, only told"):format(NOISE * 100),
    ok = ok,
  }
end

compare("rounds", "Chromium: rounds per second")
compare("per_cpu", "Chromium: rounds per second of CPU")
bench.row {
  name = ("Chromium: longest stall in the page, %d processes"):format(on[1].processes),
  ours = ("%.1f ms (longest PSS pass of all processes %s)"):format(
    bench.quantile(column(on, "longest_ms"), 1),
    bench.ms(bench.quantile(column(on, "pass_ns"), 1))
  ),
  floor = ("%.1f ms without sampling"):format(bench.quantile(column(off, "longest_ms"), 1)),
}
return bench.finish()
