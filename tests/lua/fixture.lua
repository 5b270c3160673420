-- SPDX-License-Identifier: Apache-2.0
--- Run directories and session directories made from tables, in the form that the product writes.
local core = require "pairperf.core"

local json = core.json
local M = {}

M.S = 1000000000

local ZERO = {
  cpu_ns = 0,
  child_cpu_ns = 0,
  rss_bytes = 0,
  voluntary_switches = 0,
  involuntary_switches = 0,
  write_bytes = 0,
  cancelled_write_bytes = 0,
  threads = 1,
}
local ABSENT = {
  "footprint_bytes",
  "wakeups_pkg_idle",
  "wakeups_interrupt",
  "logical_write_bytes",
  "billed_energy",
}
local MEMORY = { "pss_bytes", "uss_bytes", "swap_bytes", "footprint_pss_bytes" }

local function is_pass_field(name)
  for _, field in ipairs(MEMORY) do
    if field == name then
      return true
    end
  end
end

--- A process row. Fields given as {missing = "denied"} become null with that reason.
function M.proc(given)
  local proc = {
    pid = 100,
    start = 5,
    unique = 0,
    ppid = 1,
    pgid = 100,
    sid = 100,
    phase = "alive",
    exe = "/opt/app/app",
    start_ns = 5 * M.S,
    leader = false,
    in_group = true,
    escaped = false,
    sigchld_ignored = false,
    missing = {},
  }
  for name, value in pairs(ZERO) do
    proc[name] = value
  end
  for _, name in ipairs(ABSENT) do
    proc[name], proc.missing[name] = json.null, "unsupported"
  end
  for name, value in pairs(given) do
    if type(value) == "table" and value.missing then
      proc[name], proc.missing[name] = json.null, value.missing
    else
      proc[name] = value
    end
  end
  return proc
end

--- An exit row.
function M.exit(given)
  local row = M.proc(given)
  for _, name in ipairs {
    "phase",
    "leader",
    "in_group",
    "escaped",
    "sid",
    "sigchld_ignored",
    "threads",
    "rss_bytes",
    "footprint_bytes",
  } do
    row[name], row.missing[name] = nil, nil
  end
  row.exit = given.exit or { code = 0 }
  row.final = given.final ~= false
  return row
end

local function conservation(given, procs)
  local total = { cpu_ns = 0, write_bytes = 0 }
  for _, proc in ipairs(procs) do
    for name in pairs(total) do
      total[name] = total[name] + (proc[name] ~= json.null and proc[name] or 0)
    end
  end
  local result = {
    cpu_ns = total.cpu_ns,
    write_bytes = total.write_bytes,
    reaped_cpu_ns = 0,
    reaped_write_bytes = 0,
    clamped_ns = 0,
    clamped_write_bytes = 0,
    unreaped = 0,
    error_ns = 5000000,
    lower_bound = false,
    missing = {},
  }
  for name, value in pairs(given or {}) do
    result[name] = value
  end
  return result
end

local READINGS = { "cpu_ns", "user_ns", "system_ns", "read_bytes", "write_bytes" }
local CHARGED = {
  "current_bytes",
  "anon_bytes",
  "file_bytes",
  "shmem_bytes",
  "kernel_bytes",
  "swap_bytes",
  "peak_bytes",
}

-- Fields given as {missing = "denied"}, or not at all, become null with a reason.
local function fill(place, given, names, missing)
  for _, name in ipairs(names) do
    local value = given[name]
    if type(value) == "number" then
      place[name] = value
    else
      place[name], missing[name] = json.null, value and value.missing or "unsupported"
    end
  end
  return place
end

--- The cgroup of a frame: readings by name, memory by part, strays.
function M.cgroup(given)
  local group = { strays = given.strays or 0, missing = {} }
  fill(group, given, READINGS, group.missing)
  group.memory = fill({}, given.memory or {}, CHARGED, group.missing)
  return group
end

--- The frames, each with a cgroup that counted `factor` times what is conserved.
function M.in_cgroup(frames, factor, more)
  for _, frame in ipairs(frames) do
    local group = { cpu_ns = math.floor(frame.conservation.cpu_ns * (factor or 1)) }
    for name, value in pairs(more or {}) do
      group[name] = value
    end
    frame.cgroup = M.cgroup(group)
  end
  return frames
end

