#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Wakes one hand-made fault of the core after the other and looks for the test that notices.
#   tests/mutants/run.sh BUILD_DIR [NAME...]      a build with PAIRPERF_MUTANTS; default: all of them
# Simulated kernels are tried first, then the unit tests of the supervision core, then more kernels.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
build=$(cd "$1" && pwd) || exit 1
shift
export build
export unit='^core\.test_(stop|tree|tree_sample|frame|records|message|outbox|loop|watch|teardown)$'

# Prints the failure; true if a schedule broke.
kernels() { # profile, seeds
    ! timeout 300 "$build/tests/sim/sim_main" --profile "$1" --seeds "$2" --stop-at-failure \
        >"$scratch" 2>&1
}

units() {
    ! ctest --test-dir "$build" -R "$unit" --stop-on-failure --timeout 120 >"$scratch" 2>&1
}

by_kernels() { # seeds
    local profile
    for profile in linux darwin; do
        if kernels "$profile" "$1"; then
            echo "sim.$profile $(grep -m 1 '^seed' "$scratch" || tail -n 1 "$scratch")"
            return
        fi
    done
    false
}

by_units() {
    units && grep -m 1 -oE 'core\.test_[a-z_]+ .*\*\*\*.*' "$scratch" | cut -d ' ' -f 1
}

try() { # name, further seeds
    local found scratch
    scratch=$(mktemp)
    export PP_MUTANT=$1
    found=$(by_kernels 1..3000 || by_units || { [ -n "$2" ] && by_kernels "$2"; })
    rm -f "$scratch"
    echo "$1 ${found:+killed by }${found:-SURVIVED}"
}
export -f kernels units by_kernels by_units try

names=$(grep -rhoE 'PP_MUTANT_IS\("[a-z_]+' core/src/*.c core/supervisor/*.c | sed 's/.*"//' | sort)
twice=$(uniq -d <<<"$names")
if [ -n "$twice" ]; then
    echo "these stand in more than one place: $twice" >&2
    exit 2
fi
[ $# -eq 0 ] || names=$(printf '%s\n' "$@")

sound=$(try none "")
if [ "$sound" != "none SURVIVED" ]; then
    echo "without a mutant: $sound" >&2
    exit 1
fi
told=$(mktemp)
# shellcheck disable=SC2016 # the inner shell expands it
xargs -n 1 -P "$(getconf _NPROCESSORS_ONLN)" bash -c 'try "$1" 3001..60000' _ <<<"$names" |
    tee "$told"
killed=$(grep -c ' killed by ' "$told")
total=$(wc -l <<<"$names")
rm -f "$told"
echo "$killed of $total killed"
[ "$killed" -eq "$total" ]
