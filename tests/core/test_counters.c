/* SPDX-License-Identifier: Apache-2.0 */
/* proves: SMP-1 SMP-5 (B09, B12) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pairperf/counters.h"

static void delta_is_exact_above_2_53(void **state) {
    (void)state;
    pp_reading delta = pp_counter_delta(9007199254740993u, 9007199254740996u);
    assert_true(delta.known);
    assert_int_equal(delta.value, 3);
}

static void delta_across_2_63_is_no_regression(void **state) {
    (void)state;
    pp_reading delta = pp_counter_delta(9223372036854775800u, 9223372036854775816u);
    assert_true(delta.known);
    assert_int_equal(delta.value, 16);
}

static void largest_delta_is_kept(void **state) {
    (void)state;
    pp_reading delta = pp_counter_delta(0, UINT64_MAX);
    assert_true(delta.known);
    assert_true(delta.value == UINT64_MAX);
}

/* proves: SMP-5 (B12) */
static void B12_a_fall_is_regressed_and_never_a_wrap(void **state) {
    (void)state;
    pp_reading small = pp_counter_delta(500, 499);
    assert_false(small.known);
    assert_int_equal(small.why, PP_E_REGRESSED);
    pp_reading wrap = pp_counter_delta(4000000000u, 10000);
    assert_false(wrap.known);
    assert_false(pp_counter_delta(UINT64_MAX - 5, 5).known);
}

/* proves: SMP-1 (B09) */
static void B09_apple_ticks_are_not_nanoseconds(void **state) {
    (void)state;
    pp_reading second = pp_ticks_to_ns(24000000, 125, 3);
    assert_true(second.known);
    assert_int_equal(second.value, 1000000000);
    double percent = 0;
    assert_true(pp_cpu_percent(second.value, 1000000000, &percent));
    assert_true(percent > 99.999 && percent < 100.001);
    assert_int_equal(pp_ticks_to_ns(1000, 125, 3).value, 41666); /* floor */
}

static void ticks_whose_product_leaves_64_bits_still_convert(void **state) {
    (void)state;
    pp_reading ns = pp_ticks_to_ns(400000000000000000u, 125, 3);
    assert_true(ns.known);
    assert_true(ns.value == 16666666666666666666u);
    assert_true(pp_ticks_to_ns(UINT64_MAX, UINT32_MAX, UINT32_MAX).value == UINT64_MAX);
}

static void ticks_whose_result_leaves_64_bits_are_overflow(void **state) {
    (void)state;
    pp_reading ns = pp_ticks_to_ns(UINT64_MAX, 125, 3);
    assert_false(ns.known);
    assert_int_equal(ns.why, PP_E_OVERFLOW);
}

static void B09_unreadable_timebase_is_not_one_to_one(void **state) {
    (void)state;
    assert_false(pp_ticks_to_ns(1000, 0, 0).known);
    assert_int_equal(pp_ticks_to_ns(1000, 1, 0).why, PP_E_INVALID);
}

/* proves: MET-6 (B33) */
static void no_positive_duration_has_no_rate(void **state) {
    (void)state;
    double value = -7;
    assert_false(pp_rate_per_second(5, 0, &value));
    assert_false(pp_rate_per_second(5, -1, &value));
    assert_false(pp_cpu_percent(5, 0, &value));
    assert_true(value == -7); /* untouched */
}

/* proves: MET-1 */
static void several_cores_are_above_100_percent(void **state) {
    (void)state;
    double percent = 0;
    assert_true(pp_cpu_percent(300000000000u, 120000000000, &percent));
    assert_true(percent == 250.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(delta_is_exact_above_2_53),
        cmocka_unit_test(delta_across_2_63_is_no_regression),
        cmocka_unit_test(largest_delta_is_kept),
        cmocka_unit_test(B12_a_fall_is_regressed_and_never_a_wrap),
        cmocka_unit_test(B09_apple_ticks_are_not_nanoseconds),
        cmocka_unit_test(ticks_whose_product_leaves_64_bits_still_convert),
        cmocka_unit_test(ticks_whose_result_leaves_64_bits_are_overflow),
        cmocka_unit_test(B09_unreadable_timebase_is_not_one_to_one),
        cmocka_unit_test(no_positive_duration_has_no_rate),
        cmocka_unit_test(several_cores_are_above_100_percent),
    };
    return cmocka_run_group_tests_name("counters", tests, NULL, NULL);
}
