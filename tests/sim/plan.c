/* SPDX-License-Identifier: Apache-2.0 */
/* What one schedule is about. About a third of them hold nothing that could keep a proof from being
 * reached, so that reaching it can be demanded.
 */
#include "sim.h"

static void plan_world(sim_plan *p, sim_rng *rng) {
    static const unsigned spaces[] = { 24, 48, 120, 400 }, jumps[] = { 5, 40, 300 };

    p->racy = p->seed % 4 != 0;
    p->has_unique = p->linux_rules && sim_chance(rng, 600);
    p->pids = spaces[sim_below(rng, 4)];
    p->reuse = sim_chance(rng, 500) ? 800 : 50;
    p->births = (unsigned)sim_between(rng, 0, sim_chance(rng, 150) ? 60 : 12);
    p->strangers = (unsigned)sim_between(rng, 0, 12);
    p->jump = jumps[sim_below(rng, 3)];
    p->deaf = sim_chance(rng, 500) ? 150 : 0;
    p->hops = sim_chance(rng, 500);
    p->crowd = sim_chance(rng, 100);
    p->ignorers = sim_chance(rng, 200) ? 200 : 0;
    p->kill_most_ns = 2 * SIM_MS;
    p->thief_ns = p->debugger_ns = SIM_NEVER;
    p->suspend_ns = sim_chance(rng, 100) ? sim_between(rng, 0, SIM_SECOND) : SIM_NEVER;
}

static void plan_troubles(sim_plan *p, sim_rng *rng) {
    static const unsigned faults[] = { 0, 5, 50, 400 };

    p->fault = faults[sim_below(rng, 4)];
    p->deny = sim_chance(rng, 250) ? 300 : 0;
    p->foreign = sim_chance(rng, 200) ? 200 : 0;
    p->stuck = sim_chance(rng, 200) ? 200 : 0;
    p->hidepid = p->linux_rules && sim_chance(rng, 100);
    p->spawn_fails = sim_chance(rng, 20);
    p->save_fails = sim_chance(rng, 20);
    p->losing = sim_chance(rng, 300);
    if (sim_chance(rng, 60))
        p->thief_ns = sim_delay(rng, 0, 50 * SIM_MS);
    if (sim_chance(rng, 80))
        p->debugger_ns = sim_between(rng, 0, SIM_SECOND / 2);
}

static void plan_harness(sim_plan *p, sim_rng *rng) {
    static const size_t capacities[] = { 64, 1500, 20000, 1U << 20 };

    p->track = sim_chance(rng, 850);
    p->interval_ns = sim_delay(rng, 5 * SIM_MS, SIM_SECOND);
    p->save_fails_at = (unsigned)(p->interval_ns % 16); /* a draw would change all the others */
    p->reap_escapees = p->linux_rules && sim_chance(rng, 350);
    p->expect_helpers = sim_chance(rng, 250);
    p->latest_end_ns = sim_chance(rng, 80) ? sim_delay(rng, SIM_MS, 2 * SIM_SECOND) : 0;
    p->windows = p->track && sim_chance(rng, 300) ? (unsigned)sim_between(rng, 1, 2) : 0;
    p->stop_after_ns = sim_delay(rng, 10000, 600 * SIM_MS);
    p->stop_twice = sim_chance(rng, 100);
    p->group_first = sim_chance(rng, 400);
    p->grace_ns = sim_delay(rng, 0, sim_chance(rng, 50) ? 30 * SIM_SECOND : 400 * SIM_MS);
    p->verify_ns = sim_chance(rng, 700) ? 5 * SIM_SECOND : sim_delay(rng, SIM_MS, SIM_SECOND);
    p->death_ns = SIM_NEVER;
    p->ack_mode = (unsigned)sim_below(rng, 3);
    p->capacity = capacities[sim_below(rng, 4)];
    p->chunk = sim_chance(rng, 200) ? (size_t)sim_between(rng, 1, 40) : 65536;
    p->latency_most_ns = sim_chance(rng, 300) ? 300 * SIM_MS : 2 * SIM_MS;
    if (sim_chance(rng, 300)) {
        p->death_ns = sim_delay(rng, 20000, 1200 * SIM_MS);
        p->babbles = sim_chance(rng, 100);
        p->hung = !p->babbles && sim_chance(rng, 300);
        if (sim_chance(rng, 300))
            p->stop_after_ns = SIM_NEVER;
    }
    if (p->hung && p->latest_end_ns == 0 && sim_chance(rng, 500))
        p->latest_end_ns = sim_delay(rng, SIM_MS, 2 * SIM_SECOND);
}

void sim_plan_make(sim_plan *p, uint64_t seed, bool linux_rules) {
    sim_rng rng = { .state = sim_hash(seed, linux_rules ? 1 : 2) };

    *p = (sim_plan){ .seed = seed, .linux_rules = linux_rules };
    plan_world(p, &rng);
    plan_harness(p, &rng);
    if (!sim_chance(&rng, 350))
        plan_troubles(p, &rng);
    p->leaf = linux_rules && sim_chance(&rng, 600);
    /* no draws: they would change all that is drawn after them */
    p->notices = linux_rules && sim_hash(seed, 3) % 4 != 0;
    p->deaf_ns = sim_hash(seed, 4) % 8 == 0 ? (int64_t)(sim_hash(seed, 5) % SIM_SECOND) : SIM_NEVER;
    p->leavers = p->leaf && sim_chance(&rng, 400) ? 60 : 0;
    if (p->crowd) { /* many short lives while frames are taken */
        p->births = 60;
        p->track = true;
        p->windows = 2;
        p->jump = 300;
    }
}

bool sim_plan_is_clean(const sim_plan *p) {
    return p->fault == 0 && p->deny == 0 && p->foreign == 0 && p->stuck == 0 && !p->hidepid &&
           !p->spawn_fails && !p->save_fails && p->thief_ns == SIM_NEVER &&
           p->debugger_ns == SIM_NEVER;
}
