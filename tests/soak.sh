#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that may take hours: live tests with awkward applications, again and again, then harness and
# supervisor killed at 100 random instants each. In the time that they leave, simulated schedules run,
# as many as wanted in each profile, with seeds that the short run does not use, by a release build
# of the same files, which is faster. A seed that fails is told with the command that shows it again.
#   tests/soak.sh BUILD_DIR SIM_BUILD_DIR SCHEDULES
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
build=$1 sim_build=$2
first=1000001
last=$((1000000 + $3))
pids=()

# In a session of its own, since where sessions share the processor first (autogroup) it is they that
# have a weight.
# shellcheck disable=SC2016
yield='echo 19 2>/dev/null >/proc/self/autogroup; exec chrt --idle 0 "$@"'
trap 'kill "${pids[@]}" 2>/dev/null' EXIT
trap 'exit 130' INT TERM HUP

for profile in linux darwin; do
    setsid bash -c "$yield" sim \
        "$sim_build/tests/sim/sim_main" --profile "$profile" --seeds "$first..$last" &
    pids+=($!)
done

failed=0
PP_REPEAT=50 tests/run.sh "$build" live || failed=1
export DEATHS=100 DEATHS_SEED=$RANDOM
tests/run.sh "$build" deaths || failed=1
for pid in "${pids[@]}"; do
    wait "$pid" || failed=1
done
pids=()
exit "$failed"
