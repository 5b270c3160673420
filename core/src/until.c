/* SPDX-License-Identifier: Apache-2.0 */
/* What did not happen yet has a lower bound and no upper one. Infinity stands for that upper bound
 * while bounds are sorted; it is never averaged into a number and never written out. */
#include <math.h>
#include <stdlib.h>

#include "pairperf/window.h"

const char *pp_until_outcome_name(pp_until_outcome outcome) {
    switch (outcome) {
    case PP_UNTIL_OBSERVED:
        return "observed";
    case PP_UNTIL_RIGHT_CENSORED:
        return "right_censored";
    case PP_UNTIL_UNOBSERVED:
        break;
    }
    return "unobserved";
}

pp_until pp_time_until(const pp_until_sample *samples, size_t count) {
    if (count == 0)
        return (pp_until){ .outcome = PP_UNTIL_UNOBSERVED, .high_ms = (double)INFINITY };
    double low_ms = 0;
    for (size_t i = 0; i < count; i++) {
        if (!samples[i].holds)
            return (pp_until){ .outcome = PP_UNTIL_OBSERVED,
                               .low_ms = low_ms,
                               .high_ms = samples[i].t_ms };
        low_ms = samples[i].t_ms;
    }
    return (pp_until){ .outcome = PP_UNTIL_RIGHT_CENSORED,
                       .low_ms = low_ms,
                       .high_ms = (double)INFINITY };
}

static int compare(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

static double median(const double *sorted, size_t count) {
    size_t half = count / 2;
    return count % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

pp_status pp_censored_summarize(const pp_until *results, size_t count,
                                pp_censored_summary *ret_summary, pp_error *reterr) {
    double *bounds = calloc(2 * count + 1, sizeof *bounds);
    if (bounds == NULL)
        return pp_fail(reterr, PP_E_NOMEM, 0, "censored_summary", "%zu results", count);
    double *low = bounds, *high = bounds + count;
    pp_censored_summary summary = { 0 };
    for (size_t i = 0; i < count; i++) {
        if (results[i].outcome == PP_UNTIL_UNOBSERVED)
            continue;
        bool censored = results[i].outcome == PP_UNTIL_RIGHT_CENSORED;
        low[summary.count] = results[i].low_ms;
        high[summary.count] = censored ? (double)INFINITY : results[i].high_ms;
        summary.count++;
        summary.right_censored += censored;
    }
    if (summary.count > 0) {
        qsort(low, summary.count, sizeof *low, compare);
        qsort(high, summary.count, sizeof *high, compare);
        summary.median_low_ms = median(low, summary.count);
        summary.median_high_ms = median(high, summary.count);
        summary.max_low_ms = low[summary.count - 1];
        summary.max_high_ms = high[summary.count - 1];
    }
    free(bounds);
    *ret_summary = summary;
    return PP_OK;
}
