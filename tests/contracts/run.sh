#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the C core into a temporary prefix and builds and runs an outside program with it, the
# way a packager and a user would: no tests, no Lua, pkg-config with and without --static.
#   run.sh SOURCE_DIR CC
set -eu
source_dir=$1
cc=$2

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM HUP

cmake -S "$source_dir" -B "$tmp/build" -G Ninja -DCMAKE_C_COMPILER="$cc" \
    -DPAIRPERF_LUA=OFF -DPAIRPERF_TESTS=OFF -DCMAKE_INSTALL_PREFIX="$tmp/prefix"
cmake --build "$tmp/build"
cmake --install "$tmp/build"

PKG_CONFIG_PATH=$(dirname "$(find "$tmp/prefix" -name pairperf.pc)")
export PKG_CONFIG_PATH
version=$(pkg-config --modversion pairperf)

for static in "" --static; do
    # shellcheck disable=SC2046 # pkg-config answers with several words
    "$cc" -std=c11 -Wall -Wextra -Werror -DPP_EXPECTED_VERSION="\"$version\"" \
        -o "$tmp/outside" "$source_dir/tests/contracts/outside.c" \
        $(pkg-config --cflags --libs $static pairperf)
    mkdir -p "$tmp/run"
    "$tmp/outside" "$tmp/run"
    echo "ok - outside program, pkg-config ${static:-without --static}"
done
