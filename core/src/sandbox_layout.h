/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_SANDBOX_LAYOUT_H
#define PAIRPERF_SANDBOX_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

/* The one table behind sandbox.h: which variable points where in the home. */
typedef struct pp__sandbox_place {
    const char *name;
    const char *directory; /* relative to the home; "" = the home itself */
    bool is_private;       /* 0700 even if a template says otherwise */
} pp__sandbox_place;

extern const pp__sandbox_place pp__sandbox_places[];
extern const size_t pp__sandbox_place_count;

#define PP__SANDBOX_TMP "tmp"

#endif
