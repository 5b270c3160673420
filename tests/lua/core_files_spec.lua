-- SPDX-License-Identifier: Apache-2.0
-- runs under valgrind
--- The bindings of digest, manifest, template, guard, sandbox and argv: shapes and errors; what
--- the functions do is tested in C.
local core = require "pairperf.core"
local scratch = require "tests.lua.support.scratch"

local SHA_OF_ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

describe("files", function()
  local dir

  setup(function()
    dir = core.fs.realpath(scratch.make())
  end)
  teardown(function()
    scratch.remove(dir)
  end)

  it("have digests", function()
    scratch.write(dir .. "/abc", "abc")
    assert.are.equal(SHA_OF_ABC, core.digest.file(dir .. "/abc"))
    assert.are.equal(SHA_OF_ABC, core.digest.bytes "abc")
    local hex, err = core.digest.file(dir)
    assert.is_nil(hex)
    assert.are.equal("invalid", err.code)
  end)

  it("have digests of their lines beside their own, from one reading", function() -- proves: REP-5
    local text = "abc\n\nlast without an end"
    scratch.write(dir .. "/lines", text)
    local lines, whole, size = core.digest.file_lines(dir .. "/lines", 8)
    local each = {}
    for i, line in ipairs { "abc\n", "\n", "last without an end" } do
      each[i] = core.digest.bytes(line):sub(1, 8)
    end
    assert.are.equal(table.concat(each), lines)
    assert.are.equal(core.digest.lines(text, 8), lines)
    assert.are.equal(core.digest.bytes(text), whole)
    assert.are.equal(#text, size)
    local none, err = core.digest.file_lines(dir .. "/no", 8)
    assert.is_nil(none)
    assert.are.equal("ENOENT", err.errno)
    none, err = core.digest.file_lines(dir, 8)
    assert.is_nil(none)
    assert.are.equal("EISDIR", err.errno)
  end)

  it("have manifests that decode to what is there", function() -- proves: PROV-2
    scratch.sh(("mkdir -p '%s/bundle/d' && ln -s d '%s/bundle/link'"):format(dir, dir))
    scratch.write(dir .. "/bundle/d/f", "abc")
    local manifest = core.manifest.build(dir .. "/bundle")
    assert.are.equal(core.digest.bytes(manifest.json), manifest.sha256)
    assert.are.equal(3, manifest.entries)
    assert.are.equal(1, manifest.files)
    assert.are.equal(3, manifest.bytes)
    local decoded = core.json.decode(manifest.json)
    assert.are.equal("pairperf-manifest-1", decoded.schema)
    assert.are.equal("d/f", decoded.entries[2].path)
    assert.are.equal(SHA_OF_ABC, decoded.entries[2].sha256)
    assert.are.equal(core.digest.bytes "d", decoded.entries[3].target_sha256)
    assert.are.equal(manifest.json, core.json.encode(decoded))
    assert.are.equal("ENOENT", select(2, core.manifest.build(dir .. "/none")).errno)
  end)

  it("tell how far a huge one is hashed, and stop by an error", function() -- proves: PROV-2
    scratch.sh(("mkdir '%s/huge' && truncate -s 1T '%s/huge/f'"):format(dir, dir))
    local seen
    local ok, err = pcall(core.manifest.build, dir .. "/huge", {
      progress = function(progress)
        seen = progress
        error { "enough" }
      end,
    })
    assert.is_false(ok)
    assert.are.same({ "enough" }, err)
    assert.are.equal(1, seen.files)
    assert.are.equal(0, seen.files_done)
    assert.are.equal(1 << 40, seen.bytes)
    assert.is_true(seen.bytes_done < seen.bytes)
    assert.has_error(function()
      core.manifest.build(dir .. "/huge", { pogress = print })
    end)
    assert.has_error(function()
      core.manifest.build(dir .. "/huge", { progress = 7 })
    end)
    os.remove(dir .. "/huge/f")
  end)

  it("serve as templates", function() -- proves: BOX-4
    scratch.sh(("mkdir -p '%s/t' '%s/h'"):format(dir, dir))
    scratch.write(dir .. "/t/f", "abc")
    local found = core.template.check(dir .. "/t")
    assert.are.equal(1, found.entries)
    assert.are.equal(3, found.bytes)
    assert.are.same(found, core.template.copy(dir .. "/t", dir .. "/h"))
    assert.are.equal("abc", core.fs.read(dir .. "/h/f"))
    scratch.sh(("mkfifo '%s/t/p'"):format(dir))
    local ok, err = core.template.copy(dir .. "/t", dir .. "/h")
    assert.is_nil(ok)
    assert.are.equal("refused", err.code)
    assert.is_truthy(err.detail:find("p (fifo)", 1, true))
  end)
end)

describe("core.guard", function()
  local dir

  setup(function()
    dir = core.fs.realpath(scratch.make())
  end)
  teardown(function()
    scratch.remove(dir)
  end)

  it("takes snapshots that survive a file", function() -- proves: GUARD-1 GUARD-3
    local path = dir .. "/nvpair"
    local absent = core.guard.snapshot(path)
    assert.are.same({ type = "absent" }, absent)
    scratch.write(path, "abc")
    local present = core.guard.snapshot(path)
    assert.are.equal(SHA_OF_ABC, present.sha256)
    assert.are.equal(3, present.size)

    local stored = core.json.decode(core.json.encode(present))
    assert.are.same({}, core.guard.differences(stored, core.guard.snapshot(path)))
    scratch.sh(("chmod 711 '%s'"):format(path))
    assert.are.same({ "mode" }, core.guard.differences(stored, core.guard.snapshot(path)))
    local names = core.guard.differences(absent, present)
    assert.is_true(#names > 5)
    assert.are.equal("uid", names[#names])
    local ok, err = core.guard.snapshot(dir)
    assert.is_nil(ok)
    assert.are.equal("unverified", err.code)
  end)

  it("compares only snapshots", function()
    for _, bad in ipairs { { 1 }, { [("x"):rep(40)] = 1 } } do
      assert.has_error(function()
        core.guard.differences(bad, {})
      end)
    end
    local many = {}
    for i = 1, 41 do
      many["f" .. i] = i
    end
    assert.has_error(function()
      core.guard.differences({}, many)
    end)
  end)

  it("asks about the nearest existing directory", function() -- proves: GUARD-2
    local answer = core.guard.writable(dir .. "/a/b/c")
    assert.are.same({ writable = true, directory = dir }, answer)
    scratch.sh(("ln -s nowhere '%s/d'"):format(dir))
    assert.are.equal("unverified", select(2, core.guard.writable(dir .. "/d/x")).code)
  end)
end)

describe("core.sandbox", function()
  local dir

  setup(function()
    dir = core.fs.realpath(scratch.make())
  end)
  teardown(function()
    scratch.remove(dir)
  end)

  it("finds executables", function() -- proves: BOX-1
    local macos = dir .. "/X.app/Contents/MacOS"
    scratch.sh(
      ("mkdir -p '%s' && touch '%s/PAIR' && chmod 755 '%s/PAIR'"):format(macos, macos, macos)
    )
    scratch.write(
      dir .. "/X.app/Contents/Info.plist",
      "<plist><dict><key>CFBundleShortVersionString</key><string>2</string></dict></plist>"
    )
    assert.are.same({
      path = macos .. "/PAIR",
      kind = "app",
      name = "PAIR",
      version = "2",
    }, core.sandbox.executable(dir .. "/X.app"))
    scratch.sh(("mkdir '%s/d' && cp '%s/PAIR' '%s/d'"):format(dir, macos, dir))
    local found = core.sandbox.executable(dir .. "/d", { executable = "PAIR" })
    assert.are.equal("directory", found.kind)
    assert.are.equal("refused", select(2, core.sandbox.executable(dir .. "/d")).code)
    assert.has_error(function()
      core.sandbox.executable(dir, { exe = "x" })
    end)
  end)

  it("prepares a home and its environment", function() -- proves: BOX-2 BOX-3 BOX-5
    local home = dir .. "/home"
    scratch.sh(("mkdir -p '%s/real/.omlx' '%s/t' && touch '%s/t/f'"):format(dir, dir, dir))
    assert.is_true(core.sandbox.prepare {
      home = home,
      template = dir .. "/t",
      link_dotdirs = { ".omlx" },
      real_home = dir .. "/real",
    })
    assert.are.equal(dir .. "/real/.omlx", core.fs.readlink(home .. "/.omlx"))
    assert.are.equal("file", core.fs.lstat(home .. "/f").type)

    local built = core.sandbox.environment {
      home = home,
      pass = { "PATH", "NO_SUCH_NAME_HERE" },
      set = { A = "1=2", B = "" },
      extra = { PAIR_PERF_SCENARIO = "tray" },
    }
    local values = {}
    for i, entry in ipairs(built.env) do
      local name, value = entry:match "^([^=]*)=(.*)$"
      assert.are.equal(name, built.names[i])
      values[name] = value
    end
    assert.are.equal(#built.env, #built.names)
    assert.are.equal(home, values.HOME)
    assert.are.equal("1=2", values.A)
    assert.are.equal("", values.B)
    assert.are.equal("tray", values.PAIR_PERF_SCENARIO)
    assert.are.equal(os.getenv "PATH", values.PATH)
    assert.is_nil(values.NO_SUCH_NAME_HERE)
    for name, value in pairs(values) do
      if name:find "^XDG" or name:find "TMP" then
        assert.are.equal(home, value:sub(1, #home))
        assert.are.equal(tonumber("700", 8), core.fs.lstat(value).mode)
      end
    end
    assert.are.equal(
      "refused",
      select(2, core.sandbox.environment { home = home, set = { HOME = "/" } }).code
    )
    assert.are.equal("exists", select(2, core.sandbox.prepare { home = home }).code)
  end)

  it("counts the room for sockets", function() -- proves: BOX-2
    local room, limit = core.sandbox.socket_room "/1234567"
    assert.are.equal(limit - #"/1234567/tmp/" - 1, room)
    assert.is_true(core.sandbox.socket_room("/" .. ("x"):rep(200)) < 0)
  end)
end)

describe("core.argv", function()
  it("splits as a shell splits quotes", function() -- proves: HOOK-1
    assert.are.same(
      { "/bin/sh", "-c", "a  b", "", "$X" },
      core.argv.split [[/bin/sh -c 'a  b' "" $X]]
    )
    assert.are.same({}, core.argv.split "  ")
    local words, err = core.argv.split [[a "b]]
    assert.is_nil(words)
    assert.are.equal("invalid", err.code)
  end)
end)
