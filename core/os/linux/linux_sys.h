/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_LINUX_SYS_H
#define PAIRPERF_LINUX_SYS_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>

/* The system calls of the Linux host: native bytes in and out, no decisions. Every function
 * returns the call's result, or -errno; EINTR is repeated and never comes out (but of poll and
 * epoll_wait, whose callers look at their deadline again). Tests replace single entries.
 */
typedef struct pp_linux_sys {
    /* Files. */
    int (*open_at)(int dir_fd, const char *path, int flags, mode_t mode);
    int (*close)(int fd);
    ssize_t (*read)(int fd, void *bytes, size_t size);
    ssize_t (*pread)(int fd, void *bytes, size_t size, off_t offset);
    ssize_t (*write)(int fd, const void *bytes, size_t size);
    int (*fsync)(int fd);
    int (*file_size)(int fd, off_t *ret_size);
    int (*truncate)(int fd, off_t size);
    ssize_t (*read_link)(const char *path, char *bytes, size_t size);
    int (*rewind)(int fd);
    ssize_t (*read_dir)(int fd, void *bytes, size_t size); /* getdents64 */
    int (*make_dir)(int dir_fd, const char *name);
    int (*remove_dir)(int dir_fd, const char *name);
    int (*try_lock)(int fd); /* flock, exclusive, not waiting */
    int (*inode)(int fd, uint64_t *ret_fs_magic, uint64_t *ret_inode);
    int (*pipe)(int ret_fds[2]);    /* close-on-exec */
    int (*dup_above_stdio)(int fd); /* close-on-exec, >= 3 */
    int (*set_nonblocking)(int fd);

    /* Processes. */
    int (*clock)(clockid_t clock, struct timespec *ret_time);
    pid_t (*get_pgid)(pid_t pid);
    int (*compare_memory)(pid_t pid, pid_t other); /* kcmp: 0: one address space for both */
    pid_t (*fork)(void);
    pid_t (*fork_into)(int cgroup_fd);                    /* CLONE_INTO_CGROUP */
    int (*cgroup_of)(int pidfd, uint64_t *ret_cgroup_id); /* PIDFD_GET_INFO */
    int (*kill)(pid_t pid, int signal_number);
    int (*pidfd_open)(pid_t pid);
    int (*pidfd_signal)(int pidfd, int signal_number, unsigned flags);
    int (*wait_id)(int id_type, int id, siginfo_t *ret_info, int options, struct rusage *ret_usage);
    int (*prctl)(int option, unsigned long argument);
    int (*get_nofile)(struct rlimit *ret_limit);
    int (*set_nofile)(const struct rlimit *limit);
    int (*landlock_abi)(void);
    int (*landlock_create)(uint64_t handled_rights); /* of files; close-on-exec */
    int (*landlock_allow)(int rules_fd, int path_fd, uint64_t rights);

    /* A socket that gets the kernel's notices of forks and exits, of all processes: the answer to
     * the asking first, then a datagram for each (recv). Non-blocking, close-on-exec. */
    int (*notices_open)(void);

    /* Waiting and the channel. */
    int (*poll)(struct pollfd *fds, nfds_t count, int timeout_ms);
    int (*epoll_create)(void);
    int (*epoll_change)(int epoll_fd, int operation, int fd, uint32_t events, uint32_t tag);
    int (*epoll_wait)(int epoll_fd, struct epoll_event *ret_events, int capacity);
    int (*signal_fd)(const sigset_t *signals);                   /* non-blocking */
    int (*timer_fd)(void);                                       /* CLOCK_MONOTONIC, non-blocking */
    int (*set_timer)(int timer_fd, const struct timespec *when); /* absolute */
    ssize_t (*send)(int fd, const void *bytes, size_t size);     /* non-blocking, no SIGPIPE */
    ssize_t (*recv)(int fd, void *bytes, size_t capacity);       /* non-blocking */
} pp_linux_sys;

/* The running kernel. */
extern const pp_linux_sys pp_linux_sys_real;

#endif
