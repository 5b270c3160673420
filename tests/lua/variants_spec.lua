-- SPDX-License-Identifier: Apache-2.0
local variants = require "pairperf.variants"

local function variant(args, env_set, kind)
  return { args = args, env_set = env_set or {}, kind = kind or "directory" }
end

-- proves: CLI-8
describe("the differences between the variants", function()
  it("leave out the arguments that both begin with", function()
    local shared_only = variant { "--a", "--b" }
    local with_more = variant { "--a", "--b", "--c", "--d" }
    assert.same(
      { "arguments, after the first 2: baseline none, candidate --c --d" },
      variants.differences(shared_only, with_more)
    )
    assert.same({}, variants.differences(with_more, with_more))
  end)

  it("tell one argument with a blank from two", function()
    local found = variants.differences(variant { "a b" }, variant { "a", "b" })
    assert.same({ "arguments: baseline a b, candidate a b" }, found)
  end)

  it("leave out the environment that both have", function()
    local found = variants.differences(
      variant({}, { SAME = "1", LEFT = "2", MODE = "old" }),
      variant({}, { SAME = "1", MODE = "new" })
    )
    assert.same({ "environment: baseline LEFT=2 MODE=old, candidate MODE=new" }, found)
  end)

  it("name the kinds of artifact", function()
    local found = variants.differences(variant({}, {}, "bundle"), variant({}, {}, "file"))
    assert.same({ "kind of artifact: baseline bundle, candidate file" }, found)
  end)
end)
