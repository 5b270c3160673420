/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_LINUX_INTERNAL_H
#define PAIRPERF_LINUX_INTERNAL_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include "decode.h"
#include "host.h"
#include "linux_sys.h"
#include "os.h"
#include "pid_map.h"

/* Shared by the files of the Linux host and by nothing else. */

#define PP_LINUX_PATH_MAX 64              /* "/proc/PID/task/TID/smaps_rollup" fits */
#define PP_LINUX_FILE_MAX 8192            /* any single-record file of /proc */
#define PP_LINUX_LOOK_NS INT64_C(1000000) /* so old may a clock be: the kernel's own are older */
#define PP_LINUX_NS_PER_SECOND INT64_C(1000000000)

/* One thread, with its switches as last read. The descriptors are -1 where they are not held. */
typedef struct pp_linux_thread {
    int32_t tid;
    bool seen;         /* in the current listing */
    bool counted;      /* its switches were read */
    bool has_children; /* had some when they were read last */
    pp_reading cpu_ns; /* its time on a CPU before that */
    uint64_t voluntary, involuntary;
    int status_fd, children_fd, schedstat_fd;
} pp_linux_thread;

typedef struct pp_linux_threads {
    pp_linux_thread *items;
    size_t count, capacity;
    int task_fd;             /* the directory; -1: not held */
    pp_reading listed_cpu;   /* the process's clock before the listing, see pp__linux_stood_still */
    pp_reading counted_cpu;  /* the same before all switches were read */
    pp_reading children_cpu; /* the same before the children of all threads were read */
    bool had_children;       /* any of them, then */
    uint64_t voluntary, involuntary;             /* sums as of then */
    uint64_t ended_voluntary, ended_involuntary; /* of threads that are gone */
    bool some_ended; /* what they did after their last reading is missing */
} pp_linux_threads;

/* What binds us to one process. All descriptors answer for that process or say ESRCH, whatever
 * becomes of the number. */
typedef struct pp_linux_handle {
    pp_proc_id id;
    int pidfd;
    int stat_fd;
    int statm_fd;
    int io_fd;             /* -1: not readable so far */
    pp_linux_stat stat;    /* as last read */
    pp_reading stat_cpu;   /* the process's clock before that */
    pp_proc_id parent;     /* whose handle was held when stat was read; all 0: nobody's */
    pp_reading parent_cpu; /* as that one's stat_cpu was */
    int64_t looked_ns;     /* when stat_cpu was last seen on the clock */
    /* Read by identify or inspect just now: the counters and the children that are asked for next
     * go with that look, each once, so one pass reads stat once. */
    bool fresh_for_usage, fresh_for_children;
    bool in_leaf;          /* on its last list */
    pp_reading leaf_used;  /* what the leaf had used before stat_cpu was seen on the clock */
    bool counted_since;    /* they were, so that the next look need not prove anything */
    pp_reading status_rss; /* of the held status, where that was the last thing read; or missing */
    pp_linux_io io;
    pp_reading io_cpu;
    bool sigchld_ignored;
    bool own_memory;              /* not its parent's address space, and so for good */
    char comm[PP_LINUX_COMM_MAX]; /* when exe was read; a new one asks for a new look */
    char exe[PP_EXE_MAX];
    pp_linux_threads threads;
} pp_linux_handle;

typedef struct pp_linux_handles {
    pp_linux_handle **items; /* by pid, ascending, one per pid */
    size_t count, capacity;
} pp_linux_handles;

typedef enum pp_linux_fact {
    PP_LINUX_FACT_PIDFD,
    PP_LINUX_FACT_INODE,
    PP_LINUX_FACT_GROUP_SIGNAL,
    PP_LINUX_FACT_SUBREAPER,
    PP_LINUX_FACT_CPU_CLOCK,
    PP_LINUX_FACT_THREAD_TIMES,
    PP_LINUX_FACT_CHILDREN,
    PP_LINUX_FACT_IO,
    PP_LINUX_FACT_ROLLUP,
    PP_LINUX_FACT_RSS,
    PP_LINUX_FACT_SHARED_MEMORY,
    PP_LINUX_FACT_NOFILE,
    PP_LINUX_FACT_LEAF,
    PP_LINUX_FACT_LANDLOCK,
    PP_LINUX_FACT_BIRTHS,
    PP_LINUX_FACT_COUNT
} pp_linux_fact;

typedef struct pp_linux_capability {
    const char *name;
    pp_status state; /* PP_OK: works */
    int sys_errno;
    const char *consequence; /* "" when it works */
} pp_linux_capability;

