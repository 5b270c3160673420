-- SPDX-License-Identifier: Apache-2.0
--- Colour on terminals, and nowhere else.
local core = require "pairperf.core"
local terminal = require "pairperf.terminal"

describe("the words of a comparison", function()
  local environment, terminals, getenv, is_terminal
  before_each(function()
    environment, terminals = { TERM = "xterm" }, { true }
    getenv, is_terminal = os.getenv, core.process.is_terminal
    rawset(os, "getenv", function(name)
      return environment[name]
    end)
    core.process.is_terminal = function(fd)
      return terminals[fd] or false
    end
  end)
  after_each(function()
    rawset(os, "getenv", getenv)
    core.process.is_terminal = is_terminal
  end)

  -- proves: API-3
  it("have colour on a terminal, others have none", function()
    assert.equal(
      "CPU \27[1;31mregressed\27[0m (\27[1;32mimproved\27[0m) * equivalents, +regressed_x",
      terminal.painted("CPU regressed (improved) * equivalents, +regressed_x", 1)
    )
    assert.equal("regressed", terminal.painted("regressed", 2))
  end)

  -- proves: API-3
  it("have none with NO_COLOR or on a dumb terminal", function()
    environment.NO_COLOR = ""
    assert.is_true(terminal.has_colour(1))
    environment.NO_COLOR = "1"
    assert.equal("regressed", terminal.painted("regressed", 1))
    environment = { TERM = "dumb" }
    assert.is_false(terminal.has_colour(1))
  end)
end)
