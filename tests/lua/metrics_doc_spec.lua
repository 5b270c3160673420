-- SPDX-License-Identifier: Apache-2.0
--- docs/METRICS.md against the catalogue: every metric has its row, with the unit and the tier that
--- the product gives it, and no row is of a metric that is none.
package.path = "tests/lua/?.lua;" .. package.path
local catalogue = require "pairperf.metric_catalogue"
local fixture = require "fixture"
local json = require "pairperf.json"
local summary = require "pairperf.summary"

local S = fixture.S
local COLUMNS <const> = 7

local function read_document()
  local file <close> = assert(io.open("docs/METRICS.md", "rb"))
  return assert(file:read "a")
end

local function cells_of(line)
  local cells = {}
  for cell in line:gmatch "|%s*([^|]*)" do
    cells[#cells + 1] = cell:gsub("%s+$", "")
  end
  cells[#cells] = nil -- behind the last bar
  return cells
end

-- By metric: the cells of its row, of the tables whose first column is called "metric".
local function rows_by_name()
  local rows, inside = {}, false
  for line in read_document():gmatch "([^\n]*)\n" do
    local cells = line:sub(1, 1) == "|" and cells_of(line) or {}
    inside = (inside or cells[1] == "metric") and #cells > 0
    for name in (inside and cells[1] or ""):gmatch "`([%w_]+)`" do
      assert.is_nil(rows[name], name .. " has two rows")
      rows[name] = cells
    end
  end
  return rows
end

-- A run that has every metric which this system can have.
local function measured(dir)
  local frames = fixture.steady(25)
  local memory = {}
  for _, part in ipairs { "current", "anon", "file", "shmem", "kernel", "swap", "peak" } do
    memory[part .. "_bytes"] = 1 << 20
  end
  fixture.in_cgroup(frames, 1, { read_bytes = 0, write_bytes = 0, memory = memory })
  local requests = {}
  for i = 1, 2 do
    requests[i] = { send_ns = (100 + i) * S, end_ns = (101 + i) * S, status = "ok", tokens = 2 }
  end
  fixture.run(dir, { frames = frames, requests = requests })
  local plan = fixture.plan()
  return assert(summary.build(dir, plan, plan.runs[1])).metrics
end

-- proves: MET-1 MET-2 MET-3 MET-7
describe("docs/METRICS.md", function()
  local rows, dir
  before_each(function()
    rows, dir = rows_by_name(), fixture.directory()
  end)
  after_each(function()
    fixture.remove(dir)
  end)

  it("has a whole row for every metric, and none for another name", function()
    local known = {}
    for _, entry in ipairs(catalogue) do
      known[entry.name] = true
      local cells = assert(rows[entry.name], entry.name .. " has no row")
      assert.equal(COLUMNS, #cells, entry.name)
      for i, cell in ipairs(cells) do
        assert(cell ~= "", ("%s: column %d is empty"):format(entry.name, i))
      end
    end
    for name in pairs(rows) do
      assert(known[name], name .. " is no metric")
    end
  end)

  it("gives the unit and the tiers that the product gives", function()
    local metrics = measured(dir)
    for _, entry in ipairs(catalogue) do
      local one = assert(metrics[entry.name], entry.name .. " is in no summary")
      local tier = one.tier ~= json.null and one.tier or "–"
      local wanted = entry.tiers and table.concat(entry.tiers, ", ") or tier
      assert.equal(wanted, rows[entry.name][5], entry.name)
      assert.equal(entry.unit, rows[entry.name][3], entry.name)
    end
  end)

  it("leaves no metric of a summary out of the catalogue", function()
    local known = {}
    for _, entry in ipairs(catalogue) do
      known[entry.name] = true
    end
    for name in pairs(measured(dir)) do
      local of_a_tier = name:match "^cpu_percent_unattributed_"
      assert(known[name] or of_a_tier, name .. " is in no catalogue")
    end
  end)
end)
