#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Puts one fault after the other into a copy of the core and looks for the test that notices.
#   tests/mutants/run.sh [NAME...]      default: each tests/mutants/NAME.patch
# A patch says in its first line what is wrong with it; one whose first lines say "Shows itself by hanging." is killed by
# a test that runs out of time, any other is "timed out", and not killed, if nothing else notices it. Simulated kernels are tried first, then the
# unit tests of the supervision core and of the guard, then more kernels. The product's own source stays as it is.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
source=$PWD
work=$PWD/build/mutants
jobs=$(getconf _NPROCESSORS_ONLN)
kernels_first=1..3000
kernels_more=3001..60000
units=(stop pid_map linux_kill tree tree_unmet tree_crowd tree_discards tree_leaf tree_orphans tree_quiet
    tree_sample frame records message outbox loop watch teardown teardown_crowd teardown_group teardown_leaf guard)

say() {
    echo "mutants: $*" >&2
}

build() { # copy
    cmake --build "$1/build" --target sim_main "${units[@]/#/core_test_}" -j 1 >"$1/log" 2>&1
}

make_copy() { # copy
    mkdir -p "$1"
    cp -R CMakeLists.txt cmake core tests "$1/" &&
        cmake -S "$1" -B "$1/build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DPAIRPERF_LUA=OFF \
            -DPAIRPERF_WERROR=OFF --log-level=WARNING >"$1/log" 2>&1 &&
        build "$1"
}

# A test that ran out of time fails only a mutant that hangs; otherwise its name goes into `slow`.
fails() { # status, copy, test
    [ "$1" -ne 0 ] || return
    [ "$1" -ne 124 ] || [ -e "$2/hangs" ] || {
        echo "$3" >>"$2/slow"
        return 1
    }
}

# These print the test that failed, and what it says; false if none did.

by_kernels() { # copy, seeds
    local profile status
    for profile in linux darwin; do
        timeout 120 "$1/build/tests/sim/sim_main" --profile "$profile" --seeds "$2" \
            --stop-at-failure >"$1/log" 2>&1
        status=$?
        fails "$status" "$1" "sim.$profile" || continue
        echo "sim.$profile, $(grep -m 1 '^seed' "$1/log" || echo "a schedule of $2: status $status")"
        return 0
    done
    return 1
}

by_units() { # copy
    local unit status
    for unit in "${units[@]}"; do
        timeout 30 "$1/build/tests/core/test_$unit" >"$1/log" 2>&1
        status=$?
        fails "$status" "$1" "test_$unit" || continue
        echo "test_$unit: $(sed -n 's/^\[  FAILED  \] \([a-z].*\)/\1/p' "$1/log" | head -n 1 |
            grep . || echo "status $status")"
        return 0
    done
    return 1
}

notice() { # copy
    by_kernels "$1" $kernels_first || by_units "$1" || by_kernels "$1" $kernels_more
}

try() { # copy, name
    local patch=$source/tests/mutants/$2.patch found
    if ! patch -d "$1" -p1 --fuzz=0 --no-backup-if-mismatch --dry-run <"$patch" >"$1/log" 2>&1; then
        echo "$2 DOES NOT APPLY"
        return
    fi
    patch -d "$1" -p1 --fuzz=0 --no-backup-if-mismatch <"$patch" >/dev/null
    rm -f "$1/slow" "$1/hangs"
    sed '/^--- /q' "$patch" | grep -q '^Shows itself by hanging\.$' && : >"$1/hangs"
    if ! build "$1"; then
        echo "$2 DOES NOT COMPILE"
    elif found=$(notice "$1"); then
        echo "$2 killed by $found"
    elif [ -s "$1/slow" ]; then
        echo "$2 TIMED OUT in $(sort -u "$1/slow" | paste -sd ' ')"
    else
        echo "$2 SURVIVED"
    fi
    patch -d "$1" -R -p1 --fuzz=0 --no-backup-if-mismatch <"$patch" >/dev/null
}

# Takes names until none is left; a name is taken by the one that makes its directory.
work_off() { # copy
    local name
    for name in "${names[@]}"; do
        if mkdir "$work/taken/$name" 2>/dev/null; then
            try "$1" "$name" | tee -a "$work/told"
        fi
    done
}

trap 'kill "${pids[@]}"; exit 130' INT TERM
names=("$@")
if [ $# -eq 0 ]; then
    names=(tests/mutants/*.patch)
    names=("${names[@]##*/}")
    names=("${names[@]%.patch}")
fi
rm -rf "$work"
mkdir -p "$work/taken"

copies=()
pids=()
for ((i = 1; i <= jobs; i++)); do
    copies+=("$work/$i")
    make_copy "$work/$i" &
    pids+=($!)
done
for i in "${!pids[@]}"; do
    if ! wait "${pids[i]}"; then
        tail -n 20 "${copies[i]}/log" >&2
        say "the sound core does not build"
        exit 1
    fi
done
if found=$(by_kernels "${copies[0]}" $kernels_first || by_units "${copies[0]}"); then
    say "the sound core fails: $found"
    exit 1
elif [ -s "${copies[0]}/slow" ]; then
    say "the sound core runs out of time: $(paste -sd ' ' "${copies[0]}/slow")"
    exit 1
fi

pids=()
for copy in "${copies[@]}"; do
    work_off "$copy" &
    pids+=($!)
done
wait "${pids[@]}"
killed=$(grep -c ' killed by ' "$work/told")
echo "$killed of ${#names[@]} killed"
[ "$killed" -eq "${#names[@]}" ]
