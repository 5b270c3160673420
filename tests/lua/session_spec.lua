-- SPDX-License-Identifier: Apache-2.0
local fake = dofile "tests/lua/support/fake_core.lua"

local host, session, draft, options, preflight, scenario
local outcomes, executed, reports, gates, unsealed

-- Loads the session over a fake core whose runs end as `outcomes` says, by slot.
before_each(function()
  outcomes, executed, reports, gates, unsealed = {}, {}, 0, {}, nil
  host = fake.fresh()
  package.loaded["pairperf.summary"] = {
    build = function()
      return { status = "success", window = { valid = true } }
    end,
    skipped = function(slot, reason)
      return { slot = slot.slot, status = "skipped", failure = { reason = reason } }
    end,
  }
  package.loaded["pairperf.report"] = {
    write = function()
      reports = reports + 1
      return { gates = gates }
    end,
  }
  package.loaded["pairperf.digests"] = {
    FILE = "digests.json",
    seal = function()
      return unsealed == nil or nil, unsealed
    end,
  }
  package.loaded["pairperf.run"] = {
    execute = function(_, slot)
      executed[#executed + 1] = slot
      local done = outcomes[slot.slot] or {}
      done.slot, done.scenario, done.dir = slot, { warmup_s = 0, duration_s = 1 }, "/d"
      done.events = { add = function() end }
      done.lose = function() end
      done.fail = function(self, step, reason)
        self.failure = { step = step, reason = reason }
      end
      return done
    end,
  }
  session, draft, options, preflight, scenario =
    require "pairperf.session",
    require "pairperf.draft",
    require "pairperf.options",
    require "pairperf.preflight",
    require "pairperf.scenario"
  host.files["/a"], host.files["/b"] = "#!", "#!"
  host.files["/tmp"] = { type = "directory" }
  rawset(io, "stderr", { write = function() end, flush = function() end })
end)

local stderr = io.stderr
after_each(function()
  rawset(io, "stderr", stderr)
end)

local function prepare(...)
  local suite = scenario.as_suite(scenario.declare { name = "busy", summary = "s", interval_s = 1 })
  local args = {
    "--baseline",
    "/a",
    "--candidate",
    "/b",
    "--output",
    "/tmp/out",
    "--authorize-launch",
    "--seed",
    "3",
    "--quiet",
    ...,
  }
  local parsed = assert(options.parse(assert(draft.entries(suite)), args))
  local planned = draft.new(suite, parsed, { path = "busy", source = "", absolute = "busy" })
  preflight.examine(planned)
  return planned
end

local function start(...)
  return session.start(prepare(...), { "pairperf-lua" })
end

local function failed(step, more)
  local done = { failure = { step = step, reason = "r", next = "n" } }
  for name, value in pairs(more or {}) do
    done[name] = value
  end
  return done
end

local function skipped()
  local count = 0
  for _, value in ipairs(host.texts) do
    if value.status == "skipped" then
      count = count + 1
    end
  end
  return count
end

describe("a session", function()
  it(
    "writes manifests, probes and plan before the first launch, and a report after every run",
    function()
      local execute = package.loaded["pairperf.run"].execute
      package.loaded["pairperf.run"].execute = function(...)
        assert.is_truthy(host.files["/tmp/out/plan.json"])
        assert.is_truthy(host.files["/tmp/out/probes.json"])
        assert.is_truthy(host.files["/tmp/out/baseline-bundle-manifest.json"])
        assert.is_truthy(host.files["/tmp/out/candidate-bundle-manifest.json"])
        return execute(...)
      end
      assert.equal(0, start("--repetitions", "2"))
      assert.equal(4, #executed)
      assert.equal(5, reports)
    end
  )

  -- proves: CLI-2
  it("without authorization is refused and creates nothing", function()
    local planned = prepare()
    planned.values["authorize-launch"], planned.findings = nil, {}
    preflight.examine(planned)
    assert.equal(2, session.start(planned, {}))
    assert.is_nil(host.files["/tmp/out"])
    assert.equal(0, #executed)
  end)

  it("keeps the context as it was read before the session", function()
    host.files["/context"] = "from a file"
    local planned = prepare("--context", "typed", "--context-file", "/context")
    host.files["/context"] = nil
    assert.equal(0, session.start(planned, {}))
    for _, value in ipairs(host.texts) do
      if value.schema == "pairperf-plan-1" then
        assert.equal("typed\nfrom a file", value.context)
        return
      end
    end
    error "no plan"
  end)

  -- proves: CLI-3
  it("with an existing output is refused", function()
    host.files["/tmp/out"] = { type = "directory" }
    assert.equal(2, start())
    assert.equal(0, #executed)
  end)

  it("that loses the race for its output is refused", function()
    local planned = prepare()
    host.files["/tmp/out"] = { type = "directory" }
    assert.equal(2, session.start(planned, {}))
    assert.equal(0, #executed)
  end)

  it("while another holds the lock is refused and creates nothing", function()
    package.loaded["pairperf.core"].lock.acquire = function()
      return nil, require("pairperf.error").new("exists", "lock", "held by pid 5")
    end
    assert.equal(2, start())
    assert.is_nil(host.files["/tmp/out"])
  end)
end)

-- proves: PLAN-3
describe("after a failed run", function()
  it("the others go on", function()
    outcomes[0] = failed "warmup"
    assert.equal(1, start("--repetitions", "2"))
    assert.equal(4, #executed)
  end)

  it("that leaves doubt every remaining run is skipped with the reason", function()
    outcomes[1] = failed("quit", { halt = "quit: cleanup unverified" })
    assert.equal(1, start("--repetitions", "2"))
    assert.equal(2, #executed)
    assert.equal(2, skipped())
  end)

  it("whose script failed the status is 70", function()
    outcomes[0] = failed("ready", { halt = "script", script_error = "mine.lua:3: x" })
    assert.equal(70, start("--repetitions", "2"))
    assert.equal(3, skipped())
  end)

  it("that was cancelled the status is 3", function()
    outcomes[1] = failed("sampling", { halt = "cancelled", cancelled = true })
    assert.equal(3, start("--repetitions", "2"))
    assert.equal(2, skipped())
  end)

  it("--allow-failed decides the status", function()
    outcomes[0] = failed "warmup"
    assert.equal(0, start("--repetitions", "2", "--allow-failed", "1"))
  end)
end)

-- proves: CLI-7
describe("gates", function()
  local function status_with(decisions, ...)
    for i, decision in ipairs(decisions) do
      gates[i] = { decision = decision }
    end
    return start("--repetitions", "1", ...)
  end

  it("that pass give 0", function()
    assert.equal(0, status_with { "pass", "pass" })
  end)

  it("that stay open give 4", function()
    assert.equal(4, status_with { "pass", "inconclusive" })
  end)

  it("that stay open give 0 with --allow-inconclusive", function()
    assert.equal(0, status_with({ "inconclusive" }, "--allow-inconclusive"))
  end)

  it("that fail give 4 with --allow-inconclusive too", function()
    assert.equal(4, status_with({ "fail", "inconclusive" }, "--allow-inconclusive"))
  end)

  it("come after failed runs", function()
    outcomes[0], gates = failed "warmup", { { decision = "fail" } }
    assert.equal(1, start("--repetitions", "1"))
  end)

  it("and the family are in the plan", function()
    local planned = prepare(
      "--fail-on",
      "cpu_percent:+5%",
      "--primary",
      "busy/rss_max_bytes",
      "--repetitions",
      "1"
    )
    session.start(planned, {})
    local plan = session.plan_table(planned, {})
    assert.same({ "cpu_percent:+5%" }, { table.unpack(plan.comparison.gates) })
    assert.same(
      { { scenario = "busy", metric = "rss_max_bytes" } },
      { table.unpack(plan.comparison.primary) }
    )
  end)
end)

-- proves: PLAN-6
describe("first runs of both variants that fail at the same step", function()
  it("stop the session", function()
    outcomes[0], outcomes[1] = failed "ready", failed "ready"
    assert.equal(1, start("--repetitions", "3"))
    assert.equal(2, #executed)
    assert.equal(4, skipped())
  end)

  it("at different steps do not", function()
    outcomes[0], outcomes[1] = failed "ready", failed "warmup"
    start("--repetitions", "3")
    assert.equal(6, #executed)
  end)

  it("do not when --keep-going insists", function()
    outcomes[0], outcomes[1] = failed "ready", failed "ready"
    start("--repetitions", "3", "--keep-going")
    assert.equal(6, #executed)
  end)

  it("count only once: later failures do not stop it", function()
    outcomes[2], outcomes[3] = failed "ready", failed "ready"
    start("--repetitions", "3")
    assert.equal(6, #executed)
  end)
end)

describe("--max-failures", function()
  it("skips the rest once more runs failed", function()
    outcomes[0], outcomes[2] = failed "warmup", failed "warmup"
    start("--repetitions", "3", "--max-failures", "1")
    assert.equal(3, #executed)
  end)
end)

-- proves: CAN-1
describe("a signal between runs", function()
  it("skips every remaining run and gives status 3", function()
    host.signal = { at_s = 0, name = "SIGTERM" }
    assert.equal(3, start("--repetitions", "2"))
    assert.equal(0, #executed)
    assert.equal(4, skipped())
  end)
end)

-- proves: REP-2
describe("evidence of the session that cannot be written", function()
  local function lost(name, status)
    host.write_error = name
    assert.equal(status, start("--repetitions", "1"))
    return host.files["/tmp/out/session.log"] or ""
  end

  it("is named, and the status is not 0", function()
    assert.matches("session.json not written: write: .*ENOSPC", lost("session.json", 70))
  end)

  it("is a summary that could not be written either", function()
    assert.matches("busy/run%-01/summary.json not written", lost("run-01/summary.json", 1))
  end)

  it("is a line of session.log", function()
    host.append_error = "session.log"
    assert.equal(70, start("--repetitions", "1"))
  end)

  it("is digests.json", function()
    unsealed = setmetatable({ code = "sys" }, {
      __tostring = function()
        return "full"
      end,
    })
    assert.equal(70, start("--repetitions", "1"))
    assert.matches("digests.json not written: full", host.files["/tmp/out/session.log"])
  end)

  it("is the summary of a skipped run", function()
    outcomes[0] = failed("quit", { halt = "left running" })
    host.write_error = "run-02/summary.json"
    assert.equal(1, start("--repetitions", "1"))
    assert.matches("busy/run%-02/summary.json not written", host.files["/tmp/out/session.log"])
  end)
end)

-- proves: CLI-9
describe("--single", function()
  it("runs the baseline alone", function()
    local suite = scenario.as_suite(scenario.declare { name = "busy", summary = "s" })
    local parsed = assert(
      options.parse(
        assert(draft.entries(suite)),
        { "--single", "--baseline", "/a", "--output", "/tmp/out", "--authorize-launch", "--quiet" }
      )
    )
    local planned = draft.new(suite, parsed, { path = "busy", source = "", absolute = "busy" })
    preflight.examine(planned)
    assert.equal(0, session.start(planned, {}))
    assert.equal(5, #executed)
    local plan = require("pairperf.session").plan_table(planned, {})
    assert.equal("single", plan.mode)
    assert.is_nil(plan.comparison)
    assert.is_nil(plan.variants.candidate)
  end)
end)

-- proves: PLAN-4, CLI-8
describe("the plan", function()
  it("calls equal variants a null control, and different content none", function()
    local planned = prepare()
    session.start(planned, {})
    assert.is_true(session.plan_table(planned, {}).null_control)
    planned.variants.candidate.bundle = { sha256 = "01" }
    assert.is_false(session.plan_table(planned, {}).null_control)
  end)

  it("lists every difference beside the artifact", function()
    local planned = prepare("--candidate-arg", "--fast", "--baseline-env", "A=1")
    session.start(planned, {})
    local plan = session.plan_table(planned, {})
    assert.same(
      { "arguments: baseline none, candidate --fast", "environment: baseline A=1, candidate none" },
      plan.differences
    )
    assert.is_false(plan.null_control)
  end)
end)
