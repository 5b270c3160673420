/* SPDX-License-Identifier: Apache-2.0 */
/* What processes do by themselves. Each has random numbers of its own, so that what one does never
 * depends on the order in which others were asked or signalled.
 */
#include <signal.h>

#include "sim.h"

enum {
    ACT_NOTHING,
    ACT_FORK,
    ACT_EXEC,
    ACT_SETSID,
    ACT_OWN_GROUP,
    ACT_JOIN_GROUP,
    ACT_EXIT,
    ACT_STOP,
    ACT_COUNT
};

enum { WORKER, FORKER, SHELL, DAEMON, HOPPER, GROUPIE, LEAVER, PERSONALITIES };

static const unsigned weights[PERSONALITIES][ACT_COUNT] = {
    [WORKER] = { 6, 1, 1, 0, 0, 0, 1, 1 }, [FORKER] = { 1, 8, 1, 0, 0, 0, 1, 0 },
    [SHELL] = { 2, 4, 1, 0, 1, 0, 2, 0 },  [DAEMON] = { 0, 4, 0, 4, 0, 0, 4, 0 },
    [HOPPER] = { 0, 5, 1, 3, 2, 1, 4, 0 }, [GROUPIE] = { 1, 2, 0, 1, 4, 4, 1, 1 },
    [LEAVER] = { 1, 2, 0, 0, 0, 0, 6, 0 },
};

static void draw_personality(const sim_world *w, sim_proc *p) {
    unsigned kind = (unsigned)sim_below(&p->rng, PERSONALITIES);

    for (unsigned i = 0; i < ACT_COUNT; i++)
        p->weight[i] = weights[kind][i];
    if (!w->plan.hops)
        p->weight[ACT_SETSID] = p->weight[ACT_OWN_GROUP] = p->weight[ACT_JOIN_GROUP] = 0;
    p->pace_ns = kind == HOPPER ? sim_delay(&p->rng, 100000, 20 * SIM_MS)
                                : sim_delay(&p->rng, 500000, 500 * SIM_MS);
    if (p->is_leader)
        p->weight[ACT_EXIT] = sim_chance(&p->rng, 500) ? 0 : 1;
}

static int64_t next_act(sim_world *w, sim_proc *p) {
    return w->now_ns + sim_delay(&p->rng, p->pace_ns / 8 + 1, p->pace_ns * 4);
}

void sim_behave_born(sim_world *w, sim_proc *p, const sim_proc *parent) {
    const sim_plan *plan = &w->plan;

    p->depth = parent->depth + 1;
    p->cpu_permille = sim_below(&p->rng, 1500);
    p->write_rate = sim_chance(&p->rng, 300) ? sim_below(&p->rng, 5000) : 0;
    p->reaps = (unsigned)sim_below(&p->rng, 3);
    p->on_term = sim_chance(&p->rng, 700) ? 0 : (unsigned)sim_below(&p->rng, 3);
    p->deaf = sim_chance(&p->rng, plan->deaf);
    p->stuck = sim_chance(&p->rng, plan->stuck);
    p->denied = sim_chance(&p->rng, plan->deny);
    p->foreign |= p->ours && sim_chance(&p->rng, plan->foreign);
    p->sigchld_ignored = sim_chance(&p->rng, plan->ignorers);
    if (p->sigchld_ignored && sim_hash(plan->seed, p->id.start) % 2 == 0) {
        p->sigchld_ignored = false;
        p->no_wait = true;
    }
    p->helper |= p->ours && plan->expect_helpers && sim_chance(&p->rng, 300);
    if (w->leader && p->ours)
        p->ever_outside =
            p->pgid != w->procs[w->leader].pid || p->sid != w->procs[SIM_SUPERVISOR].pid;
    draw_personality(w, p);
    if (plan->crowd && p->ours) {
        p->reaps = 1;
        p->pace_ns = sim_delay(&p->rng, 20000, 2 * SIM_MS);
        p->weight[ACT_EXIT] = p->is_leader ? 0 : 3;
        p->weight[ACT_FORK] = p->is_leader ? 20 : 1;
    }
    p->act_ns = next_act(w, p);
}

static void act_fork(sim_world *w, sim_proc *p) {
    if (p->doomed ||
        (p->ours ? w->births >= w->plan.births : w->strangers >= w->plan.strangers * 2))
        return;
    if (p->ours)
        w->births++;
    else
        w->strangers++;
    (void)sim_birth(w, (int)(p - w->procs));
}

/* Into some group of its session that exists. */
static void act_join(sim_world *w, sim_proc *p) {
    int start = (int)sim_below(&p->rng, (uint64_t)w->count);

    if (p->sid == p->pid)
        return;
    for (int n = 0; n < w->count; n++) {
        const sim_proc *other = &w->procs[(start + n) % w->count];
        if (other->state != SIM_GONE && other != p && other->sid == p->sid &&
            other->pgid != w->procs[SIM_SUPERVISOR].pid) {
            sim_move(w, p, other->pgid, p->sid);
            return;
        }
    }
}

static void act(sim_world *w, sim_proc *p, unsigned what) {
    switch (what) {
    case ACT_FORK:
        act_fork(w, p);
        break;
    case ACT_EXEC:
        if (p->ours && w->plan.expect_helpers && !p->is_leader)
            p->helper |= sim_chance(&p->rng, 300);
        break;
    case ACT_SETSID:
        if (p->pgid != p->pid)
            sim_move(w, p, p->pid, p->pid);
        break;
    case ACT_OWN_GROUP:
        if (p->sid != p->pid && !p->is_leader)
            sim_move(w, p, p->pid, p->sid);
        break;
    case ACT_JOIN_GROUP:
        if (!p->is_leader)
            act_join(w, p);
        break;
    case ACT_EXIT:
        sim_end(w, p, (int)sim_below(&p->rng, 4), sim_chance(&p->rng, 50) ? SIGSEGV : 0);
        break;
    case ACT_STOP:
        p->stopped = true;
        if (p->parent == SIM_SUPERVISOR)
            w->child_pending = true;
        break;
    default:
        break;
    }
}

void sim_behave(sim_world *w, sim_proc *p) {
    unsigned sum = 0;

    for (unsigned i = 0; i < ACT_COUNT; i++)
        sum += p->weight[i];
    uint64_t pick = sim_below(&p->rng, sum);
    unsigned what = 0;
    while (pick >= p->weight[what])
        pick -= p->weight[what++];
    p->act_ns = next_act(w, p);
    if (p->in_leaf && sim_chance(&p->rng, w->plan.leavers))
        sim_leave_leaf(w, p);
    act(w, p, what);
}

void sim_behave_term(sim_world *w, sim_proc *p) {
    if (p->deaf)
        return;
    if (p->on_term == 2)
        act_fork(w, p);
    int64_t die_ns = w->now_ns + (p->on_term == 0 ? sim_delay(&p->rng, 1000, 2 * SIM_MS)
                                                  : sim_delay(&p->rng, SIM_MS, 3 * SIM_SECOND));
    if (die_ns < p->die_ns) {
        p->die_ns = die_ns;
        p->die_signal = SIGTERM;
    }
}
