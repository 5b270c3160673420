/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's rules. The invariant: a number is given out only when no process, zombie, group or
 * session has it; an orphan goes to the supervisor under Linux rules if it descends from the
 * leader, to the kernel's own first process otherwise, which leaves no zombies.
 */
#include "sim.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void sim_fail(sim_world *w, const char *format, ...) {
    if (w->failure[0])
        return;

    va_list args;
    va_start(args, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it sees no va_start in some builds */
    (void)vsnprintf(w->failure, sizeof w->failure, format, args);
    va_end(args);
    sim_trace(w, "BROKEN: %s", w->failure);
}

void sim_trace(sim_world *w, const char *format, ...) {
    if (!w->trace)
        return;

    va_list args;
    printf("%12.6f ms  ", (double)(w->now_ns - w->born_ns) / 1e6);
    va_start(args, format);
    (void)vprintf(format, args); /* NOLINT(clang-analyzer-valist.Uninitialized) */
    va_end(args);
    putchar('\n');
}

static int by_number(const sim_world *w, int32_t pid) {
    return pid > 0 && pid < SIM_PIDS_MAX ? w->by_pid[pid] : -1;
}

sim_proc *sim_find(sim_world *w, int32_t pid) {
    int index = by_number(w, pid);

    return index >= 0 ? &w->procs[index] : NULL;
}

static bool number_is_free(const sim_world *w, int32_t pid) {
    if (by_number(w, pid) >= 0)
        return false;
    for (int i = 0; i < w->live_count; i++) {
        const sim_proc *p = &w->procs[w->live[i]];
        if (p->pgid == pid || p->sid == pid)
            return false;
    }
    return true;
}

static int32_t new_number(sim_world *w) {
    if (w->freed_pid && sim_chance(&w->rng, w->plan.reuse) && number_is_free(w, w->freed_pid)) {
        int32_t pid = w->freed_pid;
        w->freed_pid = 0;
        return pid;
    }
    for (unsigned tries = 0; tries < w->plan.pids; tries++) {
        w->last_pid = w->last_pid + 1 < (int32_t)w->plan.pids ? w->last_pid + 1 : SIM_FIRST + 2;
        if (number_is_free(w, w->last_pid))
            return w->last_pid;
    }
    return 0;
}

void sim_schedule(sim_proc *p) {
    int64_t act = p->stopped || p->state != SIM_ALIVE ? SIM_NEVER : p->act_ns;

    p->next_ns = act < p->die_ns ? act : p->die_ns;
    if (p->reap_ns < p->next_ns)
        p->next_ns = p->reap_ns;
}

/* A start token: ticks under Linux rules, microseconds of the wall clock under Darwin's. Where
 * nothing but (pid, ticks) tells two processes apart, a number is not given out twice in a tick. */
static pp_proc_id make_id(sim_world *w, int32_t pid) {
    pp_proc_id id = { .pid = pid };

    if (!w->plan.linux_rules) {
        id.start = (uint64_t)(w->now_ns + w->wall_ns) / 1000 * 512 + (uint64_t)w->count;
        return id;
    }
    id.start = (uint64_t)(w->now_ns + w->slept_ns) / 10000000;
    if (w->plan.has_unique) {
        id.unique = 1000 + (uint64_t)w->count;
        return id;
    }
    for (int i = 0; i < w->count; i++)
        if (w->procs[i].pid == pid && w->procs[i].id.start >= id.start)
            id.start = w->procs[i].id.start + 1;
    return id;
}

