-- SPDX-License-Identifier: Apache-2.0
--- Probes of a made-up machine below a directory of its own, and of the one this runs on.
package.path = "tests/lua/?.lua;" .. package.path
local core = require "pairperf.core"
local fixture = require "fixture"
local probes = require "pairperf.probes"

local json = core.json

describe("probes", function()
  local root
  before_each(function()
    root = fixture.directory()
  end)
  after_each(function()
    fixture.remove(root)
  end)

  local function put(path, text)
    assert(core.fs.mkdirs(root .. path:match "^(.*)/"))
    fixture.write(root .. path, text)
  end

  local function linux()
    put("/proc/sys/kernel/ostype", "Linux\n")
  end

  local function check_typed(value, where)
    if value.source ~= nil then
      local missing = value.value == json.null
      assert.equal(missing, value.reason ~= json.null, where)
    else
      for name, one in pairs(value) do
        if type(one) == "table" then
          check_typed(one, where .. "." .. name)
        end
      end
    end
  end

  -- proves: PROV-1 MET-6
  it("are each a value or null with a reason", function()
    linux()
    for _, result in ipairs {
      probes.static(root),
      probes.around_run(root),
      probes.static(),
      probes.around_run(),
    } do
      check_typed(result, result.kind)
      assert.equal("pairperf-probes-1", result.schema)
      assert.truthy(json.encode(result))
    end
  end)

  -- proves: PROV-1
  it("read the machine's description", function()
    linux()
    put("/etc/os-release", 'NAME="x"\nPRETTY_NAME="Debian GNU/Linux 12"\n')
    put("/proc/cpuinfo", "processor : 0\nmodel name\t: Some CPU\nflags\t\t: fpu hypervisor\n")
    put("/proc/meminfo", "MemTotal:       2048 kB\nSwapTotal:      0 kB\n")
    put("/sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance\n")
    put("/sys/devices/system/cpu/cpufreq/policy1/scaling_governor", "performance\n")
    local result = probes.static(root)
    assert.equal("Debian GNU/Linux 12", result.os.value)
    assert.equal("Some CPU", result.cpu_model.value)
    assert.equal(2048 * 1024, result.memory_bytes.value)
    assert.equal(0, result.swap_bytes.value)
    assert.equal("hypervisor flag set", result.virtualisation.value)
    assert.same({ "performance" }, { table.unpack(result.frequency.governor.value) })
    assert.equal(json.null, result.hardware_model.value)
    assert.equal("absent", result.hardware_model.reason)
  end)

  -- proves: PROV-1
  it("read load, pressure, power and temperatures around a run", function()
    linux()
    put("/proc/loadavg", "0.5 0.4 0.3 1/100 4242\n")
    put("/proc/pressure/cpu", "some avg10=0.00\n")
    put("/sys/class/power_supply/AC/online", "1\n")
    put("/sys/class/thermal/thermal_zone0/temp", "41000\n")
    local result = probes.around_run(root)
    assert.equal("0.5 0.4 0.3 1/100 4242", result.load.value)
    assert.equal("some avg10=0.00", result.pressure.cpu.value)
    assert.equal("1", result.power.online.value.AC)
    assert.equal("41000", result.thermal.millidegrees.value.thermal_zone0)
  end)

  -- proves: PROV-1
  it("never read serial numbers, and bound what they read", function()
    linux()
    put("/sys/class/dmi/id/product_serial", "SECRET-1")
    put("/sys/class/dmi/id/product_uuid", "SECRET-2")
    put("/sys/class/power_supply/BAT0/serial_number", "SECRET-3")
    put("/sys/class/power_supply/BAT0/type", "Battery\n")
    put("/proc/loadavg", ("9"):rep(1 << 20))
    local text = json.encode { probes.static(root), probes.around_run(root) }
    assert.is_nil(text:find "SECRET")
    assert.truthy(text:find "Battery")
    assert.truthy(#text < 200000)
  end)

  it("say that another system has no probes yet", function()
    local result = probes.static(root)
    assert.equal("no probe for this system is built", result.all_others.reason)
  end)
end)
