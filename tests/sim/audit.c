/* SPDX-License-Identifier: Apache-2.0 */
/* What the evidence says, compared with what was given out and with the truth: every record is
 * there once, no failed read became a number, every total is one that can be, every process that
 * was a member has exactly one end or is named in the verdict.
 *
 * proves: TRK-1, TRK-3, TRK-6, TRK-8
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_scan.h"
#include "pairperf/message.h"
#include "sim.h"

typedef struct field {
    const char *key;
    size_t size, offset;
    bool of_memory;
} field;

#define USAGE(name)                                                                                \
    { #name, sizeof #name - 1, offsetof(pp_usage, name), false }
#define MEMORY(name)                                                                               \
    { #name, sizeof #name - 1, offsetof(pp_memory, name), true }

enum { ESCAPEES_NAMED = 64 }; /* the supervisor's cap */
enum { RSS_FIELD = 0, USAGE_FIELDS = 13, MEMORY_FIELDS = 4 };

static const field fields[] = {
    USAGE(rss_bytes),
    USAGE(cpu_ns),
    USAGE(child_cpu_ns),
    USAGE(write_bytes),
    USAGE(threads),
    USAGE(footprint_bytes),
    USAGE(wakeups_pkg_idle),
    USAGE(wakeups_interrupt),
    USAGE(voluntary_switches),
    USAGE(involuntary_switches),
    USAGE(billed_energy),
    USAGE(cancelled_write_bytes),
    USAGE(logical_write_bytes),
    MEMORY(pss_bytes),
    MEMORY(uss_bytes),
    MEMORY(swap_bytes),
    MEMORY(footprint_pss_bytes),
};

static json_slice line_of(const sim_record *record) {
    return (json_slice){ record->line, record->size - 1 };
}

static int process_of(sim_world *w, json_slice object) {
    json_slice key, value;
    const char *at = NULL;
    bool broken;
    int32_t pid = 0;
    uint64_t start = 0, unique = 0;

    while (json_next(object, &at, &key, &value, &broken)) {
        if (json_is(key, "pid"))
            pid = (int32_t)json_u64(value);
        else if (json_is(key, "start"))
            start = json_u64(value);
        else if (json_is(key, "unique"))
            unique = json_u64(value);
    }
    for (int i = w->count - 1; i >= SIM_FIRST; i--) {
        const sim_proc *p = &w->procs[i];
        if (p->pid == pid && p->id.start == start && p->id.unique == unique)
            return i;
    }
    sim_fail(w, "the evidence names %d, which never was", pid);
    return 0;
}

/* The last reading of this process that succeeded. */
static const sim_given *last_given(const sim_world *w, int proc, int64_t to_ns) {
    for (size_t i = w->given_count; i > 0; i--) {
        const sim_given *given = &w->given[i - 1];
        if (given->t_ns <= to_ns && given->proc == proc && !given->is_memory &&
            given->status == PP_OK)
            return given;
    }
    return NULL;
}

static pp_reading given_reading(const sim_given *given, const field *f) {
    const char *base = f->of_memory ? (const char *)&given->memory : (const char *)&given->usage;
    pp_reading reading = pp_missing(given->status);

    if (given->status == PP_OK)
        memcpy(&reading, base + f->offset, sizeof reading);
    return reading;
}

/* Readings that were given out during one pass. */
typedef struct pass_readings {
    const sim_given *from, *to;
    bool memory;
    pp_sum rss; /* of the living, as the frame has it */
} pass_readings;

static pass_readings pass_of(const sim_world *w, int64_t from_ns, int64_t to_ns, bool memory) {
    size_t low = 0, high = w->given_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (w->given[middle].t_ns < from_ns)
            low = middle + 1;
        else
            high = middle;
    }
    while (high < w->given_count && w->given[high].t_ns <= to_ns)
        high++;
    return (pass_readings){ .from = w->given + low, .to = w->given + high, .memory = memory };
}

static const field *field_of(json_slice key) {
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (key.size == fields[i].size && memcmp(key.at, fields[i].key, key.size) == 0)
            return &fields[i];
    return NULL;
}

