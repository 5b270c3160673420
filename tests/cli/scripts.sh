#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Scenario and controller scripts outside the tree, and what their errors say.
# proves: CLI-1 CLI-2 CLI-10 HOOK-7 API-1
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

examples=$(cd "$(dirname "$0")/../../scenarios/examples" && pwd)

# ---- the two examples
session() { # session SCRIPT OUT [options]
    out=$scratch/out/$2
    "$lua" "$1" --single --baseline "$scratch/app" --output "$out" --authorize-launch \
        --allow-system-launcher-write --repetitions 1 --interval 200ms --warmup 50ms --duration 300ms \
        "${@:3}" >"$scratch/output" 2>&1
    status=$?
}
session "$examples/busy.lua" busy --calm 200ms
point "a scenario outside the tree runs without recompiling" status_is 0
point "  its label is kept" grep -q '"label":"busy-window"' "$out/plan.json"
point "  its option is kept" grep -q '"calm":{"origin":"option","unit":"s","value":0.2' "$out/plan.json"
point "  its readiness was used" grep -q '"how":"script"' "$out/busy/run-01/events.jsonl"
point "  its Lua hook worked" test -s "$out/busy/run-01/home/work"
point "  and ended by our SIGTERM with 0" grep -q '"ended_early":false,"exit":{"code":0}.*"kind":"hook_finished"' "$out/busy/run-01/events.jsonl"
"$lua" "$examples/busy.lua" --help >"$scratch/output" 2>&1
point "  its option stands in --help" said "--calm TIME\|--calm VALUE"

"$lua" "$examples/one_by_one.lua" "$scratch/app" "$scratch/out/steps" >"$scratch/output" 2>&1
status=$?
point "a controller without --authorize-launch launches nothing" status_is 2
point "  said so" said "launch: needs --authorize-launch"
point "  and creates nothing" test ! -e "$scratch/out/steps"
"$lua" "$examples/one_by_one.lua" "$scratch/app" "$scratch/out/steps" --authorize-launch >"$scratch/output" 2>&1
status=$?
point "a controller goes step by step" status_is 0
for word in "bundle manifest sha256" "launched pid" "frames in the window" "verdict	echild" "guard	unchanged"; do
    point "  $word" said "$word"
done
point "  frames are kept" test -s "$scratch/out/steps/samples.jsonl"

# ---- errors
write() { cat >"$scratch/$1.lua"; }
run_script() {
    "$lua" "$scratch/$1.lua" "${@:2}" >"$scratch/output" 2>&1
    status=$?
}
write typo <<'LUA'
return pairperf.scenario {
  name = "x",
  summary = "y",
  intervall_s = 5,
}
LUA
run_script typo --help
point "a typo in the table names file, line, field and the nearest" \
    said "typo.lua:4: scenario field 'intervall_s' is unknown (did you mean 'interval_s'?)"
point "  status 2" status_is 2
write global <<'LUA'
local a = 1
counter = a
LUA
run_script global
point "a global is an error that names the line" said "global.lua:2: global 'counter' is not allowed"
point "  status 70" status_is 70
write syntax <<'LUA'
local = 3
LUA
run_script syntax
point "a syntax error names the line" said "syntax.lua:1:"
point "  status 2" status_is 2

write fails <<'LUA'
return pairperf.scenario {
  name = "overview",
  summary = "fails while the application runs",
  ready = function(run)
    local nothing
    return nothing.field
  end,
}
LUA
failing() {
    out=$scratch/out/fails
    "$lua" "$scratch/fails.lua" --single --baseline "$scratch/app" --output "$out" --authorize-launch \
        --allow-system-launcher-write --repetitions 2 --interval 200ms --warmup 0 --duration 200ms >"$scratch/output" 2>&1
    status=$?
}
failing
point "a runtime error names the script's line" said "fails.lua:6: attempt to index a nil value"
point "  status 70" status_is 70
point "  the application is stopped and proven gone" event verdict '"verdict":"echild"'
point "  the evidence is closed" event run_finished '"status":"failed"'
point "  every further run is skipped" in_run 02 skipped
point "  a report is there" test -s "$out/report.md"

