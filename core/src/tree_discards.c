/* SPDX-License-Identifier: Apache-2.0 */

/* Which parents discard what their children used (SIGCHLD ignored, SA_NOCLDWAIT). When a child is
 * waited for, one step of the kernel adds its times and its page faults to what its parent waited
 * for; of a discarded child both are lost. The times are coarse and the faults exact, so the faults
 * tell of the times. The invariant: a parent is convicted only by a reading of a time when it lived
 * and these children were already gone, against one of a time when they were there; whatever else
 * it waited for in between speaks for it.
 */
#include "resize.h"
#include "tree_private.h"

void pp__tree_note_parent(const pp_tree *tree, pp_tree_member *member) {
    ptrdiff_t index = pp__tree_find_parent(tree, &member->info);

    member->parent = (pp_proc_id){ 0 };
    if (index < 0)
        return;
    member->parent = tree->members[index].info.id;
    member->parent_child_faults = tree->members[index].usage.child_faults;
}

static pp_debt *debt_to(const pp_debts *debts, pp_proc_id parent) {
    for (size_t i = 0; i < debts->count; i++)
        if (pp_proc_id_equal(debts->items[i].parent, parent))
            return &debts->items[i];
    return NULL;
}

static pp_debt *new_debt(pp_debts *debts, pp_proc_id parent, uint64_t before) {
    if (debts->count == debts->capacity) {
        size_t wanted = debts->capacity ? debts->capacity * 2 : 16;
        void *bigger = pp_resize(debts->items, wanted, sizeof *debts->items);
        if (!bigger)
            return NULL;
        debts->items = bigger;
        debts->capacity = wanted;
    }
    pp_debt *debt = &debts->items[debts->count++];
    *debt = (pp_debt){ .parent = parent, .before = before };
    return debt;
}

pp_status pp__debts_add(pp_debts *debts, const pp_tree_member *gone) {
    pp_reading faults = gone->usage.faults, before = gone->parent_child_faults;

    if (gone->parent.pid == 0 || !faults.known || !before.known)
        return PP_OK;
    pp_debt *debt = debt_to(debts, gone->parent);
    if (!debt)
        debt = new_debt(debts, gone->parent, before.value);
    if (!debt)
        return PP_E_NOMEM;
    debt->faults += faults.value;
    if (before.value < debt->before)
        debt->before = before.value;
    return PP_OK;
}

bool pp__debts_unpaid(const pp_debts *debts, pp_proc_id parent, pp_reading child_faults) {
    const pp_debt *debt = debt_to(debts, parent);

    return debt && child_faults.known && child_faults.value - debt->before < debt->faults;
}

void pp__debts_done(pp_debts *debts) {
    free(debts->items);
    *debts = (pp_debts){ 0 };
}

void pp__tree_convict(pp_tree *tree, size_t index) {
    pp_tree_member *member = &tree->members[index];

    if (member->discards)
        return;
    member->discards = true;
    tree->lower_bound = true;
    pp__tree_emit(tree, PP_TREE_DISCARDS, &member->info, member->info.ppid);
}
