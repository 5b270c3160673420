#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Harness or supervisor killed at random instants, and a storm of signals: nothing survives, the
# evidence stays whole, and recover completes the report.
#   DEATHS=5 how many instants of each kind, DEATHS_SEED=1 where they come from
# proves: CAN-1 CAN-5 GRP-9 PLAN-3 REP-1 REP-2 CLI-7
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

instants=${DEATHS:-2}
RANDOM=${DEATHS_SEED:-1}
echo "# DEATHS=$instants DEATHS_SEED=${DEATHS_SEED:-1}"

# What is to be ended: a child, a child of a deaf parent, a daemon that left its session.
script gentle <<'APP'
sleep 300 &
trap 'kill $!; exit 0' TERM
while :; do sleep 0.02; done
APP
script deaf <<'APP'
trap '' TERM
(sleep 300) &
while :; do sleep 0.02; done
APP
script daemons <<'APP'
setsid sleep 300 &
trap '' TERM
while :; do sleep 0.02; done
APP

# By what they inherited, not by name: supervisors have our lock in their environment, whatever an
# application started has its home there.
survivors() {
    (
        unset PP_LOCK
        grep -lsF -e "HOME=$scratch/" -e "PP_LOCK=pairperf-test-$$" /proc/[0-9]*/environ | cut -d/ -f3
    )
}
nothing_survives() {
    survivors >"$scratch/output"
    test ! -s "$scratch/output"
}
gone_in_3_s() {
    local tries
    for ((tries = 0; tries < 60; tries++)); do
        nothing_survives && return 0
        sleep 0.05
    done
    return 1
}

begin() { # begin OUT APP [options]: a session of three runs in the background; sets $pid
    out=$scratch/out/$1
    "$lua" overview --single --baseline "$scratch/$2" --output "$out" --authorize-launch \
        --allow-system-launcher-write --repetitions 3 --interval 50ms --warmup "${warmup:-0}" --duration 300ms \
        --quit-timeout 300ms --reap-escapees "${@:3}" >"$scratch/session" 2>&1 &
    pid=$!
}
random_sleep() { # random_sleep SECONDS: up to that
    sleep "$(awk -v n="$RANDOM" -v s="$1" 'BEGIN { print s * n / 32768 }')"
}

# Every frame and event of a supervisor is in the evidence, once or twice, without a gap; and there
# are as many frames as the verdict says were taken.
cat >"$scratch/whole.lua" <<'LUA'
local function read(path, visit)
  local text = pairperf.fs.read(path) or ""
  for line in text:gmatch "([^\n]*)\n" do
    visit(assert(pairperf.json.decode(line), path))
  end
end
for _, dir in ipairs { ... } do
  local seen, frames, highest, own = {}, {}, 0, nil
  local function note(record)
    if record.seq then
      seen[record.seq] = true
      highest = math.max(highest, record.seq)
      own = record.kind == "verdict" and record.own.frames or own
    end
  end
  local function note_frame(record)
    note(record)
    frames[record.seq] = true
  end
  for _, saved in ipairs { "", ".supervisor" } do
    read(("%s/samples%s.jsonl"):format(dir, saved), note_frame)
    read(("%s/events%s.jsonl"):format(dir, saved), note)
  end
  for seq = 1, highest do
    assert(seen[seq], ("%s: record %d is missing of %d"):format(dir, seq, highest))
  end
  local count = 0
  for _ in pairs(frames) do
    count = count + 1
  end
  assert(highest == 0 or own == count, ("%s: %s frames taken, %d kept"):format(dir, own, count))
end
LUA
whole() {
    local runs=("$out"/overview/run-*)
    [ -e "${runs[0]}" ] || return 0
    "$lua" "$scratch/whole.lua" "${runs[@]}" >"$scratch/output" 2>&1
}
summaries() { (cd "$out" && cat /dev/null "$@" | sha256sum); }
reports() { (cd "$out" && find . -name home -prune -o -type f -print0 | sort -z | xargs -0 sha256sum); }
recovers() { "$lua" recover "$out" >"$scratch/output" 2>&1; }
complete() { # no run is pending, one at most was interrupted
    grep -q '"pending":0' "$out/report.json" && [ -s "$out/report.md" ] &&
        [ "$(grep -l '"step":"interrupted"' "$out"/overview/run-*/summary.json | wc -l)" -le 1 ] &&
        [ "$(find "$out/overview" -name summary.json | wc -l)" -eq 3 ]
}
recovered() { # recovered NAME: what recover makes of $out
    local finished before
    finished=$(cd "$out" && find . -name summary.json)
    # shellcheck disable=SC2086 # a list of names
    before=$(summaries $finished)
    point "$1: recover completes it" recovers
    # shellcheck disable=SC2086
    point "  finished runs stay as they were" test "$before" = "$(summaries $finished)"
    point "  no run is open, the report is there" complete
    point "  every file parses" evidence_parses
    reports >"$scratch/first"
    recovers
    reports >"$scratch/second"
    point "  a second time changes nothing" cmp -s "$scratch/first" "$scratch/second"
}

