#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every fuzz target for SECONDS each, from its kept corpus; stops at the first finding and keeps it.
#   tests/fuzz/run.sh BUILD_DIR [SECONDS [TARGET...]]      default: 8 s, all
# What is found beyond the corpus stays in BUILD_DIR/fuzz/NAME; a finding is BUILD_DIR/fuzz/finding-*.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1
seconds=${2:-8}
shift $(($# < 2 ? $# : 2))
corpora=$PWD/tests/fuzz/corpus
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
    for corpus in "$corpora"/*/; do
        targets+=("$(basename "$corpus")")
    done
fi

sse() {
    export LUA_PATH="$PWD/lua/?.lua;;"
    lua5.4 tests/fuzz/sse.lua "$seconds" "${SEED:-$RANDOM}" "$corpora"/sse/*
}

program() { # NAME
    mkdir -p "$build/fuzz/$1"
    "$build/fuzz/fuzz_$1" -max_total_time="$seconds" -max_len=4096 -timeout=5 -rss_limit_mb=1024 \
        -artifact_prefix="$build/fuzz/finding-$1-" -print_final_stats=1 -verbosity=0 \
        "$build/fuzz/$1" "$corpora/$1" 2>"$build/fuzz/$1.log" || {
        cat "$build/fuzz/$1.log"
        return 1
    }
    awk -v name="$1" '/number_of_executed_units/ { print name ": " $2 " inputs, no finding" }' \
        "$build/fuzz/$1.log"
}

for target in "${targets[@]}"; do
    case $target in
    sse) sse ;;
    *) program "$target" ;;
    esac
done
