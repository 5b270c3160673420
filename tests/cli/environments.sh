#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Whole sessions where less can be seen or done than root in the first namespaces sees and does: the
# verdicts are right all the same, and what was not possible is said.
# proves: SMP-9 GRP-8 GRP-10 GRP-12 CAN-3 PLAN-3
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

# What a session reads and writes, where another user may.
chmod 711 "$scratch" "$scratch/watched"
install -d -m 755 "$scratch/bin"
install -m 755 "$program" "$PP_TEST_BUILD_DIR/pairperf-supervisor" "$scratch/bin"
install -d -m 777 "$scratch/out"
script leaves <<'APP'
trap 'exit 0' TERM
setsid sleep 60 &
wait
APP
chmod 755 "$scratch"/app "$scratch/leaves"

within() { # within APP OUT WRAPPER...: two runs below these words
    out=$scratch/out/$2
    (cd / && exec "$subreaper" "$scratch/watched" "${@:3}" env HOME=/nonexistent "$scratch/bin/pairperf-lua" overview \
        --single --baseline "$scratch/$1" --output "$out" --authorize-launch \
        --allow-system-launcher-write --interval 200ms --warmup 0 --duration 200ms --repetitions 2 \
        --quit-timeout 500ms) >"$scratch/output" 2>&1
    status=$?
}
lacks() { # lacks: what was tried in vain, as the evidence has it: name, state, consequence
    jq -r 'select(.kind == "capability" and .state != "ok") | [.capability, .state, .consequence] | join("\t")' \
        "$out/overview/run-01/events.jsonl"
}
lacks_are_told() { # each of them stands in the report, with what follows from it
    local name state consequence
    while IFS=$'\t' read -r name state consequence; do
        grep -F "| $name |" "$out/report.md" | grep -F "$state" | grep -qF "$consequence" || return 1
    done < <(lacks)
}
lacks_a_cgroup() { lacks | grep -q '^cgroup_leaf.denied.no cgroup of its own'; }
is_proven() { event verdict '"verdict":"echild"'; }
ended_well() { # the runs' own end; a busy machine may void a window
    is_proven && in_run 02 is_proven && ! grep -q '"step":"quit"' "$out"/overview/run-*/summary.json
}
sessions() { # sessions NAME LEFT WRAPPER...: LEFT: how many outlive the session that leaves a daemon
    local name=$1 left=$2
    shift 2
    if ! "$@" true 2>"$scratch/output"; then
        skip "$name" "not possible here: $(head -n 1 "$scratch/output")"
        return
    fi
    within app "${name// /-}-app" "$@"
    point "$name: the kernel proves that nobody is left" ended_well
    point "  what was not possible is told" lacks_are_told
    point "  every file parses" evidence_parses
    point "  nothing is left" nothing_left
    within leaves "${name// /-}-leaves" "$@"
    point "  a daemon is left running" event verdict '"verdict":"left_running"'
    point "  and listed" reason "left running: pid [0-9]* start [0-9]* .*sleep"
    point "  the next run is skipped" in_run 02 skipped
    point "  status 1" status_is 1
    point "  the daemon and nobody else was left" test "$(those_left | grep -c sleep)" -eq "$left"
}

nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
hiding() { # hiding N WORDS...: for words below a /proc that hides
    # shellcheck disable=SC2016 # for the shell inside
    hidden=(unshare --mount --propagation private sh -c
        'mount -t proc -o "hidepid=$0" proc /proc && exec "$@"' "$1" "${@:2}")
}
if [ "$(id -u)" -ne 0 ]; then
    sessions "as this user" 1 env
    skip "other users and hidden processes" "needs root"
else
    sessions "as nobody" 1 "${nobody[@]}"
    point "  nobody may make a cgroup" lacks_a_cgroup
    for level in 1 2; do
        hiding "$level"
        sessions "hidepid=$level" 1 "${hidden[@]}"
        hiding "$level" "${nobody[@]}"
        sessions "hidepid=$level, as nobody" 1 "${hidden[@]}"
    done
fi
sessions "as PID 1" 0 unshare --pid --fork --mount-proc
sessions "a user namespace" 1 unshare --user --map-root-user
sessions "a user namespace without a map" 1 unshare --user
sessions "SIGCHLD ignored" 1 env --ignore-signal=CHLD
finish
