/* SPDX-License-Identifier: Apache-2.0 */
/* Every answer comes from the process table; a rule may turn it into a failure or change the table
 * first. Time passes only in wait(), or when a script moves the clock. */
#include "fake_os.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define WAITS_MAX 200000U

static pp_status play(fake_os *fake, fake_call call, int32_t pid, pp_error *reterr) {
    fake->calls[call]++;
    fake->t_ns += fake->call_ns;
    for (size_t i = 0; i < fake->rule_count; i++) {
        fake_rule *rule = &fake->rules[i];
        if (rule->call != call || (rule->pid != 0 && rule->pid != pid))
            continue;
        if (rule->skip > 0) {
            rule->skip--;
            continue;
        }
        if (rule->times == 0)
            continue;
        rule->times--;
        if (rule->change)
            rule->change(fake);
        if (rule->status != PP_OK)
            return pp_fail(reterr, rule->status, rule->sys_errno, "scripted", "pid %d", pid);
    }
    return PP_OK;
}

fake_proc *fake_find(fake_os *fake, int32_t pid) {
    for (size_t i = 0; i < fake->proc_count; i++)
        if (fake->procs[i].info.id.pid == pid && !fake->procs[i].gone)
            return &fake->procs[i];
    return NULL;
}

static pp_status find(fake_os *fake, pp_proc_id id, fake_proc **ret_proc, pp_error *reterr) {
    fake_proc *proc = fake_find(fake, id.pid);

    if (!proc)
        return pp_fail(reterr, PP_E_VANISHED, 0, "find", "pid %d", id.pid);
    if (!pp_proc_id_equal(proc->info.id, id))
        return pp_fail(reterr, PP_E_STALE, 0, "find", "pid %d", id.pid);
    *ret_proc = proc;
    return PP_OK;
}

/* The rules first, then the table. */
static pp_status ask(fake_os *fake, fake_call call, pp_proc_id id, fake_proc **ret_proc,
                     pp_error *reterr) {
    pp_status status = play(fake, call, id.pid, reterr);

    return status == PP_OK ? find(fake, id, ret_proc, reterr) : status;
}

static void leave(fake_os *fake, int32_t pid, pp_exit exit) {
    fake_proc *proc = fake_find(fake, pid);
    int32_t adopter = fake->os.adopts ? FAKE_SELF : 1;

    assert_non_null(proc);
    proc->info.phase = PP_PHASE_ZOMBIE;
    proc->exit = exit;
    for (size_t i = 0; i < fake->proc_count; i++)
        if (fake->procs[i].info.ppid == pid && !fake->procs[i].gone)
            fake->procs[i].info.ppid = adopter;
    if (proc->info.ppid == FAKE_SELF) {
        fake->child_changed = true;
        return;
    }
    proc->gone = true;
    fake_proc *parent = fake_find(fake, proc->info.ppid);
    if (!parent || parent->discards)
        return;
    parent->usage.child_cpu_ns.value += proc->usage.cpu_ns.value + proc->usage.child_cpu_ns.value;
    parent->usage.child_faults.value += proc->usage.faults.value;
    parent->usage.faults.value += proc->usage.faults.value;
}

void fake_exit(fake_os *fake, int32_t pid, int code) {
    leave(fake, pid, (pp_exit){ .code = code });
}

void fake_end_by_signal(fake_os *fake, int32_t pid, int signal_number) {
    leave(fake, pid, (pp_exit){ .by_signal = true, .signal_number = signal_number });
}

void fake_steal(fake_os *fake, int32_t pid) {
    fake_find(fake, pid)->gone = true;
}

void fake_burn(fake_os *fake, int32_t pid, uint64_t cpu_ns) {
    fake_find(fake, pid)->usage.cpu_ns.value += cpu_ns;
}

void fake_escape(fake_os *fake, int32_t pid) {
    fake_proc *proc = fake_find(fake, pid);

    proc->info.pgid = proc->info.sid = pid;
}

