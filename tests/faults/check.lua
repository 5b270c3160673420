-- SPDX-License-Identifier: Apache-2.0
-- What must hold after a session in which one call failed; prints what does not.
--   pairperf-lua tests/faults/check.lua OUTPUT STATUS ERRNO TERMINAL CALL
-- TERMINAL: file with what the session said; CALL: the call that failed, "" when none did.
local digests = require "pairperf.digests"
local forms = require "pairperf.forms"
local json_schema = require "pairperf.json_schema"
local verify = require "pairperf.verify"
local fs, json = pairperf.fs, pairperf.json

local output, status, errno, terminal, call = ...
status = tonumber(status)
local bad = 0

local function expect(ok, text, ...)
  if not ok then
    bad = bad + 1
    print("   " .. text:format(...))
  end
end

local function read(name)
  return fs.read(output .. "/" .. name) or ""
end

-- Every document is whole and holds to its schema, every line has its end, nothing temporary stays.
local function look_at(file)
  local text = read(file.path)
  local lines = file.path:find "%.jsonl$" or file.path == "session.log"
  expect(not file.path:find "%.tmp%-", "%s was left behind", file.path)
  expect(not lines or text == "" or text:sub(-1) == "\n", "%s is torn", file.path)
  local schema = forms.of(file.path)
  for document in text:gmatch(lines and "[^\n]+" or ".+") do
    local value = schema and json.decode(document)
    expect(not schema or value, "%s does not parse", file.path)
    local problem = value and json_schema.problem(value)
    expect(not problem, "%s: %s", file.path, problem)
  end
end

local function statuses(plan)
  local count = { success = 0, failed = 0, skipped = 0, missing = 0 }
  for _, slot in ipairs(plan.runs) do
    local text = read(slot.directory .. "/summary.json")
    local name = text ~= "" and assert(json.decode(text)).status or "missing"
    count[name] = count[name] + 1
  end
  return count
end

-- Somebody who looks at the session learns which call failed, and why.
local function is_named(files)
  local texts = { fs.read(terminal) or "", read "session.log" }
  for _, file in ipairs(files) do
    texts[#texts + 1] = file.path:find "summary%.json$" and read(file.path) or nil
  end
  return table.concat(texts, "\n"):find(errno, 1, true) ~= nil
end

local function check_status(count)
  local replaced = read("session.log"):find "report not written" -- a later one was
  if count.failed + count.skipped + count.missing > 0 then
    expect(status == 1, "status %d with %d failed runs", status, count.failed + count.skipped)
  elseif call == "" then
    expect(status == 0, "status %d though no call failed", status)
  else
    expect(status == 70 or (status == 0 and replaced), "status %d though something is lost", status)
  end
end

-- What was sealed holds whole; what could not be sealed holds but for the seal.
local function check_verify()
  local log = read "session.log"
  local found, err = verify.session(output)
  expect(found, "verify: %s", tostring(err))
  local sealed = log:find("\n" .. digests.FILE .. " sha256", 1, true)
  for _, one in ipairs(found and found.problems or {}) do
    local excused = not sealed and (one.file == digests.FILE or one.file == digests.LOG)
      or status ~= 0 and log:find(one.file .. " not written", 1, true)
      or status ~= 0 and one.file:find "^report" and log:find "Z report not written"
    expect(excused, "verify: %s: %s: %s", one.file, one.where, one.text)
  end
end

local files = fs.lstat(output) and digests.walk(output) or {}
for _, file in ipairs(files) do
  look_at(file)
end
expect(call == "" or is_named(files), "%s is named nowhere", errno)
local plan = read "plan.json"
local unstarted = read("session.log"):find "nothing was started" -- the plan itself may be there
if plan ~= "" and not unstarted then
  check_status(statuses(assert(json.decode(plan))))
  check_verify()
elseif not fs.lstat(output) then
  expect(status == 2, "status %d though nothing was created", status)
else
  expect(status == 70, "status %d though nothing was started", status)
end
return bad == 0 and 0 or 1
