-- SPDX-License-Identifier: Apache-2.0
--- Finished sessions in the formats of other programs.
package.path = "tests/lua/?.lua;" .. package.path
local core = require "pairperf.core"
local export_csv = require "pairperf.export_csv"
local export_openmetrics = require "pairperf.export_openmetrics"
local fixture = require "fixture"
local json = require "pairperf.json"
local metric_catalogue = require "pairperf.metric_catalogue"
local report = require "pairperf.report"
local report_build = require "pairperf.report_build"
local report_commands = require "pairperf.report_commands"

local S = fixture.S
local EVIL = "</script><img src=x onerror=alert(1)>|x"
local FORMULA = [[=HYPERLINK("http://x","y"),]]

local dir
before_each(function()
  dir = fixture.directory()
end)
after_each(function()
  fixture.remove(dir)
end)

local function frames(percent)
  local list = {}
  for i = 0, 4 do
    local t = 80 + 10 * i
    list[i + 1] = {
      t = t,
      window = t >= 100 and 1 or 0,
      kind = t < 100 and "track" or t == 100 and "boundary" or t == 120 and "closing" or "tick",
      memory_pass = t >= 100,
      missed = t == 110 and 2 or 0,
      procs = {
        fixture.proc {
          cpu_ns = math.floor(10 * i * percent / 100 * S),
          rss_bytes = 100 << 20,
          voluntary_switches = 40 * i,
          start_ns = 79 * S,
          leader = true,
        },
        fixture.proc {
          pid = 101,
          start = 9,
          start_ns = 80 * S,
          exe = "/opt/app/" .. EVIL:gsub("/", "\\"),
        },
        fixture.proc { pid = 102, start = 9, start_ns = 80 * S, exe = FORMULA:gsub("/", "\\") },
      },
    }
  end
  return fixture.frames(list)
end

local function session(change)
  local runs = {}
  for slot = 0, 9 do
    runs[slot] = {
      frames = frames(25 + slot),
      requests = {
        {
          schema = "pairperf-request-1",
          send_ns = 101 * S,
          end_ns = 101 * S + 7000500,
          status = "ok",
          tokens = 3,
        },
      },
    }
  end
  change = change or {}
  runs[9] = not change.unfinished and runs[9] or nil
  fixture.session(dir, fixture.plan { repetitions = 5 }, runs)
end

-- What export writes, through the command line.
local function export(format, ...)
  local target = dir .. ".out"
  os.remove(target)
  assert.equal(0, report_commands.main("export", format, dir, "--to", target, ...))
  local text = assert(core.fs.read(target))
  os.remove(target)
  return text
end

