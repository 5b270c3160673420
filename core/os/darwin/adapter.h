/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_DARWIN_ADAPTER_H
#define PAIRPERF_DARWIN_ADAPTER_H

#include "darwin_sys.h"
#include "decode.h"
#include "os.h"

/* What is kept of an identity between two looks: it cannot be read again once it exits. */
typedef struct pp_dw_known {
    pp_proc_id id;
    int32_t sid;
    uint64_t start_ns;
    char name[33]; /* when exe was read; another one asks for a new look */
    char exe[PP_EXE_MAX];
} pp_dw_known;

/* One captured stream. */
typedef struct pp_dw_stream {
    int pipe_fd; /* read end; -1: not captured or at its end */
    int file_fd;
    uint64_t kept;
} pp_dw_stream;

/* pp_os over the raw Darwin calls. No Apple header, no Darwin-only call: everything here also runs
 * over a scripted table on another system. Error numbers are the host's.
 */
typedef struct pp_darwin {
    pp_darwin_sys sys; /* borrowed by value; whoever opened it releases it */
    int32_t self_pid;
    int channel_fd;     /* borrowed; -1: none */
    int run_dir_fd;     /* borrowed; -1: none */
    bool channel_ended; /* told once: not waited for any more */
    pp_dw_timebase timebase;
    int rusage_version; /* best that the kernel takes: 6, then 4, then 0 */
    pp_dw_known *known; /* one per pid, in no order */
    size_t known_count, known_capacity;
    pp_dw_stream streams[2]; /* stdout, stderr */
    uint64_t output_cap_bytes;
    pp_output_state output;
} pp_darwin;

/* Reads the timebase and fills *ret_os, whose ctx is `darwin` and must outlive it.
 *
 * darwin   sys, self_pid, channel_fd and run_dir_fd are set by the caller
 * Errors   PP_E_REFUSED    a translated (Rosetta) process: its ticks cannot be converted
 *          PP_E_MALFORMED  a timebase with a zero, for the same reason
 */
pp_status pp__darwin_init(pp_darwin *darwin, pp_os *ret_os, pp_error *reterr);
/* Frees what init and later calls took, not sys and the descriptors. */
void pp__darwin_done(pp_darwin *darwin);

/* One KERN_PROC_PID record. Also the token of an exited, unreaped process.
 *
 * Errors   PP_E_VANISHED  no such process; else as pp_status_from_errno or PP_E_MALFORMED
 */
pp_status pp__dw_kinfo(pp_darwin *darwin, int32_t pid, pp_dw_seen *ret_seen, pp_error *reterr);
/* One TBSDINFO record, exited ones too. PP_E_DENIED for another effective user's process. */
pp_status pp__dw_bsdinfo(pp_darwin *darwin, int32_t pid, pp_dw_seen *ret_seen, pp_error *reterr);
/* The identity still is what `id` says: PP_OK, PP_E_VANISHED or PP_E_STALE, or a failed read. */
pp_status pp__dw_check(pp_darwin *darwin, pp_proc_id id, pp_dw_seen *ret_seen, pp_error *reterr);
/* Raw usage in the best version there is; `buffer` holds PP_DW_RUSAGE_V6_SIZE bytes. */
pp_status pp__dw_rusage(pp_darwin *darwin, int32_t pid, void *buffer, pp_error *reterr);
/* The records of a group; the caller frees *ret_seen. */
pp_status pp__dw_group(pp_darwin *darwin, int32_t pgid, pp_dw_seen **ret_seen, size_t *ret_count,
                       pp_error *reterr);

/* PP_E_REFUSED for a translated (Rosetta) process. */
pp_status pp__dw_refuse_translated(const pp_darwin_sys *sys, pp_error *reterr);
/* The three clocks. */
pp_status pp__dw_now(pp_darwin *darwin, pp_now *ret_now, pp_error *reterr);

/* The functions of pp_os that have a file of their own. */
void pp__dw_forget(void *ctx, pp_proc_id id);
pp_status pp__dw_identify(void *ctx, int32_t pid, pp_proc_info *ret_info, pp_error *reterr);
pp_status pp__dw_inspect(void *ctx, pp_proc_id id, pp_proc_info *ret_info, pp_error *reterr);
pp_status pp__dw_usage(void *ctx, pp_proc_id id, bool with_switches, pp_usage *ret_usage,
                       pp_error *reterr);
pp_status pp__dw_own_cost(void *ctx, pp_reading *ret_cpu_ns, pp_reading *ret_rss_bytes,
                          pp_error *reterr);
pp_status pp__dw_list_group(void *ctx, int32_t pgid, pp_pid_list *ret_pids, pp_error *reterr);
pp_status pp__dw_list_children(void *ctx, int32_t pid, pp_pid_list *ret_pids, pp_error *reterr);
pp_status pp__dw_list_own_children(void *ctx, pp_pid_list *ret_pids, pp_error *reterr);
pp_status pp__dw_spawn(void *ctx, const pp_command *command, pp_proc_id *ret_id, pp_error *reterr);
pp_status pp__dw_observe_exit(void *ctx, pp_proc_id id, pp_exit *ret_exit, pp_error *reterr);
pp_status pp__dw_reap(void *ctx, pp_proc_id id, pp_exit *ret_exit, pp_reading *ret_write_bytes,
                      pp_error *reterr);
pp_status pp__dw_signal(void *ctx, pp_proc_id id, int signal_number, pp_error *reterr);
pp_status pp__dw_signal_group(void *ctx, pp_proc_id leader, int signal_number, pp_error *reterr);
pp_status pp__dw_capability(void *ctx, size_t index, const char **ret_name, pp_status *ret_state,
                            int *ret_errno, const char **ret_consequence);

/* A call that a signal may interrupt is repeated this often, a list that does not fit is grown this
 * often. */
enum { PP_DW_TRIES = 10 };

#endif
