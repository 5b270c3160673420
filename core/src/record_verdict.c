/* SPDX-License-Identifier: Apache-2.0 */

/* The verdict's line. The invariant: whoever is not proven gone is named here, by pid, start token
 * and path, so that a person can look before doing anything.
 */
#include "records.h"

#include "json_keys.h"

/* `phase` is told of whoever was looked at last, to tell an unreaped one from a running one. */
static void process(pp_json *json, const pp_proc_info *info, bool expected, bool phase) {
    pp_json_begin_object(json);
    key_text(json, "exe", info->exe);
    key_bool(json, "expected", expected);
    key_i64(json, "pgid", info->pgid);
    if (phase)
        key_text(json, "phase", pp_phase_name(info->phase));
    key_i64(json, "pid", info->id.pid);
    key_u64(json, "start", info->id.start);
    key_u64(json, "unique", info->id.unique);
    pp_json_end_object(json);
}

static void escapees(pp_json *json, const pp_tree *tree) {
    uint64_t kept = tree->escapes < PP_TREE_ESCAPES_MAX ? tree->escapes : PP_TREE_ESCAPES_MAX;

    pp_json_begin_array(json);
    for (uint64_t i = 0; i < kept; i++)
        process(json, &tree->escape_records[i].info, tree->escape_records[i].expected, false);
    pp_json_end_array(json);
}

static void members(pp_json *json, const pp_tree *tree, bool seen) {
    for (size_t i = 0; i < tree->count; i++)
        if (tree->members[i].seen == seen)
            process(json, &tree->members[i].info, tree->members[i].expected, true);
}

/* Seen in the last look. */
static void survivors(pp_json *json, const pp_tree *tree) {
    pp_json_begin_array(json);
    members(json, tree, true);
    pp_json_end_array(json);
}

/* Not readable then, or never. */
static void unverified(pp_json *json, const pp_tree *tree) {
    pp_json_begin_array(json);
    members(json, tree, false);
    for (size_t i = 0; i < tree->unmet_count; i++) {
        const pp_proc_info unread = { .id = { .pid = tree->unmet[i].pid }, .exe = "[unread]" };
        process(json, &unread, false, false); /* nobody saw a phase */
    }
    pp_json_end_array(json);
}

static void outlasted(pp_json *json, const pp_outlasted *list) {
    pp_json_begin_array(json);
    for (uint64_t i = 0; i < list->total && i < PP_OUTLASTED_MAX; i++)
        process(json, &list->infos[i], false, true);
    pp_json_end_array(json);
}

static void own(pp_json *json, const pp_verdict_record *record) {
    pp_json_begin_object(json);
    key_reading(json, "cpu_ns", record->own_cpu_ns);
    key_u64(json, "frames", record->frames);
    key_u64(json, "frames_dropped", record->frames_dropped);
    key_reading(json, "rss_bytes", record->own_rss_bytes);
    key_u64(json, "tree_events", record->tree_events);
    pp_json_end_object(json);
}

/* What the supervisor reaped: all of the command's CPU once nothing of it is left. */
static pp_reading reaped_cpu(const pp_tree *tree) {
    return tree->reaped_missing ? pp_missing(tree->reaped_missing) : pp_known(tree->reaped_cpu_ns);
}

static void leader_exit(pp_json *json, const pp_verdict_record *record) {
    if (!record->exited) {
        pp_json_null(json);
        return;
    }
    write_exit_status(json, &record->exit);
}

static void proofs(pp_json *json, const pp_verdict_record *record) {
    pp_json_begin_object(json);
    key_bool(json, "group_empty", record->group_empty);
    key_text(json, "kernel_childless",
             !record->adopts     ? "unsupported"
             : record->childless ? "ok"
                                 : "no");
    key_bool(json, "recorded_gone", record->tree->count == 0 && record->tree->unmet_count == 0);
    pp_json_end_object(json);
}

void pp__record_verdict(pp_json *json, const pp_verdict_record *record) {
    const pp_stop *stop = record->stop;

    pp_json_begin_object(json);
    key_text(json, "cause", record->cause);
    pp_json_key(json, "cgroup_empty");
    if (record->leaf_empty == PP_OK || record->leaf_empty == PP_E_AGAIN)
        pp_json_bool(json, record->leaf_empty == PP_OK);
    else
        pp_json_null(json);
    pp_json_key(json, "escapees");
    escapees(json, record->tree);
    key_bool(json, "escapees_killed", stop->escapees_killed);
    key_u64(json, "escapees_total", record->tree->escapes);
    key_bool(json, "forced", stop->forced);
    key_text(json, "kind", "verdict");
    pp_json_key(json, "leader_exit");
    leader_exit(json, record);
    key_bool(json, "leader_reaped_elsewhere", stop->leader_lost);
    pp_json_key(json, "outlasted");
    outlasted(json, record->outlasted);
    key_u64(json, "outlasted_total", record->outlasted->total);
    pp_json_key(json, "own");
    own(json, record);
    pp_json_key(json, "proofs");
    proofs(json, record);
    key_reading(json, "reaped_cpu_ns", reaped_cpu(record->tree));
    key_text(json, "schema", "pairperf-event-1");
    key_u64(json, "seq", record->seq);
    key_text(json, "signal_failure",
             stop->signal_failed ? pp_status_name(stop->signal_status) : NULL);
    key_text(json, "source", "supervisor");
    pp_json_key(json, "survivors");
    survivors(json, record->tree);
    key_i64(json, "t_ns", record->now.t_ns);
    pp_json_key(json, "unverified");
    unverified(json, record->tree);
    key_text(json, "verdict", pp_verdict_name(stop->verdict));
    key_i64(json, "verified_ns", record->verified_ns);
    key_i64(json, "wall_ns", record->now.wall_ns);
    pp_json_end_object(json);
}