/* A field of one process in a frame says what some reading of this pass said. */
static void check_field(sim_world *w, const pass_readings *pass, const field *f, int proc,
                        json_slice value, json_slice missing) {
    bool is_null = json_is(value, "null"), asked = false;
    json_slice why = { 0 };

    if (is_null)
        why = json_string(json_member(missing, f->key));
    for (const sim_given *given = pass->from; given < pass->to; given++) {
        if (given->proc != proc || given->is_memory != f->of_memory)
            continue;
        asked = true;
        pp_reading reading = given_reading(given, f);
        if (reading.known ? !is_null && json_u64(value) == reading.value
                          : is_null && json_is(why, pp_status_name(reading.why)))
            return;
    }
    if (asked || !f->of_memory)
        sim_fail(w, "%s of %d is '%.*s' (%.*s), and that was not read", f->key, w->procs[proc].pid,
                 (int)value.size, value.at, (int)why.size, why.at);
}

static void check_proc(sim_world *w, json_slice proc, pass_readings *pass) {
    int index = process_of(w, proc);
    json_slice missing = json_member(proc, "missing"), key, value;
    const char *at = NULL;
    bool broken, zombie = false;
    size_t found = 0, wanted = USAGE_FIELDS + (pass->memory ? MEMORY_FIELDS : 0);
    pp_reading rss = { 0 };

    if (!w->procs[index].ours)
        sim_fail(w, "the frame holds the stranger %d", w->procs[index].pid);
    while (json_next(proc, &at, &key, &value, &broken)) {
        const field *f = field_of(key);
        if (f) {
            check_field(w, pass, f, index, value, missing);
            found++;
        }
        if (f == &fields[RSS_FIELD])
            rss = json_is(value, "null") ? pp_missing(PP_E_DENIED) : pp_known(json_u64(value));
        zombie = zombie || json_is(value, "\"zombie\"");
    }
    if (broken || found != wanted)
        sim_fail(w, "a process of a frame has %zu fields, not %zu", found, wanted);
    if (!zombie)
        pp_sum_add(&pass->rss, rss);
}

static bool was_given(const sim_world *w, int proc, uint64_t cpu_ns) {
    for (size_t i = 0; i < w->given_count; i++) {
        const sim_given *given = &w->given[i];
        if (given->proc == proc && given->status == PP_OK && given->usage.cpu_ns.known &&
            given->usage.cpu_ns.value == cpu_ns)
            return true;
    }
    return false;
}

static void check_exit(sim_world *w, json_slice exit, int64_t to_ns) {
    int index = process_of(w, exit);
    sim_proc *p = &w->procs[index];
    json_slice how = json_member(exit, "exit");
    char expected[80];

    p->exit_records++;
    if (!p->ours)
        sim_fail(w, "the end of the stranger %d", p->pid);
    if (p->state != SIM_GONE && !w->at_end)
        sim_fail(w, "the end of %d, which lives", p->pid);
    if (p->exit_records > 1)
        sim_fail(w, "%d ended twice", p->pid);
    if (!json_is(how, "null")) {
        if (p->exit.by_signal)
            (void)snprintf(expected, sizeof expected, "{\"core\":%s,\"signal\":\"%s\"}",
                           p->exit.core_dumped ? "true" : "false",
                           pp_signal_name(p->exit.signal_number));
        else
            (void)snprintf(expected, sizeof expected, "{\"code\":%d}", p->exit.code);
        if (!json_is(how, expected))
            sim_fail(w, "%d ended with %.*s, not %s", p->pid, (int)how.size, how.at, expected);
    }
    bool final = json_is(json_member(exit, "final"), "true");
    const sim_given *given = last_given(w, index, to_ns);
    json_slice value = json_member(exit, "cpu_ns");
    if (!json_is(value, "null") && !was_given(w, index, json_u64(value)))
        sim_fail(w, "the end of %d has a cpu_ns that nobody gave", p->pid);
    if (final && (!given || !given->zombie))
        sim_fail(w, "the final figures of %d were read while it lived", p->pid);
    if (final && given && given->usage.cpu_ns.known && json_u64(value) != given->usage.cpu_ns.value)
        sim_fail(w, "the final cpu_ns of %d is not the last one read", p->pid);
}

static void check_total(sim_world *w, json_slice frame, int64_t end_ns, uint64_t *floor_ns) {
    json_slice total = json_member(frame, "conservation");
    json_slice cpu = json_member(total, "cpu_ns"), written = json_member(total, "write_bytes");

    if (!json_is(cpu, "null")) {
        uint64_t ns = json_u64(cpu);
        if (ns < *floor_ns)
            sim_fail(w, "the CPU total fell from %llu to %llu", (unsigned long long)*floor_ns,
                     (unsigned long long)ns);
        if (ns > sim_true_cpu(w, end_ns)) /* ticks are only ever cut off here */
            sim_fail(w, "the CPU total is %llu, the truth is %llu", (unsigned long long)ns,
                     (unsigned long long)sim_true_cpu(w, end_ns));
        *floor_ns = ns;
    }
    if (!json_is(written, "null") && json_u64(written) > sim_true_written(w, end_ns))
        sim_fail(w, "the written total is %llu, the truth is %llu",
                 (unsigned long long)json_u64(written),
                 (unsigned long long)sim_true_written(w, end_ns));
}

