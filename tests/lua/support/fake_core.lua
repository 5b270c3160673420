-- SPDX-License-Identifier: Apache-2.0
--- A pairperf.core without a system: a clock that moves when supervisors are pumped, files in a
--- table, and commands that behave as `host.commands[path]` says.
local M = {}

local NS = 1000000000

local Error = {}

function Error.__tostring(err)
  return ("%s: %s: %s%s"):format(
    err.op,
    err.detail,
    err.code,
    err.errno and " (" .. err.errno .. ")" or ""
  )
end

local function failure(code, op, detail, errno)
  return nil, setmetatable({ code = code, op = op, detail = detail, errno = errno }, Error)
end

---@class FakeHost
---@field now_ns integer
---@field files table<string, string|table> path -> content, or { type = … }
---@field commands table<string, table> by path: exit_after_s, exit, on_term, escapees, verdict
---@field spawned table[] in order
---@field signal table? { at_s, name }

local function new_host()
  return {
    now_ns = 0,
    files = {},
    commands = {},
    spawned = {},
    supervisors = {},
    texts = {},
    shield = true,
    snapshots = {},
    append_error = nil,
    write_error = nil,
    free_bytes = nil,
    dirs = {},
  }
end

local function json_of(host)
  return {
    null = setmetatable({}, { __name = "null" }),
    array = function(list)
      return list
    end,
    is_array = function()
      return true
    end,
    encode = function(value)
      local text = ("<json %d>"):format(#host.texts + 1)
      host.texts[#host.texts + 1] = value
      return text
    end,
    decode = function(text)
      return host.texts[tonumber(text:match "%d+")]
    end,
  }
end

local function fs_of(host)
  local fs = {}
  function fs.append(path, bytes)
    if host.append_error and path:find(host.append_error, 1, true) then
      return failure("sys", "append", path, "ENOSPC")
    end
    host.files[path] = (host.files[path] or "") .. bytes
    return true
  end
  function fs.write_atomic(path, bytes)
    if host.write_error and path:find(host.write_error, 1, true) then
      return failure("sys", "write", path, "ENOSPC")
    end
    host.files[path] = bytes
    return true
  end
  function fs.mkdirs(path)
    host.files[path] = host.files[path] or { type = "directory" }
    return true
  end
  function fs.mkdir_exclusive(path)
    if host.files[path] then
      return failure("exists", "mkdir", path, "EEXIST")
    end
    return fs.mkdirs(path)
  end
  function fs.stat(path)
    local file = host.files[path]
    if file == nil then
      return failure("sys", "stat", path, "ENOENT")
    elseif type(file) == "table" then
      return { type = file.type, size = 0 }
    end
    return { type = "file", size = #file }
  end
  fs.lstat = fs.stat
  function fs.access_exec(path)
    if host.files[path] == "not executable" then
      return failure("denied", "access", path, "EACCES")
    end
    return true
  end
  function fs.read(path, max_bytes)
    local bytes = host.files[path]
    if type(bytes) ~= "string" then
      return failure("sys", "open", path, bytes and "EISDIR" or "ENOENT")
    elseif max_bytes and #bytes > max_bytes then
      return failure("nomem", "read", path)
    end
    return bytes
  end
  function fs.list(path)
    local names = {}
    for file in pairs(host.files) do
      local below = file:sub(1, #path + 1) == path .. "/" and file:sub(#path + 2)
      names[#names + 1] = below and not below:find "/" and below or nil
    end
    table.sort(names)
    return names
  end
  function fs.getcwd()
    return "/cwd"
  end
  function fs.free_bytes()
    return host.free_bytes or 1 << 40
  end
  function fs.realpath(path)
    return path
  end
  return fs
end

-- ---------------------------------------------------------------- commands

local Supervisor = {}
Supervisor.__index = Supervisor

function Supervisor:spawn(spec)
  self.command = self.host.commands[spec.path]
  if not self.command then
    return failure("sys", "execve", spec.path, "ENOENT")
  end
  if self.command.silent then
    return failure("timeout", "spawn", spec.path)
  end
  self.spec, self.began_ns, self.phase = spec, self.host.now_ns, "running"
  self.pid = 100 + #self.host.spawned
  table.insert(self.host.spawned, self)
  if self.command.on_spawn then
    self.command.on_spawn(self.host, spec)
  end
  return { pid = self.pid, start = "7" }
end

function Supervisor:age_s()
  return (self.host.now_ns - self.began_ns) / NS
end

local function advance(self)
  local command = self.command
  if self.phase == "running" and command.exit_after_s and self:age_s() >= command.exit_after_s then
    self.phase, self.exit = "exited", command.exit or { code = 0 }
    if command.ended_because then -- by its supervisor
      self.phase, self.verdict = "done", { verdict = "echild", cause = command.ended_because }
    end
  end
  if self.window and not self.window.done and self.host.now_ns >= self.window_end_ns then
    self.window.done = true
  end
  if self.stop_at_ns and self.host.now_ns >= self.stop_at_ns then
    self.phase = "done"
  end
end

function Supervisor:sample(window)
  self.window = { id = 1, done = false, frames = 3, missed = 0 }
  self.window_end_ns = self.host.now_ns + window.duration_s * NS
  return true
end

function Supervisor:stop(plan)
  self.stops = (self.stops or 0) + 1
  self.stop_plan = plan
  local command = self.command
  local forced = false
  if not self.exit then
    forced = command.on_term == "ignore"
    self.exit = command.term_exit or (forced and { signal = "SIGKILL" } or { code = 0 })
  end
  local wait_s = forced and plan.grace_s or command.term_s or 0
  self.stop_at_ns = self.host.now_ns + wait_s * NS
  self.verdict = command.verdict or { verdict = "echild" }
  self.verdict.forced = forced or command.forced or false
  self.verdict.leader_exit = self.exit
  self.phase = "stopping"
  return true
end

function Supervisor:state()
  advance(self)
  return {
    phase = self.command and self.command.lost and "lost" or self.phase,
    exit = self.exit,
    window = self.window,
    escapees = self.command and self.command.escapees or 0,
    output = {},
    verdict = self.phase == "done" and self.verdict or nil,
    error = self.command and self.command.error,
  }
end

function Supervisor.members()
  return {}
end
function Supervisor:close()
  self.closed = true
  if self.command and self.command.hangs then
    return failure("timeout", "end", "supervisor 9 hangs")
  end
  return true
end

local function supervisor_of(host)
  return {
    start = function(place)
      local supervisor = setmetatable({ host = host, place = place, phase = "idle" }, Supervisor)
      table.insert(host.supervisors, supervisor)
      return supervisor
    end,
    pump = function(seconds)
      host.now_ns = host.now_ns + math.floor(math.max(seconds, 0.001) * NS)
      return true
    end,
  }
end

local function cancel_of(host)
  return {
    install = function() end,
    watch = function(f)
      host.watch = f
    end,
    shield = function(on)
      host.shield = on
    end,
    requested = function()
      local signal = host.signal
      if signal and host.now_ns >= signal.at_s * NS then
        return { signal = signal.name, count = 1, t_ns = signal.at_s * NS }
      end
    end,
  }
end

local function words_of(text)
  local words = {}
  if select(2, text:gsub("'", "")) % 2 == 1 then
    return failure("invalid", "split", "unbalanced quote")
  end
  for word in text:gmatch "%S+" do
    words[#words + 1] = word
  end
  return words
end

--- A fresh core and its host.
---@return table core
---@return FakeHost host
function M.new()
  local host = new_host()
  local core = {
    json = json_of(host),
    fs = fs_of(host),
    supervisor = supervisor_of(host),
    cancel = cancel_of(host),
    sweep = {
      prepare = function() end,
      run = function(order)
        host.swept = order
        return host.met
          or { { pid = 7, start = 1, unique = 0, pgid = 7, exe = "/left", outcome = "gone" } }
      end,
    },
  }
  core.error = {
    new = function(fields)
      return setmetatable(fields, Error)
    end,
    is = function(value)
      return getmetatable(value) == Error
    end,
  }
  core.clock = {
    now = function()
      return host.now_ns, host.now_ns, host.now_ns
    end,
    utc = function()
      return "2026-01-01T00:00:00Z"
    end,
    compact_utc = function()
      return "20260101T000000Z"
    end,
  }
  core.argv = { split = words_of }
  core.guard = {
    snapshot = function(path)
      local snapshot = host.snapshots[path]
      if snapshot == false then
        return failure("denied", "open", path, "EACCES")
      end
      return snapshot and snapshot(host) or { state = "absent" }
    end,
    differences = function(a, b)
      return a.state == b.state and {} or { "state" }
    end,
    writable = function(_, options)
      local answer = host.launcher_writable or false
      if options then
        host.probed_with = options.confined_to
        answer = host.confined_writable or false
      end
      return { writable = answer, directory = "/usr/local/bin" }
    end,
    confinement = function()
      if host.no_landlock then
        return failure("unsupported", "landlock", "switched off at boot", "EOPNOTSUPP")
      end
      return { abi = host.landlock_abi or 7 }
    end,
  }
  core.sandbox = {
    prepare = function()
      return true
    end,
    environment = function(given)
      local env = {}
      for name, value in pairs(given.extra or {}) do
        env[#env + 1] = name .. "=" .. value
      end
      table.sort(env)
      return { env = env, names = {} }
    end,
    executable = function(path)
      return { path = path, kind = "file" }
    end,
    socket_room = function()
      return 60, 108
    end,
  }
  core.digest = {
    bytes = function(text)
      return M.sha256[text] or ("0"):rep(64)
    end,
    file = function()
      return "00"
    end,
  }
  core.manifest = {
    build = function()
      return { json = "{}", sha256 = "00" }
    end,
  }
  core.template = {
    check = function()
      return failure("refused", "template", "a/b (symlink) and more")
    end,
    rejects = function()
      local list = {}
      for i = 1, host.template_rejects or 1 do
        list[i] = { path = "a/b\n" .. i, type = "symlink" }
      end
      return list
    end,
  }
  core.process = {
    system = function()
      return "Linux"
    end,
    exe_path = function()
      return "/bin/pairperf-lua"
    end,
    is_terminal = function()
      return false
    end,
    getpid = function()
      return 1
    end,
    build = function()
      return { version = "0", id = "x" }
    end,
  }
  core.lock = {
    acquire = function()
      return {
        close = function() end,
        fd = function()
          return 9
        end,
      }
    end,
  }
  return core, host
end

--- Last bytes as SHA-256 really has them (computed with sha256sum).
M.sha256 = { ["1"] = "6b4b", ["2"] = "d435", ["3"] = "4ece", ["20260421"] = "4c71" }

--- Loads modules of pairperf afresh over a fake core.
function M.fresh(...)
  for name in pairs(package.loaded) do
    if name:match "^pairperf" then
      package.loaded[name] = nil
    end
  end
  local core, host = M.new()
  package.loaded["pairperf.core"] = core
  package.loaded["pairperf.embedded"] = {
    names = function()
      return { "scenarios/tray.lua" }
    end,
    get = function() end,
  }
  package.loaded["pairperf.probes"] = {
    static = function()
      return {}
    end,
    around_run = function()
      return {}
    end,
    cpu_ticks = function() end,
  }
  local modules = {}
  for i, name in ipairs { ... } do
    modules[i] = require(name)
  end
  return host, table.unpack(modules)
end

return M
