#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The session lock outlives a killed harness until the last supervisor has ended.
# proves: CLI-3 CAN-5
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

out=$scratch/out/killed
AFTERWARDS_MS=20000 "$lua" overview --single --baseline "$scratch/app" --output "$out" --authorize-launch \
    --allow-system-launcher-write --repetitions 1 --interval 50ms --warmup 30s --duration 1s \
    >"$scratch/output" 2>&1 &
job=$!
await event warmup_started 2>/dev/null
harness=$(child_of "$job")
supervisor=$(pgrep -P "$harness")
kill -STOP "$supervisor" # holds its teardown back until we looked
kill -KILL "$harness"
harness_ended() { ! kill -0 "$harness" 2>/dev/null; }
await harness_ended

one app second
point "a session is refused while a supervisor of a killed harness lives" status_is 2
point "  the process that took the lock is named" said "held by process $harness"
point "  nothing is created" test ! -e "$out/../second"

kill -CONT "$supervisor"
wait "$job"
point "the supervisor ends what it had started" nothing_left
one app third
point "  and then the next session runs" status_is 0
finish
