-- SPDX-License-Identifier: Apache-2.0
--- samples.jsonl as it is read back: exact, whatever its spelling, and no line lost in silence.
package.path = "tests/lua/?.lua;tests/lua/support/?.lua;" .. package.path
local core = require "pairperf.core"
local fixture = require "fixture"
local long_session = require "long_session"
local report = require "pairperf.report"
local samples = require "pairperf.samples"
local summary = require "pairperf.summary"

local json = core.json

describe("samples", function()
  local dir
  before_each(function()
    dir = fixture.directory()
  end)
  after_each(function()
    fixture.remove(dir)
  end)

  local function read(text)
    fixture.write(dir .. "/samples.jsonl", text)
    return samples.read(dir)
  end

  local function frames(proc)
    return fixture.frames { { t = 1, procs = { fixture.proc(proc or {}) } }, { t = 2 } }
  end

  -- proves: REP-3
  it("keeps every bit of a counter, above the integers, too", function()
    local top = "18446744073709551615"
    local proc = { rss_bytes = math.maxinteger, voluntary_switches = top }
    local got = assert(read(fixture.lines(frames(proc))))
    assert.equal(math.maxinteger, (got.rows:resident(got[1])))
    local _, switches = got.rows:pass(got[1])
    assert.equal(top, switches)
  end)

  -- proves: REP-3
  it("reads a line that is spelt otherwise as the same frame", function()
    local plain = assert(json.encode(frames({ exe = '/opt/é"\n' })[1]))
    local spelt = plain:gsub('"procs":', ' "pro\\u0063s" : '):gsub(":", ": ")
    local escaped = plain:gsub('"procs"', '"pro\\u0063s"')
    for _, line in ipairs { spelt, escaped } do
      assert.not_equal(plain, line)
      local got = assert(read(plain .. "\n" .. line .. "\n"))
      assert.same({ 2, 0 }, { #got, got.malformed }, line)
      local one, other = got.rows:about(got[1].first_row), got.rows:about(got[2].first_row)
      assert.same(one, other)
      assert.equal('/opt/é"\n', one.exe)
      got[2].first_row, got[2].last_row = got[1].first_row, got[1].last_row
      assert.same(got[1], got[2])
    end
  end)

  -- proves: REP-2
  it("counts what is no frame, and drops a line without its end", function()
    local good = assert(json.encode(frames()[1]))
    for _, bad in ipairs {
      good:gsub('"seq":1', '"seq":1,"seq":2', 1), -- a key twice
      good:gsub('"seq":1', '"seq":01', 1),
      good:gsub('"seq":1', '"seq":18446744073709551616', 1),
      good:gsub('"seq":1', '"seq":"1"', 1),
      good:gsub('"pid":100', '"pid":-1', 1),
      good:gsub('"pid":100', '"pid":0', 1),
      good:gsub('"pid":100', '"pid":-4294967291', 1), -- 5, were it cut to 32 bits
      good:gsub('"pid":100', '"pid":2147483648', 1),
      good:gsub('"rss_bytes":0', '"rss_bytes":-5', 1),
      good:gsub("/opt/app/app", "/opt/\xff", 1),
      good:gsub('"procs":%[', '"procs":[7,', 1),
      good:gsub("^{", '{"a\\"b":1,', 1), -- no field of a frame is spelt with a quote
      good .. "x",
      "{",
      "[1]",
      "7",
      "",
    } do
      assert.not_equal(good, bad)
      local got = assert(read(good .. "\n" .. bad .. "\n" .. good .. "\n" .. good))
      assert.same({ 2, 1, true }, { #got, got.malformed, got.torn }, bad)
      assert.same(got.rows:about(got[1].first_row), got.rows:about(got[2].first_row))
      local strays = got[2].first_row - got[1].last_row - 1 -- rows of what is JSON may be kept
      assert.truthy(strays == 0 or json.decode(bad), bad)
    end
  end)

  -- proves: REP-1 REP-2
  it("has also what the supervisor saved, and says of either file that it was torn", function()
    local lines = fixture.lines(frames())
    for i, torn in ipairs { { "", "" }, { "{", "" }, { "", "{" } } do
      fixture.write(dir .. "/samples.supervisor.jsonl", lines .. torn[2])
      local got = assert(read(lines .. torn[1]))
      assert.same({ 4, 0, i > 1 }, { #got, got.malformed, got.torn })
    end
  end)

  -- proves: REP-12
  it("refuses a newer form by its name, whatever it holds", function()
    local newer = '{"procs":{"packed":1},"schema":"pairperf-frame-2"}\n'
    local got, err = read(fixture.lines(frames()) .. newer)
    assert.is_nil(got)
    assert.equal("unsupported", err.code)
    assert.truthy(err.detail:find("pairperf-frame-2", 1, true))
  end)

  it("is empty without a file, and once closed", function()
    local got = assert(samples.read(dir))
    assert.same({ 0, 0, false }, { #got, got.malformed, got.torn })
    got = assert(read(fixture.lines(frames())))
    got.rows:close()
    assert.has_error(function()
      got.rows:resident(got[1])
    end)
  end)

  -- proves: REP-5
  it("makes the reports of long windows in at most twice the time of decoding", function()
    long_session.write(dir, { repetitions = 1, frames = 300, processes = 16 })
    local plan = assert(report.plan(dir))
    local began = os.clock()
    for _, slot in ipairs(plan.runs) do
      for line in io.lines(("%s/%s/samples.jsonl"):format(dir, slot.directory)) do
        assert(json.decode(line))
      end
    end
    local decoding_s = os.clock() - began
    began = os.clock()
    for _, slot in ipairs(plan.runs) do
      local run_dir = ("%s/%s"):format(dir, slot.directory)
      local built = assert(summary.build(run_dir, plan, slot))
      assert.equal("success", built.status)
      assert.near(40, built.metrics.cpu_percent_observed.value, 0.1)
      fixture.write(run_dir .. "/summary.json", assert(json.encode(built)))
    end
    assert(report.write(dir))
    local building_s = os.clock() - began
    print(("# decoding %.3f s, reports %.3f s"):format(decoding_s, building_s))
    assert.is_true(building_s < 2 * decoding_s)
  end)
end)
