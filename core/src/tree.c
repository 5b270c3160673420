/* SPDX-License-Identifier: Apache-2.0 */

/* The member table. The invariant: a member is an identity that was validated as owned once, and
 * it stays until it was seen gone, reused or reaped; then exactly one exit record tells what was
 * last known. Between two calls the table holds members only, in the order in which they were met.
 * An escape stays evidence for the whole run, at least as a number.
 */
#include "pairperf/tree.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "pairperf/counters.h"
#include "pid_map.h"
#include "resize.h"
#include "tree_private.h"

void pp_tree_init(pp_tree *tree, pp_os *os, pp_proc_id leader, const char *const *expected) {
    *tree = (pp_tree){ .os = os, .leader = leader, .expected = expected };

    pp_proc_info info = { .id = leader, .pgid = leader.pid };
    pp_error error;
    if (os->inspect(os->ctx, leader, &info, &error) == PP_OK) {
        info.id.unique = info.id.unique ? info.id.unique : leader.unique;
        tree->sid = info.sid;
    }
    pp_tree_member *member = pp__tree_add(tree, &info);
    if (member)
        member->leader = true;
}

void pp_tree_done(pp_tree *tree) {
    if (!tree)
        return;
    if (tree->by_pid)
        pp_pid_map_done(tree->by_pid);
    free(tree->by_pid);
    free(tree->members);
    free(tree->unmet);
    free(tree->exits);
    *tree = (pp_tree){ 0 };
}

ptrdiff_t pp__tree_find(const pp_tree *tree, int32_t pid) {
    return tree->by_pid ? pp_pid_map_at(tree->by_pid, pid) : -1;
}

ptrdiff_t pp__tree_find_parent(const pp_tree *tree, const pp_proc_info *info) {
    ptrdiff_t at = pp__tree_find(tree, info->ppid);

    return at >= 0 && tree->members[at].info.start_ns <= info->start_ns ? at : -1;
}

static bool make_room(pp_tree *tree, int32_t pid) {
    if (!tree->by_pid)
        tree->by_pid = calloc(1, sizeof *tree->by_pid);
    if (tree->count == tree->capacity) {
        size_t wanted = tree->capacity ? tree->capacity * 2 : 32;
        void *bigger = pp_resize(tree->members, wanted, sizeof *tree->members);
        if (!bigger)
            return false;
        tree->members = bigger;
        tree->capacity = wanted;
    }
    return tree->by_pid && pp_pid_map_put(tree->by_pid, pid, tree->count);
}

pp_tree_member *pp__tree_add(pp_tree *tree, const pp_proc_info *info) {
    if (!make_room(tree, info->id.pid)) {
        tree->incomplete = true;
        return NULL;
    }
    pp_tree_member *member = &tree->members[tree->count++];
    *member = (pp_tree_member){ .info = *info, .seen = true, .after_leader = tree->leader_gone };
    pp__tree_place(tree, member);
    return member;
}

static pp_frame_exit *add_exit(pp_tree *tree) {
    if (tree->exit_count >= PP_TREE_EXITS_MAX) {
        tree->exits_dropped++;
        return NULL;
    }
    if (tree->exit_count == tree->exit_capacity) {
        size_t wanted = tree->exit_capacity ? tree->exit_capacity * 2 : 32;
        void *bigger = pp_resize(tree->exits, wanted, sizeof *tree->exits);
        if (!bigger) {
            tree->incomplete = true;
            return NULL;
        }
        tree->exits = bigger;
        tree->exit_capacity = wanted;
    }
    return &tree->exits[tree->exit_count++];
}

void pp__tree_end(pp_tree *tree, size_t index, const pp_exit *exit, bool final) {
    pp_tree_member *member = &tree->members[index];
    pp_frame_exit *record = add_exit(tree);

    if (record)
        *record = (pp_frame_exit){ .info = member->info,
                                   .exit_known = exit != NULL,
                                   .exit = exit ? *exit : (pp_exit){ 0 },
                                   .final = final,
                                   .usage = member->usage };
    tree->leader_gone = tree->leader_gone || member->leader;
    tree->os->forget(tree->os->ctx, member->info.id);
    pp_pid_map_remove(tree->by_pid, member->info.id.pid);
    if (member->escape > 0)
        tree->escape_records[member->escape - 1].over = true;
    member->over = true;
    tree->over++;
}

