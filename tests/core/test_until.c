/* SPDX-License-Identifier: Apache-2.0 */
/* proves: OBS-3 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pairperf/window.h"

static void an_end_is_known_only_between_two_samples(void **state) {
    (void)state;
    pp_until_sample samples[] = { { 10, true }, { 60, true }, { 110, false }, { 160, true } };
    pp_until until = pp_time_until(samples, 4);
    assert_int_equal(until.outcome, PP_UNTIL_OBSERVED);
    assert_true(until.low_ms == 60 && until.high_ms == 110);
}

static void still_holding_at_the_last_sample_is_right_censored(void **state) {
    (void)state;
    pp_until_sample samples[] = { { 10, true }, { 60, true } };
    pp_until until = pp_time_until(samples, 2);
    assert_int_equal(until.outcome, PP_UNTIL_RIGHT_CENSORED);
    assert_true(until.low_ms == 60 && isinf(until.high_ms));
}

static void nothing_watched_is_unobserved(void **state) {
    (void)state;
    assert_int_equal(pp_time_until(NULL, 0).outcome, PP_UNTIL_UNOBSERVED);
    assert_string_equal(pp_until_outcome_name(PP_UNTIL_UNOBSERVED), "unobserved");
}

static void a_mostly_censored_median_has_no_upper_bound(void **state) {
    (void)state;
    pp_until results[] = {
        { PP_UNTIL_OBSERVED, 10, 60 },
        { PP_UNTIL_RIGHT_CENSORED, 54, 0 }, /* high_ms of a censored result is not used */
        { PP_UNTIL_RIGHT_CENSORED, 57, 0 },
        { PP_UNTIL_UNOBSERVED, 0, 0 },
        { PP_UNTIL_RIGHT_CENSORED, 61, 0 },
    };
    pp_censored_summary summary;
    assert_int_equal(pp_censored_summarize(results, 5, &summary, NULL), PP_OK);
    assert_int_equal(summary.count, 4);
    assert_int_equal(summary.right_censored, 3);
    assert_true(summary.median_low_ms == 55.5);
    assert_true(isinf(summary.median_high_ms) && isinf(summary.max_high_ms));
    assert_true(summary.max_low_ms == 61);
}

static void no_result_has_count_zero(void **state) {
    (void)state;
    pp_censored_summary summary;
    assert_int_equal(pp_censored_summarize(NULL, 0, &summary, NULL), PP_OK);
    assert_int_equal(summary.count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_end_is_known_only_between_two_samples),
        cmocka_unit_test(still_holding_at_the_last_sample_is_right_censored),
        cmocka_unit_test(nothing_watched_is_unobserved),
        cmocka_unit_test(a_mostly_censored_median_has_no_upper_bound),
        cmocka_unit_test(no_result_has_count_zero),
    };
    return cmocka_run_group_tests_name("until", tests, NULL, NULL);
}
