/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pairperf/window.h"

#define S INT64_C(1000000000)
#define MS INT64_C(1000000)

static pp_frame_times at(int64_t t_ns) {
    return (pp_frame_times){ t_ns, t_ns + 5 * MS, t_ns + 6 * MS, t_ns };
}

static void flag_names_are_sorted(void **state) {
    (void)state;
    for (unsigned i = 1; i < PP_FLAG_COUNT; i++)
        assert_true(strcmp(pp_flag_name(i - 1), pp_flag_name(i)) < 0);
    assert_string_equal(pp_flag_name(PP_FLAG_COUNT), "flag?");
}

/* proves: SMP-3 */
static void regular_frames_are_a_valid_window(void **state) {
    (void)state;
    pp_frame_times frames[] = { at(0), at(10 * S), at(20 * S) };
    pp_window_verdict v = pp_window_validity(frames, 3, 10 * S, 20 * S);
    assert_int_equal(v.reasons, 0);
    assert_int_equal(v.warnings, 0);
    assert_true(v.has_elapsed);
    assert_true(v.elapsed_ns == 20 * S);
}

/* proves: SMP-3 */
static void one_frame_is_no_window(void **state) {
    (void)state;
    pp_frame_times frame = at(0);
    pp_window_verdict v = pp_window_validity(&frame, 1, S, S);
    assert_int_equal(v.reasons, PP_FLAG_TOO_FEW_FRAMES);
    assert_false(v.has_elapsed);
}

/* proves: SMP-3 (B13) */
static void B13_a_stall_is_a_gap_and_a_limit_met_exactly_is_not(void **state) {
    (void)state;
    pp_frame_times exact[] = { at(0), at(20 * S), at(30 * S) };
    assert_int_equal(pp_window_validity(exact, 3, 10 * S, 30 * S).reasons, 0);
    pp_frame_times late[] = { at(0), at(20 * S + 1), at(30 * S) };
    assert_int_equal(pp_window_validity(late, 3, 10 * S, 30 * S).reasons, PP_FLAG_GAP_EXCEEDED);
}

/* proves: SMP-3 (B13) */
static void B13_a_suspended_machine_voids_the_window(void **state) {
    (void)state;
    pp_frame_times frames[] = { at(0), at(10 * S), at(20 * S) };
    frames[2].cont_ns += 100 * MS; /* exactly the tolerance */
    assert_int_equal(pp_window_validity(frames, 3, 10 * S, 20 * S).reasons, 0);
    frames[2].cont_ns += 1;
    assert_int_equal(pp_window_validity(frames, 3, 10 * S, 20 * S).reasons, PP_FLAG_SUSPENDED);
}

/* proves: SMP-3 */
static void a_reversed_clock_leaves_no_elapsed_time(void **state) {
    (void)state;
    pp_frame_times frames[] = { at(0), at(10 * S), at(9 * S), at(20 * S) };
    pp_window_verdict v = pp_window_validity(frames, 4, 10 * S, 20 * S);
    assert_int_equal(v.reasons, PP_FLAG_CLOCK_REVERSED);
    assert_false(v.has_elapsed);
    pp_frame_times inside[] = { at(0), at(10 * S), at(20 * S) };
    inside[1].used_ns = inside[1].end_ns - 1;
    assert_int_equal(pp_window_validity(inside, 3, 10 * S, 20 * S).reasons, PP_FLAG_CLOCK_REVERSED);
}

static void extreme_clock_values_do_not_overflow(void **state) {
    (void)state;
    pp_frame_times frames[] = { { INT64_MIN, INT64_MIN, INT64_MIN, INT64_MAX },
                                { INT64_MAX, INT64_MAX, INT64_MAX, INT64_MIN } };
    pp_window_verdict v = pp_window_validity(frames, 2, S, S);
    assert_int_equal(v.reasons, PP_FLAG_GAP_EXCEEDED);
    assert_false(v.has_elapsed);
}

/* proves: SMP-3 */
static void ninety_five_percent_is_enough_and_less_is_partial(void **state) {
    (void)state;
    pp_frame_times frames[] = { at(0), at(10 * S), at(19 * S) };
    assert_int_equal(pp_window_validity(frames, 3, 10 * S, 20 * S).reasons, 0);
    frames[2] = at(19 * S - 1);
    assert_int_equal(pp_window_validity(frames, 3, 10 * S, 20 * S).reasons, PP_FLAG_PARTIAL_WINDOW);
}

