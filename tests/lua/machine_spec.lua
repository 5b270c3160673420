-- SPDX-License-Identifier: Apache-2.0
--- Judging a made-up machine: what --require refuses, what a report remarks, how settling ends.
package.path = "tests/lua/?.lua;" .. package.path
local core = require "pairperf.core"
local fixture = require "fixture"
local machine = require "pairperf.machine"
local probes = require "pairperf.probes"

local CPU <const> = "/sys/devices/system/cpu"
local SUPPLY <const> = "/sys/class/power_supply"

describe("a machine", function()
  local root
  before_each(function()
    root = fixture.directory()
    assert(core.fs.mkdirs(root .. "/proc/sys/kernel"))
    fixture.write(root .. "/proc/sys/kernel/ostype", "Linux\n")
  end)
  after_each(function()
    fixture.remove(root)
  end)

  local function put(path, text)
    assert(core.fs.mkdirs(root .. path:match "^(.*)/"))
    fixture.write(root .. path, text)
  end

  local function refusals(require, share)
    local texts = {}
    machine.examine(
      { values = { require = require } },
      function(level, text)
        assert.equal("refused", level)
        texts[#texts + 1] = text
      end,
      root,
      function()
        return share
      end
    )
    return texts
  end

  -- proves: PROV-1
  it("is refused for an unknown condition, with the known ones", function()
    local texts = refusals { "idle,calm" }
    assert.equal(2, #texts) -- and idle cannot be known
    assert.matches(
      "'calm' is no condition; known are ac%-power, bare%-metal, idle, performance%-governor",
      texts[2]
    )
  end)

  it("is asked for nothing without --require", function()
    assert.same({}, refusals(nil, 1))
  end)

  -- proves: PROV-1
  it("is idle up to a tenth of its CPUs' time", function()
    assert.same({}, refusals({ "idle" }, 0.1))
    assert.matches(
      "idle does not hold: its CPUs are busy to 11 %%, at most 10 %% is idle",
      refusals({ "idle" }, 0.11)[1]
    )
    assert.matches("idle cannot be known", refusals({ "idle" }, nil)[1])
  end)

  it("is on mains power without a battery, and not while one is discharged", function()
    assert.same({}, refusals { "ac-power" })
    put(SUPPLY .. "/AC/type", "Mains")
    put(SUPPLY .. "/AC/online", "1")
    put(SUPPLY .. "/BAT0/type", "Battery")
    put(SUPPLY .. "/BAT0/status", "Full")
    assert.same({}, refusals { "ac-power" })
    put(SUPPLY .. "/BAT0/status", "Discharging")
    assert.matches("ac%-power does not hold: battery BAT0", refusals({ "ac-power" })[1])
    put(SUPPLY .. "/BAT0/status", "Full")
    put(SUPPLY .. "/AC/online", "0")
    assert.matches("power supply AC is off line", refusals({ "ac-power" })[1])
  end)

  it("has the governor on all CPUs, or it does not hold", function()
    assert.matches("cannot be known", refusals({ "performance-governor" })[1])
    put(CPU .. "/cpufreq/policy0/scaling_governor", "performance")
    assert.same({}, refusals { "performance-governor" })
    put(CPU .. "/cpufreq/policy1/scaling_governor", "powersave")
    assert.matches("performance, powersave", refusals({ "performance-governor" })[1])
  end)

  it("is virtual by the processor's flag", function()
    assert.matches("cannot be known", refusals({ "bare-metal" })[1])
    put("/proc/cpuinfo", "processor : 0\nflags : fpu\n")
    assert.same({}, refusals { "bare-metal" })
    put("/proc/cpuinfo", "processor : 0\nflags : fpu hypervisor\n")
    assert.matches("it is a virtual machine", refusals({ "bare-metal" })[1])
  end)

  it("of another system fulfils no condition", function()
    put("/proc/sys/kernel/ostype", "Other")
    assert.equal(4, #refusals { "idle,ac-power", "performance-governor,bare-metal" })
  end)

  -- proves: PROV-1
  it("is remarked on in the report for what its probes say", function()
    put("/proc/loadavg", "0.90 0.5 0.3 1/100 4000\n")
    put(CPU .. "/online", "0-1\n")
    local static = probes.static(root)
    assert.same({}, machine.remarks(probes.around_run(root), static))
    put("/proc/loadavg", "1.10 0.5 0.3 1/100 4000\n")
    put(SUPPLY .. "/BAT0/status", "Discharging")
    put(CPU .. "/cpufreq/policy0/scaling_governor", "powersave")
    local texts = table.concat(machine.remarks(probes.around_run(root), static), "\n")
    assert.matches("was not idle before the run", texts)
    assert.matches("battery BAT0 is discharging", texts)
    assert.matches("governor is powersave", texts)
    assert.same({}, machine.remarks(nil, nil))
    assert.same({}, machine.remarks(core.json.null, core.json.null))
  end)

  it("counts as busy what is neither idle nor waiting for disks", function()
    put("/proc/stat", "cpu  10 0 10 70 10 0 0 0 5 0\ncpu0 1\n")
    local before = probes.cpu_ticks(root)
    assert.same({ busy = 20, total = 100 }, before)
    put("/proc/stat", "cpu  20 0 20 130 30 0 0 0 9 0\ncpu0 1\n")
    assert.equal(0.2, machine.busy_share(before, probes.cpu_ticks(root)))
    assert.is_nil(machine.busy_share(before, before))
    put("/proc/stat", "cpu  1 2\n")
    assert.is_nil(probes.cpu_ticks(root))
  end)

  -- proves: PROV-1
  it("is settled as soon as it is idle, or after the time", function()
    local shares = { 0.9, 0.5, 0.05, 0.9 }
    local looks = 0
    local function look()
      looks = looks + 1
      return shares[looks]
    end
    local settled = assert(machine.settle(60, look))
    assert.equal(3, looks)
    assert.is_true(settled.idle)
    assert.equal(0.05, settled.busy_share)
    settled = assert(machine.settle(0.5, function()
      return 0.9
    end))
    assert.is_false(settled.idle)
    settled = assert(machine.settle(0.05, function() end))
    assert.equal(core.json.null, settled.idle)
    assert.is_true(settled.waited_ns >= 50000000)
  end)

  it("keeps no word of the boot parameters that names it", function()
    put(
      "/proc/cmdline",
      "console=ttyS0 quiet systemd.machine_id=1 Serial=X99 luks.uuid=12-34 a=b\n"
    )
    local value = probes.static(root).boot_parameters.value
    assert.matches("console=ttyS0 quiet", value)
    assert.matches("Serial=%[redacted%]", value)
    assert.matches("luks.uuid=%[redacted%] a=b", value)
    assert.is_nil(value:find("X99", 1, true))
  end)
end)
