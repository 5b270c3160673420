-- SPDX-License-Identifier: Apache-2.0
-- A page that takes and drops memory as fast as it can, without and with our sampling every 250 ms
-- and PSS every second: rounds per second, and the longest stall that it noticed. In sets of four,
-- with and without in the order ABBA or BAAB, so that a machine that changes its pace favours
-- neither. A set gives one ratio; how far the sets disagree is the noise.
local bench = require "bench"
local pairperf = require "pairperf"
local sums = require "pairperf.stats.sums"
bench.begin(...)

local SETS <const>, SECONDS <const>, BAR <const> = 6, 3, 0.02
local T95 <const> = 2.571 -- of Student's t with SETS - 1 degrees of freedom, two-sided
local TOO_NOISY <const> = 0.05 -- a machine on which nothing could be seen
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

-- Of each set, the logarithm of how much more there was with sampling.
local function changes_of(field)
  local changes = {}
  for i = 1, #on, 2 do
    local gained = on[i][field] * on[i + 1][field] / (off[i][field] * off[i + 1][field])
    changes[#changes + 1] = math.log(gained) / 2
  end
  return changes
end

-- Mean, and half of its 95 % interval.
local function mean_of(values)
  local mean = sums.mean(values)
  return mean, T95 * math.sqrt(sums.squares(values, mean) / (#values - 1) / #values)
end

local function compare(field, name)
  local change, noise = mean_of(changes_of(field))
  local ok = math.abs(change) <= math.max(BAR, noise)
  if ok and noise > TOO_NOISY then
    ok = nil
  end
  bench.row {
    name = name,
    ours = ("%.0f (%+.1f %%, 95 %% interval +-%.1f %%, %d sets)"):format(
      bench.median(column(on, field)),
      (math.exp(change) - 1) * 100,
      (math.exp(noise) - 1) * 100,
      SETS
    ),
    floor = ("%.0f without sampling"):format(bench.median(column(off, field))),
    bar = ("within %.0f %% or the interval; only told if that is above %.0f %%"):format(
      BAR * 100,
      TOO_NOISY * 100
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
