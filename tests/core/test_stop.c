/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pairperf/stop.h"

#define S INT64_C(1000000000)
#define GRACE (30 * S)
#define VERIFY (5 * S)

static const pp_stop_plan app = { .grace_ns = GRACE, .verify_ns = VERIFY };
static const pp_stop_plan hook = { .group_first = true, .grace_ns = GRACE, .verify_ns = VERIFY };

static pp_stop started(pp_stop_plan plan) {
    pp_stop stop;
    pp_stop_init(&stop, &plan, 0);
    return stop;
}

static pp_stop_action next(pp_stop *stop, pp_stop_view view) {
    int64_t deadline_ns;
    return pp_stop_next(stop, &view, &deadline_ns);
}

/* A stop whose leader was reaped at 1 s, group verified. */
static pp_stop reaped(pp_stop_plan plan) {
    pp_stop stop = started(plan);
    assert_int_equal(next(&stop, (pp_stop_view){ .now_ns = S, .leader = PP_LEADER_EXITED }),
                     PP_STOP_REAP_LEADER);
    return stop;
}

/* proves: GRP-4, CAN-2 */
static void an_application_gets_sigterm_through_its_leader_alone_and_once(void **state) {
    (void)state;
    pp_stop stop = started(app);
    pp_stop_view view = { .leader = PP_LEADER_ALIVE, .members = 3 };
    assert_int_equal(next(&stop, view), PP_STOP_TERM_LEADER);
    assert_int_equal(next(&stop, view), PP_STOP_WAIT);
    view.now_ns = GRACE - 1;
    assert_int_equal(next(&stop, view), PP_STOP_WAIT);
}

/* proves: GRP-4 */
static void a_hook_gets_sigterm_as_a_group_even_if_its_leader_exited(void **state) {
    (void)state;
    pp_stop stop = started(hook);
    pp_stop_view view = { .leader = PP_LEADER_EXITED, .members = 1 };
    assert_int_equal(next(&stop, view), PP_STOP_TERM_GROUP);
    assert_int_equal(next(&stop, view), PP_STOP_WAIT);
}

/* proves: GRP-4 */
static void nobody_is_signalled_when_only_the_exited_leader_remains(void **state) {
    (void)state;
    pp_stop_view view = { .leader = PP_LEADER_EXITED };
    for (int i = 0; i < 2; i++) {
        pp_stop stop = started(i ? app : hook);
        assert_int_equal(next(&stop, view), PP_STOP_REAP_LEADER);
        assert_false(stop.forced);
    }
}

/* proves: GRP-4 */
static void an_exited_application_leader_gives_its_group_the_grace_without_a_signal(void **state) {
    (void)state;
    pp_stop stop = started(app);
    pp_stop_view view = { .leader = PP_LEADER_EXITED, .members = 1 };
    assert_int_equal(next(&stop, view), PP_STOP_WAIT);
    view.now_ns = GRACE;
    assert_int_equal(next(&stop, view), PP_STOP_KILL_GROUP);
}

/* proves: GRP-1 (B14) */
static void the_leader_is_reaped_only_after_the_group_was_seen_empty(void **state) {
    (void)state;
    pp_stop stop = started(hook);
    pp_stop_view view = { .leader = PP_LEADER_EXITED, .members = 1 };
    assert_int_equal(next(&stop, view), PP_STOP_TERM_GROUP);
    assert_int_equal(next(&stop, view), PP_STOP_WAIT);
    view.members = 0;
    assert_int_equal(next(&stop, view), PP_STOP_REAP_LEADER);
    view.leader = PP_LEADER_REAPED;
    view.childless = true;
    assert_int_equal(next(&stop, view), PP_STOP_FINISHED);
    assert_int_equal(stop.verdict, PP_VERDICT_ECHILD);
    assert_false(stop.forced);
}

