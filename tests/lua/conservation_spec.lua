-- SPDX-License-Identifier: Apache-2.0
--- What a conserved total says of itself.
package.path = "tests/lua/?.lua;" .. package.path
local fixture = require "fixture"
local run_metrics = require "pairperf.run_metrics"

describe("a conserved total", function()
  local frames
  before_each(function()
    frames = fixture.steady(25)
  end)

  local function flags()
    local planned = { interval_ns = 10 * fixture.S, duration_ns = 20 * fixture.S }
    local metrics = run_metrics.build(frames, planned, {}).metrics
    return metrics.cpu_percent_conservation.flags, metrics.write_bytes_per_second_conservation.flags
  end

  -- proves: MET-7
  it("is flagged clamped only when it was itself held up", function()
    frames[2].conservation.clamped_write_bytes = 1
    local cpu, writes = flags()
    assert.same({}, cpu)
    assert.same({ "clamped" }, writes)
  end)

  it("of writes is a lower bound wherever that of CPU is one", function()
    frames[2].conservation.lower_bound = true
    frames[3].conservation.unreaped = 1
    local cpu, writes = flags()
    assert.same({ "lower_bound" }, cpu)
    assert.same({ "lower_bound", "unreaped_at_edge" }, writes)
  end)
end)
