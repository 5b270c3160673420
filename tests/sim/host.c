/* SPDX-License-Identifier: Apache-2.0 */
/* The floor pp_os over the simulated kernel: waiting, the channel, starting, exits and signals. It
 * keeps every rule that os.h asks of a host, and answers as the two real hosts do.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "sim.h"

#define CALLS_MAX 3000000U
#define TIME_MOST_NS (600 * SIM_SECOND)

void sim_call(sim_world *w, const char *name) {
    if (++w->calls > CALLS_MAX)
        sim_fail(w, "the supervisor does not come to an end");
    if (!w->plan.racy)
        return;
    int64_t t_ns = w->now_ns + sim_between(&w->rng, 200, 20000);
    if (sim_chance(&w->rng, w->plan.jump)) { /* another process has the processor */
        int64_t next = sim_next_event(w);
        if (next > t_ns && next - t_ns < 20 * SIM_MS)
            t_ns = next;
        sim_trace(w, "  (pause in %s)", name);
    }
    w->lost_ns += t_ns - w->now_ns;
    sim_run_until(w, t_ns);
}

static const pp_status list_faults[] = { PP_E_ENUMERATION, PP_E_SYS, PP_E_NOMEM, PP_E_UNVERIFIED };
static const pp_status read_faults[] = { PP_E_SYS, PP_E_BLOCKED, PP_E_DENIED, PP_E_MALFORMED };

pp_status sim_fault(sim_world *w, unsigned kind, int about) {
    if (w->plan.fault == 0)
        return PP_OK;
    uint64_t slot = (uint64_t)(w->now_ns / (20 * SIM_MS));
    uint64_t draw = sim_hash(sim_hash(w->plan.seed, (uint64_t)kind * 1000 + (uint64_t)about), slot);
    if (draw % 1000 >= w->plan.fault)
        return PP_OK;
    pp_status status = kind == SIM_F_LIST   ? list_faults[(draw >> 20) % 4]
                       : kind == SIM_F_WAIT ? PP_E_SYS
                                            : read_faults[(draw >> 20) % 4];
    if (status == PP_E_BLOCKED && w->plan.racy) {
        int64_t t_ns = w->now_ns + 2 * SIM_MS;
        w->lost_ns += t_ns - w->now_ns;
        sim_run_until(w, t_ns);
    }
    return status;
}

static pp_status host_now(void *ctx, pp_now *ret_now, pp_error *reterr) {
    sim_world *w = ctx;

    (void)reterr;
    ret_now->t_ns = w->now_ns;
    ret_now->cont_ns = w->now_ns + w->slept_ns;
    ret_now->wall_ns = w->now_ns + w->wall_ns;
    return PP_OK;
}

static bool has_room(const sim_world *w) {
    return w->harness.outbox_size < w->plan.capacity;
}

static bool collect(sim_world *w, bool want_writable, pp_events *events) {
    const sim_harness *h = &w->harness;

    *events = (pp_events){ .child = w->child_pending };
    w->child_pending = false;
    if (!h->closed_seen) {
        events->channel_readable = h->inbox_size > 0 || h->dead;
        events->channel_writable = want_writable && (has_room(w) || h->dead);
    }
    return events->child || events->channel_readable || events->channel_writable;
}

static pp_status host_wait(void *ctx, int64_t deadline_ns, bool want_writable,
                           pp_events *ret_events, pp_error *reterr) {
    sim_world *w = ctx;

    sim_call(w, "wait");
    if (w->calls > CALLS_MAX)
        return pp_fail(reterr, PP_E_SYS, ELOOP, "wait", "too often");
    w->rounds++;
    sim_trace(w, "wait until %.6f ms", (double)(deadline_ns - w->born_ns) / 1e6);
    while (!collect(w, want_writable, ret_events)) {
        if (deadline_ns <= w->now_ns) {
            ret_events->timer = true;
            return PP_OK;
        }
        int64_t next = sim_next_event(w);
        if (deadline_ns == SIM_NEVER &&
            (next == SIM_NEVER || w->now_ns > w->born_ns + TIME_MOST_NS)) {
            sim_fail(w, "the supervisor waits for what never happens");
            return pp_fail(reterr, PP_E_SYS, EDEADLK, "wait", "for ever");
        }
        sim_run_until(w, next < deadline_ns ? next : deadline_ns);
    }
    return PP_OK;
}

