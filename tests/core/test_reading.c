/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pairperf/reading.h"

static void zeroed_memory_reads_as_not_measured(void **state) {
    (void)state;
    pp_reading reading = { 0 };
    assert_false(reading.known);
    assert_string_equal(pp_status_name(reading.why), "not_measured");
}

static void a_sum_of_known_parts_is_known(void **state) {
    (void)state;
    pp_sum sum = { 0 };
    pp_sum_add(&sum, pp_known(40));
    pp_sum_add(&sum, pp_known(2));
    assert_true(pp_sum_total(&sum).known);
    assert_int_equal(pp_sum_total(&sum).value, 42);
    assert_int_equal(sum.parts, 2);
}

/* proves: SMP-6 */
static void one_missing_part_makes_the_total_missing_with_its_reason(void **state) {
    (void)state;
    pp_sum sum = { 0 };
    pp_sum_add(&sum, pp_known(40));
    pp_sum_add(&sum, pp_missing(PP_E_DENIED));
    pp_sum_add(&sum, pp_known(2));
    pp_sum_add(&sum, pp_missing(PP_E_VANISHED));
    assert_false(pp_sum_total(&sum).known);
    assert_int_equal(pp_sum_total(&sum).why, PP_E_DENIED);
    assert_int_equal(sum.known, 42);
    assert_int_equal(sum.parts, 4);
    assert_int_equal(sum.missing, 2);
}

/* proves: SMP-6 */
static void which_of_two_reasons_is_told_does_not_depend_on_their_order(void **state) {
    (void)state;
    const pp_status reasons[] = { PP_E_VANISHED, PP_E_DENIED, PP_E_VANISHED };
    for (int first = 0; first < 2; first++) {
        pp_sum sum = { 0 };
        pp_sum_add(&sum, pp_missing(reasons[first]));
        pp_sum_add(&sum, pp_missing(reasons[first + 1]));
        assert_int_equal(pp_sum_total(&sum).why, PP_E_DENIED);
        assert_int_equal(pp_told_of(reasons[first], reasons[first + 1]), PP_E_DENIED);
    }
    assert_int_equal(pp_told_of(PP_OK, PP_E_VANISHED), PP_E_VANISHED);
    assert_int_equal(pp_told_of(PP_E_VANISHED, PP_OK), PP_E_VANISHED);
}

/* proves: SMP-6 */
static void a_sum_beyond_64_bits_is_an_overflow_and_no_number(void **state) {
    (void)state;
    pp_sum sum = { 0 };
    pp_sum_add(&sum, pp_known(UINT64_MAX));
    assert_true(pp_sum_total(&sum).known);
    pp_sum_add(&sum, pp_known(1));
    pp_sum_add(&sum, pp_known(1));
    assert_false(pp_sum_total(&sum).known);
    assert_int_equal(pp_sum_total(&sum).why, PP_E_OVERFLOW);
    pp_sum_add(&sum, pp_missing(PP_E_DENIED));
    assert_int_equal(pp_sum_total(&sum).why, PP_E_OVERFLOW);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeroed_memory_reads_as_not_measured),
        cmocka_unit_test(a_sum_of_known_parts_is_known),
        cmocka_unit_test(one_missing_part_makes_the_total_missing_with_its_reason),
        cmocka_unit_test(which_of_two_reasons_is_told_does_not_depend_on_their_order),
        cmocka_unit_test(a_sum_beyond_64_bits_is_an_overflow_and_no_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
