-- SPDX-License-Identifier: Apache-2.0
--- digests.json: what every file of a session held when the session was closed, homes excluded,
--- and which line or field of it. The last line of session.log holds its digest and seals it.
local core = require "pairperf.core"
local format = require "pairperf.format"
local json = require "pairperf.json"

local M = {}

M.FILE = "digests.json"
M.LOG = "session.log"
M.UNREADABLE = "unreadable" -- a type of `others`: a file or directory that a hook closed

local LINES_MAX_BYTES <const> = 64 << 20
local SHORT <const> = 8 -- hex digits of a line's or field's digest
local HOME <const> = "^[^/]+/run%-%d+/home$"

---@class pairperf.DigestEntry
---@field path string
---@field size integer
---@field sha256 string
---@field lines string? short digests, one after the other
---@field fields table<string, string>? short digests by name

local function short(bytes)
  return core.digest.bytes(bytes):sub(1, SHORT)
end

-- ---------------------------------------------------------------- one file

local function digests_of_lines(text)
  return assert(core.digest.lines(text, SHORT))
end

local function digests_of_fields(text)
  local value = json.decode(text)
  if type(value) ~= "table" or json.is_array(value) then
    return nil
  end
  local fields = {}
  for name, one in pairs(value) do
    fields[name] = short(json.encode(one))
  end
  return fields
end

--- What a text is known by.
---@param path string below the output directory
---@param text string
---@return pairperf.DigestEntry
function M.entry(path, text)
  local fields = path:find "%.json$" and digests_of_fields(text) or nil
  return {
    path = path,
    size = #text,
    sha256 = core.digest.bytes(text),
    fields = fields,
    lines = not fields and digests_of_lines(text) or nil,
  }
end

local function read_entry(output, path, size)
  local whole = output .. "/" .. path
  if size > LINES_MAX_BYTES then
    local sha256, err = core.digest.file(whole)
    return sha256 and { path = path, size = size, sha256 = sha256 }, err
  elseif path:find "%.jsonl$" then -- too large to be held at once
    local lines, sha256, read = core.digest.file_lines(whole, SHORT)
    if not lines then
      return nil, sha256
    end
    return { path = path, size = read, sha256 = sha256, lines = lines }
  end
  local text, err = core.fs.read(whole)
  return text and M.entry(path, text), err
end

-- ---------------------------------------------------------------- all files

