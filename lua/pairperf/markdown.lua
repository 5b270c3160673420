-- SPDX-License-Identifier: Apache-2.0
--- Pieces of Markdown, appended to an array of lines. What is given is already Markdown.
local M = {}

---@param out string[]
---@param head string[]
---@param rows string[][] of the same width
function M.table(out, head, rows)
  local function line(cells)
    out[#out + 1] = "| " .. table.concat(cells, " | ") .. " |"
  end
  line(head)
  local rule = {}
  for i = 1, #head do
    rule[i] = "---"
  end
  line(rule)
  for _, row in ipairs(rows) do
    line(row)
  end
  out[#out + 1] = ""
end

function M.heading(out, level, text)
  out[#out + 1] = ("#"):rep(level) .. " " .. text
  out[#out + 1] = ""
end

function M.list(out, items)
  for _, item in ipairs(items) do
    out[#out + 1] = "- " .. item
  end
  out[#out + 1] = ""
end

function M.paragraph(out, text)
  out[#out + 1] = text
  out[#out + 1] = ""
end

return M
