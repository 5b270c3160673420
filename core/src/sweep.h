/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PP_SWEEP_INTERNAL_H
#define PP_SWEEP_INTERNAL_H

#include <stdbool.h>

#include "os.h"
#include "pairperf/sweep.h"

/* One look at the own children of the process behind `os`: those of the order are signalled or
 * reaped, the rest is noted. own_group is never swept.
 *
 * ret_busy  one of the order's was met
 */
typedef bool (*pp_started_with)(int32_t pid, const char *assignment);
/* Notes who is in the leaf and sends SIGKILL to all of them. */
pp_status pp__sweep_leaf(pp_os *os, pp_sweep *sweep, pp_error *reterr);
pp_status pp__sweep_pass(pp_os *os, const pp_sweep_order *order, int32_t own_group,
                         pp_started_with started_with, pp_sweep *sweep, bool *ret_busy,
                         pp_error *reterr);

#endif
