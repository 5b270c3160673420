-- SPDX-License-Identifier: Apache-2.0
--- Written evidence against docs/schema. The fixtures are checked too: a test on a form that the
--- product does not write would prove nothing.
-- proves: REP-3 PROV-2
package.path = "tests/lua/?.lua;" .. package.path
local core = require "pairperf.core"
local fixture = require "fixture"
local probes = require "pairperf.probes"
local report = require "pairperf.report"
local schema = require "pairperf.json_schema"

local json, S = core.json, fixture.S

describe("evidence keeps its schema", function()
  local dir
  before_each(function()
    dir = fixture.directory()
  end)
  after_each(function()
    fixture.remove(dir)
  end)

  local function check_file(name)
    local text = assert(core.fs.read(dir .. "/" .. name))
    for line in (name:find "jsonl$" and text or text .. "\n"):gmatch "([^\n]+)\n" do
      local problem = schema.problem(assert(json.decode(line)))
      assert(not problem, ("%s: %s"):format(name, problem or ""))
    end
  end

  it("for a session with good, failed and pending runs", function()
    local requests = {}
    for i = 0, 3 do
      requests[i + 1] = {
        schema = "pairperf-request-1",
        send_ns = (101 + 4 * i) * S,
        end_ns = (102 + 4 * i) * S,
        status = "ok",
        tokens = 50,
        e2e_ms = 1000.0,
        ttft_ms = 200.0,
      }
    end
    local bad = {
      frames = fixture.steady(20),
      events = fixture.events {
        fixture.event("run_failed", 121 * S, { step = "quit", reason = "\xff", next = "less x" }),
      },
    }
    bad.frames[2].procs[1].exe = "\xff|"
    bad.frames[3].exits = json.array {
      fixture.exit {
        pid = 7,
        exe = "x",
        start = 9,
        start_ns = 105 * S,
        cpu_ns = { missing = "denied" },
      },
    }
    local grouped = fixture.in_cgroup(fixture.steady(20), 2, { memory = { current_bytes = 1 } })
    fixture.session(dir, fixture.plan { repetitions = 2 }, {
      [0] = { frames = grouped, requests = requests },
      bad,
    })
    assert(report.write(dir))
    for _, name in ipairs { "plan.json", "report.json" } do
      check_file(name)
    end
    for _, run in ipairs { "overview/run-01", "overview/run-02" } do
      for _, name in ipairs { "summary.json", "samples.jsonl", "events.jsonl" } do
        check_file(run .. "/" .. name)
      end
    end
    check_file "overview/run-01/hook/requests.jsonl"
  end)

  it("for a run that failed before it had a window", function()
    fixture.session(dir, fixture.plan { mode = "single" }, {
      [0] = {
        events = {
          fixture.event("run_started", S),
          fixture.event("run_failed", S, { step = "sandbox", reason = "no", next = "ls" }),
        },
      },
    })
    assert(report.write(dir, { interrupted = true }))
    check_file "overview/run-01/summary.json"
    check_file "report.json"
  end)

  it("for probes of this machine and manifests", function()
    for _, result in ipairs { probes.static(), probes.around_run() } do
      assert.is_nil(schema.problem(json.decode(json.encode(result))))
    end
    assert.is_nil(schema.problem {
      schema = "pairperf-manifest-1",
      entries = json.array {
        {
          mode = "0644",
          path = { bytes_hex = "ff" },
          sha256 = ("a"):rep(64),
          size = 3,
          type = "file",
        },
        { path = "Current", target = "A", target_sha256 = ("b"):rep(64), type = "symlink" },
      },
    })
  end)

  it("and the checker tells broken documents from whole ones", function()
    local frame = fixture.steady(20)[1]
    assert.is_nil(schema.problem(frame))
    frame.kind = "tock"
    assert.matches("kind", schema.problem(frame))
    frame.kind, frame.extra = "tick", 1
    assert.matches("extra is unknown", schema.problem(frame))
    frame.extra, frame.procs[1].cpu_ns = nil, -1
    assert.matches("cpu_ns", schema.problem(frame))
    frame.procs[1].cpu_ns, frame.t_ns = 1, nil
    assert.matches("t_ns is missing", schema.problem(frame))
  end)
end)
