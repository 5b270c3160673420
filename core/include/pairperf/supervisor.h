/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_SUPERVISOR_H
#define PAIRPERF_SUPERVISOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pairperf/proc.h"
#include "pairperf/stop.h"

/* Client side of the supervisor: a small process of ours that owns ONE started command, samples
 * its tree, observes exits, stops it and proves it gone. It keeps its cadence whatever the caller
 * does, and when the caller dies it stops the tree and saves what is unsaved.
 *
 * Everything after start() is asynchronous: requests return at once, pp_supervisors_pump() moves
 * bytes and writes the evidence files, pp_supervisor_look() tells what is known.
 */
typedef struct pp_supervisor pp_supervisor;

typedef struct pp_supervisor_options {
    const char *exe_path;     /* pairperf-supervisor; NULL: beside our executable, then the
                                 installed one */
    const char *run_dir;      /* existing directory for captured output and last-resort saves */
    const char *samples_path; /* frames are appended here; NULL: not kept */
    const char *events_path;  /* events and the verdict; NULL: not kept */
    int lock_fd;              /* kept open by the supervisor until it ends; <= 0: none */
} pp_supervisor_options;

/* A harness must outlive a reader of its output that goes away. This ignores SIGPIPE for this
 * process alone: commands started by supervisors get back what it was before. */
void pp_supervisor_ignore_sigpipe(void);

/* Starts a supervisor and exchanges build ids (at most 10 s).
 *
 * Errors   PP_E_SYS       a system call failed; op names it
 *          PP_E_PROTOCOL  another build answered
 *          PP_E_TIMEOUT, PP_E_CLOSED
 * Owns     *ret_supervisor; free it with pp_supervisor_free()
 */
pp_status pp_supervisor_start(const pp_supervisor_options *options, pp_supervisor **ret_supervisor,
                              pp_error *reterr);

/* Closes the channel. A supervisor that still has a tree then ends it (TERM, 1 s, KILL) and saves
 * its verdict into run_dir; this waits for its end: 20 s, then SIGKILL and 5 s. Again: looks once
 * more. Only free() and look() are left then.
 *
 * Errors   PP_E_TIMEOUT  it hangs in the kernel and stays behind; nothing but what was told
 *                        before is known of its tree
 */
pp_status pp_supervisor_close(pp_supervisor *supervisor, pp_error *reterr);

/* Closes, and releases what is ours. NULL is fine. */
void pp_supervisor_free(pp_supervisor *supervisor);

typedef struct pp_spawn_options {
    const char *path;  /* executable, absolute */
    char *const *argv; /* NULL-terminated */
    char *const *envp; /* NULL-terminated, complete */
    const char *cwd;   /* absolute */
    bool capture;      /* stdout and stderr into files of run_dir; else discarded */
    const char *stdout_name, *stderr_name; /* when capture */
    uint64_t output_cap_bytes;             /* per stream */
    bool track;                            /* sample the tree; else only supervise it */
    int64_t interval_ns; /* of tracking frames; held at 1 s at most, 50 ms in the first second */
    const char *const *expected; /* globs of declared helpers, NULL-terminated; may be NULL */
    bool reap_escapees;          /* end processes that left the group, too */
    int64_t latest_end_ns;       /* t_ns at which the tree is ended whatever happens; 0: never */
    const char *const *writable; /* absolute, NULL-terminated: it and all that it starts can write
                                    below these and nowhere else; NULL: anywhere */
} pp_spawn_options;

/* Starts the command; waits for the answer (at most 30 s).
 *
 * ret_leader  the command's process, leader of a new group in a new session
 * Errors      PP_E_SYS and others: op and sys_errno name the step that failed in the child
 *             ("chdir", "execve", ...), detail the path; nothing half-started stays
 *             PP_E_UNSUPPORTED: `writable` was asked for and cannot be had
 */
pp_status pp_supervisor_spawn(pp_supervisor *supervisor, const pp_spawn_options *options,
                              pp_proc_id *ret_leader, pp_error *reterr);

/* Begins a window: a boundary frame now, one every interval_ns on absolute deadlines, a closing
 * frame at duration_ns. PP_E_INVALID: not positive, nothing tracked, or a window is open
 * already. */
pp_status pp_supervisor_sample(pp_supervisor *supervisor, int64_t duration_ns, int64_t interval_ns,
                               pp_error *reterr);

/* Asks for the end (GRP-4). The verdict comes by look(). Asking again changes nothing. */
pp_status pp_supervisor_stop(pp_supervisor *supervisor, bool group_first, int64_t grace_ns,
                             int64_t verify_ns, pp_error *reterr);

typedef enum pp_supervisor_phase {
    PP_SUPERVISOR_IDLE = 0, /* nothing spawned */
    PP_SUPERVISOR_RUNNING,
    PP_SUPERVISOR_EXITED, /* the leader exited and stays pinned */
    PP_SUPERVISOR_STOPPING,
    PP_SUPERVISOR_DONE, /* the verdict is here */
    PP_SUPERVISOR_LOST  /* the supervisor died: nothing is verified */
} pp_supervisor_phase;

/* A look at what is known; strings and bytes belong to the supervisor object and live until the
 * next pump. */
typedef struct pp_supervisor_view {
    pp_supervisor_phase phase;
    pp_proc_id leader;
    const char *leaf; /* directory of the command's own cgroup (Linux); NULL: it has none */
    bool exited;
    pp_exit exit;
    uint32_t window; /* id of the last window asked for; 0: none */
    bool window_done;
    uint64_t window_frames, window_missed;
    uint64_t frames;   /* received in all */
    int64_t live_t_ns; /* of the latest frame; 0: none yet */
    uint32_t live_processes;
    pp_reading live_rss_bytes;
    pp_reading live_cpu_ns;   /* conservation total */
    uint64_t escapes;         /* processes that left the group or session, ever */
    uint64_t output_bytes[2]; /* stdout, stderr: seen, kept or not */
    bool output_truncated[2];
    pp_status output_failure;              /* PP_OK, or why kept output could not be written */
    int output_errno;                      /* of that; 0: not a failed call */
    pp_verdict verdict;                    /* when DONE */
    bool forced;                           /* SIGKILL was needed */
    const char *verdict_json, *frame_json; /* latest records, not terminated; NULL: none */
    size_t verdict_size, frame_size;
    pp_error error; /* status != PP_OK: channel or evidence failed; says how */
} pp_supervisor_view;

void pp_supervisor_look(const pp_supervisor *supervisor, pp_supervisor_view *ret_view);

/* Serves all given supervisors until something arrived for one of them, extra_fd became readable
 * (-1: none), or timeout_ns passed.
 *
 * Errors   PP_E_SYS  poll failed. Troubles of one supervisor are in its view, not here.
 */
pp_status pp_supervisors_pump(pp_supervisor *const *supervisors, size_t count, int extra_fd,
                              int64_t timeout_ns, pp_error *reterr);

const char *pp_supervisor_phase_name(pp_supervisor_phase phase);

#endif
