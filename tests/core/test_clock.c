/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "pairperf/clock.h"

static void expect(int64_t wall_ns, const char *utc, const char *compact) {
    char text[PP_CLOCK_TEXT];
    pp_clock_utc(wall_ns, text);
    assert_string_equal(text, utc);
    pp_clock_compact_utc(wall_ns, text);
    assert_string_equal(text, compact);
}

static void times_are_written_in_utc(void **state) {
    (void)state;
    expect(0, "1970-01-01T00:00:00Z", "19700101T000000Z");
    expect(1709210096999999999, "2024-02-29T12:34:56Z", "20240229T123456Z");
    expect(4107542400000000000, "2100-03-01T00:00:00Z", "21000301T000000Z");
}

static void parts_of_a_second_are_cut_towards_the_past(void **state) {
    (void)state;
    expect(999999999, "1970-01-01T00:00:00Z", "19700101T000000Z");
    expect(-1, "1969-12-31T23:59:59Z", "19691231T235959Z");
    expect(-1000000000, "1969-12-31T23:59:59Z", "19691231T235959Z");
    expect(-1000000001, "1969-12-31T23:59:58Z", "19691231T235958Z");
}

static void the_extremes_have_a_text(void **state) {
    (void)state;
    expect(INT64_MAX, "2262-04-11T23:47:16Z", "22620411T234716Z");
    expect(INT64_MIN, "1677-09-21T00:12:43Z", "16770921T001243Z");
}

static void B02_the_time_zone_changes_nothing(void **state) {
    (void)state;
    assert_int_equal(setenv("TZ", "XYZ-11:30", 1), 0);
    tzset();
    time_t zero = 0;
    assert_int_equal(localtime(&zero)->tm_hour, 11); /* the zone is really in force */
    expect(0, "1970-01-01T00:00:00Z", "19700101T000000Z");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_written_in_utc),
        cmocka_unit_test(parts_of_a_second_are_cut_towards_the_past),
        cmocka_unit_test(the_extremes_have_a_text),
        cmocka_unit_test(B02_the_time_zone_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
