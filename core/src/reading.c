/* SPDX-License-Identifier: Apache-2.0 */
/* A sum never hides a missing part: the known part keeps growing beside the count of what is
 * missing, and once 64 bits are left the sum has no value any more. */
#include "pairperf/reading.h"

void pp_sum_add(pp_sum *sum, pp_reading part) {
    sum->parts++;
    if (!part.known) {
        if (sum->missing++ == 0 || part.why < sum->why)
            sum->why = part.why;
        return;
    }
    if (__builtin_add_overflow(sum->known, part.value, &sum->known))
        sum->overflow = true;
}

pp_reading pp_sum_total(const pp_sum *sum) {
    if (sum->overflow)
        return pp_missing(PP_E_OVERFLOW);
    if (sum->missing > 0)
        return pp_missing(sum->why);
    return pp_known(sum->known);
}
