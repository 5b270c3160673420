-- SPDX-License-Identifier: Apache-2.0
--- Where the core of an application went, as far as its home and the system's pattern tell.
local core = require "pairperf.core"
local format = require "pairperf.format"
local units = require "pairperf.units"

local M = {}

local PATTERN <const> = "/proc/sys/kernel/core_pattern"
local FILES_MAX <const> = 16

-- "core.%p" as a Lua pattern; the kernel may add a dot and the pid (core_uses_pid).
local function name_pattern(pattern)
  local plain = pattern:gsub("%%(.?)", function(letter)
    return letter == "%" and "%" or "\0"
  end)
  return "^" .. plain:gsub("%W", "%%%0"):gsub("%%\0", ".*") .. "%.?%d*$"
end

local function files_of(home, pattern)
  local files, wanted = core.json.array {}, name_pattern(pattern)
  for _, name in ipairs(core.fs.list(home) or {}) do
    local info = name:find(wanted) and core.fs.lstat(home .. "/" .. name)
    if info and info.type == "file" and #files < FILES_MAX then
      files[#files + 1] = { path = name, size_bytes = info.size }
    end
  end
  return files
end

--- What is known of the core of an application that died with its home as working directory.
---@param home string
---@return {pattern: string?, files: {path: string, size_bytes: integer}[]} found files below `home`
function M.find(home)
  local text = core.fs.read(PATTERN, 4096)
  local pattern = text and text:match "^[^\n]*" or ""
  if pattern == "" or pattern:find "^[|/]" then
    return { pattern = pattern ~= "" and pattern or nil, files = core.json.array {} }
  end
  return { pattern = pattern, files = files_of(home, pattern) }
end

--- The same as words behind an ending; "" when no core was dumped.
---@param home string
---@param exit table?
---@return string
function M.words(home, exit)
  if not (exit and exit.core) then
    return ""
  end
  local found = M.find(home)
  local parts = {}
  for i, file in ipairs(found.files) do
    parts[i] = ("%s, %s"):format(format.text(file.path), units.format_bytes(file.size_bytes))
  end
  if #parts > 0 then
    return "; core file in its home: " .. table.concat(parts, "; ")
  end
  return ("; no core file in its home (core_pattern: %s)"):format(
    found.pattern and format.text(found.pattern) or "unknown"
  )
end

return M