fake_proc *fake_add(fake_os *fake, int32_t pid, int32_t ppid) {
    assert_in_range(fake->proc_count, 0, FAKE_MAX_PROCS - 1);
    fake_proc *proc = &fake->procs[fake->proc_count++];
    pp_reading zero = pp_known(0);

    *proc = (fake_proc){ .info = { .id = { .pid = pid, .start = 1000 + ++fake->born },
                                   .ppid = ppid,
                                   .pgid = FAKE_LEADER,
                                   .sid = FAKE_SELF,
                                   .start_ns = (uint64_t)(fake->t_ns + fake->asleep_ns) },
                         .usage = { .cpu_ns = zero,
                                    .child_cpu_ns = zero,
                                    .rss_bytes = pp_known(4096),
                                    .write_bytes = zero,
                                    .threads = pp_known(1),
                                    .faults = pp_known(FAKE_FAULTS),
                                    .child_faults = zero } };
    memcpy(proc->info.exe, "/bin/fake", sizeof "/bin/fake");
    return proc;
}

void fake_rule_add(fake_os *fake, fake_rule rule) {
    assert_in_range(fake->rule_count, 0, FAKE_MAX_RULES - 1);
    fake->rules[fake->rule_count++] = rule;
}

void fake_after(fake_os *fake, int64_t in_ns, fake_change change) {
    size_t at = 0;

    while (at < fake->timer_count && fake->timers[at].t_ns != INT64_MAX)
        at++;
    assert_in_range(at, 0, FAKE_MAX_TIMERS - 1);
    fake->timers[at].t_ns = fake->t_ns + in_ns;
    fake->timers[at].change = change;
    fake->timer_count += at == fake->timer_count;
}

static void note(fake_os *fake, fake_deed_kind kind, int32_t pid, int signal_number) {
    if (fake->forgets_deeds)
        return;
    assert_in_range(fake->deed_count, 0, FAKE_MAX_DEEDS - 1);
    fake->deeds[fake->deed_count++] = (fake_deed){ kind, pid, signal_number, fake->t_ns };
}

size_t fake_deeds(const fake_os *fake, fake_deed_kind kind, int32_t pid, int signal_number) {
    size_t count = 0;

    for (size_t i = 0; i < fake->deed_count; i++) {
        const fake_deed *deed = &fake->deeds[i];
        count += deed->kind == kind && (pid == 0 || deed->pid == pid) &&
                 (signal_number == 0 || deed->signal_number == signal_number);
    }
    return count;
}

size_t fake_deed_at(const fake_os *fake, fake_deed_kind kind, int32_t pid, int signal_number) {
    fake_os part = *fake;

    for (part.deed_count = 1; part.deed_count <= fake->deed_count; part.deed_count++)
        if (fake_deeds(&part, kind, pid, signal_number) > 0)
            return part.deed_count - 1;
    return FAKE_MAX_DEEDS;
}

static pp_status os_now(void *ctx, pp_now *ret_now, pp_error *reterr) {
    fake_os *fake = ctx;

    (void)reterr;
    *ret_now = (pp_now){ fake->t_ns, fake->t_ns + fake->asleep_ns, fake->t_ns + 1700000000 };
    return PP_OK;
}

/* Runs what is due; the time of the earliest that is not. */
static int64_t run_timers(fake_os *fake) {
    int64_t next = INT64_MAX;

    for (size_t i = 0; i < fake->timer_count; i++) {
        if (fake->timers[i].t_ns <= fake->t_ns) {
            fake->timers[i].t_ns = INT64_MAX;
            fake->timers[i].change(fake);
        }
        if (fake->timers[i].t_ns < next)
            next = fake->timers[i].t_ns;
    }
    return next;
}

static bool woken(fake_os *fake, bool want_writable, pp_events *ret_events) {
    *ret_events = (pp_events){ .child = fake->child_changed };
    fake->child_changed = false;
    bool talked = fake->channel && fake->channel(fake, want_writable, ret_events);
    return talked || ret_events->child;
}