static pp_status host_send(void *ctx, const void *bytes, size_t size, size_t *ret_sent,
                           pp_error *reterr) {
    sim_world *w = ctx;

    sim_call(w, "send");
    if (w->harness.dead) {
        w->harness.closed_seen = true;
        return pp_fail(reterr, PP_E_CLOSED, EPIPE, "send", "channel");
    }
    size_t room = has_room(w) ? w->plan.capacity - w->harness.outbox_size : 0;
    w->pressed = w->pressed || size > room;
    if (room == 0)
        return pp_fail(reterr, PP_E_AGAIN, EAGAIN, "send", "channel");
    *ret_sent = size < room ? size : room;
    sim_trace(w, "sent %zu of %zu", *ret_sent, size);
    sim_harness_receive(w, bytes, *ret_sent);
    return PP_OK;
}

static pp_status host_recv(void *ctx, void *bytes, size_t capacity, size_t *ret_received,
                           pp_error *reterr) {
    sim_world *w = ctx;
    sim_harness *h = &w->harness;

    sim_call(w, "recv");
    if (h->inbox_size == 0 && h->dead) {
        h->closed_seen = true;
        return pp_fail(reterr, PP_E_CLOSED, 0, "recv", "channel");
    }
    if (h->inbox_size == 0)
        return pp_fail(reterr, PP_E_AGAIN, EAGAIN, "recv", "channel");
    size_t size = h->inbox_size < capacity ? h->inbox_size : capacity;
    if (size > w->plan.chunk)
        size = w->plan.chunk;
    memcpy(bytes, h->inbox, size);
    memmove(h->inbox, h->inbox + size, h->inbox_size - size);
    h->inbox_size -= size;
    *ret_received = size;
    return PP_OK;
}

static pp_status host_spawn(void *ctx, const pp_command *command, pp_proc_id *ret_id,
                            pp_error *reterr) {
    sim_world *w = ctx;

    sim_call(w, "spawn");
    if (w->leader)
        sim_fail(w, "a second command was started");
    if (w->plan.spawn_fails)
        return pp_fail(reterr, PP_E_SYS, ENOENT, "execve", "%s", command->path);
    if (sim_birth(w, SIM_SUPERVISOR) < 0)
        return pp_fail(reterr, PP_E_SYS, EAGAIN, "fork", "%s", command->path);
    sim_proc *leader = &w->procs[w->leader];
    leader->foreign = false;
    leader->identified = leader->recorded = true;
    leader->identified_ns = w->now_ns;
    if (w->plan.debugger_ns != SIM_NEVER && !w->plan.linux_rules)
        w->debugger_ns = w->now_ns + w->plan.debugger_ns;
    if (w->harness.dead)
        sim_oracle_death(w);
    *ret_id = leader->id;
    return PP_OK;
}

