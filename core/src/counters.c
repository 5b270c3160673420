/* SPDX-License-Identifier: Apache-2.0 */
/* Every result is exact or absent. A counter that falls has no delta, a scaled value that leaves
 * 64 bits has no value, and a rate exists only over a positive duration: none of them becomes 0. */
#include "pairperf/counters.h"

pp_reading pp_counter_delta(uint64_t prev, uint64_t next) {
    return next < prev ? pp_missing(PP_E_REGRESSED) : pp_known(next - prev);
}

pp_reading pp_gain(pp_reading before, pp_reading after) {
    if (!before.known)
        return before;
    return after.known ? pp_counter_delta(before.value, after.value) : after;
}

pp_reading pp_ticks_to_ns(uint64_t ticks, uint32_t numer, uint32_t denom) {
    if (numer == 0 || denom == 0)
        return pp_missing(PP_E_INVALID);
    uint64_t whole;
    uint64_t rest = ticks % denom * numer / denom; /* below 2^32 * 2^32 before the division */
    if (__builtin_mul_overflow(ticks / denom, (uint64_t)numer, &whole) ||
        __builtin_add_overflow(whole, rest, &whole))
        return pp_missing(PP_E_OVERFLOW);
    return pp_known(whole);
}

bool pp_rate_per_second(uint64_t delta, int64_t elapsed_ns, double *ret_per_second) {
    if (elapsed_ns <= 0)
        return false;
    *ret_per_second = (double)delta * 1e9 / (double)elapsed_ns;
    return true;
}

bool pp_cpu_percent(uint64_t delta_ns, int64_t elapsed_ns, double *ret_percent) {
    if (elapsed_ns <= 0)
        return false;
    *ret_percent = (double)delta_ns * 100 / (double)elapsed_ns;
    return true;
}
