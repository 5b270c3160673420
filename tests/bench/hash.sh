#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a bundle's manifest costs, beside a raw program, sha256sum and rhash: 1 GiB in 64 files and
# 20,000 small files, from memory and, as root, from the device.
#   tests/bench/hash.sh [BUILD [ROUNDS]]
# Each line: ok|MISS|told NAME: CPU seconds and wall seconds, the least of all rounds, which take
# turns. Exit 1 when a bar is missed. The trees are kept in BUILD/bench/trees.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(cd "${1-build/release}" && pwd)
rounds=${2-7}
bin=$build/bench/bin
trees=$build/bench/trees
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
floor() { "$bin/hash_floor" hash "$1"; }
# shellcheck disable=SC2317
ours() { "$bin/hash_manifest" "$1"; }
# shellcheck disable=SC2317
sha256sum_P2() { find "$1" -type f -print0 | xargs -0 -n "$2" -P2 sha256sum; }
# shellcheck disable=SC2317
rhash_r() { rhash --sha256 -r "$1"; }

declare -A cpu wall

# KEY WORD...: keeps the least CPU (own and children's) and wall
measure() {
    local key=$1 real user sys used
    shift
    local TIMEFORMAT='%R %U %S'
    read -r real user sys < <({ time "$@" >/dev/null; } 2>&1 | tail -n 1)
    used=$(awk "BEGIN { printf \"%.3f\", $user + $sys }")
    cpu[$key]=$(printf '%s\n' "${cpu[$key]-$used}" "$used" | sort -g | head -n 1)
    wall[$key]=$(printf '%s\n' "${wall[$key]-$real}" "$real" | sort -g | head -n 1)
}

round() { # TREE FILES_PER_SHA256SUM HOW
    local how=$3
    for program in floor ours sha256sum_P2 rhash_r; do
        [ "$program" != rhash_r ] || command -v rhash >/dev/null || continue
        if [ "$how" = cold ]; then
            sync
            echo 3 >/proc/sys/vm/drop_caches
        fi
        measure "$program $1 $how" "$program" "$trees/$1" "$2"
    done
}

# WORD KEY FACTOR BAR: is `ours` within FACTOR of KEY's CPU?
line() {
    local tree=$1 how=$2 ours="ours $1 $2" verdict=told
    local figures="" program ratio_floor ratio_sum
    for program in floor sha256sum_P2 rhash_r; do
        [ -n "${cpu[$program $tree $how]-}" ] || continue
        figures+=", $program ${cpu[$program $tree $how]}/${wall[$program $tree $how]}"
    done
    ratio_floor=$(awk "BEGIN { printf \"%.2f\", ${cpu[$ours]} / ${cpu[floor $tree $how]} }")
    ratio_sum=$(awk "BEGIN { printf \"%.2f\", ${cpu[sha256sum_P2 $tree $how]} / ${cpu[$ours]} }")
    if [ "$how" = warm ]; then
        verdict=ok
        awk "BEGIN { exit !($ratio_floor <= 1.2) }" || verdict=MISS
        # Small files are calls to the system, not hashing: there the factor is only told.
        if [ "$tree" = big ] && grep -qw sha_ni /proc/cpuinfo; then
            awk "BEGIN { exit !($ratio_sum >= 3) }" || verdict=MISS
        fi
    fi
    [ "$verdict" != MISS ] || missed=1
    echo "$verdict hash $tree $how: CPU/wall s: ours ${cpu[$ours]}/${wall[$ours]}$figures;" \
        "$ratio_floor x the floor's CPU (bar 1.2), sha256sum $ratio_sum x ours (bar 3, big)"
}

for tree in big small; do
    each=1000
    [ "$tree" = small ] || each=8
    floor "$trees/$tree" >/dev/null # into memory
    for ((i = 0; i < rounds; i++)); do round "$tree" "$each" warm; done
    line "$tree" warm
    if [ "$(id -u)" -eq 0 ] && [ -w /proc/sys/vm/drop_caches ]; then
        for ((i = 0; i < 3; i++)); do round "$tree" "$each" cold; done
        line "$tree" cold
    else
        echo "told hash $tree cold: not root, nothing can be evicted"
    fi
done
exit "$missed"