/* How it exited, for a child of ours that did. */
static pp_status exited(sim_world *w, pp_proc_id id, sim_proc **ret_proc, pp_exit *ret_exit,
                        pp_error *reterr) {
    sim_proc *p = sim_find(w, id.pid);

    if (!p || !pp_proc_id_equal(p->id, id))
        return pp_fail(reterr, PP_E_VANISHED, ECHILD, "waitid", "%d is gone", id.pid);
    pp_status fault = sim_fault(w, SIM_F_WAIT, (int)(p - w->procs));
    if (fault != PP_OK)
        return pp_fail(reterr, fault, EIO, "waitid", "%d", id.pid);
    if (p->parent == SIM_DEBUGGER || p->state != SIM_ZOMBIE)
        return pp_fail(reterr, PP_E_AGAIN, 0, "waitid", "%d lives", id.pid);
    if (p->parent != SIM_SUPERVISOR)
        return pp_fail(reterr, PP_E_VANISHED, ECHILD, "waitid", "%d is no child", id.pid);
    *ret_exit = p->exit;
    ret_exit->cpu_ns = pp_known(sim_cpu_ns(w, p) + p->child_cpu_ns);
    *ret_proc = p;
    return PP_OK;
}

static void tell_lost(sim_world *w) {
    if (w->told_lost || w->leader_reaped)
        return;
    w->told_lost = true;
    w->lost_leader_ns = w->now_ns;
}

static pp_status host_observe_exit(void *ctx, pp_proc_id id, pp_exit *ret_exit, pp_error *reterr) {
    sim_world *w = ctx;
    sim_proc *p = NULL;

    sim_call(w, "observe_exit");
    pp_status status = exited(w, id, &p, ret_exit, reterr);
    if (w->leader && pp_proc_id_equal(id, w->procs[w->leader].id)) {
        w->told_exited |= status == PP_OK;
        if (status == PP_E_VANISHED)
            tell_lost(w);
    }
    return status;
}

static pp_status host_reap(void *ctx, pp_proc_id id, pp_exit *ret_exit, pp_reading *ret_write_bytes,
                           pp_error *reterr) {
    sim_world *w = ctx;
    sim_proc *p = NULL;

    sim_call(w, "reap");
    pp_status status = exited(w, id, &p, ret_exit, reterr);
    if (status != PP_OK)
        return status;
    sim_oracle_reap(w, p);
    *ret_write_bytes = w->plan.linux_rules ? pp_known(sim_written(w, p) + p->absorbed_bytes)
                                           : pp_missing(PP_E_UNSUPPORTED);
    sim_trace(w, "reap %d", id.pid);
    w->own_written += sim_written(w, p) + p->absorbed_bytes;
    w->leader_reaped |= p->is_leader;
    sim_reaped(w, p);
    return PP_OK;
}

static pp_reading host_own_written(void *ctx) {
    sim_world *w = ctx;

    sim_call(w, "own_written");
    return w->plan.linux_rules ? pp_known(w->own_written) : pp_missing(PP_E_UNSUPPORTED);
}

static pp_status host_orphan_ended(void *ctx, int32_t pid, pp_error *reterr) {
    sim_world *w = ctx;
    pp_exit exit;

    sim_call(w, "orphan_ended");
    sim_proc *p = sim_find(w, pid);
    if (!p)
        return pp_fail(reterr, PP_E_VANISHED, ECHILD, "waitid", "%d is gone", pid);
    return exited(w, p->id, &p, &exit, reterr);
}

static pp_status host_reap_orphan(void *ctx, int32_t pid, bool briefly, pp_orphan *ret_orphan,
                                  pp_error *reterr) {
    sim_world *w = ctx;

    (void)briefly; /* never a crowd here */

    sim_call(w, "reap_orphan");
    sim_proc *p = sim_find(w, pid);
    if (!p)
        return pp_fail(reterr, PP_E_VANISHED, ECHILD, "waitid", "%d is gone", pid);
    pp_status status = exited(w, p->id, &p, &ret_orphan->exit, reterr);
    if (status == PP_OK)
        status = sim_look(w, p, &ret_orphan->info, reterr);
    if (status != PP_OK)
        return status;
    sim_oracle_reap(w, p);
    ret_orphan->stray = w->plan.leaf && !p->in_leaf;
    sim_trace(w, "reap orphan %d", pid);
    w->leader_reaped |= p->is_leader;
    w->own_written += sim_written(w, p) + p->absorbed_bytes;
    p->recorded = true;
    sim_reaped(w, p);
    return PP_OK;
}

