/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_LINUX_DECODE_H
#define PAIRPERF_LINUX_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os.h"
#include "pairperf/reading.h"
#include "pairperf/status.h"

/* Bytes of the process file system to values, without any system call. Input need not be
 * terminated. What does not parse is PP_E_MALFORMED; a key that is absent where kernels differ is
 * a reading that is missing with PP_E_UNSUPPORTED. */

#define PP_LINUX_COMM_MAX 64

/* /proc/PID/stat, split at the last ')': a name may hold brackets and spaces. */
typedef struct pp_linux_stat {
    int32_t pid;
    char comm[PP_LINUX_COMM_MAX]; /* terminated; escaped by the kernel */
    char state;
    int32_t ppid, pgid, sid;
    uint64_t child_user_ticks, child_system_ticks; /* of children it waited for */
    uint64_t threads;
    uint64_t start_ticks;
} pp_linux_stat;

pp_status pp__linux_decode_stat(const char *bytes, size_t size, pp_linux_stat *ret_stat,
                                pp_error *reterr);

/* /proc/PID/statm. A total of 0 pages means: no address space (any more). */
typedef struct pp_linux_statm {
    uint64_t total_pages, resident_pages;
} pp_linux_statm;

pp_status pp__linux_decode_statm(const char *bytes, size_t size, pp_linux_statm *ret_statm,
                                 pp_error *reterr);

/* /proc/PID/io. */
typedef struct pp_linux_io {
    pp_reading write_bytes, cancelled_write_bytes;
} pp_linux_io;

pp_status pp__linux_decode_io(const char *bytes, size_t size, pp_linux_io *ret_io,
                              pp_error *reterr);

/* /proc/PID/status or /proc/PID/task/TID/status. */
typedef struct pp_linux_status {
    bool sigchld_ignored;
    pp_reading voluntary_switches, involuntary_switches;
    pp_reading page_table_bytes; /* VmPTE; absent without an address space */
} pp_linux_status;

pp_status pp__linux_decode_status(const char *bytes, size_t size, pp_linux_status *ret_status,
                                  pp_error *reterr);

/* /proc/PID/smaps_rollup. */
typedef struct pp_linux_rollup {
    pp_reading rss_bytes, pss_bytes, pss_anon_bytes, pss_shmem_bytes;
    pp_reading private_clean_bytes, private_dirty_bytes, swap_bytes, swap_pss_bytes;
} pp_linux_rollup;

pp_status pp__linux_decode_rollup(const char *bytes, size_t size, pp_linux_rollup *ret_rollup,
                                  pp_error *reterr);

/* /proc/PID/task/TID/children in full: appends to *list. */
pp_status pp__linux_decode_children(const char *bytes, size_t size, pp_pid_list *list,
                                    pp_error *reterr);

/* Result of getdents64 on /proc or on a task directory: appends the all-digit names. */
pp_status pp__linux_decode_numbers(const char *bytes, size_t size, pp_pid_list *list,
                                   pp_error *reterr);

#endif
