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
#define PP_LINUX_CGROUP_PATH_MAX 4096

/* /proc/PID/stat, split at the last ')': a name may hold brackets and spaces. */
typedef struct pp_linux_stat {
    int32_t pid;
    char comm[PP_LINUX_COMM_MAX]; /* terminated; escaped by the kernel */
    char state;
    int32_t ppid, pgid, sid;
    uint64_t own_faults, child_faults;             /* minor ones; of children it waited for */
    uint64_t child_user_ticks, child_system_ticks; /* of children it waited for */
    uint64_t threads;
    uint64_t start_ticks;
    bool sigchld_ignored;
} pp_linux_stat;

pp_status pp__linux_decode_stat(const char *bytes, size_t size, pp_linux_stat *ret_stat,
                                pp_error *reterr);

/* /proc/PID/statm. A total of 0 pages means: no address space (any more). */
typedef struct pp_linux_statm {
    uint64_t total_pages, resident_pages;
} pp_linux_statm;

pp_status pp__linux_decode_statm(const char *bytes, size_t size, pp_linux_statm *ret_statm,
                                 pp_error *reterr);

/* /proc/PID/task/TID/schedstat: the thread's time on a CPU in ns. */
pp_status pp__linux_decode_schedstat(const char *bytes, size_t size, uint64_t *ret_time_ns,
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
    pp_reading rss_bytes;        /* VmRSS; likewise */
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

/* cpu.stat of a cgroup, in ns. */
typedef struct pp_linux_cpu_stat {
    pp_reading cpu_ns, user_ns, system_ns;
} pp_linux_cpu_stat;

pp_status pp__linux_decode_cpu_stat(const char *bytes, size_t size, pp_linux_cpu_stat *ret_stat,
                                    pp_error *reterr);

/* memory.stat of a cgroup. */
typedef struct pp_linux_memory_stat {
    pp_reading anon_bytes, file_bytes, kernel_bytes, shmem_bytes;
} pp_linux_memory_stat;

pp_status pp__linux_decode_memory_stat(const char *bytes, size_t size,
                                       pp_linux_memory_stat *ret_stat, pp_error *reterr);

/* cgroup.events: does anybody live in it or below? */
pp_status pp__linux_decode_populated(const char *bytes, size_t size, bool *ret_populated,
                                     pp_error *reterr);

/* decode_notice.c: a datagram of the kernel's process-event connector. */
typedef enum pp_linux_notice_kind {
    PP_LINUX_NOTICE_OTHER = 0,
    PP_LINUX_NOTICE_ANSWER, /* to the asking */
    PP_LINUX_NOTICE_PROCESS,
    PP_LINUX_NOTICE_THREAD,
    PP_LINUX_NOTICE_EXIT, /* of a thread, the last one ends the process */
} pp_linux_notice_kind;

typedef struct pp_linux_notice {
    pp_linux_notice_kind kind;
    int32_t pid;    /* PROCESS: the new one; THREAD, EXIT: the process that it belongs to */
    int32_t parent; /* PROCESS: whose child it is */
    int sys_errno;  /* ANSWER: 0, or why there will be none */
} pp_linux_notice;

pp_status pp__linux_decode_notice(const char *bytes, size_t size, pp_linux_notice *ret_notice,
                                  pp_error *reterr);

/* decode_cgroup.c */
/* cgroup.procs: appends to *list. A pid of another namespace (0) is PP_E_MALFORMED. */
pp_status pp__linux_decode_procs(const char *bytes, size_t size, pp_pid_list *list,
                                 pp_error *reterr);
/* One figure and a line end, as in memory.current. */
pp_status pp__linux_decode_figure(const char *bytes, size_t size, uint64_t *ret_value,
                                  pp_error *reterr);
/* io.stat: sums over the devices; one that shows no figures adds nothing. */
pp_status pp__linux_decode_io_stat(const char *bytes, size_t size, uint64_t *ret_read_bytes,
                                   uint64_t *ret_write_bytes, pp_error *reterr);
/* The cgroup2 path ("/" or "/a/b") in /proc/PID/cgroup. PP_E_UNSUPPORTED: there is none. */
pp_status pp__linux_decode_own_cgroup(const char *bytes, size_t size, char *ret_path,
                                      size_t capacity, pp_error *reterr);
/* From /proc/self/mountinfo: the directory that shows the cgroup `path` in the cgroup2 mount
 * number `skip` of those that show it. PP_E_UNSUPPORTED: there are no more. */
pp_status pp__linux_decode_cgroup_dir(const char *bytes, size_t size, const char *path, size_t skip,
                                      char *ret_dir, size_t capacity, pp_error *reterr);
/* The parts of a leaf's name. False: it is no such name. */
typedef struct pp_linux_leaf_owner {
    int32_t pid;
    uint64_t start_ticks;
    uint64_t namespace; /* in which that pid counts */
} pp_linux_leaf_owner;

bool pp__linux_decode_leaf_name(const char *name, pp_linux_leaf_owner *ret_owner);

/* decode_acl.c: the extended attribute system.posix_acl_access as "user::rw-,user:1000:rw-,..." in
 * the kernel's order. The caller frees it. */
pp_status pp__linux_decode_acl(const void *bytes, size_t size, char **ret_text, pp_error *reterr);

/* The names in a result of getdents64; false when `at` stands at the end or at nonsense. */
bool pp__linux_next_name(const char *bytes, size_t size, size_t *at, const char **ret_name);

/* Result of getdents64 on /proc or on a task directory: appends the all-digit names. */
pp_status pp__linux_decode_numbers(const char *bytes, size_t size, pp_pid_list *list,
                                   pp_error *reterr);

#endif