/* Figures of the leaf: none while it is unknown, never more than what was used inside it, and every
 * member of the frame that left before its discovery began is counted. */
static void check_leaf(sim_world *w, json_slice frame, int64_t end_ns, uint64_t *floor_ns) {
    json_slice leaf = json_member(frame, "cgroup"), procs = json_member(frame, "procs"), key, item;
    int64_t listed_ns = (int64_t)json_u64(json_member(frame, "listed_cont_ns")) - w->slept_ns;
    const char *at = NULL;
    bool broken;
    uint64_t gone = 0, left = 0;

    if (json_is(leaf, "null") != !w->plan.leaf)
        sim_fail(w, "the leaf of a frame is %.*s", (int)leaf.size, leaf.at);
    if (!w->plan.leaf)
        return;
    uint64_t strays = json_u64(json_member(leaf, "strays"));
    json_slice cpu = json_member(leaf, "cpu_ns");
    for (int i = SIM_FIRST; i < w->count; i++)
        left += w->procs[i].left_leaf_ns <= end_ns ||
                (w->procs[i].ours && !w->procs[i].in_leaf && w->procs[i].born_ns <= end_ns);
    if (strays > left)
        sim_fail(w, "%llu strays, and %llu left the leaf", (unsigned long long)strays,
                 (unsigned long long)left);
    while (json_next(procs, &at, &key, &item, &broken)) {
        const sim_proc *p = &w->procs[process_of(w, item)];
        gone += !p->in_leaf && p->born_ns < listed_ns && p->ended_ns > end_ns &&
                (p->left_leaf_ns < listed_ns || p->left_leaf_ns == SIM_NEVER);
    }
    if (strays < gone && w->plan.fault == 0 && w->plan.suspend_ns == SIM_NEVER)
        sim_fail(w, "%llu strays, and %llu of the frame are outside the leaf",
                 (unsigned long long)strays, (unsigned long long)gone);
    if (json_is(cpu, "null"))
        return;
    if (json_u64(cpu) < *floor_ns || json_u64(cpu) > sim_true_cpu(w, end_ns))
        sim_fail(w, "the leaf's total is %llu, was %llu, and the truth is %llu",
                 (unsigned long long)json_u64(cpu), (unsigned long long)*floor_ns,
                 (unsigned long long)sim_true_cpu(w, end_ns));
    *floor_ns = json_u64(cpu);
}

static bool is_in(sim_world *w, json_slice procs, const sim_proc *p) {
    json_slice key, item;
    const char *at = NULL;
    bool broken;

    while (json_next(procs, &at, &key, &item, &broken))
        if (&w->procs[process_of(w, item)] == p)
            return true;
    return false;
}

/* Was anybody of the tree born or ended then? */
static bool changed(const sim_world *w, int64_t since_ns, int64_t end_ns) {
    for (int i = SIM_FIRST; i < w->count; i++) {
        const sim_proc *p = &w->procs[i];
        if (p->ours && ((p->born_ns >= since_ns && p->born_ns <= end_ns) ||
                        (p->ended_ns >= since_ns && p->ended_ns <= end_ns)))
            return true;
    }
    return false;
}

/* Where nothing changed since the frame before began, and no look failed, all that live are in the
 * frame. */
static void check_whole(sim_world *w, json_slice frame, int64_t end_ns, int64_t *since_ns) {
    json_slice procs = json_member(frame, "procs");
    int64_t from_ns = *since_ns;

    *since_ns = (int64_t)json_u64(json_member(frame, "listed_cont_ns")) - w->slept_ns;
    if (!w->plan.linux_rules || w->plan.hidepid || w->plan.suspend_ns != SIM_NEVER ||
        !json_is(json_member(frame, "enumeration"), "\"ok\"") || changed(w, from_ns, end_ns))
        return;
    for (int i = SIM_FIRST; i < w->count; i++) {
        const sim_proc *p = &w->procs[i];
        if (p->ours && p->born_ns < from_ns && p->ended_ns > end_ns && !is_in(w, procs, p))
            sim_fail(w, "%d lives and is not in the frame", p->pid);
    }
}

