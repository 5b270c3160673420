#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What application and hook get of the environment in which the harness was started, and whether a
# key in it comes into any file (B28, B29).
# proves: BOX-2 BOX-3 BOX-8
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

script asks <<'APP'
trap 'exit 0' TERM
env >"$HOME/app-env"
stat -c '%a %u' "$XDG_RUNTIME_DIR" >"$HOME/runtime"
while :; do sleep 0.02; done
APP
script load <<'HOOK'
trap 'exit 0' TERM
env >"$HOME/hook-env"
while :; do sleep 0.02; done
HOOK
mkdir "$scratch/elsewhere"

# LD_PRELOAD is of something that the harness itself can bear.
export ELECTRON_RUN_AS_NODE=1 NODE_OPTIONS=--inspect DYLD_INSERT_LIBRARIES=/nowhere.dylib \
    OPENAI_API_KEY=sk-nobodys-key-4711 https_proxy=http://127.0.0.1:9 PAIR_SETTING=ambient \
    HOME=$scratch/elsewhere TMPDIR=$scratch/elsewhere TEMP=$scratch/elsewhere \
    XDG_CONFIG_HOME=$scratch/elsewhere XDG_RUNTIME_DIR=$scratch/elsewhere \
    LD_PRELOAD=libc.so.6 LC_TIME=C
pair asks asks ambient --repetitions 1 --ready file:runtime --pre-sample-hook "$scratch/load"
unset LD_PRELOAD
point "a session started in a full environment succeeds" status_is 0

names() { cut -d= -f1 "$out/overview/run-$1/home/$2" | sort | tr '\n' ' '; }
unwanted() { grep -E '^(ELECTRON|NODE|DYLD|LD_|OPENAI|https?_proxy|PAIR_SETTING)' "$1"; }
for run in 01 02; do
    home=$out/overview/run-$run/home
    for who in app hook; do
        point "run $run: the $who gets nothing that was not published" \
            test -z "$(unwanted "$home/$who-env")"
        point "  what is published passes" grep -qx LC_TIME=C "$home/$who-env"
        point "  no path leads elsewhere" test "$(grep -c "$scratch/elsewhere" "$home/$who-env")" = 0
        for name in HOME CFFIXED_USER_HOME TMPDIR TMP TEMP XDG_CONFIG_HOME XDG_CACHE_HOME \
            XDG_DATA_HOME XDG_STATE_HOME XDG_RUNTIME_DIR; do
            point "  $name is in the run's own directory" \
                grep -q "^$name=$out/overview/run-$run/" "$home/$who-env"
        done
    done
    point "  the runtime directory is private and ours" grep -qx "700 $(id -u)" "$home/runtime"
done
run=01
point "the application of both variants gets the same names" \
    test "$(names 01 app-env)" = "$(names 02 app-env)"
point "  and so does the hook" test "$(names 01 hook-env)" = "$(names 02 hook-env)"
point "the key is in no file" test -z "$(grep -rl sk-nobodys-key "$out")"
point "no name of it either" test -z "$(grep -rl OPENAI_API_KEY "$out")"
point "nothing was written elsewhere" test -z "$(ls -A "$scratch/elsewhere")"
point "  which nothing enforces, as the report says" grep -q "HOME redirection is no .*enforced by" "$out/report.md"
finish
