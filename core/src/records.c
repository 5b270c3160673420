/* SPDX-License-Identifier: Apache-2.0 */

/* Evidence lines. The invariant: a reading that is missing is written as null and named with its
 * reason under "missing"; it is never left out and never a zero. Keys are in byte order, which the
 * tables below keep by hand and the writer checks.
 */
#include "records.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "json_keys.h"

typedef enum field_kind {
    F_I32,
    F_U64,
    F_BOOL,
    F_READING,
    F_MEMORY,
    F_EXE,
    F_PHASE,
    F_EXIT,
    F_MISSING
} field_kind;

typedef struct field {
    pp_json_name name;
    field_kind kind;
    size_t offset;
} field;

#define AT(member) offsetof(pp_frame_proc, member)

static const field proc_fields[] = {
    { PP_JSON_NAME("billed_energy"), F_READING, AT(usage.billed_energy) },
    { PP_JSON_NAME("cancelled_write_bytes"), F_READING, AT(usage.cancelled_write_bytes) },
    { PP_JSON_NAME("child_cpu_ns"), F_READING, AT(usage.child_cpu_ns) },
    { PP_JSON_NAME("cpu_ns"), F_READING, AT(usage.cpu_ns) },
    { PP_JSON_NAME("escaped"), F_BOOL, AT(escaped) },
    { PP_JSON_NAME("exe"), F_EXE, AT(info.exe) },
    { PP_JSON_NAME("footprint_bytes"), F_READING, AT(usage.footprint_bytes) },
    { PP_JSON_NAME("footprint_pss_bytes"), F_MEMORY, AT(memory.footprint_pss_bytes) },
    { PP_JSON_NAME("in_group"), F_BOOL, AT(in_group) },
    { PP_JSON_NAME("involuntary_switches"), F_READING, AT(usage.involuntary_switches) },
    { PP_JSON_NAME("leader"), F_BOOL, AT(leader) },
    { PP_JSON_NAME("logical_write_bytes"), F_READING, AT(usage.logical_write_bytes) },
    { PP_JSON_NAME("missing"), F_MISSING, 0 },
    { PP_JSON_NAME("pgid"), F_I32, AT(info.pgid) },
    { PP_JSON_NAME("phase"), F_PHASE, AT(info.phase) },
    { PP_JSON_NAME("pid"), F_I32, AT(info.id.pid) },
    { PP_JSON_NAME("ppid"), F_I32, AT(info.ppid) },
    { PP_JSON_NAME("pss_bytes"), F_MEMORY, AT(memory.pss_bytes) },
    { PP_JSON_NAME("rss_bytes"), F_READING, AT(usage.rss_bytes) },
    { PP_JSON_NAME("shares_memory"), F_BOOL, AT(usage.shares_memory) },
    { PP_JSON_NAME("sid"), F_I32, AT(info.sid) },
    { PP_JSON_NAME("sigchld_ignored"), F_BOOL, AT(info.sigchld_ignored) },
    { PP_JSON_NAME("start"), F_U64, AT(info.id.start) },
    { PP_JSON_NAME("start_ns"), F_U64, AT(info.start_ns) },
    { PP_JSON_NAME("swap_bytes"), F_MEMORY, AT(memory.swap_bytes) },
    { PP_JSON_NAME("switches_lower_bound"), F_BOOL, AT(usage.switches_lower_bound) },
    { PP_JSON_NAME("threads"), F_READING, AT(usage.threads) },
    { PP_JSON_NAME("unique"), F_U64, AT(info.id.unique) },
    { PP_JSON_NAME("uss_bytes"), F_MEMORY, AT(memory.uss_bytes) },
    { PP_JSON_NAME("voluntary_switches"), F_READING, AT(usage.voluntary_switches) },
    { PP_JSON_NAME("wakeups_interrupt"), F_READING, AT(usage.wakeups_interrupt) },
    { PP_JSON_NAME("wakeups_pkg_idle"), F_READING, AT(usage.wakeups_pkg_idle) },
    { PP_JSON_NAME("write_bytes"), F_READING, AT(usage.write_bytes) },
};