int sim_birth(sim_world *w, int parent) {
    int32_t pid = w->count < SIM_PROCS_MAX && w->live_count < SIM_PROCS_MAX ? new_number(w) : 0;

    if (pid == 0)
        return -1;
    const sim_proc *from = &w->procs[parent];
    int index = w->count;
    sim_proc *p = &w->procs[index];
    *p = (sim_proc){ .pid = pid,
                     .pgid = from->pgid,
                     .sid = from->sid,
                     .parent = parent,
                     .real_parent = parent,
                     .id = make_id(w, pid),
                     .born_ns = w->now_ns,
                     .start_cont_ns = w->now_ns + w->slept_ns,
                     .ended_ns = SIM_NEVER,
                     .joined_ns = w->now_ns,
                     .ours = from->ours || parent == SIM_SUPERVISOR,
                     .is_leader = parent == SIM_SUPERVISOR,
                     .in_leaf = parent == SIM_SUPERVISOR ? w->plan.leaf : from->in_leaf,
                     .left_leaf_ns = SIM_NEVER,
                     .foreign = from->foreign,
                     .sigchld_ignored = from->sigchld_ignored,
                     .helper = from->helper,
                     .ever_outside = from->ever_outside,
                     .act_ns = SIM_NEVER,
                     .die_ns = SIM_NEVER,
                     .reap_ns = SIM_NEVER,
                     .rng = { .state = sim_hash(w->plan.seed, 7000 + (uint64_t)index) } };
    w->tree_births += p->ours;
    if (p->is_leader) {
        p->pgid = pid;
        w->leader = index;
    }
    w->count++;
    w->by_pid[pid] = (int16_t)index;
    w->live[w->live_count++] = index;
    sim_behave_born(w, p, from);
    sim_schedule(p);
    sim_trace(w, "  born %d (parent %d, group %d%s)", pid, from->pid, p->pgid,
              p->ours ? "" : ", a stranger");
    return index;
}

uint64_t sim_cpu_ns(const sim_world *w, const sim_proc *p) {
    int64_t end = p->ended_ns < w->now_ns ? p->ended_ns : w->now_ns;

    return (uint64_t)(end - p->born_ns) / 1000 * p->cpu_permille;
}

uint64_t sim_faults(const sim_world *w, const sim_proc *p) {
    int64_t end = p->ended_ns < w->now_ns ? p->ended_ns : w->now_ns;

    return 1 + (uint64_t)(end - p->born_ns) / 100000 + p->child_faults;
}

static uint64_t written_at(const sim_proc *p, int64_t t_ns) {
    int64_t end = p->ended_ns < t_ns ? p->ended_ns : t_ns;

    return end > p->born_ns ? (uint64_t)(end - p->born_ns) / 1000000 * p->write_rate : 0;
}

uint64_t sim_written(const sim_world *w, const sim_proc *p) {
    return written_at(p, w->now_ns);
}

uint64_t sim_true_cpu(const sim_world *w, int64_t t_ns) {
    uint64_t sum = 0;

    for (int i = 0; i < w->count; i++) {
        const sim_proc *p = &w->procs[i];
        int64_t end = p->ended_ns < t_ns ? p->ended_ns : t_ns;
        if (p->ours && end > p->born_ns)
            sum += (uint64_t)(end - p->born_ns) / 1000 * p->cpu_permille;
    }
    return sum;
}

uint64_t sim_leaf_cpu(const sim_world *w) {
    uint64_t sum = 0;

    for (int i = SIM_FIRST; i < w->count; i++)
        sum += w->procs[i].in_leaf ? sim_cpu_ns(w, &w->procs[i]) : w->procs[i].leaf_cpu_ns;
    return sum;
}

void sim_leave_leaf(sim_world *w, sim_proc *p) {
    if (!p->in_leaf)
        return;
    p->leaf_cpu_ns = sim_cpu_ns(w, p);
    p->in_leaf = false;
    p->left_leaf_ns = w->now_ns;
    sim_trace(w, "  moved %d out of the leaf", p->pid);
}

uint64_t sim_true_written(const sim_world *w, int64_t t_ns) {
    uint64_t sum = 0;

    for (int i = 0; i < w->count; i++)
        if (w->procs[i].ours)
            sum += written_at(&w->procs[i], t_ns);
    return sum;
}

