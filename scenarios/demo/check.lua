-- SPDX-License-Identifier: Apache-2.0
-- check.lua EVIDENCE DESIGN: does the measured difference agree with the designed one?
-- Exit status 0 when it does, else 1.
local evidence, design_file = ...

local function read(path)
  return assert(pairperf.json.decode(assert(pairperf.fs.read(path))))
end

local function measured(report, name)
  for _, metric in ipairs(report.scenarios[1].metrics) do
    if metric.name == name then
      return tonumber(metric.difference.absolute)
    end
  end
end

local report, design = read(evidence .. "/report.json"), read(design_file)
local status = 0

local function check(title, unit, scale, name, wanted, tolerance)
  local found = measured(report, name)
  local holds = found and math.abs(found - wanted) <= math.abs(wanted) * tolerance
  status = holds and status or 1
  local text = found and ("%+.2f"):format(found * scale) or "n/a"
  print(
    ("check: %s %s %s, designed %+.2f, allowed %g %%: %s"):format(
      title,
      text,
      unit,
      wanted * scale,
      tolerance * 100,
      holds and "holds" or "DOES NOT HOLD"
    )
  )
end

check(
  "CPU difference",
  "% of one core",
  1,
  "cpu_percent",
  design.difference.cpu_percent,
  design.tolerance.cpu
)
check(
  "memory difference",
  "MiB",
  1 / (1 << 20),
  "rss_mean_bytes",
  design.difference.memory_bytes,
  design.tolerance.memory
)
return status
