-- SPDX-License-Identifier: Apache-2.0
local units = require "pairperf.units"

-- proves: CLI-11
describe("durations", function()
  it("read every form as nanoseconds", function()
    local cases = {
      ["500ms"] = 500000000,
      ["5s"] = 5000000000,
      ["2m"] = 120000000000,
      ["1h"] = 3600000000000,
      ["7"] = 7000000000,
      ["0.2"] = 200000000,
      ["59.9"] = 59900000000,
      ["1.5m"] = 90000000000,
      ["0"] = 0,
    }
    for text, ns in pairs(cases) do
      assert.equal(ns, units.duration_ns(text), text)
    end
  end)

  it("refuse what is no duration", function()
    for _, text in ipairs {
      "",
      "-1",
      "1e400",
      "1e3",
      "inf",
      "nan",
      "0x10",
      "5 s",
      "5S",
      "1d",
      ".5",
      "5.",
    } do
      local ns, reason = units.duration_ns(text)
      assert.is_nil(ns, text)
      assert.matches("is not a time", reason)
    end
  end)

  it("refuse what leaves 64 bits instead of wrapping", function()
    for _, text in ipairs { "99999999999", "9999999999h", ("9"):rep(400) } do
      local ns, reason = units.duration_ns(text)
      assert.is_nil(ns)
      assert.equal("is too long", reason)
    end
  end)

  it("are whole integers when whole, and echoed with their unit", function()
    assert.equal("integer", math.type(units.duration_s "2m"))
    assert.equal("120 s", units.format_seconds(120))
    assert.equal("500 ms", units.format_seconds(0.5))
    assert.equal("2 h 5 min 10 s", units.format_long(7509.2))
    assert.equal("0 s", units.format_long(0))
  end)
end)

-- proves: CLI-11
describe("sizes", function()
  it("read every unit", function()
    for text, bytes in pairs {
      ["2B"] = 2,
      ["3KiB"] = 3072,
      ["1MiB"] = 1 << 20,
      ["6GiB"] = 6 << 30,
      ["1TiB"] = 1 << 40,
    } do
      assert.equal(bytes, units.size_bytes(text), text)
    end
  end)

  it("refuse bare numbers, decimal units, fractions and what leaves 64 bits", function()
    for _, text in ipairs { "5", "5MB", "5kib", "1.5GiB", "-1B", "5000000TiB", ("9"):rep(30) } do
      assert.is_nil(units.size_bytes(text), text)
    end
  end)

  it("are echoed in the largest unit that fits", function()
    assert.equal("1 MiB", units.format_bytes(1 << 20))
    assert.equal("1.5 KiB", units.format_bytes(1536))
    assert.equal("12 B", units.format_bytes(12))
    assert.equal("1023 B", units.format_bytes(1023))
    assert.equal("1023.9 KiB", units.format_bytes(1048524))
    assert.equal("1 MiB", units.format_bytes(1048575))
  end)
end)
