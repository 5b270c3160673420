#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Whole sessions of applications that end oddly: stopped members, a core dump, a helper that stays
# and spins, output and escapes without end. What the session then says, and what it costs.
# proves: CAN-2 CAN-3 GRP-4 GRP-12 HOOK-6 TRK-4 PLAN-3 SMP-8
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

reported() { grep -Eq -- "$1" "$out/report.md"; }
verdict_of() { jq -r "select(.kind == \"verdict\") | $1" "$out/overview/run-$run/events.jsonl"; }
runs_of() { # runs_of VARIANT: their directories
    jq -r "select(.variant == \"$1\") | input_filename | sub(\"/summary.json\"; \"\")" "$out"/overview/run-*/summary.json
}
each_run_of() { # each_run_of VARIANT COMMAND...
    local dir
    for dir in $(runs_of "$1"); do in_run "${dir##*-}" "${@:2}" || return 1; done
}

# ---- members that were stopped (SIGSTOP), and so cannot do what SIGTERM asks for
script stops_child <<'APP'
sleep 300 &
kill -STOP $!
trap 'exit 0' TERM
echo yes >"$HOME/ready"
while :; do sleep 0.02; done
APP
script stops_itself <<'APP'
echo yes >"$HOME/ready"
kill -STOP $$
APP
in_frames() { grep '"window":1' "$out/overview/run-$run/samples.jsonl" | grep -q "$1"; }
needed='had to be ended by SIGKILL; still there then: pid [0-9]+ start [0-9]+ [^;]*\(stopped, state T: it could not end by itself\)'
names_who_stopped() { # as the frames knew it
    local pid
    pid=$(jq -r 'select(.window == 1) | .procs[] | select(.phase == "stopped") | .pid' \
        "$out/overview/run-$run/samples.jsonl" | sort -u)
    verdict_of '.outlasted[] | select(.phase == "stopped") | .pid' | grep -qx "$pid" &&
        jq -r .failure.reason "$out/overview/run-$run/summary.json" |
        grep -Eq "^the application: did not end within 500 ms \\(--quit-timeout\\), and ${needed/pid \[0-9]+/pid $pid}"
}
for app in stops_child stops_itself; do
    pair app "$app" "$app" --repetitions 1 --ready file:ready --quit-timeout 500ms
    point "$app: the candidate's runs fail at their end" each_run_of candidate failed_at quit
    point "  since SIGKILL was needed, and for whom" each_run_of candidate names_who_stopped
    point "  and none but theirs" each_run_of baseline succeeded
    point "  the frames tell who was stopped" each_run_of candidate in_frames '"phase":"stopped"'
    point "  all of it is proven gone" each_run_of candidate event verdict '"verdict":"echild"'
    point "  so the session goes on, to status 1" status_is 1
    point "  the report says so" reported "candidate \\|.*failed \\|.*$needed"
    point "  every file parses" evidence_parses
    point "  nothing is left" nothing_left
done

# ---- a helper that left the session and spins: named, and not ended for anybody
ln -s "$PP_TEST_BUILD_DIR/tests/stubs/live_app" "$scratch/live_app"
frames_with() { grep '"window":1' "$out/overview/run-$run/samples.jsonl" | grep -c "\"pid\":$1,"; }
nobody_but_the_application_signalled() { ! event signal '"target":"\(escapee\|cgroup\|children\|group\)"'; }
for adopter in supervisor own; do
    words=(--app-arg spinning_helper --app-arg "$adopter")
    pair live_app live_app "helper_$adopter" --repetitions 2 --ready file:ready --quit-timeout 500ms "${words[@]}"
    those_left >"$scratch/those"
    read -r helper _ <"$scratch/those"
    point "a spinning helper, adopted by ${adopter/own/the application}: the run fails" failed_at quit
    point "  it alone was left, and lives" test "$(wc -l <"$scratch/those")" -eq 1
    point "  it was seen in two frames or more" test "$(frames_with "$helper")" -ge 2
    start=$(verdict_of '.survivors[] | .start')
    point "  the verdict names it" test "$(verdict_of '.survivors[] | .pid')" = "$helper"
    point "  report.md: executable, pid, start token, when it was seen, what was done" reported \
        "live_app \\(pid $helper, start token $start\\), first seen outside [0-9.]+ m?s after launch; it was not signalled and is still running"
    point "  and what to do by hand" reported 'before a left-over is ended by hand: its start token'
    point "  nobody else was signalled" nobody_but_the_application_signalled
    point "  all later runs are skipped" test "$(grep -l '"status":"skipped"' "$out"/overview/run-*/summary.json | wc -l)" -eq 3
    point "  status 1" status_is 1
    point "  every file parses" evidence_parses
done

# ---- the same, declared: named and counted, and no failure
signalled() { jq -r --arg target "$1" 'select(.kind == "signal" and .target == $target) | .pid' "$out/overview/run-$run/events.jsonl"; }
words=(--app-arg spinning_helper --app-arg supervisor --expect-escapee '*/stubs/live_app')
pair live_app live_app declared --repetitions 1 --ready file:ready --quit-timeout 500ms "${words[@]}"
for run in 01 02; do
    helper=$(signalled escapee)
    start=$(verdict_of ".escapees[] | select(.expected and .pid == $helper) | .start") # its parent may be another
    point "a declared helper, run $run: no failure" succeeded
    point "  it is counted" test -n "$start"
    point "  nobody else was signalled outside the group" test "$(wc -w <<<"$helper")" -eq 1
    point "  report.md: executable, pid, start token, when it was seen, what was done" reported \
        "live_app \\(pid $helper, start token $start\\), first seen outside [0-9.]+ m?s after launch, declared by --expect-escapee; it was ended by us as a declared helper"