/* One captured stream. */
typedef struct pp_linux_stream {
    int pipe_fd; /* -1: not captured or at its end */
    int file_fd;
    uint64_t kept;
} pp_linux_stream;

/* What open changed and close or the child gives back. */
#define PP_LINUX_IGNORED_COUNT 7

typedef struct pp_linux_saved {
    struct sigaction actions[PP_LINUX_IGNORED_COUNT];
    bool signals_changed, nofile_changed, subreaper_changed, slack_changed;
    sigset_t mask;
    struct rlimit nofile;
    unsigned long slack_ns;
} pp_linux_saved;

typedef struct pp_linux_reader pp_linux_reader; /* memory.c */

/* One reads; the others may hang. */
enum { PP_LINUX_READERS_MAX = 9 };

typedef enum pp_linux_leaf_file {
    PP_LINUX_LEAF_CPU,
    PP_LINUX_LEAF_PROCS,
    PP_LINUX_LEAF_EVENTS,
    PP_LINUX_LEAF_NEEDED, /* without those above there is no leaf */
    PP_LINUX_LEAF_KILL = PP_LINUX_LEAF_NEEDED,
    PP_LINUX_LEAF_MEMORY,
    PP_LINUX_LEAF_MEMORY_PEAK,
    PP_LINUX_LEAF_MEMORY_STAT,
    PP_LINUX_LEAF_SWAP,
    PP_LINUX_LEAF_IO,
    PP_LINUX_LEAF_FILES
} pp_linux_leaf_file;

/* The cgroup that the leader is started in. */
typedef struct pp_linux_leaf {
    int parent_fd; /* -1: there is none */
    int dir_fd;
    int fds[PP_LINUX_LEAF_FILES]; /* held; a negative errno: why not */
    uint64_t id;
    pp_reading used_ns; /* CPU of all in it, in whole microseconds, as last read */
    int64_t used_at_ns;
    bool by_path; /* PIDFD_GET_INFO is not there: membership from /proc */
    char name[64];
    char dir[PP_LINUX_CGROUP_PATH_MAX];
    char place[PP_LINUX_CGROUP_PATH_MAX]; /* as /proc/PID/cgroup shows it */
} pp_linux_leaf;

/* The tree's births by the kernel's notices, see births.c. */
typedef struct pp_linux_births {
    int fd;          /* -1: none */
    bool asked;      /* for them */
    pp_status state; /* PP_OK: the count is right so far */
    int sys_errno;
    uint64_t count, ends;
    pp_pid_map threads; /* of each living process of the tree: how many */
} pp_linux_births;

typedef struct pp_linux_host {
    const pp_linux_sys *sys;
    pp_host_options options;
    uint64_t page_bytes;
    uint64_t ticks_per_second;
    pp_linux_saved saved;
    pp_linux_capability facts[PP_LINUX_FACT_COUNT];
    pp_linux_handles handles;

    int kept_fd_max; /* descriptors that only save time are kept below this number */
    int proc_fd;     /* /proc, for scans */
    int self_io_fd;  /* -1 where unsupported */
    int32_t own_pid;
    int own_children_fd; /* of the thread that starts the leader and gets the orphans; -1: not held
                          */

    int epoll_fd, signal_fd, timer_fd;
    int64_t armed_ns; /* what timer_fd is set to */
    bool channel_watched, channel_wants_writable;

    bool spawned;
    pp_proc_id leader;
    int leader_pidfd; /* own copy: still addresses the group after the reap */
    bool lent_terminal;

    bool wants_no_leaf; /* PP_KERNEL says so */
    pp_linux_leaf leaf;
    pp_linux_births births;

    pp_linux_stream streams[2]; /* stdout, stderr */
    uint64_t output_cap_bytes;
    pp_output_state output;

    pp_linux_reader *readers[PP_LINUX_READERS_MAX]; /* as many as were needed at one time */
    size_t reader_count;
} pp_linux_host;

/* A process whose CPU clock (all threads, ns) shows what it showed before has not run since: its
 * threads, switches and I/O are what they were; its place and memory may have been changed by
 * others. The kernel brings the clock of a running process up to date once a tick or more often, so
 * such figures can be a tick old, as the CPU figure itself. */
static inline bool pp__linux_stood_still(pp_reading before, pp_reading now) {
    return before.known && now.known && before.value == now.value;
}

static inline bool pp__linux_has(const pp_linux_host *host, pp_linux_fact fact) {
    return host->facts[fact].state == PP_OK;
}

/* Closes *fd if it is one, after marking it closed. */
void pp__linux_close(const pp_linux_sys *sys, int *fd);

