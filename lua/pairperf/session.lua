-- SPDX-License-Identifier: Apache-2.0
--- An A/B session: lock, output directory, provenance, plan, then run after run with a report
--- after each, and the exit status at the end.
local child = require "pairperf.child"
local core = require "pairperf.core"
local digests = require "pairperf.digests"
local errors = require "pairperf.error"
local evidence = require "pairperf.evidence"
local exit_status = require "pairperf.exit_status"
local gate = require "pairperf.gate"
local html_run = require "pairperf.html_run"
local manifest_changes = require "pairperf.manifest_changes"
local options = require "pairperf.options"
local preflight = require "pairperf.preflight"
local probes = require "pairperf.probes"
local progress = require "pairperf.progress"
local report = require "pairperf.report"
local report_compare = require "pairperf.report_compare"
local run = require "pairperf.run"
local summary = require "pairperf.summary"
local units = require "pairperf.units"
local variants = require "pairperf.variants"
local waiting = require "pairperf.waiting"

local M = {}

---@class pairperf.Session
---@field output string
---@field plan table as in plan.json
---@field values table option values
---@field scenarios table<string, table> effective scenarios by name
---@field variants table<string, table>
---@field guard_paths string[]
---@field confine table? {abi, writable, not_covered}; nil: the applications are not confined
---@field guard_first table? the first run's snapshots, by path
---@field hook_env table<string, string>
---@field real_home string?
---@field log pairperf.Log
---@field progress pairperf.Progress
---@field outcome table as pairperf.stats.exit_code takes it, and `script_error`

-- ---------------------------------------------------------------- plan

local function plan_scenarios(draft)
  local list = {}
  for i, one in ipairs(draft.scenarios) do
    list[i] = {
      name = one.name,
      label = one.label,
      summary = one.summary,
      interval_ns = units.ns(one.interval_s),
      warmup_ns = units.ns(one.warmup_s),
      duration_ns = units.ns(one.duration_s),
      repetitions = one.repetitions,
      diagnostic_reasons = core.json.array(one.diagnostic_reasons),
      script = draft.script.path,
      script_sha256 = core.digest.bytes(draft.script.source),
      options = one.options,
      ready = type(one.ready) == "function" and "script"
        or one.ready and one.ready.text
        or core.json.null,
      pre_sample_hook = one.pre_sample_hook and one.pre_sample_hook.text or core.json.null,
      post_run_check = one.post_run_check and one.post_run_check.text or core.json.null,
    }
  end
  return list
end

