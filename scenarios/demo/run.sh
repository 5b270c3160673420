#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The demonstration: profiles both variants of the demo application against each other, prints the
# comparison and holds it against what they were designed to differ by.
#   scenarios/demo/run.sh [--full] [BUILD_DIR]      default: build/release
# Two minutes, whose words are only indicative; --full: windows of full length, about 35 minutes.
# Exit status: pairperf-lua's when it is not 0, else 1 when a difference is not the designed one.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
kind=short
if [ "${1-}" = --full ]; then
    kind=full
    shift
fi
build=$(cd "${1:-$root/build/release}" && pwd)
program=$build/pairperf-lua
guarded=/usr/local/bin
# A number, as each byte of this path is one less for the name of a socket below TMPDIR.
mkdir -p "$root/build/demo"
number=1
while [ -e "$root/build/demo/$number" ]; do
    number=$((number + 1))
done
output=$root/build/demo/$number

if [ "$kind" = full ]; then
    set -- --warmup 60s --duration 120s --interval 1s
else
    set -- --warmup 1s --duration 6s --interval 500ms
fi
set -- "$@" \
    --authorize-launch \
    --baseline "$build/demo/old/Demo.app" \
    --candidate "$build/demo/new/Demo.app" \
    --repetitions 5 --seed 3 \
    --ready file:endpoint.url \
    --pre-sample-hook "lua:chat_loop --base-url-file endpoint.url --model pairperf-demo --max-tokens 16 --delay 200ms" \
    --output "$output"
if [ -w "$guarded" ] || [ ! -e "$guarded" ]; then
    echo "demo: this user may write to $guarded, so the guarded system launcher could be changed;"
    echo "demo: the demo application never does, hence --allow-system-launcher-write"
    set -- "$@" --allow-system-launcher-write
fi

status=0
"$program" inference "$@" || status=$?
if [ "$status" -eq 0 ]; then
    "$program" "$here/check.lua" "$output" "$here/design.json" "$kind" || status=$?
fi
echo "evidence: $output"
exit "$status"
