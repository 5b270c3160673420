-- SPDX-License-Identifier: Apache-2.0
local fake = dofile "tests/lua/support/fake_core.lua"
local _, script, scenario = fake.fresh("pairperf.script", "pairperf.scenario")

local function run(source)
  local chunk = assert(script.load { source = source, chunk = "@some.lua" })
  return pcall(chunk)
end

local function problem(source)
  local ok, err = run(source)
  assert.is_false(ok)
  return tostring(err)
end

local function with_option(spec)
  return ('return pairperf.scenario { name = "x", summary = "y", options = { a = %s } }'):format(
    spec
  )
end

-- proves: API-1, CLI-10
describe("a scenario table", function()
  it("is accepted with name and summary, and its label defaults to its name", function()
    local ok, value = run 'return pairperf.scenario { name = "x", summary = "y" }'
    assert.is_true(ok)
    assert.equal("x", value.label)
    assert.equal(1, #scenario.as_suite(value).scenarios)
  end)

  it("with a typo names file, line, field and the nearest one", function()
    local text =
      problem 'return pairperf.scenario {\n  name = "x",\n  summary = "y",\n  intervall_s = 5,\n}'
    assert.matches(
      "some.lua:4: scenario field 'intervall_s' is unknown %(did you mean 'interval_s'%?%)",
      text
    )
  end)

  it("without a field that must be there names it", function()
    assert.matches(
      "some.lua:1: scenario field 'summary' is missing",
      problem 'return pairperf.scenario { name = "x" }'
    )
  end)

  it("with an ill-typed or impossible value says what is wanted", function()
    local text = problem 'return pairperf.scenario {\nname = "x", summary = "y",\nrepetitions = 0 }'
    assert.matches("some.lua:3: .*'repetitions' must be a whole number", text)
    text = problem 'return pairperf.scenario { name = "../x", summary = "y" }'
    assert.matches("'name' must be a word", text)
    text = problem 'return pairperf.scenario { name = "x", summary = "y", duration_s = 0/0 }'
    assert.matches("'duration_s' must be a number of seconds", text)
  end)

  it("with an option of an unknown type or field names it", function()
    local text = problem(with_option '{ type = "int", help = "h" }')
    assert.matches("a has the type 'int'", text)
    text = problem(with_option '{ typ = "text", help = "h" }')
    assert.matches("unknown field 'typ'", text)
  end)
end)

describe("own options", function()
  local function declared(options)
    return scenario.as_suite(scenario.declare { name = "x", summary = "y", options = options })
  end

  it("drop the _s of seconds on the command line", function()
    local entries =
      assert(scenario.entries(declared { settle_s = { type = "seconds", help = "h" } }, {}))
    assert.equal("settle", entries[1].name)
    assert.equal("settle_s", entries[1].field)
  end)

  it("may not take the name of a common option", function()
    local entries, err = scenario.entries(
      declared { warmup_s = { type = "seconds", help = "h" } },
      { { name = "warmup" } }
    )
    assert.is_nil(entries)
    assert.matches("'%-%-warmup' exists already", err.detail)
  end)
end)

describe("a script", function()
  it("cannot set a global or read an unknown name, and the error names its line", function()
    assert.matches("some.lua:2: global 'x' is not allowed", problem "\nx = 1")
    assert.matches(
      "some.lua:3: undefined name 'undefined_thing'",
      problem "\n\nreturn undefined_thing.x"
    )
  end)

  -- proves: CAN-1
  it("cannot swallow a cancellation with pcall or xpcall", function()
    local core = require "pairperf.core"
    core.cancelled = core.error.new { code = "cancelled", op = "cancelled", detail = "by SIGINT" }
    local raise = 'local function stop() error(require("pairperf.core").cancelled, 0) end\n'
    for _, call in ipairs { "pcall(stop)", "xpcall(stop, function() return 1 end)" } do
      local ok, err = run(raise .. call .. "\nreturn 1")
      assert.is_false(ok)
      assert.equal("cancelled", err.code)
    end
    local ok, caught, value = run "return select(2, pcall(error, 'other', 0))"
    assert.same({ true, "other" }, { ok, caught, value })
  end)

  it("with a syntax error is refused with file and line", function()
    local chunk, err = script.load { source = "x = = 1", chunk = "@some.lua" }
    assert.is_nil(chunk)
    assert.matches("some.lua:1:", err.detail)
  end)

  it("is a file when its name has a / or .lua, else a built-in", function()
    local found, err = script.find "overvew"
    assert.is_nil(found)
    assert.matches("no built%-in script has this name", err.detail)
    found, err = script.find "./not-there.lua"
    assert.is_nil(found)
    assert.matches("not%-there.lua", err.detail)
  end)
end)

describe("a suite", function()
  it("holds the scenarios that --scenario chooses among", function()
    local one = scenario.declare { name = "a", summary = "s" }
    local suite = scenario.suite { name = "both", summary = "s", scenarios = { one, one } }
    assert.equal(2, #scenario.as_suite(suite).scenarios)
    assert.is_nil(scenario.as_suite {})
    assert.is_nil(scenario.as_suite(3))
  end)
end)
