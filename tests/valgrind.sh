#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Memory errors and leaks as failures: the core's unit tests, pairperf-lua loading all it has, and
# the Lua tests that carry the line `-- runs under valgrind`.
#   tests/valgrind.sh BUILD_DIR
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
build=$(cd "$1" && pwd) || exit 1
self=$PWD/tests/valgrind.sh

export PP_TEST_BUILD_DIR=$build
export PP_TEST_SUPERVISOR=$build/pairperf-supervisor
export PP_TEST_SOURCE_DIR=$PWD
export LUA_PATH="$PWD/lua/?.lua;$PWD/lua/?/init.lua;;"
export LUA_CPATH="$build/lua/?.so;;"

# Prints a command's output only when it fails, and what it skipped.
check() {
    local output
    output=$(valgrind --quiet --error-exitcode=99 --leak-check=full \
        --errors-for-leak-kinds=definite --child-silent-after-fork=yes "$@" </dev/null 2>&1)
    local status=$?
    if [ $status -ne 0 ]; then
        printf 'not ok - %s (exit %d)\n%s\n' "$*" $status "$output"
        return 1
    fi
    echo "ok - $*"
    sed -n 's/^\[  SKIPPED \] \(.*[^:]\)$/  skipped: \1/p' <<<"$output" | sort -u
}

if [ "${2-}" = --one ]; then
    shift 2
    check "$@"
    exit
fi

{
    for test in "$build"/tests/core/test_*; do
        echo "$test"
    done
    echo "$build/pairperf-lua --help"
    echo "$build/pairperf-lua --list"
    grep -l -- '^-- runs under valgrind$' tests/lua/*_spec.lua |
        sed "s|^|lua5.4 $(command -v busted) -o TAP |"
} | xargs -L 1 -P "$(getconf _NPROCESSORS_ONLN)" "$self" "$build" --one
