-- SPDX-License-Identifier: Apache-2.0
--- What a person or a program sees while a session runs: a line that rewrites itself on a
--- terminal, plain lines elsewhere, JSON lines, or nothing. A failed write never fails a run.
local core = require "pairperf.core"
local format = require "pairperf.format"
local plan = require "pairperf.plan"
local report_table = require "pairperf.report_table"
local terminal = require "pairperf.terminal"
local units = require "pairperf.units"

local M = {}

local STDOUT <const>, STDERR <const> = 1, 2
local REFRESH_NS <const> = 500000000

---@class pairperf.Progress
---@field mode "terminal"|"plain"|"json"|"quiet"
local Progress = {}
Progress.__index = Progress

local function mode_of(values)
  if values["json-progress"] then
    return "json"
  elseif values.quiet then
    return "quiet"
  end
  return core.process.is_terminal(STDERR) and "terminal" or "plain"
end

---@param draft pairperf.Draft
---@return pairperf.Progress
function M.new(draft)
  local single = draft.values.single or false
  return setmetatable({
    mode = mode_of(draft.values),
    total = #draft.runs,
    left_s = plan.least_s(draft.scenarios, single),
    shown_ns = 0,
  }, Progress)
end

local function json_line(fields)
  local line = core.json.encode(fields)
  if line then
    io.stdout:write(line, "\n")
    io.stdout:flush()
  end
end

local function say(self, text)
  if self.mode == "terminal" then
    io.stderr:write("\r\27[K", text, "\n")
  elseif self.mode == "plain" then
    io.stderr:write(text, "\n")
  end
end

local function cpu_text(before, live)
  if not (before and live.cpu_ns and before.cpu_ns) then
    return ""
  end
  local percent = 100 * (live.cpu_ns - before.cpu_ns) / (live.t_ns - before.t_ns)
  return (", %.0f%% of one core"):format(percent)
end

-- CPU of one core in percent and resident memory, from two looks at the supervisor's live figures.
local function live_text(self, run)
  local live = run.app and run.app:state().live
  if not live then
    return ""
  end
  local before = self.live
  if not before or live.t_ns > before.t_ns then
    self.live, self.cpu_text = live, cpu_text(before, live)
  end
  local memory = live.rss_bytes and ", " .. units.format_bytes(live.rss_bytes) .. " resident" or ""
  return (" | %d processes%s%s"):format(live.processes or 0, self.cpu_text, memory)
end

--- What was found before the first run; each once.
---@param warnings string[]
function Progress:warnings(warnings)
  for _, text in ipairs(warnings) do
    if self.mode == "json" then
      json_line { event = "warning", text = text }
    else
      say(self, "warning: " .. text)
    end
  end
end

local HASHING_NS <const> = 1000000000 -- before the first word about it, and between lines

--- Called often while an artifact is hashed; silent in the first second.
---@param name string variant
---@param progress pairperf.ManifestProgress
---@param elapsed_ns integer
function Progress:hashing(name, progress, elapsed_ns)
  local now_ns = core.clock.now()
  local every_ns = self.mode == "terminal" and REFRESH_NS or HASHING_NS
  if elapsed_ns < HASHING_NS or now_ns - self.shown_ns < every_ns then
    return
  end
  self.shown_ns = now_ns
  local all = progress.bytes and " of " .. units.format_bytes(progress.bytes) or ""
  local text = ("hashing the %s: %d of %d files, %s%s"):format(
    name,
    progress.files_done,
    progress.files,
    units.format_bytes(progress.bytes_done),
    all
  )
  if self.mode == "json" then
    json_line {
      event = "hashing",
      variant = name,
      files_done = progress.files_done,
      files = progress.files,
      bytes_done = progress.bytes_done,
      bytes = progress.bytes,
    }
  elseif self.mode == "terminal" then
    io.stderr:write("\r\27[K", text)
    io.stderr:flush()
  else
    say(self, text)
  end
end

function Progress:starting(slot)
  self.slot, self.live, self.began_ns = slot, nil, core.clock.now()
  local name = ("run %d of %d: %s, %s"):format(
    slot.slot + 1,
    self.total,
    slot.scenario,
    slot.variant
  )
  self.name = name
  say(self, ("%s (at least %s left)"):format(name, units.format_long(self.left_s)))
  if self.mode == "json" then
    json_line {
      event = "run",
      run = slot.slot + 1,
      runs = self.total,
      scenario = slot.scenario,
      variant = slot.variant,
      remaining_s = self.left_s,
    }
  end
end

--- A new phase of the run that was started last.
---@param phase string
function Progress:phase(phase)
  if self.mode == "plain" then
    say(self, "  " .. phase)
  elseif self.mode == "json" then
    json_line { event = "phase", run = self.slot.slot + 1, phase = phase }
  end
end

--- Least time until the last run ends.
---@return number
function Progress:remaining_s()
  return math.max(0, self.left_s - (core.clock.now() - self.began_ns) / 1e9)
end

--- Called often while waiting; shows live figures on a terminal and in JSON.
function Progress:tick(phase, left_s, run)
  local now_ns = core.clock.now()
  if now_ns - self.shown_ns < REFRESH_NS then
    return
  end
  self.shown_ns = now_ns
  if self.mode == "terminal" then
    io.stderr:write(
      ("\r\27[K%s: %s, %s (%s in all)%s"):format(
        self.name,
        phase,
        units.format_long(math.max(0, left_s)),
        units.format_long(self:remaining_s()),
        live_text(self, run)
      )
    )
    io.stderr:flush()
  elseif self.mode == "json" then
    local live = run.app and run.app:state().live
    json_line {
      event = "tick",
      run = self.slot.slot + 1,
      phase = phase,
      left_s = math.max(0, left_s),
      remaining_s = self:remaining_s(),
      live = live,
    }
  end
end

--- A run ended; a failed one is told with step, reason, evidence and what to run next.
function Progress:finished(run)
  self.left_s = math.max(0, self.left_s - run.scenario.warmup_s - run.scenario.duration_s)
  local failure = run.failure
  if self.mode == "json" then
    json_line {
      event = "finished",
      run = self.slot.slot + 1,
      status = failure and "failed" or "success",
      failure = failure,
    }
  elseif failure then
    say(
      self,
      ("  failed at %s: %s\n  evidence: %s\n  next: %s"):format(
        failure.step,
        failure.reason,
        run.dir,
        failure.next
      )
    )
  else
    say(self, "  done")
  end
end

--- The last words of a session: what was skipped, the comparison, where the report is.
---@param session pairperf.Session
---@param status integer
---@param report table? as written; nil when it could not be
function Progress:closing(session, status, report)
  local without = session.outcome.failed_runs
  if self.mode == "json" then
    json_line {
      event = "session",
      output = session.output,
      exit_status = status,
      failed_or_skipped = without,
      stopped = session.stopped,
    }
    return
  elseif self.mode == "quiet" then
    return
  end
  if session.stopped then
    say(self, "remaining runs skipped: " .. session.stopped)
  end
  if report then
    io.stdout:write(terminal.painted(report_table.render(report), STDOUT), "\n")
    io.stdout:flush()
  end
  local words = "%d of %d runs successful; exit status %d"
  say(self, words:format(self.total - without, self.total, status))
  for _, name in ipairs(report and { "report.md", "report.html" } or {}) do
    say(self, "  " .. format.text(session.output) .. "/" .. name)
  end
  say(self, (report and "  evidence: " or "  no report; evidence: ") .. format.text(session.output))
end

return M
