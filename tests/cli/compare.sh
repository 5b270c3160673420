#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Gates of a session, and the scripts that look at finished ones.
# proves: CLI-7 PLAN-4 REP-4 REP-5
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

pair app app unknown --repetitions 1 --fail-on cpu_precent:+5%
point "a gate on an unknown metric is refused before anything is created" status_is 2
point "  with the nearest name" said "did you mean 'cpu_percent'"
point "  and no output" test ! -e "$out"

pair app app gated --repetitions 1 --fail-on cpu_percent:+5% --primary cpu_percent
point "a gate stays open on a diagnostic session: status 4" status_is 4
point "  and says so" said "^Gate cpu_percent:+5%, scenario overview: inconclusive: diagnostic only"
gated=$out
pair app app allowed --repetitions 1 --fail-on cpu_percent:+5% --allow-inconclusive
point "  0 with --allow-inconclusive" status_is 0
point "  its last lines name the report" said "^  $out/report.md$"
point "  and the page" said "^  $out/report.html$"
point "  its evidence holds to its schemas" evidence_parses
allowed=$out

sums() { (cd "$gated" && find . -name home -prune -o -type f -exec sha256sum {} +) | sort >"$1"; }
look() { # look WORDS...
    "$lua" "$@" >"$scratch/output" 2>&1
    status=$?
}
sums "$scratch/before"
rm "$gated"/report.* "$gated"/overview/run-*/summary.json
look report "$gated"
point "report without summaries and reports gives the session's own status" status_is 4
sums "$scratch/after"
point "  and rebuilds every file byte for byte" cmp "$scratch/before" "$scratch/after"

look compare "$gated" --fail-on 'rss_max_bytes:<=1TiB' --allow-inconclusive
point "compare takes a gate of its own" status_is 0
point "  of a limit" said "^Gate rss_max_bytes:<=1TiB, scenario overview: inconclusive"
look compare "$gated" "$allowed"
point "compare of several sessions pools nothing" said "^2 sessions combined"
point "  and has the worst status" status_is 4
plain() { ! grep -q "$(printf '\033')" "$scratch/output"; }
look compare "$allowed" --allow-inconclusive
point "what goes to a file has no colour" plain
look compare "$scratch/none"
point "compare of no session is refused" status_is 2
look export csv "$gated" --to "$scratch/runs.csv"
point "export writes a file" grep -q '^overview,0,baseline,1,success,,cpu_percent,%,' "$scratch/runs.csv"
look export openmetrics "$gated"
point "  or to standard output" said '^# EOF$'
sums "$scratch/exported"
point "  and leaves the session as it was" cmp "$scratch/before" "$scratch/exported"
look export perfetto "$gated" --to "$gated/trace.json"
point "  never into it" status_is 2
# A/A OUT options: the window can bear a stall of 2 s, as every run must succeed.
control() {
    out=$scratch/out/$1
    look overview --null-control --baseline "$scratch/app" --output "$out" --authorize-launch \
        --allow-system-launcher-write --warmup 50ms --duration 1s --interval 1s --seed 3 "${@:2}"
}
control null --repetitions 3 --screen 'rss_max_bytes:+1TiB'
point "an A/A control runs the baseline as both variants" status_is 0
point "  and says so" said "^A/A control: both sides are the same build"
point "  a screen that does not fail says what it is worth" \
    said "^Screen rss_max_bytes:+1TiB, scenario overview: no regression above .* shown"
point "  its noise floor and all else hold to their schemas" evidence_parses
look verify "$out"
point "  and verify computes the floor again" status_is 0
look compare "$out" --noise-floor "$out/noise-floor.json"
point "compare takes its noise floor" said "^The margin of [1-9][0-9]* metrics is the noise floor"
control refused --candidate "$scratch/app"
point "an A/A control with a candidate is refused" status_is 2
control floored --repetitions 1 --noise-floor "$scratch/out/null/noise-floor.json"
point "a session takes a noise floor" said "^The margin of [1-9][0-9]* metrics is the noise floor"
look verify "$out"
point "  and verify finds it in the plan" status_is 0
look overview --quick --baseline "$scratch/app" --candidate "$scratch/app" --dry-run
point "--quick sets short windows" said "warm-up 5 s, sampling 20 s every 1 s, 5 runs per variant"
look metrics
point "metrics lists names and units" said "^rss_max_bytes  *MiB"
look compare --help
point "compare has help" said "^Usage: pairperf-lua compare DIR"
finish
