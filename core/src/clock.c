/* SPDX-License-Identifier: Apache-2.0 */
/* Pure: no zone, no locale, no system call. Any int64_t of nanoseconds is a year between 1677 and
 * 2262, so gmtime_r cannot fail and four digits suffice. */
#include "pairperf/clock.h"

#include <assert.h>
#include <time.h>

static struct tm broken_down(int64_t wall_ns) {
    const int64_t ns_per_s = 1000000000;
    time_t seconds = (time_t)(wall_ns / ns_per_s - (wall_ns % ns_per_s < 0));
    struct tm tm = { 0 };
    const struct tm *done = gmtime_r(&seconds, &tm);
    assert(done);
    (void)done;
    return tm;
}

__attribute__((format(strftime, 2, 0))) static void format(int64_t wall_ns, const char *form,
                                                           char ret_text[PP_CLOCK_TEXT]) {
    struct tm tm = broken_down(wall_ns);
    (void)strftime(ret_text, PP_CLOCK_TEXT, form, &tm);
}

void pp_clock_utc(int64_t wall_ns, char ret_text[PP_CLOCK_TEXT]) {
    format(wall_ns, "%Y-%m-%dT%H:%M:%SZ", ret_text);
}

void pp_clock_compact_utc(int64_t wall_ns, char ret_text[PP_CLOCK_TEXT]) {
    format(wall_ns, "%Y%m%dT%H%M%SZ", ret_text);
}