/* Of the frame before. */
typedef struct previous {
    uint64_t cpu_ns, leaf_cpu_ns;
    int64_t listed_ns;
} previous;

static void check_frame(sim_world *w, const sim_record *record, previous *before) {
    json_slice frame = line_of(record), key, item;
    int64_t t_ns = (int64_t)json_u64(json_member(frame, "t_ns"));
    int64_t end_ns = (int64_t)json_u64(json_member(frame, "end_ns"));
    bool memory = json_is(json_member(frame, "memory_pass"), "true");
    pass_readings pass = pass_of(w, t_ns, end_ns, memory);
    const char *at = NULL;
    bool broken;

    json_slice procs = json_member(frame, "procs");
    while (json_next(procs, &at, &key, &item, &broken))
        check_proc(w, item, &pass);
    if (broken)
        sim_fail(w, "frame %llu does not parse", (unsigned long long)record->seq);
    at = NULL;
    json_slice exits = json_member(frame, "exits");
    while (json_next(exits, &at, &key, &item, &broken))
        check_exit(w, item, end_ns);
    check_total(w, frame, end_ns, &before->cpu_ns);
    check_leaf(w, frame, end_ns, &before->leaf_cpu_ns);
    check_whole(w, frame, end_ns, &before->listed_ns);
    pp_reading total = pp_sum_total(&pass.rss), live = record->live_rss;
    if (record->written &&
        (total.known != live.known || (total.known && total.value != live.value)))
        sim_fail(w, "the live figure of frame %llu is not the sum of the living",
                 (unsigned long long)record->seq);
}

/* One that nobody could look at is named by its number alone. */
static bool is_unread(sim_world *w, json_slice item) {
    int32_t pid = (int32_t)json_u64(json_member(item, "pid"));

    if (!json_is(json_member(item, "exe"), "\"[unread]\""))
        return false;
    for (int i = SIM_FIRST; i < w->count; i++)
        if (w->procs[i].pid == pid)
            return true;
    sim_fail(w, "the evidence names %d, which never was", pid);
    return true;
}

static void list_members(sim_world *w, json_slice list) {
    json_slice key, item;
    const char *at = NULL;
    bool broken;

    while (json_next(list, &at, &key, &item, &broken)) {
        if (is_unread(w, item))
            continue;
        sim_proc *p = &w->procs[process_of(w, item)];
        if (p->listed)
            sim_fail(w, "%d is listed twice", p->pid);
        if (!p->ours)
            sim_fail(w, "the stranger %d is listed", p->pid);
        p->listed = true;
    }
}

static void check_verdict(sim_world *w, const sim_record *record) {
    json_slice verdict = line_of(record), key, item;
    json_slice word = json_string(json_member(verdict, "verdict"));
    const char *at = NULL;
    bool broken;

    (void)snprintf(w->verdict, sizeof w->verdict, "%.*s", (int)word.size, word.at);
    w->forced = json_is(json_member(verdict, "forced"), "true");
    if (w->refused_signal && json_is(json_member(verdict, "signal_failure"), "null"))
        sim_fail(w, "a refused signal is not told of");
    json_slice empty = json_member(verdict, "cgroup_empty");
    bool gone = strcmp(w->verdict, "echild") == 0 ||
                strcmp(w->verdict, "group_empty_and_recorded_gone") == 0;
    if (!w->plan.leaf && !json_is(empty, "null"))
        sim_fail(w, "a leaf that is none is called empty or not");
    if (json_is(empty, "false") && gone)
        sim_fail(w, "verdict %s, and somebody lives in the leaf", w->verdict);
    if (json_is(empty, "true") && w->in_leaf_at_end > 0)
        sim_fail(w, "the leaf is called empty while %d live in it", w->in_leaf_at_end);
    list_members(w, json_member(verdict, "survivors"));
    list_members(w, json_member(verdict, "unverified"));
    while (json_next(json_member(verdict, "escapees"), &at, &key, &item, &broken)) {
        sim_proc *p = &w->procs[process_of(w, item)];
        p->told_escaped = true;
        if (!p->ever_outside)
            sim_fail(w, "%d is called an escapee, and never left", p->pid);
    }
    if (json_is(json_member(verdict, "leader_reaped_elsewhere"), "true") && !w->leader_stolen)
        sim_fail(w, "the leader is called reaped by somebody else, and was not");
    uint64_t told = json_u64(json_member(verdict, "escapees_total"));
    for (int i = SIM_FIRST; i < w->count && told <= ESCAPEES_NAMED; i++)
        if (w->procs[i].seen_outside && !w->procs[i].told_escaped)
            sim_fail(w, "nothing is said of the escape of %d", w->procs[i].pid);
}

