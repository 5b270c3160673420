/* SPDX-License-Identifier: Apache-2.0 */
/* A process contributes only what was read of it between two frames, or its whole counter when it
 * was born between them. Whatever cannot be told apart from use before the window adds nothing and
 * takes the trust from the totals it belongs to. References are kept per identity, so a reused pid
 * is another process and an exited one keeps its deltas. */
#include <stdlib.h>
#include <string.h>

#include "pairperf/counters.h"
#include "pairperf/window.h"

/* What is known of one identity while its rows are walked in frame order. */
typedef struct reference {
    bool seen;
    bool known[PP_USAGE_COUNTERS_MAX];
    uint64_t value[PP_USAGE_COUNTERS_MAX];
} reference;

static int compare_ids(const pp_usage_row *a, const pp_usage_row *b) {
    if (a->id.pid != b->id.pid)
        return a->id.pid < b->id.pid ? -1 : 1;
    if (a->id.start != b->id.start)
        return a->id.start < b->id.start ? -1 : 1;
    if (a->id.unique != b->id.unique)
        return a->id.unique < b->id.unique ? -1 : 1;
    return 0;
}

/* By identity, then frame, then position in the input (qsort is not stable). */
static int compare_rows(const void *left, const void *right) {
    const pp_usage_row *a = *(const pp_usage_row *const *)left;
    const pp_usage_row *b = *(const pp_usage_row *const *)right;
    int order = compare_ids(a, b);
    if (order != 0)
        return order;
    if (a->frame != b->frame)
        return a->frame < b->frame ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* It ended, or its number was reused, while it was read: no reading, but nothing is hidden. */
static bool gone(pp_reading reading) {
    return !reading.known && (reading.why == PP_E_VANISHED || reading.why == PP_E_STALE);
}

/* Sets *ret_any_known; true when every counter is missing and none because the process ended. */
static bool wholly_unreadable(const pp_usage_row *row, size_t counter_count, bool *ret_any_known) {
    bool any_gone = false;
    *ret_any_known = false;
    for (size_t c = 0; c < counter_count; c++) {
        *ret_any_known |= row->counters[c].known;
        any_gone |= gone(row->counters[c]);
    }
    return !*ret_any_known && !any_gone;
}

static void distrust_all(pp_window_usage *usage, unsigned flag, size_t counter_count) {
    usage->flags |= flag;
    for (size_t c = 0; c < counter_count; c++)
        usage->counters[c].trusted = false;
}

static void add(uint64_t *sum, uint64_t delta, pp_usage_counter *owner) {
    if (__builtin_add_overflow(*sum, delta, sum)) {
        owner->overflow = true;
        owner->trusted = false;
    }
}

static void add_delta(const pp_usage_input *input, pp_window_usage *usage, const pp_usage_row *row,
                      size_t c, uint64_t delta) {
    pp_usage_counter *counter = &usage->counters[c];
    add(&counter->partial, delta, counter);
    add(&usage->components[row->component * input->counter_count + c], delta, counter);
    if (c == 0)
        add(input->excluded[row->component] ? &usage->excluded_cpu_ns
                                            : &usage->without_excluded_cpu_ns,
            delta, counter);
}

/* The first readable sight of an identity: where do its deltas start from? */
static void first_sight(const pp_usage_input *input, pp_window_usage *usage,
                        const pp_usage_row *row, reference *ref) {
    ref->seen = true;
    if (row->frame == 0)
        return;
    int64_t previous = input->frames[row->frame - 1].start_clock_ns;
    if ((__int128)row->start_ns + input->start_step_ns >= previous) {
        memset(ref->known, 1, sizeof ref->known); /* born since then: all of it, from 0 */
    } else {
        distrust_all(usage, PP_FLAG_LATE_DISCOVERY, input->counter_count);
    }
}

static void take_row(const pp_usage_input *input, pp_window_usage *usage, const pp_usage_row *row,
                     reference *ref) {
    bool any_known;
    if (wholly_unreadable(row, input->counter_count, &any_known)) {
        distrust_all(usage, PP_FLAG_UNREADABLE, input->counter_count);
        return;
    }
    if (!ref->seen && any_known)
        first_sight(input, usage, row, ref);
    for (size_t c = 0; c < input->counter_count; c++) {
        pp_reading now = row->counters[c];
        if (gone(now))
            continue;
        if (!now.known) {
            usage->counters[c].unreadable = true;
            usage->counters[c].trusted = false;
            continue;
        }
        if (ref->known[c]) {
            pp_reading delta = pp_counter_delta(ref->value[c], now.value);
            if (delta.known) {
                add_delta(input, usage, row, c, delta.value);
            } else {
                usage->counters[c].regressed = true;
                usage->counters[c].trusted = false;
            }
        }
        ref->known[c] = true;
        ref->value[c] = now.value;
    }
}

static pp_status check(const pp_usage_input *input, pp_error *reterr) {
    bool fine = input->frame_count > 0 && input->counter_count > 0 &&
                input->counter_count <= PP_USAGE_COUNTERS_MAX;
    for (size_t i = 0; fine && i < input->row_count; i++) {
        fine = input->rows[i].frame < input->frame_count &&
               input->rows[i].component < input->component_count;
    }
    return fine ? PP_OK
                : pp_fail(reterr, PP_E_INVALID, 0, "window_usage", "no frame, or a bad index");
}

pp_status pp_window_usage_sum(const pp_usage_input *input, pp_window_usage *ret_usage,
                              pp_error *reterr) {
    pp_status status = check(input, reterr);
    if (status != PP_OK)
        return status;
    pp_window_usage usage = { 0 };
    usage.components =
        calloc(input->component_count * input->counter_count + 1, sizeof *usage.components);
    const pp_usage_row **order = calloc(input->row_count + 1, sizeof *order);
    if (usage.components == NULL || order == NULL) {
        free(order);
        free(usage.components);
        return pp_fail(reterr, PP_E_NOMEM, 0, "window_usage", "%zu rows", input->row_count);
    }
    for (size_t i = 0; i < input->row_count; i++)
        order[i] = &input->rows[i];
    qsort(order, input->row_count, sizeof *order, compare_rows);

    if (__builtin_sub_overflow(input->frames[input->frame_count - 1].t_ns, input->frames[0].t_ns,
                               &usage.elapsed_ns))
        usage.elapsed_ns = 0; /* no duration: no rate */
    for (size_t c = 0; c < input->counter_count; c++)
        usage.counters[c].trusted = true;
    reference ref = { 0 };
    for (size_t i = 0; i < input->row_count; i++) {
        if (i == 0 || compare_ids(order[i - 1], order[i]) != 0)
            ref = (reference){ 0 };
        take_row(input, &usage, order[i], &ref);
    }
    free(order);
    *ret_usage = usage;
    return PP_OK;
}

void pp_window_usage_done(pp_window_usage *usage) {
    if (usage == NULL)
        return;
    free(usage->components);
    *usage = (pp_window_usage){ 0 };
}
