-- SPDX-License-Identifier: Apache-2.0
--- report.html of session directories made from tables.
package.path = "tests/lua/?.lua;" .. package.path
local core = require "pairperf.core"
local fixture = require "fixture"
local html = require "pairperf.html"
local html_run = require "pairperf.html_run"
local html_series = require "pairperf.html_series"
local html_text = require "pairperf.html_text"
local json = require "pairperf.json"
local report = require "pairperf.report"

local S = fixture.S
local EVIL = "</script><img src=x onerror=alert(1)>|x"

-- Frames of two processes from launch to the end of the window, one with a hostile name.
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
          write_bytes = 8192 * i,
          start_ns = 79 * S,
          leader = true,
        },
        fixture.proc {
          pid = 101,
          start = 9,
          start_ns = 80 * S,
          exe = "/opt/app/" .. EVIL:gsub("/", "\\"),
        },
      },
    }
  end
  return fixture.frames(list)
end

local function requests()
  local list = {}
  for i = 1, 5 do
    list[i] = {
      schema = "pairperf-request-1",
      send_ns = (100 + i) * S,
      end_ns = (100 + i) * S + i * 1000000,
      status = i == 5 and "failed" or "ok",
      tokens = 3,
    }
  end
  return list
end

describe("report.html", function()
  local dir
  before_each(function()
    dir = fixture.directory()
  end)
  after_each(function()
    fixture.remove(dir)
  end)

  local function write(change)
    local runs = {}
    for i = 0, 4 do
      runs[2 * i] = { frames = frames(25 + i), requests = requests() }
      runs[2 * i + 1] = { frames = frames(40 + i), requests = requests() }
    end
    change = change or {}
    change.repetitions = 5
    fixture.session(dir, fixture.plan(change), runs)
    assert(report.write(dir))
    return assert(core.fs.read(dir .. "/report.html"))
  end

  local function render()
    local input = assert(report.load(dir))
    local built = assert(report.write(dir))
    return assert(html.render(dir, built, input.summaries, "/* library */"))
  end

  local function count(text, pattern)
    return select(2, text:gsub(pattern, ""))
  end

  -- proves: CLI-8
  it("says at the top how the variants differ beside the artifact", function()
    local text = write()
    local first = text:match '<div class="first">(.-)</div>'
    assert.truthy(first:find("nothing differs between the variants", 1, true))
    local input = assert(report.load(dir))
    local built = assert(report.write(dir))
    built.differences = json.array { "arguments: <b>-x</b>" }
    text = assert(html.render(dir, built, input.summaries, ""))
    first = text:match '<div class="first">(.-)</div>'
    assert.truthy(first:find("the variants differ in:", 1, true))
    assert.truthy(first:find("arguments: &lt;b&gt;", 1, true))
  end)

  -- proves: REP-4
  it("has every table and drawing without a script", function()
    local text = write()
    assert.truthy(utf8.len(text))
    assert.is_nil(text:find("<script", 1, true))
    for _, words in ipairs {
      "Verdict per primary metric",
      "Every scheduled run",
      "By executable",
      "CPU of every run over time",
      "Resident memory of every run over time",
      "Context switches of every run over time",
      "Written of every run over time",
      "Distribution of request latencies",
      "Lifetimes of the processes of slot 9 candidate",
      "2 passes missed",
      "What to keep in mind",
    } do
      assert.truthy(text:find(words, 1, true), words)
    end
    assert.equal(
      40,
      count(text, '<path class="baseline line"') + count(text, '<path class="candidate line"') - 10
    )
  end)

  -- proves: REP-4 MET-7
  it("draws CPU by the source that all runs are compared by", function()
    local function points(tier)
      fixture.run(dir, { frames = fixture.in_cgroup(frames(25), 3) })
      local scenario = { warmup_ns = 0, metrics = { { name = "cpu_percent", tier = tier } } }
      local run = assert(html_run.read(dir, nil, scenario))
      return run.points[5].cpu - run.points[3].cpu
    end
    assert.equal(15 * S, points "cgroup")
    assert.equal(5 * S, points "conservation")
    assert.equal(5 * S, points "observed")
  end)

  -- proves: MET-7
  it("shows the runs as dots by the source that they are compared by, too", function()
    local runs = {}
    for i = 0, 9 do
      runs[i] = { frames = frames(25 + i) }
    end
    runs[4].frames[5].conservation.cpu_ns = json.null
    runs[4].frames[5].conservation.missing = { cpu_ns = "denied" }
    fixture.session(dir, fixture.plan { repetitions = 5 }, runs)
    local input = assert(report.load(dir))
    local built = assert(report.write(dir))
    local row = built.scenarios[1].metrics[1]
    assert.equal("observed", row.tier)
    input.summaries[0].metrics.cpu_percent_observed.value = 11.5
    input.summaries[0].metrics.cpu_percent.value = 22.5
    local text = assert(html.render(dir, built, input.summaries, ""))
    assert.truthy(text:find("slot 0, baseline: 11.5", 1, true))
    assert.is_nil(text:find("slot 0, baseline: 22.5", 1, true))
  end)

  -- proves: REP-4 MET-6
  it("draws no memory of the whole tree where a part of it is not known", function()
    local list = frames(25)
    list[4].procs[2].rss_bytes = json.null
    list[4].procs[2].missing = { rss_bytes = "denied" }
    list[5].enumeration = "failed"
    fixture.run(dir, { frames = list })
    local run = assert(html_run.read(dir, nil, { warmup_ns = 0, metrics = {} }))
    assert.truthy(run.points[3].rss)
    assert.is_nil(run.points[4].rss)
    assert.is_nil(run.points[5].rss)
  end)

  -- proves: REP-4
  it("draws nothing for counters that the system does not have", function()
    assert.is_nil(write():find("Wakeups of every run", 1, true))
  end)

  -- proves: REP-4
  it("refers to nothing outside and lets only its own scripts run", function()
    write()
    local text = render()
    local policy = text:match 'Content%-Security%-Policy" content="([^"]*)"'
    assert.truthy(policy:find("default-src 'none'", 1, true))
    assert.equal(2, count(policy, "'sha256%-[%w+/]+=*'"))
    local scripts = policy:match "script%-src ([^;]*)"
    assert.is_nil(scripts:find "unsafe")
    -- openssl: printf '/* library */' | openssl dgst -sha256 -binary | base64
    assert.truthy(scripts:find("SIGCBCvP7Tvzzo+F56Q1QL1Hbb/2M8Othkny45IvdD8=", 1, true))
    assert.is_nil(text:find "https?:")
    assert.is_nil(text:find 'src="')
    assert.is_nil(text:find 'href="[^#]')
  end)

  -- proves: INF-4 REP-4
  it("states requests, busy fraction and pause of each run", function()
    local text = write()
    local rows = text:match "<caption>Requests of each run</caption>(.-)</table>"
    assert.equal(10, count(rows, '<tr><th scope="row">'))
    assert.truthy(
      rows:find(
        '<th scope="row">0</th><td>baseline</td><td>success</td><td>5</td><td>4</td><td>1</td>',
        1,
        true
      ),
      rows
    )
    assert.truthy(rows:find("Busy fraction</th>", 1, true))
    assert.truthy(rows:find("Pause, s</th>", 1, true))
    assert.truthy(rows:find("0.000750</td>", 1, true), rows) -- 15 ms of 20 s
  end)

  -- proves: REP-4
  it("lists findings and remarks under the runs, each once with its slots", function()
    write()
    local input = assert(report.load(dir))
    local built = assert(report.write(dir))
    built.notes = { { text = "left a <helper>", slots = { 1, 3, 4, 5 } } }
    built.findings = json.array { { text = "apart", slot = 2 }, { text = "apart", slot = 7 } }
    local runs =
      assert(html.render(dir, built, input.summaries, "")):match '<section id="runs">(.-)</section>'
    assert.truthy(runs:find("Remarks on runs:", 1, true))
    assert.truthy(runs:find("<li>slots 1, 3 to 5: left a &lt;helper&gt;</li>", 1, true), runs)
    assert.truthy(runs:find("<li>slots 2, 7: apart</li>", 1, true), runs)
  end)

  -- proves: REP-6
  it("ends with the checklist and the lines of the context, each for itself", function()
    local ending = write({ context = "one <b>\ntwo" }):match "<h2>Checklist</h2>(.*)"
    assert.truthy(ending:find("<li>the workload</li>", 1, true))
    assert.truthy(ending:find("<li>warm-up, steady windows", 1, true))
    assert.truthy(ending:find("<blockquote>one &lt;b&gt;<br>\ntwo</blockquote>", 1, true))
    assert.is_nil(ending:find("<h2>", 1, true))
    assert.truthy(write({}):find("The controller gave no context.", 1, true))
  end)

  -- proves: REP-4 REP-5
  it("is the same bytes when built again", function()
    local text = write()
    assert(report.rebuild(dir))
    assert.equal(text, assert(core.fs.read(dir .. "/report.html")))
  end)

  -- proves: REP-4
  it("shows a hostile process name as text", function()
    write()
    local text = render()
    assert.is_nil(text:find("<img", 1, true))
    assert.truthy(text:find("&lt;\\script&gt;&lt;img src=x onerror=alert(1)&gt;|x", 1, true))
    assert.equal(count(text, "<script"), count(text, "</script>"))
    assert.equal(3, count(text, "</script>"))
  end)

  -- proves: REP-4
  it("gives the script the values of every run on one grid", function()
    write()
    local data = render():match '<script type="application/json" id="data">(.-)</script>'
    local sections = assert(core.json.decode(data))
    local section = sections[1]
    assert.equal(10000, section.width_ms)
    assert.equal(-2, section.first)
    assert.equal(10, #section.runs)
    assert.equal("CPU", section.charts[1].title)
    local first = section.charts[1].values[1]
    assert.equal(json.null, first[1])
    assert.same({ 250, 250, 250, 250 }, table.move(first, 2, 5, 1, {}))
  end)

  -- proves: REP-4
  it("is written for a session in which nothing ran", function()
    fixture.session(dir, fixture.plan(), {})
    assert(report.write(dir))
    local text = assert(core.fs.read(dir .. "/report.html"))
    assert.truthy(text:find("No frame was recorded.", 1, true))
    assert.truthy(text:find("pending", 1, true))
  end)

  -- proves: REP-4
  it("has one side for one variant", function()
    local runs = { [0] = { frames = frames(25) }, { frames = frames(26) } }
    fixture.session(dir, fixture.plan { mode = "single", repetitions = 2 }, runs)
    assert(report.write(dir))
    local text = assert(core.fs.read(dir .. "/report.html"))
    assert.is_nil(text:find('class="candidate', 1, true))
    assert.truthy(text:find("slot 1 baseline", 1, true))
  end)
end)

describe("text of a page", function()
  -- proves: REP-4
  it("has no character that markup is made of", function()
    assert.equal("&lt;b a=&quot;&#39;&amp;\\x01\\xff", html_text.escape "<b a=\"'&\1\xff")
  end)

  -- proves: REP-4
  it("cannot end a data block", function()
    local text = html_text.data { name = "</script><!--\u{2028}" }
    assert.equal('{"name":"\\u003c/script>\\u003c!--\\u2028"}', text)
  end)
end)

describe("a timeline", function()
  local function run(count, step_ns)
    local points = {}
    for i = 1, count do
      points[i] = { t_ns = i * step_ns, cpu = i * step_ns // 2, rss = (i % 7) << 20 }
    end
    return { points = points, origin_ns = 0 }
  end

  -- proves: REP-4
  it("has a bounded number of points, and keeps rates and peaks", function()
    local long = run(2400, S // 2)
    local grid = html_series.grid({ long }, S // 2)
    assert.is_true(grid.count <= 602)
    local cpu = html_series.values(html_series.CHARTS[1], long, grid)
    local rss = html_series.values(html_series.CHARTS[2], long, grid)
    assert.equal(grid.count, #cpu)
    for i = 2, #cpu do
      assert.equal(500, cpu[i]) -- half a core, in tenths of a percent
    end
    local peak = 0
    for _, value in ipairs(rss) do
      peak = math.max(peak, value)
    end
    assert.equal(60, peak)
  end)

  -- proves: REP-4
  it("leaves a gap where nothing was seen", function()
    local one = run(3, S)
    one.points[3].t_ns = 10 * S
    local grid = html_series.grid({ one }, S)
    local rss = html_series.values(html_series.CHARTS[2], one, grid)
    assert.equal(10, #rss)
    assert.equal(json.null, rss[5])
  end)
end)
