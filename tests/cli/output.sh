#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The output directory belongs to one session: nobody else may read it, nothing in it is written
# through a link, two sessions never share it or the machine.
# proves: CLI-3 REP-2 BOX-6
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

pair app app private --repetitions 1 --pre-sample-hook /bin/true --post-run-check /bin/true \
    --keep-app-output=1KiB
point "a session succeeds" status_is 0
open_to_others() { # directories are 0700, files 0600, but for what the application made in its home
    (cd "$out" && find . -path '*/home/*' -prune -o \( -type d ! -perm 0700 -o -type f ! -perm 0600 \) -print) \
        >"$scratch/output"
    test -s "$scratch/output"
}
none_open() { ! open_to_others; }
point "every directory is 0700, every file 0600" none_open
umask 0
one app unmasked
point "  whatever the umask" none_open
umask 022

# An application that turns against its evidence.
mkdir "$scratch/outside"
outside_is_empty() {
    find "$scratch/outside" -mindepth 1 >"$scratch/output"
    test ! -s "$scratch/output"
}
script next_run <<APP
ln -s "$scratch/outside" "\$HOME/../../run-02"
trap 'exit 0' TERM
while :; do sleep 0.02; done
APP
start planted --single --baseline "$scratch/next_run" --repetitions 2 "${quick[@]}"
point "a link in the place of the next run's directory: status 1" status_is 1
point "  that run failed, by name" said "failed at evidence: mkdir: .*run-02: .*EEXIST"
point "  nothing is written through it" outside_is_empty
script next_directory <<APP
mkdir "\$HOME/../../run-02"
ln -s "$scratch/outside/file" "\$HOME/../../run-02/events.jsonl"
trap 'exit 0' TERM
while :; do sleep 0.02; done
APP
start occupied --single --baseline "$scratch/next_directory" --repetitions 2 "${quick[@]}"
point "a directory of the next run that is there already: status 1" status_is 1
point "  nothing is written through what it holds" outside_is_empty
script check_directory <<APP
ln -s "$scratch/outside" "\$HOME/../check"
trap 'exit 0' TERM
while :; do sleep 0.02; done
APP
one check_directory checked --post-run-check /bin/true
point "a link in the place of the check's directory: status 1" status_is 1
point "  at that step" failed_at post_run_check
point "  nothing is written through it" outside_is_empty
script own_directory <<APP
trap 'exit 0' TERM
mv "$scratch/out/swapped/overview/run-01" "$scratch/out/swapped/overview/moved"
ln -s "$scratch/outside" "$scratch/out/swapped/overview/run-01"
while :; do sleep 0.02; done
APP
one own_directory swapped
point "a run's directory swapped for a link: status 1" status_is 1
point "  evidence fails, by name" said "failed at evidence: .*run-01/.*: .*\(ELOOP\|ENOENT\)" # between the two steps
point "  nothing is written through it" outside_is_empty

# A link above the output is the user's own and is resolved, once.
mkdir "$scratch/real"
ln -s real "$scratch/link"
"$lua" overview --single --baseline "$scratch/app" --output "$scratch/link/out" --authorize-launch \
    --allow-system-launcher-write --repetitions 1 --interval 200ms "${quick[@]}" >"$scratch/output" 2>&1
status=$?
point "an output below a link of the user's works" status_is 0
point "  where it leads" test -s "$scratch/real/out/report.md"
look() {
    "$lua" "$@" >"$scratch/output" 2>&1
    status=$?
}
look report "$scratch/link/out"
point "  report, too" status_is 0
look verify "$scratch/link/out"
point "  and it holds" status_is 0

# Two sessions at once.
"$lua" overview --single --baseline "$scratch/app" --output "$scratch/out/first" --authorize-launch \
    --allow-system-launcher-write --repetitions 1 --interval 50ms --warmup 30s --duration 1s \
    >"$scratch/first" 2>&1 &
job=$!
out=$scratch/out/first
await event warmup_started 2>/dev/null
first=$(child_of "$job")
one app second
started=$(sed 's/.*) //' "/proc/$first/stat" | cut -d ' ' -f 20)
point "a second session is refused while one runs" status_is 2
point "  with the first one's pid and start" said "held by process $first (start $started)"
point "  and creates nothing" test ! -e "$out"
kill -TERM "$first"
wait "$job"

# Twelve at once on one path. Each has a lock of its own, so that only the directory decides
# (B30).
statuses=()
pids=()
for i in {1..12}; do
    PP_LOCK="$PP_LOCK-$i" "$lua" overview --single --baseline "$scratch/app" --output "$scratch/out/shared" \
        --authorize-launch --allow-system-launcher-write --repetitions 1 --interval 50ms "${quick[@]}" \
        --allow-failed 1 >"$scratch/said-$i" 2>&1 &
    pids+=($!)
done
for pid in "${pids[@]}"; do
    wait "$pid"
    statuses+=($?)
done
printf '%s\n' "${statuses[@]}" | sort | uniq -c >"$scratch/output"
count() { printf '%s\n' "${statuses[@]}" | grep -cx "$1"; }
point "of twelve sessions on one path exactly one proceeds" test "$(count 0)" -eq 1
point "  the others refuse" test "$(count 2)" -eq 11
point "  with the path" test "$(grep -l "out/shared" "$scratch"/said-* | wc -l)" -eq 12
look verify "$scratch/out/shared"
point "  and what the one wrote holds" status_is 0
finish
