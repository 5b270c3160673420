/* SPDX-License-Identifier: Apache-2.0 */

/* One pass over the tree. The invariant: parents are looked at and counted before their children,
 * so that what moves from a child to its parent (waited-for CPU, I/O) while we read is at worst
 * missed once and never counted twice; a parent is read again once if one of its children vanished
 * in the pass, and then replaces those that it waited for since they were read. What cannot be read
 * is named in the frame; it never shortens it silently.
 */
#include <stdlib.h>
#include <string.h>

#include "pid_map.h"
#include "tree_private.h"

/* A pass does not look at ended orphans for longer, unless there are few; the next one goes on. */
#define ORPHANS_NS 10000000LL
#define ORPHANS_MIN 128

/* Candidates in the order of discovery, each pid once. */
typedef struct walk {
    pp_tree *tree;
    pp_frame *frame;
    pp_pid_list queue;
    pp_pid_map queued;     /* 1: a list of this pass showed it */
    pp_pid_map orphans_of; /* parents of what vanished in this pass */
    pp_pid_list reread;    /* those that were read again, and whom they waited for since */
    pp_debts debts;        /* what those parents must have been given for them */
    pp_pid_map own;        /* the supervisor's children: the leader and adopted orphans */
    pp_pid_list leaf;      /* who lives in the tree's own cgroup */
    pp_pid_map in_leaf;    /* the same */
    int64_t orphans_ns;    /* spent on those that ended */
    size_t orphans;        /* how many */
    int64_t started_cont_ns;
    bool nobody_new;       /* so the notices say: children lists are not read */
    bool surprised;        /* there was one all the same */
    pp_status leaf_status; /* PP_OK: that list is whole; UNSUPPORTED: there is no such cgroup */
} walk;

static void walk_done(walk *w) {
    pp_pid_list_done(&w->queue);
    pp_pid_map_done(&w->orphans_of);
    pp_pid_list_done(&w->reread);
    pp_pid_list_done(&w->leaf);
    pp__debts_done(&w->debts);
    pp_pid_map_done(&w->queued);
    pp_pid_map_done(&w->own);
    pp_pid_map_done(&w->in_leaf);
}

static void note_enumeration(walk *w, pp_status status) {
    w->frame->enumeration = pp_told_of(w->frame->enumeration, status);
}

static bool is_listed(const pp_pid_list *list, int32_t pid) {
    for (size_t i = 0; i < list->count; i++)
        if (list->pids[i] == pid)
            return true;
    return false;
}

static void note_in(walk *w, pp_pid_map *map, int32_t pid) {
    if (pid > 0 && !pp_pid_map_put(map, pid, 0))
        note_enumeration(w, PP_E_NOMEM);
}

static void push(walk *w, int32_t pid, bool listed) {
    ptrdiff_t before = pp_pid_map_at(&w->queued, pid);

    if (pid <= 1 || before >= (ptrdiff_t)listed)
        return;
    if (before < 0)
        note_enumeration(w, pp_pid_list_add(&w->queue, pid));
    if (!pp_pid_map_put(&w->queued, pid, listed))
        note_enumeration(w, PP_E_NOMEM);
}

static void push_list(walk *w, const pp_pid_list *list) {
    for (size_t i = 0; i < list->count; i++)
        push(w, list->pids[i], true);
}

