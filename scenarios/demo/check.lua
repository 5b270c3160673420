-- SPDX-License-Identifier: Apache-2.0
-- check.lua EVIDENCE DESIGN short|full: does the measured difference agree with the designed one?
-- Words of full windows are verdicts, those of short ones only indicative. Exit status 0 when
-- everything agrees, else 1.
local evidence, design_file, kind = ...

local function read(path)
  return assert(pairperf.json.decode(assert(pairperf.fs.read(path))))
end

local function row_of(report, name)
  for _, metric in ipairs(report.scenarios[1].metrics) do
    if metric.name == name then
      return metric
    end
  end
end

local function measured(report, name)
  local metric = row_of(report, name)
  return metric and tonumber(metric.difference.absolute)
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

local function check_word(name, wanted)
  local metric = row_of(report, name)
  local comparison = metric and metric.comparison or {}
  local found, holds = comparison.verdict, comparison.verdict == wanted
  if kind == "short" then
    found = ("%s (indicative: %s)"):format(comparison.verdict, comparison.indicative)
    holds = comparison.indicative == wanted and comparison.reason == "diagnostic_only"
  end
  status = holds and status or 1
  print(
    ("check: %s %s, designed %s: %s"):format(
      name,
      found,
      wanted,
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
for _, name in ipairs { "cpu_percent", "rss_max_bytes" } do
  check_word(name, design.words[name])
end
return status