void sim_reaped(sim_world *w, sim_proc *p) {
    int index = (int)(p - w->procs);

    p->state = SIM_GONE;
    p->act_ns = p->die_ns = p->reap_ns = p->next_ns = SIM_NEVER;
    w->by_pid[p->pid] = -1;
    /* Of those freed at one moment the lowest, in whatever order they were reaped. */
    if (w->freed_pid == 0 || w->freed_ns != w->now_ns || p->pid < w->freed_pid)
        w->freed_pid = p->pid;
    w->freed_ns = w->now_ns;
    /* By birth, in whatever order they are reaped. */
    for (int i = 0, kept = 0; i < w->live_count; i++)
        if (w->live[i] != index)
            w->live[kept++] = w->live[i];
    w->live_count--;
    sim_trace(w, "  gone %d", p->pid);
}

/* Then the group stays until that parent ends, which is not in it. */
static void note_held_zombies(sim_world *w) {
    int32_t group = w->leader ? w->procs[w->leader].pid : 0;

    for (int i = 0; i < w->live_count && group; i++) {
        const sim_proc *p = &w->procs[w->live[i]];
        const sim_proc *parent = &w->procs[p->parent];
        w->zombie_held |= p->state == SIM_ZOMBIE && p->pgid == group && p->parent >= SIM_FIRST &&
                          parent->pgid != group;
    }
}

void sim_move(sim_world *w, sim_proc *p, int32_t pgid, int32_t sid) {
    if (p->pgid != pgid)
        p->joined_ns = w->now_ns;
    w->joined_late |= w->killed_group && w->leader && pgid == w->procs[w->leader].pid;
    p->pgid = pgid;
    p->sid = sid;
    sim_proc *leader = &w->procs[w->leader];
    if (p->ours && w->leader && (pgid != leader->pid || sid != w->procs[SIM_SUPERVISOR].pid))
        p->ever_outside = true;
    note_held_zombies(w);
    sim_trace(w, "  moved %d to group %d, session %d", p->pid, pgid, sid);
}

static void tell_parent(sim_world *w, sim_proc *p) {
    sim_proc *parent = &w->procs[p->parent];

    if (p->parent == SIM_SUPERVISOR) {
        w->child_pending = true;
    } else if (p->parent == SIM_KERNEL || parent->sigchld_ignored || parent->no_wait) {
        w->lossy |= p->ours;
        parent->discarded = true;
        sim_reaped(w, p);
    } else if (parent->reaps > 0 && p->parent >= SIM_FIRST) {
        p->reap_ns = w->now_ns + (parent->reaps == 1 ? sim_between(&p->rng, 0, 200000)
                                                     : sim_delay(&p->rng, SIM_MS, SIM_SECOND));
        sim_schedule(p);
    }
}

static void orphan(sim_world *w, int of) {
    for (int i = 0; i < w->live_count; i++) {
        sim_proc *p = &w->procs[w->live[i]];
        if (p->parent != of)
            continue;
        p->parent = p->real_parent = w->plan.linux_rules && p->ours ? SIM_SUPERVISOR : SIM_KERNEL;
        p->reap_ns = SIM_NEVER;
        sim_schedule(p);
        if (p->state == SIM_ZOMBIE) {
            int before = w->live_count;
            tell_parent(w, p);
            if (w->live_count < before)
                i--; /* another one took its place in the list */
        }
    }
}

static void finish_exit(sim_world *w, sim_proc *p) {
    p->state = SIM_ZOMBIE;
    p->die_ns = SIM_NEVER;
    sim_schedule(p);
    note_held_zombies(w);
    sim_trace(w, "  zombie %d", p->pid);
    if (p->is_leader) {
        if (w->plan.thief_ns != SIM_NEVER)
            w->thief_ns = w->now_ns + w->plan.thief_ns;
    }
    tell_parent(w, p);
}

