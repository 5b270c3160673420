/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_TEST_SUPERVISED_H
#define PAIRPERF_TEST_SUPERVISED_H

#include <stdbool.h>
#include <sys/types.h>

#include "pairperf/supervisor.h"

/* One command under the built supervisor, from the harness's side. The test program adopts what is
 * left over, so that every test can show that nothing is. Every wait is for a state, 60 s at most.
 */

#define SV_MS INT64_C(1000000)
#define SV_S (1000 * SV_MS)

extern const char *sv_exe_path; /* of the supervisor; to be set first */

typedef struct supervised {
    char dir[64];
    pp_supervisor *supervisor;
    pp_spawn_options spawn;  /* captures into "out" and "err", tracks; ready to be changed */
    pp_supervisor_view view; /* the latest look */
    pp_proc_id leader;
} supervised;

/* Test fixture: *state is a supervised with a started supervisor in a directory of its own; the end
 * asserts that no child of this program is left, and removes the directory. */
int sv_set_up(void **state);
int sv_tear_down(void **state);

pp_status sv_spawn(supervised *sv, char *const argv[], pp_error *reterr);
void sv_shell(supervised *sv, const char *script);
/* Starts this test program again with these arguments. */
void sv_again(supervised *sv, const char *mode, const char *argument);
/* Starts an application of tests/stubs/live_app.c. */
void sv_app(supervised *sv, const char *kind, const char *argument);

typedef bool (*sv_condition)(const pp_supervisor_view *view);
bool sv_exited(const pp_supervisor_view *view);
bool sv_done(const pp_supervisor_view *view);
bool sv_printed(const pp_supervisor_view *view);
bool sv_window_done(const pp_supervisor_view *view);
void sv_await(supervised *sv, sv_condition condition);
/* Asks for the end and waits for the verdict. */
void sv_stop(supervised *sv, bool group_first, int64_t grace_ns);
/* Gives the handle up and with it the supervisor: what it adopted is ours then. */
void sv_end(supervised *sv);
/* Kills and reaps whatever children this program has, adopted ones as well; how many. */
size_t sv_end_leftovers(void);
bool sv_verdict_says(const supervised *sv, const char *text);

/* A file of the directory, whole; "" when there is none. Valid until the next call. */
const char *sv_file(const supervised *sv, const char *name);
size_t sv_count(const char *text, const char *part);
/* Is there a line that holds both? */
bool sv_has_line(const char *text, const char *part, const char *other);
/* The number behind the first `"key":` at or after text; fails without one. */
long long sv_number(const char *text, const char *key);
/* Waits for a child that this program adopted; returns its status. */
int sv_reap(pid_t pid);
int64_t sv_now(void);
/* How many times longer than its CPU time work takes here now: 1 on an idle machine. */
double sv_slowness(void);
/* As /proc shows it; NUL: there is no such process. */
char sv_state(pid_t pid);
void sv_await_state(pid_t pid, char state);

/* Is every line one JSON object without spaces, keys in ascending order? */
bool sv_canonical(const char *lines);

#endif
