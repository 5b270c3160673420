/* SPDX-License-Identifier: Apache-2.0 */
/* Crowds that leave the group, under the built supervisor. Whatever it leaves alive comes to this
 * program, the next subreaper above, and is counted there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#ifdef __linux__
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervised.h"

enum { CHAINS = 32, DAEMONS = 100, TRIES = 5 };
#define VERIFY_NS (5 * SV_S) /* that sv_stop() gives */

/* From the first SIGKILL to the verdict. */
static long long sweep_ns(const supervised *sv) {
    const char *line = sv_file(sv, "events.jsonl");
    long long killed_ns = -1;
    for (; *line; line = strchr(line, '\n') + 1) {
        size_t size = strcspn(line, "\n");
        if (killed_ns < 0 && memmem(line, size, "\"signal\":\"SIGKILL\"", 18))
            killed_ns = sv_number(line, "t_ns");
        if (memmem(line, size, "\"kind\":\"verdict\"", 16)) {
            assert_true(killed_ns >= 0);
            return sv_number(line, "t_ns") - killed_ns;
        }
    }
    fail_msg("no verdict");
    return -1;
}

static size_t survivors_listed(const supervised *sv) {
    const char *list = strstr(sv_file(sv, "events.jsonl"), "\"survivors\":[");
    const char *end = list ? strstr(list, "\"unverified\":[") : NULL;
    assert_non_null(end);
    return sv_count(list, "\"pid\":") - sv_count(end, "\"pid\":");
}

/* The limit is for a machine that does nothing else: it counts for as much longer as others and the
 * storm itself slow us down. */
static double stop_storm(supervised *sv, const char *kind, const char *number) {
    sv->spawn.reap_escapees = true;
    sv_app(sv, kind, number);
    sv_await(sv, sv_printed);
    double before = sv_slowness();
    sv_stop(sv, false, 10 * SV_S);
    return before;
}

static void all_were_ended(supervised *sv, double before, int64_t limit_ns) {
    assert_int_equal(sv->view.verdict, PP_VERDICT_ECHILD);
    assert_false(sv->view.forced);
    assert_true(sv_verdict_says(sv, "\"escapees_killed\":true"));
    assert_true(sv_verdict_says(sv, "\"survivors\":[]"));
    double after = sv_slowness(), slowness = before > after ? before : after;
    print_message("swept in %lld ms, slowness %.1f\n", sweep_ns(sv) / SV_MS, slowness);
    assert_true((double)sweep_ns(sv) < (double)limit_ns * slowness);
    sv_end(sv);
    assert_int_equal(sv_end_leftovers(), 0);
}

static void all_are_ended(supervised *sv, const char *kind, const char *number, int64_t limit_ns) {
    all_were_ended(sv, stop_storm(sv, kind, number), limit_ns);
}

/* Never called gone. So fast that no look is a whole one: then nobody can say who is left. */
static bool is_told(const supervised *sv) {
    return sv->view.verdict == PP_VERDICT_LEFT_RUNNING || sv->view.verdict == PP_VERDICT_UNVERIFIED;
}

/* proves: CAN-3, GRP-12, TRK-2 */
static void chains_that_hop_from_session_to_session_are_all_ended_within_a_second(void **state) {
    supervised *sv = *state;
    all_are_ended(sv, "chains", "32", SV_S);
    assert_true(sv->view.escapes >= CHAINS);
}

/* As fast as this machine forks. Beside others who want it they may outrun us until our time is
 * over: that has to be told, and is tried again. proves: CAN-3, GRP-12, TRK-2 */
static void chains_that_hop_as_fast_as_they_can_are_all_ended(void **state) {
    supervised *sv = *state;
    double before = stop_storm(sv, "fast_chains", "32");
    for (int left = TRIES; sv->view.verdict != PP_VERDICT_ECHILD && left > 1; left--) {
        assert_true(is_told(sv));
        sv_end(sv);
        (void)sv_end_leftovers();
        assert_int_equal(sv_tear_down(state), 0);
        assert_int_equal(sv_set_up(state), 0);
        sv = *state;
        before = stop_storm(sv, "fast_chains", "32");
    }
    all_were_ended(sv, before, VERIFY_NS);
    assert_true(sv->view.escapes >= CHAINS);
}

/* proves: CAN-3, GRP-12 */
static void a_hundred_daemons_are_all_ended_within_a_second(void **state) {
    supervised *sv = *state;
    all_are_ended(sv, "daemons", "100", SV_S);
    assert_true(sv->view.escapes >= DAEMONS);
}

