/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_READING_H
#define PAIRPERF_READING_H

#include <stdbool.h>
#include <stdint.h>

#include "pairperf/status.h"

/* A number that may be missing. Zero-initialised memory reads as "not measured". */
typedef struct pp_reading {
    bool known;
    uint64_t value;
    pp_status why; /* when !known */
} pp_reading;

static inline pp_reading pp_known(uint64_t value) {
    return (pp_reading){ .known = true, .value = value };
}

static inline pp_reading pp_missing(pp_status why) {
    return (pp_reading){ .why = why };
}

/* A sum over readings: known only if every part is and 64 bits suffice. */
typedef struct pp_sum {
    uint64_t known; /* sum of the parts that were known */
    size_t parts;   /* parts added, known or not */
    size_t missing; /* parts that were not known */
    bool overflow;  /* `known` left 64 bits and is then meaningless */
    pp_status why;  /* of what is missing: the first one in the list of status.h */
} pp_sum;

void pp_sum_add(pp_sum *sum, pp_reading part);

/* The total, or why there is none (OVERFLOW, or `why`): the order of the parts does not matter. */
pp_reading pp_sum_total(const pp_sum *sum);

#endif