void pp__tree_settle(pp_tree *tree) {
    size_t kept = 0;

    for (size_t i = 0; i < tree->count && tree->over > 0; i++) {
        if (tree->members[i].over)
            continue;
        if (kept < i) { /* the map has it: this only replaces */
            tree->members[kept] = tree->members[i];
            (void)pp_pid_map_put(tree->by_pid, tree->members[kept].info.id.pid, kept);
        }
        kept++;
    }
    tree->count = tree->over > 0 ? kept : tree->count;
    tree->over = 0;
}

void pp__tree_emit(pp_tree *tree, pp_tree_event_kind kind, const pp_proc_info *info,
                   int32_t old_ppid) {
    pp_tree_event event = { .kind = kind, .info = *info, .old_ppid = old_ppid };

    if (tree->on_event)
        tree->on_event(tree->event_ctx, &event);
}

static bool is_expected(const pp_tree *tree, const char *exe) {
    for (const char *const *glob = tree->expected; glob && *glob; glob++)
        if (fnmatch(*glob, exe, 0) == 0)
            return true;
    return false;
}

/* From 1 on; 0: there is none. A name on the list is worth most while its process can be looked at:
 * one that is over gives way, the latest first, but not to another that is over. */
static size_t escape_place(const pp_tree *tree, bool over) {
    size_t at = PP_TREE_ESCAPES_MAX;

    if (tree->escapes < PP_TREE_ESCAPES_MAX)
        return (size_t)tree->escapes + 1;
    while (at > 0 && (over || !tree->escape_records[at - 1].over))
        at--;
    return at;
}

static void record_escape(pp_tree *tree, pp_tree_member *member) {
    member->escape = escape_place(tree, member->over);
    if (member->escape > 0)
        tree->escape_records[member->escape - 1] = (pp_tree_escape){ .info = member->info,
                                                                     .expected = member->expected,
                                                                     .over = member->over };
    tree->escapes++;
}

void pp__tree_place(pp_tree *tree, pp_tree_member *member) {
    const pp_proc_info *info = &member->info;
    /* Group or session 0: not readable (macOS tells no session of a process that exits). */
    bool other_session = tree->sid != 0 && info->sid != 0 && info->sid != tree->sid;
    bool outside = (info->pgid != 0 && info->pgid != tree->leader.pid) || other_session;

    member->expected = is_expected(tree, info->exe);
    if (member->escape > 0) { /* it has become another program since it left */
        tree->escape_records[member->escape - 1].info = *info;
        tree->escape_records[member->escape - 1].expected = member->expected;
    }
    tree->lower_bound = tree->lower_bound || info->sigchld_ignored;
    if (!outside || member->escaped || pp_proc_id_equal(info->id, tree->leader))
        return;
    member->escaped = true;
    record_escape(tree, member);
    pp__tree_emit(tree, PP_TREE_ESCAPED, info, info->ppid);
}

void pp__tree_glance(pp_tree *tree, size_t index, const pp_proc_info *info) {
    pp_tree_member *member = &tree->members[index];

    if (!pp_proc_id_equal(member->info.id, info->id))
        return;
    if (info->pgid != 0)
        member->info.pgid = info->pgid;
    if (info->sid != 0)
        member->info.sid = info->sid;
    pp__tree_place(tree, member);
}

void pp__tree_look_for_stray(pp_tree *tree, size_t index) {
    pp_tree_member *member = &tree->members[index];
    pp_os *os = tree->os;
    bool inside = true;

    if (member->stray || os->leaf_holds(os->ctx, member->info.id, &inside, NULL) != PP_OK || inside)
        return;
    member->stray = true;
    tree->strays++;
}

