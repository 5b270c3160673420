-- SPDX-License-Identifier: Apache-2.0
local fake = dofile "tests/lua/support/fake_core.lua"

local host, draft, options, preflight, scenario

before_each(function()
  host, draft, options, preflight, scenario =
    fake.fresh("pairperf.draft", "pairperf.options", "pairperf.preflight", "pairperf.scenario")
  host.files["/a"], host.files["/b"], host.files["/bin/true"] = "#!", "#!", "#!"
  host.files["/tmp"] = { type = "directory" }
end)

local COMMON =
  { "--baseline", "/a", "--candidate", "/b", "--output", "/tmp/out", "--authorize-launch" }

local function examine(args, declared)
  declared = declared or { name = "busy", summary = "s" }
  local suite = declared.scenarios and scenario.suite(declared)
    or scenario.as_suite(scenario.declare(declared))
  local parsed = assert(options.parse(assert(draft.entries(suite)), args))
  local planned = draft.new(suite, parsed, { path = "busy", source = "", absolute = "/busy.lua" })
  preflight.examine(planned)
  return planned
end

local function with(...)
  local args = table.move(COMMON, 1, #COMMON, 1, {})
  return table.move({ ... }, 1, select("#", ...), #args + 1, args)
end

local function only_refusal(planned)
  local texts = preflight.texts(planned, "refused")
  assert.equal(1, #texts, table.concat(texts, " | "))
  assert.is_nil(texts[1]:find "\n")
  return texts[1]
end

describe("preflight", function()
  it("finds nothing against a good set-up", function()
    assert.is_false(preflight.refused(examine(COMMON)))
  end)

  -- proves: CLI-12
  it("refuses other systems by name", function()
    package.loaded["pairperf.core"].process.system = function()
      return "FreeBSD"
    end
    assert.matches("FreeBSD is not supported", only_refusal(examine(COMMON)))
  end)

  -- proves: CLI-6
  it("refuses a missing artifact, an archive and a program that is not executable", function()
    local planned = examine { "--baseline", "/a", "--output", "/tmp/out", "--authorize-launch" }
    assert.matches("'%-%-candidate': is missing: name an .app bundle", only_refusal(planned))
    planned = examine {
      "--baseline",
      "/x.dmg",
      "--candidate",
      "/b",
      "--output",
      "/tmp/out",
      "--authorize-launch",
    }
    assert.matches("'/x.dmg' is an archive; unpack it", only_refusal(planned))
    host.files["/b"] = "not executable"
    assert.matches("'/b' is not executable: EACCES", only_refusal(examine(COMMON)))
  end)

  -- proves: CLI-3
  it("refuses an output that exists in any form", function()
    for _, kind in ipairs { "directory", "file", "symlink" } do
      host.files["/tmp/out"] = { type = kind }
      assert.matches("exists already %(as a " .. kind .. "%)", only_refusal(examine(COMMON)))
    end
  end)

  it("refuses an output without a directory to create it in", function()
    host.files["/tmp"] = nil
    assert.matches("'/tmp' is no directory", only_refusal(examine(COMMON)))
  end)

  -- proves: PLAN-4
  it("takes the baseline for both sides of an A/A control, and refuses a candidate", function()
    local aa =
      { "--baseline", "/a", "--output", "/tmp/out", "--authorize-launch", "--null-control" }
    local planned = examine(aa)
    assert.is_false(preflight.refused(planned))
    assert.equal("/a", planned.variants.candidate.artifact)
    assert.equal("candidate", planned.variants.candidate.name)
    assert.equal("baseline", planned.variants.baseline.name)
    assert.matches(
      "'%-%-candidate' has no place beside '%-%-null%-control'",
      only_refusal(examine(with "--null-control"))
    )
    aa[#aa + 1] = "--candidate-arg=x"
    assert.matches("'%-%-candidate%-arg' has no place", only_refusal(examine(aa)))
    aa[#aa] = "--single"
    assert.matches("'%-%-single' has no place", only_refusal(examine(aa)))
  end)

  -- proves: CLI-7
  it("refuses a screen that cannot fail, or that is none", function()
    local planned = examine(with("--screen", "cpu_percent:+5%", "--repetitions", "2"))
    assert.matches("2 repetitions cannot show a regression; take at least 3", only_refusal(planned))
    planned = examine(with("--screen", "cpu_percent:+5%", "--repetitions", "3"))
    assert.is_false(preflight.refused(planned))
    local one = { name = "overview", summary = "s", repetitions = 3 }
    local declared = {
      name = "suite",
      summary = "s",
      scenarios = { one, { name = "tray", summary = "s", repetitions = 2 } },
    }
    planned = examine(with("--screen", "overview/cpu_percent:+5%"), declared)
    assert.is_false(preflight.refused(planned))
    planned = examine(with("--screen", "tray/cpu_percent:+5%"), declared)
    assert.matches("2 repetitions cannot show a regression", only_refusal(planned))
    planned = examine(with("--screen", "cpu_percnt:+5%"))
    assert.matches("did you mean 'cpu_percent'", only_refusal(planned))
    planned = examine(with("--screen", "cpu_percent:<=5"))
    assert.matches("a screen takes a budget", only_refusal(planned))
  end)

  -- proves: CLI-5
  it("has a preset for pull requests, which what is given overrides", function()
    local planned = examine(
      with("--quick", "--repetitions", "4"),
      { name = "busy", summary = "s", warmup_s = 90, duration_s = 300 }
    )
    local one = planned.scenarios[1]
    assert.same({ 5, 20, 1, 4 }, {
      one.warmup_s,
      one.duration_s,
      one.interval_s,
      one.repetitions,
    })
    assert.truthy(planned.diagnostic.diagnostic_only)
    local record = options.record(planned.parsed)
    assert.same({ value = 5, unit = "s", origin = "preset" }, record.warmup)
    assert.equal("option", record.repetitions.origin)
    assert.equal(
      90,
      examine(COMMON, { name = "busy", summary = "s", warmup_s = 90 }).scenarios[1].warmup_s
    )
  end)

  -- proves: PLAN-4
  it(
    "refuses a noise floor that is none or of another machine, and says where it is silent",
    function()
      local planned = examine(with("--noise-floor", "/no/floor"))
      assert.matches("'%-%-noise%-floor': '/no/floor' ", only_refusal(planned))
      local noise_floor = require "pairperf.noise_floor"
      local floor = {
        schema = "pairperf-floor-1",
        created_utc = "x",
        machine = noise_floor.machine(require("pairperf.probes").static()),
        scenarios = {},
      }
      local read = noise_floor.read
      noise_floor.read = function()
        return floor
      end
      planned = examine(with("--noise-floor", "/floor"))
      assert.is_false(preflight.refused(planned))
      local warnings = table.concat(preflight.texts(planned, "warning"), "|")
      assert.matches("the noise floor has nothing of scenario busy with these windows", warnings)
      floor.machine.kernel = "another"
      assert.matches(
        "was made on another machine",
        only_refusal(examine(with("--noise-floor", "/x")))
      )
      noise_floor.read = read
    end
  )

  -- proves: HOOK-1
  it("refuses hooks that are unbalanced, relative or missing", function()
    assert.matches(
      "unbalanced quote",
      only_refusal(examine(with("--pre-sample-hook", "/bin/true 'x")))
    )
    assert.matches("relative", only_refusal(examine(with("--post-run-check", "check.sh"))))
    assert.matches(
      "'/no/hook' is missing",
      only_refusal(examine(with("--pre-sample-hook", "/no/hook")))
    )
  end)

  -- proves: BOX-4, BOX-5
  it(
    "refuses a template with a symlink, and dot-directories that are not one dotted name",
    function()
      local text = only_refusal(examine(with("--template", "t")))
      assert.matches("'%-%-template': 't': 1 entry that is neither file nor directory", text)
      for _, name in ipairs { "../x", "..", ".a/b", "x", "." } do
        assert.matches("'%-%-link%-dotdir'", only_refusal(examine(with("--link-dotdir", name))))
      end
    end
  )

  -- proves: BOX-4
  it("names all that a template may not hold, up to a thousand", function()
    local function lines()
      for _, finding in ipairs(examine(with("--template", "t")).findings) do
        if finding.level == "refused" then
          return finding.lines
        end
      end
    end
    host.template_rejects = 1000
    local named = lines()
    assert.equal(1000, #named)
    assert.equal("a/b?1000 (symlink)", named[1000])
    host.template_rejects = 1002
    named = lines()
    assert.equal(1001, #named)
    assert.equal("and 2 more", named[1001])
  end)

  -- proves: RUN-1
  -- proves: CLI-4
  it("refuses a context file that is missing, unreadable or longer than its limit", function()
    local option = "option '%-%-context%-file': '/context' is "
    local missing = only_refusal(examine(with("--context-file", "/context")))
    assert.matches(option .. "no readable file", missing)
    host.files["/context"] = ("x"):rep((1 << 20) + 1)
    local text = only_refusal(examine(with("--context-file", "/context")))
    assert.matches(option .. "longer than 1 MiB", text)
    host.files["/context"] = "why"
    local planned = examine(with("--context-file", "/context"))
    assert.is_false(preflight.refused(planned))
    assert.equal("why", planned.context_text)
  end)

  -- proves: HOOK-2
  it("refuses to overwrite what hooks are told", function()
    local planned = examine(with("--hook-env", "PAIR_PERF_APP_PID=1", "--hook-env", "MINE=1"))
    assert.matches("'%-%-hook%-env': PAIR_PERF_APP_PID", only_refusal(planned))
  end)

  it("warns of a passed variable that is not set and refuses the loader's", function()
    local planned = examine(with("--pass-env", "PP_NOT_SET_ANYWHERE"))
    assert.is_false(preflight.refused(planned))
    local warnings = table.concat(preflight.texts(planned, "warning"), "|")
    assert.matches("'%-%-pass%-env': PP_NOT_SET_ANYWHERE is not set", warnings)
    assert.matches("LD_PRELOAD", only_refusal(examine(with("--pass-env", "LD_PRELOAD"))))
    local text = only_refusal(examine(with("--pass-env", "DYLD_INSERT_LIBRARIES")))
    assert.matches("DYLD_INSERT_LIBRARIES", text)
  end)

  -- proves: RUN-1
  it("refuses a readiness file outside the run's home", function()
    for _, path in ipairs { "/tmp/ready", "../ready", "a/../../b", "a/..", ".." } do
      local text = only_refusal(examine(with("--ready", "file:" .. path)))
      local wanted = "'file:%s' needs a path relative to the run's home that does not leave it"
      assert.is_truthy(text:find(wanted:format(path), 1, true), text)
    end
    for _, path in ipairs { "run/ready", "..ready", "a..b/c", "./a" } do
      assert.is_false(preflight.refused(examine(with("--ready", "file:" .. path))))
    end
  end)

  it("refuses readiness in no known form", function()
    for _, text in ipairs {
      "soon",
      "port:0",
      "port:65536",
      "port:x",
      "http:ftp://x",
      "cmd:relative",
      "file:",
    } do
      assert.matches("'%-%-ready'", only_refusal(examine(with("--ready", text))))
    end
    assert.is_false(preflight.refused(examine(with("--ready", "cmd:/bin/true x"))))
    assert.is_false(preflight.refused(examine(with("--ready", "http://127.0.0.1:1/x"))))
    assert.is_false(preflight.refused(examine(with("--ready", "http:http://127.0.0.1:1/x"))))
  end)

  it("collects every finding, not only the first", function()
    local planned =
      examine { "--output", "/tmp/out", "--pre-sample-hook", "x", "--link-dotdir", "y" }
    assert.equal(5, #preflight.texts(planned, "refused"))
  end)
end)

-- proves: GUARD-2, GUARD-5, GUARD-6
-- proves: CLI-7 REP-4
describe("the comparison's findings", function()
  it("refuse gates and metrics with unknown names, with the nearest", function()
    local text = only_refusal(examine(with("--fail-on", "cpu_precent:+5%")))
    assert.matches("'%-%-fail%-on': 'cpu_precent:%+5%%' names no metric.*'cpu_percent'", text)
    text = only_refusal(examine(with("--fail-on", "bsy/cpu_percent:+5%")))
    assert.matches("names no scenario of this session: 'bsy'; did you mean 'busy'", text)
    text = only_refusal(examine(with("--primary", "rss_max")))
    assert.matches("'%-%-primary': 'rss_max' names no metric", text)
    assert.is_false(preflight.refused(examine(with("--fail-on", "busy/cpu_percent:+5%"))))
  end)

  it("refuse gates on a single variant", function()
    local planned = examine {
      "--baseline",
      "/a",
      "--single",
      "--output",
      "/tmp/out",
      "--authorize-launch",
      "--fail-on",
      "cpu_percent:+5%",
    }
    assert.matches("no place beside '%-%-single'", only_refusal(planned))
  end)

  it("warn of a family that the runs cannot carry, with the runs that can", function()
    local function warned(...)
      return table.concat(preflight.texts(examine(with(...)), "warning"), "\n")
    end
    assert.is_nil(warned("--repetitions", "5"):find "primary metrics")
    assert.matches(
      "4 primary metrics are more than can be significant with 4%+4 runs %(1%): take 5 repetitions",
      warned("--repetitions", "4")
    )
    assert.is_nil(warned("--repetitions", "4", "--primary", "cpu_percent"):find "primary metrics")
  end)
end)

describe("the guard's finding", function()
  it("refuses a writable directory and prints the ways on with what each means", function()
    host.launcher_writable = true
    local planned = examine(COMMON)
    assert.matches("'/usr/local/bin' can be written by this user", only_refusal(planned))
    for _, finding in ipairs(planned.findings) do
      if finding.level == "refused" then
        assert.equal(4, #finding.lines)
      end
    end
  end)

  it("is a warning when a write is accepted, with one more for different paths", function()
    host.launcher_writable = true
    local planned = examine(with "--allow-system-launcher-write")
    assert.is_false(preflight.refused(planned))
    local warnings = table.concat(preflight.texts(planned, "warning"), "\n")
    assert.matches("can be written", warnings)
    assert.matches("sit at different paths", warnings)
  end)

  -- proves: GUARD-2, BOX-9
  it("is not there when a confined application cannot write", function()
    host.launcher_writable = true
    local planned = examine(with "--confine")
    assert.is_false(preflight.refused(planned))
    assert.same({}, host.probed_with)
    assert.matches("Landlock %(ABI 7%)", table.concat(preflight.texts(planned, "note"), "\n"))
    host.confined_writable = true
    assert.matches("can be written by this user", only_refusal(examine(with "--confine")))
  end)

  it("stays when confinement cannot be had, which is refused by itself", function()
    host.no_landlock = true
    assert.matches(
      "'%-%-confine': writes cannot be confined here: switched off at boot",
      only_refusal(examine(with "--confine"))
    )
    host.no_landlock = nil
    assert.matches("no place without", only_refusal(examine(with("--writable", "/"))))
  end)

  it("says what an old kernel does not cover", function()
    host.landlock_abi = 4
    local notes = table.concat(preflight.texts(examine(with "--confine"), "note"), "\n")
    assert.matches("ioctl on devices", notes)
    host.landlock_abi = 5
    notes = table.concat(preflight.texts(examine(with "--confine"), "note"), "\n")
    assert.is_nil(notes:find "ioctl on devices")
  end)

  it("refuses what cannot be snapshotted", function()
    host.snapshots["/g"] = false
    assert.matches("guard: /g cannot be read", only_refusal(examine(with("--guard-path", "/g"))))
  end)

  -- proves: GUARD-1
  it("covers an added relative path by its absolute name", function()
    local paths = examine(with("--guard-path", "bin/g")).guard_paths
    assert.same({ "/usr/local/bin/nvpair", "/cwd/bin/g" }, paths)
  end)

  it("covers the launcher always and added paths too", function()
    assert.same({ "/usr/local/bin/nvpair", "/g" }, examine(with("--guard-path", "/g")).guard_paths)
  end)
end)

describe("warnings", function()
  -- proves: CLI-5
  it("say what is short of the defaults", function()
    local planned = examine(with("--warmup", "1", "--repetitions", "2"))
    assert.matches(
      "diagnostic only: short of the defaults in repetitions, warmup",
      table.concat(preflight.texts(planned, "warning"), "\n")
    )
  end)

  -- proves: CLI-5
  it("name the scenario where another has the defaults", function()
    local planned = examine(COMMON, {
      name = "both",
      summary = "s",
      scenarios = {
        scenario.declare { name = "long", summary = "s" },
        scenario.declare { name = "short", summary = "s", duration_s = 20 },
      },
    })
    local text = table.concat(preflight.texts(planned, "warning"), "\n")
    assert.matches("scenario short is diagnostic only: short of the defaults in duration", text)
    assert.is_nil(text:find "long is diagnostic")
    assert.same({ {}, { "duration" } }, {
      planned.scenarios[1].diagnostic_reasons,
      planned.scenarios[2].diagnostic_reasons,
    })
    assert.truthy(planned.diagnostic.diagnostic_only)
  end)

  -- proves: CLI-10
  it("say when one hook serves several labels", function()
    local one = scenario.declare { name = "tray", summary = "s" }
    local other = scenario.declare { name = "overview", summary = "s" }
    local declared = { name = "profile", summary = "s", scenarios = { one, other } }
    local planned = examine(with("--pre-sample-hook", "/bin/true"), declared)
    assert.matches("used for 2 labels", table.concat(preflight.texts(planned, "warning"), "\n"))
    planned = examine(with("--pre-sample-hook", "/bin/true", "--scenario", "overview"), declared)
    assert.not_matches("labels", table.concat(preflight.texts(planned, "warning"), "\n"))
    assert.equal("overview", planned.runs[1].scenario)
  end)

  -- proves: REP-2 CLI-9
  it("say when the disk may not hold the evidence", function()
    assert.not_matches(
      "may not fit",
      table.concat(preflight.texts(examine(COMMON), "warning"), "\n")
    )
    host.free_bytes = 1 << 16
    local warnings = table.concat(preflight.texts(examine(COMMON), "warning"), "\n")
    assert.matches("about .* of evidence may not fit: 64 KiB are free", warnings)
  end)

  it("say when little is left for a socket name", function()
    local left
    package.loaded["pairperf.core"].sandbox.socket_room = function()
      return left, 108
    end
    local function said(words)
      local warnings = table.concat(preflight.texts(examine(COMMON), "warning"), "\n")
      return warnings:find(words, 1, true) ~= nil
    end
    left = 40
    assert.is_false(said "TMPDIR")
    left = 39
    assert.is_true(said "a socket name below TMPDIR has 39 of 108 bytes left; choose a shorter")
    left = 0 -- not even for a name of one byte
    assert.is_true(said "by its whole path, which is 1 bytes too long (of 108); choose a shorter")
    left = -5
    assert.is_true(said "6 bytes too long (of 108)")
  end)
end)

-- proves: CLI-5
describe("effective values", function()
  it("come from the option, else the scenario, else the default", function()
    local declared = { name = "busy", summary = "s", interval_s = 10, warmup_s = 7 }
    local planned = examine(with("--warmup", "3"), declared)
    local one = planned.scenarios[1]
    assert.equal(3, one.warmup_s)
    assert.equal(10, one.interval_s)
    assert.equal(120, one.duration_s)
    assert.same({ "option", "scenario", "default" }, {
      planned.parsed.origin.warmup,
      planned.parsed.origin.interval,
      planned.parsed.origin.duration,
    })
    assert.equal(5, examine(COMMON).scenarios[1].interval_s)
  end)

  it("of one scenario do not reach the next", function()
    local slow = scenario.declare { name = "tray", summary = "s", interval_s = 10, repetitions = 2 }
    local plain = scenario.declare { name = "overview", summary = "s" }
    local planned = examine(COMMON, { name = "p", summary = "s", scenarios = { slow, plain } })
    assert.equal(5, planned.scenarios[2].interval_s)
    assert.equal(5, planned.scenarios[2].repetitions)
    assert.equal(14, #planned.runs)
  end)
end)
