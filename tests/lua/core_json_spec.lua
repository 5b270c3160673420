-- SPDX-License-Identifier: Apache-2.0
-- runs under valgrind
local core = require "pairperf.core"
local scratch = require "tests.lua.support.scratch"

local json = core.json

local function refuses(value, code)
  local text, err = json.encode(value)
  assert.is_nil(text)
  assert.are.equal(code, err.code)
end

describe("json.encode", function()
  it("sorts keys by their bytes", function()
    local text = json.encode { b = 1, a = 2, B = 3, ["é"] = 4, ["a.b"] = 5, [""] = 6 }
    assert.are.equal('{"":6,"B":3,"a":2,"a.b":5,"b":1,"é":4}', text)
  end)

  it("tells arrays from objects", function()
    assert.are.equal("[1,2]", json.encode { 1, 2 })
    assert.are.equal("{}", json.encode {})
    assert.are.equal("[]", json.encode(json.array()))
    assert.are.equal("[[],{}]", json.encode { json.array {}, {} })
    assert.are.equal("[1,null]", json.encode { 1, json.null })
    assert.are.equal('{"1":"x"}', json.encode { ["1"] = "x" })
  end)

  it("refuses what is neither", function()
    refuses({ 1, a = 2 }, "invalid")
    refuses({ [1] = 1, [3] = 3 }, "invalid")
    refuses({ [0] = 1 }, "invalid")
    refuses({ [1.5] = 1 }, "invalid")
    refuses({ [true] = 1 }, "invalid")
    refuses(json.array { a = 1 }, "invalid")
    refuses(json.array { 1, nil, 3 }, "invalid")
    refuses({ print }, "invalid")
    refuses(nil, "invalid")
    refuses({ ["\xff"] = 1 }, "malformed")
  end)

  it("keeps integers exactly", function() -- proves: REP-3
    assert.are.equal("9007199254740993", json.encode(9007199254740993)) -- 2^53 + 1
    assert.are.equal("9223372036854775807", json.encode(math.maxinteger))
    assert.are.equal("-9223372036854775808", json.encode(math.mininteger))
  end)

  it("passes a counter above 2^63-1 on as a decimal string", function() -- proves: REP-3
    local counter = "18446744073709551615" -- 2^64 - 1
    local text = json.encode { counter = counter }
    assert.are.equal('{"counter":"18446744073709551615"}', text)
    assert.are.equal(counter, json.decode(text).counter)
  end)

  it("writes floats as the vectors say", function()
    local vectors = scratch.capture "cat tests/vectors/statistics.json"
    local cases = 0
    for _, case in ipairs(json.decode(vectors).cases) do
      if case.op == "json_number" then
        assert.are.equal(case.out.text, json.encode(case["in"].value))
        cases = cases + 1
      end
    end
    assert.is_true(cases >= 5)
  end)

  it("refuses NaN and infinity", function()
    refuses(0 / 0, "invalid")
    refuses({ a = math.huge }, "invalid")
    refuses({ -math.huge }, "invalid")
  end)

  it("keeps bytes that are not UTF-8", function()
    assert.are.equal('{"bytes_hex":"78ff0a"}', json.encode "x\xff\n")
    assert.are.equal('"\\u0000é"', json.encode "\0é")
  end)

  it("ends a table that contains itself", function()
    local t = {}
    t.t = t
    refuses(t, "nomem")
  end)

  it("does not run metamethods", function()
    local t = setmetatable({ a = 1 }, {
      __index = error,
      __pairs = error,
      __len = error,
    })
    assert.are.equal('{"a":1}', json.encode(t))
  end)

  it("survives many keys and the collector at full stress", function()
    local t = {}
    for i = 1, 2000 do
      t[("key-%04d"):format(i)] = { i }
    end
    collectgarbage "stop"
    local wanted = json.encode(t)
    collectgarbage "restart"
    collectgarbage("setpause", 0)
    assert.are.equal(wanted, json.encode(t))
    assert.are.same(t["key-0007"], json.decode(wanted)["key-0007"])
    collectgarbage("setpause", 200)
  end)
end)

describe("json.decode", function()
  it("gives back what was written", function()
    for _, text in ipairs {
      "null",
      "true",
      '"x"',
      "[]",
      "{}",
      "[[],{},null]",
      '{"a":[1,2.5,{"b":null}]}',
      "9223372036854775807",
      "1e+300",
    } do
      assert.are.equal(text, json.encode(json.decode(text)))
    end
  end)

  it("marks arrays and gives null a value", function()
    local value = json.decode "[[],{},null]"
    assert.is_true(json.is_array(value))
    assert.is_true(json.is_array(value[1]))
    assert.is_false(json.is_array(value[2]))
    assert.are.equal(json.null, value[3])
  end)

  it("keeps integers integers and floats floats", function()
    assert.are.equal("integer", math.type(json.decode "9007199254740993"))
    assert.are.equal(9007199254740993, json.decode "9007199254740993")
    assert.are.equal("float", math.type(json.decode "1.0"))
  end)

  it("is strict", function()
    for _, text in ipairs {
      "",
      "[1,]",
      "[1] x",
      "{'a':1}",
      "NaN",
      "01",
      "+1",
      "0x10",
      "{",
      '{"a":1,"a":2}',
      '"\xff"',
      '"\\ud800"',
      "18446744073709551615",
      "-9223372036854775809",
      "1e400",
      ("["):rep(5000),
    } do
      local value, err = json.decode(text)
      assert.is_nil(value, text)
      assert.are.equal("malformed", err.code)
      assert.is_truthy(err.detail:find "^line %d+, column %d+: ")
    end
  end)
end)

describe("json.array", function()
  it("marks in place and refuses foreign metatables", function()
    local list = {}
    assert.are.equal(list, json.array(list))
    assert.is_true(json.is_array(list))
    assert.are.equal(list, json.array(list))
    assert.has_error(function()
      json.array(setmetatable({}, {}))
    end)
  end)

  it("is what pairperf.json offers", function()
    assert.are.equal(json, require "pairperf.json")
  end)
end)

describe("the locale", function()
  it("changes neither writing nor reading", function()
    local dir = scratch.make()
    scratch.write(
      dir .. "/comma",
      'LC_IDENTIFICATION\ntitle "comma"\nEND LC_IDENTIFICATION\n'
        .. 'LC_NUMERIC\ndecimal_point ","\nthousands_sep ""\ngrouping -1\nEND LC_NUMERIC\n'
    )
    os.execute(("localedef -c -i '%s/comma' '%s/xx_XX' >/dev/null 2>&1"):format(dir, dir))
    local answer = scratch.capture(([[LOCPATH='%s' lua5.4 -e '
      package.cpath = %q
      local json = require("pairperf.core").json
      if not os.setlocale("xx_XX") then print "no locale" return end
      assert(("%%.1f"):format(1.5) == "1,5")
      print(json.encode { 1.5, 1e300, 0.1 }, json.decode("[1.25]")[1] == 5 / 4)
    ' ]]):format(dir, package.cpath))
    scratch.remove(dir)
    if answer == "no locale\n" then
      pending "localedef made no locale"
    end
    assert.are.equal("[1.5,1e+300,0.1]\ttrue\n", answer)
  end)
end)
