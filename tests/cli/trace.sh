#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The system calls of the supervisors of one run, its hook's and its application's, in order: the
# leader's exit is observed without reaping, the group is listed, signalled, listed again, and only
# then the leader is reaped and the kernel asked whether any child is left.
# proves: GRP-1 GRP-2 GRP-4 GRP-10
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

# The leader ends at once; its child in the group is deaf, so only SIGKILL ends it.
script leaver <<'HOOK'
trap '' TERM
sleep 300 &
exit 0
HOOK

# The same when it is asked to end.
script parent <<'APP'
(trap '' TERM && exec sleep 300) &
trap 'exit 0' TERM
echo yes >"$HOME/ready"
while :; do sleep 0.02; done
APP

# The harness looks for its supervisor beside itself: there is one that is started through strace.
mkdir "$scratch/bin" "$scratch/traced"
cp "$program" "$scratch/bin"
program=$scratch/bin/pairperf-lua
watch_sessions
script bin/pairperf-supervisor <<SUPERVISOR
exec strace -qq -y -o "$scratch/traced/\$\$" -e trace=waitid,wait4,kill,pidfd_send_signal,getdents64 \\
    "$PP_TEST_BUILD_DIR/pairperf-supervisor"
SUPERVISOR

allowed() { strace -qq -o "$scratch/try" true 2>"$scratch/output"; }

# What a supervisor did, one word each: asked (SIGTERM to the leader alone), seen (the leader's exit,
# not reaped), list (of all processes), term and kill (of the group), reaped (the leader), any (child
# waited for), childless (the kernel says so).
steps() { # steps LEADER FILE
    awk -v leader="$1" '
        function step(word) { if (word != last) printf "%s ", word; last = word }
        /^getdents64\([0-9]+<\/proc>,/ { step("list") }
        /^pidfd_send_signal\(.*(PROCESS_GROUP|, 0x4)\)/ || index($0, "kill(-" leader ",") {
            if (/SIGTERM/) step("term")
            if (/SIGKILL/) step("kill")
        }
        /^pidfd_send_signal\(.*SIGTERM, NULL, 0\)/ || index($0, "kill(" leader ", SIGTERM") { step("asked") }
        /^waitid\(.*si_pid=/ && index($0, "si_pid=" leader ",") { step(/WNOWAIT/ ? "seen" : "reaped") }
        /^waitid\(P_ALL.* ECHILD/ { step("childless") }
        /^waitid\(P_ALL|^wait4\(-1/ && !/ ECHILD/ { step("any") }' "$2"
}
# Looks may come again and again, and lists before the end; signals and the reap come once.
readonly LOOKS="((seen|list) )*"
ordered() { # ordered FIRST...: the steps before SIGKILL
    local steps="^(list )*" first
    for first; do steps+="$first $LOOKS"; done
    grep -Eq "${steps}list ${LOOKS}kill ${LOOKS}list ${LOOKS}reaped ((list|any) )*childless $" "$scratch/output"
}
nothing_after_reaping() { ! grep -Eq "reaped .*(asked|term|kill|reaped)" "$scratch/output"; }
nobody_else_waited_for() { ! grep -q "any .*reaped" "$scratch/output"; }
trace_of() { # trace_of NAME EVENTS FIRST...
    local leader trace
    leader=$(jq -r 'select(.kind == "spawned") | .pid' "$2")
    trace=$(grep -l "si_pid=$leader," "$scratch/traced/"*)
    steps "$leader" "$trace" >"$scratch/output"
    echo "# $1: $(<"$scratch/output")"
    point "$1: wait without reaping, list, signal, list, reap, no child left: in this order" ordered "${@:3}"
    point "  the number is not signalled once it was given up" nothing_after_reaping
    point "  nobody is waited for by 'any child' while the leader is pinned" nobody_else_waited_for
    grep '"kind":"verdict"' "$2" >"$scratch/output"
    point "  the verdict rests on it" said '"verdict":"echild"'
}
# Every call of a traced supervisor costs several switches, and on a crowded machine it may be too
# late for its harness, which then does without it: a session like that shows no order.
answered_in_time() {
    local events
    for events in "$out/overview/run-01/hook/events.jsonl" "$out/overview/run-01/events.jsonl"; do
        grep '"kind":"verdict"' "$events" 2>/dev/null | grep -q '"cause":"requested"' || return 1
    done
}
run_reason() { jq -r '.failure.reason // "no reason"' "$out/overview/run-01/summary.json" 2>&1 | head -1; }
observe() { # observe NAME
    local attempt
    for attempt in 1 2 3 4; do
        rm -f "$scratch/traced/"*
        one parent "$1-$attempt" --ready file:ready --quit-timeout 500ms --pre-sample-hook "$scratch/leaver"
        ! answered_in_time || break
        echo "# $1: a supervisor was too slow for its harness, attempt $attempt: $(run_reason)"
    done
    trace_of "$1, a hook whose leader ends first" "$out/overview/run-01/hook/events.jsonl" seen "list" term
    trace_of "$1, an application" "$out/overview/run-01/events.jsonl" asked seen
}

if ! strace -qq -o /dev/null true 2>/dev/null; then
    skip "the calls of a supervisor" "strace is missing, or tracing is not allowed here"
else
    observe newer
    export PP_KERNEL=6.1,no-cgroup
    observe older
fi
finish
