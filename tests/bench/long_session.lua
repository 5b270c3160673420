-- SPDX-License-Identifier: Apache-2.0
--- A session as a long one leaves it: 10 runs of 2,400 frames of 16 processes, 0.5 s apart.
local core = require "pairperf.core"
local fixture = require "fixture"

local M = {}

M.RUNS, M.FRAMES, M.PROCESSES = 10, 2400, 16

local S <const>, INTERVAL_NS <const>, WARMUP <const> = fixture.S, 500000000, 200
local ROLES = { "app", "gpu", "net", "renderer" }

local function processes(t_ns, exe)
  local rows = {}
  for i = 1, M.PROCESSES do
    rows[i] = fixture.proc {
      pid = 1000 + i,
      start = 50 + i,
      start_ns = t_ns - S,
      exe = "/opt/app/" .. (i == M.PROCESSES and exe or ROLES[(i - 1) % #ROLES + 1]),
      leader = i == 1,
      rss_bytes = 60 << 20,
    }
  end
  return rows
end

-- Counters go on by about a tenth of a core in all, memory moves by a few MiB.
local function advance(rows, slot)
  for _, row in ipairs(rows) do
    row.cpu_ns = row.cpu_ns + (2 + slot % 2) * 1000000 + math.random(0, 2000000)
    row.voluntary_switches = row.voluntary_switches + math.random(0, 40)
    row.write_bytes = row.write_bytes + 4096 * math.random(0, 3)
    row.rss_bytes = (60 << 20) + 4096 * math.random(0, 1024)
  end
end

local function write_frames(path, slot, exe)
  local file <close> = assert(io.open(path, "wb"))
  local first_ns = 100 * S - WARMUP * INTERVAL_NS
  local rows = processes(first_ns, exe)
  for i = 0, M.FRAMES - 1 do
    advance(rows, slot)
    local frame = fixture.frame {
      seq = i + 1,
      t = (first_ns + i * INTERVAL_NS) / S,
      kind = i < WARMUP and "track"
        or i == WARMUP and "boundary"
        or i == M.FRAMES - 1 and "closing"
        or "tick",
      window = i >= WARMUP and 1 or 0,
      memory_pass = i >= WARMUP and i % 2 == 0 or i == M.FRAMES - 1,
      procs = rows,
    }
    assert(file:write(assert(core.json.encode(frame)), "\n"))
    for _, row in ipairs(rows) do
      row.pss_bytes, row.uss_bytes, row.swap_bytes, row.footprint_pss_bytes = nil, nil, nil, nil
    end
  end
end

local function plan(name)
  local made = fixture.plan { repetitions = M.RUNS // 2 }
  local scenario = made.scenarios[1]
  scenario.summary = name or scenario.summary
  scenario.interval_ns = INTERVAL_NS
  scenario.warmup_ns = WARMUP * INTERVAL_NS
  scenario.duration_ns = (M.FRAMES - 1 - WARMUP) * INTERVAL_NS
  return made
end

--- Plan and raw evidence; what is computed from them is not there yet.
---@param dir string made by this
---@param name string? what one process and the scenario are called
function M.write(dir, name)
  math.randomseed(1)
  local made = plan(name)
  assert(core.fs.mkdirs(dir))
  fixture.write(dir .. "/session.log", "made\n")
  fixture.write(dir .. "/plan.json", assert(core.json.encode(made)) .. "\n")
  for _, slot in ipairs(made.runs) do
    local run_dir = ("%s/%s"):format(dir, slot.directory)
    fixture.run(run_dir, {})
    write_frames(run_dir .. "/samples.jsonl", slot.slot, name)
  end
end

return M
