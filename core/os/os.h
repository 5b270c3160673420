/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_OS_H
#define PAIRPERF_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pairperf/proc.h"
#include "pairperf/status.h"

/* The host, decoded: all that the tracker, the stop machine and the supervisor loop may ask of a
 * system. One implementation per system in core/os/, one per test in tests/ (fakes, simulator).
 *
 * Rules that every implementation keeps:
 *  - only wait() may block, and memory() until its deadline;
 *  - a failed read is a typed status (pp_status_from_errno), never a zero and never an empty list;
 *  - a list is delivered whole or the call fails with PP_E_ENUMERATION (a full buffer means
 *    "maybe short": grow and retry within a bound);
 *  - no signal to pid <= 1 or group <= 1; no signal to an identity that was not validated in the
 *    same call.
 */

typedef struct pp_now {
    int64_t t_ns;    /* stops while the machine sleeps (Linux MONOTONIC, macOS UPTIME_RAW) */
    int64_t cont_ns; /* keeps counting in sleep (Linux BOOTTIME, macOS MONOTONIC_RAW) */
    int64_t wall_ns; /* since the epoch, UTC; for display only */
} pp_now;

/* What wait() woke for; any combination, none = the deadline passed. */
typedef struct pp_events {
    bool child;            /* some child changed state: observe and look for adopted ones */
    bool channel_readable; /* or closed: recv tells */
    bool channel_writable;
    bool output_readable; /* a captured stdout/stderr has data: drain_output() */
    bool timer;           /* the deadline passed */
} pp_events;

typedef struct pp_pid_list {
    int32_t *pids;
    size_t count;
    size_t capacity;
} pp_pid_list;

/* Frees the list's memory and empties it; NULL is fine. */
void pp_pid_list_done(pp_pid_list *list);
/* Appends; PP_E_NOMEM when memory is short. */
pp_status pp_pid_list_add(pp_pid_list *list, int32_t pid);

/* A child of ours that was over before anybody met it. */
typedef struct pp_orphan {
    pp_proc_info info; /* no `unique`; exe: its name in [brackets], or "[unread]" */
    pp_exit exit;
    bool stray;  /* it was outside the leaf when it ended */
    bool unseen; /* not looked at, or that was refused: of its info pid and group are known */
} pp_orphan;

typedef enum pp_output_mode { PP_OUTPUT_NULL = 0, PP_OUTPUT_CAPTURE } pp_output_mode;

/* The command to start. Strings belong to the caller and must stay valid during the call. */
typedef struct pp_command {
    const char *path;        /* executable, absolute */
    char *const *argv;       /* NULL-terminated */
    char *const *envp;       /* NULL-terminated; used as it is */
    const char *cwd;         /* absolute */
    pp_output_mode output;   /* NULL: both discarded; CAPTURE: to files in the run directory */
    const char *stdout_name; /* CAPTURE: file names inside the run directory, created 0600 */
    const char *stderr_name;
    uint64_t output_cap_bytes; /* per stream; what is beyond is read, counted and dropped */
    /* Absolute, NULL-terminated: it and all that it starts can write below these paths and nowhere
     * else, and gain no privileges; PP_E_UNSUPPORTED where that cannot be had. NULL: anywhere. */
    const char *const *writable;
    bool count_births; /* so that notices() tells */
} pp_command;

typedef struct pp_output_state {
    uint64_t stdout_bytes, stderr_bytes; /* seen, kept or not */
    bool stdout_truncated, stderr_truncated;
    pp_status failure; /* PP_OK, or why a kept file could not be written */
    int failure_errno; /* 0: not a failed call */
} pp_output_state;

/* One question and its answer: id is asked, the rest answered. */
typedef struct pp_memory_answer {
    pp_proc_id id;
    pp_memory memory; /* status PP_OK */
    pp_status status;
    int sys_errno;
    char op[32]; /* the failing step */
} pp_memory_answer;