static pp_status host_kill_children(void *ctx, size_t *ret_count, pp_error *reterr) {
    sim_world *w = ctx;
    int children[SIM_PROCS_MAX];
    size_t count = 0;
    pp_status status = PP_OK;

    sim_call(w, "kill_children");
    for (int i = 0; i < w->live_count; i++)
        if (w->procs[w->live[i]].parent == SIM_SUPERVISOR)
            children[count++] = w->live[i];
    for (size_t i = 0; i < count; i++) {
        sim_proc *p = &w->procs[children[i]];
        sim_call(w, "kill");
        sim_oracle_kill_child(w, p);
        sim_trace(w, "kill child %d", p->pid);
        w->refused_signal |= p->foreign;
        if (p->foreign)
            status = pp_fail(reterr, PP_E_DENIED, EPERM, "kill", "%d", p->pid);
        else
            sim_signal(w, p, SIGKILL);
    }
    *ret_count = count;
    return status;
}

static pp_status host_no_children_left(void *ctx, pp_error *reterr) {
    sim_world *w = ctx;

    sim_call(w, "no_children_left");
    if (!w->leader_reaped && !w->leader_stolen)
        sim_fail(w, "any child was waited for while the leader was pinned");
    if (!w->plan.linux_rules)
        return pp_fail(reterr, PP_E_UNSUPPORTED, 0, "waitid", "proves nothing");
    pp_status fault = sim_fault(w, SIM_F_WAIT, 0);
    if (fault != PP_OK)
        return pp_fail(reterr, fault, EIO, "waitid", "any child");
    for (int i = 0; i < w->live_count; i++)
        if (w->procs[w->live[i]].parent == SIM_SUPERVISOR)
            return pp_fail(reterr, PP_E_AGAIN, 0, "waitid", "a child is left");
    return PP_OK;
}

static void host_forget(void *ctx, pp_proc_id id) {
    (void)ctx;
    (void)id;
}

static pp_status host_signal(void *ctx, pp_proc_id id, int number, pp_error *reterr) {
    sim_world *w = ctx;

    sim_call(w, "signal");
    sim_proc *p = sim_find(w, id.pid);
    bool same = p && pp_proc_id_equal(p->id, id);
    sim_oracle_signal(w, id, same ? p : NULL, number);
    sim_trace(w, "signal %d to %d", number, id.pid);
    if (!p)
        return pp_fail(reterr, PP_E_VANISHED, ESRCH, "signal", "%d", id.pid);
    if (!same)
        return pp_fail(reterr, PP_E_STALE, 0, "signal", "%d is another process", id.pid);
    w->refused_signal |= p->foreign;
    if (p->foreign)
        return pp_fail(reterr, PP_E_DENIED, EPERM, "signal", "%d", id.pid);
    sim_signal(w, p, number);
    return PP_OK;
}

static pp_status host_signal_group(void *ctx, pp_proc_id leader, int number, pp_error *reterr) {
    sim_world *w = ctx;
    bool any = false, allowed = false;

    sim_call(w, "signal_group");
    sim_oracle_signal_group(w, leader, number);
    sim_trace(w, "signal %d to group %d", number, leader.pid);
    w->killed_group |= number == SIGKILL;
    sim_proc *pin = sim_find(w, leader.pid);
    if (!pin || !pp_proc_id_equal(pin->id, leader)) {
        if (w->plan.linux_rules)
            tell_lost(w);
        return pp_fail(reterr, w->plan.linux_rules ? PP_E_REFUSED : PP_E_VANISHED, ESRCH,
                       "signal_group", "%d is not pinned", leader.pid);
    }
    for (int i = 0; i < w->live_count; i++) {
        sim_proc *p = &w->procs[w->live[i]];
        if (p->pgid != leader.pid || (!w->plan.linux_rules && p->state != SIM_ALIVE))
            continue;
        any = true;
        if (p->foreign)
            continue;
        allowed = true;
        sim_signal(w, p, number);
    }
    if (!any)
        return pp_fail(reterr, PP_E_VANISHED, ESRCH, "signal_group", "%d", leader.pid);
    w->refused_signal |= !allowed;
    if (!allowed)
        return pp_fail(reterr, PP_E_DENIED, EPERM, "signal_group", "%d", leader.pid);
    return PP_OK;
}

