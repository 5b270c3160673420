/* SPDX-License-Identifier: Apache-2.0 */

/* Sweeping up after a lost supervisor. The invariant: only a child of this very process is
 * signalled, only by its validated identity, and only if the order names it; a member of our own
 * group, as all direct children of scripts are, never is.
 */
#include "sweep.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "host.h"
#include "resize.h"

enum { PAUSE_MS = 5, QUIET_PASSES = 2 };

static bool is_member(const pp_sweep_order *order, pp_proc_id id) {
    for (size_t i = 0; i < order->member_count; i++)
        if (pp_proc_id_equal(order->members[i], id))
            return true;
    return false;
}

static bool is_group(const pp_sweep_order *order, int32_t pgid) {
    for (size_t i = 0; i < order->group_count; i++)
        if (order->groups[i] == pgid)
            return true;
    return false;
}

/* The mark is read by number, so it counts only if the process proves to be the same after it. */
static bool is_marked(pp_os *os, const pp_sweep_order *order, const pp_proc_info *info,
                      pp_started_with started_with) {
    pp_proc_info again;

    return order->assignment && started_with(info->id.pid, order->assignment) &&
           os->inspect(os->ctx, info->id, &again, NULL) == PP_OK;
}

static pp_swept *find(pp_sweep *sweep, pp_proc_id id) {
    for (size_t i = 0; i < sweep->count; i++)
        if (pp_proc_id_equal(sweep->items[i].info.id, id))
            return &sweep->items[i];
    return NULL;
}

/* Who could not be looked at last time may be by now. */
static void forget_unread(pp_sweep *sweep) {
    size_t kept = 0;

    for (size_t i = 0; i < sweep->count; i++)
        if (sweep->items[i].how != PP_SWEPT_UNVERIFIED)
            sweep->items[kept++] = sweep->items[i];
    sweep->count = kept;
    sweep->unread = (pp_error){ 0 };
}

static pp_status note(pp_sweep *sweep, const pp_proc_info *info, pp_swept_how how,
                      pp_error *reterr) {
    pp_swept *known = find(sweep, info->id);

    if (known) {
        known->how = how;
        return PP_OK;
    }
    if (sweep->count == sweep->capacity) {
        size_t wanted = sweep->capacity ? sweep->capacity * 2 : 16;
        pp_swept *bigger = pp_resize(sweep->items, wanted, sizeof *bigger);
        if (!bigger)
            return pp_fail(reterr, PP_E_NOMEM, 0, "sweep", "%zu processes", wanted);
        sweep->items = bigger;
        sweep->capacity = wanted;
    }
    sweep->items[sweep->count++] = (pp_swept){ .info = *info, .how = how };
    return PP_OK;
}

static pp_status meet(pp_os *os, const pp_sweep_order *order, const pp_proc_info *info,
                      pp_started_with started_with, pp_sweep *sweep, bool *ret_busy,
                      pp_error *reterr) {
    pp_swept *known = find(sweep, info->id);
    pp_exit exit;

    if (!(known && known->how != PP_SWEPT_STRANGER) && !is_member(order, info->id) &&
        !is_group(order, info->pgid) && !is_marked(os, order, info, started_with))
        return note(sweep, info, PP_SWEPT_STRANGER, reterr);
    *ret_busy = true;
    if (info->phase == PP_PHASE_ZOMBIE)
        return note(sweep, info,
                    os->reap(os->ctx, info->id, &exit, &(pp_reading){ 0 }, NULL) == PP_OK
                        ? PP_SWEPT_GONE
                        : PP_SWEPT_ALIVE,
                    reterr);
    (void)os->signal(os->ctx, info->id, SIGKILL, NULL); /* the next look says what it did */
    return note(sweep, info, PP_SWEPT_ALIVE, reterr);
}

static pp_status note_unread(pp_sweep *sweep, int32_t pid, const pp_error *error,
                             pp_error *reterr) {
    const pp_proc_info info = { .id = { .pid = pid }, .exe = "[unread]" };

    if (sweep->unread.status == PP_OK)
        (void)pp_fail(&sweep->unread, error->status, error->sys_errno, "sweep", "child %d: %s: %s",
                      pid, error->op, error->detail);
    return note(sweep, &info, PP_SWEPT_UNVERIFIED, reterr);
}

