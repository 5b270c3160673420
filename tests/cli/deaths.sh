#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Harness or supervisor killed at random instants, and a storm of signals: nothing survives, the
# evidence stays whole, and recover completes the report. Several sessions at a time, in lanes.
#   DEATHS=10 how many instants of each kind, DEATHS_SEED=1 where they come from
# proves: CAN-1 CAN-5 GRP-9 PLAN-3 REP-1 REP-2 CLI-7
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

instants=${DEATHS:-10}
lanes=4
RANDOM=${DEATHS_SEED:-1}
echo "# DEATHS=$instants DEATHS_SEED=${DEATHS_SEED:-1}"

# What is to be ended: a child, a child of a deaf parent, a daemon that left its session.
script gentle <<'APP'
sleep 300 &
trap 'kill $!; exit 0' TERM
wait
APP
script deaf <<'APP'
trap '' TERM
sleep 300 &
wait
APP
script daemons <<'APP'
setsid sleep 300 &
trap '' TERM
wait
APP
apps=(gentle deaf daemons) # one after the other

begin() { # begin OUT APP [options]: a session of three runs in the background; sets $job and $pid
    out=$scratch/out/$1
    "$lua" overview --single --baseline "$scratch/$2" --output "$out" --authorize-launch \
        --allow-system-launcher-write --repetitions 3 --interval 50ms --warmup "${warmup:-0}" --duration 200ms \
        --quit-timeout 200ms --reap-escapees "${@:3}" >"$scratch/session" 2>&1 &
    job=$!
    await child_of "$job" >"$scratch/child"
    pid=$(child_of "$job")
}
ends() { # the session's own end; sets $status
    status=0
    wait "$job" || status=$?
    cp "$scratch/session" "$scratch/output"
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
# Every file of finished runs, and where the report points to them.
finished_runs() { (cd "$out" && find . -mindepth 3 -maxdepth 3 -path './overview/*/summary.json' -printf '%P\n' | sed 's|/[^/]*$||'); }
told() { # told RUN...
    (cd "$out" && for dir in "$@"; do find "$dir" -name home -prune -o -type f -exec sha256sum {} +; done)
}
in_report() { # in_report RUN...
    local row='"| \(.slot) | \(.scenario) | \(.variant) | \(.repetition) | \(.status) |"'
    for dir in "$@"; do
        grep -qF "$(jq -r "$row" "$out/$dir/summary.json")" "$out/report.md" || return 1
    done
}
reports() { told .; }

# ---- lanes: each has a scratch directory, a lock and points of its own
share() { # share N: every piece of work that is for this lane
    local i
    for ((i = $1; i < ${#work[@]}; i += lanes)); do
        # shellcheck disable=SC2086 # words
        ${work[i]}
    done
}
recovers() { "$lua" recover "$out" >"$scratch/output" 2>&1; }
complete() { # no run is pending, one at most was interrupted
    grep -q '"pending":0' "$out/report.json" && [ -s "$out/report.md" ] &&
        [ "$(grep -l '"step":"interrupted"' "$out"/overview/run-*/summary.json | wc -l)" -le 1 ] &&
        [ "$(find "$out/overview" -name summary.json | wc -l)" -eq 3 ]
}
recovered() { # recovered NAME: what recover makes of $out
    local finished
    mapfile -t finished < <(finished_runs)
    told "${finished[@]}" >"$scratch/told"
    point "$1: recover completes it" recovers
    point "  finished runs stay as they were" cmp "$scratch/told" <(told "${finished[@]}")
    point "  and are told of in the report" in_report "${finished[@]}"
    point "  no run is open, the report is there" complete
    point "  every file parses" evidence_parses
    reports >"$scratch/first"
    recovers
    reports >"$scratch/second"
    point "  a second time changes nothing" cmp -s "$scratch/first" "$scratch/second"
}

# What recover refuses, and a torn last line.
recovery() {
    local -x AFTERWARDS_MS=3000
    local warmup=20s
    mkdir "$scratch/empty"
    out=$scratch/empty
    recovers
    status=$?
    point "recover: a directory without a plan is refused" status_is 2
    begin alive gentle
    await event warmup_started 2>/dev/null
    recovers
    status=$?
    point "recover: refused while the session lives" status_is 2
    point "  in words" said "is still there"
    point "  nothing is written" test ! -e "$out/session.json"
    kill -KILL "$pid"
    ends
    printf '{"kind":"run_finished","schema":"pairperf-event-1","sta' >>"$out/overview/run-01/events.jsonl"
    point "recover: a torn last line does not stop it" recovers
    point "  the line is dropped and the file is named" summary '"torn":\["events.jsonl"\]'
    point "  the run is interrupted" failed_at interrupted
    point "  with what the supervisor saw of the end" reason "the application's end: proven, nothing of it is left (echild)"
    point "  the others are skipped" in_run 02 skipped
    point "  the report says so" grep -q "session was interrupted" "$out/report.md"
    local before
    before=$(cat "$out"/overview/run-*/summary.json)
    "$lua" report "$out" >"$scratch/output" 2>&1
    status=$?
    point "  'report' counts the runs as failed and skipped" status_is 1
    point "  and computes the same from the evidence" test "$before" = "$(cat "$out"/overview/run-*/summary.json)"
}

again() { # again WHAT I APP SECONDS: too late; somewhat earlier
    echo "# $*: too late"
    "$1" "$2+" "$3" "$(awk -v s="$4" 'BEGIN { printf "%.3f", s * 0.7 }')"
}

harness_dies() { # harness_dies I APP SECONDS
    local -x AFTERWARDS_MS=3000
    begin "harness-$1" "$2"
    sleep "$3"
    kill -KILL "$pid" 2>/dev/null
    ends
    local name="harness killed, $2 after $3 s"
    if [ "$status" -ne 137 ]; then
        again harness_dies "$@"
        return
    fi
    point "$name: nothing survives for 3 s" nothing_left
    if [ -e "$out/plan.json" ]; then
        point "  every file parses" evidence_parses
        point "  no frame and no event is lost" whole
        recovered "  $name"
    else
        skip "$name" "killed before there was a plan"
    fi
}

find_supervisor() { # without a process of its own: sets $supervisor
    local children child name
    read -ra children <"/proc/$pid/task/$pid/children"
    for child in "${children[@]}"; do
        read -r name <"/proc/$child/comm" && [ "$name" = pairperf-superv ] && supervisor=$child && return
    done
    return 1
} 2>/dev/null
kill_supervisor() { find_supervisor && kill -KILL "$supervisor" 2>/dev/null; }
kill_one_or_none_comes() { kill_supervisor || ! kill -0 "$pid" 2>/dev/null; }
verdicts() { grep -l '"kind":"verdict"' "$out"/overview/run-*/events.jsonl; }
swept() { grep -q '"kind":"sweep"' "$out"/overview/run-*/events.jsonl; }
one_run_started_nothing() { # it is greeted before it is asked to
    [ "$(grep -L '"kind":"spawned"' "$out"/overview/run-*/events.jsonl | wc -l)" -eq 1 ] &&
        grep -q 'recv: the supervisor ended before its verdict' "$out"/overview/run-*/summary.json
}
supervisor_dies() { # supervisor_dies I APP SECONDS
    begin "supervisor-$1" "$2"
    await find_supervisor
    sleep "$3"
    await kill_one_or_none_comes
    ends
    local name="supervisor killed, $2 after $3 s"
    if [ "$(verdicts | wc -l)" -eq 3 ]; then
        again supervisor_dies "$@"
        return
    fi
    point "$name: status 1" status_is 1
    point "  nothing survives" nothing_left
    point "  the run failed" grep -q '"status":"failed"' "$out"/overview/run-*/summary.json
    if said "failed at launch" && ! swept; then
        point "  it had not been asked to start anything" one_run_started_nothing
    else
        point "  its cleanup is unverified" grep -q '"verdict":"unverified"' "$out"/overview/run-*/summary.json
        point "  the sweep is told" swept
        point "  in words, too" grep -q "cleanup unverified: .*ended by the sweep" "$out/report.md"
        point "  later runs are skipped" said "remaining runs skipped: .*cleanup unverified"
    fi
    point "  every file parses" evidence_parses
}

# What a script started stays, although it is adopted, too.
bystander() {
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
    job=$!
    await event window_started 2>/dev/null
    pid=$(child_of "$job")
    kill_supervisor
    ends
    point "a sweep leaves alone what a script had started, and ends what the application had" \
        test "$(those_left | cut -d' ' -f1)" = "$(cat "$scratch/bystander")"
    point "  and says so" event sweep "\"outcome\":\"stranger\",\"pgid\":$(cat "$scratch/bystander")"
    point "  in words, too" grep -q "left alone, as nobody can tell whose they are: pid $(cat "$scratch/bystander") start [0-9]* .*sleep" "$out/report.md"
}

# Fifty signals while the application takes 3 s to end.
signal_storm() {
    script slow <<'APP'
trap 'kill $!; sleep 3; exit 0' TERM
sleep 300 &
wait
APP
    out=$scratch/out/storm
    # A background job ignores SIGINT, and what is ignored at start stays so.
    env --default-signal=INT "$lua" overview --single --baseline "$scratch/slow" --output "$out" \
        --authorize-launch --allow-system-launcher-write --repetitions 3 --interval 50ms --warmup 0 \
        --duration 30s >"$scratch/session" 2>&1 &
    job=$!
    await event window_started 2>/dev/null
    pid=$(child_of "$job")
    local names=(HUP INT TERM) never i
    mkfifo "$scratch/never"
    exec {never}<>"$scratch/never" # waiting for it starts no process
    local first=${names[RANDOM % 3]}
    kill -s "$first" "$pid"
    for ((i = 1; i < 50; i++)); do
        read -rt 0.038 -u "$never"
        kill -s "${names[RANDOM % 3]}" "$pid" || break
    done
    point "50 signals: all of them while the session ended" test "$i" -eq 50
    ends
    point "  status 3" status_is 3
    point "  the first one is recorded" event cancelled "\"signal\":\"SIG$first\""
    point "  the teardown is whole" event verdict '"verdict":"echild"'
    point "  and was not shortened" event verdict '"forced":false'
    point "  the others are skipped" in_run 02 skipped
    point "  every file parses" evidence_parses
    point "  nothing survives" nothing_left
}

# Instants are spread over the time given for the application, each at random within its part.
add_instants() { # add_instants WHAT SECONDS...
    local i
    local seconds=("${@:2}")
    for ((i = 0; i < instants; i++)); do
        work+=("$1 $i ${apps[i % 3]} $(awk -v i="$i" -v n="$instants" -v r="$RANDOM" \
            -v s="${seconds[i % 3]}" 'BEGIN { printf "%.3f", s * (i + r / 32768) / n }')")
    done
}
work=(signal_storm recovery bystander)
add_instants harness_dies 1.1 2 2
add_instants supervisor_dies 0.2 0.5 0.5
for ((i = 0; i < lanes; i++)); do
    in_lane "$i" share "$i" &
done
wait
for ((i = 0; i < lanes; i++)); do
    gather "$i"
done
finish
