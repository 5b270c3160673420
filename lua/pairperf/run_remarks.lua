-- SPDX-License-Identifier: Apache-2.0
--- Remarks on single runs in a report: what a reader of their figures should know.
local escapees = require "pairperf.escapees"
local json = require "pairperf.json"
local machine = require "pairperf.machine"
local measured = require "pairperf.measured"

local M = {}

local known = measured.known

local WARNINGS = {
  frame_too_long = " (a pass over the processes took longer than a tenth of the interval)",
  stale = " (a frame was handed over long after its last reading)",
}

-- Below it the clock is only being steered.
local WALL_STEP_NS <const> = 100000000

local function window_remarks(summary, add)
  local window = summary.window
  if not window then
    return
  end
  for _, warning in ipairs(window.warnings) do
    add(("window warning: %s%s"):format(warning, WARNINGS[warning] or ""))
  end
  if window.exits_dropped > 0 then
    add(
      ("%d ended processes were too many to be recorded; the observed source misses them"):format(
        window.exits_dropped
      )
    )
  end
  if math.abs(window.wall_step_ns or 0) > WALL_STEP_NS then
    add(
      ("the wall clock was set by %+.1f s during the window; no figure depends on it"):format(
        window.wall_step_ns / 1e9
      )
    )
  end
  if window.missed > 0 then
    add(("%d scheduled frames were missed"):format(window.missed))
  end
end

-- HOOK-3: what is not in the kept output is named.
local function output_remarks(who, ran, add)
  local output = known(ran) and ran and known(ran.output) and ran.output or {}
  for _, stream in ipairs { "stdout", "stderr" } do
    if output[stream .. "_truncated"] then
      local text = "the kept %s of the %s is only the beginning of %d bytes (--hook-output-cap)"
      add(text:format(stream, who, output[stream .. "_bytes"]))
    end
  end
end

local function hook_remarks(summary, add)
  output_remarks("pre-sample hook", summary.hook, add)
  output_remarks("post-run check", summary.check, add)
  local hook = summary.hook
  if known(hook) and hook and hook.ended_early then
    local after = known(hook.ended_after_s) and (" after %.1f s"):format(hook.ended_after_s) or ""
    add("the pre-sample hook ended by itself before sampling was over" .. after)
  end
  local check = summary.check
  if known(check) and check and check.state == "no check configured" then
    add "no post-run check configured"
  end
end

local function evidence_remarks(summary, add)
  local evidence = summary.evidence or {}
  for _, name in ipairs(evidence.torn or {}) do
    add(("the last line of %s was torn and is left out"):format(name))
  end
  local verdict = summary.verdict
  local ended = known(verdict) and verdict or nil
  for _, sentence in ipairs(escapees.sentences(summary.escapees or {}, ended)) do
    add(sentence)
  end
  if known(verdict) and verdict and verdict.forced then
    add "the application had to be ended by SIGKILL"
  end
end

-- What should not change while a run is measured.
local STEADY = {
  { "frequency", "governor" },
  { "frequency", "boost" },
  { "frequency", "no_turbo" },
  { "power", "online" },
  { "power", "profile" },
  { "power", "source" },
  { "power", "modes" },
  { "display", "display" },
  { "display", "displays" },
}

local function probe_value(probes, path)
  local group = known(probes) and probes and probes[path[1]]
  local probe = group and group[path[2]]
  return probe and json.encode(probe.value)
end

local function machine_remarks(summary, static, add)
  local probes = summary.probes or {}
  for _, text in ipairs(machine.remarks(probes.before, static)) do
    add(text)
  end
  for _, path in ipairs(STEADY) do
    local before, after = probe_value(probes.before, path), probe_value(probes.after, path)
    if before and after and before ~= after then
      local what = path[1] == path[2] and path[1] or path[1] .. " " .. path[2]
      add(("%s changed during the run: %s, then %s"):format(what, before, after))
    end
  end
end

local function settle_remarks(summary, add)
  local settled = summary.settled
  if known(settled) and settled and settled.idle == false then
    add "still busy when the time of --settle was over: the run began on a busy machine"
  end
end

local function ready_remarks(summary, add)
  local ready = summary.ready
  if known(ready) and ready and ready.how == "none" then
    add "no readiness condition: warm-up started at launch"
  end
end

--- Remarks on runs: each text once, with the slots it holds for.
---@param static table? probes.json
---@return {text: string, slots: integer[]}[]
function M.list(rows, summaries, static)
  local notes, by_text = json.array {}, {}
  for _, row in ipairs(rows) do
    local function add(text)
      local note = by_text[text]
      if not note then
        note = { text = text, slots = json.array {} }
        by_text[text] = note
        notes[#notes + 1] = note
      end
      note.slots[#note.slots + 1] = row.slot
    end
    local summary = summaries[row.slot]
    if summary and summary.status ~= "skipped" then
      settle_remarks(summary, add)
      ready_remarks(summary, add)
      window_remarks(summary, add)
      hook_remarks(summary, add)
      evidence_remarks(summary, add)
      machine_remarks(summary, static, add)
    end
  end
  return notes
end

return M
