-- SPDX-License-Identifier: Apache-2.0
--- Numbers and foreign text in reports, beyond the golden vectors.
local core = require "pairperf.core"
local format = require "pairperf.format"
local json = core.json

describe("numbers in text", function()
  -- proves: REP-3 (B34)
  it("B34: are the same bytes under a locale with a decimal comma", function()
    local places = os.tmpname()
    os.remove(places)
    local made = os.execute(
      ("mkdir -p '%s' && localedef -i de_DE -f UTF-8 '%s/de_DE.UTF-8' >/dev/null 2>&1"):format(
        places,
        places
      )
    )
    if not made then
      os.execute("rm -rf '" .. places .. "'")
      return pending "no locale with a decimal comma can be made here (localedef)"
    end
    local script = [[
      local format, json = require "pairperf.format", require "pairperf.core".json
      local before = json.encode { 1.5, 0.1 } .. format.value(12.3456, 0.234) .. format.p(0.0079)
        .. format.change(0.61, 12.2) .. format.seconds(1500000000)
      assert(os.setlocale("de_DE.UTF-8"), "locale")
      assert(("%.1f"):format(0.5) == "0,5", "not a comma")
      local after = json.encode { 1.5, 0.1 } .. format.value(12.3456, 0.234) .. format.p(0.0079)
        .. format.change(0.61, 12.2) .. format.seconds(1500000000)
      assert(json.decode "[1.5]"[1] == 1.5, "decode")
      io.write(before == after and "equal" or before .. " / " .. after)
    ]]
    local pipe = assert(io.popen(("LOCPATH='%s' lua5.4 -e '%s' 2>&1"):format(places, script)))
    local answer = pipe:read "a"
    pipe:close()
    os.execute("rm -rf '" .. places .. "'")
    assert.equal("equal", answer)
  end)

  it("carry a sign only when something is left after rounding", function()
    assert.equal("+0.61", format.signed(0.61, 0.12))
    assert.equal("0.00", format.signed(0.0004, 0.12))
    assert.equal("-0.61", format.signed(-0.61, 0.12))
    assert.equal("0", format.signed(0, nil))
    assert.equal("n/a", format.signed(nil, nil))
  end)

  it("print seconds with their unit", function()
    assert.equal("0.002 s", format.seconds(2000000))
    assert.equal("60.0 s", format.seconds(60000000000))
    assert.equal("120 s", format.seconds(120000000000))
    assert.equal("9.999 s", format.seconds(9999400000))
    assert.equal("10.0 s", format.seconds(9999999900))
    assert.equal("99.9 s", format.seconds(99940000000))
    assert.equal("100 s", format.seconds(99960000000))
    assert.equal("n/a", format.seconds(nil))
  end)

  it("count in the singular and in the plural", function()
    assert.equal("1 more repetition", format.count(1, "more repetition"))
    assert.equal("0 runs", format.count(0, "run"))
    assert.equal("12 runs", format.count(12, "run"))
  end)
end)

describe("foreign text", function()
  -- proves: REP-1 (B35)
  it("B35: becomes printable UTF-8 from any bytes", function()
    assert.equal("\\xff\\xfe|`\\x01", format.text "\xff\xfe|`\1")
    assert.equal("é ü", format.text "é ü")
    assert.equal("a\\x0ab\\x00", format.text "a\nb\0")
    assert.equal("\\x85\\u{2028}", format.text "\u{85}\u{2028}")
    assert.equal("\\xc3", format.text "\xc3")
    assert.equal("", format.text(nil))
  end)

  -- proves: REP-3 (B35)
  it("B35: is recovered from the evidence's form of bytes", function()
    local line = assert(json.encode { exe = "/x/\xff|\0" })
    assert.equal("/x/\xff|\0", format.bytes(json.decode(line).exe))
    assert.equal("/x/\\xff|\\x00", format.text(json.decode(line).exe))
    assert.is_nil(format.bytes(json.null))
  end)

  -- proves: REP-1 (B35)
  it("B35: is no markup in Markdown and ends no cell", function()
    local cell = format.markdown "a\\|b `c` <d> [e](f) *g* &amp;"
    assert.is_nil(cell:find("|", 1, true))
    assert.is_nil(cell:find("`", 1, true))
    assert.is_nil(cell:find("<", 1, true))
    assert.equal("a\\\\&#124;b &#96;c&#96; &lt;d> \\[e\\](f) \\*g\\* &amp;amp;", cell)
    for text, escaped in pairs {
      _app_ = "\\_app\\_",
      ["/opt/__x/y_"] = "/opt/\\_\\_x/y\\_",
      cpu_percent__max = "cpu_percent__max",
      ["~~x~~"] = "\\~\\~x\\~\\~",
      ["# x"] = "\\# x",
      ["  - x # y"] = "  \\- x # y",
      ["+ x"] = "\\+ x",
      ["> x"] = "\\> x",
      ["==="] = "\\===",
      ["12. x"] = "12\\. x",
      ["1) x"] = "1\\) x",
      ["12."] = "12\\.",
      ["12.5 x"] = "12.5 x",
    } do
      assert.equal(escaped, format.markdown(text))
    end
  end)
end)