static pp_status os_wait(void *ctx, int64_t deadline_ns, bool want_writable, pp_events *ret_events,
                         pp_error *reterr) {
    fake_os *fake = ctx;
    pp_status status = play(fake, FAKE_WAIT, 0, reterr);

    if (status != PP_OK)
        return status;
    if (++fake->waits > WAITS_MAX)
        fail_msg("the loop never comes to an end");
    while (run_timers(fake), !woken(fake, want_writable, ret_events)) {
        int64_t next = run_timers(fake);
        if (fake->t_ns >= deadline_ns) {
            ret_events->timer = true;
            break;
        }
        if (next == INT64_MAX && deadline_ns == INT64_MAX)
            fail_msg("the loop waits for what cannot come");
        fake->t_ns = next < deadline_ns ? next : deadline_ns;
    }
    return PP_OK;
}

static pp_status os_spawn(void *ctx, const pp_command *command, pp_proc_id *ret_id,
                          pp_error *reterr) {
    fake_os *fake = ctx;
    pp_status status = play(fake, FAKE_SPAWN, 0, reterr);

    (void)command;
    if (status != PP_OK)
        return status;
    *ret_id = fake_add(fake, FAKE_LEADER, FAKE_SELF)->info.id;
    if (fake->on_spawn)
        fake->on_spawn(fake);
    return PP_OK;
}

static pp_status observe(fake_os *fake, fake_call call, pp_proc_id id, fake_proc **ret_proc,
                         pp_error *reterr) {
    pp_status status = play(fake, call, id.pid, reterr);

    if (status != PP_OK)
        return status;
    if (find(fake, id, ret_proc, reterr) != PP_OK || (*ret_proc)->info.ppid != FAKE_SELF)
        return pp_fail(reterr, PP_E_VANISHED, 0, "waitid", "pid %d", id.pid);
    if ((*ret_proc)->info.phase != PP_PHASE_ZOMBIE)
        return pp_fail(reterr, PP_E_AGAIN, 0, "waitid", "pid %d", id.pid);
    return PP_OK;
}

static pp_status os_observe_exit(void *ctx, pp_proc_id id, pp_exit *ret_exit, pp_error *reterr) {
    fake_proc *proc = NULL;
    pp_status status = observe(ctx, FAKE_OBSERVE, id, &proc, reterr);

    if (status == PP_OK)
        *ret_exit = proc->exit;
    return status;
}

static pp_status os_reap(void *ctx, pp_proc_id id, pp_exit *ret_exit, pp_reading *ret_write_bytes,
                         pp_error *reterr) {
    fake_os *fake = ctx;
    fake_proc *proc = NULL;
    pp_status status = observe(fake, FAKE_REAP, id, &proc, reterr);

    if (status != PP_OK)
        return status;
    *ret_exit = proc->exit;
    ret_exit->cpu_ns = pp_known(proc->usage.cpu_ns.value + proc->usage.child_cpu_ns.value);
    *ret_write_bytes = proc->usage.write_bytes;
    fake->own_written += proc->usage.write_bytes.value;
    proc->gone = true;
    note(fake, FAKE_REAPED, id.pid, 0);
    return PP_OK;
}

static pp_status os_orphan_ended(void *ctx, int32_t pid, pp_error *reterr) {
    fake_os *fake = ctx;
    fake_proc *proc = fake_find(fake, pid);
    pp_proc_id id = proc ? proc->info.id : (pp_proc_id){ .pid = pid };

    return observe(fake, FAKE_ORPHAN_ENDED, id, &proc, reterr);
}

static pp_status os_reap_orphan(void *ctx, int32_t pid, bool briefly, pp_orphan *ret_orphan,
                                pp_error *reterr) {
    fake_os *fake = ctx;
    fake_proc *proc = fake_find(fake, pid);
    pp_proc_id id = proc ? proc->info.id : (pp_proc_id){ .pid = pid };
    pp_status status = observe(fake, FAKE_REAP_ORPHAN, id, &proc, reterr);

    if (status != PP_OK)
        return status;
    *ret_orphan = (pp_orphan){ .info = proc->info, .exit = proc->exit, .stray = proc->outside };
    ret_orphan->unseen = briefly || proc->unreadable;
    if (ret_orphan->unseen)
        ret_orphan->info = (pp_proc_info){ .id = { .pid = pid }, .pgid = proc->info.pgid };
    ret_orphan->exit.cpu_ns = pp_known(proc->usage.cpu_ns.value + proc->usage.child_cpu_ns.value);
    fake->own_written += proc->usage.write_bytes.value;
    proc->gone = true;
    note(fake, FAKE_REAPED, pid, 0);
    return PP_OK;
}

