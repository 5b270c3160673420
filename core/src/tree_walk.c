/* SPDX-License-Identifier: Apache-2.0 */

/* Who is in the tree. The invariant: everybody whom a list shows becomes a member if his place
 * proves that he is ours, whatever order lists are in; of whom that can be neither proven nor
 * denied is kept as a doubt, and the frame says that its lists are not whole.
 */
#include <stdlib.h>

#include "resize.h"
#include "tree_walk.h"

/* A pass does not look at ended orphans for longer, unless there are few; the next one goes on. */
#define ORPHANS_NS 10000000LL
#define ORPHANS_MIN 128

void pp__tree_walk_done(pp_tree_walk *w) {
    pp_pid_list_done(&w->queue);
    free(w->strangers);
    pp_pid_map_done(&w->orphans_of);
    pp_pid_list_done(&w->reread);
    pp_pid_list_done(&w->line);
    pp_pid_list_done(&w->leaf);
    pp__debts_done(&w->debts);
    pp_pid_map_done(&w->queued);
    pp_pid_map_done(&w->own);
    pp_pid_map_done(&w->in_leaf);
}

void pp__tree_walk_lacks(pp_tree_walk *w, pp_status status) {
    w->frame->enumeration = pp_told_of(w->frame->enumeration, status);
}

static void note_in(pp_tree_walk *w, pp_pid_map *map, int32_t pid) {
    if (pid > 0 && !pp_pid_map_put(map, pid, 0))
        pp__tree_walk_lacks(w, PP_E_NOMEM);
}

static void push(pp_tree_walk *w, int32_t pid, pp_listed listed) {
    ptrdiff_t before = pp_pid_map_at(&w->queued, pid);

    if (pid <= 1 || before >= (ptrdiff_t)listed)
        return;
    if (before < 0)
        pp__tree_walk_lacks(w, pp_pid_list_add(&w->queue, pid));
    if (!pp_pid_map_put(&w->queued, pid, listed))
        pp__tree_walk_lacks(w, PP_E_NOMEM);
}

static void push_list(pp_tree_walk *w, const pp_pid_list *list, pp_listed listed) {
    for (size_t i = 0; i < list->count; i++)
        push(w, list->pids[i], listed);
}

/* Is this member still the process it was? What was read before that is then about it, too. */
static pp_tree_claim still_stands(pp_tree_walk *w, size_t index) {
    pp_os *os = w->tree->os;
    pp_proc_info info;
    pp_error error = { 0 };
    pp_status status = os->inspect(os->ctx, w->tree->members[index].info.id, &info, &error);

    if (status != PP_OK)
        return status == PP_E_VANISHED || status == PP_E_STALE ? PP_TREE_STRANGER : PP_TREE_UNCLEAR;
    pp__tree_glance(w->tree, index, &info);
    return PP_TREE_OURS;
}

/* Whoever is in the leaf was born there or put itself there. */
static bool is_in_leaf(pp_tree_walk *w, pp_proc_id id) {
    pp_os *os = w->tree->os;
    bool inside = false;

    return pp_pid_map_has(&w->in_leaf, id.pid) &&
           os->leaf_holds(os->ctx, id, &inside, NULL) == PP_OK && inside;
}

/* A number from a list may belong to a stranger by now, and so may its parent's: it is ours only
 * as a child of the supervisor, with a parent that is a member and proves to be so after the
 * child was read, with a place in the leader's group while the leader pins that number, or when
 * the process with this very identity is in the leaf. */
static pp_tree_claim claim_by_place(pp_tree_walk *w, const pp_proc_info *info) {
    pp_tree *tree = w->tree;
    bool in_group = info->pgid == tree->leader.pid && !tree->leader_gone;

    if (tree->own_pid != 0 && info->ppid == tree->own_pid)
        return PP_TREE_OURS;
    if (tree->own_pid == 0 && info->id.pid != tree->leader.pid &&
        pp_pid_map_has(&w->own, info->id.pid))
        return PP_TREE_OURS;
    ptrdiff_t anchor = pp__tree_find(tree, in_group ? tree->leader.pid : info->ppid);
    pp_tree_claim claim = anchor >= 0 ? still_stands(w, (size_t)anchor) : PP_TREE_STRANGER;
    return claim != PP_TREE_OURS && is_in_leaf(w, info->id) ? PP_TREE_OURS : claim;
}

