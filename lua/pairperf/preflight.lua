-- SPDX-License-Identifier: Apache-2.0
--- Everything that can be known before a session creates anything. All findings are collected; a
--- refused one ends a session (exit status 2) and is shown by --dry-run.
local command = require "pairperf.command"
local confining = require "pairperf.confining"
local core = require "pairperf.core"
local diagnostic = require "pairperf.diagnostic"
local errors = require "pairperf.error"
local guarding = require "pairperf.guarding"
local machine = require "pairperf.machine"
local preflight_compare = require "pairperf.preflight_compare"
local preflight_environment = require "pairperf.preflight_environment"
local readiness = require "pairperf.readiness"
local units = require "pairperf.units"
local variants = require "pairperf.variants"

local M = {}

---@class pairperf.Finding
---@field level "refused"|"warning"|"note"
---@field text string one line
---@field lines string[]? below it: ways on, each with what it means, or all that was found

---@class pairperf.Draft
---@field values table option values
---@field parsed pairperf.Options
---@field scenarios table[] effective scenarios, in order
---@field variants table<string, table>
---@field names string[] variants in use
---@field output string absolute
---@field findings pairperf.Finding[]
---@field context_text string? content of --context-file

local function add(draft, level, text, lines)
  draft.findings[#draft.findings + 1] = { level = level, text = tostring(text), lines = lines }
end

local function check_authority(draft)
  if not draft.values["authorize-launch"] then
    add(
      draft,
      "refused",
      "option '--authorize-launch' is missing: without it no application is started "
        .. "(--dry-run shows what would be done)"
    )
  end
end

local function check_system(draft)
  local system = core.process.system()
  if system ~= "Linux" and system ~= "Darwin" then
    add(draft, "refused", ("%s is not supported; macOS and Linux are"):format(system))
  end
end

local function check_variants(draft)
  for _, name in ipairs(draft.names) do
    local source = draft.values["null-control"] and "baseline" or name
    local variant, err = variants.resolve(source, draft.values, core.process.system())
    if variant then
      variant.name = name
    end
    draft.variants[name] = variant
    if not variant then
      add(draft, "refused", errors.text(err))
    end
  end
  if draft.values.single and draft.values.candidate then
    add(draft, "refused", "option '--candidate' has no place beside '--single'")
  end
end

local function parent_of(path)
  return path:match("^(.*)/[^/]+/*$") or "/"
end

local function check_output(draft)
  local entry, err = core.fs.lstat(draft.output)
  if entry then
    add(
      draft,
      "refused",
      ("option '--output': '%s' exists already (as a %s); evidence is never overwritten"):format(
        draft.output,
        entry.type
      )
    )
  elseif err.errno ~= "ENOENT" then
    add(
      draft,
      "refused",
      ("option '--output': '%s' cannot be looked at: %s"):format(draft.output, tostring(err))
    )
  end
  local parent = parent_of(draft.output)
  local above = core.fs.stat(parent ~= "" and parent or "/")
  if not above or above.type ~= "directory" then
    add(
      draft,
      "refused",
      ("option '--output': '%s' is no directory to create it in"):format(parent)
    )
  end
end

local function resolve_command(draft, scenario, field, option)
  local spec = draft.values[option] or scenario[field]
  if spec == nil then
    return nil
  end
  local resolved, err = command.resolve("option '--" .. option .. "'", spec, scenario.source)
  if not resolved then
    add(draft, "refused", errors.text(err))
  end
  return resolved
end

local function resolve_ready(draft, scenario)
  local ready = draft.values.ready or scenario.ready
  if type(ready) ~= "string" then
    return ready
  end
  local parsed, err = readiness.parse(ready, scenario.source)
  if not parsed then
    add(draft, "refused", errors.text(err))
  end
  return parsed
end

local function check_commands(draft)
  for _, scenario in ipairs(draft.scenarios) do
    scenario.pre_sample_hook =
      resolve_command(draft, scenario, "pre_sample_hook", "pre-sample-hook")
    scenario.post_run_check = resolve_command(draft, scenario, "post_run_check", "post-run-check")
    scenario.ready = resolve_ready(draft, scenario)
    if not scenario.ready then
      add(draft, "note", scenario.name .. ": no readiness given; warm-up starts at launch")
    end
    if not scenario.post_run_check then
      add(draft, "note", scenario.name .. ": no check configured; that is not a pass")
    end
  end
  for _, option in ipairs { "pre-sample-hook", "post-run-check" } do
    if draft.values[option] and #draft.scenarios > 1 then
      add(
        draft,
        "warning",
        ("option '--%s' is used for %d labels; each label usually needs its own"):format(
          option,
          #draft.scenarios
        )
      )
    end
  end
end

local REJECTS_NAMED <const> = 1000 -- no terminal is filled without end

-- What a template may not hold, a line each, and how many there are.
local function reject_lines(rejects)
  local lines = {}
  for i = 1, math.min(#rejects, REJECTS_NAMED) do
    lines[i] = ("%s (%s)"):format(rejects[i].path:gsub("%c", "?"), rejects[i].type)
  end
  if #rejects > REJECTS_NAMED then
    lines[#lines + 1] = ("and %d more"):format(#rejects - REJECTS_NAMED)
  end
  return lines
end

local function refuse_template(draft, template, err)
  local option = ("option '--template': '%s'"):format(template)
  local rejects = err.code == "refused" and core.template.rejects(template)
  if rejects and #rejects > 0 then
    local what = #rejects == 1 and "1 entry that is" or ("%d entries that are"):format(#rejects)
    local text = ("%s: %s neither file nor directory"):format(option, what)
    add(draft, "refused", text, reject_lines(rejects))
  else
    add(draft, "refused", ("%s: %s"):format(option, errors.reason(err)))
  end
end

local function check_template(draft)
  local template = draft.values.template
  if not template then
    return
  end
  local checked, err = core.template.check(template)
  draft.template = checked
  if errors.is_cancelled(err) then
    error(err, 0)
  elseif not checked then
    refuse_template(draft, template, err)
  end
end

local function check_dotdir(draft, name)
  if not name:match("^%.[^/]+$") or name == ".." then
    add(
      draft,
      "refused",
      ("option '--link-dotdir': '%s' is not one name that begins with a dot"):format(name)
    )
  else
    local entry = draft.real_home and core.fs.stat(draft.real_home .. "/" .. name)
    if not entry or entry.type ~= "directory" then
      add(
        draft,
        "refused",
        ("option '--link-dotdir': '%s' is no directory in your home"):format(name)
      )
    end
  end
  add(
    draft,
    "note",
    ("'%s' of your real home is exposed to the application and is %s"):format(
      name,
      draft.values.confine and "read-only unless '--writable' names it" or "not read-only"
    )
  )
end

local function check_dotdirs(draft)
  for _, name in ipairs(draft.values["link-dotdir"] or {}) do
    check_dotdir(draft, name)
  end
end

local function check_confinement(draft)
  local problem
  draft.confine, problem = confining.resolve(draft.values)
  if problem then
    add(draft, "refused", problem)
  end
  for _, line in ipairs(draft.confine and confining.lines(draft.confine) or {}) do
    add(draft, "note", line)
  end
end

local function check_guard(draft)
  local confined_to = confining.paths(draft.confine)
  local _, problem = guarding.snapshot(draft.guard_paths)
  if problem then
    add(draft, "refused", "guard: " .. problem)
  end
  for _, path in ipairs(draft.guard_paths) do
    local directory, reason = guarding.writable(path, confined_to)
    local allowed = draft.values["allow-system-launcher-write"]
    if directory then
      add(
        draft,
        allowed and "warning" or "refused",
        ("guard: '%s' can be written by this user%s, so the application could change '%s'"):format(
          directory,
          reason and " (unknown: " .. reason .. ")" or "",
          path
        ),
        not allowed and guarding.WAYS or nil
      )
    end
    draft.launcher_writable = draft.launcher_writable or (directory and path == guarding.LAUNCHER)
  end
  local one, other = draft.variants.baseline, draft.variants.candidate
  if draft.launcher_writable and one and other and one.artifact ~= other.artifact then
    add(
      draft,
      "warning",
      "guard: the variants sit at different paths; an application that writes its own path "
        .. "into the launcher fails every second run"
    )
  end
end

local SOCKET_WARN_BYTES <const> = 40

local function check_socket_room(draft)
  local left, limit = math.huge, nil
  for _, slot in ipairs(draft.runs) do
    local room, most = core.sandbox.socket_room(("%s/%s/home"):format(draft.output, slot.directory))
    left, limit = math.min(left, room), most
  end
  draft.socket_room = { left = left, limit = limit }
  if left < SOCKET_WARN_BYTES then
    local words = left > 0 and "a socket name below TMPDIR has %d of %d bytes left"
      or "no socket can be bound below TMPDIR by its whole path, which is %d bytes too long (of %d)"
    local text = words:format(left > 0 and left or 1 - left, limit)
    add(draft, "warning", text .. "; choose a shorter --output")
  end
end

local FRAME_BYTES <const>, PROCESSES <const> = 700, 10

-- Bytes of evidence, guessed for a tree of ten processes.
local function disk_estimate(draft)
  local per_run = (draft.template and draft.template.bytes or 0)
    + 4 * draft.values["hook-output-cap"] // 16
  local total = 0
  for _, scenario in ipairs(draft.scenarios) do
    local seconds = scenario.warmup_s + scenario.duration_s
    local frames = scenario.duration_s / scenario.interval_s + seconds + 20
    total = total
      + scenario.repetitions * #draft.names * (per_run + frames * PROCESSES * FRAME_BYTES)
  end
  return math.ceil(total)
end

local function check_disk(draft)
  draft.disk_bytes = disk_estimate(draft)
  local free = core.fs.free_bytes(parent_of(draft.output))
  draft.free_bytes = free
  if free and free < draft.disk_bytes then
    add(
      draft,
      "warning",
      ("about %s of evidence may not fit: %s are free"):format(
        units.format_bytes(draft.disk_bytes),
        units.format_bytes(free)
      )
    )
  end
end

local function check_files(draft)
  for _, option in ipairs { "baseline-archive", "candidate-archive" } do
    local path = draft.values[option]
    local entry = path and core.fs.stat(path)
    if path and (not entry or entry.type ~= "file") then
      add(draft, "refused", ("option '--%s': '%s' is no readable file"):format(option, path))
    end
  end
end

local CONTEXT_BYTES <const> = 1 << 20

local function check_context(draft)
  local path = draft.values["context-file"]
  if not path then
    return
  end
  local text, err = core.fs.read(path, CONTEXT_BYTES)
  draft.context_text = text
  if not text then
    local reason = err.code == "nomem" and "longer than 1 MiB" or "no readable file"
    add(draft, "refused", ("option '--context-file': '%s' is %s"):format(path, reason))
  end
end

local function check_environment(draft)
  preflight_environment.examine(draft, function(level, text)
    add(draft, level, text)
  end)
end

local function check_reduced(draft)
  for _, short in ipairs(diagnostic.shortfalls(draft.scenarios)) do
    local whose = short.scenario and ("scenario %s is "):format(short.scenario) or ""
    local text = "%sdiagnostic only: short of the defaults in %s"
    add(draft, "warning", text:format(whose, table.concat(short.reasons, ", ")))
  end
  local lock = os.getenv "PP_LOCK"
  if lock then
    add(draft, "warning", ("PP_LOCK is set: the session lock is '%s' (tests only)"):format(lock))
  end
end

local function check_machine(draft)
  machine.examine(draft, function(level, text)
    add(draft, level, text)
  end)
end

local function check_comparison(draft)
  preflight_compare.examine(draft, function(level, text)
    add(draft, level, text)
  end)
end

local CHECKS = {
  check_variants,
  check_output,
  check_commands,
  check_template,
  check_dotdirs,
  check_files,
  check_context,
  check_environment,
  check_confinement,
  check_guard,
  check_socket_room,
  check_disk,
  check_reduced,
  check_comparison,
  check_machine,
}

--- Whether any finding refuses the session.
---@return boolean
function M.refused(draft)
  for _, finding in ipairs(draft.findings) do
    if finding.level == "refused" then
      return true
    end
  end
  return false
end

--- Runs every check over a draft and collects the findings.
---@param draft pairperf.Draft
function M.examine(draft)
  check_system(draft)
  if M.refused(draft) then
    return -- nothing else can be asked here
  end
  if not draft.values["dry-run"] then
    check_authority(draft)
  end
  for _, check in ipairs(CHECKS) do
    check(draft)
  end
end

--- Texts of all findings of a level.
---@return string[]
function M.texts(draft, level)
  local texts = {}
  for _, finding in ipairs(draft.findings) do
    if finding.level == level then
      texts[#texts + 1] = finding.text
    end
  end
  return texts
end

return M
