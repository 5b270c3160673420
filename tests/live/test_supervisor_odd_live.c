/* SPDX-License-Identifier: Apache-2.0 */
/* Members that are not quite alive or not quite gone, under the built supervisor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#ifdef __linux__
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "supervised.h"

/* Starts it and reads the two numbers that it prints. */
static void start(supervised *sv, const char *kind, pid_t *ret_first, pid_t *ret_second) {
    sv_app(sv, kind, NULL);
    sv_await(sv, sv_printed);
    assert_int_equal(sscanf(sv_file(sv, "out"), "%d %d", ret_first, ret_second), 2);
}

static uint64_t wanted_frames;

static bool has_wanted_frames(const pp_supervisor_view *view) {
    return view->frames >= wanted_frames;
}

/* The second one was begun after this call. */
static void await_two_frames(supervised *sv) {
    wanted_frames = sv->view.frames + 2;
    sv_await(sv, has_wanted_frames);
}

/* ---- zombies ---- */

/* proves: GRP-5 */
static void a_zombie_of_a_living_leader_is_gone_with_it(void **state) {
    supervised *sv = *state;
    pid_t zombie, unused;
    start(sv, "zombie", &zombie, &unused);
    sv_await_state(zombie, 'Z');
    sv_stop(sv, false, 10 * SV_S);
    assert_int_equal(sv->view.verdict, PP_VERDICT_ECHILD);
    assert_false(sv->view.forced);
    sv_end(sv);
    assert_int_equal(sv_end_leftovers(), 0);
}

/* proves: GRP-3, GRP-5, GRP-9 */
static void a_zombie_that_an_escapee_keeps_in_the_group_is_never_called_gone(void **state) {
    supervised *sv = *state;
    pid_t keeper, zombie;
    char wanted[64];
    start(sv, "zombie_of_an_escapee", &keeper, &zombie);
    sv_await_state(zombie, 'Z');
    assert_int_equal(pp_supervisor_stop(sv->supervisor, false, 200 * SV_MS, 200 * SV_MS, NULL),
                     PP_OK);
    sv_await(sv, sv_done);
    assert_int_equal(sv->view.verdict, PP_VERDICT_UNVERIFIED);
    assert_true(sv->view.forced);
    (void)snprintf(wanted, sizeof wanted, "\"pid\":%d,", keeper);
    const char *survivors = strstr(sv->view.verdict_json, "\"survivors\":[{");
    assert_non_null(survivors);
    assert_non_null(strstr(survivors, wanted));
    (void)snprintf(wanted, sizeof wanted, "\"phase\":\"zombie\",\"pid\":%d,", zombie);
    assert_non_null(strstr(survivors, wanted));
    sv_end(sv);
    assert_int_equal(sv_end_leftovers(), 2);
}

/* ---- threads ---- */

/* proves: GRP-5 */
static void a_leader_whose_main_thread_ended_is_alive_and_has_memory(void **state) {
    supervised *sv = *state;
    pid_t leader, unused;
    start(sv, "last_thread", &leader, &unused);
    sv_await_state(leader, 'Z');
    await_two_frames(sv);
    assert_false(sv->view.exited);
    assert_int_equal(sv->view.live_processes, 1);
    assert_true(sv->view.live_rss_bytes.known && sv->view.live_rss_bytes.value > 0);
    sv_stop(sv, false, 10 * SV_S);
    assert_true(sv->view.exit.by_signal);
    assert_int_equal(sv->view.exit.signal_number, SIGTERM);
    assert_int_equal(sv->view.verdict, PP_VERDICT_ECHILD);
    assert_false(sv->view.forced);
}

/* ---- SIGCHLD ---- */

/* proves: MET-7, GRP-12 */
static void children_that_nobody_waited_for_make_the_total_a_lower_bound(void **state) {
    supervised *sv = *state;
    pid_t unused[2];
    start(sv, "wait_for_nobody", &unused[0], &unused[1]);
    await_two_frames(sv);
    sv_stop(sv, false, 10 * SV_S);
    assert_int_equal(sv->view.verdict, PP_VERDICT_ECHILD);
    assert_true(sv_count(sv_file(sv, "samples.jsonl"), "\"lower_bound\":true") > 0);
}