#undef AT
#define AT(member) offsetof(pp_frame_exit, member)

static const field exit_fields[] = {
    { PP_JSON_NAME("billed_energy"), F_READING, AT(usage.billed_energy) },
    { PP_JSON_NAME("cancelled_write_bytes"), F_READING, AT(usage.cancelled_write_bytes) },
    { PP_JSON_NAME("child_cpu_ns"), F_READING, AT(usage.child_cpu_ns) },
    { PP_JSON_NAME("cpu_ns"), F_READING, AT(usage.cpu_ns) },
    { PP_JSON_NAME("exe"), F_EXE, AT(info.exe) },
    { PP_JSON_NAME("exit"), F_EXIT, 0 },
    { PP_JSON_NAME("final"), F_BOOL, AT(final) },
    { PP_JSON_NAME("involuntary_switches"), F_READING, AT(usage.involuntary_switches) },
    { PP_JSON_NAME("logical_write_bytes"), F_READING, AT(usage.logical_write_bytes) },
    { PP_JSON_NAME("missing"), F_MISSING, 0 },
    { PP_JSON_NAME("pgid"), F_I32, AT(info.pgid) },
    { PP_JSON_NAME("pid"), F_I32, AT(info.id.pid) },
    { PP_JSON_NAME("ppid"), F_I32, AT(info.ppid) },
    { PP_JSON_NAME("start"), F_U64, AT(info.id.start) },
    { PP_JSON_NAME("start_ns"), F_U64, AT(info.start_ns) },
    { PP_JSON_NAME("switches_lower_bound"), F_BOOL, AT(usage.switches_lower_bound) },
    { PP_JSON_NAME("unique"), F_U64, AT(info.id.unique) },
    { PP_JSON_NAME("voluntary_switches"), F_READING, AT(usage.voluntary_switches) },
    { PP_JSON_NAME("wakeups_interrupt"), F_READING, AT(usage.wakeups_interrupt) },
    { PP_JSON_NAME("wakeups_pkg_idle"), F_READING, AT(usage.wakeups_pkg_idle) },
    { PP_JSON_NAME("write_bytes"), F_READING, AT(usage.write_bytes) },
};

#undef AT
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static void reading(pp_json *json, const pp_reading *value) {
    if (value->known)
        pp_json_u64(json, value->value);
    else
        pp_json_null(json);
}

static void reason(pp_json *json, const pp_json_name *name, pp_status why) {
    pp_json_name_key(json, name);
    pp_json_string(json, pp_status_name(why));
}

static const void *at(const void *record, const field *f) {
    return (const char *)record + f->offset;
}

static void missing(pp_json *json, const void *record, const field *fields, size_t count,
                    bool memory_pass) {
    pp_json_begin_object(json);
    for (size_t i = 0; i < count; i++) {
        if (fields[i].kind != F_READING && !(fields[i].kind == F_MEMORY && memory_pass))
            continue;
        const pp_reading *value = at(record, &fields[i]);
        if (!value->known)
            reason(json, &fields[i].name, value->why);
    }
    pp_json_end_object(json);
}

