/* SPDX-License-Identifier: Apache-2.0 */
/* The leaf of the simulated host: born into by inheritance, left by processes that move themselves,
 * ended as a whole whoever they have become. Its total counts what was used inside it.
 */
#include <errno.h>
#include <signal.h>

#include "sim.h"

static bool lives_in_leaf(const sim_proc *p) {
    return p->in_leaf && p->state == SIM_ALIVE;
}

static pp_status leaf_read(void *ctx, pp_leaf *ret_leaf, pp_error *reterr) {
    sim_world *w = ctx;
    pp_reading none = pp_missing(PP_E_UNSUPPORTED);

    (void)reterr;
    sim_call(w, "leaf_read");
    pp_status fault = sim_fault(w, SIM_F_LEAF, 0);
    pp_reading cpu = fault == PP_OK ? pp_known(sim_leaf_cpu(w)) : pp_missing(fault);
    *ret_leaf = (pp_leaf){ cpu, cpu, cpu, none, none, none, none, none, none, none, none, none };
    return PP_OK;
}

static pp_status leaf_list(void *ctx, pp_pid_list *ret_pids, pp_error *reterr) {
    sim_world *w = ctx;
    pp_pid_list list = { 0 };

    sim_call(w, "leaf_list");
    if (sim_fault(w, SIM_F_LEAF, 1) != PP_OK)
        return pp_fail(reterr, PP_E_ENUMERATION, EIO, "cgroup.procs", "%s", "");
    for (int i = 0; i < w->live_count; i++)
        if (lives_in_leaf(&w->procs[w->live[i]]))
            (void)pp_pid_list_add(&list, w->procs[w->live[i]].pid);
    for (size_t i = list.count; i > 1; i--) {
        size_t other = (size_t)sim_below(&w->order, i);
        int32_t pid = list.pids[i - 1];
        list.pids[i - 1] = list.pids[other];
        list.pids[other] = pid;
    }
    *ret_pids = list;
    return PP_OK;
}

static pp_status leaf_holds(void *ctx, pp_proc_id id, bool *ret_inside, pp_error *reterr) {
    sim_world *w = ctx;

    sim_call(w, "leaf_holds");
    const sim_proc *p = sim_find(w, id.pid);
    if (!p)
        return pp_fail(reterr, PP_E_VANISHED, ESRCH, "cgroup", "%d", id.pid);
    if (!pp_proc_id_equal(p->id, id))
        return pp_fail(reterr, PP_E_STALE, 0, "cgroup", "%d is another process", id.pid);
    pp_status fault = sim_fault(w, SIM_F_LEAF, 2 + (int)(p - w->procs));
    if (fault != PP_OK)
        return pp_fail(reterr, fault, EIO, "cgroup", "%d", id.pid);
    *ret_inside = p->in_leaf;
    return PP_OK;
}

static pp_status leaf_empty(void *ctx, pp_error *reterr) {
    sim_world *w = ctx;

    sim_call(w, "leaf_empty");
    pp_status fault = sim_fault(w, SIM_F_LEAF, 2);
    if (fault != PP_OK)
        return pp_fail(reterr, fault, EIO, "cgroup.events", "%s", "");
    for (int i = 0; i < w->live_count; i++)
        if (lives_in_leaf(&w->procs[w->live[i]]))
            return pp_fail(reterr, PP_E_AGAIN, 0, "cgroup.events", "populated");
    return PP_OK;
}

/* Asks no permission of the processes, and nobody forks his way out. */
static pp_status leaf_kill(void *ctx, pp_error *reterr) {
    sim_world *w = ctx;

    sim_call(w, "leaf_kill");
    sim_oracle_leaf_kill(w);
    pp_status fault = sim_fault(w, SIM_F_LEAF, 3);
    sim_trace(w, "cgroup.kill: %s", pp_status_name(fault));
    if (fault != PP_OK)
        return pp_fail(reterr, fault, EIO, "cgroup.kill", "%s", "");
    w->leaf_killed = true;
    for (int i = 0; i < w->live_count; i++)
        if (lives_in_leaf(&w->procs[w->live[i]]))
            sim_signal(w, &w->procs[w->live[i]], SIGKILL);
    return PP_OK;
}

static const char *leaf_path(void *ctx) {
    (void)ctx;
    return "/cgroup/pairperf-2-1-1";
}

void sim_host_leaf(pp_os *os) {
    os->leaf_read = leaf_read;
    os->leaf_list = leaf_list;
    os->leaf_holds = leaf_holds;
    os->leaf_empty = leaf_empty;
    os->leaf_kill = leaf_kill;
    os->leaf_path = leaf_path;
}
