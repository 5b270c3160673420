-- SPDX-License-Identifier: Apache-2.0
-- runs under valgrind
local core = require "pairperf.core"

-- proves: RUN-1
describe("what watches a script", function()
  before_each(function()
    assert(core.cancel.install())
  end)
  after_each(function()
    core.cancel.watch(nil)
    core.cancel.shield(false)
  end)

  local function spin()
    local calls = 0
    for i = 1, 1000000 do
      calls = i
    end
    return calls
  end

  it("ends a loop that never waits, in a coroutine too", function()
    core.cancel.watch(function()
      error({ "over" }, 0)
    end)
    local ok, raised = pcall(spin)
    assert.is_false(ok)
    assert.equal("over", raised[1])
    local resumed, value = coroutine.resume(coroutine.create(spin))
    assert.is_false(resumed)
    assert.equal("over", value[1])
  end)

  it("is not asked while a cleanup is shielded, nor once it is taken away", function()
    local asked = 0
    core.cancel.watch(function()
      asked = asked + 1
    end)
    core.cancel.shield(true)
    spin()
    assert.equal(0, asked)
    core.cancel.shield(false)
    spin()
    assert.is_true(asked > 0)
    core.cancel.watch(nil)
    local before = asked
    spin()
    assert.equal(before, asked)
  end)
end)
