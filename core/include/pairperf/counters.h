/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_COUNTERS_H
#define PAIRPERF_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "pairperf/reading.h"

/* Arithmetic on kernel counters: unsigned 64-bit, exact, subtracted before any conversion to
 * double. Nothing here calls the system or keeps state.
 *
 * Source   statistics: "Counters"; the timebase of mach_timebase_info(3)
 */

/* What a counter advanced from `prev` to `next`.
 *
 * A smaller `next` is missing with PP_E_REGRESSED: a fall is never taken for a wrap.
 */
pp_reading pp_counter_delta(uint64_t prev, uint64_t next);

/* The same for readings; missing for the reason of the first that is. */
pp_reading pp_gain(pp_reading before, pp_reading after);

/* floor(ticks * numer / denom) nanoseconds, without overflow on the way.
 *
 * Missing with PP_E_OVERFLOW when the result itself needs more than 64 bits, with PP_E_INVALID when
 * numer or denom is 0: a timebase that could not be read is never taken for 1:1.
 */
pp_reading pp_ticks_to_ns(uint64_t ticks, uint32_t numer, uint32_t denom);

/* delta per second of elapsed time. False, and nothing written, without a positive duration. */
bool pp_rate_per_second(uint64_t delta, int64_t elapsed_ns, double *ret_per_second);

/* Percent of one core for a delta of CPU nanoseconds; above 100 with several cores. False, and
 * nothing written, without a positive duration. */
bool pp_cpu_percent(uint64_t delta_ns, int64_t elapsed_ns, double *ret_percent);

#endif
