/* SPDX-License-Identifier: Apache-2.0 */

/* One pass over the tree: all are looked at, then their counters are read. The invariant: parents
 * are counted before their children, so that what moves from a child to its parent (waited-for CPU,
 * I/O) while we read is at worst missed once and never counted twice; a parent is read again once
 * if one of its children vanished in the pass, and then replaces those that it waited for since
 * they were read. What cannot be read is named in the frame; it never shortens it silently.
 */
#include "tree_walk.h"

/* Notices may be lost without a word, if seldom: a pass that begins so long after the last one that
 * read all lists reads them, whatever was told. */
#define BELIEVED_NS 1000000000LL

static bool is_listed(const pp_pid_list *list, int32_t pid) {
    for (size_t i = 0; i < list->count; i++)
        if (list->pids[i] == pid)
            return true;
    return false;
}

static void read_member(pp_tree_walk *w, size_t index) {
    pp_tree *tree = w->tree;
    pp_os *os = tree->os;
    pp_tree_member *member = &tree->members[index];
    pp_error error = { 0 };
    pp_usage usage = { 0 };
    pp_status status = os->usage(os->ctx, member->info.id, true, &usage, &error);

    if (status == PP_E_VANISHED || status == PP_E_STALE) {
        pp__tree_walk_gone(w, index, status);
        return;
    }
    if (status != PP_OK) {
        pp_frame_add_failure(w->frame, member->info.id.pid, true, &error);
        pp__tree_emit(tree, PP_TREE_DENIED, &member->info, member->info.ppid);
        usage = pp__tree_unreadable(status);
    } else {
        member->usage = usage;
        pp__tree_note_parent(tree, member);
    }
    pp_frame_proc *proc = pp_frame_add_proc(w->frame);
    if (proc)
        *proc = (pp_frame_proc){ .info = member->info,
                                 .leader = member->leader,
                                 .in_group = member->info.pgid == tree->leader.pid,
                                 .escaped = member->escaped,
                                 .usage = usage };
    else
        pp__tree_walk_lacks(w, PP_E_NOMEM);
}

/* The member and those above it that are still to be counted, the topmost first: of a number that
 * changed hands, and of a list, nobody knows whether it showed parents before their children. */
static void count_from_above(pp_tree_walk *w, size_t index) {
    pp_tree *tree = w->tree;
    ptrdiff_t at = (ptrdiff_t)index;

    w->line.count = 0;
    while (at >= 0 && !tree->members[at].counted) {
        tree->members[at].counted = true;
        pp__tree_walk_lacks(w, pp_pid_list_add(&w->line, tree->members[at].info.id.pid));
        at = pp__tree_find_parent(tree, &tree->members[at].info);
    }
    while (w->line.count > 0) {
        at = pp__tree_find(tree, w->line.pids[--w->line.count]);
        if (at >= 0)
            read_member(w, (size_t)at);
    }
}

static void read_counters(pp_tree_walk *w) {
    for (size_t i = 0; i < w->tree->count; i++)
        if (!w->tree->members[i].over)
            count_from_above(w, i);
}

static void reread(pp_tree_walk *w, pp_frame_proc *proc) {
    pp_os *os = w->tree->os;
    ptrdiff_t index = pp__tree_find(w->tree, proc->info.id.pid);
    pp_usage usage = { 0 };

    if (index < 0 || os->usage(os->ctx, proc->info.id, true, &usage, NULL) != PP_OK)
        return;
    proc->usage = usage;
    w->tree->members[index].usage = usage;
    if (pp__debts_unpaid(&w->debts, proc->info.id, usage.child_faults))
        pp__tree_convict(w->tree, (size_t)index);
    pp__tree_walk_lacks(w, pp_pid_list_add(&w->reread, proc->info.id.pid));
}

/* A parent's second reading may hold children that were read before and ended since: those must
 * not count twice. Parents stand before their children in the frame. */
static void drop_waited_for(pp_tree_walk *w) {
    pp_os *os = w->tree->os;

    for (size_t i = 0; i < w->frame->proc_count && w->reread.count > 0; i++) {
        pp_frame_proc *proc = &w->frame->procs[i];
        pp_proc_info info;
        if (!is_listed(&w->reread, proc->info.ppid))
            continue;
        pp_status status = os->inspect(os->ctx, proc->info.id, &info, NULL);
        ptrdiff_t index = pp__tree_find(w->tree, proc->info.id.pid);
        if (status == PP_OK && index >= 0)
            pp__tree_glance(w->tree, (size_t)index, &info);
        if (status != PP_E_VANISHED && status != PP_E_STALE)
            continue;
        proc->waited_for = true;
        pp__tree_walk_lacks(w, pp_pid_list_add(&w->reread, proc->info.id.pid));
    }
}

