-- SPDX-License-Identifier: Apache-2.0
local fake = dofile "tests/lua/support/fake_core.lua"
local _, options, entries = fake.fresh("pairperf.options", "pairperf.session_options")

local function refusal(...)
  local parsed, err = options.parse(entries, { ... })
  assert.is_nil(parsed)
  assert.equal("invalid", err.code)
  assert.is_nil(err.detail:find "\n", "one line")
  return err.detail
end

-- proves: CLI-4
describe("a refused value", function()
  it("is named with option, value and unit", function()
    assert.matches(
      "'%-%-interval': '0' is below the least value, 10 ms",
      refusal("--interval", "0")
    )
    assert.matches("'%-%-warmup': '%-1' is not a time such as", refusal("--warmup", "-1"))
    assert.matches("'%-%-duration': '1e400' is not a time", refusal("--duration", "1e400"))
    assert.matches(
      "'%-%-seed': 'x' is not a whole number: an integer from 0 to 2",
      refusal("--seed", "x")
    )
    assert.matches(
      "'%-%-repetitions': '0' is below .* %(runs per variant",
      refusal("--repetitions", "0")
    )
    assert.matches("KiB", refusal("--hook-output-cap", "5MB"))
  end)

  it("of the seed may not leave 63 bits", function()
    refusal("--seed", "9223372036854775808")
    refusal("--seed", "-1")
    local parsed = assert(options.parse(entries, { "--seed", "9223372036854775807" }))
    assert.equal(math.maxinteger, parsed.values.seed)
  end)

  it("is none of the choices", function()
    assert.matches("none of alternate, abba", refusal("--order", "random"))
  end)
end)

-- proves: CLI-4
describe("an unknown word", function()
  it("that looks like an option suggests the nearest", function()
    assert.matches("did you mean '%-%-baseline'", refusal("--basline", "x"))
    assert.matches("did you mean '%-%-authorize%-launch'", refusal "--authorise-launch")
    assert.matches("%-%-help lists", refusal "--zzzzzzzzzzzzzzz")
  end)

  it("that belongs to nothing is named", function()
    assert.matches("'stray' belongs to no option", refusal("--single", "stray"))
  end)
end)

describe("a value", function()
  it("is the next word even when it begins with a dash", function()
    local parsed = assert(options.parse(entries, { "--app-arg", "--single", "--app-arg=-x" }))
    assert.same({ "--single", "-x" }, parsed.values["app-arg"])
    assert.is_nil(parsed.values.single)
  end)

  it("is missing when an option follows or nothing does", function()
    assert.matches("'%-%-output' needs a value: DIR", refusal("--output", "--single"))
    assert.matches("'%-%-warmup' needs a value: TIME", refusal "--warmup")
  end)

  it("given twice is refused unless the option repeats", function()
    assert.matches("'%-%-warmup' is given twice", refusal("--warmup", "1", "--warmup", "2"))
    local parsed = assert(options.parse(entries, { "--guard-path", "/a", "--guard-path", "/b" }))
    assert.same({ "/a", "/b" }, parsed.values["guard-path"])
  end)

  it("of --keep-app-output is bound only with =", function()
    local plain = assert(options.parse(entries, { "--keep-app-output", "--single" }))
    assert.equal(1 << 20, plain.values["keep-app-output"])
    local sized = assert(options.parse(entries, { "--keep-app-output=2KiB" }))
    assert.equal(2048, sized.values["keep-app-output"])
  end)
end)

-- proves: CLI-5
describe("defaults", function()
  it("are those of the contract, and their origin is kept", function()
    local parsed = assert(options.parse(entries, { "--warmup", "2s" }))
    assert.equal(2, parsed.values.warmup)
    assert.equal("option", parsed.origin.warmup)
    assert.equal(120, parsed.values.duration)
    assert.equal(5, parsed.values.repetitions)
    assert.equal("default", parsed.origin.duration)
    assert.is_nil(parsed.values.interval)
  end)

  it("are recorded with unit and origin; unset options are left out", function()
    local record = options.record(assert(options.parse(entries, { "--ready-timeout", "1m" })))
    assert.same({ value = 60, unit = "s", origin = "option" }, record["ready-timeout"])
    assert.equal("B", record["hook-output-cap"].unit)
    assert.is_nil(record.single)
  end)
end)

describe("words after --", function()
  it("are kept apart", function()
    local parsed = assert(options.parse(entries, { "--quiet", "--", "--warmup", "x" }))
    assert.same({ "--warmup", "x" }, parsed.rest)
  end)
end)

describe("the help", function()
  it("names every option with its value, and its lines fit a terminal", function()
    local text = options.help(entries, { usage = "Usage: x", summary = "y" })
    for _, entry in ipairs(entries) do
      assert.is_truthy(text:find("--" .. entry.name, 1, true), entry.name)
    end
    for line in text:gmatch "[^\n]+" do
      assert.is_true(#line <= 100, line)
    end
    assert.matches("%-%-warmup TIME .-default 60 s", text)
  end)

  it("has words for every option", function()
    for _, entry in ipairs(entries) do
      assert.is_true(type(entry.help) == "string" and #entry.help > 5, entry.name)
    end
  end)
end)
