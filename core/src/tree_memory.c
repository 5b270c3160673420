/* SPDX-License-Identifier: Apache-2.0 */

/* The dear memory figures of a frame's processes, all asked for at once. One that is not there in
 * time, or at all, is missing with its reason.
 */
#include <stdlib.h>
#include <string.h>

#include "tree_private.h"

static void take_memory(pp_frame *frame, pp_frame_proc *proc, const pp_memory_answer *answer) {
    pp_reading missing = pp_missing(answer->status);
    pp_error error = { .status = answer->status, .sys_errno = answer->sys_errno };

    if (answer->status == PP_OK) {
        proc->memory = answer->memory;
        return;
    }
    proc->memory = (pp_memory){ missing, missing, missing, missing };
    memcpy(error.op, answer->op, sizeof error.op);
    if (proc->info.phase != PP_PHASE_ZOMBIE && answer->status != PP_E_VANISHED)
        pp_frame_add_failure(frame, proc->info.id.pid, true, &error);
}

void pp__tree_read_memory(pp_tree *tree, int64_t deadline_ns, pp_frame *frame) {
    pp_os *os = tree->os;
    static const pp_memory_answer none = { .status = PP_E_NOMEM, .op = "memory" };
    pp_memory_answer *answers = calloc(frame->proc_count + 1, sizeof *answers);

    frame->memory_pass = true;
    for (size_t i = 0; i < frame->proc_count && answers; i++)
        answers[i].id = frame->procs[i].info.id;
    if (answers)
        os->memory(os->ctx, answers, frame->proc_count, deadline_ns);
    for (size_t i = 0; i < frame->proc_count; i++)
        take_memory(frame, &frame->procs[i], answers ? &answers[i] : &none);
    free(answers);
}
