/* SPDX-License-Identifier: Apache-2.0 */
/* Lists and looks of the simulated host. Under Linux rules a group list is a walk over numbers
 * during which the world goes on; under Darwin's it is one instant. Every counter that is given out
 * is remembered, so that the evidence can be compared with it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

static void shuffle(sim_world *w, pp_pid_list *list) {
    for (size_t i = list->count; i > 1; i--) {
        size_t other = (size_t)sim_below(&w->order, i);
        int32_t pid = list->pids[i - 1];
        list->pids[i - 1] = list->pids[other];
        list->pids[other] = pid;
    }
}

static pp_status finish_list(sim_world *w, pp_pid_list *list, pp_pid_list *ret_pids) {
    shuffle(w, list);
    *ret_pids = *list;
    return PP_OK;
}

/* /proc does not show it, and nobody but its parent knows of it. */
static bool is_hidden(const sim_world *w, const sim_proc *p) {
    return w->plan.hidepid && p->foreign && p->parent != SIM_SUPERVISOR;
}

static pp_status host_list_group(void *ctx, int32_t pgid, pp_pid_list *ret_pids, pp_error *reterr) {
    sim_world *w = ctx;
    pp_pid_list list = { 0 };

    sim_call(w, "list_group");
    pp_status fault = sim_fault(w, SIM_F_LIST, 0);
    w->list_ns = w->now_ns;
    for (int32_t pid = 2; pid < (int32_t)w->plan.pids && fault == PP_OK; pid++) {
        const sim_proc *p = sim_find(w, pid);
        if (!p)
            continue;
        if (p->pgid == pgid && !is_hidden(w, p))
            (void)pp_pid_list_add(&list, pid);
        if (w->plan.linux_rules && w->plan.racy && sim_chance(&w->rng, 20))
            sim_call(w, "list_group's walk");
    }
    sim_trace(w, "list_group %d: %zu, %s", pgid, list.count, pp_status_name(fault));
    sim_oracle_list(w, fault, &list);
    if (fault != PP_OK)
        return pp_fail(reterr, fault, EIO, "list_group", "%d", pgid);
    return finish_list(w, &list, ret_pids);
}

static pp_status children_of(sim_world *w, int parent, pp_pid_list *ret_pids) {
    pp_pid_list list = { 0 };

    for (int i = 0; i < w->live_count; i++)
        if (w->procs[w->live[i]].parent == parent)
            (void)pp_pid_list_add(&list, w->procs[w->live[i]].pid);
    return finish_list(w, &list, ret_pids);
}

static pp_status host_list_children(void *ctx, int32_t pid, pp_pid_list *ret_pids,
                                    pp_error *reterr) {
    sim_world *w = ctx;

    sim_call(w, "list_children");
    const sim_proc *p = sim_find(w, pid);
    if (!p)
        return pp_fail(reterr, PP_E_VANISHED, ENOENT, "list_children", "%d", pid);
    if (sim_fault(w, SIM_F_LIST, (int)(p - w->procs)) != PP_OK)
        return pp_fail(reterr, PP_E_ENUMERATION, EIO, "list_children", "%d", pid);
    return children_of(w, (int)(p - w->procs), ret_pids);
}

static pp_status host_list_own_children(void *ctx, pp_pid_list *ret_pids, pp_error *reterr) {
    sim_world *w = ctx;

    sim_call(w, "list_own_children");
    if (sim_fault(w, SIM_F_LIST, SIM_SUPERVISOR) != PP_OK)
        return pp_fail(reterr, PP_E_ENUMERATION, EIO, "list_own_children", "%s", "");
    return children_of(w, SIM_SUPERVISOR, ret_pids);
}

static void describe(const sim_world *w, const sim_proc *p, pp_proc_info *ret_info) {
    *ret_info = (pp_proc_info){ .id = p->id,
                                .ppid = w->procs[p->parent].pid,
                                .pgid = p->pgid,
                                .sid = p->sid,
                                .start_ns = (uint64_t)p->start_cont_ns,
                                .sigchld_ignored = p->sigchld_ignored };
    if (p->state != SIM_ALIVE)
        ret_info->phase = PP_PHASE_ZOMBIE;
    else
        ret_info->phase = p->stopped ? PP_PHASE_STOPPED : PP_PHASE_ALIVE;
    if (!w->plan.linux_rules && p->state != SIM_ALIVE && !p->identified)
        ret_info->sid = 0; /* not told of an exiting process that was not seen before */
    if (p->helper)
        memcpy(ret_info->exe, "/helper", sizeof "/helper");
    else
        memcpy(ret_info->exe, "/app", sizeof "/app");
}

