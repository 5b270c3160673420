/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PP_TREE_PRIVATE_H
#define PP_TREE_PRIVATE_H

#include "os.h"
#include "pairperf/tree.h"

/* Index of the member with this pid, or -1. */
ptrdiff_t pp__tree_find(const pp_tree *tree, int32_t pid);
/* Index of the member that is the parent, or -1. One that is younger is none: it only has the
 * number that the parent had. */
ptrdiff_t pp__tree_find_parent(const pp_tree *tree, const pp_proc_info *info);
/* Appends a member; NULL when memory is short (tree->incomplete is set). */
pp_tree_member *pp__tree_add(pp_tree *tree, const pp_proc_info *info);
/* Records the end of member `index` and lets go of what the host holds for it; from now on it is no
 * member, and pp__tree_settle() drops it. Indexes stay what they are until then. */
void pp__tree_end(pp_tree *tree, size_t index, const pp_exit *exit, bool final);
void pp__tree_settle(pp_tree *tree);
void pp__tree_emit(pp_tree *tree, pp_tree_event_kind kind, const pp_proc_info *info,
                   int32_t old_ppid);
/* Reaps a child of ours that is no member and has ended; pp__tree_orphans_done() follows the last
 * of a row. PP_E_AGAIN: it lives. */
pp_status pp__tree_reap_orphan(pp_tree *tree, int32_t pid);
void pp__tree_orphans_done(pp_tree *tree);
/* t_ns. */
int64_t pp__tree_now(const pp_tree *tree);
/* Counters that could not be read. */
pp_usage pp__tree_unreadable(pp_status why);
/* Was the member's cgroup another one than the leaf? Counted once. */
void pp__tree_look_for_stray(pp_tree *tree, size_t index);
typedef enum pp_tree_claim { PP_TREE_STRANGER = 0, PP_TREE_UNCLEAR, PP_TREE_OURS } pp_tree_claim;

/* tree_unmet.c: adds a number (`surely`: the list was ours), takes it away, and is this the process
 * that was listed by it? UNCLEAR: it, or one that was born in the same tick; or nobody knows whose
 * list that was. */
void pp__tree_unmet_note(pp_tree *tree, int32_t pid, int64_t listed_cont_ns, bool surely);
void pp__tree_unmet_drop(pp_tree *tree, int32_t pid);
pp_tree_claim pp__tree_unmet_claim(const pp_tree *tree, const pp_proc_info *info);
/* Looks at group and session, records an escape once, matches declared helpers. */
void pp__tree_place(pp_tree *tree, pp_tree_member *member);
/* The same after a look at a member that was about another: it may be back before the next one. */
void pp__tree_glance(pp_tree *tree, size_t index, const pp_proc_info *info);

/* tree_memory.c: fills the frame's processes; those that did not answer by t_ns `deadline_ns` are
 * PP_E_BLOCKED. */
void pp__tree_read_memory(pp_tree *tree, int64_t deadline_ns, pp_frame *frame);

/* tree_conserve.c: closes the frame's conservation over its processes. */
void pp__tree_conserve(pp_tree *tree, pp_frame *frame);

/* tree_discards.c: what a parent must have been given for its children that are gone. */
typedef struct pp_debt {
    pp_proc_id parent;
    uint64_t before; /* its faults of waited-for children, when these were there */
    uint64_t faults; /* theirs, as last read */
} pp_debt;

typedef struct pp_debts {
    pp_debt *items; /* one per parent */
    size_t count, capacity;
} pp_debts;

/* To be called when the member's counters were read: who its parent is, and what that one had been
 * given before. */
void pp__tree_note_parent(const pp_tree *tree, pp_tree_member *member);
/* The member is reaped, and not by us. PP_E_NOMEM, or PP_OK. */
pp_status pp__debts_add(pp_debts *debts, const pp_tree_member *gone);
/* child_faults: of the living parent, read after all its children in `debts` were gone. True: it
 * was given less than they had. */
bool pp__debts_unpaid(const pp_debts *debts, pp_proc_id parent, pp_reading child_faults);
void pp__debts_done(pp_debts *debts);
/* This member discards its children's times: told once, the total is a lower bound for good. */
void pp__tree_convict(pp_tree *tree, size_t index);

#endif
