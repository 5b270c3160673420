-- SPDX-License-Identifier: Apache-2.0
package.path = "tests/lua/?.lua;" .. package.path
local core = require "pairperf.core"
local fixture = require "fixture"
local manifest_changes = require "pairperf.manifest_changes"
local variants = require "pairperf.variants"

-- proves: PROV-3
describe("an artifact that is looked at again", function()
  local dir, variant
  before_each(function()
    dir = fixture.directory()
    for _, name in ipairs { "a", "b", "c" } do
      fixture.write(dir .. "/" .. name, name)
    end
    variant = { artifact = dir, bundle = assert(core.manifest.build(dir)) }
  end)
  after_each(function()
    fixture.remove(dir)
  end)

  it("and is the same says so", function()
    local state = variants.revisit(variant)
    assert.is_true(state.unchanged)
    assert.equal(0, state.change_count)
    assert.is_nil(manifest_changes.text(state))
  end)

  it("names what was changed, added and removed, and how", function()
    fixture.write(dir .. "/a", "A")
    assert(core.fs.chmod(dir .. "/b", 448))
    os.remove(dir .. "/c")
    fixture.write(dir .. "/new\n", "")
    local state = variants.revisit(variant)
    assert.is_false(state.unchanged)
    assert.same(
      { "a: sha256", "b: mode", "c: removed", "new\\x0a: added" },
      { table.unpack(state.changes) }
    )
    assert.equal("a: sha256; b: mode; c: removed; new\\x0a: added", manifest_changes.text(state))
  end)

  it("names no more than five, and how many more there are", function()
    for i = 1, 7 do
      fixture.write(dir .. "/new" .. i, "")
    end
    local state = variants.revisit(variant)
    assert.equal(5, #state.changes)
    assert.matches("new5: added; and 2 more$", manifest_changes.text(state))
  end)

  it("and cannot be read is not unchanged", function()
    fixture.remove(dir)
    local state = variants.revisit(variant)
    assert.is_false(state.unchanged)
    assert.matches("^cannot be read: .*ENOENT", manifest_changes.text(state))
  end)
end)