/* The first reap failed, and then somebody joined the group again. proves: GRP-1, GRP-4 */
static void a_group_that_fills_again_before_the_reap_is_killed_after_the_grace(void **state) {
    (void)state;
    pp_stop stop = started(app);
    pp_stop_view view = { .leader = PP_LEADER_EXITED, .now_ns = S };
    assert_int_equal(next(&stop, view), PP_STOP_REAP_LEADER);
    view.members = 1;
    for (; view.now_ns < GRACE; view.now_ns += S)
        assert_int_equal(next(&stop, view), PP_STOP_WAIT);
    assert_int_equal(next(&stop, view), PP_STOP_KILL_GROUP);
    view.members = 0;
    assert_int_equal(next(&stop, view), PP_STOP_REAP_LEADER);
    view.members = 1; /* and again: no second kill, but an end */
    int64_t killed_ns = view.now_ns;
    while (stop.step != PP_STEP_DONE && view.now_ns < killed_ns + 3 * VERIFY) {
        assert_int_not_equal(next(&stop, view), PP_STOP_KILL_GROUP);
        view.now_ns += S;
    }
    assert_int_equal(stop.step, PP_STEP_DONE);
    assert_int_equal(stop.verdict, PP_VERDICT_UNVERIFIED);
}

/* proves: GRP-1 */
static void a_living_leader_is_never_reaped(void **state) {
    (void)state;
    pp_stop stop = started(app);
    pp_stop_view view = { .leader = PP_LEADER_ALIVE };
    assert_int_equal(next(&stop, view), PP_STOP_TERM_LEADER);
    for (view.now_ns = 0; view.now_ns < 100 * S; view.now_ns += S)
        assert_int_not_equal(next(&stop, view), PP_STOP_REAP_LEADER);
    assert_int_equal(stop.verdict, PP_VERDICT_UNVERIFIED);
}

/* proves: GRP-3, TRK-6 */
static void a_failed_list_or_an_unconfirmed_member_counts_as_a_live_one(void **state) {
    (void)state;
    pp_stop_view doubts[] = {
        { .leader = PP_LEADER_EXITED, .group = PP_E_ENUMERATION },
        { .leader = PP_LEADER_EXITED, .group = PP_E_DENIED },
        { .leader = PP_LEADER_EXITED, .uncertain = 1 },
    };
    for (size_t i = 0; i < sizeof doubts / sizeof *doubts; i++) {
        pp_stop_view view = doubts[i];
        pp_stop stop = started(hook);
        assert_int_equal(next(&stop, view), PP_STOP_TERM_GROUP);
        view.now_ns = GRACE - 1;
        assert_int_equal(next(&stop, view), PP_STOP_WAIT);
        view.now_ns = GRACE;
        assert_int_equal(next(&stop, view), PP_STOP_KILL_GROUP);
        view.now_ns = GRACE + VERIFY - 1;
        assert_int_equal(next(&stop, view), PP_STOP_WAIT);
        view.now_ns = GRACE + VERIFY;
        assert_int_equal(next(&stop, view), PP_STOP_REAP_LEADER);
        view.leader = PP_LEADER_REAPED;
        view.childless = true;
        assert_int_equal(next(&stop, view), PP_STOP_FINISHED);
        assert_int_equal(stop.verdict, PP_VERDICT_UNVERIFIED);
        assert_true(stop.forced && stop.gave_up);
    }
}

/* proves: GRP-3 */
static void a_later_clean_list_resolves_the_doubt(void **state) {
    (void)state;
    pp_stop stop = started(hook);
    pp_stop_view view = { .leader = PP_LEADER_EXITED, .group = PP_E_ENUMERATION };
    assert_int_equal(next(&stop, view), PP_STOP_TERM_GROUP);
    view.group = PP_OK;
    assert_int_equal(next(&stop, view), PP_STOP_REAP_LEADER);
    assert_false(stop.forced);
}

/* proves: GRP-4, CAN-2 (B16) */
static void a_group_that_needed_sigkill_is_forced(void **state) {
    (void)state;
    pp_stop stop = started(app);
    pp_stop_view view = { .leader = PP_LEADER_ALIVE };
    assert_int_equal(next(&stop, view), PP_STOP_TERM_LEADER);
    view.now_ns = GRACE;
    assert_int_equal(next(&stop, view), PP_STOP_KILL_GROUP);
    view.leader = PP_LEADER_EXITED;
    assert_int_equal(next(&stop, view), PP_STOP_REAP_LEADER);
    view.leader = PP_LEADER_REAPED;
    view.childless = true;
    assert_int_equal(next(&stop, view), PP_STOP_FINISHED);
    assert_true(stop.forced);
    assert_false(stop.gave_up);
    assert_int_equal(stop.verdict, PP_VERDICT_ECHILD);
}