/* Whose parent a child of ours shows is the supervisor. */
static void learn_own_pid(pp_tree_walk *w, const pp_proc_info *info) {
    if (w->tree->own_pid == 0 && pp_pid_map_has(&w->own, info->id.pid))
        w->tree->own_pid = info->ppid;
}

static void push_children(pp_tree_walk *w, int32_t pid, pp_listed listed) {
    pp_os *os = w->tree->os;
    pp_pid_list children = { 0 };
    pp_error error = { 0 };
    pp_status status = os->list_children(os->ctx, pid, &children, &error);

    if (status == PP_OK)
        push_list(w, &children, listed);
    else if (status != PP_E_VANISHED)
        pp__tree_walk_lacks(w, PP_E_ENUMERATION);
    pp_pid_list_done(&children);
}

/* Orphans that ended before anybody met them are reaped and no members. When there is no time for
 * more of them, those that live are still found; what the others used is missing in the frame. */
static bool is_over(pp_tree_walk *w, int32_t pid) {
    pp_tree *tree = w->tree;
    pp_os *os = tree->os;

    if (!os->adopts || !pp_pid_map_has(&w->own, pid))
        return false;
    if (w->orphans >= ORPHANS_MIN && w->orphans_ns >= ORPHANS_NS) {
        if (os->orphan_ended(os->ctx, pid, NULL) != PP_OK)
            return false;
        pp__tree_walk_lacks(w, PP_E_BLOCKED);
        return true;
    }
    int64_t start_ns = pp__tree_now(tree);
    bool over = pp__tree_reap_orphan(tree, pid) == PP_OK;
    if (over)
        w->orphans_ns += pp__tree_now(tree) - start_ns;
    w->orphans += over;
    return over;
}

/* A pass is about those that live when it begins. Who is born meanwhile is met, but not his
 * children: a chain that forks faster than we look would be followed for ever. */
static bool is_newborn(const pp_tree_walk *w, const pp_proc_info *info) {
    return (int64_t)info->start_ns > w->started_cont_ns;
}

static pp_tree_claim claim_of(pp_tree_walk *w, const pp_proc_info *info) {
    pp_tree_claim by_place = claim_by_place(w, info);
    pp_tree_claim by_list = pp__tree_unmet_claim(w->tree, info);

    return by_place > by_list ? by_place : by_list;
}

/* A number that one of our lists shows, of whom nobody knows enough. */
static void stay_in_doubt(pp_tree_walk *w, int32_t pid, pp_listed listed, pp_status status) {
    pp__tree_walk_lacks(w, status);
    if (listed > PP_LISTED_NOT) /* else the number of one that ended */
        pp__tree_unmet_note(w->tree, pid, w->started_cont_ns, listed == PP_LISTED_SURELY);
}

static pp_listed listed_as(const pp_tree_walk *w, int32_t pid) {
    ptrdiff_t listed = pp_pid_map_at(&w->queued, pid);

    return listed > 0 ? (pp_listed)listed : PP_LISTED_NOT;
}

/* Lists are in no order: its parent may be met after it. */
static void note_stranger(pp_tree_walk *w, const pp_proc_info *info, bool in_doubt) {
    pp_listed listed = listed_as(w, info->id.pid);

    pp_pid_map_remove(&w->queued, info->id.pid);
    if (w->stranger_count == w->stranger_capacity) {
        size_t wanted = w->stranger_capacity ? w->stranger_capacity * 2 : 16;
        void *bigger = pp_resize(w->strangers, wanted, sizeof *w->strangers);
        if (!bigger) {
            stay_in_doubt(w, info->id.pid, listed, PP_E_NOMEM);
            return;
        }
        w->strangers = bigger;
        w->stranger_capacity = wanted;
    }
    w->strangers[w->stranger_count++] = (pp_stranger){ info->id.pid, info->ppid, listed, in_doubt };
}

static void look_again_at_children_of(pp_tree_walk *w, int32_t pid) {
    for (size_t i = w->stranger_count; i > 0; i--) {
        const pp_stranger stranger = w->strangers[i - 1];
        if (stranger.ppid != pid)
            continue;
        w->strangers[i - 1] = w->strangers[--w->stranger_count];
        push(w, stranger.pid, stranger.listed);
    }
}