/* file.c: whole small files. *ret_size < capacity; a full buffer is PP_E_MALFORMED. ENOENT means
 * that the process is gone (PP_E_VANISHED). */
pp_status pp__linux_pread_file(const pp_linux_sys *sys, int fd, const char *name, char *buf,
                               size_t capacity, size_t *ret_size, pp_error *reterr);
pp_status pp__linux_read_path(const pp_linux_sys *sys, const char *path, char *buf, size_t capacity,
                              size_t *ret_size, pp_error *reterr);
/* A file whose size nobody knows, read from its start; the caller frees *ret_bytes. */
pp_status pp__linux_read_growing(const pp_linux_sys *sys, int fd, const char *path,
                                 char **ret_bytes, size_t *ret_size, pp_error *reterr);
/* The status and error of a failed call on one process; result is the negative errno. */
pp_status pp__linux_fail(pp_error *reterr, ssize_t result, const char *op, const char *path);
/* The same for a list of pids. The kernel fills a read of such a file with as many of them as fit,
 * so one that left room for another was the last. */
pp_status pp__linux_read_list(const pp_linux_sys *sys, int fd, const char *path, char **ret_bytes,
                              size_t *ret_size, pp_error *reterr);
/* Appends the numbers in a directory: pids or thread ids. A failed read is PP_E_ENUMERATION. */
pp_status pp__linux_list_numbers(const pp_linux_sys *sys, int dir_fd, const char *path,
                                 pp_pid_list *list, pp_error *reterr);
/* Keeps a descriptor that only saves time, unless they get scarce: then it is closed and -1. */
void pp__linux_keep(const pp_linux_host *host, int *fd);
/* Thread ids of a process, from its open task directory or by number. PP_E_VANISHED when it is
 * gone. */
pp_status pp__linux_list_thread_dir(const pp_linux_sys *sys, int dir_fd, const char *path,
                                    pp_pid_list *list, pp_error *reterr);
pp_status pp__linux_list_threads(const pp_linux_sys *sys, int32_t pid, pp_pid_list *list,
                                 pp_error *reterr);

/* handle.c. A handle is valid until the next call that may drop it (get, find, drop). */
/* The handle of whoever has this number, with a stat read just now. */
pp_status pp__linux_handle_get(pp_linux_host *host, int32_t pid, pp_linux_handle **ret_handle,
                               pp_error *reterr);
/* The handle that is held for this number, without any look; NULL: none. */
pp_linux_handle *pp__linux_handle_held(pp_linux_host *host, int32_t pid);
/* The handle of an identity seen before; opens one if need be. PP_E_STALE: number reused. */
pp_status pp__linux_handle_find(pp_linux_host *host, pp_proc_id id, pp_linux_handle **ret_handle,
                                pp_error *reterr);
/* Reads the held stat into handle->stat; cpu: the process's clock just before, if it was asked for.
 * A process that is gone loses its handle (VANISHED or STALE). */
pp_status pp__linux_handle_stat(pp_linux_host *host, pp_linux_handle *handle, pp_reading cpu,
                                pp_error *reterr);
/* True: what stat shows can be no other than it was when it was read, see the definition. */
bool pp__linux_handle_stands(pp_linux_host *host, const pp_linux_handle *handle, pp_reading cpu);
/* PP_OK: still the same, unreaped process, so numbers read since the handle was found are its. */
pp_status pp__linux_handle_validate(pp_linux_host *host, pp_linux_handle *handle, pp_error *reterr);
/* Held descriptors said ESRCH: drops the handle. VANISHED, or STALE if the number lives on. */
pp_status pp__linux_handle_gone(pp_linux_host *host, int32_t pid, pp_error *reterr);
void pp__linux_handle_drop(pp_linux_host *host, int32_t pid);
void pp__linux_handles_done(pp_linux_host *host);

/* process.c: what one read of stat says of a number that the caller knows to be held. */
pp_status pp__linux_glance(const pp_linux_host *host, int32_t pid, pp_proc_info *ret_info,
                           pp_error *reterr);
/* CPU time in ns, ended threads included. Asked by number. */
pp_reading pp__linux_process_clock(const pp_linux_host *host, int32_t pid);

/* threads.c: brings the list of threads up to date; cpu: the process's clock just before. */
pp_status pp__linux_threads_list(pp_linux_host *host, pp_linux_handle *handle, pp_reading cpu,
                                 pp_error *reterr);