static int set_up_deaf_to_children(void **state) {
    (void)signal(SIGCHLD, SIG_IGN); /* of the harness, and inherited by its supervisor */
    return sv_set_up(state);
}

static int tear_down_deaf_to_children(void **state) {
    int result = sv_tear_down(state);
    (void)signal(SIGCHLD, SIG_DFL);
    return result;
}

/* proves: GRP-1, BOX-6 */
static void a_harness_that_ignores_sigchld_gets_exit_and_proof_all_the_same(void **state) {
    supervised *sv = *state;
    sv_shell(sv, "grep SigIgn /proc/self/status; sleep 30 & exit 3");
    sv_await(sv, sv_exited);
    assert_int_equal(sv->view.exit.code, 3);
    sv_stop(sv, true, 10 * SV_S);
    assert_int_equal(sv->view.verdict, PP_VERDICT_ECHILD);
    assert_int_equal(sv->view.error.status, PP_OK);
    assert_string_equal(sv_file(sv, "out"), "SigIgn:\t0000000000000000\n");
    sv_end(sv);
    assert_int_equal(sv_end_leftovers(), 0);
}

/* ---- signals ---- */

/* proves: GRP-4, CAN-2 */
static void stopped_members_are_ended_by_sigkill_after_the_grace(void **state) {
    supervised *sv = *state;
    pid_t leader, child;
    start(sv, "stopped", &leader, &child);
    sv_await_state(leader, 'T');
    sv_await_state(child, 'T');
    int64_t start_ns = sv_now();
    sv_stop(sv, false, 300 * SV_MS);
    assert_true(sv_now() - start_ns >= 300 * SV_MS);
    assert_int_equal(sv->view.verdict, PP_VERDICT_ECHILD);
    assert_true(sv->view.forced);
    assert_int_equal(sv->view.exit.signal_number, SIGKILL);
    sv_end(sv);
    assert_int_equal(sv_end_leftovers(), 0);
}

/* proves: GRP-12 (B21) */
static void an_application_that_dumps_core_is_told_as_such(void **state) {
    supervised *sv = *state;
    struct rlimit limit;
    char dir[sizeof sv->dir];
    assert_int_equal(getrlimit(RLIMIT_CORE, &limit), 0);
    if (limit.rlim_max == 0) {
        print_message("skipped: no core file may be written here\n");
        skip();
    }
    memcpy(dir, sv->dir, sizeof dir);
    sv->spawn.cwd = dir; /* removed with all that is in it */
    sv_app(sv, "dump_core", NULL);
    sv_await(sv, sv_exited);
    assert_true(sv->view.exit.by_signal);
    assert_int_equal(sv->view.exit.signal_number, SIGABRT);
    assert_true(sv->view.exit.core_dumped);
    sv_stop(sv, false, 10 * SV_S);
    assert_int_equal(sv->view.verdict, PP_VERDICT_ECHILD);
    assert_true(sv_verdict_says(sv, "\"leader_exit\":{\"core\":true"));
}

/* proves: GRP-4, CAN-2 (B16) */
static void
a_member_that_ignores_sigterm_outlives_its_leader_no_longer_than_the_grace(void **state) {
    supervised *sv = *state;
    sv_shell(sv, "(trap '' TERM; echo ready; exec sleep 60) & exit 0");
    sv_await(sv, sv_printed);
    sv_await(sv, sv_exited);
    int64_t start_ns = sv_now();
    sv_stop(sv, false, 300 * SV_MS); /* as an application: nobody is left to be asked */
    assert_true(sv_now() - start_ns >= 300 * SV_MS);
    assert_int_equal(sv->view.verdict, PP_VERDICT_ECHILD);
    assert_true(sv->view.forced);
    assert_int_equal(sv_count(sv_file(sv, "events.jsonl"), "\"signal\":\"SIGTERM\""), 0);
    sv_end(sv);
    assert_int_equal(sv_end_leftovers(), 0);
}