pp_usage pp__tree_unreadable(pp_status why) {
    pp_reading missing = pp_missing(why);

    return (pp_usage){ .cpu_ns = missing,
                       .child_cpu_ns = missing,
                       .rss_bytes = missing,
                       .footprint_bytes = missing,
                       .voluntary_switches = missing,
                       .involuntary_switches = missing,
                       .wakeups_pkg_idle = missing,
                       .wakeups_interrupt = missing,
                       .write_bytes = missing,
                       .cancelled_write_bytes = missing,
                       .logical_write_bytes = missing,
                       .billed_energy = missing,
                       .threads = missing,
                       .faults = missing,
                       .child_faults = missing };
}

static pp_status reason(pp_reading missing) {
    return missing.why ? missing.why : PP_E_UNSUPPORTED;
}

static void book(pp_tree *tree, const pp_exit *exit) {
    tree->reaped++;
    if (exit->cpu_ns.known)
        tree->reaped_cpu_ns += exit->cpu_ns.value;
    else
        tree->reaped_missing = pp_told_of(tree->reaped_missing, reason(exit->cpu_ns));
}

static void book_written(pp_tree *tree, pp_reading write_bytes) {
    if (write_bytes.known)
        tree->reaped_write_bytes += write_bytes.value;
    else
        tree->reaped_write_missing = pp_told_of(tree->reaped_write_missing, reason(write_bytes));
}

/* The member with this identity, recorded now if need be; one that had the number before is gone.
 * -1: no memory. */
static ptrdiff_t find_or_add(pp_tree *tree, pp_proc_id id) {
    ptrdiff_t index = pp__tree_find(tree, id.pid);
    pp_proc_info info = { .id = id };
    pp_error ignored;

    if (index >= 0 && pp_proc_id_equal(tree->members[index].info.id, id))
        return index;
    if (index >= 0) {
        const pp_proc_info old = tree->members[index].info;
        pp__tree_emit(tree, PP_TREE_REUSED, &old, old.ppid);
        pp__tree_end(tree, (size_t)index, NULL, false);
    }
    (void)tree->os->inspect(tree->os->ctx, id, &info, &ignored);
    return pp__tree_add(tree, &info) ? (ptrdiff_t)tree->count - 1 : -1;
}

static pp_status reap(pp_tree *tree, pp_proc_id id, pp_exit *ret_exit, pp_error *reterr) {
    pp_os *os = tree->os;
    pp_exit exit = { 0 };
    pp_reading write_bytes = { 0 };
    pp_status status = os->observe_exit(os->ctx, id, &exit, reterr);

    if (status != PP_OK)
        return status;
    ptrdiff_t index = find_or_add(tree, id);
    pp_usage usage;
    bool final = os->usage(os->ctx, id, true, &usage, NULL) == PP_OK;
    if (index >= 0)
        pp__tree_look_for_stray(tree, (size_t)index);
    pp__tree_orphans_done(tree);
    status = os->reap(os->ctx, id, &exit, &write_bytes, reterr);
    if (status != PP_OK)
        return status;
    book(tree, &exit);
    book_written(tree, write_bytes);
    if (index >= 0) {
        if (final)
            tree->members[index].usage = usage;
        pp__tree_end(tree, (size_t)index, &exit, final);
    }
    *ret_exit = exit;
    return PP_OK;
}

pp_status pp_tree_reap(pp_tree *tree, pp_proc_id id, pp_exit *ret_exit, pp_error *reterr) {
    pp_status status = reap(tree, id, ret_exit, reterr);

    pp__tree_settle(tree);
    return status;
}

/* More of them than anybody reads about: the next ones are counted. */
static bool is_crowded(const pp_tree *tree) {
    return tree->exit_count >= PP_TREE_ORPHANS_MAX && tree->escapes >= PP_TREE_ESCAPES_MAX;
}

/* Nobody met it, so it is no member of any frame: its place, its end and what it used are booked.
 */