-- The rows of RFC 4180 text; raises where it is none.
local function parse_csv(text)
  local rows, row, at = {}, {}, 1
  while at <= #text do
    local value, stop
    if text:sub(at, at) == '"' then
      local close = at
      repeat
        close = assert(text:find('"', close + 1, true), "open quote")
        local doubled = text:sub(close + 1, close + 1) == '"'
        close = doubled and close + 1 or close
      until not doubled
      value, stop = text:sub(at + 1, close - 1):gsub('""', '"'), close + 1
    else
      stop = text:find("[,\r\n]", at)
      value = text:sub(at, stop - 1)
      assert(not value:find('"', 1, true), "stray quote: " .. value)
    end
    row[#row + 1] = value
    if text:sub(stop, stop) == "," then
      at = stop + 1
    else
      assert.equal("\r\n", text:sub(stop, stop + 1))
      rows[#rows + 1], row, at = row, {}, stop + 2
    end
  end
  assert.equal(0, #row)
  return rows
end

local function records(text)
  local rows = parse_csv(text)
  assert.same(export_csv.COLUMNS, rows[1])
  local list = {}
  for i = 2, #rows do
    assert.equal(#rows[1], #rows[i])
    list[i - 1] = {}
    for column, name in ipairs(rows[1]) do
      list[i - 1][name] = rows[i][column]
    end
  end
  return list
end

local function pick(list, wanted)
  local found = {}
  for _, one in ipairs(list) do
    local same = true
    for name, value in pairs(wanted) do
      same = same and one[name] == value
    end
    found[#found + 1] = same and one or nil
  end
  return found
end

describe("export csv", function()
  -- proves: REP-4 MET-6
  it("has every run's values with unit, tier and reason", function()
    session { unfinished = true }
    local list = records(export "csv")
    local cpu = pick(list, { metric = "cpu_percent", component = "", slot = "3" })
    assert.equal(1, #cpu)
    assert.equal("28", cpu[1].value)
    assert.equal("%", cpu[1].unit)
    assert.equal("conservation", cpu[1].tier)
    assert.equal("candidate", cpu[1].variant)
    local none = pick(list, { metric = "footprint_max_bytes", slot = "3" })[1]
    assert.equal("", none.value)
    assert.equal("unsupported", none.reason)
    local pending = pick(list, { slot = "9" })
    assert.equal(1, #pending)
    assert.equal("pending", pending[1].status)
    assert.equal("", pending[1].metric)
  end)

  -- proves: REP-4 MET-6
  it("says why a component has no value", function()
    session()
    local path = dir .. "/" .. fixture.plan({}).runs[1].directory .. "/summary.json"
    local built = assert(json.decode(assert(core.fs.read(path))))
    local name = next(built.components)
    built.components[name].cpu_percent = json.null
    built.components[name].rss_max_bytes = json.null
    built.metrics.rss_max_bytes.value, built.metrics.rss_max_bytes.reason = json.null, "incomplete"
    local observed = built.metrics.cpu_percent_observed -- what a component's CPU is a part of
    observed.value, observed.reason = json.null, "late_discovery"
    fixture.write(path, assert(json.encode(built)))
    local reasons = {}
    for _, one in ipairs(records(export "csv")) do
      if one.slot == "0" and one.component ~= "" and one.value == "" then
        reasons[one.metric] = one.reason
      end
    end
    assert.same({ cpu_percent = "late_discovery", rss_max_bytes = "incomplete" }, reasons)
  end)

  -- proves: REP-4
  it("shows_a_process_called_markup_as_text_and_no_name_as_a_formula", function()
    session()
    local list = records(export "csv")
    local evil = EVIL:gsub("/", "\\")
    assert.equal(1, #pick(list, { component = evil, metric = "cpu_percent", slot = "0" }))
    local formula = "'" .. FORMULA:gsub("/", "\\")
    assert.equal(0, #pick(list, { component = formula:sub(2) }))
    assert.equal(1, #pick(list, { component = formula, metric = "rss_max_bytes", slot = "0" }))
  end)

  it("guards every beginning that a spreadsheet computes", function()
    local function name(text)
      local run = { scenario = text, slot = 0, variant = "x", repetition = 1, status = "x" }
      local built = { runs = { run } }
      return parse_csv(export_csv.text(built, {}))[2][1]
    end
    for _, text in ipairs { "=1", "+1", "-1", "@x", " =1", "\u{FF1D}1", "\u{FF0B}1" } do
      assert.equal("'" .. text, name(text))
    end
    assert.equal("\\x09=1", name "\t=1")
    assert.equal('a"b,c', name 'a"b,c')
    assert.equal("a=1", name "a=1")
  end)
end)

describe("a process called </script><img src=x onerror=alert(1)>|x", function()
  -- proves: REP-4
  it("is text in Markdown, HTML, CSV and the trace", function()
    session()
    assert(report.write(dir))
    local evil = EVIL:gsub("/", "\\")
    local markdown = assert(core.fs.read(dir .. "/report.md"))
    assert.truthy(markdown:find("&lt;\\\\script>&lt;img src=x onerror=alert(1)>&#124;x", 1, true))
    local page = assert(core.fs.read(dir .. "/report.html"))
    assert.truthy(page:find("&lt;\\script&gt;&lt;img src=x onerror=alert(1)&gt;|x", 1, true))
    for _, text in ipairs { markdown, page } do
      assert.is_nil(text:find("<img", 1, true))
    end
    assert.equal(
      1,
      #pick(records(export "csv"), { component = evil, metric = "cpu_percent", slot = "0" })
    )
    local names = {}
    for _, event in ipairs(assert(json.decode(export "perfetto")).traceEvents) do
      names[event.name] = true
    end
    assert.truthy(names[evil])
  end)
end)

describe("export openmetrics", function()
  -- Lines of a text, checked against the grammar of OpenMetrics; families by name.
  local function parse(text)
    assert.equal("# EOF\n", text:sub(-6))
    assert.is_nil(text:sub(1, -7):find("# EOF", 1, true))
    local families, current = {}, nil
    for line in text:sub(1, -7):gmatch "([^\n]*)\n" do
      local kind, name, rest = line:match "^# (%u+) ([%a_][%w_]*) (.+)$"
      if kind == "TYPE" then
        assert.is_nil(families[name], name .. " stands twice")
        current = { type = rest, samples = {} }
        families[name] = current
      elseif kind then
        assert.equal(families[name], current, name .. " is interleaved")
        current[kind] = rest
      else
        local metric, labels, value = line:match "^([%a_][%w_]*){(.*)} (%S+)$"
        assert.equal(families[metric], current, line)
        assert(tonumber(value), line)
        local key = labels
        assert.is_nil(current.samples[key], line)
        current.samples[key] = tonumber(value)
      end
    end
    return families
  end

  -- proves: REP-4
  it("has a family per metric in base units, with type, unit and help", function()
    session { unfinished = true }
    local families = parse(export "openmetrics")
    for name, family in pairs(families) do
      assert.equal("gauge", family.type)
      assert.truthy(family.HELP)
      assert(not family.UNIT or name:sub(-#family.UNIT - 1) == "_" .. family.UNIT, name)
    end
    local labels = 'scenario="overview",variant="candidate",repetition="2",slot="3"'
    local cpu = families.pairperf_cpu_cores
    assert.equal("cores", cpu.UNIT)
    assert.equal(0.28, cpu.samples[labels .. ',tier="conservation"'])
    assert.equal(100 << 20, families.pairperf_rss_max_bytes.samples[labels])
    assert.is_nil(families.pairperf_footprint_max_bytes)
    assert.equal(1, families.pairperf_run_success.samples[labels])
    local last = labels:gsub('"2"', '"5"'):gsub('"3"', '"9"')
    assert.equal(0, families.pairperf_run_success.samples[last])
    assert.is_nil(families.pairperf_rss_max_bytes.samples[last])
  end)

  -- proves: MET-5
  it("has no value of a run that failed", function()
    session()
    local input = assert(report.load(dir))
    local built = report_build.build(input)
    built.runs[4].status = "failed"
    local families = parse(export_openmetrics.text(built, input.summaries))
    local labels = 'scenario="overview",variant="candidate",repetition="2",slot="3"'
    assert.equal(0, families.pairperf_run_success.samples[labels])
    assert.is_nil(families.pairperf_rss_max_bytes.samples[labels])
  end)

  it("names every metric of the catalogue differently, and without its printed unit", function()
    local seen = {}
    for _, entry in ipairs(metric_catalogue) do
      local family = export_openmetrics.family(entry)
      assert.is_nil(seen[family.name], family.name)
      seen[family.name] = true
      assert.is_nil(family.name:find "percent" or family.name:find "_ms")
      assert.equal("_" .. family.unit, family.name:sub(-#family.unit - 1))
    end
    local per_token = export_openmetrics.family { name = "cpu_ms_per_token_cgroup", unit = "ms" }
    assert.equal("pairperf_cpu_cgroup_seconds_per_token", per_token.name)
  end)

  it("escapes what a label may not hold", function()
    local text = export_openmetrics.text({
      tool = { version = 'a"b\\c' },
      created_utc = "x",
      seed = 3,
      first = "baseline",
      diagnostic_only = false,
      runs = {},
      comparison = json.null,
    }, {})
    assert.truthy(text:find([[version="a\"b\\c"]], 1, true))
  end)
end)

describe("export perfetto", function()
  local function events()
    local trace = assert(json.decode(export "perfetto"))
    assert.equal("ms", trace.displayTimeUnit)
    return trace.traceEvents, trace.otherData
  end

  local NEEDS = {
    M = { "args" },
    X = { "dur", "cat" },
    C = { "args", "cat" },
    i = { "s", "cat" },
  }

  -- proves: REP-4
  it("keeps to the trace event format", function()
    session()
    for _, event in ipairs(events()) do
      local needs = assert(NEEDS[event.ph], event.ph)
      for _, field in ipairs { "name", "pid", "tid", "ts", table.unpack(needs) } do
        assert(event[field] ~= nil, field .. " is missing: " .. json.encode(event))
      end
      assert.equal("integer", math.type(event.pid))
      assert(event.ts >= 0 and (event.dur or 0) >= 0, json.encode(event))
      for _, value in pairs(event.ph == "C" and event.args or {}) do
        assert.equal("number", type(value))
      end
    end
  end)

  -- proves: REP-4
  it("shows lifetimes, counters, phases, requests and stalls of each run", function()
    session()
    local list, about = events()
    local first = pick(list, { pid = 1 })
    local names = pick(first, { ph = "M", name = "process_name" })
    assert.equal("overview, baseline 1 (slot 0)", names[1].args.name)
    -- The window begins 21 s after the first process did; times are microseconds.
    local lives = pick(first, { cat = "process" })
    assert.equal(3, #lives)
    assert.equal("app", lives[1].name)
    assert.equal(100, lives[1].args.pid)
    assert.equal(41000000, lives[1].dur)
    assert.is_false(lives[1].args.end_seen)
    assert.is_false(lives[1].args.escaped)
    local labels = pick(first, { ph = "M", name = "process_labels" })
    assert.equal("success", labels[1].args.labels)
    assert.equal(21000000, about.window_start_us - lives[1].ts)
    local cpu = pick(first, { ph = "C", name = "CPU" })
    assert.equal(4, #cpu)
    assert.equal(25, cpu[1].args["% of one core"])
    assert.equal(20000000, about.window_start_us - cpu[1].ts)
    assert.equal(5, #pick(first, { ph = "C", name = "resident memory" }))
    local switches = pick(first, { ph = "C", name = "context switches" })
    assert.equal(4, #switches)
    assert.same({ ["per second"] = 4 }, switches[1].args)
    assert.equal(4, #pick(first, { ph = "C", name = "written" }))
    assert.equal(0, #pick(first, { ph = "C", name = "wakeups" }))
    local sampling = pick(first, { cat = "phase", name = "sampling" })[1]
    assert.equal(22000000, sampling.dur)
    local request = pick(first, { cat = "request" })[1]
    assert.equal(7000.5, request.dur)
    assert.equal("ok", request.args.status)
    assert.equal(1, #pick(first, { ph = "i", name = "2 passes missed" }))
    assert.equal(1, #pick(first, { ph = "i", name = "ready" }))
    assert.equal(10, #pick(list, { ph = "M", name = "process_name" }))
  end)
end)

describe("export", function()
  local function refusal(...)
    local stderr, said = io.stderr, {}
    rawset(io, "stderr", {
      write = function(_, ...)
        said[#said + 1] = table.concat { ... }
      end,
    })
    local status = report_commands.main("export", ...)
    rawset(io, "stderr", stderr)
    assert.equal(2, status)
    return table.concat(said)
  end

  -- proves: REP-4 CLI-3
  it("refuses other formats, other places and files that exist", function()
    session()
    assert.matches("name a format", refusal())
    assert.matches("did you mean 'csv'", refusal("cvs", dir))
    assert.matches("name one output directory", refusal "csv")
    assert.matches("name one output directory", refusal("csv", dir, dir))
    assert.matches("not the output of a session", refusal("csv", "/nonexistent"))
    assert.matches("inside the session", refusal("csv", dir, "--to", dir .. "/x.csv"))
    assert.matches("exists", refusal("csv", dir, "--to", dir .. "/plan.json"))
    assert.is_nil(core.fs.lstat(dir .. "/x.csv"))
  end)
end)
