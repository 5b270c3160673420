-- SPDX-License-Identifier: Apache-2.0
local fake = dofile "tests/lua/support/fake_core.lua"
local _, plan = fake.fresh "pairperf.plan"

-- proves: PLAN-2
describe("the seed", function()
  it("chooses the first variant by the last byte of its digest", function()
    assert.equal("baseline", plan.first_variant(3))
    assert.equal("candidate", plan.first_variant(1))
    assert.equal("candidate", plan.first_variant(2))
    assert.equal("candidate", plan.first_variant(20260421))
  end)

  it("is random within 63 bits when none is given", function()
    local seen = {}
    for _ = 1, 100 do
      local seed = plan.random_seed()
      assert.is_true(seed >= 0 and seed <= math.maxinteger)
      seen[seed] = true
    end
    assert.is_truthy(next(seen, next(seen)), "not always the same")
  end)
end)

local function letters(variants)
  local text = ""
  for _, variant in ipairs(variants) do
    text = text .. variant:sub(1, 1)
  end
  return text
end

-- proves: PLAN-2, PLAN-4
describe("the order", function()
  it("alternates strictly", function()
    assert.equal("bcbcbc", letters(plan.order("baseline", 3, "alternate")))
    assert.equal("cbcb", letters(plan.order("candidate", 2, "alternate")))
  end)

  it("mirrors every second pair when asked to", function()
    assert.equal("bccbbccb", letters(plan.order("baseline", 4, "abba")))
    assert.equal("cbbccb", letters(plan.order("candidate", 3, "abba")))
  end)
end)

describe("the runs", function()
  local two = { { name = "tray", repetitions = 1 }, { name = "overview", repetitions = 1 } }

  it("number slots through all scenarios", function()
    local runs = plan.runs(two, { first = "candidate", order = "alternate", single = false })
    assert.equal(4, #runs)
    assert.equal("overview/run-03", runs[3].directory)
    assert.equal(2, runs[3].slot)
    assert.equal("candidate", runs[3].variant)
    assert.equal(1, runs[4].repetition)
  end)

  it("have directories of equal length for both variants", function()
    local runs = plan.runs(
      { { name = "x", repetitions = 60 } },
      { first = "baseline", order = "alternate" }
    )
    for _, run in ipairs(runs) do
      assert.equal(#runs[1].directory, #run.directory)
    end
    assert.equal("x/run-120", runs[120].directory)
  end)

  it("of --single are the baseline's alone", function()
    local runs = plan.runs(
      { { name = "x", repetitions = 3 } },
      { first = "baseline", order = "alternate", single = true }
    )
    assert.equal(3, #runs)
    for i, run in ipairs(runs) do
      assert.equal("baseline", run.variant)
      assert.equal(i, run.repetition)
    end
  end)
end)
