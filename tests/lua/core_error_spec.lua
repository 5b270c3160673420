-- SPDX-License-Identifier: Apache-2.0
-- runs under valgrind
local core = require "pairperf.core"

describe("error objects", function()
  it("carry code, op, detail and errno", function()
    local ok, err = core.fs.read "/no/such/file"
    assert.is_nil(ok)
    assert.are.equal("sys", err.code)
    assert.are.equal("open", err.op)
    assert.are.equal("/no/such/file", err.detail)
    assert.are.equal("ENOENT", err.errno)
    assert.are.equal("open: /no/such/file: sys (ENOENT)", tostring(err))
  end)

  it("can be joined to text on either side", function()
    local err = core.error.new { code = "refused", op = "guard", detail = "writable" }
    assert.are.equal("guard: writable: refused", tostring(err))
    assert.are.equal("failed: guard: writable: refused", "failed: " .. err)
    assert.are.equal("guard: writable: refused!", err .. "!")
    assert.are.equal("refused", tostring(core.error.new { code = "refused" }))
  end)

  it("survive assert as objects", function()
    local ok, err = pcall(_G.assert, core.fs.read "/no/such/file") -- Lua's own, not busted's
    assert.is_false(ok)
    assert.is_true(core.error.is(err))
    assert.are.equal("ENOENT", err.errno)
  end)

  it("are told from other values", function()
    assert.is_true(core.error.is(core.error.new { code = "invalid" }))
    assert.is_false(core.error.is { code = "invalid" })
    assert.is_false(core.error.is(setmetatable({}, {})))
    assert.is_false(core.error.is(nil))
    assert.is_false(core.error.is "invalid")
  end)

  it("know every code that is described and no other", function()
    local file <close> = assert(io.open("lua/meta/error.lua", "rb"))
    local count = 0
    for code in file:read("a"):gmatch '\n%-%-%-| "([%w_]+)"' do
      assert.are.equal(code, core.error.new({ code = code }).code)
      count = count + 1
    end
    assert.are.equal(20, count)
    for _, bad in ipairs { "not_measured", "", "Denied" } do
      assert.has_error(function()
        core.error.new { code = bad }
      end)
    end
  end)
end)

describe("misuse", function()
  it("names an unknown field", function()
    local ok, message = pcall(core.sandbox.prepare, { home = "/x", hoem = "/y" })
    assert.is_false(ok)
    assert.is_truthy(message:find("unknown field 'hoem'", 1, true))
  end)

  it("names a missing field and a field of the wrong type", function()
    local _, message = pcall(core.sandbox.prepare, {})
    assert.is_truthy(message:find("field 'home' is missing", 1, true))
    _, message = pcall(core.sandbox.prepare, { home = 1 })
    assert.is_truthy(message:find("field 'home': string expected, got number", 1, true))
    _, message = pcall(core.sandbox.prepare, { home = "/x", link_dotdirs = { ".a", 1 } })
    assert.is_truthy(message:find("field 'link_dotdirs': array of strings expected", 1, true))
    _, message = pcall(core.sandbox.environment, { home = "/x", set = { A = 1 } })
    assert.is_truthy(message:find("field 'set': pairs of name and text expected", 1, true))
  end)

  it("refuses a NUL in anything that becomes a path", function()
    local calls = { core.fs.read, core.digest.file, core.guard.snapshot, core.argv.split }
    for _, call in ipairs(calls) do
      local ok, message = pcall(call, "/etc/passwd\0x")
      assert.is_false(ok)
      assert.is_truthy(message:find("NUL byte", 1, true))
    end
  end)

  it("is blamed on the caller's line", function()
    local line = debug.getinfo(1, "l").currentline + 2
    local ok, message = pcall(function()
      core.sandbox.prepare { hoem = "/y" }
    end)
    assert.is_false(ok)
    assert.is_truthy(message:find("core_error_spec.lua:" .. line .. ":", 1, true), message)
  end)
end)