pp_status sim_look(sim_world *w, sim_proc *p, pp_proc_info *ret_info, pp_error *reterr) {
    if (w->plan.hidepid && p->foreign)
        return pp_fail(reterr, PP_E_DENIED, ENOENT, "open", "%d is hidden", p->pid);
    pp_status fault = sim_fault(w, SIM_F_LOOK, (int)(p - w->procs));
    if (fault != PP_OK)
        return pp_fail(reterr, fault, EIO, "look", "%d", p->pid);
    if (p->state == SIM_GONE)
        return pp_fail(reterr, PP_E_VANISHED, ESRCH, "look", "%d", p->pid);
    describe(w, p, ret_info);
    if (!p->identified)
        p->identified_ns = w->now_ns;
    p->identified = true;
    return PP_OK;
}

static pp_status host_identify(void *ctx, int32_t pid, pp_proc_info *ret_info, pp_error *reterr) {
    sim_world *w = ctx;
    pp_status status;

    sim_call(w, "identify");
    sim_proc *p = sim_find(w, pid);
    if (p)
        status = sim_look(w, p, ret_info, reterr);
    else
        status = pp_fail(reterr, PP_E_VANISHED, ESRCH, "identify", "%d", pid);
    sim_oracle_identified(w, pid, status, ret_info);
    sim_trace(w, "identify %d: %s", pid, pp_status_name(status));
    return status;
}

/* The process with this identity; it is a member then, or the supervisor believes so. */
static pp_status member(sim_world *w, pp_proc_id id, sim_proc **ret_proc, pp_error *reterr) {
    sim_proc *p = sim_find(w, id.pid);

    if (!p)
        return pp_fail(reterr, PP_E_VANISHED, ESRCH, "member", "%d", id.pid);
    if (!pp_proc_id_equal(p->id, id))
        return pp_fail(reterr, PP_E_STALE, 0, "member", "%d is another process", id.pid);
    if (!p->ours)
        sim_fail(w, "the stranger %d was taken for a member", id.pid);
    p->recorded = true;
    *ret_proc = p;
    return PP_OK;
}

static void note_outside(sim_world *w, sim_proc *p, const pp_proc_info *info) {
    if (w->leader_reaped || w->leader_stolen || p->is_leader ||
        (info->pgid == w->procs[w->leader].pid && info->sid == w->procs[SIM_SUPERVISOR].sid)) {
        p->outside_in_round = 0;
        return;
    }
    if (p->outside_in_round == 0)
        p->outside_in_round = w->rounds;
    p->seen_outside |= p->outside_in_round != w->rounds;
}

static pp_status host_inspect(void *ctx, pp_proc_id id, pp_proc_info *ret_info, pp_error *reterr) {
    sim_world *w = ctx;
    sim_proc *p = NULL;

    sim_call(w, "inspect");
    pp_status status = member(w, id, &p, reterr);
    if (status == PP_OK)
        status = sim_look(w, p, ret_info, reterr);
    if (status == PP_OK)
        note_outside(w, p, ret_info);
    sim_trace(w, "inspect %d: %s", id.pid, pp_status_name(status));
    return status;
}

static void remember(sim_world *w, const sim_given *given) {
    if (!w->audited)
        return;
    if (w->given_count == w->given_capacity) {
        w->given_capacity = w->given_capacity ? w->given_capacity * 2 : 1024;
        w->given = realloc(w->given, w->given_capacity * sizeof *w->given);
        if (!w->given)
            abort();
    }
    w->given[w->given_count++] = *given;
}

/* A field that cannot be read now, for a reason of its own. */
static void drop_fields(sim_world *w, const sim_proc *p, pp_usage *usage) {
    if (w->plan.fault == 0)
        return;
    uint64_t draw = sim_hash(sim_hash(w->plan.seed, 99 + (uint64_t)(p - w->procs)),
                             (uint64_t)(w->now_ns / (20 * SIM_MS)));
    if (draw % 1000 >= w->plan.fault)
        return;
    pp_reading *fields[] = { &usage->cpu_ns, &usage->child_cpu_ns, &usage->rss_bytes,
                             &usage->write_bytes, &usage->threads };
    *fields[(draw >> 16) % 5] = pp_missing((draw >> 32) % 2 ? PP_E_DENIED : PP_E_SYS);
}