--- A frame at t seconds. With a memory pass unless memory_pass = false; PSS fields default to RSS.
function M.frame(given)
  local t_ns = math.floor(given.t * M.S)
  local frame = {
    schema = "pairperf-frame-1",
    seq = given.seq or 0,
    window = given.window or 1,
    kind = given.kind or "tick",
    scheduled_ns = t_ns,
    t_ns = t_ns + (given.late_ns or 0),
    end_ns = t_ns + (given.late_ns or 0) + 2000000,
    used_ns = t_ns + (given.late_ns or 0) + 3000000,
    cont_ns = t_ns + (given.late_ns or 0) + (given.slept_ns or 0),
    listed_cont_ns = t_ns + (given.late_ns or 0) + (given.slept_ns or 0),
    wall_ns = 1764444672000000000 + t_ns,
    missed = given.missed or 0,
    enumeration = given.enumeration or "ok",
    memory_pass = given.memory_pass ~= false,
    procs = json.array(given.procs or {}),
    exits = json.array(given.exits or {}),
    failures = json.array(given.failures or {}),
    failures_dropped = 0,
    conservation = conservation(given.conservation, given.procs or {}),
    births = { count = json.null, missing = { count = "unsupported" } },
    cgroup = json.null,
  }
  for _, proc in ipairs(frame.procs) do
    for _, name in ipairs(MEMORY) do
      if not frame.memory_pass then
        proc[name] = nil
      elseif proc[name] == nil then
        proc[name] = name == "swap_bytes" and 0 or proc.rss_bytes
      end
    end
    if not frame.memory_pass then
      for name in pairs(proc.missing) do
        proc.missing[name] = not is_pass_field(name) and proc.missing[name] or nil
      end
    end
  end
  return frame
end

