#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every file of a whole session with requests parses, and holds to the schema that it names.
# proves: REP-1 INF-3
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

demo=$PP_TEST_BUILD_DIR/demo
if [ ! -x "$demo/new/Demo.app/Contents/MacOS/demo" ]; then
    skip "the evidence of a session" "the demo application is not built"
    finish
    exit 0
fi

out=$scratch/out/whole
hook="lua:chat_loop --base-url-file endpoint.url"
"$lua" inference --baseline "$demo/old/Demo.app" --candidate "$demo/new/Demo.app" --output "$out" \
    --authorize-launch --allow-system-launcher-write --ready file:endpoint.url \
    --pre-sample-hook "$hook --model demo --max-tokens 4 --delay 50ms" --post-run-check /bin/true \
    --repetitions 1 --interval 200ms --warmup 200ms --duration 1s --seed 3 >"$scratch/output" 2>&1
status=$?
point "a session with requests and checks succeeds" status_is 0
point "  its evidence holds to its schemas" evidence_parses
every_file() { # every_file PATTERN COMMAND...
    find "$out" -name home -prune -o -name "$1" -exec "${@:2}" {} +
}
point "  jq reads every JSON file" every_file '*.json*' jq empty
# A file that is missing would hold to anything.
every_file '*.json*' jq -r '.schema' | sort -u >"$scratch/used"
printf 'pairperf-%s-1\n' chat digests event frame manifest plan probes report request session summary |
    diff - "$scratch/used" >"$scratch/output"
point "  and every kind of file is there" test $? -eq 0

# The checker is no rubber stamp.
sed -i 's/"slot":0/"slot":"0"/' "$out/inference/run-01/summary.json"
evidence_fails() { ! evidence_parses; }
point "a value of another type is noticed" evidence_fails
point "  and named" said 'run-01/summary.json: .*slot'
finish
