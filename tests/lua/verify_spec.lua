-- SPDX-License-Identifier: Apache-2.0
--- digests.json, forms of evidence and verify, over sessions made from tables. What a whole session
--- leaves is verified in tests/cli/verify.sh.
package.path = "tests/lua/?.lua;" .. package.path
local core = require "pairperf.core"
local digests = require "pairperf.digests"
local evidence = require "pairperf.evidence"
local fixture = require "fixture"
local forms = require "pairperf.forms"
local json_schema = require "pairperf.json_schema"
local records = require "pairperf.records"
local report = require "pairperf.report"
local verify = require "pairperf.verify"

local json = core.json
local dir
before_each(function()
  dir = fixture.directory()
end)
after_each(function()
  fixture.remove(dir)
end)

local function read(name)
  return assert(core.fs.read(dir .. "/" .. name))
end

local function entries()
  local list = {}
  for _, entry in ipairs(assert(json.decode(read "digests.json")).files) do
    list[entry.path] = entry
  end
  return list
end

-- proves: REP-5
describe("digests.json", function()
  before_each(function()
    assert(core.fs.mkdirs(dir .. "/overview/run-01/home/inner"))
    assert(core.fs.mkdirs(dir .. "/overview/run-01/hook/home"))
    fixture.write(dir .. "/session.log", "one\ntwo\n")
    fixture.write(dir .. "/plan.json", '{"a":1,"b":[2]}\n')
    fixture.write(dir .. "/overview/run-01/home/inner/file", "x")
    fixture.write(dir .. "/overview/run-01/hook/home/file", "x")
    fixture.write(dir .. "/overview/run-01/samples.jsonl", '{"a":1}\n{"a":2}\ntorn')
  end)

  it("has every file but homes and itself, holds to its schema, and is sealed", function()
    assert(digests.seal(dir))
    local list = entries()
    assert.is_nil(list["overview/run-01/home/inner/file"])
    assert.is_nil(list["digests.json"])
    assert.is_table(list["overview/run-01/hook/home/file"])
    assert.equal(core.digest.bytes(read "plan.json"), list["plan.json"].sha256)
    assert.equal(3 * 8, #list["overview/run-01/samples.jsonl"].lines)
    assert.is_string(list["plan.json"].fields.b)
    assert.is_nil(json_schema.problem(assert(json.decode(read "digests.json"))))
    local seal = "digests.json sha256 " .. core.digest.bytes(read "digests.json") .. "\n"
    assert.equal("one\ntwo\n" .. seal, read "session.log")
  end)

  it("says where a file changed", function()
    assert(digests.seal(dir))
    local list = entries()
    local function change(name, text)
      fixture.write(dir .. "/" .. name, text)
      return digests.change(dir, list[name])
    end
    assert.is_nil(change("plan.json", '{"a":1,"b":[2]}\n'))
    assert.equal("field b", change("plan.json", '{"a":1,"b":[3]}\n'))
    assert.equal("field a", change("plan.json", '{"c":1,"b":[2]}\n'))
    assert.equal("outside its fields", change("plan.json", '{"a":1, "b":[2]}\n'))
    assert.matches("^line 1: line 1, column", change("plan.json", '{"a":1,"b":[2}\n'))
    local samples = "overview/run-01/samples.jsonl"
    assert.equal("line 2", change(samples, '{"a":1}\n{"a":3}\ntorn'))
    assert.equal("line 3", change(samples, '{"a":1}\n{"a":2}\n'))
    assert.equal("line 3", change(samples, '{"a":1}\n{"a":2}\ntorn\nmore'))
    os.remove(dir .. "/" .. samples)
    assert.equal("missing", digests.change(dir, list[samples]))
    assert(core.fs.mkdirs(dir .. "/" .. samples))
    assert.equal("now a directory", digests.change(dir, list[samples]))
  end)

  it("is written again for computed files, not for raw ones", function()
    fixture.write(dir .. "/report.md", "a\n")
    assert(digests.seal(dir))
    local first = read "digests.json"
    assert(digests.seal(dir))
    assert.equal(first, read "digests.json")
    fixture.write(dir .. "/report.md", "b\n")
    assert(digests.seal(dir))
    assert.not_equal(first, read "digests.json")
    local second = read "digests.json"
    fixture.write(dir .. "/overview/run-01/samples.jsonl", "changed\n")
    local ok, err = digests.seal(dir)
    assert.is_nil(ok)
    assert.equal("unverified", err.code)
    assert.matches("samples.jsonl: line 1", err.detail)
    assert.equal(second, read "digests.json")
  end)

  it("costs verify one reading of each file, and of a changed one another for where", function()
    assert(digests.seal(dir))
    local read_bytes, samples = 0, dir .. "/overview/run-01/samples.jsonl"
    local file_lines, whole = core.digest.file_lines, core.digest.lines
    core.digest.file_lines = function(path, ...)
      read_bytes = read_bytes + core.fs.stat(path).size
      return file_lines(path, ...)
    end
    core.digest.lines = function(text, ...)
      read_bytes = read_bytes + (text:find '^{"a":1' and #text or 0)
      return whole(text, ...)
    end
    local function problems()
      read_bytes = 0
      local list = {}
      for i, one in ipairs(assert(verify.session(dir)).problems) do
        list[i] = one.file .. ": " .. one.where
      end
      return table.concat(list, "; ")
    end
    local before, once = problems(), core.fs.stat(samples).size
    local counted = read_bytes
    fixture.write(samples, '{"a":1}\n{"a":3}\ntorn')
    local after, counted_after = problems(), read_bytes
    core.digest.file_lines, core.digest.lines = file_lines, whole
    assert.equal(once, counted)
    assert.is_nil(before:find("digests", 1, true))
    assert.equal(2 * once, counted_after)
    assert.matches("overview/run%-01/samples.jsonl: line 2", after)
  end)

  it("lists names that are not UTF-8, links and pipes without following them", function()
    fixture.write(dir .. "/overview/run-01/hook/\xff", "x")
    os.execute(("ln -s /etc '%s/overview/run-01/hook/link'"):format(dir))
    os.execute(("mkfifo '%s/overview/run-01/hook/pipe'"):format(dir))
    assert(digests.seal(dir))
    local value = assert(json.decode(read "digests.json"))
    assert.equal("symlink", value.others[1].type)
    assert.equal("fifo", value.others[2].type)
    assert.equal(2, #value.others)
    assert.is_nil(json_schema.problem(value))
  end)
end)

-- proves: REP-2
describe("an event that could not be written", function()
  it("is remembered as an error, and written with the next one", function()
    local events = evidence.events(dir .. "/later/events.jsonl")
    assert.is_false(events:add("first"))
    local err = events.error
    assert.equal("ENOENT", err.errno)
    assert(core.fs.mkdirs(dir .. "/later"))
    assert.is_true(events:add("second"))
    assert.is_true(events:add("third"))
    assert.equal(err, events.error)
    local kinds = {}
    for i, one in ipairs(assert(records.read(dir .. "/later/events.jsonl"))) do
      kinds[i] = one.kind
    end
    assert.same({ "first", "second", "third" }, kinds)
  end)
end)

-- proves: REP-12
describe("a form", function()
  it("is known by its version, and refused by its name", function()
    assert.is_table(forms.known({ schema = "pairperf-plan-1" }, "plan.json"))
    for schema, reason in pairs {
      ["pairperf-plan-2"] = "newer than pairperf%-plan%-1",
      ["pairperf-frame-10"] = "newer than pairperf%-frame%-1",
      ["pairperf-nothing-1"] = "unknown form pairperf%-nothing%-1$",
      ["plan"] = "unknown form plan$",
    } do
      local value, err = forms.known({ schema = schema }, "file")
      assert.is_nil(value)
      assert.equal("unsupported", err.code)
      assert.equal("file", err.op)
      assert.matches(reason, err.detail)
    end
  end)

  it("that is newer is refused in every file that a report reads", function()
    fixture.session(dir, fixture.plan(), { [0] = { frames = fixture.steady(20) } })
    fixture.write(dir .. "/probes.json", '{"schema":"pairperf-probes-1"}')
    for _, name in ipairs { "plan.json", "probes.json", "overview/run-01/summary.json" } do
      local text = read(name)
      fixture.write(
        dir .. "/" .. name,
        (text:gsub('"schema":"(pairperf%-%l+)%-1"', '"schema":"%1-2"'))
      )
      local input, err = report.load(dir)
      assert.is_nil(input)
      assert.equal(name, err.op)
      fixture.write(dir .. "/" .. name, text)
    end
    assert.is_table(report.load(dir))
    fixture.write(
      dir .. "/x.jsonl",
      '{"schema":"pairperf-event-1"}\n{"schema":"pairperf-event-2"}\n'
    )
    local read_back, err = records.read(dir .. "/x.jsonl")
    assert.is_nil(read_back)
    assert.matches("pairperf%-event%-2: newer", err.detail)
  end)

  it("has its schema in docs/schema", function()
    for _, path in ipairs {
      "digests.json",
      "plan.json",
      "probes.json",
      "report.json",
      "session.json",
      "baseline-bundle-manifest.json",
      "overview/run-01/summary.json",
      "overview/run-01/samples.supervisor.jsonl",
      "overview/run-100/events.jsonl",
      "overview/run-01/check/events.jsonl",
      "overview/run-01/hook/requests.jsonl",
      "overview/run-01/hook/chat.json",
    } do
      local problem = json_schema.problem { schema = assert(forms.of(path), path) }
      assert.not_matches("unknown", problem)
    end
    assert.is_nil(forms.of "overview/run-01/hook/other.json")
    assert.matches("unknown: pairperf%-none%-1", json_schema.problem { schema = "pairperf-none-1" })
  end)
end)

-- proves: REP-12 REP-5
describe("the evidence of release 0.1.0", function()
  local output
  before_each(function()
    output = dir .. "/evidence"
    os.execute(("cp -r tests/fixtures/evidence-0.1.0 '%s'"):format(output))
  end)

  it("is read: it holds, but for the page that was left out", function()
    local found = assert(verify.session(output))
    assert.same(1, #found.problems)
    assert.same({ file = "report.html", where = "missing" }, {
      file = found.problems[1].file,
      where = found.problems[1].where,
    })
  end)

  it("gets its reports again, and then holds whole", function()
    local built, err, unsealed = report.rebuild(output)
    assert(built, err)
    assert.is_nil(unsealed)
    assert.equal(4, built.totals.successful)
    assert.same({}, assert(verify.session(output)).problems)
    assert.equal("baseline", report.load(output).plan.first)
  end)

  it("is refused once a file of it is of a newer form", function()
    local path = output .. "/overview/run-02/samples.jsonl"
    local text = assert(core.fs.read(path))
    fixture.write(path, (text:gsub("pairperf%-frame%-1", "pairperf-frame-2", 1)))
    local built, err = report.rebuild(output)
    assert.is_nil(built)
    assert.matches("unknown form pairperf%-frame%-2: newer than pairperf%-frame%-1", err.detail)
  end)
end)
