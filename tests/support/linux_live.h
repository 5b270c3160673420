/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_LINUX_LIVE_H
#define PAIRPERF_LINUX_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "host.h"

/* The real host over real children. Every wait here is for a state and has a limit. */

extern pp_os live_os;
extern pp_error live_error;
extern int live_run_dir_fd;

enum { LIVE_LIMIT_S = 60, LIVE_SECOND_NS = 1000000000 };

/* Group fixtures: a run directory. Test fixtures: a host. */
int live_make_run_dir(void **state);
int live_remove_run_dir(void **state);
int live_open(void **state);
int live_close(void **state);

/* Starts path with words (argv, NULL-terminated); output captured as "out" and "err". */
pp_proc_id live_spawn(const char *path, char *const words[]);
/* Starts /bin/sh -c script. */
pp_proc_id live_shell(const char *script);
/* Starts this test program again as `mode`. */
pp_proc_id live_again(const char *mode);

/* Waits until the child is observed to have exited. */
pp_exit live_await_exit(pp_proc_id id);
/* The same, and reaps it. */
pp_exit live_reap(pp_proc_id id, pp_reading *ret_written);
/* Kills the group, reaps every own child and asserts that none is left. */
void live_end(pp_proc_id leader);
/* Reads "out" from the run directory until it holds `wanted`; returns it. */
const char *live_await_output(const char *wanted);
pp_proc_info live_identify(int32_t pid);
pp_proc_info live_inspect(pp_proc_id id);
pp_usage live_usage(pp_proc_id id, bool with_switches);
int64_t live_now(void);
/* One wait for something to happen, at most 50 ms. */
void live_pause(void);
/* 6.1 mode was asked for from outside. */
bool live_old_kernel(void);
/* Runs body in a forked process; its exit status, or 128 + signal. */
int live_forked(int (*body)(void));

#endif
