-- SPDX-License-Identifier: Apache-2.0
--- compare, report and metrics on finished sessions.
package.path = "tests/lua/?.lua;" .. package.path
local combine = require "pairperf.combine"
local core = require "pairperf.core"
local fixture = require "fixture"
local options = require "pairperf.options"
local report = require "pairperf.report"
local report_commands = require "pairperf.report_commands"

local stdout, stderr, out, err
local dirs

-- What a command wrote, instead of where it would.
before_each(function()
  out, err, dirs = {}, {}, {}
  stdout, stderr = io.stdout, io.stderr
  local function into(list)
    return {
      write = function(_, ...)
        list[#list + 1] = table.concat { ... }
      end,
    }
  end
  rawset(io, "stdout", into(out))
  rawset(io, "stderr", into(err))
end)
after_each(function()
  rawset(io, "stdout", stdout)
  rawset(io, "stderr", stderr)
  for _, dir in ipairs(dirs) do
    fixture.remove(dir)
  end
end)

local function session(baseline, candidate, change)
  local dir = fixture.directory()
  dirs[#dirs + 1] = dir
  change = change or {}
  change.repetitions = 5
  local runs = {}
  for i = 0, 4 do
    runs[2 * i] = { frames = fixture.steady(baseline + 0.1 * i) }
    runs[2 * i + 1] = { frames = fixture.steady(candidate + 0.1 * i) }
  end
  fixture.session(dir, fixture.plan(change), runs)
  return dir
end

local function run(...)
  out, err = {}, {}
  local function into(list)
    return {
      write = function(_, ...)
        list[#list + 1] = table.concat { ... }
      end,
    }
  end
  rawset(io, "stdout", into(out))
  rawset(io, "stderr", into(err))
  return report_commands.main(...), table.concat(out), table.concat(err)
end

describe("compare", function()
  -- proves: REP-4 CLI-7
  it("prints the comparison and takes gates and primary metrics of its own", function()
    local dir = session(20, 30)
    local status, text = run("compare", dir)
    assert.equal(0, status)
    assert.matches("CPU regressed, %+10.0", text)
    status, text = run("compare", dir, "--fail-on", "cpu_percent:+5%")
    assert.equal(4, status)
    assert.matches("Gate cpu_percent:%+5%%, scenario overview: fail", text)
    assert.equal(0, (run("compare", dir, "--fail-on=overview/cpu_percent:+60%")))
    assert.equal(4, (run("compare", dir, "--fail-on", "ttft_p50_ms:+5%")))
    assert.equal(0, (run("compare", "--allow-inconclusive", "--fail-on", "ttft_p50_ms:+5%", dir)))
    text = select(2, run("compare", dir, "--primary", "rss_max_bytes"))
    assert.matches("exploratory, not adjusted for their number: regressed is CPU%.", text)
    assert.matches("primary metrics were chosen after the runs", text)
  end)

  -- proves: CLI-7 REP-12
  it("refuses unknown names, unknown options and what is no session", function()
    local dir = session(20, 20)
    for reason, words in pairs {
      ["did you mean 'cpu_percent'"] = { dir, "--fail-on", "cpu_percnt:+5%" },
      ["did you mean 'overview'"] = { dir, "--primary", "overvew/cpu_percent" },
      ["unknown option '--fial-on'; did you mean '--fail-on'"] = { dir, "--fial-on", "x" },
      ["name the output directory"] = {},
      ["not the output of a session"] = { "/nonexistent" },
    } do
      local status, _, text = run("compare", table.unpack(words))
      assert.equal(2, status)
      assert(text:find(reason, 1, true), text)
    end
    local plan = fixture.plan { schema = "pairperf-plan-2" }
    fixture.write(dir .. "/plan.json", assert(core.json.encode(plan)))
    local status, _, text = run("compare", dir)
    assert.equal(2, status)
    assert.matches("unknown form pairperf%-plan%-2", text)
  end)

  -- proves: CLI-7
  it("gives the session's own status for failed and cancelled ones", function()
    local dir = session(20, 20)
    os.remove(dir .. "/overview/run-10/summary.json")
    local status, text = run("compare", dir)
    assert.equal(1, status)
    assert.matches("The session is not finished", text)
    assert.equal(0, (run("compare", dir, "--allow-failed", "1")))
    fixture.write(
      dir .. "/session.json",
      '{"schema":"pairperf-session-1","cancelled":true,"artifacts":{}}'
    )
    status, text = run("compare", dir)
    assert.equal(3, status)
    assert.matches("interrupted", text)
  end)

  -- proves: REP-5 REP-4
  it("pools no sessions: each keeps its word, and the combined one is the worst", function()
    local worse, same = session(20, 30), session(20, 20)
    local status, text = run("compare", worse, same, "--fail-on", "cpu_percent:+5%")
    assert.equal(4, status)
    assert.matches("2 sessions combined\nThe runs of several sessions are not pooled", text)
    assert.matches(
      "overview, CPU: regressed %(" .. worse .. " regressed, " .. same .. " equivalent%)",
      text
    )
  end)

  it("combines words by their rank", function()
    assert.equal("regressed", combine.worst { "improved", "regressed", "inconclusive" })
    assert.equal("inconclusive", combine.worst { "improved", "inconclusive", "equivalent" })
    assert.equal("equivalent", combine.worst { "improved", "equivalent" })
    assert.equal("improved", combine.worst { "improved", "improved" })
    assert.is_nil(combine.worst {})
  end)

  it("writes nothing", function()
    local dir = session(20, 30)
    run("compare", dir, "--fail-on", "cpu_percent:+5%")
    assert.is_nil(core.fs.lstat(dir .. "/report.json"))
  end)
end)

describe("report", function()
  -- proves: REP-5
  it("builds summaries and reports again, byte for byte", function()
    local dir = session(20, 30)
    assert(report.write(dir))
    local before = {}
    local names = { "report.json", "report.md", "overview/run-03/summary.json" }
    for _, name in ipairs(names) do
      before[name] = assert(core.fs.read(dir .. "/" .. name))
      os.remove(dir .. "/" .. name)
    end
    -- The fixture writes summaries without the product's own writer; the content is the same.
    assert.equal(0, (run("report", dir)))
    assert.equal(0, (run("report", dir)))
    for _, name in ipairs(names) do
      assert.equal(before[name]:gsub("\n$", ""), (core.fs.read(dir .. "/" .. name):gsub("\n$", "")))
    end
  end)

  -- proves: REP-1
  it("lists no file that is still to be written", function()
    local dir = session(20, 20)
    local function lists(name)
      local text = assert(core.fs.read(dir .. "/report.md"))
      return text:find("\n- " .. name .. "\n", 1, true) ~= nil
    end
    local later = "session.json and digests.json are written when the session ends"
    assert(report.write(dir))
    assert.is_true(lists "plan.json" and lists(later))
    assert.is_false(lists "session.json" or lists "digests.json")
    fixture.write(dir .. "/session.json", '{"schema":"pairperf-session-1","artifacts":{}}')
    assert(report.write(dir))
    assert.is_true(lists "session.json" and lists "digests.json")
    assert.is_false(lists(later))
  end)

  -- proves: REP-5
  it("keeps the summary of a run that left no raw evidence", function()
    local dir = session(20, 30)
    os.remove(dir .. "/overview/run-02/events.jsonl")
    assert.equal(0, (run("report", dir)))
    assert.truthy(core.fs.lstat(dir .. "/overview/run-02/summary.json"))
  end)
end)

describe("metrics", function()
  -- proves: CLI-7
  it("lists every name with unit and margin", function()
    local lines = {}
    local print_before = print
    rawset(_G, "print", function(line)
      lines[#lines + 1] = line
    end)
    local status = run "metrics"
    rawset(_G, "print", print_before)
    assert.equal(0, status)
    local text = table.concat(lines, "\n")
    assert.matches("rss_max_bytes +MiB +Resident memory, maximum; margin 3 %% or 4 MiB", text)
    assert.matches("billed_energy_per_second +raw per second .*directional only", text)
  end)

  it("has help that starts nothing", function()
    local status, text = run("metrics", "--help")
    assert.equal(0, status)
    assert.matches("Usage: pairperf%-lua metrics", text)
    status, text = run("compare", "--help")
    assert.equal(0, status)
    assert.matches("%-%-fail%-on", text)
    assert.is_nil(text:find "%-%-baseline")
  end)
end)

describe("operands", function()
  it("are the words that are neither options nor their values", function()
    local entries = {
      { name = "flag", type = "flag" },
      { name = "take", type = "text", value = "X" },
      { name = "maybe", type = "bytes", optional_value = "1MiB" },
    }
    local operands, rest = options.operands(
      entries,
      { "a", "--take", "b", "--take=c", "d", "--flag", "e", "--maybe", "f" }
    )
    assert.same({ "a", "d", "e", "f" }, operands)
    assert.same({ "--take", "b", "--take=c", "--flag", "--maybe" }, rest)
  end)
end)
