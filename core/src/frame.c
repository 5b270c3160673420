/* SPDX-License-Identifier: Apache-2.0 */

/* A frame owns its three lists and reuses their memory from pass to pass. A list that cannot grow
 * returns NULL; the caller turns that into an incomplete pass, never into a shorter one.
 */
#include "pairperf/frame.h"

#include <stdlib.h>
#include <string.h>

#include "resize.h"

static void *grow(void **items, size_t *count, size_t *capacity, size_t size) {
    if (*count == *capacity) {
        size_t wanted = *capacity ? *capacity * 2 : 16;
        void *bigger = pp_resize(*items, wanted, size);
        if (!bigger)
            return NULL;
        *items = bigger;
        *capacity = wanted;
    }
    void *item = (char *)*items + *count * size;
    memset(item, 0, size);
    (*count)++;
    return item;
}

void pp_frame_reset(pp_frame *frame) {
    pp_frame kept = *frame;

    *frame = (pp_frame){
        .procs = kept.procs,
        .proc_capacity = kept.proc_capacity,
        .exits = kept.exits,
        .exit_capacity = kept.exit_capacity,
        .failures = kept.failures,
        .failure_capacity = kept.failure_capacity,
    };
}

void pp_frame_done(pp_frame *frame) {
    if (!frame)
        return;
    free(frame->procs);
    free(frame->exits);
    free(frame->failures);
    *frame = (pp_frame){ 0 };
}

pp_frame_proc *pp_frame_add_proc(pp_frame *frame) {
    void *items = frame->procs;
    pp_frame_proc *added =
        grow(&items, &frame->proc_count, &frame->proc_capacity, sizeof *frame->procs);
    frame->procs = items;
    return added;
}

pp_frame_exit *pp_frame_add_exit(pp_frame *frame) {
    void *items = frame->exits;
    pp_frame_exit *added =
        grow(&items, &frame->exit_count, &frame->exit_capacity, sizeof *frame->exits);
    frame->exits = items;
    return added;
}

void pp_frame_add_failure(pp_frame *frame, int32_t pid, bool owned, const pp_error *error) {
    pp_frame_failure *added = NULL;

    if (frame->failure_count < PP_FRAME_FAILURES_MAX) {
        void *items = frame->failures;
        added =
            grow(&items, &frame->failure_count, &frame->failure_capacity, sizeof *frame->failures);
        frame->failures = items;
    }
    if (!added) {
        frame->failures_dropped++;
        return;
    }
    added->pid = pid;
    added->owned = owned;
    added->status = error->status;
    added->sys_errno = error->sys_errno;
    memcpy(added->op, error->op, sizeof added->op);
}

const char *pp_frame_kind_name(pp_frame_kind kind) {
    static const char *const names[] = { "track", "boundary", "tick", "closing" };

    return names[kind];
}

const char *pp_phase_name(pp_phase phase) {
    static const char *const names[] = { "alive", "stopped", "zombie" };

    return names[phase];
}