/* proves: GRP-4 */
static void the_verification_time_counts_from_the_kill_even_if_that_came_late(void **state) {
    (void)state;
    pp_stop stop = started(hook);
    pp_stop_view view = { .leader = PP_LEADER_EXITED, .members = 1 };
    assert_int_equal(next(&stop, view), PP_STOP_TERM_GROUP);
    view.now_ns = GRACE + 7 * S;
    assert_int_equal(next(&stop, view), PP_STOP_KILL_GROUP);
    view.now_ns += VERIFY - 1;
    assert_int_equal(next(&stop, view), PP_STOP_WAIT);
    view.now_ns += 1;
    assert_int_equal(next(&stop, view), PP_STOP_REAP_LEADER);
}

/* proves: GRP-7 (B14) */
static void a_lost_leader_means_no_group_signal_and_no_verified_end(void **state) {
    (void)state;
    pp_stop stop = started(hook);
    pp_stop_view view = { .leader = PP_LEADER_LOST, .members = 1 };
    assert_int_equal(next(&stop, view), PP_STOP_WAIT);
    view.now_ns = GRACE;
    assert_int_equal(next(&stop, view), PP_STOP_KILL_RECORDED);
    view.members = 0;
    assert_int_equal(next(&stop, view), PP_STOP_FINISHED);
    assert_int_equal(stop.verdict, PP_VERDICT_UNVERIFIED);
    assert_true(stop.leader_lost);
}

/* proves: GRP-7 */
static void a_lost_leader_is_unverified_whatever_else_is_seen(void **state) {
    (void)state;
    for (size_t escapees = 0; escapees < 2; escapees++) {
        pp_stop stop = started(app);
        pp_stop_view view = { .leader = PP_LEADER_LOST, .escapees = escapees };
        while (next(&stop, view) != PP_STOP_FINISHED)
            view.now_ns += S;
        assert_int_equal(stop.verdict, PP_VERDICT_UNVERIFIED);
    }
}

/* proves: GRP-7 */
static void a_leader_lost_at_its_reap_is_unverified(void **state) {
    (void)state;
    pp_stop stop = reaped(app);
    assert_int_equal(next(&stop, (pp_stop_view){ .now_ns = S, .leader = PP_LEADER_LOST }),
                     PP_STOP_FINISHED);
    assert_int_equal(stop.verdict, PP_VERDICT_UNVERIFIED);
}

/* proves: GRP-6 (B15) */
static void a_refused_signal_is_kept_and_a_vanished_group_is_no_failure(void **state) {
    (void)state;
    pp_stop stop = started(hook);
    pp_stop_view view = { .leader = PP_LEADER_EXITED, .members = 1 };
    assert_int_equal(next(&stop, view), PP_STOP_TERM_GROUP);
    pp_stop_signalled(&stop, PP_E_VANISHED, 0);
    pp_stop_signalled(&stop, PP_OK, 0);
    assert_false(stop.signal_failed);
    pp_stop_signalled(&stop, PP_E_DENIED, 0);
    assert_true(stop.signal_failed);
    assert_int_equal(stop.signal_status, PP_E_DENIED);
    assert_int_equal(next(&stop, view), PP_STOP_WAIT);
    view.now_ns = GRACE;
    assert_int_equal(next(&stop, view), PP_STOP_KILL_GROUP);
    pp_stop_signalled(&stop, PP_OK, 0);
    view.members = 0;
    assert_int_equal(next(&stop, view), PP_STOP_REAP_LEADER);
    assert_true(stop.signal_failed);
}

