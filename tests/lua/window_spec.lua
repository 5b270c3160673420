-- SPDX-License-Identifier: Apache-2.0
--- The bindings of counters and window, beyond the golden vectors: arguments and memory.
package.path = "tests/lua/?.lua;" .. package.path
local core = require "pairperf.core"
local latency = require "pairperf.latency"

local counters, window, json = core.counters, core.window, core.json

local function row(given)
  local one = { pid = 1, start_ns = 0, name = "app", cpu_ns = 0, wakeups = 0, write_bytes = 0 }
  for name, value in pairs(given) do
    one[name] = value
  end
  return one
end

local function usage(rows_by_frame, more)
  local input = { frames = {}, excluded = {} }
  for i, rows in ipairs(rows_by_frame) do
    input.frames[i] = { t_ns = 10 * (i - 1) * 1000000000, procs = rows }
  end
  for name, value in pairs(more or {}) do
    input[name] = value
  end
  return window.window_usage(input)
end

describe("counters at the border", function()
  -- proves: SMP-5 REP-3 (B32)
  it("keep every digit up to 2^64-1 and refuse what is larger", function()
    local most = "18446744073709551615"
    local too_large = { "18446744073709551616", "99999999999999999999999", "", "-1", "1e3", " 1" }
    assert.equal(most, counters.counter_delta({ prev = 0, next = most }).delta)
    for _, bad in ipairs(too_large) do
      assert.has_error(function()
        counters.counter_delta { prev = 0, next = bad }
      end)
    end
  end)

  it("refuse what is no counter, and unknown or missing fields", function()
    for _, bad in ipairs { -1, 1.5, true, {} } do
      assert.has_error(function()
        counters.counter_delta { prev = 0, next = bad }
      end)
    end
    assert.has_error(function()
      counters.counter_delta { prev = 0, next = json.null }
    end)
    assert.error_matches(function()
      counters.counter_delta { prev = 0, next = 1, nxt = 2 }
    end, "unknown field 'nxt'")
    assert.has_error(function()
      counters.ticks_to_ns { ticks = 1, numer = 1, denom = 0 }
    end)
    assert.has_error(function()
      counters.rate { delta = 1, elapsed_ns = 0.5 }
    end)
  end)
end)

describe("a window's rows", function()
  -- proves: MET-2
  it("take the counters that are named, the first of them CPU", function()
    local result = usage({
      { row { switches = 5 } },
      { row { switches = 25, cpu_ns = 1000000000 } },
    }, { counters = { "cpu_ns", "switches" } })
    assert.near(2, result.value.switches_per_second, 1e-12)
    assert.near(10, result.value.cpu_percent_total, 1e-12)
    assert.is_nil(result.value.wakeups_per_second)
    assert.has_error(function()
      usage({ { row {} } }, { counters = { "switches" } })
    end)
  end)

  -- proves: TRK-1
  it("carry the reason of a missing counter: ended spoils nothing, denied its total", function()
    local function value(why)
      local last = row { cpu_ns = 7 }
      last.write_bytes, last.missing = json.null, { write_bytes = why }
      local result = usage { { row {} }, { last } }
      return result.value.write_bytes_per_second, result.flags
    end
    assert.equal(0.0, value "vanished")
    local denied, flags = value "denied"
    assert.is_nil(denied)
    assert.same({ "unreadable:write_bytes" }, flags)
  end)

  it("compare births on the clock that stamps starts", function()
    local frames = {
      { t_ns = 0, start_clock_ns = 5000000000, procs = {} },
      {
        t_ns = 10000000000,
        start_clock_ns = 15000000000,
        procs = { row { cpu_ns = 8, start_ns = 4000000000 } },
      },
    }
    local late = window.window_usage { frames = frames, excluded = {} }
    assert.same({ "late_discovery" }, late.flags)
    local coarse =
      window.window_usage { frames = frames, excluded = {}, start_step_ns = 1000000000 }
    assert.same({}, coarse.flags)
    assert.equal("8", coarse.partial_totals.cpu_ns)
  end)

  it("raise on misuse and name the field", function()
    assert.error_matches(function()
      usage { { row { pid = "x" } } }
    end, "pid")
    assert.error_matches(function()
      usage { { row { name = 5 } } }
    end, "name")
    assert.has_error(function()
      window.window_usage { frames = {}, excluded = {} }
    end)
    assert.has_error(function()
      window.memory { frames = { 5 } }
    end)
    assert.has_error(function()
      window.window_validity { frames = {}, interval_ms = 0, duration_s = 1 }
    end)
    assert.has_error(function()
      window.censored_summary { results = { { outcome = "perhaps" } } }
    end)
  end)

  it("survive a collector at full stress, also when they raise", function()
    collectgarbage("generational")
    collectgarbage("incremental", 1000, 1000)
    for i = 1, 200 do
      local rows = {}
      for p = 1, 20 do
        rows[p] = row { pid = p, name = "component " .. p % 7, cpu_ns = tostring(i * p) }
      end
      assert.truthy(usage { rows, rows })
      rows[20].cpu_ns = -1
      assert.is_false(pcall(usage, { rows, rows }))
      assert.truthy(window.memory { frames = { { { name = "a", bytes = i } } } })
    end
    collectgarbage()
  end)
end)

describe("requests against a window", function()
  -- proves: INF-4
  it("belong to it when they were sent in [start, end) and complete in [start, end)", function()
    local function one(send_ns, end_ns)
      return { send_ns = send_ns, end_ns = end_ns, status = "ok", tokens = 1 }
    end
    local result = latency.latency_run {
      window = { start_ns = 1000, end_ns = 2000 },
      requests = { one(999, 1000), one(1000, 1999), one(1999, 2000), one(2000, 2001) },
    }
    assert.equal(2, result.attempted)
    assert.equal(2, result.completed)
  end)
end)