pp_status pp__sweep_pass(pp_os *os, const pp_sweep_order *order, int32_t own_group,
                         pp_started_with started_with, pp_sweep *sweep, bool *ret_busy,
                         pp_error *reterr) {
    pp_pid_list pids = { 0 };
    pp_status status = os->list_own_children(os->ctx, &pids, reterr);

    *ret_busy = false;
    forget_unread(sweep);
    for (size_t i = 0; i < pids.count && status == PP_OK; i++) {
        pp_proc_info info;
        pp_error error = { 0 };
        pp_status look = os->identify(os->ctx, pids.pids[i], &info, &error);
        if (look == PP_OK && info.pgid != own_group) {
            status = meet(os, order, &info, started_with, sweep, ret_busy, reterr);
        } else if (look != PP_OK && look != PP_E_VANISHED && look != PP_E_STALE) {
            *ret_busy = true;
            status = note_unread(sweep, pids.pids[i], &error, reterr);
        }
    }
    pp_pid_list_done(&pids);
    return status;
}

pp_status pp__sweep_leaf(pp_os *os, pp_sweep *sweep, pp_error *reterr) {
    pp_pid_list pids = { 0 };
    pp_status status = PP_OK;

    (void)os->leaf_list(os->ctx, &pids, NULL); /* unnamed ones are ended, too */
    for (size_t i = 0; i < pids.count && status == PP_OK; i++) {
        pp_proc_info info;
        bool inside = false;
        if (os->identify(os->ctx, pids.pids[i], &info, NULL) == PP_OK &&
            os->leaf_holds(os->ctx, info.id, &inside, NULL) == PP_OK && inside)
            status = note(sweep, &info, PP_SWEPT_ALIVE, reterr);
    }
    pp_pid_list_done(&pids);
    (void)os->leaf_kill(os->ctx, NULL); /* whether it is empty then says what it did */
    return status;
}

/* Those that somebody else reaped. */
static void settle(pp_os *os, pp_sweep *sweep) {
    for (size_t i = 0; i < sweep->count; i++) {
        pp_swept *one = &sweep->items[i];
        pp_proc_info info;
        pp_status status = os->inspect(os->ctx, one->info.id, &info, NULL);
        if (one->how == PP_SWEPT_ALIVE && (status == PP_E_VANISHED || status == PP_E_STALE))
            one->how = PP_SWEPT_GONE;
    }
}

static pp_status not_finished(const pp_sweep *sweep, pp_error *reterr) {
    const pp_error *unread = &sweep->unread;

    if (unread->status == PP_OK)
        return pp_fail(reterr, PP_E_TIMEOUT, 0, "sweep", "%zu processes met", sweep->count);
    return pp_fail(reterr, unread->status, unread->sys_errno, unread->op, "%s", unread->detail);
}

/* A killed one's children become ours a moment after it, hence the second quiet look. */
static pp_status sweep_all(pp_os *os, const pp_sweep_order *order, pp_sweep *sweep,
                           pp_error *reterr) {
    pp_now now = { 0 };
    pp_status status = pp_host_now(&now, reterr);
    int64_t deadline_ns = now.t_ns + order->limit_ns;
    int quiet = 0;

    if (status == PP_OK)
        status = pp__sweep_leaf(os, sweep, reterr);
    while (status == PP_OK && quiet < QUIET_PASSES) {
        bool busy;
        status = pp__sweep_pass(os, order, getpgrp(), pp_host_started_with, sweep, &busy, reterr);
        busy = busy || os->leaf_empty(os->ctx, NULL) == PP_E_AGAIN;
        quiet = busy ? 0 : quiet + 1;
        if (status == PP_OK)
            status = pp_host_now(&now, reterr);
        if (status == PP_OK && quiet < QUIET_PASSES && now.t_ns >= deadline_ns)
            return not_finished(sweep, reterr);
        (void)poll(NULL, 0, PAUSE_MS);
    }
    return status;
}

pp_status pp_sweep_prepare(pp_error *reterr) {
    return pp_host_adopt(reterr);
}

pp_status pp_sweep_run(const pp_sweep_order *order, pp_sweep *ret_sweep, pp_error *reterr) {
    pp_os os;

    *ret_sweep = (pp_sweep){ 0 };
    pp_status status = pp_host_net_open(order->leaf, &os, reterr);
    if (status != PP_OK)
        return status;
    status = sweep_all(&os, order, ret_sweep, reterr);
    settle(&os, ret_sweep);
    pp_status closed = pp_host_net_close(&os, status == PP_OK ? reterr : NULL);
    return status == PP_OK ? closed : status;
}

void pp_sweep_done(pp_sweep *sweep) {
    free(sweep->items);
    *sweep = (pp_sweep){ 0 };
}

const char *pp_swept_name(pp_swept_how how) {
    static const char *const names[] = { "gone", "alive", "stranger", "unverified" };

    return names[how];
}