static pp_reading os_own_written(void *ctx) {
    fake_os *fake = ctx;

    (void)play(fake, FAKE_OWN_WRITTEN, 0, NULL);
    return pp_known(fake->own_written);
}

static pp_status os_no_children_left(void *ctx, pp_error *reterr) {
    fake_os *fake = ctx;

    if (!fake->os.adopts)
        return pp_fail(reterr, PP_E_UNSUPPORTED, 0, "waitid", "any child");
    for (size_t i = 0; i < fake->proc_count; i++)
        if (fake->procs[i].info.ppid == FAKE_SELF && !fake->procs[i].gone)
            return pp_fail(reterr, PP_E_AGAIN, 0, "waitid", "a child is left");
    return PP_OK;
}

static pp_status list(fake_os *fake, fake_call call, int32_t key, pp_pid_list *ret_pids,
                      pp_error *reterr) {
    pp_status status = play(fake, call, key, reterr);

    if (status != PP_OK)
        return status;
    *ret_pids = (pp_pid_list){ 0 };
    for (size_t i = 0; i < fake->proc_count; i++) {
        const pp_proc_info *info = &fake->procs[i].info;
        if (!fake->procs[i].gone && !fake->procs[i].hidden &&
            (call == FAKE_LIST_GROUP ? info->pgid : info->ppid) == key)
            (void)pp_pid_list_add(ret_pids, info->id.pid);
    }
    return PP_OK;
}

static pp_status os_list_group(void *ctx, int32_t pgid, pp_pid_list *ret_pids, pp_error *reterr) {
    return list(ctx, FAKE_LIST_GROUP, pgid, ret_pids, reterr);
}

static pp_status os_list_children(void *ctx, int32_t pid, pp_pid_list *ret_pids, pp_error *reterr) {
    return list(ctx, FAKE_LIST_CHILDREN, pid, ret_pids, reterr);
}

static pp_status os_list_own_children(void *ctx, pp_pid_list *ret_pids, pp_error *reterr) {
    return list(ctx, FAKE_LIST_OWN, FAKE_SELF, ret_pids, reterr);
}

static pp_status os_identify(void *ctx, int32_t pid, pp_proc_info *ret_info, pp_error *reterr) {
    pp_status status = play(ctx, FAKE_IDENTIFY, pid, reterr);
    fake_proc *proc = status == PP_OK ? fake_find(ctx, pid) : NULL;

    if (status != PP_OK)
        return status;
    if (!proc)
        return pp_fail(reterr, PP_E_VANISHED, 0, "identify", "pid %d", pid);
    *ret_info = proc->info;
    return PP_OK;
}

static pp_status os_inspect(void *ctx, pp_proc_id id, pp_proc_info *ret_info, pp_error *reterr) {
    fake_proc *proc = NULL;
    pp_status status = ask(ctx, FAKE_INSPECT, id, &proc, reterr);

    if (status == PP_OK)
        *ret_info = proc->info;
    return status;
}

static pp_status os_usage(void *ctx, pp_proc_id id, bool with_switches, pp_usage *ret_usage,
                          pp_error *reterr) {
    fake_proc *proc = NULL;
    pp_status status = ask(ctx, FAKE_USAGE, id, &proc, reterr);

    (void)with_switches;
    if (status == PP_OK)
        *ret_usage = proc->usage;
    return status;
}

