#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# B04: a process file system that hides foreign processes from a user without privilege.
# proves: TRK-6 GRP-8 GRP-2 GRP-3 GRP-12
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

readonly NOBODY=65534

script family <<'APP'
trap 'kill $!; exit 0' TERM
sleep 60 &
echo yes >"$HOME/ready"
wait
APP

# One that /proc hides also from the user who started it, and ended: a program that none may read,
# and one of another user. A child of the application, and an orphan.
install -m 711 "$(command -v sleep)" "$scratch/unreadable"
install -m 4711 "$(command -v sleep)" "$scratch/foreign"
script keeps <<'APP'
trap 'exit 0' TERM
"${0%/*}/unreadable" 61 &
("${0%/*}/foreign" 61 &)
sleep 0.5
echo yes >"$HOME/ready"
wait
APP

# hidden MODE COMMAND...: below a private /proc with that hidepid, without privilege.
hidden() {
    # shellcheck disable=SC2016 # expanded by the inner shell
    unshare --mount sh -c '
        mount -t proc -o "hidepid=$1" proc /proc || exit 99
        shift
        exec setpriv --reuid '$NOBODY' --regid '$NOBODY' --clear-groups "$@"' hidden "$@"
}

session() { # session MODE APP
    out=$scratch/open/$2-$1
    rm -f "$scratch/open/ready"
    hidden "$1" env HOME="$scratch/open" TMPDIR="$scratch/open" \
        "$lua" overview --authorize-launch --single --baseline "$scratch/$2" --output "$out" \
        --repetitions 1 --warmup 0 --duration 500ms --interval 100ms --ready file:ready \
        --quit-timeout 1s >"$scratch/output" 2>&1
    status=$?
}

every_frame_has_both() {
    local frames=$out/overview/run-01/samples.jsonl
    [ "$(grep -c '"window":1' "$frames")" -ge 5 ] &&
        [ "$(grep '"window":1' "$frames" | grep -c '"exe":"[^"]*sleep"')" -eq \
            "$(grep -c '"window":1' "$frames")" ]
}

nothing_owned_failed() {
    ! grep -q '"owned":true' "$out/overview/run-01/samples.jsonl" &&
        ! grep -qv '"enumeration":"ok"' "$out/overview/run-01/samples.jsonl"
}

in_events() { # in_events WORDS...: one event that has them all
    local found
    found=$(cat "$out/overview/run-01/events.jsonl")
    for word in "$@"; do found=$(grep -F -- "$word" <<<"$found"); done
    [ -n "$found" ]
}
hides() { grep -q '"failures":\[{' "$out/overview/run-01/samples.jsonl"; }

chmod 711 "$scratch"
chmod 777 "$scratch/watched"
mkdir -m 777 "$scratch/open"
for mode in 2 1; do
    name="B04: a run under hidepid=$mode succeeds without privilege"
    if ! unshare --mount mount -t proc -o hidepid=$mode proc /proc 2>/dev/null; then
        skip "$name" "no mount namespace"
        continue
    elif ! setpriv --reuid $NOBODY --clear-groups test -x "$lua"; then
        skip "$name" "the build is out of the other user's reach"
        continue
    fi
    # shellcheck disable=SC2016 # expanded by the inner shell
    point "B04: hidepid=$mode hides" hidden $mode sh -c '! cat /proc/1/stat' 2>/dev/null
    session $mode family
    point "$name" test "$status" -eq 0
    point "  B04: with its own tree whole in every frame" every_frame_has_both
    point "  B04: and no failure of a member" nothing_owned_failed
    session $mode keeps
    point "hidepid=$mode: members are hidden from those who started them" hides
    point "  the group is killed because of them" \
        in_events '"kind":"signal"' '"target":"group"' '"signal":"SIGKILL"'
    point "  before the leader is reaped, and so are they" in_events '"verdict":"echild"'
    point "  nothing is left" nothing_left
done

finish
