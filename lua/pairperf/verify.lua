-- SPDX-License-Identifier: Apache-2.0
--- Does the evidence of a session hold? Digests, schemas, sums inside it, and everything that is
--- computed, computed again and compared byte for byte. Reads only; what does not hold is named by
--- file, and by line or field.
local core = require "pairperf.core"
local digests = require "pairperf.digests"
local errors = require "pairperf.error"
local exit_status = require "pairperf.exit_status"
local format = require "pairperf.format"
local forms = require "pairperf.forms"
local json = require "pairperf.json"
local json_schema = require "pairperf.json_schema"
local report = require "pairperf.report"
local verify_sums = require "pairperf.verify_sums"

local M = {}

---@class pairperf.Finding
---@field file string below the output directory
---@field where string "line 3", "field seed", …; "" for the whole file
---@field text string

---@class pairperf.Verified
---@field problems pairperf.Finding[]
---@field remarks string[] what could not be checked
---@field files integer looked at

-- ---------------------------------------------------------------- digests

local CHANGED <const> = "not what digests.json says"

-- The digests are damaged themselves, or one file is: as the log's seal decides.
local function check_seal(found, output, text, value)
  local entry
  for _, one in ipairs(value.files) do
    entry = one.path == digests.LOG and one or entry
  end
  if not entry then
    return found:add(digests.FILE, "field files", "session.log is not among them")
  end
  local last = digests.log_end(output, entry, text)
  if last == "open" then
    found:add(digests.LOG, "its end", "the line that seals digests.json is missing")
  elseif last == "other" then
    local log = core.fs.read(output .. "/" .. digests.LOG) or ""
    local _, lines = log:gsub("\n", "")
    found:add(digests.LOG, "line " .. lines, "its last line does not seal digests.json")
  end
end

local function check_presence(found, output, value)
  local listed = {}
  for _, list in ipairs { value.files, value.others } do
    for _, entry in ipairs(list) do
      listed[format.bytes(entry.path)] = true
    end
  end
  local files, others = digests.walk(output)
  if not files then
    return found:add("", "", tostring(others))
  end
  for _, list in ipairs { files, others } do
    for _, file in ipairs(list) do
      if not listed[file.path] then
        found:add(file.path, "", "not in digests.json")
      end
    end
  end
  found.files = #files + 1
end

-- `read`: what was read already. Only a file that is not the same is read again, for where.
local function check_entries(found, output, value, read)
  for _, entry in ipairs(value.files) do
    local path = format.bytes(entry.path)
    local same = read[path] and read[path].sha256 == entry.sha256
    local where = not same and digests.change(output, entry)
    if where then
      found:add(path, where, CHANGED)
    end
  end
  for _, entry in ipairs(value.others) do
    local now = core.fs.lstat(output .. "/" .. format.bytes(entry.path))
    if not now or (now.type ~= entry.type and entry.type ~= digests.UNREADABLE) then
      found:add(format.bytes(entry.path), "", CHANGED)
    end
  end
end

local function differing_entry(value, fresh)
  for i, entry in ipairs(fresh.files) do
    local other = type(value.files) == "table" and value.files[i]
    if json.encode(other or json.null) ~= json.encode(entry) then
      return "field files, entry " .. i
    end
  end
  return "outside its entries"
end

-- When every file is what the seal stands for, only digests.json itself can be damaged.
local function only_digests(found, fresh, text, value, err)
  if not fresh or fresh == text then
    return false
  end
  local where = value and differing_entry(value, assert(json.decode(fresh)))
  found:add(digests.FILE, where or "line 1", err and err.detail or "not what session.log seals")
  return true
end

local function check_digests(found, output)
  local text, err = core.fs.read(output .. "/" .. digests.FILE)
  if not text then
    local missing = err.errno == "ENOENT" and "missing: the session was not closed"
    return found:add(digests.FILE, "", missing or tostring(err))
  end
  local value
  value, err = json.decode(text)
  local fresh, read = digests.compute_sealed(output)
  if only_digests(found, fresh, text, value, err) then
    return
  end
  local problem = value and json_schema.problem(value)
  if not value or problem then
    return found:add(digests.FILE, problem and "" or "line 1", problem or err.detail)
  end
  check_presence(found, output, value)
  check_entries(found, output, value, read or {})
  check_seal(found, output, text, value)
