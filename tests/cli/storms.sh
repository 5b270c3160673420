#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Applications that shed processes into sessions of their own: 32 chains that hop on for ever, and
# 100 daemons. Ended if that is asked for, else listed, and nothing further is launched.
# proves: CAN-3 PLAN-3 TRK-3 TRK-4 GRP-12 RUN-5
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

app=$PP_TEST_BUILD_DIR/tests/stubs/storm
storm() { # storm OUT "KIND NUMBER" [options]: two runs of an application that sheds so many
    local word arguments=()
    for word in $2; do
        arguments+=(--app-arg "$word")
    done
    start "$1" --single --baseline "$app" "${arguments[@]}" --repetitions 2 --ready file:ready \
        --warmup 0 --duration 200ms --quit-timeout 500ms "${@:3}"
}

# How many times longer than its CPU time something takes here now, in hundredths.
slowness() {
    local TIMEFORMAT='%R %U %S' i
    { time for ((i = 0; i < 100000; i++)); do :; done; } 2>&1 |
        awk '{ busy = $2 + $3; print int(100 * (busy > 0 && $1 > busy ? $1 / busy : 1)) }'
}
# Milliseconds from the first signal to an escapee, or to the cgroup that holds them, to the verdict.
sweep_ms() {
    jq -s '([.[] | select(.kind == "signal" and (.target == "escapee" or .target == "cgroup")) | .t_ns] | min) as $from
        | (([.[] | select(.kind == "verdict") | .t_ns] | min) - $from) / 1e6 | ceil' \
        "$out/overview/run-$run/events.jsonl"
}
swept_in_time() {
    local ms slow
    ms=$(sweep_ms)
    slow=$(slowness)
    echo "# $out: $ms ms, slowness $slow / 100"
    [ "$((ms * 100))" -le "$((1000 * slow))" ]
}
as_the_runs() { # a busy machine may void a window: then the run has failed, but not at its end
    local failed
    failed=$(grep -l '"status":"failed"' "$out"/overview/run-*/summary.json | wc -l)
    status_is $((failed > 0)) && ! grep -q '"step":"quit"' "$out"/overview/run-*/summary.json
}
all_ended() { # all_ended NAME: with --reap-escapees
    point "$1, to be ended: that is no failure" as_the_runs
    for run in 01 02; do
        point "  run $run: the kernel proves that nobody is left" event verdict '"verdict":"echild"'
        point "  they were signalled" event verdict '"escapees_killed":true'
        point "  within a second" swept_in_time
    done
    run=01
    point "  every file parses" evidence_parses
    point "  nothing is left" nothing_left
}
not() { ! "$@"; }
all_left() { # all_left NAME KIND: without it
    point "$1, not to be ended: the run fails" failed_at quit
    point "  status 1" status_is 1
    point "  the verdict says so" event verdict '"verdict":"left_running"'
    point "  nobody outside the group was signalled" not event signal ".target.:.\(escapee\|cgroup\)."
    point "  later runs are skipped" in_run 02 skipped
    point "  report.md names them" grep -q "left running: pid [0-9]* start [0-9]* $app.*check pid and start token" "$out/report.md"
    point "  report.json, too" grep -q "left running: pid [0-9]* start [0-9]* $app" "$out/report.json"
    point "  every file parses" evidence_parses
}
all_named() { # all_named N: every one of those left is a survivor by pid and start token
    cut -d' ' -f1 "$scratch/those" | sort >"$scratch/pids"
    jq -r 'select(.kind == "verdict") | .survivors[] | select(.start > 0) | .pid' \
        "$out/overview/run-01/events.jsonl" | sort | cmp - "$scratch/pids" && [ "$(wc -l <"$scratch/pids")" -eq "$1" ]
}

storm daemons_ended 'daemons 100' --reap-escapees
all_ended "100 daemons"
storm daemons_left 'daemons 100'
all_left "100 daemons"
those_left >"$scratch/those"
point "  all of them were left, and are listed by pid and start token" all_named 100
point "  what became of one that was seen to leave is told" grep -q "$app (pid [0-9]*, start token [0-9]*).*; it was not signalled and is still running" "$out/report.md"
point "  how many there were is told" grep -q "[1-9][0-9]* processes left the application's group or session in all" "$out/report.md"

storm chains_ended 'chains 32 100000' --reap-escapees
all_ended "32 chains"
export PP_KERNEL=6.1,no-cgroup
storm chains_swept 'chains 32 100000' --reap-escapees
all_ended "32 chains, one by one"
unset PP_KERNEL
storm chains_left 'chains 32 100000'
all_left "32 chains"
point "  they went on" test "$(those_left | wc -l)" -ge 32
finish
