#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Fault injection: every write, fsync, rename, file creation and mkdir below the output directory of
# a short session fails once, each in a session of its own, with ENOSPC, EIO and EDQUOT in turn.
#   tests/faults.sh BUILD_DIR [STEP]     STEP 3: every third point; 1, the default: all
#   POINT=17 tests/faults.sh BUILD_DIR   only that one, with what the session said
# proves: REP-2 CAN-4 CLI-7 REP-8
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
root=$PWD
build=$(cd "$1" && pwd) || exit 1
step=${2:-1}
lua=$build/pairperf-lua
shim=$build/tests/faults/fault_preload.so
subreaper=$build/tests/stubs/subreaper # lists what a session leaves behind, and ends it
if [ ! -e "$shim" ]; then
    echo "faults: $shim is not built here (Linux, without sanitizers)" >&2
    exit 1
fi
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ppfault.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM

mkdir -p "$scratch/template/.config" "$scratch/out"
echo setting >"$scratch/template/.config/app"
cat >"$scratch/app" <<'APP'
#!/bin/sh
trap 'kill $!; exit 0' TERM
sleep 300 &
echo started
wait
APP
cp "$scratch/app" "$scratch/hook"
chmod +x "$scratch/app" "$scratch/hook"

# session N ERRNO: one session whose call N fails. Its output is $scratch/out/N; sets $status, $call.
session() {
    local out=$scratch/out/$1 file=$scratch/$1
    truncate --size=4096 "$file.state"
    mkdir "$file.watched"
    "$subreaper" -w 1000 "$file.watched" env LD_PRELOAD="$shim" PP_FAULT="$1,$2,$file.state,$out" PP_LOCK="pairperf-fault-$$-$1" \
        "$lua" overview --baseline "$scratch/app" --candidate "$scratch/app" --output "$out" \
        --authorize-launch --allow-system-launcher-write --template "$scratch/template" \
        --pre-sample-hook "$scratch/hook" --post-run-check /bin/true --ready cmd:/bin/true \
        --keep-app-output=1KiB --repetitions 1 --warmup 0 --duration 200ms --interval 100ms --seed 3 \
        --quit-timeout 2s --hook-timeout 2s >"$file.said" 2>&1
    status=$?
    call=$(tail -c +5 "$file.state" | tr -d '\0')
}

point() { # point N: prints one line for it, more when it failed
    local names=(ENOSPC EIO EDQUOT) errno file=$scratch/$1 verdict=ok
    errno=${names[($1 - 1) / step % 3]}
    session "$1" "$errno"
    "$lua" "$root/tests/faults/check.lua" "$scratch/out/$1" "$status" "$errno" "$file.said" "$call" \
        >"$file.check" 2>&1 || verdict="not ok"
    cat "$file.watched"/*.left >"$file.left" || verdict="not ok"
    if [ -s "$file.left" ]; then
        verdict="not ok"
        sed 's/^/   left: /' "$file.left" >>"$file.check"
    fi
    if [ "$verdict" = ok ]; then
        echo "ok $1 - ${call:-not reached this time}"
    else
        {
            echo "not ok $1 - $errno at ${call#* } (${call%% *}), status $status"
            cat "$file.check"
            [ -z "${POINT-}" ] || sed 's/^/   | /' "$file.said" "$scratch/out/$1/session.log"
        }
    fi
    [ -n "${KEEP-}" ] || rm -rf "$scratch/out/$1"
}

for _ in 1 2 3; do # a busy machine may void a window
    rm -rf "$scratch/0.watched" "$scratch/0.state" "$scratch/out/0"
    session 0 ENOSPC
    [ "$status" -ne 0 ] || break
done
if [ "$status" -ne 0 ]; then
    echo "faults: the session fails without a fault, too: status $status" >&2
    cat "$scratch/0.said" >&2
    exit 1
fi
calls=$(od -An -tu4 -N4 "$scratch/0.state" | tr -d ' ')
export scratch lua shim subreaper root step
export -f point session
if [ -n "${POINT-}" ]; then
    point "$POINT"
    exit
fi
seq 1 "$step" "$calls" | xargs -P "${JOBS:-$(($(getconf _NPROCESSORS_ONLN) + 1))}" -I{} bash -uo pipefail -c 'point {}' |
    tee "$scratch/lines" | grep -v '^ok'
passed=$(grep -c '^ok' "$scratch/lines")
failed=$(grep -c '^not ok' "$scratch/lines")
echo "$calls calls below the output directory, every $step of them: $passed points passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
