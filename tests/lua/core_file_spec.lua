-- SPDX-License-Identifier: Apache-2.0
local fake_session = dofile "tests/lua/support/fake_session.lua"
local PATTERN <const> = "/proc/sys/kernel/core_pattern"
local HOME <const> = "/out/busy/run-01/home/"
local ABORTED <const> = { signal = "SIGABRT", core = true }

local host, run, session

before_each(function()
  host, run, session = fake_session.fresh()
end)

-- What is said of an application that dies so when it is asked to end, with these files at home.
local function reason_of(exit, pattern, names)
  host.commands["/app"] = { term_exit = exit }
  host.files[PATTERN] = pattern
  for _, name in ipairs(names or {}) do
    host.files[HOME .. name] = ("x"):rep(2048)
  end
  local done = fake_session.execute(run, session)
  assert.equal("quit", done.failure and done.failure.step)
  return done.failure.reason
end

-- proves: CAN-2, GRP-12 (B21)
describe("an application that crashes when it is asked to end", function()
  it("fails its run, with the core file in its home and the size of that", function()
    assert.equal(
      "the application ended with signal SIGABRT (core dumped) when it was asked to end; "
        .. "core file in its home: core, 2 KiB",
      reason_of(ABORTED, "core\n", { "core", "corex", "score" })
    )
    local event = fake_session.event(host, "core_dumped")
    assert.equal("core", event.pattern)
    assert.same({ { path = "core", size_bytes = 2048 } }, event.files)
  end)

  it("fails its run without a core, too", function()
    local reason = reason_of({ signal = "SIGSEGV", core = false }, "core\n", { "core" })
    assert.equal("the application ended with signal SIGSEGV when it was asked to end", reason)
    assert.is_nil(fake_session.event(host, "core_dumped"))
  end)

  for pattern, name in pairs {
    ["core"] = "core.123", -- core_uses_pid
    ["%e-%p.core"] = "app-1.core",
    ["a+%%.%p"] = "a+%.7",
  } do
    it("has its core file found by the pattern " .. pattern, function()
      local reason = reason_of(ABORTED, pattern, { name, "xx", "a-.7" })
      assert.matches("core file in its home: " .. name:gsub("%W", "%%%0") .. ", 2 KiB$", reason)
    end)
  end

  for pattern, said in pairs {
    ["|/usr/bin/handler %p"] = "|/usr/bin/handler %p",
    ["/var/cores/core"] = "/var/cores/core",
    ["nothing.%p"] = "nothing.%p",
  } do
    it("has no core file at home where the pattern is " .. pattern, function()
      local reason = reason_of(ABORTED, pattern, { "core" })
      local wanted = ("; no core file in its home (core_pattern: %s)"):format(said)
      assert.equal(wanted, reason:match "; no core file.*")
      assert.same({}, fake_session.event(host, "core_dumped").files)
    end)
  end

  it("has no core file at home that anybody knew of where the pattern cannot be read", function()
    assert.matches("core_pattern: unknown", reason_of(ABORTED, nil, { "core" }))
  end)
end)

-- proves: CAN-2 (B21)
it("an application whose core takes too long is ended by SIGKILL, and told of with both", function()
  host.commands["/app"] = { term_exit = ABORTED, on_term = "ignore" }
  host.files[PATTERN], host.files[HOME .. "core"] = "core\n", "x"
  assert.equal(
    "the application: did not end within 30 s (--quit-timeout), and had to be ended by SIGKILL; "
      .. "it died of signal SIGABRT (core dumped); core file in its home: core, 1 B",
    fake_session.execute(run, session).failure.reason
  )
end)

it("an application that dies by our SIGTERM has not crashed", function()
  host.commands["/app"] = { term_exit = { signal = "SIGTERM" } }
  assert.is_nil(fake_session.execute(run, session).failure)
end)

-- proves: CAN-2 (B21)
it("an application that crashed before it was asked has its core file named, too", function()
  host.commands["/app"] = { exit_after_s = 2, exit = ABORTED }
  host.files[PATTERN] = "core\n"
  host.files[HOME .. "core"] = "x"
  local reason = fake_session.execute(run, session).failure.reason
  assert.matches(
    "by itself after 2%.%d s: signal SIGABRT %(core dumped%); core file .*: core, 1 B$",
    reason
  )
end)