/* Whose parent was not met stays what it is. */
static void settle_strangers(pp_tree_walk *w) {
    for (size_t i = 0; i < w->stranger_count; i++)
        if (w->strangers[i].in_doubt)
            stay_in_doubt(w, w->strangers[i].pid, w->strangers[i].listed, PP_E_UNVERIFIED);
}

/* It was there to be found in the pass before. Notices that still tell of nobody have lost it. */
static void note_late(pp_tree_walk *w, const pp_proc_info *info) {
    pp_tree *tree = w->tree;

    if (tree->last_listed_ns <= 0 || (int64_t)info->start_ns + 10000000 >= tree->last_listed_ns)
        return;
    pp__tree_emit(tree, PP_TREE_LATE, info, info->ppid);
    w->surprised = w->surprised || w->told_of_nobody;
}

static void meet(pp_tree_walk *w, int32_t pid) {
    pp_os *os = w->tree->os;
    pp_proc_info info = { 0 };
    pp_error error = { 0 };

    if (is_over(w, pid))
        return;
    pp_status status = os->identify(os->ctx, pid, &info, &error);
    if (status != PP_OK && status != PP_E_VANISHED) {
        pp_frame_add_failure(w->frame, pid, true, &error);
        stay_in_doubt(w, pid, listed_as(w, pid), status);
        return;
    }
    pp_tree_claim claim = status == PP_OK ? claim_of(w, &info) : PP_TREE_STRANGER;
    if (claim != PP_TREE_UNCLEAR)
        pp__tree_unmet_drop(w->tree, pid);
    if (status == PP_E_VANISHED)
        return;
    if (claim != PP_TREE_OURS) {
        os->forget(os->ctx, info.id);
        note_stranger(w, &info, claim == PP_TREE_UNCLEAR);
        return;
    }
    w->surprised = w->surprised || w->nobody_new;
    learn_own_pid(w, &info);
    if (!pp__tree_add(w->tree, &info)) {
        pp__tree_walk_lacks(w, PP_E_NOMEM);
        return;
    }
    note_late(w, &info);
    look_again_at_children_of(w, pid);
    if (!is_newborn(w, &info))
        push_children(w, pid, PP_LISTED_SURELY);
}

/* One whose number is another's by now may be ended and not reaped yet: nobody owes for it. */
void pp__tree_walk_gone(pp_tree_walk *w, size_t index, pp_status status) {
    const pp_tree_member *member = &w->tree->members[index];

    note_in(w, &w->orphans_of, member->info.ppid);
    if (status == PP_E_VANISHED)
        pp__tree_walk_lacks(w, pp__debts_add(&w->debts, member));
    pp__tree_end(w->tree, index, NULL, false);
}

/* One that the kernel is just releasing (state X) still has its number: nobody else has it. */
static bool has_new_owner(pp_tree_walk *w, pp_proc_id old) {
    pp_os *os = w->tree->os;
    pp_proc_info info = { 0 };

    return os->identify(os->ctx, old.pid, &info, NULL) == PP_OK && !pp_proc_id_equal(info.id, old);
}

static void recheck(pp_tree_walk *w, size_t index) {
    pp_os *os = w->tree->os;
    pp_tree_member *member = &w->tree->members[index];
    pp_proc_info info = member->info;
    pp_proc_info old = member->info;
    pp_error error = { 0 };
    pp_status status = os->inspect(os->ctx, old.id, &info, &error);

    if (status == PP_E_VANISHED || status == PP_E_STALE) {
        if (status == PP_E_STALE && has_new_owner(w, old.id))
            pp__tree_emit(w->tree, PP_TREE_REUSED, &old, old.ppid);
        pp__tree_walk_gone(w, index, status);
        if (status == PP_E_STALE)
            meet(w, old.id.pid);
        return;
    }
    if (status != PP_OK) {
        pp_frame_add_failure(w->frame, old.id.pid, true, &error);
        if (!w->nobody_new) /* whoever it has now is in doubt */
            push_children(w, old.id.pid, PP_LISTED_PERHAPS);
        return; /* stays a member, not seen: unverified */
    }
    learn_own_pid(w, &info);
    member->seen = true;
    member->info = info;
    pp__tree_place(w->tree, member);
    if (info.ppid != old.ppid && old.ppid != 0)
        pp__tree_emit(w->tree, PP_TREE_REPARENTED, &info, old.ppid);
    if (info.phase != PP_PHASE_ZOMBIE && !w->nobody_new) /* a zombie's were given away */
        push_children(w, info.id.pid, PP_LISTED_SURELY);
}