# What recover refuses, and a torn last line.
mkdir "$scratch/empty"
out=$scratch/empty
recovers
status=$?
point "recover: a directory without a plan is refused" status_is 2
warmup=20s
begin alive gentle
warmup=0
await event warmup_started 2>/dev/null
recovers
status=$?
point "recover: refused while the session lives" status_is 2
point "  in words" said "is still there"
point "  nothing is written" test ! -e "$out/session.json"
kill -KILL "$pid"
wait "$pid" 2>/dev/null
await nothing_survives
printf '{"kind":"run_finished","schema":"pairperf-event-1","sta' >>"$out/overview/run-01/events.jsonl"
point "recover: a torn last line does not stop it" recovers
point "  the line is dropped and the file is named" summary '"torn":\["events.jsonl"\]'
point "  the run is interrupted" failed_at interrupted
point "  with what the supervisor saw of the end" reason "the application's end: echild"
point "  the others are skipped" in_run 02 skipped
point "  the report says so" grep -q "session was interrupted" "$out/report.md"
before=$(cat "$out"/overview/run-*/summary.json)
"$lua" report "$out" >"$scratch/output" 2>&1
status=$?
point "  'report' counts the runs as failed and skipped" status_is 1
point "  and computes the same from the evidence" test "$before" = "$(cat "$out"/overview/run-*/summary.json)"

# The harness dies.
for app in gentle deaf daemons; do
    for ((i = 1; i <= instants; i++)); do
        name="harness killed, $app $i"
        begin "harness-$app-$i" "$app"
        random_sleep 2.2
        kill -KILL "$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
        point "$name: nothing survives for 3 s" gone_in_3_s
        if [ -e "$out/plan.json" ]; then
            point "  every file parses" evidence_parses
            point "  no frame and no event is lost" whole
            recovered "  $name"
        else
            skip "$name" "killed before there was a plan"
        fi
    done
done

# The supervisor dies.
kill_supervisor() { # fails while there is none
    local victim
    victim=$(pgrep -P "$pid" -x pairperf-superv | head -n 1)
    [ -n "$victim" ] && kill -KILL "$victim" 2>/dev/null
}
verdicts() { grep -l '"kind":"verdict"' "$out"/overview/run-*/events.jsonl; }
supervisor_lost() { # what holds after each
    status=0
    wait "$pid" || status=$?
    cp "$scratch/session" "$scratch/output"
    if [ "$(verdicts | wc -l)" -eq 3 ]; then
        skip "$1" "it had given its verdict"
        return
    fi
    point "$1: status 1" status_is 1
    point "  nothing survives" gone_in_3_s
    point "  the run failed" grep -q '"status":"failed"' "$out"/overview/run-*/summary.json
    point "  its cleanup is unverified" grep -q '"verdict":"unverified"' "$out"/overview/run-*/summary.json
    point "  the sweep is told" grep -q '"kind":"sweep"' "$out"/overview/run-*/events.jsonl
    point "  later runs are skipped" in_run 03 reason "cleanup unverified"
    point "  every file parses" evidence_parses
}
for app in gentle deaf daemons; do
    for ((i = 1; i <= instants; i++)); do
        begin "supervisor-$app-$i" "$app"
        await pgrep -P "$pid" -x pairperf-superv >/dev/null
        random_sleep 0.6
        await kill_supervisor
        supervisor_lost "supervisor killed, $app $i"
    done
done

# What a script started stays, although it is adopted, too.
cat >"$scratch/other.lua" <<LUA
return pairperf.scenario {
  name = "overview",
  summary = "for tests",
  ready = function(run)
    os.execute("setsid sleep 60 >/dev/null 2>&1 & echo \$! >$scratch/bystander; sleep 0.3")
    return true
  end,
}
LUA
out=$scratch/out/bystander
"$lua" "$scratch/other.lua" --single --baseline "$scratch/daemons" --output "$out" --authorize-launch \
    --allow-system-launcher-write --repetitions 3 --interval 50ms --warmup 0 --duration 30s \
    >"$scratch/session" 2>&1 &
pid=$!
await event window_started 2>/dev/null
bystander=$(cat "$scratch/bystander")
kill_supervisor
wait "$pid"
cp "$scratch/session" "$scratch/output"
point "a sweep leaves alone what a script had started" kill -0 "$bystander"
point "  and ends what the application had" test "$(survivors)" = "$bystander"
point "  and says so" event sweep "\"outcome\":\"stranger\",\"pgid\":$bystander"
kill -KILL "$bystander"

# Fifty signals while the application takes 3 s to end.
script slow <<'APP'
trap 'sleep 3; exit 0' TERM
while :; do sleep 0.02; done
APP
out=$scratch/out/storm
set -m # a background job ignores SIGINT otherwise
"$lua" overview --single --baseline "$scratch/slow" --output "$out" --authorize-launch \
    --allow-system-launcher-write --repetitions 3 --interval 50ms --warmup 0 --duration 30s \
    >"$scratch/session" 2>&1 &
pid=$!
set +m
await event window_started 2>/dev/null
names=(HUP INT TERM)
mkfifo "$scratch/never"
exec {never}<>"$scratch/never" # waiting for it starts no process
first=${names[RANDOM % 3]}
kill -s "$first" "$pid"
for ((i = 1; i < 50; i++)); do
    read -rt 0.038 -u "$never"
    kill -s "${names[RANDOM % 3]}" "$pid" || break
done
point "50 signals: all of them while the session ended" test "$i" -eq 50
status=0
wait "$pid" || status=$?
cp "$scratch/session" "$scratch/output"
point "  status 3" status_is 3
point "  the first one is recorded" event cancelled "\"signal\":\"SIG$first\""
point "  the teardown is whole" event verdict '"verdict":"echild"'
point "  and was not shortened" event verdict '"forced":false'
point "  the others are skipped" in_run 02 skipped
point "  every file parses" evidence_parses
point "  nothing survives" nothing_survives
finish