static void write_fields(pp_json *json, const void *record, const field *fields, size_t count,
                         bool memory_pass) {
    pp_json_begin_object(json);
    for (size_t i = 0; i < count; i++) {
        const field *f = &fields[i];
        const pp_frame_exit *ended = record; /* F_EXIT stands in exit_fields only */
        if (f->kind == F_MEMORY && !memory_pass)
            continue;
        pp_json_name_key(json, &f->name);
        switch (f->kind) {
        case F_I32:
            pp_json_i64(json, *(const int32_t *)at(record, f));
            break;
        case F_U64:
            pp_json_u64(json, *(const uint64_t *)at(record, f));
            break;
        case F_BOOL:
            pp_json_bool(json, *(const bool *)at(record, f));
            break;
        case F_READING:
        case F_MEMORY:
            reading(json, at(record, f));
            break;
        case F_EXE:
            pp_json_string(json, at(record, f));
            break;
        case F_PHASE:
            pp_json_string(json, pp_phase_name(*(const pp_phase *)at(record, f)));
            break;
        case F_EXIT:
            if (ended->exit_known)
                write_exit_status(json, &ended->exit);
            else
                pp_json_null(json);
            break;
        case F_MISSING:
            missing(json, record, fields, count, memory_pass);
            break;
        }
    }
    pp_json_end_object(json);
}

static void conservation(pp_json *json, const pp_conservation *total) {
    pp_json_begin_object(json);
    key_u64(json, "clamped_ns", total->clamped_ns);
    key_u64(json, "clamped_write_bytes", total->clamped_write_bytes);
    key_reading(json, "cpu_ns", total->cpu_ns);
    key_u64(json, "error_ns", total->error_ns);
    key_bool(json, "lower_bound", total->lower_bound);
    pp_json_key(json, "missing");
    pp_json_begin_object(json);
    if (!total->cpu_ns.known)
        key_text(json, "cpu_ns", pp_status_name(total->cpu_ns.why));
    if (!total->write_bytes.known)
        key_text(json, "write_bytes", pp_status_name(total->write_bytes.why));
    pp_json_end_object(json);
    key_u64(json, "reaped_cpu_ns", total->reaped_cpu_ns);
    key_u64(json, "reaped_write_bytes", total->reaped_write_bytes);
    key_u64(json, "unreaped", total->unreaped);
    key_reading(json, "write_bytes", total->write_bytes);
    pp_json_end_object(json);
}

