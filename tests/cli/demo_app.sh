#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The demo application by itself, without the harness.
# proves: API-6
set -u

dir=${PP_TEST_BUILD_DIR:?}/demo
if [ ! -d "$dir" ]; then
    echo "1..0 # SKIP the demo is not built here: libmicrohttpd is missing"
    exit 0
fi
work=$(mktemp -d)
points=0
failures=0
leader=

# shellcheck disable=SC2317  # called by the trap
end() {
    [ -z "$leader" ] || kill -KILL "$leader" 2>/dev/null
    rm -rf "$work"
}
trap end EXIT
trap "exit 1" TERM INT

point() { # point STATUS NAME
    points=$((points + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $points - $2"
    else
        echo "not ok $points - $2"
        failures=$((failures + 1))
    fi
}

skip() {
    points=$((points + 1))
    echo "ok $points # SKIP $1"
}

await() { # await COMMAND...: true as soon as it holds, false after some 10 s
    tries=0
    until "$@"; do
        tries=$((tries + 1))
        [ "$tries" -lt 200 ] || return 1
        sleep 0.02
    done
}

group_gone() { ! kill -0 -- "-$leader" 2>/dev/null; }

start() { # start VARIANT: sets leader and home; the leader leads a group of its own
    home=$work/$1
    mkdir -p "$home"
    setsid env -i "HOME=$home" "$dir/$1/Demo.app/Contents/MacOS/demo" >/dev/null 2>&1 &
    leader=$!
    await test -s "$home/endpoint.url"
}

stop() { # SIGTERM; the leader's exit status, or that of a kill after 15 s
    kill -TERM "$leader"
    (sleep 15 && kill -KILL -- "-$leader") >/dev/null 2>&1 &
    watchdog=$!
    wait "$leader"
    status=$?
    kill "$watchdog"
    return $status
}

# process number, session and start ticks of each child of the leader
children() {
    for pid in $(pgrep -P "$leader"); do
        echo "$pid $(sed 's/.*) //' "/proc/$pid/stat" | cut -d' ' -f4,20)"
    done
}

# records the children; true when there are three and one has left the session
tree_stands() {
    children >"$work/children"
    helper=$(awk -v sid="$leader" '$2 != sid { print $1 }' "$work/children")
    [ "$(wc -l <"$work/children")" -eq 3 ] && [ "$(echo "$helper" | wc -w)" -eq 1 ]
}

grandchild_seen() {
    for pid in $(pgrep -P "$leader"); do
        pgrep -P "$pid" >/dev/null && return 0
    done
    return 1
}

helper_gone() { [ ! -e "/proc/$helper" ]; }

stream() {
    curl -sSN --max-time 10 "$(cat "$home/endpoint.url")/chat/completions" \
        -d '{"model":"any","stream":true,"max_tokens":5}' >"$work/stream"
}

for variant in old new; do
    start "$variant"
    point $? "$variant: the base URL is announced"

    await tree_stands
    point $? "$variant: the leader has three children, one of them outside the session"
    await grandchild_seen
    point $? "$variant: a short-lived child is seen below a worker"

    if command -v curl >/dev/null; then
        stream
        point $? "$variant: the endpoint answers a streaming request"
        [ "$(grep -c '"content":"word "' "$work/stream")" -eq 5 ] &&
            [ "$(grep -c '"completion_tokens":5' "$work/stream")" -eq 1 ] &&
            [ "$(tail -n 2 "$work/stream" | head -n 1)" = 'data: [DONE]' ]
        point $? "$variant: five tokens, their usage, then [DONE]"
    else
        skip "curl is not installed"
    fi

    stop
    point $? "$variant: SIGTERM ends it with status 0"
    group_gone
    point $? "$variant: its group is empty at that moment"
    gone=0
    while read -r pid _ ticks; do
        if [ "$(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null | cut -d' ' -f20)" = "$ticks" ]; then
            gone=1
        fi
    done <"$work/children"
    point $gone "$variant: every recorded child is gone, the one outside the group too"
    leader=
done

start old && await tree_stands
point $? "the tree stands once more"
kill -KILL "$leader"
wait "$leader" 2>/dev/null
await group_gone
point $? "a killed leader leaves no group behind"
await helper_gone
point $? "a killed leader leaves no helper behind"
leader=

echo "1..$points"
[ "$failures" -eq 0 ]
