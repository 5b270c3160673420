-- SPDX-License-Identifier: Apache-2.0
--- Pieces of HTML, appended to an array. Only `escape` and `data` let foreign text in: what they
--- return is text wherever it stands, in an element, in a quoted attribute or in a script.
local core = require "pairperf.core"
local format = require "pairperf.format"

local M = {}

local ENTITIES =
  { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;", ["'"] = "&#39;" }

--- Bytes of unknown origin as text of a page.
---@param bytes string|{bytes_hex: string}|number|nil
---@return string
function M.escape(bytes)
  local text = type(bytes) == "number" and tostring(bytes) or format.text(bytes)
  return (text:gsub("[&<>\"']", ENTITIES))
end

--- A value as JSON for a data block: nothing in it can end the block.
---@return string
function M.data(value)
  local text = assert(core.json.encode(value))
  return (text:gsub("<", "\\u003c"):gsub("\u{2028}", "\\u2028"):gsub("\u{2029}", "\\u2029"))
end

---@param out string[]
---@param level integer
---@param text string not escaped yet, as everywhere below
function M.heading(out, level, text)
  out[#out + 1] = ("<h%d>%s</h%d>\n"):format(level, M.escape(text), level)
end

function M.paragraph(out, text, class)
  local attribute = class and (' class="%s"'):format(class) or ""
  out[#out + 1] = ("<p%s>%s</p>\n"):format(attribute, M.escape(text))
end

function M.list(out, items)
  out[#out + 1] = "<ul>\n"
  for _, item in ipairs(items) do
    out[#out + 1] = "<li>" .. M.escape(item) .. "</li>\n"
  end
  out[#out + 1] = "</ul>\n"
end

local function cell(tag, content)
  local class = ""
  if type(content) == "table" then
    class, content = (' class="%s"'):format(content.class), content.text
  end
  return ("<%s%s>%s</%s>"):format(tag, class, M.escape(content), tag:match "^%a+")
end

--- A table that scrolls by itself where it is too wide; the first cell of a row is its head.
---@param caption string
---@param head string[]
---@param rows (string|number|{text: string, class: string})[][]
function M.table(out, caption, head, rows)
  local name = M.escape(caption)
  local open = '<div class="scroll" tabindex="0" role="region" aria-label="%s"><table>\n'
  out[#out + 1] = open:format(name) .. "<caption>" .. name .. "</caption>\n<thead><tr>"
  for _, title in ipairs(head) do
    out[#out + 1] = cell('th scope="col"', title)
  end
  out[#out + 1] = "</tr></thead>\n<tbody>\n"
  for _, row in ipairs(rows) do
    local cells = {}
    for i, content in ipairs(row) do
      cells[i] = cell(i == 1 and 'th scope="row"' or "td", content)
    end
    out[#out + 1] = "<tr>" .. table.concat(cells) .. "</tr>\n"
  end
  out[#out + 1] = "</tbody></table></div>\n"
end

return M
