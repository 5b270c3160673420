#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Replays tests/cli/transcripts: command, output, exit status; no command may create anything.
# proves: CLI-2 CLI-3 CLI-4 CLI-6 CLI-11 HOOK-1 HOOK-7 BOX-4 BOX-5 RUN-1
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

here=$(cd "$(dirname "$0")" && pwd)
work=$scratch/work
mkdir -p "$work/template" "$work/full" "$work/tree"
cp "$scratch/app" "$work/app"
echo data >"$work/plain"
ln -s /nowhere "$work/template/link"
ln -s /nowhere "$work/dangling"
echo 'return function() return 0 end' >"$work/hook.lua"
printf 'local shared = 1\nreturn function() return shared end\n' >"$work/upvalue.lua"
cp "$work/app" "$work/app.zip"
cp "$work/app" "$work/tree/app"
export PATH="${lua%/*}:$PATH" HOME="$work"
# What every session command below shares.
export AB='--baseline app --candidate app --output new --authorize-launch --allow-system-launcher-write'

replay() { # replay COMMAND EXPECTED: output and status as recorded
    (cd "$work" && eval "$1" 2>&1
        echo "[$?]") | sed "s|$work|WORK|g" >"$scratch/output"
    diff -u <(printf '%s\n' "$2") "$scratch/output" >"$scratch/diff" || {
        cp "$scratch/diff" "$scratch/output"
        return 1
    }
}

listing() { find "$work" | sort; }
before=$(listing)

command='' expected=''
while IFS= read -r line; do
    case $line in
    '$ '*) command=${line#'$ '} expected='' ;;
    '#'* | '') ;;
    '['*']')
        point "$command" replay "$command" "$expected$line"
        point "  creates nothing" test "$before" = "$(listing)"
        ;;
    *) expected+=$line$'\n' ;;
    esac
done < <(cat "$here"/transcripts/*.txt)
finish