local function excluded(draft)
  local given = draft.values["exclude-component"] or {}
  local names = table.move(given, 1, #given, 1, {})
  for _, one in ipairs(draft.scenarios) do
    for _, name in ipairs(one.exclude_components or {}) do
      names[#names + 1] = name
    end
  end
  if #names == 0 and core.process.system() == "Darwin" then
    names = { "ioreg" }
  end
  return names
end

local function context(draft)
  local given, read = draft.values.context, draft.context_text
  return given and read and given .. "\n" .. read or given or read or core.json.null
end

local function plan_comparison(draft, excludes)
  local names = {}
  for i, one in ipairs(draft.scenarios) do
    names[i] = one.name
  end
  return report_compare.plan({
    primary = draft.values.primary,
    gates = draft.values["fail-on"],
    screens = draft.values.screen,
    noise_floor = draft.noise_floor,
  }, names, excludes)
end

local function plan_variants(draft)
  local sides = {}
  for _, name in ipairs(draft.names) do
    sides[name] = variants.record(draft.variants[name])
  end
  return sides
end

local function test_switches()
  local switches = {}
  for _, name in ipairs { "PP_FAULT", "PP_KERNEL", "PP_LOCK" } do
    switches[name] = os.getenv(name)
  end
  return switches
end

--- plan.json from an examined and identified draft.
---@return table
function M.plan_table(draft, command_line)
  local array, values = core.json.array, draft.values
  local build = core.process.build()
  local one, other = draft.variants.baseline, draft.variants.candidate
  local _, _, wall_ns = core.clock.now()
  local excluded_names = excluded(draft)
  return {
    schema = "pairperf-plan-1",
    tool = {
      version = build.version,
      build = build,
      command_line = array(command_line),
      test_switches = test_switches(),
    },
    created_utc = core.clock.utc(wall_ns),
    mode = values.single and "single" or "ab",
    seed = draft.seed,
    seed_origin = draft.seed_origin,
    first = draft.first,
    order = values.order,
    scenarios = array(plan_scenarios(draft)),
    variants = plan_variants(draft),
    options = options.record(draft.parsed),
    diagnostic = {
      diagnostic_only = draft.diagnostic.diagnostic_only,
      reasons = array(draft.diagnostic.reasons),
    },
    null_control = other ~= nil and variants.is_null_control(one, other),
    differences = array(other and variants.differences(one, other) or {}),
    excluded_components = array(excluded_names),
    comparison = not values.single and plan_comparison(draft, #excluded_names > 0) or nil,
    expect_escapees = array(values["expect-escapee"] or {}),
    guard_paths = array(draft.guard_paths),
    template = draft.template or core.json.null,
    confine = draft.confine,
    link_dotdirs = array(values["link-dotdir"] or {}),
    context = context(draft),
    warnings = array(preflight.texts(draft, "warning")),
    runs = array(draft.runs),
  }
end

-- ---------------------------------------------------------------- opening

local function write_manifests(draft)
  for _, name in ipairs(draft.names) do
    local path = ("%s/%s-bundle-manifest.json"):format(draft.output, name)
    local ok, err = core.fs.write_atomic(path, draft.variants[name].bundle.json)
    if not ok then
      return nil, err
    end
  end
  return true
end

-- Shows the hashing of an artifact, and ends it when that is asked for.
local function watch_hashing(session, name)
  local cancelled = waiting.cancelled_from_now()
  local began_ns = core.clock.now()
  return function(hashed)
    session.progress:hashing(name, hashed, core.clock.now() - began_ns)
    return cancelled()
  end
end

local function identify(session, draft)
  for _, name in ipairs(draft.names) do
    local ok, err = variants.identify(draft.variants[name], watch_hashing(session, name))
    if not ok then
      return nil, err
    end
  end
  return true
end

local function by_name(scenarios)
  local index = {}
  for _, one in ipairs(scenarios) do
    index[one.name] = one
  end
  return index
end

local function new_session(draft)
  return {
    output = draft.output,
    values = draft.values,
    scenarios = by_name(draft.scenarios),
    variants = draft.variants,
    names = draft.names,
    guard_paths = draft.guard_paths,
    confine = draft.confine,
    hook_env = draft.hook_env,
    real_home = draft.real_home,
    log = evidence.log(draft.output .. "/session.log"),
    progress = progress.new(draft),
    outcome = {
      failed_runs = 0,
      allow_failed = draft.values["allow-failed"],
      allow_inconclusive = draft.values["allow-inconclusive"],
    },
    failed = 0,
    firsts = {},
  }
end

-- Provenance and plan, all written before the first launch.
local function prepare(draft, command_line)
  local session = new_session(draft)
  session.log:line("session started in " .. draft.output)
  local ok, err = identify(session, draft)
  if ok then
    ok, err = write_manifests(draft)
  end
  if ok then
    session.plan = M.plan_table(draft, command_line)
    ok, err = evidence.write_json(draft.output .. "/probes.json", probes.static())
  end
  if ok then
    ok, err = evidence.write_json(draft.output .. "/plan.json", session.plan)
  end
  if not ok then
    session.log:line("nothing was started: " .. tostring(err))
    return nil, err
  end
  return session
end

-- ---------------------------------------------------------------- after a run

local function build_summary(session, slot)
  local run_dir = session.output .. "/" .. slot.directory
  return summary.build(run_dir, session.plan, slot, html_run.keeper(run_dir))
end

-- What is known only from the evidence, a void window for example, fails the run too.
local function fail_from_evidence(session, slot, done)
  local built, err = build_summary(session, slot)
  local failure = built and built.status == "failed" and built.failure
  if not built then
    done:fail("evidence", "summary: " .. tostring(err))
  elseif failure and not done.failure then
    done:fail(failure.step, failure.reason)
  end
end

local function write_summary(session, slot)
  local built, err = build_summary(session, slot)
  local path = ("%s/%s/summary.json"):format(session.output, slot.directory)
  local ok = built
  if built then
    ok, err = evidence.write_json(path, built)
  end
  return ok, err
end

local function complain(err, status)
  io.stderr:write("pairperf-lua: ", tostring(err), "\n")
  return status
end

-- Evidence of the session, not of a run, that could not be written: said, and no status 0.
local function lose(session, what, err)
  local text = ("%s not written: %s"):format(what, tostring(err))
  session.log:line(text)
  complain(text)
  session.lost = true
end

local function write_report(session)
  local interrupted = session.outcome.cancelled or false
  local written, err = report.write(session.output, { interrupted = interrupted })
  if not written then
    session.log:line("report not written: " .. tostring(err))
  end
  return written, err
end

-- PLAN-6: the first runs of both variants failing at the same step say that the set-up is wrong.
local function first_pair_problem(session, done)
  local slot = done.slot
  if slot.repetition ~= 1 or session.values["keep-going"] then
    return nil
  end
  local firsts = session.firsts[slot.scenario] or {}
  session.firsts[slot.scenario] = firsts
  firsts[slot.variant] = done.failure and done.failure.step
  if firsts.baseline and firsts.baseline == firsts.candidate then
    return "the first runs of both variants failed at the same step, "
      .. firsts.baseline
      .. " (--keep-going insists)"
  end
end

local function reason_to_stop(session, done)
  local limit = session.values["max-failures"]
  if done.halt then
    return done.halt
  elseif limit and session.failed > limit then
    return ("%d failed runs are more than --max-failures %d"):format(session.failed, limit)
  end
  return first_pair_problem(session, done)
end

local function count(session, done)
  if done.failure then
    session.failed = session.failed + 1
    session.outcome.failed_runs = session.outcome.failed_runs + 1
  end
  session.outcome.cancelled = session.outcome.cancelled
    or done.cancelled
    or core.cancel.requested() ~= nil
  session.outcome.script_error = session.outcome.script_error or done.script_error
  if done.script_error then
    io.stderr:write("pairperf-lua: ", done.script_error, "\n")
  end
end

local function finish_run(session, slot, done)
  core.fs.mkdirs(session.output .. "/" .. slot.directory) -- again, where that is what failed
  fail_from_evidence(session, slot, done)
  done.events:add("run_finished", { status = done.failure and "failed" or "success" })
  done:lose(done.events.error)
  local ok, err = write_summary(session, slot)
  if not ok then
    done:fail("evidence", "summary: " .. tostring(err))
    ok, err = write_summary(session, slot) -- now with its own failure, if it can be written
  end
  if not ok then
    lose(session, slot.directory .. "/summary.json", err)
  end
  count(session, done)
  session.progress:finished(done)
  session.stopped = session.stopped or reason_to_stop(session, done)
end

local function skip(session, slot)
  local dir = session.output .. "/" .. slot.directory
  local ok, err = core.fs.mkdirs(dir)
  if ok then
    ok, err = evidence.write_json(dir .. "/summary.json", summary.skipped(slot, session.stopped))
  end
  if not ok then
    lose(session, slot.directory .. "/summary.json", err)
  end
  session.outcome.failed_runs = session.outcome.failed_runs + 1
end

-- ---------------------------------------------------------------- the whole

local function run_one(session, slot)
  session.progress:starting(slot)
  local done = run.execute(session, slot)
  finish_run(session, slot, done)
  write_report(session)
end

local function run_all(session)
  for _, slot in ipairs(session.plan.runs) do
    local cancelled = waiting.cancelled()
    if cancelled and not session.stopped then
      session.outcome.cancelled = true
      session.stopped = "cancelled " .. cancelled.detail
    end
    if session.stopped then
      skip(session, slot)
    else
      run_one(session, slot)
    end
  end
  if session.stopped then
    session.log:line("remaining runs skipped: " .. session.stopped)
  end
end

-- PROV-3: artifacts that changed while they were compared make the comparison invalid.
local function revisit_artifacts(session)
  local changed = {}
  for _, name in ipairs(session.names) do
    local state = variants.revisit(session.variants[name], watch_hashing(session, name))
    changed[name] = state
    if not state.unchanged then
      session.log:line(
        ("the %s's artifact changed during the session (%s); the comparison is invalid"):format(
          name,
          manifest_changes.text(state)
        )
      )
    end
  end
  return changed
end

local function write_session(session)
  local outcome = session.outcome
  local artifacts = revisit_artifacts(session)
  outcome.cancelled = outcome.cancelled or core.cancel.requested() ~= nil
  local ok, err = evidence.write_json(session.output .. "/session.json", {
    schema = "pairperf-session-1",
    artifacts = artifacts,
    cancelled = outcome.cancelled or false,
    stopped = session.stopped or core.json.null,
    failed_or_skipped = outcome.failed_runs,
  })
  if not ok then
    lose(session, "session.json", err)
  end
end

-- The status without what was lost: a lost report or digest is found out after it.
local function seal(session, status)
  session.log:line(("session finished with exit status %d"):format(status()))
  if session.log.error then
    lose(session, "a line of session.log", session.log.error)
  end
  local sealed, err = digests.seal(session.output)
  if not sealed then
    lose(session, digests.FILE, err)
  end
end

local function close(session)
  write_session(session)
  local written, err = write_report(session)
  if not written then
    lose(session, "report", err)
  end
  session.outcome.decisions = written and gate.decisions(written)
  local function status()
    local decided = exit_status.decide(session.outcome)
    return decided == exit_status.OK and session.lost and exit_status.INTERNAL or decided
  end
  seal(session, status)
  session.progress:closing(session, status(), written)
  return status()
end

local function refuse(draft)
  for _, finding in ipairs(draft.findings) do
    if finding.level == "refused" then
      io.stderr:write("pairperf-lua: ", finding.text, "\n")
      for _, line in ipairs(finding.lines or {}) do
        io.stderr:write("    ", line, "\n")
      end
    end
  end
  return exit_status.USAGE
end

local function locked(draft, command_line)
  local ok, err = core.fs.mkdir_exclusive(draft.output)
  if not ok then
    return complain(("option '--output': %s"):format(tostring(err)), exit_status.USAGE)
  end
  local session, failure = prepare(draft, command_line)
  if not session then
    local cancelled = errors.is_cancelled(failure)
    return complain(failure, cancelled and exit_status.CANCELLED or exit_status.INTERNAL)
  end
  session.progress:warnings(session.plan.warnings)
  run_all(session)
  return close(session)
end

--- Runs an examined draft: lock, mkdir, provenance, plan, runs, reports.
---@param draft pairperf.Draft
---@param command_line string[]
---@return integer exit_status
function M.start(draft, command_line)
  if preflight.refused(draft) then
    return refuse(draft)
  end
  local lock, err = core.lock.acquire(os.getenv "PP_LOCK")
  if not lock then
    return complain(
      ("another session runs on this machine, or what it started is still being ended: %s"):format(
        tostring(err)
      ),
      exit_status.USAGE
    )
  end
  child.share(lock)
  local status = locked(draft, command_line)
  child.share(nil)
  lock:close()
  return status
end

return M
