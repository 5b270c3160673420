/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_DARWIN_SYS_H
#define PAIRPERF_DARWIN_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The raw calls under the Darwin adapter: arguments and results as on Darwin, buffers hold raw
 * Darwin bytes, errno comes out beside the result (host numbering). The real table (sys_real.c) is
 * thin: it hides nothing, not even EINTR. Tests script a table of their own on any system.
 */

typedef enum pp_dw_clock { PP_DW_UPTIME_RAW, PP_DW_MONOTONIC_RAW, PP_DW_REALTIME } pp_dw_clock;

/* A child to start in a process group of its own, default signal dispositions, empty mask, nothing
 * inherited but the three descriptors. */
typedef struct pp_dw_spawn {
    const char *path;
    char *const *argv;
    char *const *envp;
    const char *cwd;
    int stdio[3]; /* become 0, 1 and 2 */
} pp_dw_spawn;

/* What to wait for; a descriptor below 0 is not watched. */
typedef struct pp_dw_watch {
    int channel;
    bool channel_writable;
    int output[2];
} pp_dw_watch;

enum { /* bits of events() */
       PP_DW_EVENT_CHILD = 1,
       PP_DW_EVENT_READABLE = 2,
       PP_DW_EVENT_WRITABLE = 4,
       PP_DW_EVENT_OUTPUT = 8,
};

typedef struct pp_darwin_sys {
    void *ctx;

    /* A COUNT of pids, though the buffer is in bytes; cuts silently at a full buffer. 0 is nobody
     * when *ret_errno is 0 as well, else a failure. */
    int (*listchildpids)(void *ctx, int32_t ppid, void *buffer, int buffer_bytes, int *ret_errno);
    /* Bytes written; 0 is a failure. */
    int (*pidinfo)(void *ctx, int32_t pid, int flavor, uint64_t arg, void *buffer, int buffer_bytes,
                   int *ret_errno);
    /* Length of the path; 0 is a failure. */
    int (*pidpath)(void *ctx, int32_t pid, void *buffer, uint32_t buffer_bytes, int *ret_errno);

    /* The rest: 0, or -1 with *ret_errno. */
    int (*pid_rusage)(void *ctx, int32_t pid, int version, void *buffer, int *ret_errno);
    int (*sysctl)(void *ctx, const int *mib, unsigned mib_count, void *buffer, size_t *io_bytes,
                  int *ret_errno);
    int (*sysctlbyname)(void *ctx, const char *name, void *buffer, size_t *io_bytes,
                        int *ret_errno);
    int (*getsid)(void *ctx, int32_t pid, int32_t *ret_sid, int *ret_errno);
    /* waitid(P_PID, pid, siginfo, options) */
    int (*waitid)(void *ctx, int32_t pid, void *siginfo, int options, int *ret_errno);
    int (*kill)(void *ctx, int32_t pid, int signal_number, int *ret_errno);
    /* *ret_step names what failed: "chdir", "execve" or "posix_spawn"; a fixed string. */
    int (*spawn)(void *ctx, const pp_dw_spawn *request, int32_t *ret_pid, const char **ret_step,
                 int *ret_errno);
    int (*clock_ns)(void *ctx, pp_dw_clock clock, int64_t *ret_ns, int *ret_errno);
    int (*timebase)(void *ctx, uint32_t *ret_numer, uint32_t *ret_denom, int *ret_errno);
    /* Blocks up to timeout_ns (0: looks only); *ret_events is 0 when the time passed. */
    int (*events)(void *ctx, const pp_dw_watch *watch, int64_t timeout_ns, unsigned *ret_events,
                  int *ret_errno);
} pp_darwin_sys;

/* The system's own table (Darwin only). events() needs an opened one, which must be given back. */
void pp_darwin_sys_calls(pp_darwin_sys *ret_sys);
int pp_darwin_sys_open(pp_darwin_sys *ret_sys, int *ret_errno);
void pp_darwin_sys_done(pp_darwin_sys *sys);

#endif
