/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the supervisor's real loop on simulated kernels, one per seed.
 *
 *   sim_main --profile linux|darwin --seeds FROM..TO [--trace] [--stop-at-failure]
 *
 * Prints what broke, with the one command that shows it again, and how fast it went.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "loop.h"
#include "sim.h"

#define FAILURES_TOLD 20

typedef struct outcome {
    char failure[400];
    char verdict[40];
    uint64_t calls;
    /* Of what must not depend on the order of lists: who was left, and when it ended with how many
     * records, unless the channel decided about that: lines in another order have other sizes. */
    uint64_t who, when;
    bool pressed;
} outcome;

typedef struct options {
    bool linux_rules, trace, stop_at_failure;
    uint64_t from, to;
} options;

static sim_world world;

static void take_fingerprints(const sim_world *w, outcome *ret_outcome) {
    uint64_t who = sim_hash((uint64_t)w->forced, 0);

    for (int i = SIM_FIRST; i < w->count; i++)
        if (w->procs[i].listed)
            who = sim_hash(who, (uint64_t)i);
    ret_outcome->who = who;
    ret_outcome->when = sim_hash((uint64_t)w->end_ns, w->harness.record_count);
    ret_outcome->pressed = w->pressed;
}

static void run_once(const sim_plan *plan, bool shuffled, bool trace, outcome *ret_outcome) {
    sim_world *w = &world;
    sim_given *given = w->given;
    size_t capacity = w->given_capacity;
    pp_error error = { 0 };
    pp_os os;

    memset(w, 0, offsetof(sim_world, procs));
    memset((char *)w + offsetof(sim_world, count), 0, sizeof *w - offsetof(sim_world, count));
    w->given = given;
    w->given_capacity = capacity;
    w->shuffled = shuffled;
    w->trace = trace;
    w->audited = plan->seed % 4 == 0 || plan->seed % 3 == 0;
    sim_world_init(w, plan);
    sim_host(w, &os);
    w->result = pp_loop_run(&os, sim_build_id(), &error);
    sim_trace(w, "the loop ended: %s %s %s", pp_status_name(w->result), error.op, error.detail);
    sim_audit(w);
    sim_oracle_end(w);
    memcpy(ret_outcome->failure, w->failure, sizeof w->failure);
    memcpy(ret_outcome->verdict, w->verdict, sizeof w->verdict);
    ret_outcome->calls = w->calls;
    take_fingerprints(w, ret_outcome);
    sim_world_done(w);
}

/* A calm schedule runs twice, with its lists in two orders. */
static void run_seed(const options *o, uint64_t seed, outcome *ret_outcome) {
    sim_plan plan;
    outcome other;

    sim_plan_make(&plan, seed, o->linux_rules);
    run_once(&plan, false, o->trace, ret_outcome);
    if (plan.racy || ret_outcome->failure[0])
        return;
    run_once(&plan, true, o->trace, &other);
    ret_outcome->calls += other.calls;
    if (other.failure[0])
        memcpy(ret_outcome->failure, other.failure, sizeof other.failure);
    else if (strcmp(ret_outcome->verdict, other.verdict) != 0)
        (void)snprintf(ret_outcome->failure, sizeof ret_outcome->failure,
                       "verdict %s or %s, by the order of lists", ret_outcome->verdict,
                       other.verdict);
    else if (ret_outcome->who != other.who)
        (void)snprintf(ret_outcome->failure, sizeof ret_outcome->failure,
                       "the survivors depend on the order of lists");
    else if (ret_outcome->when != other.when && !ret_outcome->pressed && !other.pressed)
        (void)snprintf(ret_outcome->failure, sizeof ret_outcome->failure,
                       "the time of the end depends on the order of lists");
}

static int usage(void) {
    (void)fputs("usage: sim_main --profile linux|darwin --seeds FROM..TO [--trace]"
                " [--stop-at-failure]\n",
                stderr);
    return 2;
}

static bool parse(int argc, char **argv, options *o) {
    bool profile = false, seeds = false;

    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--trace") == 0) {
            o->trace = true;
        } else if (strcmp(argv[i], "--stop-at-failure") == 0) {
            o->stop_at_failure = true;
        } else if (strcmp(argv[i], "--profile") == 0) {
            o->linux_rules = strcmp(value, "linux") == 0;
            profile = o->linux_rules || strcmp(value, "darwin") == 0;
            i++;
        } else if (strcmp(argv[i], "--seeds") == 0) {
            seeds = sscanf(value, "%" SCNu64 "..%" SCNu64, &o->from, &o->to) == 2;
            i++;
        } else {
            return false;
        }
    }
    return profile && seeds && o->from <= o->to;
}

/* How often each verdict came, so that a run that proves nothing is seen. */
typedef struct tally {
    char name[40];
    uint64_t count;
} tally;

static void count_verdict(tally *tallies, size_t size, const char *name) {
    for (size_t i = 0; i < size; i++)
        if (tallies[i].count == 0 || strcmp(tallies[i].name, name) == 0) {
            (void)snprintf(tallies[i].name, sizeof tallies[i].name, "%s", name);
            tallies[i].count++;
            return;
        }
}

int main(int argc, char **argv) {
    options o = { 0 };
    uint64_t passed = 0, failed = 0, calls = 0;
    tally tallies[6] = { 0 };

    if (!parse(argc, argv, &o))
        return usage();
    const char *profile = o.linux_rules ? "linux" : "darwin";
    clock_t started = clock();
    for (uint64_t seed = o.from; seed <= o.to; seed++) {
        outcome result = { 0 };
        run_seed(&o, seed, &result);
        calls += result.calls;
        count_verdict(tallies, 6, result.verdict[0] ? result.verdict : "no command");
        if (!result.failure[0]) {
            passed++;
            continue;
        }
        if (++failed <= FAILURES_TOLD)
            printf("seed %" PRIu64 ": %s\n    %s --profile %s --seeds %" PRIu64 "..%" PRIu64
                   " --trace\n",
                   seed, result.failure, argv[0], profile, seed, seed);
        if (o.stop_at_failure)
            break;
    }
    double seconds = (double)(clock() - started) / CLOCKS_PER_SEC;
    printf("%s, seeds %" PRIu64 "..%" PRIu64 ": %.0f schedules per CPU second, %.0f calls each\n",
           profile, o.from, o.to, (double)(passed + failed) / (seconds > 0 ? seconds : 1),
           (double)calls / (double)(passed + failed));
    for (size_t i = 0; i < 6 && tallies[i].count > 0; i++)
        printf("  %s: %" PRIu64 "\n", tallies[i].name, tallies[i].count);
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", passed, failed);
    free(world.given);
    return failed > 0;
}