#define LEAF(member, memory)                                                                       \
    { PP_JSON_NAME(#member), offsetof(pp_leaf, member), memory }

static const struct {
    pp_json_name name;
    size_t offset;
    bool memory;
} leaf_figures[] = {
    LEAF(anon_bytes, true),  LEAF(cpu_ns, false),      LEAF(current_bytes, true),
    LEAF(file_bytes, true),  LEAF(kernel_bytes, true), LEAF(peak_bytes, true),
    LEAF(read_bytes, false), LEAF(shmem_bytes, true),  LEAF(swap_bytes, true),
    LEAF(system_ns, false),  LEAF(user_ns, false),     LEAF(write_bytes, false),
};

#undef LEAF

static const pp_reading *leaf_figure(const pp_leaf *leaf, size_t index) {
    return (const pp_reading *)((const char *)leaf + leaf_figures[index].offset);
}

static void leaf_memory(pp_json *json, const pp_leaf *leaf) {
    pp_json_begin_object(json);
    for (size_t i = 0; i < COUNT_OF(leaf_figures); i++)
        if (leaf_figures[i].memory) {
            pp_json_name_key(json, &leaf_figures[i].name);
            reading(json, leaf_figure(leaf, i));
        }
    pp_json_end_object(json);
}

static void leaf_missing(pp_json *json, const pp_leaf *leaf) {
    pp_json_begin_object(json);
    for (size_t i = 0; i < COUNT_OF(leaf_figures); i++)
        if (!leaf_figure(leaf, i)->known)
            reason(json, &leaf_figures[i].name, leaf_figure(leaf, i)->why);
    pp_json_end_object(json);
}

static void cgroup(pp_json *json, const pp_frame *frame) {
    const pp_leaf *leaf = &frame->leaf;

    if (!frame->has_leaf) {
        pp_json_null(json);
        return;
    }
    pp_json_begin_object(json);
    key_reading(json, "cpu_ns", leaf->cpu_ns);
    pp_json_key(json, "memory");
    leaf_memory(json, leaf);
    pp_json_key(json, "missing");
    leaf_missing(json, leaf);
    key_reading(json, "read_bytes", leaf->read_bytes);
    key_u64(json, "strays", frame->strays);
    key_reading(json, "system_ns", leaf->system_ns);
    key_reading(json, "user_ns", leaf->user_ns);
    key_reading(json, "write_bytes", leaf->write_bytes);
    pp_json_end_object(json);
}

static void failures(pp_json *json, const pp_frame *frame) {
    pp_json_begin_array(json);
    for (size_t i = 0; i < frame->failure_count; i++) {
        const pp_frame_failure *failure = &frame->failures[i];
        pp_json_begin_object(json);
        key_text(json, "errno", failure->sys_errno ? pp_errno_name(failure->sys_errno) : NULL);
        key_text(json, "op", failure->op);
        key_bool(json, "owned", failure->owned);
        key_i64(json, "pid", failure->pid);
        key_text(json, "status", pp_status_name(failure->status));
        pp_json_end_object(json);
    }
    pp_json_end_array(json);
}

static void births(pp_json *json, pp_reading count) {
    pp_json_begin_object(json);
    key_reading(json, "count", count);
    pp_json_key(json, "missing");
    pp_json_begin_object(json);
    if (!count.known)
        key_text(json, "count", pp_status_name(count.why));
    pp_json_end_object(json);
    pp_json_end_object(json);
}

static void proc(pp_json *json, const pp_frame_proc *it, bool memory_pass) {
    write_fields(json, it, proc_fields, COUNT_OF(proc_fields), memory_pass);
}

/* NULL: there is no memory to remember it in. Equal bytes are equal figures; what is between them
 * may differ, and costs no more than wording it again.
 */
static const pp_buffer *worded(pp_record_memo *memo, size_t index, const pp_frame_proc *it,
                               bool memory_pass) {
    pp_worded *last = &memo->procs[index];
    const char *text = NULL;
    size_t size = 0;

    bool known = last->text.size > 0 && last->memory_pass == memory_pass;
    /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
    if (known && memcmp(&last->proc, it, sizeof *it) == 0)
        return &last->text;
    pp_json_again(&memo->json);
    proc(&memo->json, it, memory_pass);
    last->text.size = 0;
    if (pp_json_finish(&memo->json, &text, &size, NULL) == PP_OK)
        pp_buffer_add(&last->text, text, size);
    memcpy(&last->proc, it, sizeof *it);
    last->memory_pass = memory_pass;
    return last->text.size > 0 && !last->text.failed ? &last->text : NULL;
}

static void procs(pp_json *json, const pp_frame *frame, pp_record_memo *memo) {
    if (memo && !memo->procs)
        memo->procs = calloc(PP_WORDED_MAX, sizeof *memo->procs);
    size_t remembered = memo && memo->procs ? PP_WORDED_MAX : 0;

    pp_json_begin_array(json);
    for (size_t i = 0; i < frame->proc_count; i++) {
        const pp_frame_proc *it = &frame->procs[i];
        const pp_buffer *text = i < remembered ? worded(memo, i, it, frame->memory_pass) : NULL;
        if (text)
            pp_json_document(json, (const char *)text->bytes, text->size);
        else
            proc(json, it, frame->memory_pass);
    }
    pp_json_end_array(json);
}

void pp__record_memo_done(pp_record_memo *memo) {
    for (size_t i = 0; memo->procs && i < PP_WORDED_MAX; i++)
        pp_buffer_done(&memo->procs[i].text);
    free(memo->procs);
    memo->procs = NULL;
    pp_json_done(&memo->json);
}

void pp__record_frame(pp_json *json, const pp_frame *frame, pp_record_memo *memo) {
    pp_json_begin_object(json);
    pp_json_key(json, "births");
    births(json, frame->births);
    pp_json_key(json, "cgroup");
    cgroup(json, frame);
    pp_json_key(json, "conservation");
    conservation(json, &frame->conservation);
    key_i64(json, "cont_ns", frame->cont_ns);
    key_i64(json, "end_ns", frame->end_ns);
    key_text(json, "enumeration",
             frame->enumeration == PP_OK ? "ok" : pp_status_name(frame->enumeration));
    pp_json_key(json, "exits");
    pp_json_begin_array(json);
    for (size_t i = 0; i < frame->exit_count; i++)
        write_fields(json, &frame->exits[i], exit_fields, COUNT_OF(exit_fields), false);
    pp_json_end_array(json);
    key_u64(json, "exits_dropped", frame->exits_dropped);
    pp_json_key(json, "failures");
    failures(json, frame);
    key_u64(json, "failures_dropped", frame->failures_dropped);
    key_text(json, "kind", pp_frame_kind_name(frame->kind));
    key_i64(json, "listed_cont_ns", frame->listed_cont_ns);
    key_bool(json, "memory_pass", frame->memory_pass);
    key_u64(json, "missed", frame->missed);
    pp_json_key(json, "procs");
    procs(json, frame, memo);
    key_i64(json, "scheduled_ns", frame->scheduled_ns);
    key_text(json, "schema", "pairperf-frame-1");
    key_u64(json, "seq", frame->seq);
    key_i64(json, "t_ns", frame->t_ns);
    key_i64(json, "used_ns", frame->used_ns);
    key_i64(json, "wall_ns", frame->wall_ns);
    key_u64(json, "window", frame->window);
    pp_json_end_object(json);
}

static void error_object(pp_json *json, const pp_error *error) {
    pp_json_begin_object(json);
    key_text(json, "detail", error->detail);
    key_text(json, "errno", error->sys_errno ? pp_errno_name(error->sys_errno) : NULL);
    key_text(json, "op", error->op);
    key_text(json, "status", pp_status_name(error->status));
    pp_json_end_object(json);
}

void pp__record_event(pp_json *json, const pp_event *event) {
    pp_json_begin_object(json);
    if (event->capability)
        key_text(json, "capability", event->capability);
    if (event->leaf)
        key_text(json, "cgroup", event->leaf);
    if (event->capability)
        key_text(json, "consequence", event->consequence);
    if (event->duration_ns > 0)
        key_i64(json, "duration_ns", event->duration_ns);
    if (event->error && event->error->status != PP_OK) {
        pp_json_key(json, "error");
        error_object(json, event->error);
    }
    if (event->info)
        key_text(json, "exe", event->info->exe);
    if (event->exit) {
        pp_json_key(json, "exit");
        write_exit_status(json, event->exit);
    }
    if (event->frames > 0)
        key_u64(json, "frames", event->frames);
    if (event->interval_ns > 0)
        key_i64(json, "interval_ns", event->interval_ns);
    key_text(json, "kind", event->kind);
    if (event->frames > 0)
        key_u64(json, "missed", event->missed);
    if (event->old_ppid > 0)
        key_i64(json, "old_ppid", event->old_ppid);
    if (event->info) {
        key_i64(json, "pgid", event->info->pgid);
        key_i64(json, "pid", event->info->id.pid);
        key_i64(json, "ppid", event->info->ppid);
    }
    key_text(json, "schema", "pairperf-event-1");
    key_u64(json, "seq", event->seq);
    if (event->signal)
        key_text(json, "signal", event->signal);
    key_text(json, "source", "supervisor");
    if (event->info)
        key_u64(json, "start", event->info->id.start);
    if (event->capability)
        key_text(json, "state", event->state == PP_OK ? "ok" : pp_status_name(event->state));
    key_i64(json, "t_ns", event->now.t_ns);
    if (event->target)
        key_text(json, "target", event->target);
    if (event->info)
        key_u64(json, "unique", event->info->id.unique);
    key_i64(json, "wall_ns", event->now.wall_ns);
    if (event->window > 0)
        key_u64(json, "window", event->window);
    pp_json_end_object(json);
}