/* Is this member still the process it was? What was read before that is then about it, too. */
static pp_tree_claim still_stands(walk *w, size_t index) {
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
static bool is_in_leaf(walk *w, pp_proc_id id) {
    pp_os *os = w->tree->os;
    bool inside = false;

    return pp_pid_map_has(&w->in_leaf, id.pid) &&
           os->leaf_holds(os->ctx, id, &inside, NULL) == PP_OK && inside;
}

/* A number from a list may belong to a stranger by now, and so may its parent's: it is ours only
 * as a child of the supervisor, with a parent that is a member and proves to be so after the
 * child was read, with a place in the leader's group while the leader pins that number, or when
 * the process with this very identity is in the leaf. */
static pp_tree_claim claim_by_place(walk *w, const pp_proc_info *info) {
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
static void learn_own_pid(walk *w, const pp_proc_info *info) {
    if (w->tree->own_pid == 0 && pp_pid_map_has(&w->own, info->id.pid))
        w->tree->own_pid = info->ppid;
}

static void push_children(walk *w, int32_t pid) {
    pp_os *os = w->tree->os;
    pp_pid_list children = { 0 };
    pp_error error = { 0 };
    pp_status status = os->list_children(os->ctx, pid, &children, &error);

    if (status == PP_OK)
        push_list(w, &children);
    else if (status != PP_E_VANISHED)
        note_enumeration(w, PP_E_ENUMERATION);
    pp_pid_list_done(&children);
}

/* Orphans that ended before anybody met them are reaped and no members. When there is no time for
 * more of them, those that live are still found; what the others used is missing in the frame. */
static bool is_over(walk *w, int32_t pid) {
    pp_tree *tree = w->tree;
    pp_os *os = tree->os;

    if (!os->adopts || !pp_pid_map_has(&w->own, pid))
        return false;
    if (w->orphans >= ORPHANS_MIN && w->orphans_ns >= ORPHANS_NS) {
        if (os->orphan_ended(os->ctx, pid, NULL) != PP_OK)
            return false;
        note_enumeration(w, PP_E_BLOCKED);
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
static bool is_newborn(const walk *w, const pp_proc_info *info) {
    return (int64_t)info->start_ns > w->started_cont_ns;
}

static pp_tree_claim claim_of(walk *w, const pp_proc_info *info) {
    pp_tree_claim by_place = claim_by_place(w, info);
    pp_tree_claim by_list = pp__tree_unmet_claim(w->tree, info, w->started_cont_ns);

    return by_place > by_list ? by_place : by_list;
}

/* A number that one of our lists shows, of whom nobody knows enough. */
static void stay_in_doubt(walk *w, int32_t pid, pp_status status) {
    note_enumeration(w, status);
    if (pp_pid_map_at(&w->queued, pid) == 1) /* else the number of one that ended */
        pp__tree_unmet_note(w->tree, pid, w->started_cont_ns);
}

static void meet(walk *w, int32_t pid) {
    pp_os *os = w->tree->os;
    pp_proc_info info = { 0 };
    pp_error error = { 0 };

    if (is_over(w, pid))
        return;
    pp_status status = os->identify(os->ctx, pid, &info, &error);
    if (status != PP_OK && status != PP_E_VANISHED) {
        pp_frame_add_failure(w->frame, pid, true, &error);
        stay_in_doubt(w, pid, status);
        return;
    }
    pp_tree_claim claim = status == PP_OK ? claim_of(w, &info) : PP_TREE_STRANGER;
    if (claim == PP_TREE_UNCLEAR)
        stay_in_doubt(w, pid, PP_E_UNVERIFIED);
    else
        pp__tree_unmet_drop(w->tree, pid);
    if (status == PP_E_VANISHED)
        return;
    if (claim != PP_TREE_OURS) {
        os->forget(os->ctx, info.id);
        pp_pid_map_remove(&w->queued, pid); /* its parent may be met, and list it, after it */
        return;
    }
    w->surprised = w->nobody_new;
    learn_own_pid(w, &info);
    if (!pp__tree_add(w->tree, &info)) {
        note_enumeration(w, PP_E_NOMEM);
        return;
    }
    if (w->tree->last_listed_ns > 0 && (int64_t)info.start_ns + 10000000 < w->tree->last_listed_ns)
        pp__tree_emit(w->tree, PP_TREE_LATE, &info, info.ppid);
    if (!is_newborn(w, &info))
        push_children(w, pid);
}

/* One whose number is another's by now may be ended and not reaped yet: nobody owes for it. */
static void note_gone(walk *w, size_t index, pp_status status) {
    const pp_tree_member *member = &w->tree->members[index];

    note_in(w, &w->orphans_of, member->info.ppid);
    if (status == PP_E_VANISHED)
        note_enumeration(w, pp__debts_add(&w->debts, member));
    pp__tree_end(w->tree, index, NULL, false);
}

/* One that the kernel is just releasing (state X) still has its number: nobody else has it. */
static bool has_new_owner(walk *w, pp_proc_id old) {
    pp_os *os = w->tree->os;
    pp_proc_info info = { 0 };

    return os->identify(os->ctx, old.pid, &info, NULL) == PP_OK && !pp_proc_id_equal(info.id, old);
}

static void recheck(walk *w, size_t index) {
    pp_os *os = w->tree->os;
    pp_tree_member *member = &w->tree->members[index];
    pp_proc_info info = member->info;
    pp_proc_info old = member->info;
    pp_error error = { 0 };
    pp_status status = os->inspect(os->ctx, old.id, &info, &error);

    if (status == PP_E_VANISHED || status == PP_E_STALE) {
        if (status == PP_E_STALE && has_new_owner(w, old.id))
            pp__tree_emit(w->tree, PP_TREE_REUSED, &old, old.ppid);
        note_gone(w, index, status);
        if (status == PP_E_STALE)
            meet(w, old.id.pid);
        return;
    }
    if (status != PP_OK) {
        pp_frame_add_failure(w->frame, old.id.pid, true, &error);
        if (!w->nobody_new) /* whoever it has now is in doubt */
            push_children(w, old.id.pid);
        return; /* stays a member, not seen: unverified */
    }
    learn_own_pid(w, &info);
    member->seen = true;
    member->info = info;
    pp__tree_place(w->tree, member);
    if (info.ppid != old.ppid && old.ppid != 0)
        pp__tree_emit(w->tree, PP_TREE_REPARENTED, &info, old.ppid);
    if (info.phase != PP_PHASE_ZOMBIE && !w->nobody_new) /* a zombie's were given away */
        push_children(w, info.id.pid);
}

/* The last one first: it lives most likely, and chains that hop do not stay what they are. */
static void push_own(walk *w, const pp_pid_list *own) {
    for (size_t i = own->count; i > 0; i--) {
        note_in(w, &w->own, own->pids[i - 1]);
        push(w, own->pids[i - 1], true);
    }
}

static void seed(walk *w) {
    pp_os *os = w->tree->os;
    pp_pid_list list = { 0 };
    pp_error error = { 0 };

    if (!w->tree->leader_gone)
        push(w, w->tree->leader.pid, false);
    if (os->list_own_children(os->ctx, &list, &error) == PP_OK)
        push_own(w, &list);
    else
        note_enumeration(w, PP_E_ENUMERATION);
    pp_pid_list_done(&list);
    if (!os->adopts && !w->tree->leader_gone) { /* no orphan comes to us: ask its group */
        if (os->list_group(os->ctx, w->tree->leader.pid, &list, &error) == PP_OK)
            push_list(w, &list);
        else
            note_enumeration(w, PP_E_ENUMERATION);
        pp_pid_list_done(&list);
    }
    for (size_t i = 0; i < w->tree->count; i++)
        push(w, w->tree->members[i].info.id.pid, false);
    for (size_t i = 0; i < w->tree->unmet_count; i++)
        push(w, w->tree->unmet[i].pid, false);
}

/* Looks at the queue from `first` on; returns where it ends. */
static size_t work_off(walk *w, size_t first) {
    pp_tree *tree = w->tree;
    size_t i = first;

    for (; i < w->queue.count; i++) {
        int32_t pid = w->queue.pids[i];
        ptrdiff_t index = pp__tree_find(tree, pid);
        if (index >= 0)
            recheck(w, (size_t)index);
        else if (pid != tree->leader.pid || tree->leader_gone)
            meet(w, pid);
        if (!pp_pid_map_has(&w->queued, pid)) /* it may come again, and is counted once */
            w->queue.pids[i] = 0;
    }
    return i;
}

#define LEAF_DEPTH_MAX 32

/* One that the walk did not find; its parent first, if that is another of them. */
static void push_found_in_leaf(walk *w, int32_t pid, unsigned depth) {
    pp_os *os = w->tree->os;
    pp_proc_info info = { 0 };

    if (pp_pid_map_has(&w->queued, pid))
        return;
    if (depth < LEAF_DEPTH_MAX && os->identify(os->ctx, pid, &info, NULL) == PP_OK &&
        pp_pid_map_has(&w->in_leaf, info.ppid))
        push_found_in_leaf(w, info.ppid, depth + 1);
    push(w, pid, true);
}

static void list_leaf(walk *w) {
    pp_os *os = w->tree->os;

    w->leaf_status = os->leaf_list(os->ctx, &w->leaf, NULL);
    for (size_t i = 0; i < w->leaf.count; i++)
        note_in(w, &w->in_leaf, w->leaf.pids[i]);
    for (size_t i = 0; i < w->leaf.count; i++)
        push_found_in_leaf(w, w->leaf.pids[i], 0);
}

/* A living member that is not on the leaf's list was born since, or moved itself out. */
static void find_strays(walk *w) {
    pp_tree *tree = w->tree;

    for (size_t i = 0; i < tree->count && w->leaf_status == PP_OK; i++) {
        const pp_tree_member *member = &tree->members[i];
        if (member->seen && !member->over && member->info.phase != PP_PHASE_ZOMBIE &&
            !pp_pid_map_has(&w->in_leaf, member->info.id.pid))
            pp__tree_look_for_stray(tree, i);
    }
}

static void discover(walk *w) {
    pp_tree *tree = w->tree;

    for (size_t i = 0; i < tree->count; i++)
        tree->members[i].seen = false;
    seed(w);
    size_t walked = work_off(w, 0);
    list_leaf(w);
    (void)work_off(w, walked);
    pp__tree_orphans_done(tree);
    find_strays(w);
    if (tree->incomplete)
        note_enumeration(w, PP_E_NOMEM);
}

static void read_member(walk *w, size_t index) {
    pp_tree *tree = w->tree;
    pp_os *os = tree->os;
    pp_tree_member *member = &tree->members[index];
    pp_error error = { 0 };
    pp_usage usage = { 0 };
    pp_status status = os->usage(os->ctx, member->info.id, true, &usage, &error);

    if (status == PP_E_VANISHED || status == PP_E_STALE) {
        note_gone(w, index, status);
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
        note_enumeration(w, PP_E_NOMEM);
}

/* Members in order of discovery: the queue's order, which put parents first. */
static void read_counters(walk *w) {
    for (size_t i = 0; i < w->queue.count; i++) {
        ptrdiff_t found = pp__tree_find(w->tree, w->queue.pids[i]);
        if (found >= 0)
            read_member(w, (size_t)found);
    }
}

static void reread(walk *w, pp_frame_proc *proc) {
    pp_os *os = w->tree->os;
    ptrdiff_t index = pp__tree_find(w->tree, proc->info.id.pid);
    pp_usage usage = { 0 };

    if (index < 0 || os->usage(os->ctx, proc->info.id, true, &usage, NULL) != PP_OK)
        return;
    proc->usage = usage;
    w->tree->members[index].usage = usage;
    if (pp__debts_unpaid(&w->debts, proc->info.id, usage.child_faults))
        pp__tree_convict(w->tree, (size_t)index);
    note_enumeration(w, pp_pid_list_add(&w->reread, proc->info.id.pid));
}

/* A parent's second reading may hold children that were read before and ended since: those must
 * not count twice. Parents stand before their children in the frame. */
static void drop_waited_for(walk *w) {
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
        note_enumeration(w, pp_pid_list_add(&w->reread, proc->info.id.pid));
    }
}

static void reread_parents(walk *w) {
    for (size_t i = 0; i < w->frame->proc_count && w->orphans_of.count > 0; i++)
        if (pp_pid_map_has(&w->orphans_of, w->frame->procs[i].info.id.pid))
            reread(w, &w->frame->procs[i]);
    drop_waited_for(w);
}

static void read_leaf(walk *w) {
    pp_os *os = w->tree->os;
    pp_frame *frame = w->frame;
    pp_leaf *leaf = &frame->leaf;

    frame->has_leaf = os->leaf_read(os->ctx, leaf, NULL) == PP_OK;
    frame->strays = w->tree->strays;
    if (w->leaf_status != PP_OK) /* nobody knows whether somebody left */
        leaf->cpu_ns = leaf->user_ns = leaf->system_ns = pp_missing(w->leaf_status);
}

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

static void read_memory(pp_tree *tree, int64_t deadline_ns, pp_frame *frame) {
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

/* A pass during which nobody was born or ended has met everybody, if no look failed. Notices may be
 * lost without a word, if seldom: a memory pass believes none. */
static bool met_everybody(const walk *w, pp_notices before, pp_notices after) {
    return are_equal(before, after) && w->frame->enumeration == PP_OK && !w->surprised;
}

void pp_tree_sample(pp_tree *tree, int64_t memory_budget_ns, pp_frame *frame) {
    pp_os *os = tree->os;
    walk w = { .tree = tree, .frame = frame };
    pp_now now = { 0 };
    const pp_notices before = os->notices(os->ctx);

    w.nobody_new = memory_budget_ns <= 0 && are_equal(tree->quiet, before);
    note_enumeration(&w, os->now(os->ctx, &now, NULL));
    frame->listed_cont_ns = w.started_cont_ns = now.cont_ns;
    discover(&w);
    note_enumeration(&w, os->now(os->ctx, &now, NULL));
    frame->t_ns = now.t_ns;
    frame->cont_ns = now.cont_ns;
    frame->wall_ns = now.wall_ns;
    read_counters(&w);
    reread_parents(&w);
    pp__tree_conserve(tree, frame);
    read_leaf(&w);
    const pp_notices after = os->notices(os->ctx);
    frame->births = after.births;
    tree->quiet = met_everybody(&w, before, after) ? after : (pp_notices){ 0 };
    if (memory_budget_ns > 0)
        read_memory(tree, frame->t_ns + memory_budget_ns, frame);
    hand_over_exits(tree, frame);
    note_enumeration(&w, os->now(os->ctx, &now, NULL));
    frame->end_ns = now.t_ns;
    tree->last_listed_ns = frame->listed_cont_ns;
    pp__tree_settle(tree);
    walk_done(&w);
}

pp_status pp_tree_discover(pp_tree *tree, pp_frame *frame) {
    walk w = { .tree = tree, .frame = frame };
    pp_now now = { 0 };

    note_enumeration(&w, tree->os->now(tree->os->ctx, &now, NULL));
    w.started_cont_ns = now.cont_ns;
    discover(&w);
    pp__tree_settle(tree);
    walk_done(&w);
    return frame->enumeration;
}