static void os_memory(void *ctx, pp_memory_answer *items, size_t count, int64_t deadline_ns) {
    ((fake_os *)ctx)->memory_deadline_ns = deadline_ns;
    for (size_t i = 0; i < count; i++) {
        fake_proc *proc = NULL;
        pp_error error = { 0 };
        items[i].status = ask(ctx, FAKE_MEMORY, items[i].id, &proc, &error);
        items[i].sys_errno = error.sys_errno;
        memcpy(items[i].op, error.op, sizeof items[i].op);
        items[i].memory = (pp_memory){ pp_known(1), pp_known(2), pp_known(3), pp_known(4) };
    }
}

static void os_forget(void *ctx, pp_proc_id id) {
    (void)ctx;
    (void)id;
}

static void receive_signal(fake_os *fake, fake_proc *proc, int signal_number) {
    bool survives = signal_number == SIGKILL ? proc->immortal : proc->deaf || proc->immortal;

    if (proc->info.phase != PP_PHASE_ZOMBIE && !survives)
        fake_end_by_signal(fake, proc->info.id.pid, signal_number);
}

static pp_status os_signal(void *ctx, pp_proc_id id, int signal_number, pp_error *reterr) {
    fake_os *fake = ctx;
    fake_proc *proc = NULL;

    note(fake, FAKE_SIGNALLED, id.pid, signal_number);
    pp_status status = ask(fake, FAKE_SIGNAL, id, &proc, reterr);
    if (status == PP_OK)
        receive_signal(fake, proc, signal_number);
    return status;
}

static pp_status os_signal_group(void *ctx, pp_proc_id leader, int signal_number,
                                 pp_error *reterr) {
    fake_os *fake = ctx;

    note(fake, FAKE_GROUP_SIGNALLED, leader.pid, signal_number);
    pp_status status = play(fake, FAKE_SIGNAL_GROUP, leader.pid, reterr);
    for (size_t i = 0; status == PP_OK && i < fake->proc_count; i++)
        if (!fake->procs[i].gone && fake->procs[i].info.pgid == leader.pid)
            receive_signal(fake, &fake->procs[i], signal_number);
    return status;
}

static pp_status os_kill_children(void *ctx, size_t *ret_count, pp_error *reterr) {
    fake_os *fake = ctx;
    pp_status status = play(fake, FAKE_KILL_CHILDREN, 0, reterr);

    *ret_count = 0;
    for (size_t i = 0; status == PP_OK && i < fake->proc_count; i++)
        if (!fake->procs[i].gone && fake->procs[i].info.ppid == FAKE_SELF) {
            (*ret_count)++;
            if (fake->procs[i].info.phase != PP_PHASE_ZOMBIE && !fake->procs[i].immortal)
                note(fake, FAKE_SIGNALLED, fake->procs[i].info.id.pid, SIGKILL);
            receive_signal(fake, &fake->procs[i], SIGKILL);
        }
    return status;
}

static pp_status leaf_read(void *ctx, pp_leaf *ret_leaf, pp_error *reterr) {
    fake_os *fake = ctx;
    pp_reading none = pp_missing(PP_E_UNSUPPORTED);
    uint64_t cpu_ns = 0;
    pp_status status = play(fake, FAKE_LEAF_READ, 0, reterr);

    for (size_t i = 0; i < fake->proc_count; i++)
        cpu_ns += fake->procs[i].outside ? 0 : fake->procs[i].usage.cpu_ns.value;
    if (status == PP_OK)
        *ret_leaf = (pp_leaf){ pp_known(cpu_ns),
                               pp_known(0),
                               pp_known(cpu_ns),
                               none,
                               none,
                               none,
                               none,
                               none,
                               none,
                               none,
                               none,
                               none };
    return status;
}

static bool lives_in_leaf(const fake_proc *proc) {
    return !proc->gone && !proc->outside && proc->info.phase != PP_PHASE_ZOMBIE;
}