static void reread_parents(pp_tree_walk *w) {
    for (size_t i = 0; i < w->frame->proc_count && w->orphans_of.count > 0; i++)
        if (pp_pid_map_has(&w->orphans_of, w->frame->procs[i].info.id.pid))
            reread(w, &w->frame->procs[i]);
    drop_waited_for(w);
}

static void read_leaf(pp_tree_walk *w) {
    pp_os *os = w->tree->os;
    pp_frame *frame = w->frame;
    pp_leaf *leaf = &frame->leaf;

    frame->has_leaf = os->leaf_read(os->ctx, leaf, NULL) == PP_OK;
    frame->strays = w->tree->strays;
    if (w->leaf_status != PP_OK) /* nobody knows whether somebody left */
        leaf->cpu_ns = leaf->user_ns = leaf->system_ns = pp_missing(w->leaf_status);
}

static void hand_over_exits(pp_tree *tree, pp_frame *frame) {
    for (size_t i = 0; i < tree->exit_count; i++) {
        pp_frame_exit *exit = pp_frame_add_exit(frame);
        if (exit)
            *exit = tree->exits[i];
    }
    frame->exits_dropped = tree->exits_dropped;
    tree->exits_dropped = 0;
    tree->exit_count = 0;
}

static bool are_equal(pp_notices a, pp_notices b) {
    return a.births.known && b.births.known && a.births.value == b.births.value && a.ends == b.ends;
}

/* Says whether lists of children are to be read. Who is noticed later is born later than a pass
 * that reads none begins. */
static pp_notices begin_pass(pp_tree_walk *w, bool read_all) {
    pp_tree *tree = w->tree;
    pp_os *os = tree->os;
    pp_now now = { 0 };

    pp__tree_walk_lacks(w, os->now(os->ctx, &now, NULL));
    const pp_notices before = os->notices(os->ctx);
    w->told_of_nobody = are_equal(tree->quiet, before);
    w->nobody_new = w->told_of_nobody && !tree->misled && !read_all &&
                    now.cont_ns - tree->asked_cont_ns < BELIEVED_NS;
    if (!w->nobody_new) {
        pp__tree_walk_lacks(w, os->now(os->ctx, &now, NULL));
        tree->asked_cont_ns = now.cont_ns;
    }
    w->started_cont_ns = now.cont_ns;
    return before;
}

/* A pass during which nobody was born or ended has met everybody, if no look failed. */
static void end_pass(pp_tree_walk *w, pp_notices before) {
    pp_tree *tree = w->tree;
    pp_os *os = tree->os;
    const pp_notices after = w->nobody_new && !w->surprised ? before : os->notices(os->ctx);
    const bool same = are_equal(before, after);

    tree->misled = tree->misled || (w->surprised && same);
    tree->quiet = same && w->frame->enumeration == PP_OK ? after : (pp_notices){ 0 };
    w->frame->births =
        tree->misled && after.births.known ? pp_missing(PP_E_ENUMERATION) : after.births;
}

void pp_tree_sample(pp_tree *tree, int64_t memory_budget_ns, pp_frame *frame) {
    pp_os *os = tree->os;
    pp_tree_walk w = { .tree = tree, .frame = frame };
    pp_now now = { 0 };

    const pp_notices before = begin_pass(&w, memory_budget_ns > 0);
    frame->listed_cont_ns = w.started_cont_ns;
    pp__tree_walk_discover(&w);
    pp__tree_walk_lacks(&w, os->now(os->ctx, &now, NULL));
    frame->t_ns = now.t_ns;
    frame->cont_ns = now.cont_ns;
    frame->wall_ns = now.wall_ns;
    read_counters(&w);
    reread_parents(&w);
    pp__tree_conserve(tree, frame);
    read_leaf(&w);
    end_pass(&w, before);
    if (memory_budget_ns > 0)
        pp__tree_read_memory(tree, frame->t_ns + memory_budget_ns, frame);
    hand_over_exits(tree, frame);
    pp__tree_walk_lacks(&w, os->now(os->ctx, &now, NULL));
    frame->end_ns = now.t_ns;
    tree->last_listed_ns = frame->listed_cont_ns;
    pp__tree_settle(tree);
    pp__tree_walk_done(&w);
}

pp_status pp_tree_discover(pp_tree *tree, pp_frame *frame) {
    pp_tree_walk w = { .tree = tree, .frame = frame };
    pp_now now = { 0 };

    pp__tree_walk_lacks(&w, tree->os->now(tree->os->ctx, &now, NULL));
    w.started_cont_ns = now.cont_ns;
    pp__tree_walk_discover(&w);
    pp__tree_settle(tree);
    pp__tree_walk_done(&w);
    return frame->enumeration;
}