static int by_seq(const void *a, const void *b) {
    uint64_t left = ((const sim_record *)a)->seq, right = ((const sim_record *)b)->seq;

    return (left > right) - (left < right);
}

/* Every number once, from 1 to the verdict's. */
static void check_sequence(sim_world *w) {
    sim_harness *h = &w->harness;

    for (uint64_t seq = 1; seq <= h->record_count; seq++)
        if (h->records[seq - 1].seq != seq) {
            sim_fail(w, "record %llu is lost", (unsigned long long)seq);
            return;
        }
}

static void check_ends(sim_world *w, bool whole) {
    for (int i = SIM_FIRST; i < w->count; i++) {
        const sim_proc *p = &w->procs[i];
        bool alive_at_end = p->state != SIM_GONE && p->ours && p->born_ns < w->end_ns;
        if (!p->recorded)
            continue;
        if (p->exit_records > 0 && p->listed)
            sim_fail(w, "%d is listed although its end was told", p->pid);
        if (whole && p->exit_records == 0 && !p->listed)
            sim_fail(w, "nothing is said about what became of %d", p->pid);
        if (alive_at_end && !p->listed && w->now_ns == w->end_ns)
            sim_fail(w, "%d lives and is not listed", p->pid);
    }
}

/* Who has not left, dead or alive, was always inside. */
static void check_last_leaf(sim_world *w, const sim_record *frame) {
    json_slice leaf = json_member(line_of(frame), "cgroup");
    json_slice cpu = json_member(leaf, "cpu_ns");

    if (w->plan.leaf && w->plan.leavers == 0 &&
        (json_is(cpu, "null") || json_u64(cpu) != w->cpu_at_end))
        sim_fail(w, "the leaf's last total is %.*s, the truth is %llu", (int)cpu.size, cpu.at,
                 (unsigned long long)w->cpu_at_end);
}

static void check_last_total(sim_world *w, const sim_record *frame) {
    bool proven = strcmp(w->verdict, "echild") == 0;

    if (frame && proven && sim_plan_is_clean(&w->plan)) /* lost to conservation, not to the leaf */
        check_last_leaf(w, frame);
    if (!frame || !proven || w->lossy || !sim_plan_is_clean(&w->plan))
        return;
    json_slice total = json_member(line_of(frame), "conservation");
    json_slice cpu = json_member(total, "cpu_ns"), written = json_member(total, "write_bytes");
    if (json_is(cpu, "null") || json_u64(cpu) != w->cpu_at_end)
        sim_fail(w, "the last CPU total is %.*s, the truth is %llu", (int)cpu.size, cpu.at,
                 (unsigned long long)w->cpu_at_end);
    if (json_is(written, "null") || json_u64(written) != w->write_at_end)
        sim_fail(w, "the last written total is %.*s, the truth is %llu", (int)written.size,
                 written.at, (unsigned long long)w->write_at_end);
}

/* Nobody is called that who waited for all its children, or has not lost any yet. */
static void check_discards(sim_world *w, const sim_record *record) {
    const sim_proc *p = &w->procs[process_of(w, line_of(record))];

    if (!p->discarded)
        sim_fail(w, "%d is said to discard what its children used", p->pid);
}

void sim_audit(sim_world *w) {
    sim_harness *h = &w->harness;
    const sim_record *last_frame = NULL;
    previous before = { .listed_ns = INT64_MIN };

    if (h->record_count > 1)
        qsort(h->records, h->record_count, sizeof *h->records, by_seq);
    bool whole = !w->plan.save_fails && !(w->plan.babbles && !w->leader);
    if (whole)
        check_sequence(w);
    for (size_t i = 0; i < h->record_count; i++) {
        const sim_record *record = &h->records[i];
        if (w->trace)
            printf("%s", record->line);
        if (record->type == PP_MSG_FRAME && w->audited) {
            check_frame(w, record, &before);
            last_frame = record;
        } else if (record->type == PP_MSG_VERDICT ||
                   memmem(record->line, record->size, "\"kind\":\"verdict\"", 16)) {
            check_verdict(w, record);
        } else if (memmem(record->line, record->size, "\"kind\":\"discards_children\"", 26)) {
            check_discards(w, record);
        }
    }
    if (!w->audited || !w->verdict[0])
        return;
    check_ends(w, whole && w->plan.track);
    check_last_total(w, last_frame);
}
