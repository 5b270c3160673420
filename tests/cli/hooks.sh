#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Good runs, load hooks and checks of small shell applications.
# proves: CLI-3 RUN-1 HOOK-2 HOOK-3 HOOK-4 HOOK-5 HOOK-6 REP-1 REP-8 API-3
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

one app good --ready file:ready --json-progress
point "a good run ends with status 0" status_is 0
point "  it was ready by the file" event ready '"how":"file:ready"'
point "  no check is said to be configured" event check_not_configured
point "  the whole tree is proven gone" event verdict '"verdict":"echild"'
point "  progress is JSON lines" said '^{"event":"session".*"exit_status":0'
warned=$(jq -r 'select(.event == "warning").text' "$scratch/output")
point "  which begin with each warning of the plan" \
    test "$warned" = "$(jq -r '.warnings[]' "$out/plan.json")" -a -n "$warned"
point "  every file of the evidence parses" evidence_parses
point "  the output directory is private" test "$(stat -c %a "$out")" = 700
point "  the report is there" test -s "$out/report.md"
before=$(find "$out" | sort)
one app good
point "  the same output again is refused" status_is 2
point "  and left alone" test "$before" = "$(find "$out" | sort)"
one app plain
jq -r '.warnings[] | "warning: " + .' "$out/plan.json" >"$scratch/warnings"
point "warnings stand before the first run" \
    cmp "$scratch/warnings" <(sed '/^run 1 of/,$d' "$scratch/output")
one app quiet --quiet
point "--quiet prints nothing" test ! -s "$scratch/output"
"$lua" overview --single --baseline "$scratch/app" --output "$scratch/out/full" --authorize-launch \
    --allow-system-launcher-write --repetitions 1 --interval 200ms "${quick[@]}" >/dev/full 2>/dev/full
status=$?
point "a progress that cannot be written fails nothing" status_is 0

"$lua" overview --single --baseline "$scratch/app" --output "$scratch/out/pipe" --authorize-launch \
    --allow-system-launcher-write --repetitions 1 --interval 200ms "${quick[@]}" --json-progress 2>&1 | head -n 1 \
    >"$scratch/output"
status=${PIPESTATUS[0]}
point "nor does a reader of it that goes away" status_is 0

if command -v script >/dev/null && script --version 2>/dev/null | grep -q util-linux; then
    quick=(--warmup 1s --duration 200ms)
    script -qec "$(printf '%q ' "$lua" overview --single --baseline "$scratch/app" --output "$scratch/out/terminal" \
        --authorize-launch --allow-system-launcher-write --repetitions 1 --interval 200ms "${quick[@]}")" \
        /dev/null >"$scratch/output" </dev/null
    quick=(--warmup 50ms --duration 200ms)
    point "a terminal shows run, phase, time left and live figures" \
        said 'run 1 of 1: overview, baseline: warm-up, 1 s (2 s in all) | [0-9]* processes'
else
    skip "a terminal" "no script program of util-linux here"
fi

script load <<'HOOK'
trap 'exit 0' TERM
env >"$PAIR_PERF_OUTPUT/hook-env"
pwd >"$PAIR_PERF_OUTPUT/hook-pwd"
echo spoken
echo complained >&2
while :; do sleep 0.02; done
HOOK
one app hooked --pre-sample-hook "$scratch/load" --hook-env EXTRA=1 \
    --post-run-check "/bin/sh -c 'echo checked; exit 0'"
first=$out/overview/run-01
point "a run with load hook and check succeeds" status_is 0
point "  hook output is kept" grep -q spoken "$first/hook/stdout"
point "  hook complaints are kept" grep -q complained "$first/hook/stderr"
point "  check output is kept" grep -q checked "$first/check/stdout"
point "  the hook works in the sandbox" grep -q "^$first/home$" "$first/hook-pwd"
for line in "PAIR_PERF_SANDBOX=$first/home$" "PAIR_PERF_OUTPUT=$first$" 'PAIR_PERF_APP_PID=[0-9]' \
    'PAIR_PERF_SCENARIO=overview$' 'EXTRA=1$' "HOME=$first/home$"; do
    point "  the hook sees ${line%%=*}" grep -q "^$line" "$first/hook-env"
done

