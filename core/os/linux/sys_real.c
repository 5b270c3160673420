/* SPDX-License-Identifier: Apache-2.0 */
/* One wrapper per system call: errno becomes the result, an interrupted call is repeated, and
 * nothing is decided here. */
#include "linux_sys.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/filter.h>
#include <linux/kcmp.h>
#include <linux/netlink.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/vfs.h>
#include <unistd.h>

#define RESULT_OF(type, call)                                                                      \
    do {                                                                                           \
        type result;                                                                               \
        do {                                                                                       \
            result = (type)(call);                                                                 \
        } while (result < 0 && errno == EINTR);                                                    \
        return result < 0 ? (type)-errno : result;                                                 \
    } while (0)

static int real_open_at(int dir_fd, const char *path, int flags, mode_t mode) {
    RESULT_OF(int, openat(dir_fd, path, flags, mode));
}

static int real_close(int fd) {
    return close(fd) < 0 ? -errno : 0; /* Linux frees the number even on EINTR: no repeating */
}

static ssize_t real_read(int fd, void *bytes, size_t size) {
    RESULT_OF(ssize_t, read(fd, bytes, size));
}

static ssize_t real_pread(int fd, void *bytes, size_t size, off_t offset) {
    RESULT_OF(ssize_t, pread(fd, bytes, size, offset));
}

static ssize_t real_write(int fd, const void *bytes, size_t size) {
    RESULT_OF(ssize_t, write(fd, bytes, size));
}

static int real_fsync(int fd) {
    RESULT_OF(int, fsync(fd));
}

static int real_file_size(int fd, off_t *ret_size) {
    struct stat file;
    if (fstat(fd, &file) < 0)
        return -errno;
    *ret_size = file.st_size;
    return 0;
}

static int real_truncate(int fd, off_t size) {
    RESULT_OF(int, ftruncate(fd, size));
}

static ssize_t real_read_link(const char *path, char *bytes, size_t size) {
    RESULT_OF(ssize_t, readlink(path, bytes, size));
}

static int real_rewind(int fd) {
    return lseek(fd, 0, SEEK_SET) < 0 ? -errno : 0;
}

static ssize_t real_read_dir(int fd, void *bytes, size_t size) {
    RESULT_OF(ssize_t, syscall(SYS_getdents64, fd, bytes, size));
}

static int real_make_dir(int dir_fd, const char *name) {
    RESULT_OF(int, mkdirat(dir_fd, name, 0755));
}

static int real_remove_dir(int dir_fd, const char *name) {
    RESULT_OF(int, unlinkat(dir_fd, name, AT_REMOVEDIR));
}

static int real_try_lock(int fd) {
    RESULT_OF(int, flock(fd, LOCK_EX | LOCK_NB));
}

static int real_inode(int fd, uint64_t *ret_fs_magic, uint64_t *ret_inode) {
    struct statfs fs;
    struct stat file;
    if (fstatfs(fd, &fs) < 0 || fstat(fd, &file) < 0)
        return -errno;
    *ret_fs_magic = (uint64_t)fs.f_type;
    *ret_inode = (uint64_t)file.st_ino;
    return 0;
}

static int real_pipe(int ret_fds[2]) {
    RESULT_OF(int, pipe2(ret_fds, O_CLOEXEC));
}

