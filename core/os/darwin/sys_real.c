/* SPDX-License-Identifier: Apache-2.0 */
/* macOS itself as a pp_darwin_sys. Thin: each wrapper makes its call and copies errno, nothing is
 * repeated, translated or guessed. */
#include "darwin_sys.h"

#include <errno.h>
#include <fcntl.h>
#include <libproc.h>
#include <mach/mach_time.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/event.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S INT64_C(1000000000)

typedef struct real_sys {
    int kqueue_fd;
} real_sys;

/* proc_list* answer 0 both for nobody and for a failure: only errno tells. */
static int real_listchildpids(void *ctx, int32_t ppid, void *buffer, int buffer_bytes,
                              int *ret_errno) {
    (void)ctx;
    errno = 0;
    int count = proc_listchildpids(ppid, buffer, buffer_bytes);
    *ret_errno = count > 0 ? 0 : errno;
    return count;
}

static int real_pidinfo(void *ctx, int32_t pid, int flavor, uint64_t arg, void *buffer,
                        int buffer_bytes, int *ret_errno) {
    (void)ctx;
    int bytes = proc_pidinfo(pid, flavor, arg, buffer, buffer_bytes);
    if (bytes <= 0)
        *ret_errno = errno;
    return bytes;
}

static int real_pidpath(void *ctx, int32_t pid, void *buffer, uint32_t buffer_bytes,
                        int *ret_errno) {
    (void)ctx;
    int length = proc_pidpath(pid, buffer, buffer_bytes);
    if (length <= 0)
        *ret_errno = errno;
    return length;
}

static int copy_errno(int result, int *ret_errno) {
    if (result != 0)
        *ret_errno = errno;
    return result;
}

static int real_pid_rusage(void *ctx, int32_t pid, int version, void *buffer, int *ret_errno) {
    (void)ctx;
    return copy_errno(proc_pid_rusage(pid, version, buffer), ret_errno);
}

static int real_sysctl(void *ctx, const int *mib, unsigned mib_count, void *buffer,
                       size_t *io_bytes, int *ret_errno) {
    (void)ctx;
    return copy_errno(sysctl((int *)(uintptr_t)mib, mib_count, buffer, io_bytes, NULL, 0),
                      ret_errno);
}

static int real_sysctlbyname(void *ctx, const char *name, void *buffer, size_t *io_bytes,
                             int *ret_errno) {
    (void)ctx;
    return copy_errno(sysctlbyname(name, buffer, io_bytes, NULL, 0), ret_errno);
}

static int real_getsid(void *ctx, int32_t pid, int32_t *ret_sid, int *ret_errno) {
    (void)ctx;
    pid_t sid = getsid(pid);
    if (sid < 0)
        return copy_errno(-1, ret_errno);
    *ret_sid = sid;
    return 0;
}

static int real_waitid(void *ctx, int32_t pid, void *siginfo, int options, int *ret_errno) {
    (void)ctx;
    return copy_errno(waitid(P_PID, (id_t)pid, siginfo, options), ret_errno);
}

static int real_kill(void *ctx, int32_t pid, int signal_number, int *ret_errno) {
    (void)ctx;
    return copy_errno(kill(pid, signal_number), ret_errno);
}

