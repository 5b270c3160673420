/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_DARWIN_DECODE_H
#define PAIRPERF_DARWIN_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "pairperf/proc.h"

/* Darwin's raw records, decoded. Pure: no system call, no clock, runs on any system.
 *
 * Errors   PP_E_MALFORMED unless said otherwise: the bytes cannot be what the kernel writes
 * Source   layouts of darwin_abi.h
 */

/* One process as one record shows it. An exit that has begun counts as ZOMBIE: usage is frozen,
 * a group signal passes it by, and like a zombie it still has to vanish. */
typedef struct pp_dw_seen {
    int32_t pid, ppid, pgid;
    uint64_t start_us; /* since the epoch, as taken at fork; kept across exec */
    pp_phase phase;
    char name[33];
} pp_dw_seen;

/* A struct kinfo_proc of exactly `size` bytes. */
pp_status pp__dw_decode_kinfo(const void *bytes, size_t size, pp_dw_seen *ret_seen);
/* A struct proc_bsdinfo of exactly `size` bytes. */
pp_status pp__dw_decode_bsdinfo(const void *bytes, size_t size, pp_dw_seen *ret_seen);

/* Nanoseconds of one Mach tick, as a fraction (125/3 on Apple silicon so far). */
typedef struct pp_dw_timebase {
    uint32_t numer, denom;
} pp_dw_timebase;

/* Bytes that proc_pid_rusage writes for version 0, 4 or 6. */
size_t pp__dw_rusage_size(int version);

/* Fills the fields of *ret_usage that a rusage record of this version holds; the others become
 * UNSUPPORTED. In an exit record memory is missing (VANISHED): its 0 is not a measurement. */
void pp__dw_decode_rusage(const void *bytes, int version, pp_dw_timebase timebase,
                          pp_usage *ret_usage);
/* When the process was forked, in ticks; 0 when the kernel does not say. */
uint64_t pp__dw_rusage_start_ticks(const void *bytes);

/* What waitid(P_PID, pid, ...) left in a siginfo that was all zero before the call.
 *
 * PP_OK        the child exited; *ret_exit says how (cpu_ns missing)
 * PP_E_AGAIN   nothing was reported, or a stop or a continue
 */
pp_status pp__dw_decode_siginfo(const void *bytes, int32_t pid, pp_exit *ret_exit);

#endif
