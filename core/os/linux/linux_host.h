/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_LINUX_HOST_H
#define PAIRPERF_LINUX_HOST_H

#include "host.h"
#include "linux_sys.h"

/* pp_host_open() over a chosen table of system calls.
 *
 * sys   NULL: the running kernel; else it must outlive the host
 */
pp_status pp_linux_host_open(const pp_linux_sys *sys, const pp_host_options *options, pp_os *ret_os,
                             pp_error *reterr);

/* pp_host_close(). */
void pp_linux_host_close(pp_os *os);

#endif