void sim_end(sim_world *w, sim_proc *p, int code, int number) {
    if (p->state != SIM_ALIVE)
        return;
    p->exit = (pp_exit){ .by_signal = number != 0,
                         .code = number ? 0 : code,
                         .signal_number = number,
                         .core_dumped = number == SIGSEGV };
    p->ended_ns = w->now_ns;
    p->state = SIM_EXITING;
    w->tree_ends += p->ours;
    p->stopped = false;
    p->act_ns = SIM_NEVER;
    p->die_ns = SIM_NEVER;
    sim_trace(w, "  exits %d (%s %d)", p->pid, number ? "signal" : "code", number ? number : code);
    orphan(w, (int)(p - w->procs));
    if (w->plan.linux_rules || sim_chance(&p->rng, 300)) {
        finish_exit(w, p);
        return;
    }
    p->die_ns =
        w->now_ns + sim_delay(&p->rng, 1000, sim_chance(&p->rng, 30) ? 300 * SIM_MS : SIM_MS);
    sim_schedule(p);
}

void sim_signal(sim_world *w, sim_proc *p, int number) {
    if (number == 0 || p->state != SIM_ALIVE)
        return;
    if (number == SIGKILL) {
        int64_t most_ns = p->stuck ? 20 * SIM_SECOND : w->plan.kill_most_ns;
        int64_t die_ns = w->now_ns + sim_delay(&p->rng, 1000, most_ns);
        p->doomed = true;
        p->stopped = false;
        if (die_ns < p->die_ns) {
            p->die_ns = die_ns;
            p->die_signal = SIGKILL;
        }
    } else if (p->stopped) {
        p->term_pending = true;
    } else {
        sim_behave_term(w, p);
    }
    sim_schedule(p);
}

static void run_one(sim_world *w, sim_proc *p) {
    if (p->reap_ns <= w->now_ns) {
        sim_proc *parent = &w->procs[p->parent];
        parent->child_cpu_ns += sim_cpu_ns(w, p) + p->child_cpu_ns;
        parent->absorbed_bytes += sim_written(w, p) + p->absorbed_bytes;
        parent->child_faults += sim_faults(w, p);
        sim_reaped(w, p);
    } else if (p->die_ns <= w->now_ns) {
        if (p->state == SIM_EXITING)
            finish_exit(w, p);
        else
            sim_end(w, p, 0, p->die_signal);
    } else {
        sim_behave(w, p);
    }
    if (p->state != SIM_GONE)
        sim_schedule(p);
}

static void stranger_born(sim_world *w) {
    w->strangers++;
    int index = sim_birth(w, SIM_KERNEL);
    if (index >= 0) {
        sim_proc *p = &w->procs[index];
        p->pgid = p->sid = p->pid;
        p->foreign = sim_chance(&p->rng, 500);
    }
    w->stranger_ns = w->strangers < w->plan.strangers
                         ? w->now_ns + sim_delay(&w->rng, 10000, 200 * SIM_MS)
                         : SIM_NEVER;
}

static void steal_leader(sim_world *w) {
    sim_proc *leader = &w->procs[w->leader];

    w->thief_ns = SIM_NEVER;
    if (leader->state != SIM_ZOMBIE || leader->parent != SIM_SUPERVISOR)
        return;
    sim_trace(w, "  somebody else reaps the leader");
    w->leader_stolen = true;
    w->lossy = true;
    sim_reaped(w, leader);
}

static void toggle_debugger(sim_world *w) {
    sim_proc *leader = &w->procs[w->leader];

    w->debugger_ns = SIM_NEVER;
    if (leader->state == SIM_GONE)
        return;
    if (leader->parent == SIM_SUPERVISOR) {
        leader->parent = SIM_DEBUGGER;
        w->debugger_ns = w->now_ns + sim_delay(&w->rng, SIM_MS, 3 * SIM_SECOND);
    } else {
        leader->parent = SIM_SUPERVISOR;
        if (leader->state == SIM_ZOMBIE)
            w->child_pending = true;
    }
    sim_trace(w, "  the leader's parent is %d", w->procs[leader->parent].pid);
}