--- Frames numbered in order; the first is the boundary, the last the closing one.
function M.frames(list)
  local frames = {}
  for i, given in ipairs(list) do
    given.seq = given.seq or i
    given.kind = given.kind or (i == 1 and "boundary") or (i == #list and "closing") or "tick"
    frames[i] = M.frame(given)
  end
  return frames
end

local function event(kind, t_ns, fields)
  local one = {
    schema = "pairperf-event-1",
    source = "harness",
    kind = kind,
    t_ns = t_ns,
    wall_ns = 1764444672000000000 + t_ns,
  }
  for name, value in pairs(fields or {}) do
    one[name] = value
  end
  return one
end
M.event = event

M.VERDICT = {
  source = "supervisor",
  seq = 90,
  verdict = "echild",
  cause = json.null,
  forced = false,
  leader_exit = { signal = "SIGTERM", core = false },
  leader_reaped_elsewhere = false,
  proofs = { group_empty = true, kernel_childless = "ok", recorded_gone = true },
  survivors = json.array {},
  unverified = json.array {},
  escapees = json.array {},
  escapees_total = 0,
  escapees_killed = false,
  signal_failure = json.null,
  verified_ns = 1000,
  own = { cpu_ns = 4000000, rss_bytes = 1048576, frames = 3, frames_dropped = 0 },
}

local ABSENT_LAUNCHER = { ["/usr/local/bin/nvpair"] = { state = "absent" } }

--- Events of a run that went well; `change` may replace or remove them by kind.
function M.events(change)
  local s = M.S
  local list = {
    event("run_started", 1 * s, { slot = 0 }),
    event("guard_before", 2 * s, { snapshots = ABSENT_LAUNCHER }),
    event("sandbox_ready", 3 * s),
    event("capability", 4 * s, {
      source = "supervisor",
      seq = 1,
      capability = "adoption",
      state = "ok",
      consequence = "orphans are adopted",
    }),
    event("ready", 6 * s, { waited_ns = 1500000000, how = "port", answer = "connected" }),
    event("warmup_started", 7 * s),
    event("sampling_started", 99 * s),
    event("sampling_finished", 121 * s, { complete = true }),
    event("check_not_configured", 121 * s),
    event("quit_requested", 122 * s),
    event("verdict", 123 * s, M.VERDICT),
    event(
      "guard_after",
      124 * s,
      { snapshots = ABSENT_LAUNCHER, changed = false, fields = json.array {} }
    ),
  }
  local kept = {}
  for _, one in ipairs(list) do
    local replaced = change and change[one.kind]
    if replaced == nil then
      kept[#kept + 1] = one
    elseif replaced then
      kept[#kept + 1] = event(one.kind, one.t_ns, replaced)
    end
  end
  for _, one in ipairs(change or {}) do
    kept[#kept + 1] = one
  end
  return kept
end

--- JSON Lines of a list.
function M.lines(list)
  local parts = {}
  for i, one in ipairs(list) do
    parts[i] = assert(json.encode(one)) .. "\n"
  end
  return table.concat(parts)
end

function M.write(path, text)
  local file = assert(io.open(path, "wb"))
  assert(file:write(text))
  assert(file:close())
end

--- A fresh directory; removed by M.remove.
function M.directory()
  local path = os.tmpname()
  os.remove(path)
  assert(core.fs.mkdirs(path))
  return path
end

function M.remove(path)
  os.execute("rm -rf '" .. path .. "'")
end

--- What the product reads back of frames.
---@param frames table[]
---@return pairperf.Samples
function M.samples(frames)
  local dir = M.directory()
  M.write(dir .. "/samples.jsonl", M.lines(frames))
  local samples = assert(require("pairperf.samples").read(dir))
  M.remove(dir)
  return samples
end

--- Writes samples, events and requests of one run below `dir`.
---@param run {frames: table[]?, events: table[]?, requests: table[]?, samples: string?}
function M.run(dir, run)
  assert(core.fs.mkdirs(dir .. "/hook"))
  M.write(dir .. "/samples.jsonl", run.samples or M.lines(run.frames or {}))
  M.write(dir .. "/events.jsonl", M.lines(run.events or M.events()))
  if run.requests then
    M.write(dir .. "/hook/requests.jsonl", M.lines(run.requests))
    M.write(dir .. "/hook/chat.json", assert(json.encode(run.client or { delay_s = 1 })))
  end
end

--- A plan of one scenario with `repetitions` per variant, in strict alternation.
function M.plan(change)
  change = change or {}
  local runs = json.array {}
  local variants = change.mode == "single" and { "baseline" } or { "baseline", "candidate" }
  for repetition = 1, change.repetitions or 1 do
    for _, variant in ipairs(variants) do
      runs[#runs + 1] = {
        slot = #runs,
        scenario = "overview",
        variant = variant,
        repetition = repetition,
        directory = ("overview/run-%02d"):format(#runs + 1),
      }
    end
  end
  local function side(name)
    return {
      artifact = "/opt/" .. name,
      kind = "directory",
      executable = "/opt/" .. name .. "/app",
      executable_sha256 = ("0"):rep(64),
      args = json.array {},
      env_set = {},
      env_names = json.array {},
      bundle_manifest_sha256 = ("1"):rep(64),
      archive = json.null,
      version = "1.0",
      identifier = json.null,
      cli_manifest_sha256 = json.null,
    }
  end
  local plan = {
    schema = "pairperf-plan-1",
    tool = { version = "0.1.0", build = {}, command_line = json.array {} },
    created_utc = "2025-11-29T19:31:12Z",
    mode = "ab",
    seed = 3,
    seed_origin = "option",
    first = "baseline",
    order = "alternate",
    scenarios = json.array {
      {
        name = "overview",
        label = "overview",
        summary = "window open, no requests",
        interval_ns = 10 * M.S,
        warmup_ns = 60 * M.S,
        duration_ns = 20 * M.S,
        repetitions = change.repetitions or 1,
        script = "overview.lua",
        script_sha256 = ("2"):rep(64),
      },
    },
    variants = {
      baseline = side "baseline",
      candidate = change.mode ~= "single" and side "candidate" or nil,
    },
    options = {},
    diagnostic = { diagnostic_only = false, reasons = json.array {} },
    null_control = false,
    differences = json.array {},
    excluded_components = json.array {},
    expect_escapees = json.array {},
    guard_paths = json.array { "/usr/local/bin/nvpair" },
    context = json.null,
    warnings = json.array {},
    runs = runs,
  }
  for name, value in pairs(change) do
    plan[name] = name ~= "repetitions" and value or plan[name]
  end
  return plan
end

--- Frames of a run in which one process uses `percent` of a core over 20 s.
function M.steady(percent, more)
  local procs = {}
  for i = 0, 2 do
    procs[i] = M.proc {
      cpu_ns = math.floor(10 * i * percent / 100 * M.S),
      rss_bytes = 100 << 20,
      voluntary_switches = 40 * i,
      write_bytes = 8192 * i,
      leader = true,
    }
  end
  local frames = {}
  for i = 0, 2 do
    frames[i + 1] = { t = 100 + 10 * i, procs = { procs[i] } }
    for name, value in pairs(more or {}) do
      frames[i + 1][name] = value
    end
  end
  return M.frames(frames)
end

--- A run for M.session that failed.
function M.failed(step, reason)
  return {
    frames = M.steady(25),
    events = M.events {
      M.event(
        "run_failed",
        121 * M.S,
        { step = step, reason = reason, next = "less events.jsonl" }
      ),
    },
  }
end

--- One that was skipped.
function M.skipped(slot, reason)
  return {
    summary = {
      schema = "pairperf-summary-1",
      slot = slot,
      scenario = "overview",
      variant = "baseline",
      repetition = 1,
      status = "skipped",
      failure = {
        step = "skipped",
        reason = reason,
        evidence = "session.log",
        next = "less session.log",
      },
    },
  }
end

--- Writes a session directory: plan, probes, and a summary for each given slot.
---@param runs table<integer, table> by slot: what M.run takes, or {summary = table}
function M.session(dir, plan, runs)
  local summary = require "pairperf.summary"
  M.write(dir .. "/plan.json", assert(json.encode(plan)))
  for _, slot in ipairs(plan.runs) do
    local run = runs[slot.slot]
    if run then
      local run_dir = dir .. "/" .. slot.directory
      M.run(run_dir, run)
      local built = run.summary or assert(summary.build(run_dir, plan, slot))
      M.write(run_dir .. "/summary.json", assert(json.encode(built)))
    end
  end
end

return M
