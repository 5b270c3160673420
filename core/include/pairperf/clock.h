/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_CLOCK_H
#define PAIRPERF_CLOCK_H

#include <stdint.h>

/* Wall-clock times as text, in UTC and whatever TZ says. For display and names only: durations and
 * rates come from the monotonic clock.
 *
 * wall_ns   since the epoch; parts of a second are cut towards the past
 * ret_text  "2026-11-29T19:31:12Z", or "20261129T193112Z" when compact
 */
enum { PP_CLOCK_TEXT = 40 };
void pp_clock_utc(int64_t wall_ns, char ret_text[PP_CLOCK_TEXT]);
void pp_clock_compact_utc(int64_t wall_ns, char ret_text[PP_CLOCK_TEXT]);

#endif
