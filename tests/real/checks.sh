# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# What tests/real/run.sh demands of a session: $session, $scenario, $status, $runs, $repetitions.
# Every check has a name, is counted, and is printed when it misses.
# shellcheck disable=SC2154 # run.sh sets them
# shellcheck disable=SC2016 # variables of jq, backquotes of Markdown

check() { # NAME COMMAND...
    name=$1
    shift
    if "$@" >/dev/null 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "MISSED: $scenario: $name" >&2
    fi
}

# NAME FILTER: it holds for the summary of every scheduled run.
check_runs() {
    check "$1" jq -es "length == $runs and all(.[]; $2)" "$session/$scenario"/run-*/summary.json
}

complete_files() {
    for file in plan.json probes.json session.json session.log report.json report.md \
        baseline-bundle-manifest.json candidate-bundle-manifest.json; do
        [ -s "$session/$file" ] || return
    done
    for run in "$session/$scenario"/run-*; do
        for file in samples.jsonl events.jsonl summary.json; do
            [ -s "$run/$file" ] || return
        done
    done
}

parsable() {
    find "$session" -path '*/home' -prune -o \( -name '*.json' -o -name '*.jsonl' \) -print |
        while IFS= read -r file; do
            jq empty "$file" || exit 1
        done
}

# proves: CLI-8, PROV-3, GRP-4
check_session() {
    check "exit status 0, not $status" test "$status" -eq 0
    check "complete files" complete_files
    check "every JSON document and line parses" parsable
    check "no artifact changed" jq -e 'all(.artifacts[]; .unchanged)' "$session/session.json"
    check "the report has both variants with all runs" jq -e "
        [.scenarios[].metrics[] | select(.name == \"cpu_percent\")
            | .baseline.n, .candidate.n] == [$repetitions, $repetitions]" "$session/report.json"
    check "the one argument that differs is reported" jq -e '
        .differences | length == 1 and (.[0] | startswith("arguments"))' "$session/report.json"
    check_runs "every run successful" '.status == "success"'
    check_runs "every window valid" '.window | .valid and .frames + .missed == 13'
    check_runs "the kernel says that no process is left" '
        .verdict | .verdict == "echild" and .proofs.group_empty and .proofs.recorded_gone
            and .survivors == [] and .unverified == []'
    check_runs "ended in peace by SIGTERM" '
        .verdict | .leader_exit == {code: 0} and (.forced or .escapees_killed | not)'
    check_runs "CPU and memory are known" '
        .metrics | all(.cpu_percent, .rss_max_bytes; .value > 0)'
    check_runs "no torn or malformed evidence" '.evidence == {malformed: 0, torn: []}'
}

# METRIC: the candidate's median is above the baseline's by more than a tenth.
check_rise() {
    check "the candidate's $1 is higher" jq -e "
        [.scenarios[].metrics[] | select(.name == \"$1\")][0]
            | .candidate.median > 1.1 * .baseline.median" "$session/report.json"
}

# proves: INF-1, INF-3, INF-4, RUN-1
check_inference() {
    check_runs "ready by its file" '.ready.how == "file:endpoint.url" and .time_to_ready_ns > 0'
    check_runs "hook ended in peace, none of it left" '
        .hook | .exit == {code: 0} and (.ended_early | not) and .verdict.verdict == "echild"'
    check_runs "at least 5 requests answered in the window, none failed" '
        .latency | .ok >= 5 and .failed == 0 and .malformed == 0'
    check_runs "64 tokens per answered request" '.latency | .output_tokens == 64 * .completed'
    check_runs "CPU per request and per token" '
        .metrics | all(.cpu_ms_per_request, .cpu_ms_per_token; .value > 0)'
    check "the server counted the tokens, all with times" jq -es '
        map(select(.status == "ok")) | length > 0 and all(.[];
            .tokens == 64 and .token_source == "usage" and .http_status == 200
                and .ttft_ms > 0 and .ttft_ms < .e2e_ms and (.itl_ms | length) == 63)' \
        "$session/$scenario"/run-*/hook/requests.jsonl
    check_rise cpu_ms_per_token
}

# FILTER: a line about the part, made of the summaries of its runs.
say() {
    jq -rs "$1" "$session/$scenario"/run-*/summary.json || :
    echo "report: ${session#"$root/"}/report.md"
}

say_inference() {
    say '"inference: \(map(select(.status == "success")) | length) of \(length) runs, " +
        "\(map(.latency.completed // 0) | add) requests with " +
        "\(map(.latency.output_tokens // 0) | add) tokens in their windows"'
}

# The handlers of all runs that are still there, by pid and program.
living_handlers() {
    for pid in $(jq -r '.escapees[]?.pid' "$session/$scenario"/run-*/summary.json); do
        readlink "/proc/$pid/exe" | grep chrome_crashpad_handler
    done
}

no_living_handlers() {
    [ -z "$(living_handlers)" ]
}

all_found() {
    for run in "$session/$scenario"/run-*; do
        jq -es --rawfile listed "$run/check/stdout" '
            [.[].procs[].pid] as $seen | $listed | split("\n") | map(select(. != "") | tonumber)
                | length >= 5 and all(.[]; IN($seen[]))' "$run/samples.jsonl" || return
    done
}

# proves: TRK-3, CAN-3
check_chromium() {
    check_runs "at least 5 processes" '.processes >= 5'
    check "every process that ps lists below the supervisor is in the frames" all_found
    check_runs "browser and crash handler are components" '
        .components | has("chromium") and has("chrome_crashpad_handler")'
    check_runs "its crash handlers left the group, as declared" '
        [.escapees[] | select(.exe | endswith("/chrome_crashpad_handler"))]
            | length >= 1 and all(.[]; .expected and .pid > 1 and .start > 0)'
    check "no crash handler is left" no_living_handlers
    check_rise cpu_percent
}

say_chromium() {
    say '"chromium: \(map(select(.status == "success")) | length) of \(length) runs, " +
        "\(map(.processes // 0) | min) to \(map(.processes // 0) | max) processes, " +
        "\([.[].escapees[]? | select(.expected)] | length) crash handlers left the group"'
    echo "crash handlers still there: $(living_handlers | wc -l)"
}

promtool_accepts() { "$root/third_party/unpacked/promtool" check metrics <"$1"; }
promtool_refuses() { ! promtool_accepts "$1"; }
reference_parser_accepts() {
    /usr/bin/python3 -c 'import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as families
found = {family.name: family for family in families(sys.stdin.read())}
assert len(found["pairperf_rss_max_bytes"].samples) == 10
assert found["pairperf_cpu_cores"].unit == "cores"' <"$1"
}
documented_query() { sed -n '/^```sql/,/^```/{/^```/!p}' "$root/docs/EXPORTS.md" | sed "s|DIR/|$session/|"; }
# run, pid, executable, CPU, last CPU, memory, writes; 2^53 + 1 + 4 * (2 * 10^9 + 9) and 2^64 - 1
duckdb_reads_exactly() {
    "$node" "$work/exports/query.mjs" "$(documented_query)" >"$session.rows" &&
        grep -qxF "$(printf 'run-10\t100\t/opt/app/app\t8000000036\t9007207254741029\t114294784\t18446744073709551615')" "$session.rows" &&
        [ "$(wc -l <"$session.rows")" -eq 20 ]
}
hostile_name_is_one_cell() {
    /usr/bin/python3 -c 'import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
names = {row["component"] for row in rows}
assert "script><img src=x onerror=alert(1)>|x\"" in names, names' "$1"
}

# proves: REP-4, REP-3
check_exports() {
    check "export openmetrics" "$pairperf" export openmetrics "$session" --to "$session.metrics"
    check "promtool accepts the metrics" promtool_accepts "$session.metrics"
    sed '/^# TYPE pairperf_cpu_cores/s/gauge/guage/' "$session.metrics" >"$session.wrong"
    check "  and refuses wrong ones" promtool_refuses "$session.wrong"
    check "the reference parser accepts them" reference_parser_accepts "$session.metrics"
    check "DuckDB reads samples with every digit" duckdb_reads_exactly
    check "export csv" "$pairperf" export csv "$session" --to "$session.csv"
    check "a hostile name is one cell" hostile_name_is_one_cell "$session.csv"
    check "export perfetto" "$pairperf" export perfetto "$session" --to "$session.trace.json"
    check "the trace parses" jq -e '[.traceEvents[] | select(.cat == "process")] | length == 20' \
        "$session.trace.json"
}

# What page/look.mjs sees in the session's report.html, in $session.look.
look_at_page() {
    rm -rf "$work/profile"
    "$node" "$here/page/look.mjs" chromium "$work/profile" "$session/report.html" >"$session.look" || :
    jq -r '"report.html: main thread \(.on.load_ms | round) ms of CPU to load, " +
        "\(.on.charts_ms | round) ms for its other charts"' "$session.look"
}

# NAME FILTER [ARG...]: it holds for what was seen with scripts (.on) and without (.off).
check_look() {
    look_name=$1
    look_filter=$2
    shift 2
    check "report.html: $look_name" jq -es "$@" "length == 1 and (.[0] | $look_filter)" "$session.look"
}

# proves: REP-4
check_page() {
    check_look "no message, error or dialog" '
        [.on, .off] | all([.console, .exceptions, .log, .dialogs] == [[], [], [], []])'
    check_look "asks for nothing but itself" '.url as $url | [.on, .off] | all(.requests == [$url])'
    check_look "every timeline becomes a chart" '.on | .charts >= 4 and .drawn == .charts'
    check_look "without scripts, tables and drawings are there" '
        .off.tables == .on.tables and (.off | .tables >= 5 and .drawings > .charts and .charts >= 4)'
    check_look "nothing is wider than the screen" '[.on, .off] | all(.wider | not)'
    check_look "keys reach a run's box and change every chart, and back" '
        .on.keys.run | .presses and .changed and .restored'
    check_look "keys reach the range and change it, and back" '
        .on.keys.range | .presses and .changed and .restored'
    check_look "keys open what is folded" '.on.keys.folded | .presses and .changed'
    check_look "loads in 2 s of the main thread, whatever else runs" '.on.load_ms < 2000'
}

at_most() { [ "$(wc -c <"$2")" -le "$1" ]; }
is_text_in_markdown() { grep -qF '&lt;img src=x onerror=alert(1)' "$1" && ! grep -qF '<img' "$1"; }

# proves: REP-4
check_long_page() {
    check "report.html has at most 2 MB" at_most 2000000 "$session/report.html"
    check "hostile names are text in report.md" is_text_in_markdown "$session/report.md"
    echo "report.html: $(wc -c <"$session/report.html") bytes"
}

# proves: REP-4
check_hostile_page() {
    check_look "a hostile scenario is text, and no image" '
        [.on, .off] | all((.text | contains($name)) and .images == 0)' --arg name "$hostile"
    check_look "a hostile process is text" '
        [.on, .off] | all(.heads | index($name))' --arg name "${hostile#</}"
}