/* The last one first: it lives most likely, and chains that hop do not stay what they are. */
static void push_own(pp_tree_walk *w, const pp_pid_list *own) {
    for (size_t i = own->count; i > 0; i--) {
        note_in(w, &w->own, own->pids[i - 1]);
        push(w, own->pids[i - 1], PP_LISTED_SURELY);
    }
}

static void seed_own(pp_tree_walk *w) {
    pp_os *os = w->tree->os;
    pp_pid_list list = { 0 };

    if (os->list_own_children(os->ctx, &list, NULL) == PP_OK)
        push_own(w, &list);
    else
        pp__tree_walk_lacks(w, PP_E_ENUMERATION);
    pp_pid_list_done(&list);
}

static void seed(pp_tree_walk *w) {
    pp_os *os = w->tree->os;
    pp_pid_list list = { 0 };
    pp_error error = { 0 };

    if (!w->tree->leader_gone)
        push(w, w->tree->leader.pid, PP_LISTED_NOT);
    if (!w->nobody_new)
        seed_own(w);
    if (!os->adopts && !w->tree->leader_gone) { /* no orphan comes to us: ask its group */
        if (os->list_group(os->ctx, w->tree->leader.pid, &list, &error) == PP_OK)
            push_list(w, &list, PP_LISTED_SURELY);
        else
            pp__tree_walk_lacks(w, PP_E_ENUMERATION);
        pp_pid_list_done(&list);
    }
    for (size_t i = 0; i < w->tree->count; i++)
        push(w, w->tree->members[i].info.id.pid, PP_LISTED_NOT);
    for (size_t i = 0; i < w->tree->unmet_count; i++)
        push(w, w->tree->unmet[i].pid, PP_LISTED_NOT);
}

/* Looks at the queue from `first` on; returns where it ends. */
static size_t work_off(pp_tree_walk *w, size_t first) {
    pp_tree *tree = w->tree;
    size_t i = first;

    for (; i < w->queue.count; i++) {
        int32_t pid = w->queue.pids[i];
        ptrdiff_t index = pp__tree_find(tree, pid);
        if (index >= 0)
            recheck(w, (size_t)index);
        else if (pid != tree->leader.pid || tree->leader_gone)
            meet(w, pid);
    }
    return i;
}

static void list_leaf(pp_tree_walk *w) {
    pp_os *os = w->tree->os;

    w->leaf_status = os->leaf_list(os->ctx, &w->leaf, NULL);
    for (size_t i = 0; i < w->leaf.count; i++)
        note_in(w, &w->in_leaf, w->leaf.pids[i]);
    push_list(w, &w->leaf, PP_LISTED_SURELY);
}

/* A living member that is not on the leaf's list was born since, or moved itself out. */
static void find_strays(pp_tree_walk *w) {
    pp_tree *tree = w->tree;

    for (size_t i = 0; i < tree->count && w->leaf_status == PP_OK; i++) {
        const pp_tree_member *member = &tree->members[i];
        if (member->seen && !member->over && member->info.phase != PP_PHASE_ZOMBIE &&
            !pp_pid_map_has(&w->in_leaf, member->info.id.pid))
            pp__tree_look_for_stray(tree, i);
    }
}

void pp__tree_walk_discover(pp_tree_walk *w) {
    pp_tree *tree = w->tree;

    for (size_t i = 0; i < tree->count; i++)
        tree->members[i].seen = tree->members[i].counted = false;
    seed(w);
    size_t walked = work_off(w, 0);
    list_leaf(w);
    (void)work_off(w, walked);
    settle_strangers(w);
    pp__tree_orphans_done(tree);
    find_strays(w);
    if (tree->incomplete)
        pp__tree_walk_lacks(w, PP_E_NOMEM);
}
