/* SPDX-License-Identifier: Apache-2.0 */

/* What the whole tree has used, by conservation: what its living members show, with what they were
 * given for children that they waited for, and what the supervisor reaped. The invariant: a total
 * is the whole, or missing with its reason, and never falls.
 */
#include "tree_private.h"

static void add_pair(pp_sum *sum, const pp_usage *usage) {
    pp_sum_add(sum, usage->cpu_ns);
    pp_sum_add(sum, usage->child_cpu_ns);
}

/* Two tick counters (user, system), each cut down to a tick of at most 10 ms. */
#define WAITED_ERROR_NS 20000000U

/* A conserved total never falls: lifts it to its running maximum, and says by how much. */
static uint64_t hold_up(pp_reading *total, uint64_t *floor) {
    uint64_t lifted = 0;

    if (!total->known)
        return 0;
    if (total->value < *floor) {
        lifted = *floor - total->value;
        total->value = *floor;
    }
    *floor = total->value;
    return lifted;
}

void pp__tree_conserve(pp_tree *tree, pp_frame *frame) {
    pp_conservation *total = &frame->conservation;
    pp_sum cpu = { 0 }, written = { 0 };

    if (!tree->os->adopts) { /* what an orphan used last is lost: nothing is conserved */
        total->cpu_ns = total->write_bytes = pp_missing(PP_E_UNSUPPORTED);
        return;
    }
    for (size_t i = 0; i < frame->proc_count; i++) {
        const pp_usage *usage = &frame->procs[i].usage;
        if (frame->procs[i].waited_for)
            continue;
        add_pair(&cpu, usage);
        if (!usage->write_bytes.known && usage->write_bytes.why == PP_E_VANISHED)
            total->unreaped++; /* comes back with its parent's counters */
        else
            pp_sum_add(&written, usage->write_bytes);
        if (usage->child_cpu_ns.known && usage->child_cpu_ns.value > 0)
            total->error_ns += WAITED_ERROR_NS;
    }
    pp_sum_add(&cpu, tree->reaped_missing ? pp_missing(tree->reaped_missing)
                                          : pp_known(tree->reaped_cpu_ns));
    pp_sum_add(&written, tree->reaped_write_missing ? pp_missing(tree->reaped_write_missing)
                                                    : pp_known(tree->reaped_write_bytes));
    total->reaped_cpu_ns = tree->reaped_cpu_ns;
    total->reaped_write_bytes = tree->reaped_write_bytes;
    total->lower_bound = tree->lower_bound;
    total->cpu_ns = pp_sum_total(&cpu);
    total->write_bytes = pp_sum_total(&written);
    if (frame->enumeration != PP_OK) { /* an unseen member would make the sum a partial one */
        total->cpu_ns = pp_missing(frame->enumeration);
        total->write_bytes = pp_missing(frame->enumeration);
    }
    total->clamped_ns = hold_up(&total->cpu_ns, &tree->cpu_floor_ns);
    total->clamped_write_bytes = hold_up(&total->write_bytes, &tree->write_floor_bytes);
}