one app early --pre-sample-hook "/bin/sh -c 'exit 0'"
point "a load hook that ends early with 0 is a success" status_is 0
point "  flagged" event hook_finished '"ended_early":true'
point "  with the time" event hook_finished '"ended_after_s":[0-9]'

output_bytes() { jq "select(.kind == \"hook_finished\") | .output.$1" "$out/overview/run-01/events.jsonl"; }
kept() { stat -c %s "$out/overview/run-01/hook/$1"; }
script loud <<'HOOK'
trap 'exit 0' TERM
head -c 10485760 /dev/zero
head -c 10485760 /dev/zero >&2
echo yes >"$PAIR_PERF_SANDBOX/all-written"
sleep 60 &
wait
HOOK
one app loud --ready file:all-written --hook-output-cap 4KiB --pre-sample-hook "$scratch/loud"
point "10 MiB of hook output on each stream: the hook is not held up" status_is 0
point "  each file holds the cap" test "$(kept stdout) $(kept stderr)" = "4096 4096"
point "  the truncation is told" event hook_finished '"stderr_truncated":true.*"stdout_truncated":true'
point "  and how much there was" test "$(output_bytes stdout_bytes) $(output_bytes stderr_bytes)" = "10485760 10485760"
point "  in words" grep -q "kept stdout of the pre-sample hook is only the beginning of 10485760 bytes" "$out/report.md"

script babble <<'HOOK'
trap 'exit 0' TERM
while :; do echo "again and again and again and again and again and again and again"; done
HOOK
one app babble --pre-sample-hook "$scratch/babble" --hook-output-cap 64KiB
point "output without end: the session ends" status_is 0
point "  the file holds the cap" test "$(kept stdout)" -eq 65536
point "  the hook was never held up" test "$(output_bytes stdout_bytes)" -gt 131072
point "  it ended by our SIGTERM, unforced" event hook_finished '"forced":false.*"verdict":"echild"'

one app failing --pre-sample-hook "/bin/sh -c 'sleep 0.1; exit 3'"
point "a failing hook fails the run" status_is 1
point "  at its step" failed_at pre_sample_hook
point "  with its reason" reason "exit status 3"
point "  and the next command" summary "\"next\":\"less '[^\"]*hook/stderr"
point "  on the terminal too" said "^  next: less .*hook/stderr"

script endless <<'HOOK'
trap '' TERM
while :; do sleep 0.02; done
HOOK
one app endless --pre-sample-hook "$scratch/endless"
point "an endless hook is ended by SIGKILL and fails" failed_at pre_sample_hook
point "  with its reason" reason "within 2 s of SIGTERM and was ended by SIGKILL"
point "  nothing is left" nothing_left

one app untrapped --pre-sample-hook "/bin/sleep 60"
point "a hook that dies by our SIGTERM fails" failed_at pre_sample_hook
point "  with words how to trap it" reason "trap 'exit 0' TERM"

one app orphans --pre-sample-hook "/bin/sh -c 'sleep 30 & exit 3'"
point "what a hook leaves in its group is ended" nothing_left
point "  proven" grep -q '"verdict":"echild"' "$out/overview/run-01/hook/events.jsonl"

script escape <<'HOOK'
trap 'exit 0' TERM
setsid sh -c 'echo held; exec sleep 60' &
while :; do sleep 0.02; done
HOOK
start escape --single --baseline "$scratch/app" --repetitions 2 "${quick[@]}" \
    --pre-sample-hook "$scratch/escape"
point "a hook's process that leaves its group fails the run" failed_at pre_sample_hook
point "  with its reason" reason "left its group or session"
point "  later runs are skipped" in_run 02 skipped
point "  although it holds the output, that is kept and ends" grep -qx held "$out/overview/run-01/hook/stdout"
held=$(those_left)
point "  it is not ended by us, but listed" event hook_finished "\"survivors\":\[{[^]]*\"pid\":${held%% *},"

one app badcheck --post-run-check "/bin/sh -c 'echo no route >&2; exit 9'"
point "a failing check fails the run" failed_at post_run_check
point "  its output is kept" grep -q "no route" "$out/overview/run-01/check/stderr"
one app slowcheck --post-run-timeout 300ms --post-run-check "/bin/sleep 60"
point "a check that does not end fails with its time-out" reason "did not end within 300 ms"
point "  nothing is left" nothing_left
finish
