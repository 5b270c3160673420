# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# For tests/cli: TAP, a scratch directory, small applications, and looks at the evidence. Sourced.
set -u

# shellcheck disable=SC2034 # used by the tests
lua=${PP_TEST_BUILD_DIR:?the build directory}/pairperf-lua
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ppcli.XXXXXX")
export PP_LOCK="pairperf-test-$$"
points=0
failures=0

end() {
    status=$?
    for pid in $(jobs -p) $(left_running); do
        kill -KILL "$pid" 2>/dev/null
    done
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

skip() { # skip NAME REASON
    points=$((points + 1))
    echo "ok $points # SKIP $1: $2"
}

finish() {
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

# Processes that work below the scratch directory: what a session may not leave behind.
left_running() {
    find /proc -maxdepth 2 -path '/proc/[0-9]*/cwd' -lname "$scratch/*" 2>/dev/null | cut -d/ -f3
}

nothing_runs() { [ -z "$(left_running)" ]; }

script() { # script NAME: an executable shell script in the scratch directory, from standard input
    {
        echo '#!/bin/sh'
        cat
    } >"$scratch/$1"
    chmod +x "$scratch/$1"
}

# A well-behaved application: says that it is ready, ends on SIGTERM.
script app <<'APP'
trap 'exit 0' TERM
echo yes >"$HOME/ready"
while :; do sleep 0.02; done
APP

# Sessions of the script applications NAME in the scratch directory; each sets $out and $status.
start() { # start OUT options: a short session
    out=$scratch/out/$1
    shift
    "$lua" overview --output "$out" --authorize-launch --allow-system-launcher-write \
        --interval 50ms --hook-timeout 2s --seed 3 "$@" >"$scratch/output" 2>&1
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