/* Time of one thread on a CPU in ns. VANISHED: it has ended. */
pp_reading pp__linux_thread_time(pp_linux_host *host, int32_t pid, pp_linux_thread *thread);
/* Closes what is held for a thread. */
void pp__linux_thread_close(const pp_linux_sys *sys, pp_linux_thread *thread);
void pp__linux_threads_done(const pp_linux_sys *sys, pp_linux_threads *threads);

/* switches.c: sums over the threads into *ret_usage; updates handle->sigchld_ignored. */
void pp__linux_read_switches(pp_linux_host *host, pp_linux_handle *handle, pp_reading cpu,
                             pp_usage *ret_usage);

/* child.c: the leader between fork and exec. */
typedef struct pp_linux_child_plan {
    const pp_command *command;
    pid_t parent;
    int stdio[3];  /* -1: keeps the supervisor's */
    int report_fd; /* takes a pp_linux_child_failure */
    int rules_fd;  /* Landlock rules to enter; -1: none */
    bool take_terminal;
    struct rlimit nofile;
} pp_linux_child_plan;

typedef enum pp_linux_step {
    PP_LINUX_STEP_SETPGID = 1,
    PP_LINUX_STEP_PDEATHSIG,
    PP_LINUX_STEP_GETPPID,
    PP_LINUX_STEP_TCSETPGRP,
    PP_LINUX_STEP_DUP2,
    PP_LINUX_STEP_CHDIR,
    PP_LINUX_STEP_SETRLIMIT,
    PP_LINUX_STEP_CLOSE_RANGE,
    PP_LINUX_STEP_SIGPROCMASK,
    PP_LINUX_STEP_LANDLOCK,
    PP_LINUX_STEP_EXECVE,
    PP_LINUX_STEP_COUNT
} pp_linux_step;

typedef struct pp_linux_child_failure {
    int step, sys_errno;
} pp_linux_child_failure;

_Noreturn void pp__linux_child(const pp_linux_child_plan *plan);
const char *pp__linux_step_name(int step);

/* probe.c: fills host->facts. Fails only for what nothing can replace. */
pp_status pp__linux_probe(pp_linux_host *host, pp_error *reterr);
/* 0: pidfds have inodes that tell processes apart; or a negative errno. */
ssize_t pp__linux_try_inode(const pp_linux_host *host, int pidfd);
/* Records what trying a capability returned: a negative errno, or success. */
void pp__linux_record(pp_linux_host *host, pp_linux_fact fact, ssize_t result);
/* The same from a failure. */
void pp__linux_record_error(pp_linux_host *host, pp_linux_fact fact, const pp_error *error);

/* Is this word in PP_KERNEL? */
bool pp__linux_switched(const char *wanted);

/* landlock.c: PP_E_UNSUPPORTED and why: writes cannot be confined here. */
pp_status pp__linux_landlock_abi(const pp_linux_sys *sys, int *ret_abi, pp_error *reterr);
/* Rules under which nothing can be written but below these paths (NULL-terminated) and the devices
 * that keep nothing. */
pp_status pp__linux_landlock_open(const pp_linux_sys *sys, const char *const *writable, int *ret_fd,
                                  pp_error *reterr);
/* This process from now on, for good, and all that it starts. Async-signal-safe; -errno. */
int pp__linux_landlock_enter(int rules_fd);

/* cgroup.c */
void pp__linux_leaf_init(pp_linux_leaf *leaf);
/* Makes the leaf, where one can be had; the capability says what came of it. */
void pp__linux_leaf_open(pp_linux_host *host);
/* fork, into the leaf if there is one; a leaf that takes nobody is given up. */
pid_t pp__linux_leaf_fork(pp_linux_host *host);
/* Holds the leaf of somebody else at this path. PP_E_VANISHED: it was removed. */
pp_status pp__linux_leaf_take_over(pp_linux_host *host, const char *dir, pp_error *reterr);
/* cgroup_read.c: the same as leaf_holds for a number that the caller knows to be held. */
pp_status pp__linux_leaf_holds_number(pp_linux_host *host, int32_t pid, bool *ret_inside);
/* What all in the leaf have used, as it was no longer than PP_LINUX_LOOK_NS before now_ns. */
pp_reading pp__linux_leaf_used(pp_linux_host *host, int64_t now_ns);
/* Removes it and lets go of it. It stays where somebody lives in it (EBUSY). */
pp_status pp__linux_leaf_close(pp_linux_host *host, pp_error *reterr);

/* births.c */
void pp__linux_births_init(pp_linux_births *births);
/* Asks for the notices, before the leader is started. */
void pp__linux_births_open(pp_linux_host *host);
/* The leader's birth must be among them; the capability says what came of it. */
void pp__linux_births_settle(pp_linux_host *host);
void pp__linux_births_close(pp_linux_host *host);

