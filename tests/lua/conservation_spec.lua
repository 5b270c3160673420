-- SPDX-License-Identifier: Apache-2.0
--- What a conserved total says of itself.
package.path = "tests/lua/?.lua;" .. package.path
local fixture = require "fixture"
local json = require "pairperf.json"
local run_metrics = require "pairperf.run_metrics"

describe("a conserved total", function()
  local frames
  before_each(function()
    frames = fixture.steady(25)
  end)

  local function flags()
    local planned = { interval_ns = 10 * fixture.S, duration_ns = 20 * fixture.S }
    local metrics = run_metrics.build(fixture.samples(frames), planned, {}).metrics
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

  local function built()
    local planned = { interval_ns = 10 * fixture.S, duration_ns = 20 * fixture.S }
    return run_metrics.build(fixture.samples(frames), planned, {}).metrics
  end

  -- proves: MET-6, MET-7
  it("below what was observed is partial, and observed leads", function()
    frames[3].conservation.cpu_ns = frames[1].conservation.cpu_ns + fixture.S
    local metrics = built()
    assert.equal(json.null, metrics.cpu_percent_conservation.value)
    assert.equal("below_observed", metrics.cpu_percent_conservation.reason)
    assert.near(5, metrics.cpu_percent_conservation.partial, 1e-9)
    assert.equal("observed", metrics.cpu_percent.tier)
    assert.near(25, metrics.cpu_percent.value, 1e-9)
  end)

  -- proves: MET-6
  it("held up beyond its error is partial", function()
    frames[2].conservation.clamped_ns = 20000001
    assert.equal("clamped_beyond_error", built().cpu_percent_conservation.reason)
    frames[2].conservation.clamped_ns = 20000000
    assert.near(25, built().cpu_percent_conservation.value, 1e-9)
  end)

  -- proves: SMP-6
  it("of writes with hidden counters at an edge is partial", function()
    frames[1].conservation.unreaped = 1
    local writes = built().write_bytes_per_second_conservation
    assert.equal(json.null, writes.value)
    assert.equal("unreaped_at_edge", writes.reason)
  end)
end)
