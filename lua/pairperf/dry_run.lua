-- SPDX-License-Identifier: Apache-2.0
--- --dry-run: what a session would do, as text. Creates nothing; ends with preflight's status.
local compare = require "pairperf.compare"
local confining = require "pairperf.confining"
local core = require "pairperf.core"
local exit_status = require "pairperf.exit_status"
local format = require "pairperf.format"
local guarding = require "pairperf.guarding"
local options = require "pairperf.options"
local plan = require "pairperf.plan"
local preflight = require "pairperf.preflight"
local units = require "pairperf.units"
local variants = require "pairperf.variants"
local verdict_text = require "pairperf.verdict_text"

local M = {}

local function print_scenarios(draft)
  for _, one in ipairs(draft.scenarios) do
    print(("scenario %s (label %s): %s"):format(one.name, one.label, one.summary))
    print(
      ("    warm-up %s, sampling %s every %s, %s per variant"):format(
        units.format_seconds(one.warmup_s),
        units.format_seconds(one.duration_s),
        units.format_seconds(one.interval_s),
        format.count(one.repetitions, "run")
      )
    )
  end
end

local function print_variants(draft)
  for _, name in ipairs(draft.names) do
    local variant = draft.variants[name]
    if variant then
      print(
        ("%s: %s (%s), version %s"):format(
          name,
          variant.path,
          variant.kind,
          variant.version or "unknown"
        )
      )
    end
  end
  local one, other = draft.variants.baseline, draft.variants.candidate
  for _, line in ipairs(one and other and variants.differences(one, other) or {}) do
    print("difference in " .. line)
  end
end

local function print_order(draft)
  print(
    ("seed %d (%s): %s goes first, order %s"):format(
      draft.seed,
      draft.seed_origin,
      draft.first,
      draft.values.order
    )
  )
  for _, slot in ipairs(draft.runs) do
    print(
      ("    run %d: %s, %s %d -> %s"):format(
        slot.slot + 1,
        slot.scenario,
        slot.variant,
        slot.repetition,
        slot.directory
      )
    )
  end
end

local function print_totals(draft)
  local least_s = plan.least_s(draft.scenarios, draft.values.single or false)
  local _, _, wall_ns = core.clock.now()
  print(
    ("total: at least %s, ends not before %s"):format(
      units.format_long(least_s),
      core.clock.utc(wall_ns + units.ns(least_s))
    )
  )
  print(
    ("disk: about %s for a tree of ten processes; %s free"):format(
      units.format_bytes(draft.disk_bytes),
      draft.free_bytes and units.format_bytes(draft.free_bytes) or "unknown"
    )
  )
  print(
    ("output: %s (%d of %d bytes left for a socket name below TMPDIR)"):format(
      draft.output,
      draft.socket_room.left,
      draft.socket_room.limit
    )
  )
end

local function print_guard(draft)
  local by = draft.confine and "not writable by a confined application"
    or "not writable by this user"
  for _, path in ipairs(draft.guard_paths) do
    local snapshot = core.guard.snapshot(path)
    local state = snapshot and snapshot.type or "unreadable"
    print(
      ("guard: %s is %s, its directory is %s"):format(
        path,
        state,
        guarding.writable(path, confining.paths(draft.confine)) and "writable" or by
      )
    )
  end
end

local TIERS = { Linux = "cgroup or conservation", Darwin = "observed" }

local function print_power(draft)
  print("counting tier: " .. (TIERS[core.process.system()] or "unknown"))
  for _, one in ipairs(draft.values.single and {} or draft.scenarios) do
    local found = compare.attainable(one.repetitions, one.repetitions)
    print(("%s: %s"):format(one.name, verdict_text.attainable(found)))
  end
end

local function print_options(draft)
  print "effective options:"
  for _, entry in ipairs(draft.parsed.entries) do
    local value = draft.values[entry.name]
    if value ~= nil then
      print(
        ("    --%s %s (%s)"):format(
          entry.name,
          options.echo(entry, value),
          draft.parsed.origin[entry.name]
        )
      )
    end
  end
end

local function print_findings(draft)
  for _, finding in ipairs(draft.findings) do
    print(("%s: %s"):format(finding.level, finding.text))
    for _, line in ipairs(finding.lines or {}) do
      print("    " .. line)
    end
  end
end

--- Prints an examined draft.
---@param draft pairperf.Draft
---@return integer exit_status of preflight
function M.show(draft)
  for _, part in ipairs {
    print_scenarios,
    print_variants,
    print_order,
    print_totals,
    print_guard,
    print_power,
    print_options,
    print_findings,
  } do
    part(draft)
  end
  local refused = preflight.refused(draft)
  print(refused and "preflight: refused" or "preflight: nothing stands in the way")
  return refused and exit_status.USAGE or exit_status.OK
end

return M