pp_status pp__tree_reap_orphan(pp_tree *tree, int32_t pid) {
    pp_os *os = tree->os;
    pp_orphan orphan = { 0 };

    if (!tree->reaping_orphans)
        tree->own_written = os->own_written(os->ctx);
    tree->reaping_orphans = true;
    pp_status status = os->reap_orphan(os->ctx, pid, is_crowded(tree), &orphan, NULL);
    if (status != PP_OK)
        return status;
    book(tree, &orphan.exit);
    pp_tree_member member = { .info = orphan.info, .over = true };
    pp__tree_place(tree, &member);
    tree->strays += orphan.stray;
    if (orphan.unseen) {
        tree->exits_dropped++;
        tree->lower_bound = true; /* it may have been one that waits for nobody */
        return PP_OK;
    }
    pp_frame_exit *record = add_exit(tree);
    if (record)
        *record = (pp_frame_exit){ .info = orphan.info,
                                   .exit_known = true,
                                   .exit = orphan.exit,
                                   .usage = pp__tree_unreadable(PP_E_VANISHED) };
    return PP_OK;
}

void pp__tree_orphans_done(pp_tree *tree) {
    if (tree->reaping_orphans)
        book_written(tree, pp_gain(tree->own_written, tree->os->own_written(tree->os->ctx)));
    tree->reaping_orphans = false;
}

/* Most children are members that live on: one question is enough for them, and there may be very
 * many children. */
static void reap_child(pp_tree *tree, int32_t pid) {
    pp_os *os = tree->os;
    pp_proc_info info = { 0 };
    pp_exit exit = { 0 };
    pp_error error = { 0 };

    ptrdiff_t index = pp__tree_find(tree, pid);
    if (index >= 0 ? tree->members[index].leader : pid == tree->leader.pid && !tree->leader_gone)
        return; /* pinned until its group is verified */
    if (index < 0) {
        (void)pp__tree_reap_orphan(tree, pid);
        return;
    }
    pp_status status = reap(tree, tree->members[index].info.id, &exit, &error);
    if ((status == PP_E_VANISHED || status == PP_E_STALE) &&
        os->identify(os->ctx, pid, &info, &error) == PP_OK)
        (void)reap(tree, info.id, &exit, &error);
}

int64_t pp__tree_now(const pp_tree *tree) {
    pp_now now = { 0 };

    (void)tree->os->now(tree->os->ctx, &now, NULL);
    return now.t_ns;
}

void pp_tree_reap_adopted(pp_tree *tree, const pp_pid_list *own, size_t *at, int64_t end_ns) {
    size_t least = *at + PP_TREE_PORTION_MIN;

    while (*at < own->count && (*at < least || pp__tree_now(tree) < end_ns))
        reap_child(tree, own->pids[(*at)++]);
    pp__tree_orphans_done(tree);
    pp__tree_settle(tree);
}

bool pp_tree_has(const pp_tree *tree, pp_proc_id id) {
    ptrdiff_t index = pp__tree_find(tree, id.pid);

    return index >= 0 && pp_proc_id_equal(tree->members[index].info.id, id);
}

void pp_tree_outside_count(const pp_tree *tree, pp_tree_outside *ret_outside) {
    *ret_outside = (pp_tree_outside){ 0 };
    for (size_t i = 0; i < tree->count; i++) {
        const pp_tree_member *member = &tree->members[i];
        if (member->leader || member->info.phase == PP_PHASE_ZOMBIE)
            continue;
        if (!member->seen) { /* it may have left the group since it was last read */
            ret_outside->uncertain++;
            continue;
        }
        if (member->info.pgid == tree->leader.pid && !member->escaped && !tree->leader_gone)
            continue; /* the group's own verification covers it */
        ret_outside->alive++;
        if (member->expected)
            ret_outside->expected++;
    }
}

const char *pp_tree_event_name(pp_tree_event_kind kind) {
    static const char *const names[] = { "reused", "reparented", "escaped",
                                         "late",   "denied",     "discards_children" };

    return names[kind];
}
