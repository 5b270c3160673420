-- SPDX-License-Identifier: Apache-2.0
--- What the sections of the bench share: result lines, the control groups that tell the truth,
--- peers beside the work, frames.
local pairperf = require "pairperf"

local M = {}

local failed = false

--- Prints one line of the table.
---@param row table name, ours, floor, peer, bar as text; ok: boolean, or nil = only told
function M.row(row)
  local word = row.ok == nil and "told" or row.ok and "ok" or "MISS"
  failed = failed or row.ok == false
  print(
    ("%-4s %s: ours %s, floor %s, peer %s, bar %s"):format(
      word,
      row.name,
      row.ours,
      row.floor or "-",
      row.peer or "-",
      row.bar or "none"
    )
  )
end

--- A part that cannot be measured here, and why: said, and no failure of ours.
function M.cannot(name, why)
  print(("----  %s: not measured: %s"):format(name, why))
end

---@return integer exit status of the section
function M.finish()
  return failed and 1 or 0
end

-- ---------------------------------------------------------------- small things

function M.read(path)
  local file = io.open(path)
  if not file then
    return nil
  end
  local text = file:read "a"
  file:close()
  return text
end

---@param list number[]
---@param part number
function M.quantile(list, part)
  local sorted = table.move(list, 1, #list, 1, {})
  table.sort(sorted)
  return sorted[math.min(#sorted, math.floor(part * #sorted) + 1)]
end

function M.median(list)
  return M.quantile(list, 0.5)
end

function M.ms(ns)
  return ns and ("%.3g ms"):format(ns / 1e6) or "unknown"
end

function M.s(ns)
  return ns and ("%.3f s"):format(ns / 1e9) or "unknown"
end

function M.mib(bytes)
  return bytes and ("%.2f MiB"):format(bytes / 1048576) or "unknown"
end

function M.until_true(seconds, condition)
  local last = pairperf.clock.now() + seconds * 1e9
  while pairperf.clock.now() < last do
    local answer = condition()
    if answer then
      return answer
    end
    pairperf.sleep(0.02)
  end
  error("the bench waited in vain", 2)
end

-- ---------------------------------------------------------------- the truth

local function own_place(controller)
  for line in assert(M.read "/proc/self/cgroup"):gmatch "[^\n]+" do
    local names, path = line:match "^%d+:([^:]*):(.*)$"
    if ("," .. names .. ","):find("," .. controller .. ",", 1, true) then
      return path
    end
  end
end

-- The directory of this process in the hierarchy of a version 1 controller.
local function v1_directory(controller)
  for line in assert(M.read "/proc/self/mounts"):gmatch "[^\n]+" do
    local at, kind, options = line:match "^%S+ (%S+) (%S+) (%S+)"
    if kind == "cgroup" and ("," .. options .. ","):find("," .. controller .. ",", 1, true) then
      return at .. (own_place(controller) or "/"):gsub("/$", "")
    end
  end
end

local Truth = {}
Truth.__index = Truth

local count = 0

--- Fresh control groups, in which the work runs; nil and why not.
---@param dir string where the work's start is noted
function M.truth(dir)
  local cpuacct, memory = v1_directory "cpuacct", v1_directory "memory"
  if not cpuacct then
    return nil, "no cpuacct controller (cgroup v1) here"
  end
  count = count + 1
  local name = ("/pairperf-bench-%d-%d"):format(pairperf.process.getpid(), count)
  local self = setmetatable({ cpu = cpuacct .. name, noted = dir .. "/outside" .. count }, Truth)
  local ok, err = pairperf.fs.mkdir_exclusive(self.cpu)
  if not ok then
    return nil, tostring(err)
  end
  self.memory = memory and pairperf.fs.mkdir_exclusive(memory .. name) and memory .. name
  return self
end

--- Words in front of a command so that it runs in the groups.
---@return string[]
function Truth:words(command)
  local words = { M.bin "ppenter", self.noted }
  words[#words + 1] = self.memory or nil
  table.move({ self.cpu, "--" }, 1, 2, #words + 1, words)
  return table.move(command, 1, #command, #words + 1, words)
end

function Truth:started()
  return M.read(self.noted)
end

function Truth:empty()
  return self:started() and M.read(self.cpu .. "/cgroup.procs") == ""
end

--- CPU of everything that ran in it, its start included.
function Truth:cpu_ns()
  return math.tointeger(M.read(self.cpu .. "/cpuacct.usage") + 0)
    + math.tointeger(M.read(self.noted) + 0)
end

--- Anonymous and shared memory charged now.
function Truth:memory_bytes()
  local stat = self.memory and M.read(self.memory .. "/memory.stat")
  if not stat then
    return nil
  end
  local sum = 0
  for name, value in stat:gmatch "(%S+) (%d+)" do
    if name == "rss" or name == "shmem" then
      sum = sum + math.tointeger(value + 0)
    end
  end
  return sum
end

function Truth:remove()
  os.remove(self.cpu)
  if self.memory then
    os.remove(self.memory)
  end
end
Truth.__close = Truth.remove

-- ---------------------------------------------------------------- work and peers

--- Sets where everything is. Called once by each section with its words.
function M.begin(build, work)
  M.build, M.work = build, work
  assert(pairperf.fs.mkdirs(work))
end

function M.bin(name)
  return M.build .. "/bench/bin/" .. name
end

function M.dir(name)
  local dir = M.work .. "/" .. name
  assert(pairperf.fs.mkdirs(dir))
  return dir
end

--- Our own launch of a command; frames go to `output`/samples.jsonl.
---@param command string[]
---@param given {output: string, interval_s: number?, artifact: string?}
function M.launch(command, given)
  local options = { interval_s = given.interval_s or 0.25, keep_output_bytes = 65536 }
  options.artifact, options.output = command[1], M.work .. "/" .. given.output
  options.args = table.move(command, 2, #command, 1, {})
  return assert(pairperf.launch(options))
end

--- Something beside it that is not sampled. Its output is in `dir`/out.
---@param command string[]
---@param dir string
---@param as_launched boolean? in a sandbox and environment like those of `launch`
function M.start(command, dir, as_launched)
  local path = command[1]
  if path:sub(1, 1) ~= "/" then
    path = "/usr/bin/" .. path
  end
  if not pairperf.fs.stat(path) then
    return nil
  end
  local env = { "PATH=/usr/bin:/bin", "LC_ALL=C", "HOME=" .. dir, "TMPDIR=" .. dir }
  local home = dir
  if as_launched then
    home = dir .. "/home"
    assert(pairperf.sandbox.prepare { home = home })
    env = assert(pairperf.sandbox.environment { home = home, set = {}, pass = {}, extra = {} }).env
  end
  return assert(pairperf.child.start({ run_dir = dir }, {
    path = path,
    argv = command,
    env = env,
    cwd = home,
    output = "capture",
    stdout = "out",
    stderr = "err",
    cap_bytes = 64 << 20,
    lifetime_s = 900,
  }))
end

--- Waits for its end by itself (0 seconds: ends it) and answers what it printed.
function M.output_of(child, dir, seconds)
  if seconds > 0 then
    pcall(M.until_true, seconds, function()
      return child:ended()
    end)
  end
  child:stop { first = "leader", grace_s = 2 }
  child:close()
  return M.read(dir .. "/out") or ""
end

--- Waits until a kind of ppwork says ready; answers the rest of that line.
function M.ready(path)
  return M.until_true(60, function()
    return (M.read(path) or ""):match "ready([^\n]*)\n"
  end)
end

function M.launch_ready(command, given)
  local app = M.launch(command, given)
  return app, M.ready(app.dir .. "/app-stdout")
end

-- ---------------------------------------------------------------- frames

--- Every frame of a launched application, in order.
function M.frames(app)
  local list = {}
  for line in io.lines(app.dir .. "/samples.jsonl") do
    list[#list + 1] = assert(pairperf.json.decode(line))
  end
  return list
end

function M.known(value)
  return value ~= nil and value ~= pairperf.json.null
end

--- The time at which a pass began, its listing included.
function M.began_ns(frame)
  return frame.t_ns - (frame.cont_ns - frame.listed_cont_ns)
end

--- CPU of a process on its own and all its threads so far, nanoseconds.
function M.cpu_of(pid)
  local sum = 0
  for _, tid in ipairs(pairperf.fs.list(("/proc/%d/task"):format(pid)) or {}) do
    local text = M.read(("/proc/%d/task/%s/schedstat"):format(pid, tid))
    sum = sum + (text and math.tointeger(text:match "%d+" + 0) or 0)
  end
  return sum
end

--- The supervisor of a launched application.
function M.supervisor_of(app)
  return math.tointeger(M.read(("/proc/%d/stat"):format(app.pid)):match "%) %S (%d+)" + 0)
end

function M.rss_of(pid)
  local text = M.read(("/proc/%d/status"):format(pid))
  return text and math.tointeger(text:match "VmRSS:%s*(%d+)" + 0) * 1024
end

--- "key=value" words as a table of numbers.
function M.figures(text)
  local found = {}
  for key, value in (text or ""):gmatch "([%w_]+)=([%d.eE+-]+)" do
    found[key] = tonumber(value)
  end
  return found
end

return M
