/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PP_MUTANT_H
#define PP_MUTANT_H

#include <stdbool.h>

/* Faults put in by hand, to see that tests notice. A build with PAIRPERF_MUTANTS has them all, one
 * of them awake if PP_MUTANT names it; in every other build this is a constant and nothing stays of
 * them. Each name stands in exactly one place. */
#ifdef PP_MUTANTS
#include <stdlib.h>
#include <string.h>

static inline bool pp__mutant_is(const char *name) {
    static const char *chosen;

    if (!chosen)
        chosen = getenv("PP_MUTANT") ? getenv("PP_MUTANT") : "";
    return strcmp(chosen, name) == 0;
}
#define PP_MUTANT_IS(name) pp__mutant_is(name)
#else
#define PP_MUTANT_IS(name) false
#endif

#endif
