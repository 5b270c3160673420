-- SPDX-License-Identifier: Apache-2.0
--- What every report says about itself, whatever it measured. Each text can be read aloud.
local M = {}

-- Wrapped text as one line.
local function line(text)
  return (text:gsub("%s+", " "):gsub("^ ", ""))
end

--- Wherever isolation is reported.
M.ISOLATION = line [[
    HOME redirection is no file-system or network sandbox enforced by the operating
    system. Use it with trusted applications and hooks only.]]

M.GUARD = line [[
    The guarded paths are looked at before and after every run. Nothing is ever restored
    or deleted, and this is no sandbox: it notices a change of these paths and nothing
    else.]]

--- {id, text}; the ids stay the same from version to version.
M.LIST = {
  {
    "idle-machine",
    line [[
    Measure only on an idle machine that you are authorized to use for this, and not
    while someone uses its desktop.]],
  },
  {
    "fresh-node",
    line [[
    The application runs as a fresh, unclustered node with a home of its own, not with
    the user's profile.]],
  },
  {
    "labels",
    line [[
    Scenario names such as tray, overview and inference are labels. The harness neither
    hides windows nor checks visibility or load; the controller establishes the state.]],
  },
  {
    "no-uninstaller",
    "The harness is no uninstaller and never replaces the installed application.",
  },
  {
    "templates",
    line [[
    Where a template comes from, and whether tracing was consented to, is for the
    controller to know. Put no real cluster credentials or identities into a template.]],
  },
  {
    "link-dotdirs",
    line [[
    A linked dot-directory exposes the real directory to the application and is not
    read-only. Link only trusted state that serves detection; omit links for the
    strongest isolation.]],
  },
  { "engines", "Do not ask the application to install, start, stop, upgrade or change engines." },
  { "unit-tests", "Unit tests of the harness certify no packaged application." },
  {
    "not-atomic",
    line [[
    A frame is no atomic snapshot: processes are read one after another while they run.]],
  },
  {
    "observed-tier",
    line [[
    Figures of the source 'observed' miss processes that were born and ended between two
    frames, children that were reparented before they were seen, and CPU after the last
    look at a process.]],
  },
  {
    "cgroup-tier",
    line [[
    Figures of the source 'cgroup' are what the kernel counted for everything that ran in
    a control group of the run's own, ended processes included. What left the group is not
    in it: one process that did makes the total a partial one.]],
  },
  {
    "conservation-tier",
    line [[
    Figures of the source 'conservation' add what living members used to what ended
    members had used when they were waited for. They are estimates with a stated error,
    and lower bounds where a member ignores SIGCHLD or was seen to discard what a child
    had used. What children used that were discarded and that no frame ever met is
    missing without a word, unless their parent ignores SIGCHLD.]],
  },
  {
    "components",
    line [[
    Components are counted as observed, and times of children that were waited for are
    never added to one. What the tree used and no component was seen using is listed as
    unattributed; it can be slightly negative within the error of the clocks.]],
  },
  {
    "complete",
    line [[
    A complete sum means that every process known at that moment gave its reading, not
    that no other process worked for the application.]],
  },
  {
    "shared-pages",
    line [[
    Summed resident memory and footprint count pages that several processes share more
    than once; proportional memory (PSS) does not. None of them is a total of unique
    pages. A child that still runs in its parent's address space is counted once.]],
  },
  {
    "pss-cadence",
    line [[
    Proportional memory is read on a slower, fixed cadence, equal for all runs; its
    maxima and means cover those passes only.]],
  },
  {
    "switches",
    line [[
    Voluntary context switches are the nearest thing to wakeups on Linux; they are
    neither interrupt nor idle wakeups. Where threads ended the figure is a lower bound:
    what a thread did between its last reading and its end is gone.]],
  },
  {
    "zero-writes",
    line [[
    A delta of zero means that none was observed. It is no promise of absent I/O: writes
    are counted when pages become dirty, and nothing is counted on memory file systems.]],
  },
  {
    "billed-energy",
    line [[
    The kernel's billed energy counter has unvalidated units and attribution. It is
    directional only and is never converted to energy, power or battery time.]],
  },
  {
    "closed-loop",
    line [[
    Request times are those of a lone user: one request in flight, a pause after each.
    Do not compare them with figures of an open arrival stream. A slower build sends
    fewer requests and then uses less CPU per second, so read CPU per request beside
    CPU.]],
  },
  {
    "digests",
    "A content digest is no signature. Keep signature and notarization evidence apart.",
  },
  {
    "sharing",
    line [[
    Review paths and identifiers in this evidence before sharing it. Do not commit
    evidence or seeded state to a repository.]],
  },
  {
    "hook-output",
    line [[
    No credentials, prompts or response texts belong into hook arguments or hook output;
    both are kept.]],
  },
}

--- REP-6. What the harness covers, and what only the controller can add.
M.COVERED = {
  line [[
    identity of the artifacts, the command line, the collector, the machine, power and
    display as far as they could be read]],
  line [[
    warm-up, steady windows, repetitions and the order of runs, with every gap and stall
    of the clock]],
  line [[
    CPU, memory, disk writes and context switches of the owned process tree; no complete
    accounting of exits is claimed beyond the named source of each total]],
  "raw readings, per-run summaries and statistics, failures and skipped runs included",
}

M.CONTROLLER = {
  "the actual state of the window or tray during each scenario",
  "source identity of baseline and candidate",
  "equivalent topology, peers and tracing modes",
  "routing, eligibility, freshness, failover and alias checks",
  "GPU counters",
  "growth of files",
  "model and engine settings",
  "the workload",
  "physical energy",
  "a repetition against the final artifacts after every correction",
}

return M
