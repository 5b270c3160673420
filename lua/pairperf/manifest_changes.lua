-- SPDX-License-Identifier: Apache-2.0
--- What differs between two manifests of one artifact, entry by entry.
local format = require "pairperf.format"
local json = require "pairperf.json"

local M = {}

local NAMED <const> = 5

local FACTS = { "type", "mode", "size", "sha256", "target", "target_sha256" }

local function by_path(manifest)
  local entries = {}
  for _, entry in ipairs(assert(json.decode(manifest)).entries) do
    entries[format.text(entry.path)] = entry
  end
  return entries
end

-- A target that is no UTF-8 is a table.
local function comparable(value)
  return format.bytes(value) or value
end

local function differing(one, other)
  local names = {}
  for _, name in ipairs(FACTS) do
    if comparable(one[name]) ~= comparable(other[name]) then
      names[#names + 1] = name
    end
  end
  return table.concat(names, ", ")
end

local function change(path, before, after)
  if not before then
    return path .. ": added"
  elseif not after then
    return path .. ": removed"
  end
  local facts = differing(before, after)
  return facts ~= "" and ("%s: %s"):format(path, facts) or nil
end

--- The first differences by path.
---@param before string canonical bytes of a manifest
---@param after string
---@return string[] changes at most five, "path: what differs"
---@return integer count of all
function M.between(before, after)
  local old, new = by_path(before), by_path(after)
  local paths, all = {}, {}
  for path in pairs(old) do
    paths[#paths + 1] = path
  end
  for path in pairs(new) do
    paths[#paths + 1] = not old[path] and path or nil
  end
  table.sort(paths)
  for _, path in ipairs(paths) do
    all[#all + 1] = change(path, old[path], new[path])
  end
  return json.array(table.move(all, 1, math.min(#all, NAMED), 1, {})), #all
end

--- The changes that session.json keeps of an artifact, on one line; nil when it names none.
---@param state {changes: string[]?, change_count: integer?}
---@return string?
function M.text(state)
  local changes = state.changes or {}
  local text = table.concat(changes, "; ")
  local more = (state.change_count or 0) - #changes
  return #changes > 0 and text .. (more > 0 and ("; and %d more"):format(more) or "") or nil
end

return M