write leaves <<'LUA'
local app = assert(pairperf.launch { artifact = (...), output = select(2, ...) })
error("half way")
LUA
run_script leaves "$scratch/app" "$scratch/out/leaves" --authorize-launch
point "a controller that fails half way names its line" said "leaves.lua:2: half way"
point "  status 70" status_is 70
point "  its application is stopped" nothing_left
point "  and proven gone" grep -q '"verdict":"echild"' "$scratch/out/leaves/events.jsonl"

write exits <<'LUA'
local guard <close> = setmetatable({}, { __close = function() print "closed" end })
os.exit(7)
LUA
run_script exits
point "os.exit gives its status" status_is 7
point "  through the script's <close> variables" said closed

write commands <<'LUA'
print(os.execute "echo told; exit 3")
print(os.execute "kill -TERM $$")
local stream = io.popen "echo one; echo two; exit 4"
print(stream:read "l", stream:read "l", stream:read "l")
print(stream:close())
for line in io.popen("echo three"):lines() do print(line) end
LUA
run_script commands
point "os.execute prints and gives the status" said "^told$"
point "  the status" said "^nil	exit	3$"
point "  the signal" said "^nil	signal	15$"
point "io.popen reads" said "^one	two	nil$"
point "  gives the status" said "^nil	exit	4$"
point "  and the lines" said "^three$"

write probing <<'LUA'
local captured = require "pairperf.captured"
local limits = { limit_s = 0.3, cap_bytes = 64 }
local result, err = captured.run({ "/bin/sh", "-c", "sleep 300 & sleep 300" }, limits)
print(result, err.code)
print(captured.run({ "/no/such/command" }, limits))
limits.limit_s = 20
print(captured.run({ "/bin/sh", "-c", "echo answer; exit 3" }, limits).stdout)
LUA
run_script probing
point "a probe's command is given up in time" said "^nil	timeout$"
point "  nothing of it is left" nothing_left
point "  one that cannot be started says why" said "^nil	execve: /no/such/command"
point "  and what one prints is read" said "^answer$"

# ---- Lua hooks
write hook <<'LUA'
return function(...)
  print(select("#", ...), ...)
  return 5
end
LUA
run_hook() {
    "$lua" --run-hook "$@" >"$scratch/output" 2>&1
    status=$?
}
run_hook "$scratch/hook.lua" -- a "b c"
point "--run-hook gives the function's integer" status_is 5
point "  and passes arguments" said "^2	a	b c$"
write named <<'LUA'
return { one = function() return 1 end, two = function() while true do end end }
LUA
run_hook "$scratch/named.lua" one
point "--run-hook picks by name" status_is 1
"$lua" --run-hook "$scratch/named.lua" two &
hook=$!
sleep 0.3
kill -TERM "$hook"
wait "$hook"
point "SIGTERM ends a busy Lua hook with 0" test $? -eq 0

# ---- nothing is started
"$lua" --list >"$scratch/output"
point "--list names the built-in scenarios" test "$(grep -c '^inference\|^overview\|^profile\|^tray' "$scratch/output")" -eq 4
"$lua" --version >"$scratch/output"
point "--version tells version and build" said "^pairperf [0-9]"
"$lua" --help >"$scratch/output"
point "--help names --lua-path" said "^Usage: pairperf-lua \[--lua-path DIR\]"
point "--help tells the exit statuses" said "70  an error inside the harness or a script"
point "  and the conditions of use" said "idle machine"
LUA_INIT='error("read")' LUA_PATH=/nowhere "$lua" --list >"$scratch/output" 2>&1
point "LUA_INIT and LUA_PATH are not read" said "^tray$"
finish