end

-- ---------------------------------------------------------------- schemas

local function check_document(found, path, schema, text, where)
  local value, err = json.decode(text)
  local problem
  if not value then
    problem = err.detail
  elseif type(value) ~= "table" or value.schema ~= schema then
    problem = "its schema is not " .. schema
  else
    problem = json_schema.problem(value)
  end
  if problem then
    found:add(path, where, problem)
  end
end

local function check_lines(found, path, schema, text)
  local number = 0
  for line in text:gmatch "([^\n]*)\n" do
    number = number + 1
    check_document(found, path, schema, line, "line " .. number)
  end
end

local function check_schemas(found, output)
  local files, failure = digests.walk(output)
  if not files then -- nothing was looked at
    return found:add("", "", tostring(failure))
  end
  for _, file in ipairs(files) do
    local schema = forms.of(file.path)
    local text, err = nil, nil
    if schema then
      text, err = core.fs.read(output .. "/" .. file.path)
    end
    if text and file.path:find "%.jsonl$" then
      check_lines(found, file.path, schema, text)
    elseif text then
      check_document(found, file.path, schema, text, "")
    elseif schema then
      found:add(file.path, "", tostring(err))
    end
  end
end

-- Schemas say little about events, so their use may raise: that is a finding as well.
local function check_sums(found, output, plan)
  local ok, raised = pcall(verify_sums.check, found, output, plan)
  if not ok then
    found:add("", "", "evidence of a shape that cannot be used: " .. errors.raised(raised))
  end
end

-- ---------------------------------------------------------------- the whole

local Found = {}
Found.__index = Found

function Found:add(file, where, text)
  self.problems[#self.problems + 1] = { file = file, where = where, text = text }
end

function Found:remark(text)
  self.remarks[#self.remarks + 1] = text
end

--- Checks one session.
---@param output string its output directory
---@return pairperf.Verified? found
---@return pairperf.Error? err no session, or of a newer form
function M.session(output)
  local plan_there = core.fs.lstat(output .. "/plan.json")
  if not plan_there and not core.fs.lstat(output .. "/" .. digests.FILE) then
    return errors.fail("invalid", output, "not the output of a session: no plan.json")
  end
  local found = setmetatable({ problems = {}, remarks = {}, files = 0 }, Found)
  check_digests(found, output)
  local plan, err = report.plan(output)
  if not plan and err.code == "unsupported" and #found.problems == 0 then
    return nil, err
  end
  local before = #found.problems
  check_schemas(found, output)
  local holding = #found.problems == before
  if plan and holding then
    check_sums(found, output, plan)
  elseif plan then
    found:remark "sums and computed files, because of what does not hold to its schema"
  elseif #found.problems == 0 then
    found:add("plan.json", "", tostring(err))
  end
  return found
end

local function say(output, found)
  local name = format.text(output)
  for _, one in ipairs(found.problems) do
    local where = one.where ~= "" and ": " .. one.where or ""
    local file = one.file ~= "" and "/" .. format.text(one.file) or ""
    io.stdout:write(("%s%s%s: %s\n"):format(name, file, where, format.text(one.text)))
  end
  for _, text in ipairs(found.remarks) do
    io.stdout:write(("%s: not checked: %s\n"):format(name, format.text(text)))
  end
  local count = #found.problems
  local words = count == 0 and "holds, " .. format.count(found.files, "file")
    or "does not hold, " .. format.count(count, "finding")
  io.stdout:write(("%s: %s\n"):format(name, words))
end

--- Checks sessions and says what does not hold.
---@param directories string[]
---@return integer? exit_status 0: all hold; 1: one does not
---@return pairperf.Error? err refused
function M.run(directories)
  local status = exit_status.OK
  for _, output in ipairs(directories) do
    local found, err = M.session(output)
    if not found then
      return nil, err
    end
    say(output, found)
    status = #found.problems > 0 and exit_status.FAILED_RUNS or status
  end
  return status
end

return M
