-- SPDX-License-Identifier: Apache-2.0
local fake = dofile "tests/lua/support/fake_core.lua"
local host, command, hook_file = fake.fresh("pairperf.command", "pairperf.hook_file")

host.files["/bin/true"] = "#!"
host.files["/bin/plain"] = "not executable"
host.files["/bin"] = { type = "directory" }

local source = {
  path = "/scenario.lua",
  options = { rate = 3 },
  hooks = { load = function() end },
}

local function refusal(spec)
  local resolved, err = command.resolve("option '--pre-sample-hook'", spec, source)
  assert.is_nil(resolved)
  assert.equal("refused", err.code)
  return err.detail
end

-- proves: HOOK-1
describe("a hook's command", function()
  it("is split into words without a shell", function()
    local resolved = assert(command.resolve("hook", "/bin/true a b", source))
    assert.equal("/bin/true", resolved.path)
    assert.same({ "/bin/true", "a", "b" }, resolved.argv)
  end)

  it("is refused when quotes are unbalanced", function()
    assert.matches("unbalanced quote", refusal "/bin/true 'a")
  end)

  it("is refused when relative, missing, a directory, not executable or empty", function()
    assert.matches("'true' is a relative program", refusal "true")
    assert.matches("is missing or unreadable: ENOENT", refusal "/not/there")
    assert.matches("is a directory, not a program", refusal "/bin")
    assert.matches("is not executable: EACCES", refusal "/bin/plain")
    assert.matches("names no program", refusal "")
  end)

  it("may be a list or come from the scenario's options", function()
    local resolved = assert(command.resolve("hook", function(options)
      return { "/bin/true", tostring(options.rate) }
    end, source))
    assert.same({ "/bin/true", "3" }, resolved.argv)
  end)
end)

-- proves: HOOK-7
describe("a Lua hook", function()
  it("runs in a process of its own", function()
    local resolved = assert(command.resolve("hook", { hook = "load", args = { "x" } }, source))
    assert.equal("/bin/pairperf-lua", resolved.path)
    local words = table.concat(resolved.argv, " ")
    assert.matches("%-%-run%-hook /scenario.lua load %-%- x$", words)
    assert.equal("lua:load x", resolved.text)
  end)

  it("is refused when the scenario has none of that name", function()
    assert.matches("'lod' is no hook of /scenario.lua", refusal "lua:lod")
  end)

  it("with an upvalue is refused with those words", function()
    local shared = 1
    local ok, err = hook_file.check(function()
      return shared
    end, "load")
    assert.is_nil(ok)
    assert.matches(
      "loaded afresh in another process and can have no upvalues; it uses 'shared'",
      err.detail
    )
  end)

  it("may use the environment's names", function()
    assert.is_true(hook_file.check(function()
      return os.time()
    end, "load"))
  end)
end)