typedef struct pp_os {
    void *ctx;

    pp_status (*now)(void *ctx, pp_now *ret_now, pp_error *reterr);
    /* Sleeps until something of pp_events happens or t_ns reaches deadline_ns. */
    pp_status (*wait)(void *ctx, int64_t deadline_ns, bool want_writable, pp_events *ret_events,
                      pp_error *reterr);

    /* Channel to the harness, non-blocking. PP_E_AGAIN: nothing now. PP_E_CLOSED: it is gone. */
    pp_status (*channel_send)(void *ctx, const void *bytes, size_t size, size_t *ret_sent,
                              pp_error *reterr);
    pp_status (*channel_recv)(void *ctx, void *bytes, size_t capacity, size_t *ret_received,
                              pp_error *reterr);

    /* Starts the leader in a process group of its own. On failure op and sys_errno name the step
     * of the child that failed ("chdir", "execve", ...) and nothing is left behind. */
    pp_status (*spawn)(void *ctx, const pp_command *command, pp_proc_id *ret_id, pp_error *reterr);

    /* Did this child of ours exit? Never reaps. PP_OK + *ret_exit: yes. PP_E_AGAIN: it lives.
     * PP_E_VANISHED: somebody else reaped it. Stopped is not exited. */
    pp_status (*observe_exit)(void *ctx, pp_proc_id id, pp_exit *ret_exit, pp_error *reterr);
    /* Reaps exactly this child. *ret_write_bytes: what its reaping added to our own I/O counter
     * (its whole life and that of the children it waited for), missing where unsupported. */
    pp_status (*reap)(void *ctx, pp_proc_id id, pp_exit *ret_exit, pp_reading *ret_write_bytes,
                      pp_error *reterr);
    /* Has this child of ours ended? The cheapest question about it. Never reaps. PP_E_AGAIN: it
     * lives. PP_E_VANISHED: it is no child of ours. */
    pp_status (*orphan_ended)(void *ctx, int32_t pid, pp_error *reterr);
    /* Reaps a child of ours by its number alone, which nobody else can have before that: there may
     * be thousands, so one look and no more is taken at each. PP_E_AGAIN: it lives. PP_E_VANISHED:
     * it is no child of ours. What it wrote is in the growth of own_written(). briefly: not even
     * that look. */
    pp_status (*reap_orphan)(void *ctx, int32_t pid, bool briefly, pp_orphan *ret_orphan,
                             pp_error *reterr);
    /* What this process wrote, and what the children wrote that it reaped. */
    pp_reading (*own_written)(void *ctx);
    /* After everything known was reaped: PP_OK = the kernel says we have no child left (ECHILD);
     * PP_E_AGAIN = there is one; PP_E_UNSUPPORTED where it would prove nothing (macOS). Reaps
     * nothing. Only to be called once the leader is reaped. */
    pp_status (*no_children_left)(void *ctx, pp_error *reterr);

    /* Pids that may be gone by the time you look; identify() each. */
    pp_status (*list_group)(void *ctx, int32_t pgid, pp_pid_list *ret_pids, pp_error *reterr);
    pp_status (*list_children)(void *ctx, int32_t pid, pp_pid_list *ret_pids, pp_error *reterr);
    /* Own children: the leader and, with adoption, orphans of its tree. Zombies included. Linux
     * lists them in the order in which they came. */
    pp_status (*list_own_children)(void *ctx, pp_pid_list *ret_pids, pp_error *reterr);

    /* One validated look: token, place, token again. PP_E_STALE when it changed inside. */
    pp_status (*identify)(void *ctx, int32_t pid, pp_proc_info *ret_info, pp_error *reterr);
    /* The same for an identity seen before. PP_E_VANISHED: it is reaped, and its parent has what it
     * used. PP_E_STALE: the number was reused, or is about to be given free. */
    pp_status (*inspect)(void *ctx, pp_proc_id id, pp_proc_info *ret_info, pp_error *reterr);
    /* Counters of a validated identity; single fields may be missing with their own reason.
     * After identify() or inspect() the waited-for CPU, the faults and the thread count are of that
     * look; so is the CPU time, if that was not longer than a millisecond ago. Without one they are
     * read now. PP_E_VANISHED and PP_E_STALE are as inspect() says.
     * with_switches: per-thread reads, dear. The call fails only if the process as a whole is
     * gone, stale or unreadable. */
    pp_status (*usage)(void *ctx, pp_proc_id id, bool with_switches, pp_usage *ret_usage,
                       pp_error *reterr);
    /* Figures whose reading can wait for the process, of many at once. PP_E_BLOCKED: no answer in
     * half of the time that was left until deadline_ns, so that others can be asked, too; or, at
     * once, an earlier question about this process is still unanswered, or too many are about
     * others. */
    void (*memory)(void *ctx, pp_memory_answer *items, size_t count, int64_t deadline_ns);
    /* What the kernel's notices told so far, of a command that asked for them. */
    pp_notices (*notices)(void *ctx);
    /* The leaf: a cgroup of the command's own. PP_E_UNSUPPORTED from each: there is none.
     * What was counted in it; single fields may be missing. */
    pp_status (*leaf_read)(void *ctx, pp_leaf *ret_leaf, pp_error *reterr);
    /* Who lives in it, no zombies; pids that may be gone by the time you look. */
    pp_status (*leaf_list)(void *ctx, pp_pid_list *ret_pids, pp_error *reterr);
    /* Is this process in it, or, a zombie, was it when it ended? */
    pp_status (*leaf_holds)(void *ctx, pp_proc_id id, bool *ret_inside, pp_error *reterr);
    /* PP_OK: nobody lives in it. PP_E_AGAIN: somebody does. */
    pp_status (*leaf_empty)(void *ctx, pp_error *reterr);
    /* SIGKILL to all in it, whoever they are. Nothing is started in it afterwards. */
    pp_status (*leaf_kill)(void *ctx, pp_error *reterr);
    /* Its directory, NULL without one; the string lives as long as the host. */
    const char *(*leaf_path)(void *ctx);

    /* Drops what the host holds for an identity that will not be asked for again. */
    void (*forget)(void *ctx, pp_proc_id id);

    /* Re-validates the identity, then signals that process alone. */
    pp_status (*signal)(void *ctx, pp_proc_id id, int signal_number, pp_error *reterr);
    /* SIGKILL to each unreaped child of ours, as listed in the same call; *ret_count: how many
     * there were, ended ones too. Faster than they fork. PP_E_UNSUPPORTED where no orphan is ours.
     */
    pp_status (*kill_children)(void *ctx, size_t *ret_count, pp_error *reterr);
    /* Signals the leader's group while the leader is alive or an unreaped zombie.
     * PP_E_VANISHED: no such group. PP_E_DENIED: ambiguous, ask the membership first. */
    pp_status (*signal_group)(void *ctx, pp_proc_id leader, int signal_number, pp_error *reterr);

    /* Reads what captured pipes hold; *ret_state is the state so far. */
    pp_status (*drain_output)(void *ctx, pp_output_state *ret_state, pp_error *reterr);
    /* Appends a line to a file in the run directory (made 0600), whole and on disk or not at all;
     * used when the harness is gone. */
    pp_status (*save)(void *ctx, const char *name, const void *bytes, size_t size,
                      pp_error *reterr);
    /* Our own CPU in ns and resident bytes, for SMP-8. */
    pp_status (*own_cost)(void *ctx, pp_reading *ret_cpu_ns, pp_reading *ret_rss_bytes,
                          pp_error *reterr);

    /* Facts found by trying: one call per index until PP_E_VANISHED. */
    pp_status (*capability)(void *ctx, size_t index, const char **ret_name, pp_status *ret_state,
                            int *ret_errno, const char **ret_consequence);
    bool adopts; /* orphans of the tree become our children (subreaper) */
} pp_os;

/* Sets the functions for orphans to those of a host that adopts none. */
void pp_os_without_orphans(pp_os *os);
/* Sets notices to that of a host that is not told anything. */
void pp_os_without_notices(pp_os *os);
/* Sets the leaf's functions to those of a host that never has one. */
void pp_os_without_leaf(pp_os *os);

#endif