static bool robbed;

static int set_up_robbed(void **state) {
    char path[512];
    const char *end = strrchr(PP_TEST_SUPERVISOR, '/');
    (void)snprintf(path, sizeof path, "%.*s/tests/stubs/reaper_preload.so",
                   (int)(end - PP_TEST_SUPERVISOR), PP_TEST_SUPERVISOR);
    robbed = access(path, R_OK) == 0 && setenv("LD_PRELOAD", path, 1) == 0;
    int status = sv_set_up(state);
    (void)unsetenv("LD_PRELOAD");
    return status;
}

static int count_lines(const char *text, const char *one, const char *other) {
    int count = 0;
    for (const char *end; (end = strchr(text, '\n')) != NULL; text = end + 1) {
        size_t size = (size_t)(end - text);
        count += memmem(text, size, one, strlen(one)) != NULL &&
                 memmem(text, size, other, strlen(other)) != NULL;
    }
    return count;
}

/* Something in the supervisor's own process waits for any child, and is faster.
 * proves: GRP-7 (B14) */
static void
a_leader_that_somebody_else_reaped_means_no_signal_by_its_number_and_no_proof(void **state) {
    supervised *sv = *state;
    if (!robbed) {
        print_message("skipped: an instrumented supervisor takes nothing that is preloaded\n");
        skip();
    }
    sv_shell(sv, "sleep 600 & echo ready; sleep 1; exit 3");
    sv_await(sv, sv_printed);
    await_two_frames(sv);
    while (kill(sv->leader.pid, 0) == 0)
        (void)pp_supervisors_pump(&sv->supervisor, 1, -1, 10 * SV_MS, NULL);
    sv_stop(sv, true, 300 * SV_MS);
    assert_int_equal(sv->view.verdict, PP_VERDICT_UNVERIFIED);
    assert_true(sv_verdict_says(sv, "\"leader_reaped_elsewhere\":true"));
    assert_true(sv_verdict_says(sv, "\"leader_exit\":null") || /* or it was seen just before */
                sv_verdict_says(sv, "\"leader_exit\":{\"code\":3}"));
    const char *kernel = getenv("PP_KERNEL"), *events = sv_file(sv, "events.jsonl");
    if (kernel && strstr(kernel, "6.1")) /* newer ones address the group itself, not its number */
        assert_int_equal(sv_count(events, "\"target\":\"group\""),
                         count_lines(events, "\"target\":\"group\"", " is not pinned\""));
    sv_end(sv);
    assert_int_equal(sv_end_leftovers(), 0); /* the members on record, one by one */
}

int main(void) {
    sv_exe_path = PP_TEST_SUPERVISOR;
#define T(name) cmocka_unit_test_setup_teardown(name, sv_set_up, sv_tear_down)
    const struct CMUnitTest tests[] = {
        T(a_zombie_of_a_living_leader_is_gone_with_it),
        T(a_zombie_that_an_escapee_keeps_in_the_group_is_never_called_gone),
        T(a_leader_whose_main_thread_ended_is_alive_and_has_memory),
        T(children_that_nobody_waited_for_make_the_total_a_lower_bound),
        cmocka_unit_test_setup_teardown(
            a_harness_that_ignores_sigchld_gets_exit_and_proof_all_the_same,
            set_up_deaf_to_children, tear_down_deaf_to_children),
        T(stopped_members_are_ended_by_sigkill_after_the_grace),
        T(an_application_that_dumps_core_is_told_as_such),
        T(a_member_that_ignores_sigterm_outlives_its_leader_no_longer_than_the_grace),
        cmocka_unit_test_setup_teardown(
            a_leader_that_somebody_else_reaped_means_no_signal_by_its_number_and_no_proof,
            set_up_robbed, sv_tear_down),
    };
    return cmocka_run_group_tests_name("supervisor_odd_live", tests, NULL, NULL);
}
#else
int main(void) {
    return 77; /* skipped: Linux only */
}
#endif
