/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_CANCEL_H
#define PAIRPERF_CANCEL_H

#include <stdbool.h>
#include <stdint.h>

#include "pairperf/status.h"

/* SIGINT, SIGTERM and SIGHUP as a request to stop (CAN-1). The handler only remembers; nothing is
 * interrupted but system calls (EINTR). One per process; the handlers stay until it ends.
 */
typedef struct pp_cancel {
    int signal_number; /* the first that came */
    unsigned count;    /* of all that came */
    int64_t t_ns;      /* when the first came, on the clock of pp_now.t_ns */
} pp_cancel;

/* Installs the handlers; again is harmless. A signal that was ignored stays ignored.
 *
 * Errors  PP_E_SYS  pipe, fcntl or sigaction failed
 */
pp_status pp_cancel_install(pp_error *reterr);

/* Did a signal come? Fills *ret_cancel (may be NULL) when so. */
bool pp_cancel_requested(pp_cancel *ret_cancel);

/* Readable from the first signal on, for ever: who has seen it leaves it out of the next poll.
 * -1 before pp_cancel_install(). Close-on-exec; never read from it. */
int pp_cancel_fd(void);

#endif