/* proves: GRP-6, CAN-5 */
static void a_stop_that_begins_anew_remembers_what_was_refused(void **state) {
    (void)state;
    pp_stop stop = started(hook);
    pp_stop_view view = { .leader = PP_LEADER_EXITED, .members = 1 };
    assert_int_equal(next(&stop, view), PP_STOP_TERM_GROUP);
    pp_stop_signalled(&stop, PP_E_DENIED, 0);
    pp_stop_again(&stop, &hook, S);
    assert_int_equal(next(&stop, view), PP_STOP_TERM_GROUP);
    pp_stop_signalled(&stop, PP_OK, S);
    assert_true(stop.signal_failed);
    assert_int_equal(stop.signal_status, PP_E_DENIED);
    assert_int_equal(stop.deadline_ns, S + GRACE);
}

/* proves: GRP-7, GRP-11 */
static void a_leader_found_lost_at_the_kill_means_recorded_members_once(void **state) {
    (void)state;
    pp_stop stop = started(hook);
    pp_stop_view view = { .leader = PP_LEADER_EXITED, .members = 1 };
    assert_int_equal(next(&stop, view), PP_STOP_TERM_GROUP);
    view.now_ns = GRACE;
    assert_int_equal(next(&stop, view), PP_STOP_KILL_GROUP);
    pp_stop_signalled(&stop, PP_E_REFUSED, GRACE);
    view.leader = PP_LEADER_LOST;
    assert_int_equal(next(&stop, view), PP_STOP_KILL_RECORDED);
    assert_int_equal(next(&stop, view), PP_STOP_WAIT);
}

static void the_grace_runs_from_the_signal_however_long_the_look_before_it_took(void **state) {
    (void)state;
    pp_stop stop = started(hook);
    pp_stop_view view = { .leader = PP_LEADER_EXITED, .members = 1 };
    assert_int_equal(next(&stop, view), PP_STOP_TERM_GROUP);
    pp_stop_signalled(&stop, PP_OK, 2 * S);
    pp_stop_signalled(&stop, PP_OK, 9 * S); /* once */
    view.now_ns = GRACE + 2 * S - 1;
    assert_int_equal(next(&stop, view), PP_STOP_WAIT);
    view.now_ns++;
    assert_int_equal(next(&stop, view), PP_STOP_KILL_GROUP);
}

/* proves: CAN-3 (B19) */
static void escapees_are_awaited_for_the_rest_of_the_grace_and_then_listed(void **state) {
    (void)state;
    pp_stop stop = reaped(app);
    pp_stop_view view = { .now_ns = GRACE - 1, .leader = PP_LEADER_REAPED, .escapees = 1 };
    assert_int_equal(next(&stop, view), PP_STOP_WAIT);
    view.now_ns = GRACE;
    assert_int_equal(next(&stop, view), PP_STOP_FINISHED);
    assert_int_equal(stop.verdict, PP_VERDICT_LEFT_RUNNING);
    assert_false(stop.escapees_killed);
}

/* proves: CAN-3 */
static void an_escapee_that_ends_within_the_grace_is_gone(void **state) {
    (void)state;
    pp_stop stop = reaped(app);
    pp_stop_view view = { .now_ns = 2 * S, .leader = PP_LEADER_REAPED, .escapees = 1 };
    assert_int_equal(next(&stop, view), PP_STOP_WAIT);
    view.escapees = 0;
    assert_int_equal(next(&stop, view), PP_STOP_FINISHED);
    assert_int_equal(stop.verdict, PP_VERDICT_GROUP_EMPTY);
}

/* proves: CAN-3 */
static void a_kill_of_the_group_gives_escapees_no_time_beyond_the_grace(void **state) {
    (void)state;
    pp_stop stop = started(hook);
    pp_stop_view view = { .leader = PP_LEADER_EXITED, .members = 1, .escapees = 1 };
    assert_int_equal(next(&stop, view), PP_STOP_TERM_GROUP);
    view.now_ns = GRACE;
    assert_int_equal(next(&stop, view), PP_STOP_KILL_GROUP);
    view.members = 0;
    assert_int_equal(next(&stop, view), PP_STOP_REAP_LEADER);
    view.leader = PP_LEADER_REAPED;
    assert_int_equal(next(&stop, view), PP_STOP_FINISHED);
    assert_int_equal(stop.verdict, PP_VERDICT_LEFT_RUNNING);
}