/* proves: CAN-3, GRP-12, TRK-3 */
static void chains_that_hop_from_session_to_session_are_told_of_as_left_running(void **state) {
    supervised *sv = *state;
    sv_app(sv, "chains", "32");
    sv_await(sv, sv_printed);
    sv_stop(sv, false, 300 * SV_MS);
    assert_int_equal(sv->view.verdict, PP_VERDICT_LEFT_RUNNING);
    assert_true(sv_verdict_says(sv, "\"escapees_killed\":false"));
    assert_true(sv->view.escapes >= CHAINS);
    sv_end(sv);
    assert_true(sv_end_leftovers() >= CHAINS); /* hops that ended meanwhile, too */
}

/* proves: CAN-3, GRP-12, TRK-3 */
static void chains_that_hop_as_fast_as_they_can_are_told_of_within_the_plans_time(void **state) {
    supervised *sv = *state;
    sv_app(sv, "fast_chains", "32");
    sv_await(sv, sv_printed);
    int64_t start_ns = sv_now();
    sv_stop(sv, false, 300 * SV_MS);
    assert_true(sv_now() - start_ns < 10 * SV_S);
    assert_true(is_told(sv));
    assert_true(survivors_listed(sv) > 0 || sv->view.verdict == PP_VERDICT_UNVERIFIED);
    sv_end(sv);
    assert_true(sv_end_leftovers() > 0);
}

/* proves: CAN-3, GRP-12, TRK-3 */
static void a_hundred_daemons_are_listed_one_by_one_and_left_alone(void **state) {
    supervised *sv = *state;
    sv_app(sv, "daemons", "100");
    sv_await(sv, sv_printed);
    sv_stop(sv, false, 300 * SV_MS);
    assert_int_equal(sv->view.verdict, PP_VERDICT_LEFT_RUNNING);
    assert_false(sv->view.forced);
    assert_int_equal(survivors_listed(sv), DAEMONS);
    sv_end(sv);
    assert_int_equal(sv_end_leftovers(), DAEMONS);
}

/* proves: HOOK-6, GRP-12 (B18) */
static void output_that_a_daemon_keeps_open_does_not_hold_up_the_end(void **state) {
    supervised *sv = *state;
    sv_app(sv, "keep_output_open", NULL);
    sv_await(sv, sv_exited);
    pid_t daemon = atoi(sv_file(sv, "out"));
    int64_t start_ns = sv_now();
    sv_stop(sv, true, 300 * SV_MS);
    assert_int_equal(sv->view.verdict, PP_VERDICT_LEFT_RUNNING);
    assert_int_equal(sv->view.exit.code, 4);
    sv_end(sv);
    assert_true(sv_now() - start_ns < 10 * SV_S);
    assert_int_equal(sv_state(daemon), 'S');
    assert_int_equal(sv_end_leftovers(), 1);
}

/* proves: HOOK-6, BOX-6 (B18) */
static void ten_mebibytes_on_each_stream_do_not_hold_up_a_hook(void **state) {
    supervised *sv = *state;
    sv->spawn.output_cap_bytes = 4096;
    sv_shell(sv, "head -c 10485760 /dev/zero; head -c 10485760 /dev/zero >&2; exit 5");
    sv_await(sv, sv_exited);
    assert_int_equal(sv->view.exit.code, 5);
    sv_stop(sv, true, 10 * SV_S);
    assert_int_equal(sv->view.verdict, PP_VERDICT_ECHILD);
    assert_false(sv->view.forced);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sv->view.output_bytes[i], 10485760);
        assert_true(sv->view.output_truncated[i]);
    }
    sv_end(sv);
    assert_int_equal(sv_end_leftovers(), 0);
}

/* As fast as the machine forks: by itself, with any argument; that is not repeated in the suite. */
int main(int argc, char **argv) {
    (void)argv;
    sv_exe_path = PP_TEST_SUPERVISOR;
    if (argc > 1)
        cmocka_set_test_filter("*_as_fast_as_*");
    else
        cmocka_set_skip_filter("*_as_fast_as_*");
#define T(name) cmocka_unit_test_setup_teardown(name, sv_set_up, sv_tear_down)
    const struct CMUnitTest tests[] = {
        T(chains_that_hop_from_session_to_session_are_all_ended_within_a_second),
        T(chains_that_hop_as_fast_as_they_can_are_all_ended),
        T(a_hundred_daemons_are_all_ended_within_a_second),
        T(chains_that_hop_from_session_to_session_are_told_of_as_left_running),
        T(chains_that_hop_as_fast_as_they_can_are_told_of_within_the_plans_time),
        T(a_hundred_daemons_are_listed_one_by_one_and_left_alone),
        T(output_that_a_daemon_keeps_open_does_not_hold_up_the_end),
        T(ten_mebibytes_on_each_stream_do_not_hold_up_a_hook),
    };
    return cmocka_run_group_tests_name("supervisor_storm_live", tests, NULL, NULL);
}
#else
int main(void) {
    return 77; /* skipped: Linux only */
}
#endif
