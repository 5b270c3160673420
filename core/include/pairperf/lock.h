/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_LOCK_H
#define PAIRPERF_LOCK_H

#include "pairperf/status.h"

#define PP_LOCK_SESSION "pairperf-session"

/* A lock that at most one process family of the machine holds, without a file. It lasts until the
 * last copy of the descriptor is closed; whoever inherits it holds it too.
 *
 * Linux  a listening abstract socket "@<name>": one per network namespace
 * macOS  flock on a read-only descriptor of "/", or of the file `name` when that begins with "/"
 *
 * name    1 to 100 bytes
 * ret_fd  close-on-exec; the caller closes it
 *
 * Errors  PP_E_EXISTS   somebody holds it; detail names a process by id and start token: on Linux
 *                       who took it (it may be gone while others still hold the lock), on macOS one
 *                       of our own programs that has the file open; where the system tells
 *         PP_E_INVALID  the name is empty or too long
 *         PP_E_SYS      any other failed call
 */
pp_status pp_lock_acquire(const char *name, int *ret_fd, pp_error *reterr);

#endif