static void suspend(sim_world *w) {
    w->slept_ns += sim_delay(&w->rng, SIM_SECOND, 3600 * SIM_SECOND);
    w->wall_ns += sim_between(&w->rng, -10 * SIM_SECOND, 10 * SIM_SECOND);
    w->suspend_ns = w->now_ns + sim_delay(&w->rng, 10 * SIM_MS, 5 * SIM_SECOND);
    sim_trace(w, "  the machine slept");
}

static int64_t earlier(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t next_of_world(const sim_world *w) {
    int64_t t = earlier(w->stranger_ns, w->thief_ns);

    return earlier(t, earlier(w->debugger_ns, w->suspend_ns));
}

int64_t sim_next_event(const sim_world *w) {
    int64_t t = earlier(next_of_world(w), w->harness.next_ns);

    for (int i = 0; i < w->live_count; i++)
        t = earlier(t, w->procs[w->live[i]].next_ns);
    return t;
}

static void run_due(sim_world *w) {
    int due = -1;

    for (int i = 0; i < w->live_count; i++)
        if (w->procs[w->live[i]].next_ns <= w->now_ns && (due < 0 || w->live[i] < due))
            due = w->live[i];
    if (due >= 0)
        run_one(w, &w->procs[due]);
    else if (w->harness.next_ns <= w->now_ns)
        sim_harness_run(w);
    else if (w->stranger_ns <= w->now_ns)
        stranger_born(w);
    else if (w->thief_ns <= w->now_ns)
        steal_leader(w);
    else if (w->debugger_ns <= w->now_ns)
        toggle_debugger(w);
    else if (w->suspend_ns <= w->now_ns)
        suspend(w);
}

void sim_run_until(sim_world *w, int64_t t_ns) {
    if (t_ns < w->now_ns) /* something is overdue: a stopped process was set going again */
        t_ns = w->now_ns;
    for (;;) {
        int64_t next = sim_next_event(w);
        if (next > t_ns)
            break;
        if (next > w->now_ns)
            w->now_ns = next;
        run_due(w);
    }
    w->now_ns = t_ns;
}

static void fixed_process(sim_world *w, int index, int32_t pid) {
    w->procs[index] = (sim_proc){ .pid = pid,
                                  .pgid = pid,
                                  .sid = pid,
                                  .id = { .pid = pid, .start = 1 },
                                  .ended_ns = SIM_NEVER,
                                  .act_ns = SIM_NEVER,
                                  .die_ns = SIM_NEVER,
                                  .reap_ns = SIM_NEVER,
                                  .next_ns = SIM_NEVER };
    w->by_pid[pid] = (int16_t)index;
    w->live[w->live_count++] = index;
}

void sim_world_init(sim_world *w, const sim_plan *plan) {
    w->plan = *plan;
    w->rng.state = sim_hash(plan->seed, 11);
    w->order.state = sim_hash(plan->seed, w->shuffled ? 13 : 12);
    w->now_ns = w->born_ns = 1000 * SIM_SECOND;
    w->slept_ns = 50 * SIM_SECOND;
    w->wall_ns = 1700000000 * SIM_SECOND;
    for (int i = 0; i < SIM_PIDS_MAX; i++)
        w->by_pid[i] = -1;
    for (int i = 0; i < SIM_FIRST; i++)
        fixed_process(w, i, i + 1);
    w->count = SIM_FIRST;
    w->last_pid = SIM_FIRST + 1;
    w->stranger_ns =
        plan->strangers ? w->now_ns + sim_delay(&w->rng, 1000, 100 * SIM_MS) : SIM_NEVER;
    w->thief_ns = w->debugger_ns = SIM_NEVER;
    w->latest_ns = w->kill_earliest_ns = SIM_NEVER;
    w->suspend_ns = plan->suspend_ns == SIM_NEVER ? SIM_NEVER : w->now_ns + plan->suspend_ns;
    sim_harness_init(w);
}

void sim_world_done(sim_world *w) {
    sim_harness_done(&w->harness);
}
