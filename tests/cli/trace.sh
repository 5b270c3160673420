#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The system calls of one supervisor, in order: its leader's exit is observed without reaping, the
# group is listed, signalled, listed again, and only then the leader is reaped and the kernel asked
# whether any child is left.
# proves: GRP-1 GRP-2 GRP-4 GRP-10
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

# The leader ends at once; its child in the group is deaf, so only SIGKILL ends it.
script leaver <<'HOOK'
trap '' TERM
sleep 300 &
exit 0
HOOK

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

# What the hook's supervisor did, one word each: seen (the leader's exit, not reaped), list (of all
# processes), term and kill (of the group), reaped (the leader), childless (the kernel says so).
steps() { # steps LEADER FILE
    awk -v leader="$1" '
        function step(word) { if (word != last) printf "%s ", word; last = word }
        /^getdents64\([0-9]+<\/proc>,/ { step("list") }
        /^pidfd_send_signal\(.*(PROCESS_GROUP|, 0x4)\)/ || index($0, "kill(-" leader ",") {
            if (/SIGTERM/) step("term")
            if (/SIGKILL/) step("kill")
        }
        /^waitid\(.*si_pid=/ && index($0, "si_pid=" leader ",") { step(/WNOWAIT/ ? "seen" : "reaped") }
        /^waitid\(P_ALL.* ECHILD/ { step("childless") }
        /^waitid\(P_ALL|^wait4\(-1/ && !/ ECHILD/ { step("any") }' "$2"
}
ordered() { grep -q "seen .*list .*term .*list .*kill .*list .*reaped .*childless" "$scratch/output"; }
nothing_after_reaping() { ! grep -Eq "reaped .*(term|kill|reaped)" "$scratch/output"; }
nobody_else_waited_for() { ! grep -q "any .*reaped" "$scratch/output"; }
observe() { # observe NAME
    rm -f "$scratch/traced/"*
    one app "$1" --pre-sample-hook "$scratch/leaver"
    local hook=$out/overview/run-01/hook/events.jsonl leader trace
    leader=$(jq -r 'select(.kind == "spawned") | .pid' "$hook")
    trace=$(grep -l "si_pid=$leader," "$scratch/traced/"*)
    steps "$leader" "$trace" >"$scratch/output"
    point "$1: wait without reaping, list, signal, list, reap, no child left: in this order" ordered
    point "  the number is not signalled once it was given up" nothing_after_reaping
    point "  nobody is waited for by 'any child' while the leader is pinned" nobody_else_waited_for
    point "  the verdict rests on it" grep -q '"verdict":"echild"' "$hook"
}

if ! strace -qq -o /dev/null true 2>/dev/null; then
    skip "the calls of a supervisor" "strace is missing, or tracing is not allowed here"
else
    observe newer
    export PP_KERNEL=6.1,no-cgroup
    observe older
fi
finish
