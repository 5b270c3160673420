#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Applications that fail, at every step, and what is left of them.
# proves: RUN-1 RUN-5 CAN-2 CAN-3 PLAN-3 REP-1 GUARD-1 GUARD-2 GUARD-3 GUARD-6
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

script stubborn <<'APP'
trap '' TERM
while :; do sleep 0.02; done
APP
one stubborn kill --quit-timeout 500ms
point "an application that ignores SIGTERM is ended by SIGKILL and fails" failed_at quit
point "  said so" reason "SIGKILL"
point "  nothing is left" nothing_left

script mayfly <<'APP'
sleep 0.2
APP
quick=(--warmup 2s --duration 200ms)
one mayfly warm_up
point "an application that dies in warm-up fails there" failed_at warmup
point "  with its age and ending" reason "ended by itself after 0.*exit status 0"
quick=(--warmup 0 --duration 2s)
one mayfly sampling
point "an application that dies in sampling fails there" failed_at sampling
point "  what was sampled is kept" test -s "$out/overview/run-01/samples.jsonl"
point "  and parses" evidence_parses
quick=(--warmup 50ms --duration 200ms)

script at_once <<'APP'
exit 4
APP
one at_once exits --ready file:never
point "an application that exits at once fails while awaited" failed_at ready
point "  with its status" reason "exit status 4"

mkdir "$scratch/instance"
script single <<APP
mkdir "$scratch/instance" 2>/dev/null || exit 0 # tells the copy that runs, and leaves
APP
for ready in "" "--ready file:never"; do
    # shellcheck disable=SC2086 # words
    one single "single$ready" $ready
    point "an application that hands over to a running copy fails${ready:+ while awaited}" status_is 1
    point "  with that reason" reason "exit status 0; .*has usually handed over to a copy of itself"
done
point "  one that exits with a status has none" test "$(out=$scratch/out/exits && reason "handed over"; echo $?)" = 1

one app never --ready file:never --ready-timeout 300ms
point "an application that never becomes ready fails" failed_at ready
point "  with the last answer" reason "last answer: no file: ENOENT"

script leaving <<'PROBE'
setsid sh -c 'touch "$0"; exec sleep 30' "$0.left" >/dev/null 2>&1 &
until [ -e "$0.left" ]; do sleep 0.01; done
PROBE
start left --single --baseline "$scratch/app" --repetitions 2 "${quick[@]}" \
    --ready "cmd:$scratch/leaving"
point "a probe that leaves a process running fails the run" failed_at ready
point "  said so" reason "probe 'cmd:.*left running: pid"
point "  and the next run is skipped" in_run 02 skipped
point "  it was what the probe had left" test "$(those_left | cut -d' ' -f3 | xargs -n 1 basename)" = sleep

cat >"$scratch/overview.lua" <<'LUA'
return pairperf.scenario {
  name = "overview",
  summary = "waits for ever",
  ready = function()
    while true do
    end
  end,
}
LUA
out=$scratch/out/endless
"$lua" "$scratch/overview.lua" --output "$out" --authorize-launch --allow-system-launcher-write \
    --single --baseline "$scratch/app" --repetitions 1 "${quick[@]}" --interval 50ms \
    --ready-timeout 300ms >"$scratch/output" 2>&1
point "a script that never says whether it is ready is ended by --ready-timeout" failed_at ready
point "  with the time that it took" reason "was ended after 0.[3-9] s (--ready-timeout 300 ms)"
point "  and nothing is left" nothing_left
one app says_yes --ready "cmd:/usr/bin/test -s ready"
point "a command can tell readiness" status_is 0
one app says_no --ready "cmd:/bin/false" --ready-timeout 300ms
point "a command that never says yes: its last status is named" reason "last answer: exit status 1"
one app says_nothing --ready "cmd:/bin/sleep 60" --ready-timeout 300ms
point "a command that does not end: said so" reason "last answer: still running"
point "  nothing is left" nothing_left

one app refused --ready port:1 --ready-timeout 300ms
point "a closed port is not ready, and the answer says why" reason "last answer: .*ECONNREFUSED"
one app no_http --ready http://127.0.0.1:1/ --ready-timeout 300ms
point "no HTTP server is not ready, and the answer says why" reason "last answer: .*ECONNREFUSED"
demo=$PP_TEST_BUILD_DIR/demo/old/Demo.app/Contents/MacOS/demo
if [ -x "$demo" ]; then
    mkdir "$scratch/server"
    (cd "$scratch/server" && HOME=$PWD exec "$demo") >/dev/null 2>&1 &
    server=$!
    await test -s "$scratch/server/endpoint.url"
    url=$(cat "$scratch/server/endpoint.url")
    port=${url#http://127.0.0.1:}
    one app connects --ready "port:${port%%/*}"
    point "an open port is ready" event ready '"answer":"connected"'
    one app answers --ready "http:$url/models"
    point "an HTTP status of 200 is ready" event ready '"answer":"HTTP status 200"'
    one app not_found --ready "http:$url/nothing" --ready-timeout 300ms
    point "another status is not" reason "last answer: HTTP status 404"
    kill -TERM "$server"
    wait "$server"
else
    skip "an HTTP server that answers" "the demo application is not built"
fi

script daemon <<'APP'
trap 'exit 0' TERM
setsid sleep 60 >/dev/null 2>&1 &
while :; do sleep 0.02; done
APP
start daemon --single --baseline "$scratch/daemon" --repetitions 2 "${quick[@]}" --quit-timeout 500ms
point "an application that leaves a daemon behind fails" failed_at quit
point "  the daemon is listed with pid and start" reason "left running: pid [0-9]* start [0-9]*"
point "  with the advice to check both" reason "check pid and start token"
point "  and every further run is skipped" in_run 02 skipped
point "  all files hold to their schemas" evidence_parses
those_left >"$scratch/daemons"
read -r daemon _ <"$scratch/daemons"
point "  the daemon alone was left, and is the one that is listed" \
    test "$(wc -l <"$scratch/daemons")" -eq 1 -a "$(summary "pid $daemon start"; echo $?)" = 0
point "  as a record in report.json, too" test "$(jq -c '.runs[0].escapees[] | [.pid, .became]' "$out/report.json")" = "[$daemon,\"still_running\"]"
one daemon reaped --quit-timeout 500ms --reap-escapees
point "--reap-escapees ends what left the group" nothing_left

printf '#!/no/interpreter\n' >"$scratch/broken"
chmod +x "$scratch/broken"
one broken broken
point "an application that cannot be executed fails at launch" failed_at launch
point "  with the failing call" reason "execve.*ENOENT"

# The guard, on a path of our own.
guarded=$scratch/guarded
script writes <<'APP'
trap 'exit 0' TERM
echo changed >>"$1"
while :; do sleep 0.02; done
APP
echo original >"$guarded"
start guard --single --baseline "$scratch/writes" --repetitions 2 "${quick[@]}" \
    --guard-path "$guarded" --app-arg "$guarded"
point "a changed guarded path fails the run" failed_at guard
point "  its fields are named" reason "guarded: .*sha256"
point "  every further run is skipped" in_run 02 skipped
point "  nothing was restored" grep -q changed "$guarded"
"$lua" overview --single --baseline "$scratch/app" --output "$scratch/none" --authorize-launch \
    --guard-path "$guarded" >"$scratch/output" 2>&1
status=$?
point "a writable guarded directory is refused" status_is 2
point "  the ways on are printed" said "--allow-system-launcher-write: a write becomes possible"
point "  nothing is created" test ! -e "$scratch/none"
finish