/* proves: CAN-3, GRP-3 */
static void a_recorded_escapee_that_cannot_be_read_is_unverified(void **state) {
    (void)state;
    pp_stop stop = reaped(app);
    pp_stop_view view = { .now_ns = S, .leader = PP_LEADER_REAPED, .escapees_uncertain = 1 };
    assert_int_equal(next(&stop, view), PP_STOP_WAIT);
    view.now_ns = GRACE;
    assert_int_equal(next(&stop, view), PP_STOP_FINISHED);
    assert_int_equal(stop.verdict, PP_VERDICT_UNVERIFIED);
}

/* proves: CAN-3 */
static void a_declared_helper_is_killed_once_after_the_grace(void **state) {
    (void)state;
    pp_stop stop = reaped(app);
    pp_stop_view view = {
        .now_ns = GRACE - 1, .leader = PP_LEADER_REAPED, .escapees = 1, .escapees_expected = 1
    };
    assert_int_equal(next(&stop, view), PP_STOP_WAIT);
    view.now_ns = GRACE;
    assert_int_equal(next(&stop, view), PP_STOP_KILL_EXPECTED);
    assert_int_equal(next(&stop, view), PP_STOP_WAIT);
    view.now_ns = GRACE + VERIFY - 1;
    assert_int_equal(next(&stop, view), PP_STOP_WAIT);
    view.now_ns = GRACE + VERIFY;
    assert_int_equal(next(&stop, view), PP_STOP_FINISHED);
    assert_int_equal(stop.verdict, PP_VERDICT_LEFT_RUNNING);
    assert_false(stop.forced);
}

/* proves: CAN-3 */
static void reaped_escapees_are_killed_again_until_gone_within_the_verification_time(void **state) {
    (void)state;
    pp_stop_plan plan = app;
    plan.reap_escapees = true;
    pp_stop stop = reaped(plan);
    pp_stop_view view = { .now_ns = S, .leader = PP_LEADER_REAPED, .escapees = 1 };
    assert_int_equal(next(&stop, view), PP_STOP_KILL_ESCAPEES);
    view.now_ns = S + VERIFY - 1;
    assert_int_equal(next(&stop, view), PP_STOP_KILL_ESCAPEES);
    pp_stop stubborn = stop;
    view.now_ns = S + VERIFY;
    assert_int_equal(next(&stubborn, view), PP_STOP_FINISHED);
    assert_int_equal(stubborn.verdict, PP_VERDICT_LEFT_RUNNING);
    view.escapees = 0;
    view.childless = true;
    assert_int_equal(next(&stop, view), PP_STOP_FINISHED);
    assert_int_equal(stop.verdict, PP_VERDICT_ECHILD);
    assert_true(stop.escapees_killed);
    assert_false(stop.forced);
}

/* proves: CAN-5 */
static void escapees_are_reaped_even_if_the_group_could_not_be_verified(void **state) {
    (void)state;
    pp_stop_plan plan = hook;
    plan.reap_escapees = true;
    pp_stop stop = started(plan);
    pp_stop_view view = { .leader = PP_LEADER_EXITED, .members = 1, .escapees = 1 };
    assert_int_equal(next(&stop, view), PP_STOP_TERM_GROUP);
    view.now_ns = GRACE;
    assert_int_equal(next(&stop, view), PP_STOP_KILL_GROUP);
    view.now_ns = GRACE + VERIFY;
    assert_int_equal(next(&stop, view), PP_STOP_REAP_LEADER);
    view.leader = PP_LEADER_REAPED;
    assert_int_equal(next(&stop, view), PP_STOP_KILL_ESCAPEES);
    view.escapees = 0;
    assert_int_equal(next(&stop, view), PP_STOP_FINISHED);
    assert_int_equal(stop.verdict, PP_VERDICT_UNVERIFIED);
}

