/* SPDX-License-Identifier: Apache-2.0 */

/* Numbers that a list of the tree's own showed and that could not be looked at. The invariant: each
 * stays here until a look says that the number is free, or whose it is: it may have left the group
 * meanwhile, so that no list shows it any more.
 */
#include <stdlib.h>

#include "resize.h"
#include "tree_private.h"

#define START_STEP_NS 10000000LL /* starts come in ticks of at most that */

static pp_tree_unmet *find(const pp_tree *tree, int32_t pid) {
    for (size_t i = 0; i < tree->unmet_count; i++)
        if (tree->unmet[i].pid == pid)
            return &tree->unmet[i];
    return NULL;
}

void pp__tree_unmet_note(pp_tree *tree, int32_t pid, int64_t listed_cont_ns, bool surely) {
    pp_tree_unmet *known = find(tree, pid);

    if (known && surely && !known->surely)
        *known = (pp_tree_unmet){ pid, listed_cont_ns, true };
    if (known)
        return;
    if (tree->unmet_count == tree->unmet_capacity) {
        size_t wanted = tree->unmet_capacity ? tree->unmet_capacity * 2 : 16;
        void *bigger = wanted <= PP_TREE_UNMET_MAX
                           ? pp_resize(tree->unmet, wanted, sizeof *tree->unmet)
                           : NULL;
        if (!bigger) {
            tree->incomplete = true;
            return;
        }
        tree->unmet = bigger;
        tree->unmet_capacity = wanted;
    }
    tree->unmet[tree->unmet_count++] = (pp_tree_unmet){ pid, listed_cont_ns, surely };
}

void pp__tree_unmet_drop(pp_tree *tree, int32_t pid) {
    pp_tree_unmet *unmet = find(tree, pid);

    if (unmet)
        *unmet = tree->unmet[--tree->unmet_count];
}

pp_tree_claim pp__tree_unmet_claim(const pp_tree *tree, const pp_proc_info *info) {
    const pp_tree_unmet *unmet = find(tree, info->id.pid);

    if (!unmet || (int64_t)info->start_ns > unmet->listed_cont_ns)
        return PP_TREE_STRANGER;
    bool same = (int64_t)info->start_ns + START_STEP_NS <= unmet->listed_cont_ns;
    return same && unmet->surely ? PP_TREE_OURS : PP_TREE_UNCLEAR;
}