/* proves: SMP-3 (B11) */
static void B11_a_long_or_stale_frame_is_a_warning_only(void **state) {
    (void)state;
    pp_frame_times frames[] = { at(0), at(10 * S), at(20 * S) };
    frames[1].end_ns = frames[1].t_ns + S + 1;
    frames[1].used_ns = frames[1].end_ns + S + 1;
    pp_window_verdict v = pp_window_validity(frames, 3, 10 * S, 20 * S);
    assert_int_equal(v.reasons, 0);
    assert_int_equal(v.warnings, PP_FLAG_FRAME_TOO_LONG | PP_FLAG_STALE);
}

static const pp_policy_pass good_pass = {
    .begin_ns = 1000,
    .end_ns = 184000,
    .used_ns = 190000,
    .max_pass_ns = 183000,
    .max_age_ns = 6000,
};

/* proves: SMP-6 OBS-2 */
static void complete_sum_may_act_and_exact_limits_are_fine(void **state) {
    (void)state;
    pp_policy_member members[] = { { pp_known(300), false }, { pp_known(200), false } };
    pp_policy_sum sum = pp_policy_aggregate(members, 2, &good_pass);
    assert_int_equal(sum.reasons, 0);
    assert_true(sum.has_known);
    assert_int_equal(sum.known_bytes, 500);
}

/* proves: SMP-6 OBS-2 */
static void missing_member_leaves_no_total(void **state) {
    (void)state;
    pp_policy_member members[] = { { pp_known(900), false }, { pp_missing(PP_E_DENIED), false } };
    pp_policy_sum sum = pp_policy_aggregate(members, 2, &good_pass);
    assert_int_equal(sum.reasons, PP_FLAG_INCOMPLETE);
    assert_int_equal(sum.missing, 1);
    assert_int_equal(sum.known_bytes, 900);
}

/* proves: SMP-6 */
static void escaped_members_neither_add_nor_spoil(void **state) {
    (void)state;
    pp_policy_member members[] = { { pp_known(300), false },
                                   { pp_known(800), true },
                                   { pp_missing(PP_E_DENIED), true } };
    pp_policy_sum sum = pp_policy_aggregate(members, 3, &good_pass);
    assert_int_equal(sum.reasons, 0);
    assert_int_equal(sum.known_bytes, 300);
}

/* proves: SMP-6 */
static void overflowing_sum_has_no_value(void **state) {
    (void)state;
    pp_policy_member members[] = { { pp_known(UINT64_MAX), false }, { pp_known(2), false } };
    pp_policy_sum sum = pp_policy_aggregate(members, 2, &good_pass);
    assert_int_equal(sum.reasons, PP_FLAG_OVERFLOW);
    assert_false(sum.has_known);
}

/* proves: OBS-2 */
static void stale_slow_or_impossible_passes_do_not_act(void **state) {
    (void)state;
    pp_policy_member member = { pp_known(1), false };
    pp_policy_pass pass = good_pass;
    pass.used_ns++;
    assert_int_equal(pp_policy_aggregate(&member, 1, &pass).reasons, PP_FLAG_STALE);
    pass = good_pass;
    pass.max_pass_ns--;
    assert_int_equal(pp_policy_aggregate(&member, 1, &pass).reasons, PP_FLAG_PASS_TOO_LONG);
    pass = good_pass;
    pass.end_ns = pass.begin_ns;
    assert_int_equal(pp_policy_aggregate(&member, 1, &pass).reasons, PP_FLAG_ZERO_DURATION);
    pass.end_ns = pass.begin_ns - 1;
    assert_int_equal(pp_policy_aggregate(&member, 1, &pass).reasons, PP_FLAG_CLOCK_REVERSED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flag_names_are_sorted),
        cmocka_unit_test(regular_frames_are_a_valid_window),
        cmocka_unit_test(one_frame_is_no_window),
        cmocka_unit_test(B13_a_stall_is_a_gap_and_a_limit_met_exactly_is_not),
        cmocka_unit_test(B13_a_suspended_machine_voids_the_window),
        cmocka_unit_test(a_reversed_clock_leaves_no_elapsed_time),
        cmocka_unit_test(extreme_clock_values_do_not_overflow),
        cmocka_unit_test(ninety_five_percent_is_enough_and_less_is_partial),
        cmocka_unit_test(B11_a_long_or_stale_frame_is_a_warning_only),
        cmocka_unit_test(complete_sum_may_act_and_exact_limits_are_fine),
        cmocka_unit_test(missing_member_leaves_no_total),
        cmocka_unit_test(escaped_members_neither_add_nor_spoil),
        cmocka_unit_test(overflowing_sum_has_no_value),
        cmocka_unit_test(stale_slow_or_impossible_passes_do_not_act),
    };
    return cmocka_run_group_tests_name("window", tests, NULL, NULL);
}
