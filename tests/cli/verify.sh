#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# verify holds for what a session, report and recover leave, and names what does not hold by file and
# by line or field (one flipped bit in any file: flips.sh).
# proves: REP-5 REP-3 REP-1 CLI-7
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

script hook <<'HOOK'
trap 'exit 0' TERM
echo from the hook
printf 'not UTF-8: \377\n' >"$PAIR_PERF_OUTPUT/hook/left behind"
while :; do sleep 0.02; done
HOOK
script talker <<'APP'
trap 'exit 0' TERM
echo one
echo two >&2
while :; do sleep 0.02; done
APP
look() { # look WORDS...
    "$lua" "$@" >"$scratch/output" 2>&1
    status=$?
}
sums() { (cd "$out" && find . -name home -prune -o -type f -exec sha256sum {} + | sort); }

pair talker talker whole --repetitions 1 --pre-sample-hook "$scratch/hook" \
    --post-run-check /bin/true --keep-app-output=4KiB
point "a session with hook, check and kept output succeeds" status_is 0
look verify "$out"
point "verify: it holds" status_is 0
point "  in words" said ": holds, [0-9]* files$"
point "  the last line of session.log holds the digest of digests.json" \
    test "$(tail -n 1 "$out/session.log")" = "digests.json sha256 $(sha256sum <"$out/digests.json" | cut -c 1-64)"
every_file_is_listed() {
    jq -r '.files[].path, "digests.json"' "$out/digests.json" | sort >"$scratch/listed"
    (cd "$out" && find . -name home -prune -o -type f -printf '%P\n') | sort | diff - "$scratch/listed" \
        >"$scratch/output"
}
point "  digests.json lists every file but itself, homes excluded" every_file_is_listed
digests_are_right() {
    jq -r '.files[] | select(.path != "session.log") | .sha256 + "  " + .path' "$out/digests.json" |
        (cd "$out" && sha256sum --check --quiet) >"$scratch/output" 2>&1
}
point "  with the digests that sha256sum finds" digests_are_right

sums >"$scratch/before"
look report "$out"
point "report leaves every file as it is, seal and digests too" test "$(sums)" = "$(cat "$scratch/before")"

# Through the command line, one of each kind; $out is put back after each.
cp -a "$out" "$scratch/kept"
kept=$scratch/kept
again() { rm -rf "$out" && cp -a "$kept" "$out"; }
sed -i '/"kind":"closing"/s/"rss_bytes":\([0-9]\)/"rss_bytes":9\1/' "$out/overview/run-01/samples.jsonl"
line=$(sed -n '/"kind":"closing"/=' "$out/overview/run-01/samples.jsonl")
look verify "$out"
point "a changed reading: status 1" status_is 1
point "  the line is named" said "run-01/samples.jsonl: line $line: not what digests.json says"
point "  and the field computed from it" said "run-01/summary.json: field .*: not what the raw evidence gives"
look report "$out"
point "  report keeps the digests, and says so" said "digests.json stays as it was: .*run-01/samples.jsonl: line $line"
look verify "$out"
point "  so that verify still names it" said "run-01/samples.jsonl: line $line: not what digests.json says"
again
rm "$out/overview/run-02/events.jsonl"
look verify "$out"
point "a missing file is named" said "run-02/events.jsonl: missing: not what digests.json says"
again
echo >"$out/overview/run-01/more"
look verify "$out"
point "a file too many is named" said "run-01/more: not in digests.json"
again
sed -i '$d' "$out/session.log"
look verify "$out"
point "a missing seal is named" said "session.log: its end: the line that seals digests.json is missing"
again
rm "$out/overview/run-01/app-stdout"
ln -s /etc/passwd "$out/overview/run-01/app-stdout"
look verify "$out"
point "a link in the place of a file is named and not read" said "run-01/app-stdout: now a symlink"

# Sums inside the evidence: digests and seal made anew, as somebody might who changes a figure.
cat >"$scratch/reseal.lua" <<'LUA'
local digests = require "pairperf.digests"
local output = ...
os.remove(output .. "/digests.json")
assert(digests.seal(output))
LUA
resealed() { # resealed NAME WHAT VERIFY SAYS
    look "$scratch/reseal.lua" "$out"
    look verify "$out"
    point "$1: status 1 though the digests are right" status_is 1
    point "  named" said "$2"
    again
}
again
sed -i '5d' "$out/overview/run-01/samples.jsonl"
resealed "a frame that was taken out" "run-01/samples.jsonl: field seq: .* frames, the verdict says"
sed -i '/"kind":"window_done"/s/"frames":\([0-9]*\)/"frames":\11/' "$out/overview/run-02/events.jsonl"
resealed "a window's count" "run-02/samples.jsonl: field window: window 1 has .* frames, its end says"
sed -i 's/"first":"baseline"/"first":"candidate"/' "$out/plan.json"
resealed "an order that the seed does not give" "plan.json: field first: not what the seed says"
sed -i 's/"failed_or_skipped":0/"failed_or_skipped":1/' "$out/session.json"
resealed "a session's count" "session.json: field failed_or_skipped: 1, the summaries have 0"
sed -i 's/"processes":/"processes":1/' "$out/overview/run-01/summary.json"
resealed "a figure of a summary" "run-01/summary.json: field processes: not what the raw evidence gives"
sed -i '5s/$/ /' "$out/report.html"
resealed "a byte of the page" "report.html: line 5: not what the raw evidence gives"
sed -i 's/"size":/"size":1/' "$out/candidate-bundle-manifest.json"
resealed "a manifest" "candidate-bundle-manifest.json: its digest is not the plan's"
sed -i '2s/"t_ns":[0-9]*/"t_ns":"x"/' "$out/overview/run-01/samples.jsonl"
resealed "a value of another type" "run-01/samples.jsonl: line 2: pairperf-frame-1.t_ns"
sed -i '/"kind":"verdict"/s/"own":{[^}]*}/"own":7/' "$out/overview/run-01/events.jsonl"
resealed "an event of another shape" "evidence of a shape that cannot be used"

# Newer forms, and what is no session.
again
sed -i 's/pairperf-plan-1/pairperf-plan-2/' "$out/plan.json"
look "$scratch/reseal.lua" "$out"
for command in verify report compare; do
    look $command "$out"
    point "$command refuses a newer form" status_is 2
    point "  by its name" said "unknown form pairperf-plan-2: newer than pairperf-plan-1"
done
again
sed -i '2s/pairperf-event-1/pairperf-event-7/' "$out/overview/run-01/events.jsonl"
look report "$out"
point "so does report for a line of events" said "unknown form pairperf-event-7: newer than pairperf-event-1"
look verify "$scratch"
point "verify of no session is refused" status_is 2

# A crash just before the seal's last line: the next report completes it.
again
sed -i '$d' "$out/session.log"
look report "$out"
look verify "$out"
point "report completes a seal without its line" status_is 0
# One that changes the reports is sealed again, over the earlier seal.
again
echo more >>"$out/report.md"
look report "$out"
look verify "$out"
point "report puts right what it computes" status_is 0
rm "$out/digests.json"
look report "$out"
look verify "$out"
point "and makes missing digests anew, the earlier seal stays a line" status_is 0
point "  of session.log" test "$(grep -c '^digests.json sha256' "$out/session.log")" -eq 2
finish
