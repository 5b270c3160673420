#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A full disk is a failed run: what was saved is intact, the application is stopped.
# proves: REP-2 CAN-4
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

mkdir "$scratch/small"
# A mount of its own, gone with the shell that made it; the evidence is copied out before.
cat >"$scratch/inside.sh" <<'INSIDE'
mount -t tmpfs -o "size=$1" none "$2/small" || exit 77
"$3" overview --single --baseline "$2/app" --output "$2/small/out" --authorize-launch --repetitions 1 \
    --allow-system-launcher-write --warmup 0 --duration 500ms --interval 20ms >"$2/output" 2>&1
echo $? >"$2/status"
cp -r "$2/small/out" "$2/out/$1"
INSIDE
inside() { unshare "$1" bash "$scratch/inside.sh" "${@:2}" "$scratch" "$lua" 2>"$scratch/output"; }

failed() { [ "$status" -eq 1 ] || [ "$status" -eq 70 ]; }
nothing_temporary() { test -z "$(find "$out" -name '.tmp-*')"; }
flags=-rm
[ "$(id -u)" -ne 0 ] || flags=-m
inside $flags 40k
if [ $? -eq 77 ] || [ ! -e "$scratch/status" ]; then
    skip "a full disk" "no tmpfs can be mounted here"
else
    out=$scratch/out/40k
    status=$(cat "$scratch/status")
    point "a disk that fills up while sampling is a failed run" status_is 1
    point "  what could not be written is named" said "failed at evidence: write: .*ENOSPC"
    point "  the plan is intact" parses "$out/plan.json"
    point "  there are frames" test -s "$out/overview/run-01/samples.jsonl"
    point "  every file is whole" evidence_parses
    point "  nothing is left" nothing_left
    # Full earlier and later: before there is a plan, at the summary, at the reports.
    for size in 16k 28k 60k 84k 120k 180k; do
        inside $flags $size
        out=$scratch/out/$size
        status=$(cat "$scratch/status")
        point "a disk of $size: status 1 or 70" failed
        point "  the failure is named" said "ENOSPC"
        point "  every file is whole" evidence_parses
        point "  nothing temporary stays" nothing_temporary
    done
fi

# A quota that is used up, a device that goes bad: from one call on all that would change the output
# fail, at five moments of the session.
shim=$PP_TEST_BUILD_DIR/tests/faults/fault_preload.so
failing() { # failing OUT POINT ERRNO
    rm -f "$scratch/state"
    truncate --size=4096 "$scratch/state"
    LD_PRELOAD=$shim PP_FAULT="$2,$3,$scratch/state,$scratch/out/$1" one app "$1"
}
not_torn() { # the last line of each .jsonl file has its end
    local file
    for file in "$out"/overview/run-*/*.jsonl; do
        [ ! -s "$file" ] || [ -z "$(tail -c 1 "$file")" ] || return 1
    done
}
if [ -e "$shim" ]; then
    failing counted 0 EIO
    point "a session whose calls are counted succeeds" status_is 0
    calls=$(od -An -tu4 -N4 "$scratch/state" | tr -d ' ')
    for errno in EDQUOT EIO; do
        for percent in 5 25 45 65 85; do
            failing "$errno-$percent" "$((calls * percent / 100))+" "$errno"
            point "$errno for good, after $percent % of the calls: status 1 or 70" failed
            point "  it is named" said "$errno"
            point "  every file is whole" evidence_parses
            point "  no line is torn" not_torn
            point "  nothing temporary stays" nothing_temporary
            point "  nothing is left" nothing_left
        done
    done
else
    skip "EDQUOT and EIO" "$shim is not built here (Linux, without sanitizers)"
fi
finish
