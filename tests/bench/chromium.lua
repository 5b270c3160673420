-- SPDX-License-Identifier: Apache-2.0
-- A page that takes and drops memory as fast as it can, without and with our sampling every 250 ms
-- and PSS every second: rounds per second, and the longest stall that it noticed. In sets of four,
-- with and without in the order ABBA or BAAB, so that a machine that changes its pace favours
-- neither; how much the two alike of a set differ is the noise.
local bench = require "bench"
local pairperf = require "pairperf"
bench.begin(...)

local SETS <const>, SECONDS <const>, BAR <const> = 3, 3, 0.02
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
for i = 1, 2 * SETS, 2 do
  if i % 4 == 1 then
    off[i], on[i], on[i + 1], off[i + 1] = without(i), with(i), with(i + 1), without(i + 1)
  else
    on[i], off[i], off[i + 1], on[i + 1] = with(i), without(i), without(i + 1), with(i + 1)
  end
end

local function column(list, field)
  local values = {}
  for i, one in ipairs(list) do
    values[i] = one[field]
  end
  return values
end

-- What two alike runs of one set differ by, half of the time.
local function noise_of(field)
  local off_by = {}
  for _, list in ipairs { off, on } do
    for i = 1, #list, 2 do
      off_by[#off_by + 1] = math.abs(list[i][field] / list[i + 1][field] - 1)
    end
  end
  return bench.median(off_by)
end

-- Beyond the bar and the noise it is a difference when every pair shows it, the same way; else none
-- is shown.
local function compare(field, name)
  local ratios, lower = {}, 0
  for i = 1, #on do
    ratios[i] = on[i][field] / off[i][field]
    lower = lower + (ratios[i] < 1 and 1 or 0)
  end
  local change, noise = bench.median(ratios) - 1, noise_of(field)
  local ok = math.abs(change) <= math.max(BAR, noise)
  if not ok and lower > 0 and lower < #on then
    ok = nil
  end
  bench.row {
    name = name,
    ours = ("%.0f (%+.1f %%, noise %.1f %%, lower in %d of %d pairs)"):format(
      bench.median(column(on, field)),
      change * 100,
      noise * 100,
      lower,
      #on
    ),
    floor = ("%.0f without sampling"):format(bench.median(column(off, field))),
    bar = ("within %.0f %% or the noise; beyond it with pairs that disagree, only told"):format(
      BAR * 100
    ),
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
