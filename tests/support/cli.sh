# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# For tests/cli: TAP, a scratch directory, small applications, and looks at the evidence. Sourced.
set -u

program=${PP_TEST_BUILD_DIR:?the build directory}/pairperf-lua
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ppcli.XXXXXX")
export PP_LOCK="pairperf-test-$$"
points=0
failures=0

# The program under test runs below a subreaper, which lists what a session leaves behind, wherever
# it went and whatever it calls itself, and ends it. Signals sent to $lua reach the program.
subreaper=$PP_TEST_BUILD_DIR/tests/stubs/subreaper
lua=$scratch/pairperf-lua
mkdir "$scratch/watched"
watch_sessions() {
    rm -f "$lua"
    cat >"$lua" <<LUA
#!/bin/sh
exec "$subreaper" \${AFTERWARDS_MS:+-w} \$AFTERWARDS_MS "$scratch/watched" "$program" "\$@"
LUA
    chmod +x "$lua"
}
watch_sessions

end() {
    status=$?
    for pid in $(jobs -p); do
        kill -USR2 "$pid" 2>/dev/null # a subreaper ends everything below it
    done
    wait
    rm -rf "$scratch"
    [ "$failures" -eq 0 ] || status=1
    exit "$status"
}
trap end EXIT
trap 'exit 1' INT TERM

point() { # point NAME COMMAND...
    local name=$1
    shift
    points=$((points + 1))
    if "$@"; then
        echo "ok $points - $name"
    else
        echo "not ok $points - $name"
        failures=$((failures + 1))
        sed 's/^/# /' "$scratch/output" 2>/dev/null | tail -n 30
    fi
}

# Work beside other work: in_lane N COMMAND... in the background, with scratch directory, lock and
# points of its own; gather N brings its points in afterwards.
in_lane() {
    local shared=$scratch
    scratch=$shared/lane.$1
    mkdir -p "$scratch/out" "$scratch/watched"
    find "$shared" -maxdepth 1 -type f -exec cp -t "$scratch" {} +
    lua=$scratch/pairperf-lua
    watch_sessions
    PP_LOCK="pairperf-test-$$-$1"
    rm -f "$scratch/output"
    "${@:2}" >"$scratch/points"
    touch "$scratch/through"
}
gather() {
    local line
    while read -r line; do
        case $line in
        "ok "* | "not ok "*)
            points=$((points + 1))
            [ "${line%% *}" = ok ] || failures=$((failures + 1))
            line=$(sed -E "s/ok [0-9]+/ok $points/" <<<"$line")
            ;;
        esac
        printf '%s\n' "$line"
    done <"$scratch/lane.$1/points"
    point "lane $1 came to its end" test -e "$scratch/lane.$1/through"
    cp "$scratch/lane.$1/watched/"* "$scratch/watched" 2>/dev/null || true
}

skip() { # skip NAME REASON
    points=$((points + 1))
    echo "ok $points # SKIP $1: $2"
}

finish() {
    point "no session left a process behind" nothing_left
    echo "1..$points"
}

await() { # await COMMAND...: true as soon as it holds, false after some 20 s
    local tries=0
    until "$@"; do
        tries=$((tries + 1))
        [ "$tries" -lt 400 ] || return 1
        sleep 0.05
    done
}

# What sessions left behind since this was asked for by those_left, which takes note of it.
nothing_left() {
    local name
    for name in "$scratch"/watched/*.child; do
        name=${name%.child}
        [ ! -e "$name.child" ] || [ -e "$name.left" ] || kill -0 "${name##*/}" 2>/dev/null ||
            echo "nobody looked after session ${name##*/}"
        [ ! -e "$name.left" ] || sed 's/^/left: /' "$name.left"
    done >"$scratch/left"
    [ ! -s "$scratch/left" ] || { cat "$scratch/left" >>"$scratch/output" && false; }
}
those_left() {
    local name
    for name in "$scratch"/watched/*.left; do
        cat "$name"
        rm -f "$name" "${name%.left}.child"
    done
}
child_of() { cat "$scratch/watched/$1.child" 2>/dev/null; } # child_of JOB: the program itself

script() { # script NAME: an executable shell script in the scratch directory, from standard input
    {
        echo '#!/bin/sh'
        cat
    } >"$scratch/$1"
    chmod +x "$scratch/$1"
}

# A well-behaved application: says that it is ready, ends on SIGTERM with what it had started.
script app <<'APP'
trap 'kill $!; exit 0' TERM
echo yes >"$HOME/ready"
sleep 300 &
wait
APP

# Sessions of the script applications NAME in the scratch directory; each sets $out and $status.
# A gap above two intervals voids a window: on a loaded machine a short one would.
start() { # start OUT options: a short session
    out=$scratch/out/$1
    shift
    "$lua" overview --output "$out" --authorize-launch --allow-system-launcher-write \
        --interval 200ms --hook-timeout 2s --seed 3 "$@" >"$scratch/output" 2>&1
    status=$?
}
quick=(--warmup 50ms --duration 200ms)
one() { # one APP OUT [options]: one run of the baseline alone
    start "$2" --single --baseline "$scratch/$1" --repetitions 1 "${quick[@]}" "${@:3}"
}
pair() { # pair APP APP OUT [options]: both variants
    start "$3" --baseline "$scratch/$1" --candidate "$scratch/$2" "${quick[@]}" "${@:4}"
}
mkdir "$scratch/out"

run=01
in_run() { # in_run NN COMMAND...
    run=$1
    shift
    "$@"
    local answer=$?
    run=01
    return $answer
}
status_is() { [ "$status" -eq "$1" ]; }
said() { grep -q -- "$1" "$scratch/output"; }
event() { grep "\"kind\":\"$1\"" "$out/overview/run-$run/events.jsonl" | grep -q -- "${2:-}"; }
summary() { grep -q -- "$1" "$out/overview/run-$run/summary.json"; }
failed_at() { summary "\"step\":\"$1\"" && summary '"status":"failed"'; }
reason() { summary "\"reason\":.*$1"; }
skipped() { summary '"status":"skipped"'; }
succeeded() { summary '"status":"success"'; }

# Every JSON file below $out parses and holds to the schema that it names; lines of .jsonl each.
cat >"$scratch/parse.lua" <<'LUA'
local schema = require "pairperf.json_schema"
for _, path in ipairs { ... } do
  local text = assert(pairperf.fs.read(path))
  local pattern = path:match "%.jsonl$" and "[^\n]+" or ".+"
  for document in text:gmatch(pattern) do
    local problem = schema.problem(assert(pairperf.json.decode(document)))
    assert(not problem, path .. ": " .. tostring(problem))
  end
end
LUA
# shellcheck disable=SC2034 # used by the tests
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
parses() { "$lua" "$scratch/parse.lua" "$@" >"$scratch/output" 2>&1; }
evidence_parses() {
    local files
    mapfile -d '' files < <(
        find "$out" -name home -prune -o \( -name '*.json' -o -name '*.jsonl' \) -print0
    )
    parses "${files[@]}"
}
