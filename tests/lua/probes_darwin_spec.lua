-- SPDX-License-Identifier: Apache-2.0
--- Probes of a Mac from answers as they are documented or reported, given by a stand-in for the
--- commands; nothing here ran on a Mac.
package.path = "tests/lua/?.lua;" .. package.path
local captured = require "pairperf.captured"
local core = require "pairperf.core"
local fixture = require "fixture"
local json = require "pairperf.json"
local machine = require "pairperf.machine"
local probes = require "pairperf.probes"

local BATTERY = "Now drawing from 'Battery Power'\n"
  .. " -InternalBattery-0 (id=4653155)\t84%; discharging; 3:10 remaining present: true\n"
local NOTHING = "Note: No thermal warning level has been recorded\n"
  .. "Note: No performance warning level has been recorded\n"
  .. "Note: No CPU power status has been recorded\n"
local DISPLAYS = [[{"SPDisplaysDataType":[{"sppci_model":"Apple M2","spdisplays_ndrvs":[
  {"_name":"Color LCD","spdisplays_display-serial-number":"SECRET-1","spdisplays_main":
  "spdisplays_yes","_spdisplays_resolution":"1728 x 1117 @ 120.00Hz"}]}]}]]

describe("probes of a Mac", function()
  local root, answers, asked
  local real = captured.run
  before_each(function()
    root = fixture.directory()
    assert(core.fs.mkdirs(root .. "/usr/bin"))
    fixture.write(root .. "/usr/bin/sw_vers", "")
    asked = {}
    answers = {
      ["/usr/bin/sw_vers -productVersion"] = "15.1\n",
      ["/usr/bin/sw_vers -buildVersion"] = "24B83\n",
      ["/usr/sbin/sysctl"] = "kern.ostype: Darwin\nhw.model: Mac14,7\nhw.memsize: 17179869184\n"
        .. "hw.ncpu: 8\nkern.hv_vmm_present: 0\nvm.loadavg: { 1.52 1.60 1.70 }\n",
      ["/usr/bin/pmset -g batt"] = "Now drawing from 'AC Power'\n",
      ["/usr/bin/pmset -g therm"] = NOTHING,
      ["/usr/bin/pmset -g custom"] = "AC Power:\n lowpowermode 0\n",
      ["/usr/sbin/system_profiler -json -timeout 20 SPDisplaysDataType"] = DISPLAYS,
    }
    captured.run = function(argv, options)
      local line = table.concat(argv, " "):sub(#root + 1)
      asked[#asked + 1] = options.limit_s
      local text = answers[line]
      if text == nil then
        text = answers[line:match "^%S+"]
      end
      if text == false then
        return nil, { code = "timeout" }
      end
      return { exit = { code = text and 0 or 1 }, stdout = text or "", stderr = "" }
    end
  end)
  after_each(function()
    captured.run = real
    fixture.remove(root)
  end)

  -- proves: PROV-1
  it("tell system, hardware and displays", function()
    local result = probes.static(root)
    assert.equal("15.1", result.os.value)
    assert.equal("24B83", result.os_build.value)
    assert.equal("Mac14,7", result.hardware_model.value)
    assert.equal(17179869184, result.memory_bytes.value)
    assert.equal("0-7", result.cpus_online.value)
    assert.equal(json.null, result.virtualisation.value)
    assert.equal("no hypervisor is present", result.virtualisation.reason)
    assert.equal("absent", result.timebase_hz.reason)
    assert.equal("/usr/sbin/sysctl hw.model", result.hardware_model.source)
    local shown = result.display.displays.value[1]
    assert.equal("Color LCD", shown.name)
    assert.equal("1728 x 1117 @ 120.00Hz", shown.resolution)
    assert.is_nil(json.encode(result):find "SECRET")
  end)

  -- proves: PROV-1
  it("tell load, power and what was recorded of heat around a run", function()
    local result = probes.around_run(root)
    assert.equal("1.52 1.60 1.70", result.load.value)
    assert.equal("AC Power", result.power.source.value)
    assert.matches("lowpowermode 0", result.power.modes.value)
    assert.equal(json.null, result.thermal.notes.value)
    assert.matches("does not mean that nothing happened", result.thermal.notes.reason)
    assert.equal("the command failed", result.memory.reason)
    answers["/usr/bin/pmset -g therm"] = NOTHING .. "CPU_Speed_Limit = 60\n"
    assert.matches("Limit = 60", probes.around_run(root).thermal.notes.value)
  end)

  -- proves: PROV-1
  it("keep no id of a battery, and judge by what is drawn from", function()
    answers["/usr/bin/pmset -g batt"] = BATTERY
    local result = probes.around_run(root)
    assert.equal("Battery Power", result.power.source.value)
    assert.matches("84%%", result.power.battery.value)
    assert.is_nil(result.power.battery.value:find "4653155")
    assert.same({ "before the run it draws from Battery Power" }, machine.remarks(result, nil))
  end)

  -- proves: PROV-1
  it("are null with the reason when a command hangs, and all are bounded", function()
    answers["/usr/sbin/sysctl"] = false
    answers["/usr/bin/pmset -g batt"] = false
    answers["/usr/sbin/system_profiler -json -timeout 20 SPDisplaysDataType"] = "{}"
    local result = probes.around_run(root)
    assert.equal("timeout", result.load.reason)
    assert.equal("timeout", result.power.source.reason)
    assert.equal("unparsed", result.display.displays.reason)
    for _, limit_s in ipairs(asked) do
      assert.truthy(limit_s > 0 and limit_s <= 30)
    end
    assert.truthy(#asked >= 5)
  end)

  it("say that a machine without displays has none", function()
    answers["/usr/sbin/system_profiler -json -timeout 20 SPDisplaysDataType"] =
      '{"SPDisplaysDataType":[{"sppci_model":"Apple M2"}]}'
    assert.equal("no display is attached", probes.static(root).display.displays.reason)
  end)
end)