/* proves: GRP-12 */
static void the_kernels_proof_covers_what_could_not_be_read(void **state) {
    (void)state;
    pp_stop stop = reaped(app);
    pp_stop_view view = {
        .now_ns = S, .leader = PP_LEADER_REAPED, .escapees_uncertain = 1, .childless = true
    };
    assert_int_equal(next(&stop, view), PP_STOP_FINISHED);
    assert_int_equal(stop.verdict, PP_VERDICT_ECHILD);
}

/* Whatever is seen for ever, asking at each deadline comes to an end within grace and two
 * verification times, and no signal goes where it must not.
 * proves: GRP-7, GRP-9 (B16) */
static void every_unchanging_view_ends_in_bounded_time(void **state) {
    (void)state;
    for (unsigned bits = 0; bits < 512; bits++) {
        pp_stop_plan plan = bits & 1 ? hook : app;
        plan.reap_escapees = (bits & 2) != 0;
        pp_stop_view view = { .leader = bits & 4   ? PP_LEADER_LOST
                                        : bits & 8 ? PP_LEADER_EXITED
                                                   : PP_LEADER_ALIVE,
                              .group = bits & 16 ? PP_E_SYS : PP_OK,
                              .members = bits >> 5 & 1,
                              .uncertain = bits >> 6 & 1,
                              .escapees = bits >> 7 & 1,
                              .escapees_uncertain = bits >> 8 & 1 };
        pp_stop stop = started(plan);
        pp_stop_action action = PP_STOP_WAIT;
        for (int steps = 0; steps < 100 && action != PP_STOP_FINISHED; steps++) {
            int64_t deadline_ns = 0;
            action = pp_stop_next(&stop, &view, &deadline_ns);
            if (view.leader == PP_LEADER_LOST) {
                assert_int_not_equal(action, PP_STOP_TERM_GROUP);
                assert_int_not_equal(action, PP_STOP_TERM_LEADER);
                assert_int_not_equal(action, PP_STOP_KILL_GROUP);
            }
            if (action == PP_STOP_REAP_LEADER)
                view.leader = PP_LEADER_REAPED;
            if (action == PP_STOP_WAIT || action == PP_STOP_KILL_ESCAPEES) {
                assert_true(deadline_ns > view.now_ns);
                view.now_ns = deadline_ns;
            }
        }
        assert_int_equal(action, PP_STOP_FINISHED);
        assert_true(view.now_ns <= GRACE + 2 * VERIFY);
        assert_int_not_equal(stop.verdict, PP_VERDICT_NONE);
        assert_int_not_equal(stop.verdict, PP_VERDICT_ECHILD);
        assert_int_equal(next(&stop, view), PP_STOP_FINISHED);
    }
}

/* proves: GRP-12 */
/* proves: GRP-12, GRP-10 */
static void a_populated_leaf_forbids_every_proof_until_the_time_is_over(void **state) {
    (void)state;
    for (int known = 0; known < 2; known++) {
        pp_stop stop = reaped(app);
        pp_stop_view view = { .now_ns = 2 * S,
                              .leader = PP_LEADER_REAPED,
                              .childless = true,
                              .escapees = (size_t)known,
                              .leaf_populated = true };
        assert_int_equal(next(&stop, view), PP_STOP_WAIT);
        view.now_ns = GRACE;
        assert_int_equal(next(&stop, view), PP_STOP_FINISHED);
        assert_int_equal(stop.verdict, known ? PP_VERDICT_LEFT_RUNNING : PP_VERDICT_UNVERIFIED);
    }
    pp_stop stop = reaped(app);
    pp_stop_view view = { .now_ns = 2 * S, .leader = PP_LEADER_REAPED, .escapees_uncertain = 1 };
    assert_int_equal(next(&stop, view), PP_STOP_WAIT); /* an empty leaf proves nothing */
}

