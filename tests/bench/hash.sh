#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a bundle's manifest costs, beside a raw program, sha256sum and rhash: 1 GiB in 64 files and
# 20,000 small files, from memory and, as root, from the device.
#   tests/bench/hash.sh [BUILD [ROUNDS]]
# Each line: ok|MISS|told NAME: CPU seconds and wall seconds, the least of all rounds, which take
# turns. The bars compare like with like: one thread with the raw program, and as many threads as
# there are CPUs with as many raw processes that share the files. Two that run at once slow each
# other down, whoever wrote them (two raw processes: 10 to 30 % more CPU than one). The small tree
# takes a fifth of a second, which a neighbour easily doubles: it has three times as many rounds.
# Exit 1 when a bar is missed. The trees are kept in BUILD/bench/trees.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(cd "${1-build/release}" && pwd)
rounds=${2-7}
bin=$build/bench/bin
trees=$build/bench/trees
cpus=$(nproc)
missed=0
mkdir -p "$bin" "$trees"
command -v rhash >/dev/null || echo "told hash: without rhash (apt-get install rhash)"

compile() { # NAME WORD...
    "${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -O2 "tests/bench/$1.c" -o "$bin/$1" "${@:2}"
}
compile hash_floor -lcrypto
compile hash_manifest -Icore/include "$build/libpairperf.a" -lcrypto -pthread -lm
for tree in big small; do
    [ -d "$trees/$tree" ] || "$bin/hash_floor" "$tree" "$trees/$tree"
done

# shellcheck disable=SC2317 # called by their names
floor() { "$bin/hash_floor" hash "$1" 1; }
# shellcheck disable=SC2317
floor_all() { "$bin/hash_floor" hash "$1" "$cpus"; }
# shellcheck disable=SC2317
ours() { "$bin/hash_manifest" "$1" 1; }
# shellcheck disable=SC2317
ours_all() { "$bin/hash_manifest" "$1"; }
# shellcheck disable=SC2317
sha256sum_P2() { find "$1" -type f -print0 | xargs -0 -n "$2" -P2 sha256sum; }
# shellcheck disable=SC2317
rhash_r() { rhash --sha256 -r "$1"; }

declare -A cpu wall

# KEY WORD...: keeps the least CPU (own and children's) and wall
measure() {
    local key=$1 said real user sys used
    shift
    local TIMEFORMAT='%R %U %S'
    said=$({ time "$@" >/dev/null; } 2>&1) || {
        echo "MISS hash: $key failed: $said"
        exit 1
    }
    read -r real user sys <<<"${said##*$'\n'}"
    used=$(awk "BEGIN { printf \"%.3f\", $user + $sys }")
    cpu[$key]=$(printf '%s\n' "${cpu[$key]-$used}" "$used" | sort -g | head -n 1)
    wall[$key]=$(printf '%s\n' "${wall[$key]-$real}" "$real" | sort -g | head -n 1)
}

programs() {
    echo floor ours floor_all ours_all sha256sum_P2
    if command -v rhash >/dev/null; then echo rhash_r; fi
}

round() { # TREE HOW PROGRAM...
    local tree=$1 how=$2 each=1000
    shift 2
    [ "$tree" = small ] || each=8
    for program; do
        if [ "$how" = cold ]; then
            sync
            echo 3 >/proc/sys/vm/drop_caches
        fi
        measure "$program $tree $how" "$program" "$trees/$tree" "$each"
    done
}

ratio() { awk "BEGIN { printf \"%.2f\", ${cpu[$1 $3 $4]} / ${cpu[$2 $3 $4]} }"; }
at_most() { awk "BEGIN { exit !($1 <= $2) }"; }

line() { # TREE HOW
    local tree=$1 how=$2 verdict=told figures="" program one all sum
    for program in $(programs); do
        figures+=", $program ${cpu[$program $tree $how]}/${wall[$program $tree $how]}"
    done
    one=$(ratio ours floor "$tree" "$how")
    all=$(ratio ours_all floor_all "$tree" "$how")
    sum=$(ratio sha256sum_P2 ours_all "$tree" "$how")
    if [ "$how" = warm ]; then
        verdict=ok
        at_most "$one" 1.2 && at_most "$all" 1.2 || verdict=MISS
        # Small files are calls to the system, not hashing: there the factor is only told.
        if [ "$tree" = big ] && grep -qw sha_ni /proc/cpuinfo; then
            at_most 3 "$sum" || verdict=MISS
        fi
    fi
    [ "$verdict" != MISS ] || missed=1
    echo "$verdict hash $tree $how: CPU/wall s: ${figures#, }; ours $one x the floor's CPU with" \
        "one thread, $all x with $cpus (bar 1.2); sha256sum $sum x ours (bar 3, big)"
}

for tree in big small; do
    floor "$trees/$tree" >/dev/null # into memory
    for ((i = 0; i < rounds; i++)); do
        # shellcheck disable=SC2046 # a word each
        round "$tree" warm $(programs)
        [ "$tree" = small ] || continue
        round "$tree" warm floor ours floor_all ours_all floor ours floor_all ours_all
    done
    line "$tree" warm
    if [ "$(id -u)" -eq 0 ] && [ -w /proc/sys/vm/drop_caches ]; then
        # shellcheck disable=SC2046 # a word each
        for ((i = 0; i < 3; i++)); do round "$tree" cold $(programs); done
        line "$tree" cold
    else
        echo "told hash $tree cold: not root, nothing can be evicted"
    fi
done
exit "$missed"
