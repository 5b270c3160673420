-- SPDX-License-Identifier: Apache-2.0
--- The options of A/B sessions (and of --single): the one source of parser, --help and man page.
local MINUTE <const>, DAY <const> = 60, 86400
local MIB <const> = 1 << 20

local groups = {}

local function group(title, entries)
  for _, entry in ipairs(entries) do
    entry.group = title
    groups[#groups + 1] = entry
  end
end

group("What to compare", {
  {
    name = "baseline",
    type = "path",
    value = "PATH",
    help = "baseline: an .app bundle, an unpacked directory (with --executable) or one "
      .. "executable file",
  },
  { name = "candidate", type = "path", value = "PATH", help = "candidate: the same forms" },
  {
    name = "executable",
    type = "path",
    value = "REL",
    help = "program inside an unpacked directory, for both variants",
  },
  {
    name = "baseline-executable",
    type = "path",
    value = "REL",
    help = "program inside the baseline",
  },
  {
    name = "candidate-executable",
    type = "path",
    value = "REL",
    help = "program inside the candidate",
  },
  {
    name = "baseline-archive",
    type = "path",
    value = "FILE",
    help = "archive that the baseline was unpacked from; its SHA-256 is recorded",
  },
  {
    name = "candidate-archive",
    type = "path",
    value = "FILE",
    help = "archive that the candidate was unpacked from",
  },
  { name = "single", type = "flag", help = "run the baseline alone, without a comparison" },
  {
    name = "null-control",
    type = "flag",
    help = "run the baseline as both variants (A/A): what differs then is noise, and "
      .. "noise-floor.json in the output says how much",
  },
})

group("Authority", {
  {
    name = "authorize-launch",
    type = "flag",
    help = "really start the applications; without it nothing is started or created",
  },
  {
    name = "dry-run",
    type = "flag",
    help = "print plan, effective options, total duration, disk estimate and every finding; "
      .. "create nothing",
  },
  {
    name = "allow-system-launcher-write",
    type = "flag",
    help = "go on although the directory of a guarded path is writable; accepts a possible "
      .. "write, confines nothing",
  },
  {
    name = "confine",
    type = "flag",
    help = "the kernel lets the application write only in the run's home and below --writable "
      .. "(Linux, Landlock ABI 3); refused where that cannot be had; --dry-run says what it "
      .. "does not cover",
  },
  {
    name = "writable",
    type = "path",
    value = "PATH",
    repeatable = true,
    help = "with --confine: the application may write below this file or directory too",
  },
  {
    name = "guard-path",
    type = "path",
    value = "PATH",
    repeatable = true,
    help = "compare this path too before and after every run (/usr/local/bin/nvpair always is)",
  },
})

-- What --quick sets: warm-up, window and interval in seconds, and the number of runs.
groups.QUICK = { warmup = 5, duration = 20, interval = 1, repetitions = 5 }

group("Schedule", {
  {
    name = "quick",
    type = "flag",
    help = "warm-up 5 s, sampling 20 s every 1 s and 5 repetitions, unless given: for --screen in "
      .. "pull requests; the session is diagnostic only",
  },
  {
    name = "warmup",
    type = "seconds",
    value = "TIME",
    default = 60,
    min = 0,
    max = DAY,
    help = "warm-up before sampling",
  },
  {
    name = "duration",
    type = "seconds",
    value = "TIME",
    default = 120,
    min = 0.05,
    max = DAY,
    help = "steady sampling",
  },
  {
    name = "interval",
    type = "seconds",
    value = "TIME",
    min = 0.01,
    max = 3600,
    help = "time between frames (default 10 s for tray, else 5 s, unless the scenario says "
      .. "otherwise)",
  },
  {
    name = "repetitions",
    type = "integer",
    value = "N",
    default = 5,
    min = 1,
    max = 10000,
    unit = "runs per variant and scenario",
    help = "runs of each variant under each scenario",
  },
  {
    name = "seed",
    type = "integer",
    value = "N",
    min = 0,
    unit = "an integer from 0 to 2^63-1",
    help = "chooses which variant goes first (default random, recorded)",
  },
  {
    name = "order",
    type = "choice",
    value = "ORDER",
    choices = { "alternate", "abba" },
    default = "alternate",
    help = "order of the variants; abba mirrors every second pair",
  },
  {
    name = "settle",
    type = "seconds",
    value = "TIME",
    default = 0,
    min = 0,
    max = 3600,
    help = "between runs wait until the machine is idle (its CPUs busy to 10 % or less over a "
      .. "second), at most TIME; recorded with each run",
  },
  {
    name = "require",
    type = "text",
    value = "LIST",
    repeatable = true,
    help = "refuse to begin unless each of these holds: idle, ac-power, performance-governor, "
      .. "bare-metal (with commas between); what cannot be known does not hold",
  },
  {
    name = "keep-going",
    type = "flag",
    help = "go on although the first runs of both variants failed at the same step",
  },
  {
    name = "max-failures",
    type = "integer",
    value = "N",
    min = 0,
    unit = "runs",
    help = "skip the rest after more than N failed runs (default no limit)",
  },
})

group("Decision", {
  {
    name = "fail-on",
    type = "text",
    value = "GATE",
    repeatable = true,
    help = "exit with 4 unless METRIC of the candidate worsens by no more than its budget: "
      .. "[SCENARIO/]METRIC:+5%, :+20MiB or :<=LIMIT (pairperf-lua metrics lists the names)",
  },
  {
    name = "screen",
    type = "text",
    value = "SCREEN",
    repeatable = true,
    help = "exit with 4 when even a short session shows that METRIC worsened beyond the budget: "
      .. "[SCENARIO/]METRIC:+5% or :+20MiB; what it does not show is no pass",
  },
  {
    name = "allow-inconclusive",
    type = "flag",
    help = "a gate or screen that stays open does not make the exit status 4",
  },
  {
    name = "noise-floor",
    type = "path",
    value = "FILE",
    help = "noise-floor.json of an A/A session on this machine with the same scenarios and "
      .. "windows: its margins take the place of the starting values",
  },
  {
    name = "primary",
    type = "text",
    value = "METRIC",
    repeatable = true,
    help = "[SCENARIO/]METRIC whose verdict counts, adjusted for their number (default CPU, "
      .. "memory maximum, wakeups or voluntary switches, writes)",
  },
})

group("Application", {
  {
    name = "app-arg",
    type = "text",
    value = "ARG",
    repeatable = true,
    verbatim = true,
    help = "argument for both variants",
  },
  {
    name = "baseline-arg",
    type = "text",
    value = "ARG",
    repeatable = true,
    verbatim = true,
    help = "further argument for the baseline only",
  },
  {
    name = "candidate-arg",
    type = "text",
    value = "ARG",
    repeatable = true,
    verbatim = true,
    help = "further argument for the candidate only",
  },
  {
    name = "env",
    type = "pair",
    value = "KEY=VALUE",
    repeatable = true,
    help = "environment of both variants; recorded",
  },
  {
    name = "baseline-env",
    type = "pair",
    value = "KEY=VALUE",
    repeatable = true,
    help = "environment of the baseline only",
  },
  {
    name = "candidate-env",
    type = "pair",
    value = "KEY=VALUE",
    repeatable = true,
    help = "environment of the candidate only",
  },
  {
    name = "pass-env",
    type = "text",
    value = "KEY",
    repeatable = true,
    help = "pass this variable on; its value is never recorded",
  },
  {
    name = "template",
    type = "path",
    value = "DIR",
    help = "trusted tree copied into each fresh home",
  },
  {
    name = "link-dotdir",
    type = "text",
    value = "NAME",
    repeatable = true,
    help = "link this dot-directory of your real home into each home; exposes it, not read-only",
  },
  {
    name = "keep-app-output",
    type = "bytes",
    value = "SIZE",
    optional_value = "1MiB",
    min = 1,
    max = 1 << 34,
    help = "keep the application's stdout and stderr, up to SIZE each (1MiB when none is given)",
  },
  {
    name = "quit-timeout",
    type = "seconds",
    value = "TIME",
    default = 30,
    min = 0.1,
    max = 3600,
    help = "grace between SIGTERM and SIGKILL for the application",
  },
  {
    name = "expect-escapee",
    type = "text",
    value = "GLOB",
    repeatable = true,
    help = "executable path of a helper that may leave the group and outlive the application",
  },
  {
    name = "reap-escapees",
    type = "flag",
    help = "also end descendants that left the group (Linux)",
  },
})

group("Readiness, load and checks", {
  {
    name = "ready",
    type = "text",
    value = "HOW",
    help = "http:URL, port:N, file:PATH (relative to the run's home, not empty) or cmd:CMD "
      .. "(exit 0)",
  },
  {
    name = "ready-timeout",
    type = "seconds",
    value = "TIME",
    default = MINUTE,
    min = 0.1,
    max = 3600,
    help = "time for becoming ready",
  },
  {
    name = "pre-sample-hook",
    type = "text",
    value = "CMD",
    help = "command started right after launch, ended after sampling; words split as a shell "
      .. "splits quotes, no shell; lua:NAME is a hook of the scenario file, as inference has "
      .. "'lua:chat_loop --base-url URL' for OpenAI-compatible endpoints",
  },
  {
    name = "hook-timeout",
    type = "seconds",
    value = "TIME",
    default = 30,
    min = 0.1,
    max = 3600,
    help = "grace between SIGTERM and SIGKILL for hooks and checks",
  },
  {
    name = "hook-env",
    type = "pair",
    value = "KEY=VALUE",
    repeatable = true,
    help = "environment of hooks and checks only",
  },
  {
    name = "hook-output-cap",
    type = "bytes",
    value = "SIZE",
    default = MIB,
    min = 1,
    max = 1 << 30,
    help = "stdout and stderr kept of each hook and check",
  },
  {
    name = "post-run-check",
    type = "text",
    value = "CMD",
    help = "command run after sampling against the running application; must exit 0",
  },
  {
    name = "post-run-timeout",
    type = "seconds",
    value = "TIME",
    default = 30,
    min = 0.1,
    max = 3600,
    help = "time for the check",
  },
})

group("Evidence", {
  {
    name = "output",
    type = "path",
    value = "DIR",
    help = "new directory for the evidence (default ./pairperf-UTC-SCENARIO); must not exist",
  },
  {
    name = "exclude-component",
    type = "text",
    value = "NAME",
    repeatable = true,
    help = "executable inside the application's tree whose CPU is also reported apart (default "
      .. "on macOS ioreg)",
  },
  {
    name = "context",
    type = "text",
    value = "TEXT",
    help = "what the harness cannot see: topology, tracing mode, engine and model settings, "
      .. "window state",
  },
  { name = "context-file", type = "path", value = "FILE", help = "the same, from a file" },
  {
    name = "allow-failed",
    type = "integer",
    value = "N",
    default = 0,
    min = 0,
    unit = "runs",
    help = "failed or skipped runs that do not make the exit status 1",
  },
  { name = "quiet", type = "flag", help = "print no progress" },
  {
    name = "json-progress",
    type = "flag",
    help = "print progress as JSON lines on standard output",
  },
})

group("General", {
  { name = "help", type = "flag", help = "print this text and start nothing" },
  { name = "version", type = "flag", help = "print version and build and start nothing" },
  { name = "list", type = "flag", help = "list the built-in scenarios and start nothing" },
})

return groups