static int real_dup_above_stdio(int fd) {
    RESULT_OF(int, fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

static int real_set_nonblocking(int fd) {
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
        return -errno;
    return 0;
}

static int real_clock(clockid_t clock, struct timespec *ret_time) {
    RESULT_OF(int, clock_gettime(clock, ret_time));
}

static pid_t real_get_pgid(pid_t pid) {
    RESULT_OF(pid_t, getpgid(pid));
}

static int real_compare_memory(pid_t pid, pid_t other) {
    RESULT_OF(int, syscall(SYS_kcmp, pid, other, KCMP_VM, 0UL, 0UL));
}

static pid_t real_fork(void) {
    RESULT_OF(pid_t, fork());
}

/* The system headers may be older than the call. */
struct clone3_arguments {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid,
        set_tid_size, cgroup;
};
#define CLONE3_INTO_CGROUP UINT64_C(0x200000000)

static pid_t real_fork_into(int cgroup_fd) {
    struct clone3_arguments arguments = { .flags = CLONE3_INTO_CGROUP,
                                          .exit_signal = SIGCHLD,
                                          .cgroup = (uint64_t)cgroup_fd };
    RESULT_OF(pid_t, syscall(SYS_clone3, &arguments, sizeof arguments));
}

struct pidfd_facts {
    uint64_t mask, cgroup_id;
    uint32_t numbers[12];
};
#define PIDFD_FACTS _IOWR(0xFF, 11, struct pidfd_facts) /* PIDFD_GET_INFO, first version */
#define PIDFD_FACT_CGROUP (UINT64_C(1) << 2)

static int real_cgroup_of(int pidfd, uint64_t *ret_cgroup_id) {
    struct pidfd_facts facts = { .mask = PIDFD_FACT_CGROUP };
    if (ioctl(pidfd, PIDFD_FACTS, &facts) < 0)
        return -errno;
    if ((facts.mask & PIDFD_FACT_CGROUP) == 0)
        return -ENOTTY; /* answered, but not this */
    *ret_cgroup_id = facts.cgroup_id;
    return 0;
}

static int real_kill(pid_t pid, int signal_number) {
    RESULT_OF(int, kill(pid, signal_number));
}

static int real_pidfd_open(pid_t pid) {
    RESULT_OF(int, syscall(SYS_pidfd_open, pid, 0));
}

static int real_pidfd_signal(int pidfd, int signal_number, unsigned flags) {
    RESULT_OF(int, syscall(SYS_pidfd_send_signal, pidfd, signal_number, NULL, flags));
}

/* The raw call: libc hides the fifth argument, which fills the usage even under WNOWAIT. */
static int real_wait_id(int id_type, int id, siginfo_t *ret_info, int options,
                        struct rusage *ret_usage) {
    RESULT_OF(int, syscall(SYS_waitid, id_type, id, ret_info, options, ret_usage));
}

static int real_prctl(int option, unsigned long argument) {
    RESULT_OF(int, prctl(option, argument, 0UL, 0UL, 0UL));
}

static int real_get_nofile(struct rlimit *ret_limit) {
    RESULT_OF(int, getrlimit(RLIMIT_NOFILE, ret_limit));
}

static int real_set_nofile(const struct rlimit *limit) {
    RESULT_OF(int, setrlimit(RLIMIT_NOFILE, limit));
}

/* The system headers may be older than the calls; what is used is of the first version. */
enum { LANDLOCK_CREATE = 444, LANDLOCK_ADD = 445 }; /* on every architecture */
enum { LANDLOCK_TELL_VERSION = 1, LANDLOCK_BENEATH = 1 };

static int real_landlock_abi(void) {
    RESULT_OF(int, syscall(LANDLOCK_CREATE, NULL, 0UL, LANDLOCK_TELL_VERSION));
}

static int real_landlock_create(uint64_t handled_rights) {
    RESULT_OF(int, syscall(LANDLOCK_CREATE, &handled_rights, sizeof handled_rights, 0));
}

struct __attribute__((packed)) landlock_beneath {
    uint64_t rights;
    int32_t path_fd;
};

static int real_landlock_allow(int rules_fd, int path_fd, uint64_t rights) {
    const struct landlock_beneath rule = { .rights = rights, .path_fd = path_fd };
    RESULT_OF(int, syscall(LANDLOCK_ADD, rules_fd, LANDLOCK_BENEATH, &rule, 0));
}

/* Of all that the kernel tells, the answer and forks and exits get through, before they take room
 * in the socket or our time. Where it cannot be had the rest is passed over when it is read. */
static void want_only_lives(int fd) {
    enum { WHAT_AT = NLMSG_HDRLEN + sizeof(struct cn_msg) };
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, WHAT_AT), /* in network order */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(PROC_EVENT_FORK), 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(PROC_EVENT_EXIT), 1, 0),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
    };
    const struct sock_fprog filter = { .len = sizeof program / sizeof *program, .filter = program };
    (void)setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
}

enum { NOTICES_BYTES = 4 << 20 }; /* some 4000 wait in it; as much as we may have, else */