static void times_beyond_the_clocks_end_do_not_wrap(void **state) {
    (void)state;
    pp_stop_plan endless = { .grace_ns = INT64_MAX, .verify_ns = INT64_MAX };
    pp_stop stop;
    pp_stop_init(&stop, &endless, S);
    pp_stop_view view = { .now_ns = 2 * S, .leader = PP_LEADER_ALIVE, .members = 1 };
    assert_int_equal(next(&stop, view), PP_STOP_TERM_LEADER);
    assert_int_equal(next(&stop, view), PP_STOP_WAIT);
    assert_false(stop.forced);
    assert_true(stop.deadline_ns == INT64_MAX);
    view = (pp_stop_view){ .now_ns = 3 * S, .leader = PP_LEADER_EXITED };
    assert_int_equal(next(&stop, view), PP_STOP_REAP_LEADER);
    assert_true(stop.reap_deadline_ns == INT64_MAX);
    view = (pp_stop_view){ .now_ns = 3 * S, .leader = PP_LEADER_REAPED, .escapees = 1 };
    assert_int_equal(next(&stop, view), PP_STOP_WAIT);
}

static void verdicts_have_their_names(void **state) {
    (void)state;
    assert_string_equal(pp_verdict_name(PP_VERDICT_NONE), "none");
    assert_string_equal(pp_verdict_name(PP_VERDICT_ECHILD), "echild");
    assert_string_equal(pp_verdict_name(PP_VERDICT_GROUP_EMPTY), "group_empty_and_recorded_gone");
    assert_string_equal(pp_verdict_name(PP_VERDICT_LEFT_RUNNING), "left_running");
    assert_string_equal(pp_verdict_name(PP_VERDICT_UNVERIFIED), "unverified");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_application_gets_sigterm_through_its_leader_alone_and_once),
        cmocka_unit_test(a_hook_gets_sigterm_as_a_group_even_if_its_leader_exited),
        cmocka_unit_test(nobody_is_signalled_when_only_the_exited_leader_remains),
        cmocka_unit_test(an_exited_application_leader_gives_its_group_the_grace_without_a_signal),
        cmocka_unit_test(the_leader_is_reaped_only_after_the_group_was_seen_empty),
        cmocka_unit_test(a_group_that_fills_again_before_the_reap_is_killed_after_the_grace),
        cmocka_unit_test(a_living_leader_is_never_reaped),
        cmocka_unit_test(a_failed_list_or_an_unconfirmed_member_counts_as_a_live_one),
        cmocka_unit_test(a_later_clean_list_resolves_the_doubt),
        cmocka_unit_test(a_group_that_needed_sigkill_is_forced),
        cmocka_unit_test(the_verification_time_counts_from_the_kill_even_if_that_came_late),
        cmocka_unit_test(a_lost_leader_means_no_group_signal_and_no_verified_end),
        cmocka_unit_test(a_lost_leader_is_unverified_whatever_else_is_seen),
        cmocka_unit_test(a_leader_lost_at_its_reap_is_unverified),
        cmocka_unit_test(a_refused_signal_is_kept_and_a_vanished_group_is_no_failure),
        cmocka_unit_test(a_stop_that_begins_anew_remembers_what_was_refused),
        cmocka_unit_test(the_grace_runs_from_the_signal_however_long_the_look_before_it_took),
        cmocka_unit_test(a_leader_found_lost_at_the_kill_means_recorded_members_once),
        cmocka_unit_test(escapees_are_awaited_for_the_rest_of_the_grace_and_then_listed),
        cmocka_unit_test(an_escapee_that_ends_within_the_grace_is_gone),
        cmocka_unit_test(a_kill_of_the_group_gives_escapees_no_time_beyond_the_grace),
        cmocka_unit_test(a_recorded_escapee_that_cannot_be_read_is_unverified),
        cmocka_unit_test(a_declared_helper_is_killed_once_after_the_grace),
        cmocka_unit_test(reaped_escapees_are_killed_again_until_gone_within_the_verification_time),
        cmocka_unit_test(escapees_are_reaped_even_if_the_group_could_not_be_verified),
        cmocka_unit_test(the_kernels_proof_covers_what_could_not_be_read),
        cmocka_unit_test(every_unchanging_view_ends_in_bounded_time),
        cmocka_unit_test(a_populated_leaf_forbids_every_proof_until_the_time_is_over),
        cmocka_unit_test(times_beyond_the_clocks_end_do_not_wrap),
        cmocka_unit_test(verdicts_have_their_names),
    };
    return cmocka_run_group_tests_name("stop", tests, NULL, NULL);
}