static int real_clock_ns(void *ctx, pp_dw_clock clock, int64_t *ret_ns, int *ret_errno) {
    static const clockid_t ids[] = {
        [PP_DW_UPTIME_RAW] = CLOCK_UPTIME_RAW,
        [PP_DW_MONOTONIC_RAW] = CLOCK_MONOTONIC_RAW,
        [PP_DW_REALTIME] = CLOCK_REALTIME,
    };
    (void)ctx;
    struct timespec now;
    if (clock_gettime(ids[clock], &now) != 0)
        return copy_errno(-1, ret_errno);
    *ret_ns = (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
    return 0;
}

static int real_timebase(void *ctx, uint32_t *ret_numer, uint32_t *ret_denom, int *ret_errno) {
    (void)ctx;
    mach_timebase_info_data_t info = { 0, 0 };
    if (mach_timebase_info(&info) != KERN_SUCCESS) {
        *ret_errno = EINVAL; /* a Mach result, not an errno */
        return -1;
    }
    *ret_numer = info.numer;
    *ret_denom = info.denom;
    return 0;
}

/* A process group of its own, signals as at login, and nothing inherited that is not named. */
static int set_attributes(posix_spawnattr_t *attributes) {
    const short flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
                        POSIX_SPAWN_CLOEXEC_DEFAULT;
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    int failure = posix_spawnattr_setflags(attributes, flags);
    if (failure == 0)
        failure = posix_spawnattr_setpgroup(attributes, 0);
    if (failure == 0)
        failure = posix_spawnattr_setsigdefault(attributes, &all);
    if (failure == 0)
        failure = posix_spawnattr_setsigmask(attributes, &none);
    return failure;
}

static int set_actions(posix_spawn_file_actions_t *actions, const pp_dw_spawn *request) {
    int failure = posix_spawn_file_actions_addchdir_np(actions, request->cwd);
    for (int i = 0; i < 3 && failure == 0; i++)
        failure = posix_spawn_file_actions_adddup2(actions, request->stdio[i], i);
    return failure;
}

/* posix_spawn answers with one number for all its steps: the directory is looked at again. */
static const char *failed_step(const char *cwd) {
    struct stat st;
    bool usable = stat(cwd, &st) == 0 && S_ISDIR(st.st_mode) &&
                  faccessat(AT_FDCWD, cwd, X_OK, AT_EACCESS) == 0;
    return usable ? "execve" : "chdir";
}

static int real_spawn(void *ctx, const pp_dw_spawn *request, int32_t *ret_pid,
                      const char **ret_step, int *ret_errno) {
    (void)ctx;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    *ret_step = "posix_spawn";
    if ((*ret_errno = posix_spawnattr_init(&attributes)) != 0)
        return -1;
    if ((*ret_errno = posix_spawn_file_actions_init(&actions)) != 0) {
        (void)posix_spawnattr_destroy(&attributes);
        return -1;
    }
    int failure = set_attributes(&attributes);
    if (failure == 0)
        failure = set_actions(&actions, request);
    if (failure == 0) {
        pid_t pid = 0;
        failure =
            posix_spawn(&pid, request->path, &actions, &attributes, request->argv, request->envp);
        if (failure == 0)
            *ret_pid = pid;
        else
            *ret_step = failed_step(request->cwd);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)posix_spawnattr_destroy(&attributes);
    *ret_errno = failure;
    return failure == 0 ? 0 : -1;
}

static int add_filter(struct kevent *changes, int count, int fd, int16_t filter, unsigned bit) {
    if (fd < 0)
        return count;
    EV_SET(&changes[count], (uintptr_t)fd, filter, EV_ADD | EV_ONESHOT, 0, 0,
           (void *)(uintptr_t)bit);
    return count + 1;
}

static int real_events(void *ctx, const pp_dw_watch *watch, int64_t timeout_ns,
                       unsigned *ret_events, int *ret_errno) {
    const real_sys *real = ctx;
    struct kevent changes[4], seen[8];
    int count = 0;
    count = add_filter(changes, count, watch->channel, EVFILT_READ, PP_DW_EVENT_READABLE);
    if (watch->channel_writable)
        count = add_filter(changes, count, watch->channel, EVFILT_WRITE, PP_DW_EVENT_WRITABLE);
    for (size_t i = 0; i < 2; i++)
        count = add_filter(changes, count, watch->output[i], EVFILT_READ, PP_DW_EVENT_OUTPUT);

    struct timespec timeout = {
        .tv_sec = (time_t)(timeout_ns / NS_PER_S),
        .tv_nsec = (long)(timeout_ns % NS_PER_S),
    };
    int got = kevent(real->kqueue_fd, changes, count, seen, 8, &timeout);
    if (got < 0)
        return copy_errno(-1, ret_errno);
    unsigned bits = 0;
    for (int i = 0; i < got; i++) {
        if (seen[i].flags & EV_ERROR) {
            *ret_errno = (int)seen[i].data;
            return -1;
        }
        bits |= (unsigned)(uintptr_t)seen[i].udata;
    }
    *ret_events = bits;
    return 0;
}

void pp_darwin_sys_calls(pp_darwin_sys *ret_sys) {
    *ret_sys = (pp_darwin_sys){
        .listchildpids = real_listchildpids,
        .pidinfo = real_pidinfo,
        .pidpath = real_pidpath,
        .pid_rusage = real_pid_rusage,
        .sysctl = real_sysctl,
        .sysctlbyname = real_sysctlbyname,
        .getsid = real_getsid,
        .waitid = real_waitid,
        .kill = real_kill,
        .spawn = real_spawn,
        .clock_ns = real_clock_ns,
        .timebase = real_timebase,
        .events = real_events,
    };
}

int pp_darwin_sys_open(pp_darwin_sys *ret_sys, int *ret_errno) {
    real_sys *real = malloc(sizeof *real);
    if (real == NULL)
        return copy_errno(-1, ret_errno);
    struct kevent child;
    EV_SET(&child, SIGCHLD, EVFILT_SIGNAL, EV_ADD, 0, 0, (void *)(uintptr_t)PP_DW_EVENT_CHILD);
    real->kqueue_fd = kqueue();
    if (real->kqueue_fd < 0 || fcntl(real->kqueue_fd, F_SETFD, FD_CLOEXEC) != 0 ||
        kevent(real->kqueue_fd, &child, 1, NULL, 0, NULL) != 0) {
        *ret_errno = errno;
        if (real->kqueue_fd >= 0)
            (void)close(real->kqueue_fd);
        free(real);
        return -1;
    }
    pp_darwin_sys_calls(ret_sys);
    ret_sys->ctx = real;
    return 0;
}

void pp_darwin_sys_done(pp_darwin_sys *sys) {
    real_sys *real = sys->ctx;
    sys->ctx = NULL;
    if (real == NULL)
        return;
    (void)close(real->kqueue_fd);
    free(real);
}
