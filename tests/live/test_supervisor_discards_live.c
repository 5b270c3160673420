/* SPDX-License-Identifier: Apache-2.0 */
/* Parents that discard what their children used, and parents that do not, under the built
 * supervisor: the first are told of, the second never. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#ifdef __linux__
#include <stdio.h>
#include <unistd.h>

#include "supervised.h"

static const char TOLD[] = "\"kind\":\"discards_children\"";

/* A window of a second with its frames 50 ms apart. */
static void sample(supervised *sv) {
    assert_int_equal(pp_supervisor_sample(sv->supervisor, SV_S, 50 * SV_MS, NULL), PP_OK);
    sv_await(sv, sv_window_done);
}

static void stop(supervised *sv) {
    sv_stop(sv, false, 10 * SV_S);
    assert_int_equal(sv->view.verdict, PP_VERDICT_ECHILD);
}

static size_t times_told(supervised *sv) {
    return sv_count(sv_file(sv, "events.jsonl"), TOLD);
}

static size_t lower_bounds(supervised *sv) {
    return sv_count(sv_file(sv, "samples.jsonl"), "\"lower_bound\":true");
}

static void assert_nothing_is_lost(supervised *sv) {
    sample(sv);
    stop(sv);
    assert_int_equal(times_told(sv), 0);
    assert_int_equal(lower_bounds(sv), 0);
}

/* proves: MET-7, TRK-5 */
static void a_parent_with_sa_nocldwait_makes_the_total_a_lower_bound_and_is_named(void **state) {
    supervised *sv = *state;
    char pid[32];
    sv_app(sv, "work_in_children", "discards");
    sv_await(sv, sv_printed);
    (void)snprintf(pid, sizeof pid, "\"pid\":%d,", sv->leader.pid);
    for (int windows = 0; windows < 60 && times_told(sv) == 0; windows++)
        sample(sv); /* a child lives for long on a busy machine */
    stop(sv);
    assert_true(lower_bounds(sv) > 0);
    assert_int_equal(sv_count(sv_file(sv, "samples.jsonl"), "\"sigchld_ignored\":true"), 0);
    assert_int_equal(times_told(sv), 1);
    assert_true(sv_has_line(sv_file(sv, "events.jsonl"), TOLD, pid));
}

/* proves: MET-7 */
static void a_parent_that_waits_for_the_same_children_loses_nothing(void **state) {
    supervised *sv = *state;
    sv_app(sv, "work_in_children", "waits");
    sv_await(sv, sv_printed);
    assert_nothing_is_lost(sv);
}

static void children_that_another_thread_waits_for_are_not_lost(void **state) {
    supervised *sv = *state;
    sv_app(sv, "work_in_children", "threads");
    sv_await(sv, sv_printed);
    assert_nothing_is_lost(sv);
}

static void a_shell_that_starts_one_program_after_the_other_loses_nothing(void **state) {
    supervised *sv = *state;
    sv_shell(sv, "while :; do sleep 0.03; done");
    assert_nothing_is_lost(sv);
}

static void children_whose_parent_ended_with_them_are_not_lost_by_it(void **state) {
    supervised *sv = *state;
    sv_app(sv, "end_families", NULL);
    sv_await(sv, sv_printed);
    assert_int_equal(pp_supervisor_sample(sv->supervisor, SV_S, 10 * SV_MS, NULL), PP_OK);
    sv_await(sv, sv_window_done);
    sv_stop(sv, false, 10 * SV_S);
    assert_int_equal(times_told(sv), 0);
    assert_int_equal(lower_bounds(sv), 0);
}

int main(void) {
    sv_exe_path = PP_TEST_SUPERVISOR;
#define T(name) cmocka_unit_test_setup_teardown(name, sv_set_up, sv_tear_down)
    const struct CMUnitTest tests[] = {
        T(a_parent_with_sa_nocldwait_makes_the_total_a_lower_bound_and_is_named),
        T(a_parent_that_waits_for_the_same_children_loses_nothing),
        T(children_that_another_thread_waits_for_are_not_lost),
        T(a_shell_that_starts_one_program_after_the_other_loses_nothing),
        T(children_whose_parent_ended_with_them_are_not_lost_by_it),
    };
    return cmocka_run_group_tests_name("supervisor_discards_live", tests, NULL, NULL);
}
#else
int main(void) {
    return 77; /* skipped: Linux only */
}
#endif