static pp_status host_drain_output(void *ctx, pp_output_state *ret_state, pp_error *reterr) {
    sim_world *w = ctx;

    if (sim_fault(w, SIM_F_WAIT, 1) != PP_OK)
        return pp_fail(reterr, PP_E_SYS, EIO, "read", "stdout");
    *ret_state = (pp_output_state){ .stdout_bytes = 10 };
    return PP_OK;
}

static pp_status host_save(void *ctx, const char *name, const void *bytes, size_t size,
                           pp_error *reterr) {
    sim_world *w = ctx;

    if (!w->harness.dead)
        sim_fail(w, "a record was saved while the harness lives");
    if (w->plan.save_fails || ++w->saves == w->plan.save_fails_at)
        return pp_fail(reterr, PP_E_SYS, ENOSPC, "write", "%s", name);
    sim_harness_saved(w, bytes, size, strcmp(name, "samples.supervisor.jsonl") == 0);
    return PP_OK;
}

static pp_status host_own_cost(void *ctx, pp_reading *ret_cpu_ns, pp_reading *ret_rss_bytes,
                               pp_error *reterr) {
    sim_world *w = ctx;

    (void)reterr;
    sim_oracle_verdict(w);
    *ret_cpu_ns = pp_known(1000);
    *ret_rss_bytes = pp_missing(PP_E_DENIED);
    return PP_OK;
}

static pp_status host_capability(void *ctx, size_t index, const char **ret_name,
                                 pp_status *ret_state, int *ret_errno,
                                 const char **ret_consequence) {
    (void)ctx;
    if (index > 0)
        return PP_E_VANISHED;
    *ret_name = "simulated";
    *ret_state = PP_E_DENIED;
    *ret_errno = EPERM;
    *ret_consequence = "none";
    return PP_OK;
}

static pp_notices host_notices(void *ctx) {
    const sim_world *w = ctx;

    if (!w->plan.notices || w->now_ns >= w->plan.deaf_ns)
        return (pp_notices){ .births = pp_missing(w->plan.notices ? PP_E_ENUMERATION
                                                                  : PP_E_UNSUPPORTED) };
    return (pp_notices){ .births = pp_known(w->tree_births), .ends = w->tree_ends };
}

void sim_host(sim_world *w, pp_os *ret_os) {
    *ret_os = (pp_os){ .ctx = w,
                       .now = host_now,
                       .wait = host_wait,
                       .channel_send = host_send,
                       .channel_recv = host_recv,
                       .spawn = host_spawn,
                       .observe_exit = host_observe_exit,
                       .reap = host_reap,
                       .orphan_ended = host_orphan_ended,
                       .reap_orphan = host_reap_orphan,
                       .own_written = host_own_written,
                       .kill_children = host_kill_children,
                       .no_children_left = host_no_children_left,
                       .forget = host_forget,
                       .signal = host_signal,
                       .signal_group = host_signal_group,
                       .drain_output = host_drain_output,
                       .save = host_save,
                       .own_cost = host_own_cost,
                       .capability = host_capability,
                       .notices = host_notices,
                       .adopts = w->plan.linux_rules };
    if (w->plan.leaf)
        sim_host_leaf(ret_os);
    else
        pp_os_without_leaf(ret_os);
    if (!w->plan.linux_rules)
        pp_os_without_orphans(ret_os);
    sim_host_reads(ret_os);
}
