-- SPDX-License-Identifier: Apache-2.0
--- What the files of a session say about each other: the plan and its seed, the supervisor's counts
--- and the frames, the hook's counts and its requests, and everything computed from raw evidence.
local core = require "pairperf.core"
local json = require "pairperf.json"
local measured = require "pairperf.measured"
local plan_order = require "pairperf.plan"
local records = require "pairperf.records"
local report = require "pairperf.report"
local summary = require "pairperf.summary"

local M = {}

local known = measured.known

-- ---------------------------------------------------------------- plan

local function check_plan(found, output, plan)
  if plan.mode == "ab" and plan.first ~= plan_order.first_variant(plan.seed) then
    found:add("plan.json", "field first", "not what the seed says")
  end
  local how = { first = plan.first, order = plan.order, single = plan.mode == "single" }
  if json.encode(plan_order.runs(plan.scenarios, how)) ~= json.encode(plan.runs) then
    found:add("plan.json", "field runs", "not the order that the seed gives")
  end
  for name, variant in pairs(plan.variants) do
    local file = name .. "-bundle-manifest.json"
    local text = core.fs.read(output .. "/" .. file)
    if not text then
      found:add(file, "", "missing")
    elseif core.digest.bytes(text) ~= variant.bundle_manifest_sha256 then
      found:add(file, "", "its digest is not the plan's bundle_manifest_sha256")
    end
  end
end

-- ---------------------------------------------------------------- frames

