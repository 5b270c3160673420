-- SPDX-License-Identifier: Apache-2.0
--- tools/check_files.sh on this tree, and on trees with one file.
package.path = "tests/lua/?.lua;" .. package.path
local core = require "pairperf.core"
local fixture = require "fixture"

local SOURCE = os.getenv "PP_TEST_SOURCE_DIR" or "."
local CHECK <const> = "/tools/check_files.sh"

-- What the check says of the tree, and whether it is content.
local function check(tree)
  local pipe = assert(io.popen(("bash '%s%s' 2>&1"):format(tree, CHECK)))
  local text = pipe:read "a"
  return text, pipe:close() == true
end

-- proves: API-4
describe("source files", function()
  local dir
  before_each(function()
    dir = fixture.directory()
    assert(core.fs.mkdirs(dir .. "/tools"))
    fixture.write(dir .. CHECK, assert(core.fs.read(SOURCE .. CHECK)))
  end)
  after_each(function()
    fixture.remove(dir)
  end)

  it("all name their licence, and are of a size", function()
    local text, content = check(SOURCE)
    assert.equal("", text)
    assert.is_true(content)
  end)

  it("that name none are told", function()
    fixture.write(dir .. "/a.c", "/* SPDX-License-Identifier: Apache-2.0 */\nint a;\n")
    fixture.write(dir .. "/script", "#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\n")
    assert.is_true(select(2, check(dir)))
    for _, name in ipairs { "b.c", "b.lua", "b.sh", "Makefile" } do
      fixture.write(dir .. "/" .. name, "nothing\n")
      local text, content = check(dir)
      assert.is_false(content)
      assert.matches(name .. ": no SPDX", text)
      os.remove(dir .. "/" .. name)
    end
    fixture.write(dir .. "/other", "#!/bin/sh\n")
    assert.matches("other: no SPDX", (check(dir)))
  end)

  it("that are too long are told", function()
    local line = "-- SPDX-License-Identifier: Apache-2.0\n"
    fixture.write(dir .. "/long.lua", line:rep(601))
    assert.matches("long.lua: 601 lines, at most 600", (check(dir)))
  end)
end)
