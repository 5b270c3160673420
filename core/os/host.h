/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_HOST_H
#define PAIRPERF_HOST_H

#include <stdbool.h>
#include <stddef.h>

#include "os.h"
#include "pairperf/status.h"

/* How this process becomes the host of one command's tree. Each system implements these calls;
 * the supervisor and the client side call nothing below them. */

typedef struct pp_host_options {
    int channel_fd;           /* stream socket to the harness, or -1; stays the caller's */
    int run_dir_fd;           /* directory for kept files, or -1; stays the caller's */
    bool terminal_foreground; /* the leader keeps our stdin, stdout and stderr and gets the
                                 terminal until it is reaped */
} pp_host_options;

/* Makes this process the host: adopts orphans where the system can, blocks what it waits for,
 * ignores terminal signals, raises its own descriptor limit and probes the capabilities. One
 * thread, at most one host per process, no child yet.
 *
 * ret_os   every function set; ctx belongs to the host until pp_host_close()
 *
 * Errors   PP_E_UNSUPPORTED  the system lacks what nothing can replace
 *          PP_E_INVALID      PP_KERNEL is set to something unknown
 *          PP_E_SYS          a descriptor or a setting was refused
 * Owns     all that it opened; nothing stays changed on failure
 */
pp_status pp_host_open(const pp_host_options *options, pp_os *ret_os, pp_error *reterr);

/* Gives back what pp_host_open() took and changed. NULL or a closed one is fine. Signals nobody:
 * processes that still live stay alive. */
void pp_host_close(pp_os *os);

/* The clocks of pp_os.now, for processes that host nothing. */
pp_status pp_host_now(pp_now *ret_now, pp_error *reterr);

/* Directory of the running executable, absolute, without a trailing slash (but "/" itself).
 *
 * Errors   PP_E_SYS    the system does not tell
 *          PP_E_NOMEM  `size` is too small
 */
pp_status pp_host_self_exe_dir(char *buf, size_t size, pp_error *reterr);

/* The harness as the net under its supervisors: orphans below this process become its children
 * from now on. PP_E_UNSUPPORTED: not on this system. */
pp_status pp_host_adopt(pp_error *reterr);

/* A host that starts nothing and changes nothing of this process. Set are list_own_children,
 * identify, inspect, signal, reap and the leaf's functions alone; ctx belongs to it until
 * pp_host_net_close().
 *
 * leaf  directory of a lost supervisor's leaf, as that supervisor told; NULL, or removed meanwhile:
 *       none
 */
pp_status pp_host_net_open(const char *leaf, pp_os *ret_os, pp_error *reterr);
/* Removes the leaf. A failure says why it stays (EBUSY: somebody lives in it); all else is closed
 * anyway. */
pp_status pp_host_net_close(pp_os *os, pp_error *reterr);

/* Was the process that has this number now started with "NAME=value" in its environment? */
bool pp_host_started_with(int32_t pid, const char *assignment);

#endif
