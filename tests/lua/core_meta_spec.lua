-- SPDX-License-Identifier: Apache-2.0
--- Every function that C registers is described in lua/meta, and nothing else is.
local core = require "pairperf.core"

local function source(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

--- Names described for a module, as a set: "module.name" and "Class:name".
local function described(module, text)
  local functions, methods = {}, {}
  for owner, separator, name in text:gmatch "\nfunction ([%a_]+)([.:])([%w_]+)%(" do
    if separator == "." then
      assert.are.equal(module, owner)
      functions[name] = true
    else
      methods[name] = true
    end
  end
  return functions, methods
end

--- Methods of all handle types that the modules made.
local function registered_methods()
  local found = {}
  for key, value in pairs(debug.getregistry()) do
    if type(key) == "string" and key:find "^pairperf%." and type(value) == "table" then
      for name in pairs(type(value.__index) == "table" and value.__index or {}) do
        found[name] = true
      end
    end
  end
  return found
end

describe("lua/meta", function()
  local all_methods = {}

  for module, functions in pairs(core) do
    it("describes exactly what " .. module .. " registers", function()
      local registered = {}
      for name, value in pairs(functions) do
        if type(value) == "function" then
          registered[name] = true
        end
      end
      local text = source("lua/meta/" .. module .. ".lua")
      local wanted, methods = described(module, text)
      assert.are.same(registered, wanted)
      assert.is_truthy(text:find("---@meta pairperf.core." .. module .. "\n", 1, true))
      for name in pairs(methods) do
        all_methods[name] = true
      end
    end)
  end

  it("describes exactly the methods of handles", function()
    assert.are.same(registered_methods(), all_methods)
  end)

  it("has no file without a module", function()
    local pipe <close> = assert(io.popen "ls lua/meta")
    for name in pipe:lines() do
      assert.is_table(core[name:match "^(.*)%.lua$"], name)
    end
  end)
end)