static void fill_usage(sim_world *w, const sim_proc *p, pp_usage *usage) {
    bool linux_rules = w->plan.linux_rules, dead = p->state != SIM_ALIVE;
    pp_reading none = pp_missing(PP_E_UNSUPPORTED);
    uint64_t waited = p->child_cpu_ns, written = sim_written(w, p);

    *usage = (pp_usage){ none, none, none, none, none, none, none,  none, none,
                         none, none, none, none, none, none, false, false };
    usage->cpu_ns = pp_known(sim_cpu_ns(w, p));
    usage->child_cpu_ns = pp_known(linux_rules ? waited - waited % 10000000 : waited);
    usage->rss_bytes =
        dead && linux_rules ? pp_missing(PP_E_VANISHED) : pp_known(dead ? 4096 : 1U << 20);
    usage->threads = dead && !linux_rules ? pp_missing(PP_E_VANISHED) : pp_known(1);
    usage->write_bytes = pp_known(linux_rules ? written + p->absorbed_bytes : written);
    if (linux_rules && p->foreign)
        usage->write_bytes = pp_missing(PP_E_DENIED);
    if (linux_rules)
        usage->faults = pp_known(sim_faults(w, p));
    if (linux_rules && !dead)
        usage->child_faults = pp_known(p->child_faults);
    if (linux_rules)
        usage->voluntary_switches = usage->involuntary_switches = pp_known(3);
    else
        usage->footprint_bytes = dead ? pp_missing(PP_E_VANISHED) : pp_known(2U << 20);
    drop_fields(w, p, usage);
}

static pp_status host_usage(void *ctx, pp_proc_id id, bool with_switches, pp_usage *ret_usage,
                            pp_error *reterr) {
    sim_world *w = ctx;
    sim_proc *p = NULL;

    (void)with_switches;
    sim_call(w, "usage");
    pp_status status = member(w, id, &p, reterr);
    if (status != PP_OK)
        return status;
    sim_given given = { .proc = (int)(p - w->procs), .zombie = p->state != SIM_ALIVE };
    given.status = sim_fault(w, SIM_F_USAGE, given.proc);
    if (p->denied || (p->foreign && !w->plan.linux_rules))
        given.status = PP_E_DENIED;
    if (p->state == SIM_GONE) /* while the call was blocked */
        return pp_fail(reterr, PP_E_VANISHED, ESRCH, "usage", "%d", id.pid);
    given.t_ns = w->now_ns;
    if (given.status == PP_OK) {
        fill_usage(w, p, &given.usage);
        *ret_usage = given.usage;
    }
    remember(w, &given);
    if (given.status != PP_OK)
        return pp_fail(reterr, given.status, EPERM, "usage", "%d", id.pid);
    return PP_OK;
}

static pp_status memory_of(sim_world *w, pp_proc_id id, pp_memory *ret_memory) {
    sim_proc *p = NULL;

    sim_call(w, "memory");
    pp_status status = member(w, id, &p, NULL);
    if (status != PP_OK)
        return status;
    sim_given given = { .proc = (int)(p - w->procs), .is_memory = true };
    given.status = sim_fault(w, SIM_F_MEMORY, given.proc);
    if (!w->plan.linux_rules)
        given.status = PP_E_UNSUPPORTED;
    else if (p->foreign)
        given.status = PP_E_DENIED;
    else if (p->state != SIM_ALIVE)
        given.status = PP_E_VANISHED;
    given.t_ns = w->now_ns;
    if (given.status == PP_OK)
        *ret_memory = given.memory =
            (pp_memory){ pp_known(700000), pp_known(600000), pp_known(0), pp_known(650000) };
    remember(w, &given);
    return given.status;
}

static void host_memory(void *ctx, pp_memory_answer *items, size_t count, int64_t deadline_ns) {
    (void)deadline_ns;
    for (size_t i = 0; i < count; i++)
        items[i].status = memory_of(ctx, items[i].id, &items[i].memory);
}

void sim_host_reads(pp_os *os) {
    os->list_group = host_list_group;
    os->list_children = host_list_children;
    os->list_own_children = host_list_own_children;
    os->identify = host_identify;
    os->inspect = host_inspect;
    os->usage = host_usage;
    os->memory = host_memory;
}