-- Records of one kind of file, whoever saved them, each once; nil when they cannot be read.
local function read_once(run_dir, name)
  local list, seen = {}, {}
  for _, saved in ipairs { "", ".supervisor" } do
    local read = records.read_if_any(("%s/%s%s.jsonl"):format(run_dir, name, saved))
    if not read then
      return nil
    end
    for _, one in ipairs(read) do
      if one.seq and not seen[one.seq] then
        seen[one.seq] = true
        list[#list + 1] = one
      end
    end
  end
  return list
end

local function by_window(frames)
  local counts = {}
  for _, frame in ipairs(frames) do
    counts[frame.window] = (counts[frame.window] or 0) + 1
  end
  return counts
end

local function check_numbers(found, file, frames, events)
  local seen, highest = {}, 0
  for _, list in ipairs { frames, events } do
    for _, one in ipairs(list) do
      seen[one.seq], highest = true, math.max(highest, one.seq)
    end
  end
  for seq = 1, highest do
    if not seen[seq] then
      return found:add(file, "field seq", ("record %d of %d is missing"):format(seq, highest))
    end
  end
end

-- The supervisor counts what it took and what it could not keep.
local function check_counts(found, directory, frames, events)
  local windows = by_window(frames)
  for _, event in ipairs(events) do
    local own = event.kind == "verdict" and event.own
    if own and known(own.frames) and own.frames - own.frames_dropped ~= #frames then
      local text = "%d frames, the verdict says %d taken and %d dropped"
      found:add(
        directory .. "/samples.jsonl",
        "field seq",
        text:format(#frames, own.frames, own.frames_dropped)
      )
    elseif event.kind == "window_done" and event.frames ~= windows[event.window] then
      local text = "window %d has %d frames, its end says %s"
      found:add(
        directory .. "/samples.jsonl",
        "field window",
        text:format(event.window, windows[event.window] or 0, tostring(event.frames))
      )
    end
  end
end

local function check_frames(found, output, directory)
  local run_dir = output .. "/" .. directory
  local frames, events = read_once(run_dir, "samples"), read_once(run_dir, "events")
  if frames and events then -- else the schema check has named the line
    check_numbers(found, directory .. "/samples.jsonl", frames, events)
    check_counts(found, directory, frames, events)
  end
end

-- ---------------------------------------------------------------- requests

local function check_requests(found, output, directory)
  local file = directory .. "/hook/requests.jsonl"
  local requests = records.read_if_any(output .. "/" .. file)
  local text = core.fs.read(output .. "/" .. directory .. "/hook/chat.json")
  local client = text and json.decode(text)
  if not requests or type(client) ~= "table" or type(client.requests) ~= "table" then
    return
  end
  for status, count in pairs(client.requests) do
    local counted = 0
    for _, request in ipairs(requests) do
      counted = counted + (request.status == status and 1 or 0)
    end
    if counted ~= count then
      local words = "%d requests are %s, chat.json says %s"
      found:add(file, "field status", words:format(counted, status, tostring(count)))
    end
  end
end

-- ---------------------------------------------------------------- computed files

-- Where two values differ first, by field: "metrics.cpu_percent.value".
local function first_difference(one, other, path)
  if type(one) ~= "table" or type(other) ~= "table" then
    return one ~= other and path or nil
  end
  local names = {}
  for _, value in ipairs { one, other } do
    for name in pairs(value) do
      names[name] = true
    end
  end
  local sorted = {}
  for name in pairs(names) do
    sorted[#sorted + 1] = name
  end
  table.sort(sorted, function(a, b)
    return tostring(a) < tostring(b)
  end)
  for _, name in ipairs(sorted) do
    local inside = path == "" and tostring(name) or ("%s.%s"):format(path, name)
    local where = first_difference(one[name], other[name], inside)
    if where then
      return where
    end
  end
end

local function differing_line(one, other)
  local next_line, number = other:gmatch "[^\n]*\n?", 0
  for line in one:gmatch "[^\n]*\n?" do
    number = number + 1
    if line ~= next_line() then
      return "line " .. number
    end
  end
  return "line " .. number + 1
end

local function compare(found, output, file, computed)
  local text, err = core.fs.read(output .. "/" .. file)
  if text == computed then
    return
  end
  local value = text and file:find "%.json$" and json.decode(text)
  local where = value and first_difference(value, assert(json.decode(computed)), "")
  where = where and "field " .. where or text and differing_line(text, computed) or ""
  found:add(file, where, text and "not what the raw evidence gives" or tostring(err))
end

-- A summary as the raw evidence gives it; a skipped run has none, and its summary only says why.
local function compute_summary(output, plan, slot)
  local run_dir = output .. "/" .. slot.directory
  if core.fs.lstat(run_dir .. "/events.jsonl") then
    return summary.build(run_dir, plan, slot)
  end
  local text, err = core.fs.read(run_dir .. "/summary.json")
  local said
  if text then
    said, err = json.decode(text)
  end
  if not said or type(said.failure) ~= "table" then
    return nil, err
  end
  return summary.skipped(slot, said.failure.reason)
end

local function check_summaries(found, output, plan)
  local summaries, other = {}, 0
  for _, slot in ipairs(plan.runs) do
    local file = slot.directory .. "/summary.json"
    local computed, err = compute_summary(output, plan, slot)
    local text = computed and json.encode(computed)
    if text then
      compare(found, output, file, text .. "\n")
      summaries[slot.slot] = json.decode(text)
      other = other + (computed.status == "success" and 0 or 1)
    else
      found:add(file, "", "cannot be computed again: " .. tostring(err))
    end
  end
  return summaries, other
end

local function check_session(found, session, other)
  if session and session.failed_or_skipped ~= other then
    local words = "%s, the summaries have %d"
    found:add(
      "session.json",
      "field failed_or_skipped",
      words:format(tostring(session.failed_or_skipped), other)
    )
  end
end

local function check_reports(found, output, summaries)
  local input, err = report.load(output)
  local files
  if input then
    input.summaries = summaries
    files, err = report.files(output, input)
  end
  if not files then
    return found:add("report.json", "", "cannot be computed again: " .. tostring(err))
  end
  for _, file in ipairs(files) do
    compare(found, output, file[1], file[2])
  end
  return input.session
end

-- ---------------------------------------------------------------- the whole

local function check_computed(found, output, plan)
  local summaries, other = check_summaries(found, output, plan)
  local session = check_reports(found, output, summaries)
  check_session(found, session, other)
end

--- Checks the session's files against each other; what does not fit goes into `found`.
---@param found pairperf.Verified
---@param output string
---@param plan table plan.json, which holds to its schema
function M.check(found, output, plan)
  check_plan(found, output, plan)
  for _, slot in ipairs(plan.runs) do
    check_frames(found, output, slot.directory)
    check_requests(found, output, slot.directory)
  end
  local made_by, own = plan.tool.build and plan.tool.build.id, core.process.build().id
  if made_by == own then
    check_computed(found, output, plan)
  else
    local text = "summaries and reports; build %s made them, this is %s"
    found:remark(text:format(tostring(made_by), own))
  end
end

return M
