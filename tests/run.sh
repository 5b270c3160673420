#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs the named suites against one build directory, all of them even when one fails.
#   tests/run.sh BUILD_DIR core|sim|live|contracts|lua|cli|deaths...
#   tests/run.sh BUILD_DIR vectors FILE
# PP_REPEAT=N runs the live tests with awkward applications N times in all.
# Lua and CLI tests find the build through PP_TEST_BUILD_DIR and PP_TEST_SUPERVISOR, as C tests do.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
build=$(cd "$1" && pwd) || exit 1
shift

export PP_TEST_BUILD_DIR=$build
export PP_TEST_SUPERVISOR=$build/pairperf-supervisor
export PP_TEST_SOURCE_DIR=$PWD
jobs=$(getconf _NPROCESSORS_ONLN)
failed=()

run_ctest() { # label, further options
    ctest --test-dir "$build" -L "^$1\$" -j "$jobs" --output-on-failure --no-tests=error "${@:2}"
}

run_prove() { # interpreter words, then files
    local interpreter=$1
    shift
    if [ ! -e "$1" ]; then
        echo "no test files: $1" >&2
        return 1
    fi
    prove --failures --comments -e "$interpreter" "$@" </dev/null
}

lua_paths() {
    export LUA_PATH="$PWD/lua/?.lua;$PWD/lua/?/init.lua;;" LUA_CPATH="$build/lua/?.so;;"
}

run_suite() {
    case $1 in
    core | contracts) run_ctest "$1" ;;
    live)
        run_ctest live || return
        [ "${PP_REPEAT:-1}" -le 1 ] || run_ctest awkward --repeat "until-fail:$((PP_REPEAT - 1))"
        ;;
    sim) run_ctest sim --verbose ;; # speed and seeds are worth seeing
    lua)
        lua_paths
        # Plain `busted` would run on whatever `lua` is, which its own package makes 5.1.
        run_prove "lua5.4 $(command -v busted) -o TAP" tests/lua/*_spec.lua
        ;;
    cli) run_prove bash tests/cli/*.sh ;;
    deaths) run_prove bash tests/cli/deaths.sh ;; # by itself for a soak
    *)
        echo "unknown suite '$1'" >&2
        return 2
        ;;
    esac
}

if [ "${1-}" = vectors ]; then # nothing after the count it ends with
    lua_paths
    exec lua5.4 tests/vectors/run.lua "$2"
fi

for suite in "$@"; do
    echo "== tests: $suite (${build##*/})"
    run_suite "$suite" || failed+=("$suite")
done
if [ ${#failed[@]} -gt 0 ]; then
    echo "== failed: ${failed[*]}"
    exit 1
fi
