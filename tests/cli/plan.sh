#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The plan of A/B sessions and what becomes of it after failures; one session per machine.
# proves: CLI-3 CLI-7 CLI-8 CLI-9 CLI-10 PLAN-2 PLAN-3 PLAN-4 PLAN-6 PROV-3
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

script at_once <<'APP'
exit 4
APP

pair app at_once one_side --repetitions 2 --ready file:ready
point "an ordinary failed run does not stop the plan" in_run 03 succeeded
point "  status 1" status_is 1
pair app at_once allowed --repetitions 1 --ready file:ready --allow-failed 1
point "--allow-failed forgives it" status_is 0
pair at_once at_once both --repetitions 2 --ready file:ready
point "both first runs failing at the same step stop the session" in_run 03 skipped
point "  said so" said "the first runs of both variants failed at the same step, ready (--keep-going"
pair at_once at_once insist --repetitions 2 --ready file:ready --keep-going
point "--keep-going insists" in_run 04 failed_at ready

in_plan() { grep -q -- "$1" "$out/plan.json"; }
pair app app same --repetitions 1
point "the same program twice is a null control" in_plan '"null_control":true'
point "  the seed's first variant is the baseline" in_plan '"first":"baseline"'
pair app app arguments --repetitions 1 --candidate-arg --fast --candidate-env MODE=x
point "differences stand in the plan" in_plan 'arguments: baseline none, candidate --fast'
point "  and make it no null control" in_plan '"null_control":false'
export SECRET=hidden-value
pair app app secret --repetitions 1 --pass-env SECRET
point "the value of --pass-env is recorded nowhere" test -z "$(grep -rl hidden-value "$out")"
point "  its name is" in_plan SECRET

# An artifact that changes while it is measured.
cp "$scratch/app" "$scratch/changing"
script change <<HOOK
trap 'exit 0' TERM
echo '# more' >>"$scratch/changing"
while :; do sleep 0.02; done
HOOK
one changing changing --pre-sample-hook "$scratch/change"
point "an artifact that changed is noted at the end" grep -q '"unchanged":false' "$out/session.json"
point "  and makes the comparison invalid, by what changed" \
    grep -q "^- Invalid comparison: the artifact of baseline (\.: size, sha256) changed" "$out/report.md"

# The surface of the original: all three labels, or those that are named.
labels() {
    out=$scratch/out/$1
    shift
    "$lua" profile --baseline "$scratch/app" --candidate "$scratch/app" --output "$out" --authorize-launch \
        --allow-system-launcher-write --repetitions 1 --interval 200ms "${quick[@]}" "$@" >"$scratch/output" 2>&1
    status=$?
}
labels profile
point "profile runs all three labels" status_is 0
point "  in directories of their own" test -s "$out/tray/run-01/summary.json" -a \
    -s "$out/overview/run-03/summary.json" -a -s "$out/inference/run-06/summary.json"
labels chosen --scenario inference
point "--scenario chooses" test -s "$out/inference/run-01/summary.json" -a ! -e "$out/tray"

# --dry-run
"$lua" profile --baseline "$scratch/app" --candidate "$scratch/app" --output "$scratch/none" --dry-run \
    --allow-system-launcher-write >"$scratch/output" 2>&1
status=$?
point "--dry-run needs no authorization" status_is 0
point "  creates nothing" test ! -e "$scratch/none"
point "  tells the total duration" said "^total: at least 1 h 30 min, ends not before"
point "  the origin of every option" said -- "--interval .*\|--warmup 60 s (default)"
point "  the smallest p of five and five runs" said "5+5 runs: smallest possible p 0.0079"
point "  the tier of this system's totals" said "^counting tier: \(cgroup or conservation\|observed\)$"
point "  the guard's state" said "^guard: /usr/local/bin/nvpair is"
"$lua" overview --baseline "$scratch/app" --output "$scratch/none" --dry-run >"$scratch/output" 2>&1
point "  ends with preflight's status" test $? -eq 2
point "  after every finding" said "'--candidate': is missing"

# One session per machine.
quick=(--warmup 30s --duration 200ms)
one app holder &
holder=$!
await test -s "$scratch/out/holder/plan.json"
one app second
point "a second session is refused while one runs" status_is 2
point "  said so" said "another session runs on this machine"
point "  nothing is created" test ! -e "$scratch/out/second"
kill -TERM "$(pgrep -P "$holder")"
wait "$holder"
quick=(--warmup 50ms --duration 200ms)
one app third
point "the next one runs" status_is 0
finish
