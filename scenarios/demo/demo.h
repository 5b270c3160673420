/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_DEMO_H
#define PAIRPERF_DEMO_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* The demo application: a small tree of processes whose cost is known beforehand.
 *
 * Two bundles are built from this one program; they differ by the DEMO_* numbers below, which
 * CMake takes from design.json (the one place where they stand).
 *
 *   leader   serves the endpoint, holds DEMO_LEADER_MIB, burns DEMO_LEADER_PERCENT of one core
 *   worker   burns DEMO_WORKER_PERCENT, appends DEMO_WRITE_KIB_PER_S to $HOME/worker.dat
 *   spawner  burns DEMO_SPAWNER_PERCENT together with its children: each tick it forks one that
 *            burns DEMO_CHILD_CPU_MS and lives for DEMO_CHILD_LIFE_MS
 *   helper   leaves group and session, sleeps
 *
 * Baseline: 7 + 9 + 10 = 26 % of one core; candidate: 4 + 3 + 10 = 17 %. All that a process does
 * counts towards its share: serving requests, forking, what its children cost. Every process
 * but the leader ends when the leader's end of the life line closes, however the leader ended.
 */
#if !defined(DEMO_LEADER_PERCENT) || !defined(DEMO_WORKER_PERCENT) ||                              \
    !defined(DEMO_SPAWNER_PERCENT) || !defined(DEMO_LEADER_MIB) ||                                 \
    !defined(DEMO_WRITE_KIB_PER_S) || !defined(DEMO_TICK_MS) || !defined(DEMO_TOKEN_MS) ||         \
    !defined(DEMO_CHILD_CPU_MS) || !defined(DEMO_CHILD_LIFE_MS)
#error "the demo's numbers come from design.json through CMake"
#endif

#define DEMO_NS_PER_MS INT64_C(1000000)

/* Nanoseconds on `clock`. */
int64_t demo_clock_ns(clockid_t clock);

/* Sleeps until t_ns on CLOCK_MONOTONIC; signals do not shorten it. */
void demo_sleep_until(int64_t t_ns);

/* Holds this process to a share of one core over time, by its CPU clock and that of the children
 * it has reaped. */
typedef struct demo_pacer {
    int64_t start_ns;     /* CLOCK_MONOTONIC */
    int64_t start_cpu_ns; /* of the process and its reaped children */
    int64_t next_ns;      /* when the next tick is due */
    int percent;
} demo_pacer;

void demo_pacer_start(demo_pacer *pacer, int percent);

/* Waits for the next tick or until `fd` is readable or closed. True: the tick is due. */
bool demo_pacer_wait(const demo_pacer *pacer, int fd);

/* Burns what is missing of the share up to now (at most a tick's length, should it have been held
 * up) and sets the next tick. */
void demo_pacer_tick(demo_pacer *pacer);

/* The children. Each returns its exit status, after `life_fd` closed. */
int demo_worker_main(int life_fd, const char *home);
int demo_spawner_main(int life_fd);
int demo_helper_main(int life_fd);

/* The endpoint: GET /v1/models and a streaming POST /v1/chat/completions on a loopback port of
 * the system's choice, served by threads of this process. False: it could not be started.
 * Stopping cuts off a stream in flight. */
bool demo_endpoint_start(uint16_t *ret_port);
void demo_endpoint_stop(void);

#endif
