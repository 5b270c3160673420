-- SPDX-License-Identifier: Apache-2.0
--- A session of long windows with many processes, made up: the same bytes every time. Processes
--- come and go, a memory pass is every fourth one, some readings are refused or came too late.
local core = require "pairperf.core"
local fixture = require "fixture"

local json = core.json
local M = {}

local S <const> = fixture.S
local STEP_NS <const> = 250000000
local BOUNDARY_NS <const> = 100 * S

M.STEP_NS = STEP_NS

local function per_frame_ns(k, of_variant)
  return STEP_NS // 100 * (1 + (k + of_variant) % 4) + 13 * k
end

-- A process that lives on, or one of many short ones in its place.
local function process(k, frame, of_variant)
  local short = k % 4 == 3
  local life = short and frame // (8 + k) or 0
  local age = short and frame % (8 + k) or frame
  local born_ns = BOUNDARY_NS + (frame - age) * STEP_NS - (life > 0 and S // 10 or 5 * S)
  local proc = fixture.proc {
    pid = 100 + k + 40 * life,
    start = born_ns // 10000000,
    start_ns = born_ns,
    unique = 7000 + k + 1000 * life,
    ppid = k == 0 and 1 or 100,
    exe = ("/opt/app/lib/part-%d/bin/part-%d"):format(k % 5, k % 5),
    leader = k == 0,
    cpu_ns = (age + 1) * per_frame_ns(k, of_variant),
    child_cpu_ns = 0,
    rss_bytes = (20 + k) << 20 | (frame % 7) << 12,
    voluntary_switches = 11 * (age + 1),
    involuntary_switches = age + 1,
    write_bytes = 4096 * (age + 1),
    switches_lower_bound = false,
    shares_memory = false,
  }
  if k == 5 and frame % 50 == 0 then
    proc.rss_bytes, proc.missing.rss_bytes = json.null, "vanished"
    proc.phase = "zombie"
  end
  return proc, short and age == 7 + k
end

local function frame_of(number, count, processes, of_variant)
  local procs, exits, used_ns, written = {}, {}, 0, 0
  for k = 0, processes - 1 do
    local proc, ends = process(k, number, of_variant)
    procs[k + 1] = proc
    used_ns, written = used_ns + per_frame_ns(k, of_variant), written + 4096
    if ends then
      exits[#exits + 1] = fixture.exit(process(k, number, of_variant))
    end
  end
  return fixture.frame {
    seq = number + 1,
    t = (BOUNDARY_NS + number * STEP_NS) / S,
    kind = number == 0 and "boundary" or number == count - 1 and "closing" or "tick",
    memory_pass = number % 4 == 0 or number == count - 1,
    procs = procs,
    exits = exits,
    conservation = { cpu_ns = used_ns * (number + 1), write_bytes = written * (number + 1) },
  }
end

local function requests(duration_ns)
  local list = {}
  for i = 1, duration_ns // S do
    local sent = BOUNDARY_NS + i * S
    list[i] = {
      schema = "pairperf-request-1",
      send_ns = sent,
      end_ns = sent + 100000000 + i % 17 * 1000000,
      status = "ok",
      tokens = 16,
    }
  end
  return list
end

local function events(duration_ns)
  local last = BOUNDARY_NS + duration_ns
  return fixture.events {
    sampling_started = { t_ns = BOUNDARY_NS },
    sampling_finished = { t_ns = last, complete = true },
  }
end

--- Writes plan, events, frames and requests; no summary and no report.
---@param dir string an existing directory
---@param size {repetitions: integer, frames: integer, processes: integer}
function M.write(dir, size)
  local plan = fixture.plan { repetitions = size.repetitions }
  local duration_ns = (size.frames - 1) * STEP_NS
  local scenario = plan.scenarios[1]
  scenario.interval_ns, scenario.duration_ns, scenario.warmup_ns = STEP_NS, duration_ns, 60 * S
  fixture.write(dir .. "/plan.json", assert(json.encode(plan)) .. "\n")
  for _, slot in ipairs(plan.runs) do
    local run_dir = ("%s/%s"):format(dir, slot.directory)
    fixture.run(run_dir, { events = events(duration_ns), requests = requests(duration_ns) })
    local file <close> = assert(io.open(run_dir .. "/samples.jsonl", "wb"))
    for number = 0, size.frames - 1 do
      local of_variant = slot.variant == "candidate" and 1 or 0
      local frame = frame_of(number, size.frames, size.processes, of_variant)
      assert(file:write(assert(json.encode(frame)), "\n"))
    end
  end
end

return M