static pp_status leaf_list(void *ctx, pp_pid_list *ret_pids, pp_error *reterr) {
    fake_os *fake = ctx;
    pp_status status = play(fake, FAKE_LEAF_LIST, 0, reterr);

    if (status != PP_OK)
        return status;
    *ret_pids = (pp_pid_list){ 0 };
    for (size_t i = 0; i < fake->proc_count; i++)
        if (lives_in_leaf(&fake->procs[i]) && !fake->procs[i].hidden)
            (void)pp_pid_list_add(ret_pids, fake->procs[i].info.id.pid);
    return PP_OK;
}

static pp_status leaf_holds(void *ctx, pp_proc_id id, bool *ret_inside, pp_error *reterr) {
    fake_proc *proc = NULL;
    pp_status status = ask(ctx, FAKE_LEAF_HOLDS, id, &proc, reterr);

    if (status == PP_OK)
        *ret_inside = !proc->outside;
    return status;
}

static pp_status leaf_empty(void *ctx, pp_error *reterr) {
    fake_os *fake = ctx;
    pp_status status = play(fake, FAKE_LEAF_EMPTY, 0, reterr);

    for (size_t i = 0; status == PP_OK && i < fake->proc_count; i++)
        if (lives_in_leaf(&fake->procs[i]))
            status = pp_fail(reterr, PP_E_AGAIN, 0, "leaf", "populated");
    return status;
}

static pp_status leaf_kill(void *ctx, pp_error *reterr) {
    fake_os *fake = ctx;

    note(fake, FAKE_LEAF_KILLED, 0, SIGKILL);
    pp_status status = play(fake, FAKE_LEAF_KILL, 0, reterr);
    for (size_t i = 0; status == PP_OK && i < fake->proc_count; i++)
        if (lives_in_leaf(&fake->procs[i]))
            receive_signal(fake, &fake->procs[i], SIGKILL);
    return status;
}

static const char *leaf_path(void *ctx) {
    (void)ctx;
    return "/cgroup/pairperf-50-1-1";
}

void fake_give_leaf(fake_os *fake) {
    fake->os.leaf_read = leaf_read;
    fake->os.leaf_list = leaf_list;
    fake->os.leaf_holds = leaf_holds;
    fake->os.leaf_empty = leaf_empty;
    fake->os.leaf_kill = leaf_kill;
    fake->os.leaf_path = leaf_path;
}

static pp_status os_own_cost(void *ctx, pp_reading *ret_cpu_ns, pp_reading *ret_rss_bytes,
                             pp_error *reterr) {
    (void)ctx;
    (void)reterr;
    *ret_cpu_ns = pp_known(5);
    *ret_rss_bytes = pp_known(6);
    return PP_OK;
}

static pp_status os_capability(void *ctx, size_t index, const char **ret_name, pp_status *ret_state,
                               int *ret_errno, const char **ret_consequence) {
    (void)ctx;
    *ret_name = "magic";
    *ret_state = PP_E_UNSUPPORTED;
    *ret_errno = 0;
    *ret_consequence = "none here";
    return index == 0 ? PP_OK : PP_E_VANISHED;
}

void fake_init(fake_os *fake, bool adopts) {
    *fake = (fake_os){ .t_ns = 1000000000000 };
    fake->os = (pp_os){ .ctx = fake,
                        .now = os_now,
                        .wait = os_wait,
                        .spawn = os_spawn,
                        .observe_exit = os_observe_exit,
                        .reap = os_reap,
                        .orphan_ended = os_orphan_ended,
                        .reap_orphan = os_reap_orphan,
                        .own_written = os_own_written,
                        .kill_children = os_kill_children,
                        .no_children_left = os_no_children_left,
                        .list_group = os_list_group,
                        .list_children = os_list_children,
                        .list_own_children = os_list_own_children,
                        .identify = os_identify,
                        .inspect = os_inspect,
                        .usage = os_usage,
                        .memory = os_memory,
                        .forget = os_forget,
                        .signal = os_signal,
                        .signal_group = os_signal_group,
                        .own_cost = os_own_cost,
                        .capability = os_capability,
                        .adopts = adopts };
    pp_os_without_leaf(&fake->os);
    if (!adopts)
        pp_os_without_orphans(&fake->os);
    pp_os_without_notices(&fake->os);
}
