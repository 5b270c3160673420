-- SPDX-License-Identifier: Apache-2.0
-- Makes a session's directory whose counters no double holds, with a name that is markup:
--   pairperf-lua --lua-path tests/lua tests/real/exports/session.lua DIR
local core = require "pairperf.core"
local fixture = require "fixture"

local BIG <const> = 9007199254740993 -- 2^53 + 1
local HOSTILE <const> = '/opt/app/</script><img src=x onerror=alert(1)>|x"'

local function frames(slot)
  local list = {}
  for i = 0, 4 do
    list[i + 1] = {
      t = 100 + 10 * i,
      procs = {
        fixture.proc {
          cpu_ns = BIG + i * (2000000000 + slot),
          rss_bytes = (100 + slot) << 20,
          write_bytes = "18446744073709551615",
          leader = true,
        },
        fixture.proc { pid = 101, start = 9, exe = HOSTILE, cpu_ns = i },
      },
      conservation = { cpu_ns = BIG + i * (2000000000 + slot), write_bytes = 4096 * i },
    }
  end
  return fixture.frames(list)
end

local runs = {}
for slot = 0, 9 do
  runs[slot] = { frames = frames(slot) }
end
local dir = ...
assert(core.fs.mkdirs(dir))
fixture.session(dir, fixture.plan { repetitions = 5 }, runs)