/* wait.c */
pp_status pp__linux_wait_open(pp_linux_host *host, pp_error *reterr);
pp_status pp__linux_watch_stream(pp_linux_host *host, size_t stream, pp_error *reterr);
void pp__linux_unwatch(pp_linux_host *host, int fd);

/* output.c */
pp_status pp__linux_open_kept_file(pp_linux_host *host, const char *name, int *ret_fd,
                                   pp_error *reterr);
void pp__linux_streams_close(pp_linux_host *host);

/* memory.c */
void pp__linux_readers_close(pp_linux_host *host);

/* spawn.c: takes the terminal back from the leader's group, if it was lent. */
void pp__linux_terminal_back(pp_linux_host *host);

/* The functions of pp_os, by file. handle.c: */
void pp__linux_forget(void *ctx, pp_proc_id id);
/* process.c */
pp_status pp__linux_identify(void *ctx, int32_t pid, pp_proc_info *ret_info, pp_error *reterr);
pp_status pp__linux_inspect(void *ctx, pp_proc_id id, pp_proc_info *ret_info, pp_error *reterr);
pp_status pp__linux_usage(void *ctx, pp_proc_id id, bool with_switches, pp_usage *ret_usage,
                          pp_error *reterr);
/* memory.c */
void pp__linux_memory(void *ctx, pp_memory_answer *items, size_t count, int64_t deadline_ns);
/* list.c */
pp_status pp__linux_list_group(void *ctx, int32_t pgid, pp_pid_list *ret_pids, pp_error *reterr);
pp_status pp__linux_list_children(void *ctx, int32_t pid, pp_pid_list *ret_pids, pp_error *reterr);
pp_status pp__linux_list_own_children(void *ctx, pp_pid_list *ret_pids, pp_error *reterr);
/* spawn.c */
pp_status pp__linux_spawn(void *ctx, const pp_command *command, pp_proc_id *ret_id,
                          pp_error *reterr);
/* exit.c */
pp_status pp__linux_observe_exit(void *ctx, pp_proc_id id, pp_exit *ret_exit, pp_error *reterr);
pp_status pp__linux_reap(void *ctx, pp_proc_id id, pp_exit *ret_exit, pp_reading *ret_write_bytes,
                         pp_error *reterr);
pp_status pp__linux_no_children_left(void *ctx, pp_error *reterr);
pp_status pp__linux_orphan_ended(void *ctx, int32_t pid, pp_error *reterr);
pp_status pp__linux_reap_orphan(void *ctx, int32_t pid, bool briefly, pp_orphan *ret_orphan,
                                pp_error *reterr);
pp_reading pp__linux_own_written(void *ctx);
/* signal.c */
pp_status pp__linux_signal(void *ctx, pp_proc_id id, int signal_number, pp_error *reterr);
pp_status pp__linux_signal_group(void *ctx, pp_proc_id leader, int signal_number, pp_error *reterr);
pp_status pp__linux_kill_children(void *ctx, size_t *ret_count, pp_error *reterr);
/* wait.c */
pp_status pp__linux_wait(void *ctx, int64_t deadline_ns, bool want_writable, pp_events *ret_events,
                         pp_error *reterr);
pp_status pp__linux_channel_send(void *ctx, const void *bytes, size_t size, size_t *ret_sent,
                                 pp_error *reterr);
pp_status pp__linux_channel_recv(void *ctx, void *bytes, size_t capacity, size_t *ret_received,
                                 pp_error *reterr);
/* cgroup_read.c */
pp_status pp__linux_leaf_read(void *ctx, pp_leaf *ret_leaf, pp_error *reterr);
pp_status pp__linux_leaf_list(void *ctx, pp_pid_list *ret_pids, pp_error *reterr);
pp_status pp__linux_leaf_holds(void *ctx, pp_proc_id id, bool *ret_inside, pp_error *reterr);
pp_status pp__linux_leaf_empty(void *ctx, pp_error *reterr);
pp_status pp__linux_leaf_kill(void *ctx, pp_error *reterr);
const char *pp__linux_leaf_path(void *ctx);
/* births.c */
pp_notices pp__linux_notices(void *ctx);
/* output.c */
pp_status pp__linux_drain_output(void *ctx, pp_output_state *ret_state, pp_error *reterr);
pp_status pp__linux_save(void *ctx, const char *name, const void *bytes, size_t size,
                         pp_error *reterr);

#endif
