#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Signals at every stage: controlled end, evidence kept, nothing left running.
# proves: CAN-1 CAN-2 PLAN-3 REP-1
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

begin() { # begin OUT SCRIPT [options]: two runs in the background; sets $pid
    out=$scratch/out/$1
    set -m # a background job ignores SIGINT otherwise, and what is ignored at start stays so
    "$lua" "$2" --single --baseline "$scratch/${app:-app}" --output "$out" --authorize-launch \
        --allow-system-launcher-write --repetitions 2 --interval 50ms "${@:3}" >"$scratch/output" 2>&1 &
    pid=$!
    set +m
}
reached() { event "$1" 2>/dev/null; }
conclude() { # conclude NAME: what holds after every cancellation
    wait "$pid"
    status=$?
    point "$1: status 3" status_is 3
    point "  the cancellation is kept" event cancelled "\"signal\":\"$signal\""
    point "  the other run is skipped" in_run 02 skipped
    point "  every file of the evidence parses" evidence_parses
    point "  nothing is left" nothing_left
}

signal=SIGINT
begin warmup overview --warmup 30s --duration 1s
await reached warmup_started
kill -INT "$pid"
conclude "SIGINT in warm-up"

signal=SIGTERM
begin sampling overview --warmup 0 --duration 30s
await reached window_started
kill -TERM "$pid"
conclude "SIGTERM in sampling"
point "  frames of the cut window are kept" test -s "$out/overview/run-01/samples.jsonl"

signal=SIGHUP
begin hooked overview --warmup 30s --duration 1s --pre-sample-hook "/bin/sh -c 'trap \"exit 0\" TERM; while :; do sleep 0.02; done'"
await reached warmup_started
kill -HUP "$pid"
conclude "SIGHUP beside a load hook"

script slow_end <<'APP'
trap 'sleep 1; exit 0' TERM
while :; do sleep 0.02; done
APP
app=slow_end
begin teardown overview --warmup 0 --duration 200ms
await reached quit_requested
kill -INT "$pid"
sleep 0.1
kill -INT "$pid"
kill -TERM "$pid"
wait "$pid"
status=$?
point "signals in teardown: status 3" status_is 3
point "  they do not shorten it" event verdict '"forced":false'
point "  the run itself succeeded" succeeded
point "  the other run is skipped" in_run 02 skipped
point "  nothing is left" nothing_left
app=app

# Scripts that block or spin.
script_scenario() { # script_scenario NAME LUA
    cat >"$scratch/$1.lua" <<LUA
return pairperf.scenario {
  name = "overview",
  summary = "for tests",
  ready = function(run)
    assert(io.open(run.dir .. "/reached", "w")):close()
    $2
  end,
}
LUA
}
signal=SIGINT
script_scenario spin 'while true do end'
begin spin "$scratch/spin.lua" --warmup 0 --duration 200ms
await test -e "$out/overview/run-01/reached"
kill -INT "$pid"
conclude "SIGINT in a busy loop"
script_scenario execute 'os.execute "sleep 60"'
begin execute "$scratch/execute.lua" --warmup 0 --duration 200ms
await test -e "$out/overview/run-01/reached"
kill -INT "$pid"
conclude "SIGINT in os.execute"
script_scenario popen 'io.popen("sleep 60"):read "a"'
begin popen "$scratch/popen.lua" --warmup 0 --duration 200ms
await test -e "$out/overview/run-01/reached"
kill -INT "$pid"
conclude "SIGINT in io.popen"
script_scenario swallow 'while true do pcall(function() while true do end end) end'
begin swallow "$scratch/swallow.lua" --warmup 0 --duration 200ms
await test -e "$out/overview/run-01/reached"
kill -INT "$pid"
conclude "SIGINT in a script that swallows errors"

# Ignored at start: not a request.
out=$scratch/out/ignored
(
    trap '' HUP
    exec "$lua" overview --single --baseline "$scratch/app" --output "$out" --authorize-launch \
        --allow-system-launcher-write --repetitions 1 --interval 200ms --warmup 500ms --duration 200ms
) >"$scratch/output" 2>&1 &
pid=$!
await reached warmup_started
kill -HUP "$pid"
wait "$pid"
status=$?
point "SIGHUP that was ignored at start changes nothing" status_is 0
# A bundle that takes seconds: nothing on disk, and read as a whole all the same.
mkdir "$scratch/large"
cp "$scratch/app" "$scratch/large/app"
for i in 1 2 3 4; do truncate -s 16G "$scratch/large/hole-$i"; done
hashing() { grep -q "hashing the baseline: [0-9]* of 5 files" "$scratch/output"; }
for signal in INT TERM; do
    set -m
    "$lua" overview --single --baseline "$scratch/large" --executable app --output "$scratch/out/hash-$signal" \
        --authorize-launch --allow-system-launcher-write --repetitions 1 >"$scratch/output" 2>&1 &
    pid=$!
    set +m
    point "progress of a large bundle is told" await hashing
    asked=$(date +%s)
    kill "-$signal" "$pid"
    wait "$pid"
    status=$?
    point "SIG$signal while it is hashed: status 3" status_is 3
    point "  within a moment" test $(($(date +%s) - asked)) -le 3
    point "  nothing was started" test ! -e "$scratch/out/hash-$signal/plan.json"
    point "  and the log says why" grep -q "nothing was started: cancelled.*SIG$signal" "$scratch/out/hash-$signal/session.log"
done
finish