done
run=01
point "  status 0" status_is 0
point "  every file parses" evidence_parses
point "  nothing is left" nothing_left

# ---- a crash at the end, with a core: CORE_MIB of it
if [ "$(ulimit -Hc)" != unlimited ]; then
    skip "a core dump" "no core of any size may be written here"
else
    words=(--app-arg crash_when_asked --app-arg "${CORE_MIB:-256}")
    one live_app crash --ready file:ready --ready-timeout 180s "${words[@]}"
    crash="signal SIGABRT \(core dumped\) when it was asked to end"
    point "an application that dumps its core when it is asked to end: the run fails" failed_at quit
    point "  with signal and core" reported "$crash"
    point "  it was waited for, and not forced" event verdict '"forced":false.*"core":true.*"verdict":"echild"'
    read -r pattern </proc/sys/kernel/core_pattern
    if [ "${pattern:0:1}" = "|" ]; then
        point "  the handler that took it is named" reported "no core file in its home \(core_pattern: .*\|"
        echo "# core_pattern is a pipe here: that a core file is found was not shown"
    elif [ "${pattern:0:1}" = "/" ]; then
        point "  the place it went to is named" reported "no core file in its home \(core_pattern: /"
    else
        point "  the file is named with its size" reported "$crash; core file in its home: .*, [0-9.]+ [MG]iB"
        size=$(jq -r 'select(.kind == "core_dumped") | .files[0].size_bytes' "$out/overview/run-01/events.jsonl")
        point "  which is that of all that it had touched" test "$((size >> 20))" -ge "${CORE_MIB:-256}"
        echo "# core_pattern is '$pattern' here: a handler that is piped to was not shown"
    fi
    point "  every file parses" evidence_parses
    rm -rf "$out"
fi

# ---- without end: output that nobody keeps, and processes that leave
memory_kib() { awk -v key="$1:" '$1 == key { print $2 }' "/proc/$child/status" 2>/dev/null; }
follow() { # until the application is asked to end; sets $after to the peak
    local seen
    after=
    while seen=$(memory_kib VmHWM) && [ -n "$seen" ]; do
        after=$seen
        ! event quit_requested || return 0
        sleep 0.1
    done
}
grew_by() { [ -n "$before" ] && [ -n "$after" ] && [ "$((after - before))" -le "$1" ]; } # KiB at most
supervisor_kib() { jq 'select(.kind == "verdict") | .own.rss_bytes / 1024 | floor' "$1/events.jsonl"; }
script babble <<'HOOK'
yes "again and again and again and again" &
trap 'kill $!; exit 0' TERM
wait
HOOK
out=$scratch/out/babble
"$lua" overview --output "$out" --authorize-launch --allow-system-launcher-write --single --baseline "$scratch/app" \
    --repetitions 1 --interval 200ms --warmup 300ms --duration 1s --pre-sample-hook "$scratch/babble" >"$scratch/session" 2>&1 &
job=$!
await event window_started 2>/dev/null
child=$(child_of "$job")
before=$(memory_kib VmRSS)
follow
wait "$job"
cp "$scratch/session" "$scratch/output"
mib=$(jq 'select(.kind == "hook_finished") | .output.stdout_bytes / 1048576 | floor' "$out/overview/run-01/events.jsonl")
app_kib=$(supervisor_kib "$out/overview/run-01") hook_kib=$(supervisor_kib "$out/overview/run-01/hook")
echo "# $mib MiB of output; harness $before KiB, at most $after; supervisors: application $app_kib KiB, hook $hook_kib KiB"
point "output without end, $mib MiB: the session goes on to its end" succeeded
point "    and there was plenty of it" test "$mib" -ge 128
point "  the harness does not grow with it" grew_by 8192 # what is read waits for Lua's collector: 1 to 3 MiB
point "  nor does the hook's supervisor" test "$hook_kib" -le "$((app_kib + 2048))"

ln -s "$PP_TEST_BUILD_DIR/tests/stubs/storm" "$scratch/storm"
out=$scratch/out/chains
"$lua" overview --output "$out" --authorize-launch --allow-system-launcher-write --single --baseline "$scratch/storm" \
    --app-arg chains --app-arg 32 --app-arg 20000 --ready file:ready --reap-escapees \
    --repetitions 1 --interval 200ms --warmup 2s --duration 3s >"$scratch/session" 2>&1 &
job=$!
await event warmup_started 2>/dev/null
read -r child </proc/"$(child_of "$job")/task/$(child_of "$job")"/children # the supervisor
await event window_started 2>/dev/null
before=$(memory_kib VmHWM)
follow
wait "$job"
cp "$scratch/session" "$scratch/output"
left=$(verdict_of .escapees_total)
after=${after:-$(supervisor_kib "$out/overview/run-01")} # its own word, where we came too late to look
echo "# $left escapes; supervisor $before KiB after 2 s of them, $after KiB after 3 s more"
point "escapes without end, $left: each is counted" test "$left" -ge 1000
point "  the supervisor does not grow with them" grew_by 4096
point "  and proves the end of all" event verdict '"verdict":"echild"'
point "  nothing is left" nothing_left
finish