--- Every regular file below the output directory, and what is neither file nor directory; homes
--- and digests.json are left out.
---@param output string
---@return {path: string, size: integer}[]? files by path
---@return {path: string, type: string}[]|pairperf.Error others
function M.walk(output)
  local files, others = {}, json.array {}
  local function visit(directory)
    local names, err = core.fs.list(output .. "/" .. directory)
    if err and err.code == "denied" and directory ~= "" then
      others[#others + 1] = { path = directory:sub(1, -2), type = M.UNREADABLE }
      return true
    end
    for _, name in ipairs(names or {}) do
      local path = directory .. name
      local entry, failure = core.fs.lstat(output .. "/" .. path)
      if not entry then
        return nil, failure
      elseif entry.type == "file" and path ~= M.FILE then
        files[#files + 1] = { path = path, size = entry.size }
      elseif entry.type == "directory" and not path:find(HOME) then
        local ok, inner = visit(path .. "/")
        if not ok then
          return nil, inner
        end
      elseif entry.type ~= "file" and entry.type ~= "directory" then
        others[#others + 1] = { path = path, type = entry.type }
      end
    end
    return names and true, err
  end
  local ok, err = visit ""
  return ok and files, ok and others or err
end

--- The line of session.log that seals a digests.json.
---@param text string content of digests.json
---@return string
function M.seal_line(text)
  return ("%s sha256 %s\n"):format(M.FILE, core.digest.bytes(text))
end

-- session.log without the line that seals `sealed`, where it ends with that.
local function log_entry(output, sealed)
  local text, err = core.fs.read(output .. "/" .. M.LOG)
  local line = text and sealed and M.seal_line(sealed)
  if line and text:sub(-#line) == line then
    text = text:sub(1, -#line - 1)
  end
  return text and M.entry(M.LOG, text), err
end

-- What each file holds now, read once. `sealed`: the digests.json whose line session.log may end
-- with; `log`: what counts of session.log, instead.
local function collect(output, sealed, log)
  local files, others = M.walk(output)
  if not files then
    return nil, others
  end
  local entries = json.array {}
  for _, file in ipairs(files) do
    local entry, err
    if file.path == M.LOG and log then
      entry = M.entry(M.LOG, log)
    elseif file.path == M.LOG then
      entry, err = log_entry(output, sealed)
    else
      entry, err = read_entry(output, file.path, file.size)
    end
    if entry then
      entries[#entries + 1] = entry
    elseif err.code == "denied" then
      others[#others + 1] = { path = file.path, type = M.UNREADABLE }
    else
      return nil, err
    end
  end
  table.sort(others, function(a, b)
    return a.path < b.path
  end)
  return { schema = "pairperf-digests-1", files = entries, others = others }
end

local function encode(value)
  local text, err = json.encode(value)
  return text and text .. "\n", err
end

local function by_path(entries)
  local found = {}
  for _, entry in ipairs(entries) do
    found[format.bytes(entry.path)] = entry
  end
  return found
end

--- digests.json computed again, when its digest is what the last line of session.log says.
---@param output string
---@return string? text nil: the files, or the seal, are not what they were
---@return table<string, pairperf.DigestEntry>? now what each file holds, by its path; nil when
---  nothing seals or a file could not be read
function M.compute_sealed(output)
  local log = core.fs.read(output .. "/" .. M.LOG) or ""
  local before, line = log:match "^(.*\n)([^\n]*\n)$"
  if not before then
    return nil
  end
  local value = collect(output, nil, before)
  local text = value and encode(value)
  local sealed = text and M.seal_line(text) == line and text or nil
  return sealed, value and by_path(value.files)
end

-- ---------------------------------------------------------------- looking for differences

local function first_line(before, after)
  for i = 1, math.max(#before, #after), SHORT do
    if before:sub(i, i + SHORT - 1) ~= after:sub(i, i + SHORT - 1) then
      return ("line %d"):format((i - 1) // SHORT + 1)
    end
  end
end

local function first_field(before, after)
  local names = {}
  for _, fields in ipairs { before, after } do
    for name, digest in pairs(fields) do
      names[#names + 1] = before[name] ~= after[name] and digest and name or nil
    end
  end
  table.sort(names)
  return names[1] and "field " .. names[1]
end

-- Where a document that no longer parses stops to.
local function unreadable(text)
  local _, err = json.decode(text)
  return err and "line 1: " .. err.detail
end

local function difference(entry, text)
  local now = M.entry(format.bytes(entry.path), text)
  if now.sha256 == entry.sha256 then
    return nil
  elseif entry.fields then
    return now.fields and first_field(entry.fields, now.fields)
      or unreadable(text)
      or "outside its fields"
  end
  return entry.lines and first_line(entry.lines, now.lines or digests_of_lines(text)) or "somewhere"
end

--- Where a file is not what its entry says; nil when it is.
---@param output string
---@param entry pairperf.DigestEntry
---@return string? where "line 3", "field seed", "missing", …
function M.change(output, entry)
  local path = output .. "/" .. format.bytes(entry.path)
  local found = core.fs.lstat(path)
  if not found then
    return "missing"
  elseif found.type ~= "file" then
    return "now a " .. found.type
  elseif not entry.lines and not entry.fields then
    return core.digest.file(path) ~= entry.sha256 and "somewhere" or nil
  end
  local text, err = core.fs.read(path)
  if not text then
    return tostring(err)
  end
  return difference(entry, entry.path == M.LOG and text:sub(1, entry.size) or text)
end

-- ---------------------------------------------------------------- sealing

-- Files that are computed from others, and may become others with another version.
local DERIVED = {
  "^report%.json$",
  "^report%.md$",
  "^report%.html$",
  "^[^/]+/run%-%d+/summary%.json$",
}

local function is_derived(path)
  for _, pattern in ipairs(DERIVED) do
    if path:find(pattern) then
      return true
    end
  end
end

--- Whether session.log goes on, after what its entry covers, with the line that seals `text`.
---@param output string
---@param entry pairperf.DigestEntry of session.log
---@param text string content of digests.json
---@return "sealed"|"open"|"other" open: nothing follows
function M.log_end(output, entry, text)
  local rest = (core.fs.read(output .. "/" .. M.LOG) or ""):sub(entry.size + 1)
  return rest == "" and "open" or rest == M.seal_line(text) and "sealed" or "other"
end

-- What the sealed digests say of raw evidence, and is no longer so in `now`.
local function broken(output, sealed, now)
  local value, err = json.decode(sealed)
  if not value or type(value.files) ~= "table" then
    return M.FILE .. ": " .. (err and err.detail or "no files")
  end
  local found = by_path(now.files)
  for _, entry in ipairs(value.files) do
    local path = format.bytes(entry.path)
    local same = found[path] and found[path].sha256 == entry.sha256
    local where = not is_derived(path) and not same and M.change(output, entry)
    if path == M.LOG and not where and M.log_end(output, entry, sealed) == "other" then
      where = "its end"
    end
    if where then
      return ("%s: %s"):format(path, where)
    end
  end
end

-- Puts the whole log, an earlier seal included, in the place of its entry.
local function take_whole_log(output, value)
  for i, entry in ipairs(value.files) do
    if entry.path == M.LOG then
      local err
      value.files[i], err = log_entry(output)
      return not err, err
    end
  end
  return true
end

-- The new digests.json of `now`, written.
local function replace(output, before, now)
  local ok, text, err = true, nil, nil
  if before then -- the earlier seal stays in the log, as a line of it
    ok, err = take_whole_log(output, now)
  end
  if ok then
    text, err = encode(now)
  end
  ok = text
  if text then
    ok, err = core.fs.write_atomic(output .. "/" .. M.FILE, text)
  end
  return ok and text, err
end

--- Writes digests.json and seals it; nothing when it is as it should be. Raw evidence that is not
--- what an earlier seal says keeps that seal, so that the change stays visible.
---@param output string
---@return true? ok
---@return pairperf.Error? err unverified: it keeps the earlier one
function M.seal(output)
  local before, err = core.fs.read(output .. "/" .. M.FILE)
  if not before and err.errno ~= "ENOENT" then
    return nil, err
  end
  local now
  now, err = collect(output, before)
  if not now then
    return nil, err
  end
  local problem = before and broken(output, before, now)
  if problem then
    return nil, core.error.new { code = "unverified", op = M.FILE, detail = problem }
  end
  local text
  text, err = encode(now)
  if text and text ~= before then
    text, err = replace(output, before, now)
  end
  if not text then
    return nil, err
  end
  local log = core.fs.read(output .. "/" .. M.LOG) or ""
  local line = M.seal_line(text)
  if log:sub(-#line) == line then
    return true
  end
  return core.fs.append(output .. "/" .. M.LOG, line, true)
end

return M
