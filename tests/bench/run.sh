#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Measures what measuring costs and how exact it is, beside the peers and the bare system calls.
#   tests/bench/run.sh [BUILD [SECTION...]]      default: build/release, every section
# Sections: teardown cpu memory cost cadence chromium stalled hash statistics report. Each script has
# 5 minutes (hash: 10) and is a miss after that. LONG=1: escape churn for 10 minutes. AA=N: so many real A/A
# sessions of the demonstration, 20 s each (default 20).
# Each line: ok|MISS|told NAME: ours, floor, peer, bar. All sections run; exit 1 when a bar is missed.
# Run as root: control groups tell the truth. Evidence stays in BUILD/bench/UTC/.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
build=$(cd "${1-build/release}" && pwd) || exit 1
shift || :
here=tests/bench
kept=$build/bench/$(date -u +%Y%m%dT%H%M%SZ)
work=$(mktemp -d /tmp/ppb.XXXXXX) # Chromium dies of long names of sockets in its TMPDIR
missed=()
limit_s=300
export PP_LOCK=${PP_LOCK-bench}

# NAME COMMAND...: its lines shown and kept
keep() {
    local name=$1 status
    shift
    timeout --foreground -k 30 "$limit_s" "$@" </dev/null | tee -a "$work/table"
    status=${PIPESTATUS[0]}
    [ "$status" -ne 124 ] || echo "MISS $name: not done in $limit_s s" | tee -a "$work/table"
    [ "$status" -eq 0 ] || missed+=("$name")
}

# NAME SCRIPT WORD...: one script
script() {
    local name=$1 file=$2
    shift 2
    keep "$name" "$build/pairperf-lua" --lua-path "$here" --lua-path tests/lua "$here/$file.lua" "$build" \
        "$work/$name" "$@" --authorize-launch
}

processes() {
    local each=(/proc/[0-9]*)
    echo ${#each[@]}
}

idle_pid=

# COUNT: idle processes until the system has about so many
fill() {
    local have
    have=$(processes)
    [ "$1" -gt "$have" ] || return 0
    "$build/bench/bin/ppwork" idle "$(($1 - have))" >"$work/idle" &
    idle_pid=$!
    until [ -s "$work/idle" ] || ! kill -0 "$idle_pid" 2>/dev/null; do sleep 0.1; done
}

empty() {
    [ -z "$idle_pid" ] || kill "$idle_pid" 2>/dev/null || :
    [ -z "$idle_pid" ] || wait "$idle_pid" || :
    idle_pid=
}

clean_up() {
    empty
    mv "$work" "$kept"
}
trap clean_up EXIT

# PROCESSES KIND
cost_of() {
    fill "$1"
    script "cost-cgroup-$1-$2" cost cgroup "$1" "$2"
    PP_KERNEL=no-cgroup script "cost-connector-$1-$2" cost connector "$1" "$2"
    PP_KERNEL=no-cgroup,6.1 script "cost-walk-$1-$2" cost walk "$1" "$2"
    empty
}

cost() {
    local count kind
    for count in 0 200 2000; do
        for kind in group ticking; do
            cost_of "$count" "$kind"
        done
    done
    local seconds=60
    [ -z "${LONG-}" ] || seconds=600
    limit_s=$((seconds + 240)) script churn churn "$seconds"
}

# Short sessions of the demonstration against itself.
aa_session() {
    timeout -k 30 "$limit_s" "$build/pairperf-lua" inference --null-control --baseline "$build/demo/old/Demo.app" \
        --authorize-launch --allow-system-launcher-write --quiet --repetitions 5 \
        --warmup 200ms --duration 1s --interval 100ms --ready file:endpoint.url --output "$1" \
        --pre-sample-hook "lua:chat_loop --base-url-file endpoint.url --model pairperf-demo --max-tokens 4 --delay 100ms" \
        >>"$work/aa.log" 2>&1 || :
}

statistics() {
    local i
    mkdir "$work/aa"
    for ((i = 1; i <= ${AA:-20}; i++)); do
        aa_session "$work/aa/$i"
    done
    script statistics statistics "$work/aa" "${AA:-20}"
    if /usr/bin/python3 -c 'import scipy' 2>/dev/null; then
        keep scipy /usr/bin/python3 "$here/peer_scipy.py" "$work/statistics/cases.jsonl"
    else
        echo "----  random inputs in scipy: not compared: scipy is not installed" | tee -a "$work/table"
    fi
}

section() {
    local began=$SECONDS
    echo "== $1 (load $(cut -d' ' -f1-3 /proc/loadavg), $(processes) processes)"
    case $1 in
    hash) limit_s=600 keep hash "$here/hash.sh" "$build" 5 ;;
    cost | statistics) "$1" ;;
    teardown | cpu | memory | cadence | chromium | stalled | report) script "$1" "$1" ;;
    *)
        echo "unknown section '$1'" >&2
        exit 2
        ;;
    esac
    echo "== $1 took $((SECONDS - began)) s"
}

mkdir -p "${kept%/*}"
cmake --build "$build" --target pp_bench >"$work/build.log" || {
    cat "$work/build.log" >&2
    exit 1
}
[ $# -gt 0 ] || set -- teardown cpu memory cost cadence chromium stalled hash statistics report
for name in "$@"; do
    section "$name"
done
echo "== the table ($(uname -sr), $(getconf _NPROCESSORS_ONLN) processors, load $(cut -d' ' -f1-3 /proc/loadavg))"
cat "$work/table"
if [ ${#missed[@]} -gt 0 ]; then
    echo "== missed: ${missed[*]}"
    exit 1
fi