static int ask_for_notices(int fd) {
    const struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC };
    const enum proc_cn_mcast_op operation = PROC_CN_MCAST_LISTEN;
    union {
        struct nlmsghdr header;
        char bytes[NLMSG_SPACE(sizeof(struct cn_msg) + sizeof operation)];
    } request = { .header = { .nlmsg_type = NLMSG_DONE } };
    struct cn_msg *message = NLMSG_DATA(&request.header);
    request.header.nlmsg_len = NLMSG_LENGTH(sizeof *message + sizeof operation);
    message->id = (struct cb_id){ .idx = CN_IDX_PROC, .val = CN_VAL_PROC };
    message->len = sizeof operation;
    memcpy(message->data, &operation, sizeof operation);
    const int size = NOTICES_BYTES;
    want_only_lives(fd);
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) < 0)
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    if (bind(fd, (const struct sockaddr *)&address, sizeof address) < 0 ||
        send(fd, &request, request.header.nlmsg_len, 0) < 0)
        return -errno;
    return 0;
}

static int real_notices_open(void) {
    int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR);
    if (fd < 0)
        return -errno;
    int result = ask_for_notices(fd);
    if (result == 0)
        return fd;
    (void)close(fd);
    return result;
}

static int real_poll(struct pollfd *fds, nfds_t count, int timeout_ms) {
    int result = poll(fds, count, timeout_ms);
    return result < 0 ? -errno : result;
}

static int real_epoll_create(void) {
    RESULT_OF(int, epoll_create1(EPOLL_CLOEXEC));
}

static int real_epoll_change(int epoll_fd, int operation, int fd, uint32_t events, uint32_t tag) {
    struct epoll_event event = { .events = events, .data.u32 = tag };
    RESULT_OF(int, epoll_ctl(epoll_fd, operation, fd, &event));
}

static int real_epoll_wait(int epoll_fd, struct epoll_event *ret_events, int capacity) {
    int result = epoll_wait(epoll_fd, ret_events, capacity, -1);
    return result < 0 ? -errno : result;
}

static int real_signal_fd(const sigset_t *signals) {
    RESULT_OF(int, signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

static int real_timer_fd(void) {
    RESULT_OF(int, timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
}

static int real_set_timer(int timer_fd, const struct timespec *when) {
    struct itimerspec timer = { .it_value = *when };
    RESULT_OF(int, timerfd_settime(timer_fd, TFD_TIMER_ABSTIME, &timer, NULL));
}

static ssize_t real_send(int fd, const void *bytes, size_t size) {
    RESULT_OF(ssize_t, send(fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL));
}

static ssize_t real_recv(int fd, void *bytes, size_t capacity) {
    RESULT_OF(ssize_t, recv(fd, bytes, capacity, MSG_DONTWAIT));
}

const pp_linux_sys pp_linux_sys_real = {
    .open_at = real_open_at,
    .close = real_close,
    .read = real_read,
    .pread = real_pread,
    .write = real_write,
    .fsync = real_fsync,
    .file_size = real_file_size,
    .truncate = real_truncate,
    .read_link = real_read_link,
    .rewind = real_rewind,
    .read_dir = real_read_dir,
    .make_dir = real_make_dir,
    .remove_dir = real_remove_dir,
    .try_lock = real_try_lock,
    .inode = real_inode,
    .pipe = real_pipe,
    .dup_above_stdio = real_dup_above_stdio,
    .set_nonblocking = real_set_nonblocking,
    .clock = real_clock,
    .get_pgid = real_get_pgid,
    .compare_memory = real_compare_memory,
    .fork = real_fork,
    .fork_into = real_fork_into,
    .cgroup_of = real_cgroup_of,
    .kill = real_kill,
    .pidfd_open = real_pidfd_open,
    .pidfd_signal = real_pidfd_signal,
    .wait_id = real_wait_id,
    .prctl = real_prctl,
    .get_nofile = real_get_nofile,
    .set_nofile = real_set_nofile,
    .landlock_abi = real_landlock_abi,
    .landlock_create = real_landlock_create,
    .landlock_allow = real_landlock_allow,
    .notices_open = real_notices_open,
    .poll = real_poll,
    .epoll_create = real_epoll_create,
    .epoll_change = real_epoll_change,
    .epoll_wait = real_epoll_wait,
    .signal_fd = real_signal_fd,
    .timer_fd = real_timer_fd,
    .set_timer = real_set_timer,
    .send = real_send,
    .recv = real_recv,
};
