/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PP_TREE_PRIVATE_H
#define PP_TREE_PRIVATE_H

#include "os.h"
#include "pairperf/tree.h"

/* Index of the member with this pid, or -1. */
ptrdiff_t pp__tree_find(const pp_tree *tree, int32_t pid);
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

/* tree_unmet.c: adds a number, takes it away, and is this the process that was listed by it?
 * UNCLEAR: it, or one that was born in the same tick. */
void pp__tree_unmet_note(pp_tree *tree, int32_t pid, int64_t listed_cont_ns);
void pp__tree_unmet_drop(pp_tree *tree, int32_t pid);
pp_tree_claim pp__tree_unmet_claim(const pp_tree *tree, const pp_proc_info *info);
/* Looks at group and session, records an escape once, matches declared helpers. */
void pp__tree_place(pp_tree *tree, pp_tree_member *member);

#endif
