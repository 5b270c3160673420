---@meta pairperf.core.supervisor
-- SPDX-License-Identifier: Apache-2.0

--- One started command under a supervisor process of its own. Requests return at once;
--- `pump` moves what arrived into the evidence files; `state` tells what is known.
---@class pairperf.core.supervisor
local supervisor = {}

---@class pairperf.ProcId
---@field pid integer
---@field start integer Linux: ticks since boot; macOS: microseconds since the epoch
---@field unique integer pidfd inode, 0 where there is none

---@class pairperf.SupervisorPlace
---@field run_dir string existing directory: captured output, and what is saved when we die
---@field samples? string file that frames are appended to
---@field events? string file that events and the verdict are appended to
---@field lock_fd? integer the session lock, kept open until the supervisor ends
---@field exe? string path of pairperf-supervisor; default: beside this program, then installed

--- Starts a supervisor without a command.
---@param place pairperf.SupervisorPlace
---@return pairperf.Supervisor? supervisor
---@return pairperf.Error? err codes: sys, protocol, timeout, closed
---@nodiscard
function supervisor.start(place) end

--- Serves every open supervisor until something arrived or the time passed.
---@param timeout_s number seconds, 0 = only what is there now
---@return true? ok
---@return pairperf.Error? err codes: cancelled (a signal asked, and nothing shields), sys
function supervisor.pump(timeout_s) end

---@class pairperf.Supervisor
local Supervisor = {}

---@class pairperf.SpawnOptions
---@field path string executable, absolute
---@field argv string[] the first is the program's name
---@field env string[] "K=V", the whole environment
---@field cwd string absolute
---@field output? "null"|"capture" default null: discarded
---@field stdout? string file name in run_dir, default "stdout"
---@field stderr? string default "stderr"
---@field cap_bytes? integer per stream, default 1 MiB; what is beyond is read, counted, dropped
---@field track? boolean sample the tree; default false: only supervise it
---@field interval_s? number seconds between tracking frames, default 1, held at 1 at most
---@field expect_escapees? string[] globs on executable paths of declared helpers
---@field reap_escapees? boolean end processes that left the group, too
---@field writable? string[] absolute: it and all that it starts can write below these alone (Linux)
---@field latest_end_s? number when the tree is ended whatever happens, on the clock of clock.now()

--- Starts the command as leader of a new process group.
---@param options pairperf.SpawnOptions
---@return pairperf.ProcId? leader
---@return pairperf.Error? err op and errno name the step that failed in the child
function Supervisor:spawn(options) end

--- Begins a window: boundary frame now, then every interval_s, closing frame at duration_s.
---@param window { duration_s: number, interval_s: number } seconds
---@return true? ok
---@return pairperf.Error? err codes: invalid
function Supervisor:sample(window) end

--- Asks for the end: SIGTERM to the leader alone or to the group, SIGKILL to the group after
--- grace_s, verification, reaping. The verdict comes with `state`.
---@param plan { first: "leader"|"group", grace_s?: number, verify_s?: number } seconds; 30 and 5
---@return true? ok
---@return pairperf.Error? err codes: invalid
function Supervisor:stop(plan) end

---@class pairperf.LiveFigures the latest frame's
---@field processes integer
---@field rss_bytes? integer
---@field cpu_ns? integer
---@field t_ns integer

---@class pairperf.OutputState
---@field stdout_bytes integer
---@field stderr_bytes integer
---@field stdout_truncated boolean
---@field stderr_truncated boolean
---@field failure? string

---@class pairperf.SupervisorState
---@field phase "idle"|"running"|"exited"|"stopping"|"done"|"lost"
---@field leader? pairperf.ProcId
---@field leaf? string directory of the command's own cgroup
---@field exit? { code?: integer, signal?: string, core?: boolean }
---@field window? { id: integer, done: boolean, frames: integer, missed: integer }
---@field live? pairperf.LiveFigures
---@field frames integer received in all
---@field escapees integer processes that ever left the group or session
---@field output pairperf.OutputState
---@field verdict? table the verdict's record, as in events.jsonl
---@field error? pairperf.Error the channel or an evidence file failed

---@return pairperf.SupervisorState
function Supervisor:state() end

--- The processes of the latest frame, as in samples.jsonl.
---@return table[] procs
function Supervisor:members() end

--- Closes the channel; a tree that still runs is ended first (TERM, 1 s, KILL). Also on collection.
---@return true? closed
---@return pairperf.Error? err codes: timeout (the supervisor hangs and stays behind)
function Supervisor:close() end

return supervisor
