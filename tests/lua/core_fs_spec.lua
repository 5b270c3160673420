-- SPDX-License-Identifier: Apache-2.0
-- runs under valgrind
local core = require "pairperf.core"
local scratch = require "tests.lua.support.scratch"

local fs = core.fs

describe("core.fs", function()
  local dir

  setup(function()
    dir = scratch.make()
  end)
  teardown(function()
    scratch.remove(dir)
  end)

  local function mode(name)
    return scratch.capture(("stat -c %%a '%s/%s'"):format(dir, name)):gsub("\n", "")
  end

  it("makes a directory only where nothing is", function() -- proves: CLI-3
    assert.is_true(fs.mkdir_exclusive(dir .. "/new"))
    assert.are.equal("700", (mode "new"))
    local ok, err = fs.mkdir_exclusive(dir .. "/new")
    assert.is_nil(ok)
    assert.are.equal("exists", err.code)
    assert.are.equal("EEXIST", err.errno)
    scratch.sh(("ln -s nowhere '%s/dangling'"):format(dir))
    assert.are.equal("exists", select(2, fs.mkdir_exclusive(dir .. "/dangling")).code)
    assert.is_true(fs.mkdirs(dir .. "/new/a/b"))
    assert.is_true(fs.mkdirs(dir .. "/new/a/b"))
  end)

  it("writes whole files and adds to logs", function() -- proves: REP-2
    local bytes = "one\0two\xff\n"
    local path = dir .. "/file"
    assert.is_true(fs.write_atomic(path, bytes))
    assert.are.equal(bytes, fs.read(path))
    assert.are.equal("600", (mode "file"))
    assert.is_true(fs.append(path, "three\n"))
    assert.is_true(fs.append(path, "", true))
    assert.are.equal(bytes .. "three\n", fs.read(path))
    scratch.sh(("ln -s file '%s/to-file'"):format(dir))
    assert.are.equal("ELOOP", select(2, fs.append(dir .. "/to-file", "x")).errno)
    assert.are.equal(bytes .. "three\n", fs.read(dir .. "/to-file"))
  end)

  it("stops reading at a limit", function()
    scratch.write(dir .. "/ten", ("x"):rep(10))
    assert.are.equal(10, #fs.read(dir .. "/ten", 10))
    local text, err = fs.read(dir .. "/ten", 9)
    assert.is_nil(text)
    assert.are.equal("nomem", err.code)
    assert.are.equal("invalid", select(2, fs.read(dir)).code)
  end)

  it("tells what a path is and what it leads to", function()
    scratch.write(dir .. "/plain", "12345")
    scratch.sh(("ln -s plain '%s/link' && chmod 640 '%s/plain'"):format(dir, dir))
    local link, file = fs.lstat(dir .. "/link"), fs.stat(dir .. "/link")
    assert.are.equal("symlink", link.type)
    assert.are.equal("file", file.type)
    assert.are.equal(5, file.size)
    assert.are.equal(tonumber("640", 8), file.mode)
    assert.are.equal(core.process.geteuid(), file.uid)
    assert.are.equal("integer", math.type(file.mtime_ns))
    assert.are.equal("plain", fs.readlink(dir .. "/link"))
    assert.are.equal(fs.realpath(dir) .. "/plain", fs.realpath(dir .. "/link"))
    assert.is_nil(fs.lstat(dir .. "/none"))
  end)

  it("lists names sorted by their bytes", function()
    scratch.sh(
      ("mkdir '%s/names' && cd '%s/names' && touch b A é a '%s'"):format(dir, dir, "a\nb")
    )
    assert.are.same({ "A", "a", "a\nb", "b", "é" }, fs.list(dir .. "/names"))
    assert.are.equal("ENOENT", select(2, fs.list(dir .. "/none")).errno)
  end)

  it("knows permissions, space and the working directory", function()
    scratch.write(dir .. "/script", "")
    assert.are.equal("denied", select(2, fs.access_exec(dir .. "/script")).code)
    assert.is_true(fs.chmod(dir .. "/script", tonumber("755", 8)))
    assert.is_true(fs.access_exec(dir .. "/script"))
    assert.has_error(function()
      fs.chmod(dir .. "/script", 4096)
    end)
    assert.is_true(fs.free_bytes(dir) > 0)
    assert.are.equal(scratch.capture("pwd -P"):sub(1, -2), fs.getcwd())
  end)
end)
