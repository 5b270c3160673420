-- SPDX-License-Identifier: Apache-2.0
--- Golden vectors: every case of every operation, through the product's own modules.
-- proves: MET-1 MET-3 MET-5 MET-6 SMP-3 SMP-5 SMP-6 INF-4 CLI-5 CLI-7 PLAN-2 OBS-3 REP-3 REP-4
package.path = "tests/lua/?.lua;" .. package.path
local json = require "pairperf.json"
local vectors = require "support.vectors"

describe("golden vectors", function()
  local file = vectors.load "tests/vectors/statistics.json"
  local met = {}
  for _, case in ipairs(file.cases) do
    met[case.op] = true
    it(case.op .. ": " .. case.id .. ": " .. case.note, function()
      assert.is_nil(vectors.run(case))
    end)
  end

  it("name every operation of the file and of the product", function()
    for op in pairs(file.ops) do
      assert(met[op] and vectors.RUN[op], op)
    end
    for op in pairs(vectors.RUN) do
      assert.truthy(met[op], op .. " has no case")
    end
  end)

  it("tell a wrong number, a wrong null and a missing entry from right ones", function()
    local problem = vectors.problem
    assert.truthy(problem({ a = 1.0 }, { a = 1.00001 }, "x"))
    assert.truthy(problem({ a = 1.0 }, { a = 0 / 0 }, "x"))
    assert.truthy(problem({ a = json.null }, { a = 0 }, "x"))
    assert.truthy(problem({ a = json.array { 1, 2 } }, { a = { 1 } }, "x"))
    assert.truthy(problem({ a = "750" }, { a = 750 }, "x"))
    assert.truthy(problem({ a = false }, {}, "x"))
    assert.is_nil(problem({ a = 1.0, b = json.null }, { a = 1, c = 2 }, "x"))
  end)

  it("that name an unknown operation, or make it raise, are failures", function()
    local case = { id = "x", op = "no_such", note = "", ["in"] = {}, out = {} }
    assert.matches("no operation 'no_such'", vectors.run(case))
    case.op = "summary"
    assert.matches("^x: ", vectors.run(case))
  end)
end)
