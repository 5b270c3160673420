/* SPDX-License-Identifier: Apache-2.0 */
/* flock needs no write permission and belongs to the open file, so whoever inherits the descriptor
 * holds the lock and a crash leaves nothing behind. The system does not tell who holds it: a
 * refusal names one of our own programs that has the same file open, where it may be looked at. */
#include "pairperf/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libproc.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "cleanup.h"

enum { NAME_MAX_BYTES = 100, FDS_LOOKED_AT = 64, NEWCOMERS = 64 };

static bool has_open(pid_t pid, const char *path) {
    struct proc_fdinfo fds[FDS_LOOKED_AT]; /* ours open it early */
    int bytes = proc_pidinfo(pid, PROC_PIDLISTFDS, 0, fds, (int)sizeof fds);
    for (int i = 0; i < bytes / (int)sizeof *fds; i++) {
        struct vnode_fdinfowithpath info;
        if (fds[i].proc_fdtype == PROX_FDTYPE_VNODE &&
            proc_pidfdinfo(pid, fds[i].proc_fd, PROC_PIDFDVNODEPATHINFO, &info, (int)sizeof info) ==
                (int)sizeof info &&
            strcmp(info.pvip.vip_path, path) == 0)
            return true;
    }
    return false;
}

static bool runs(pid_t pid, const char *program) {
    char path[PROC_PIDPATHINFO_MAXSIZE];
    if (proc_pidpath(pid, path, sizeof path) <= 0)
        return false;
    const char *slash = strrchr(path, '/');
    return slash && strcmp(slash + 1, program) == 0;
}

/* A harness that has the file open, else a supervisor that outlives its own, else 0. */
static pid_t holder(const char *path) {
    static const char *const programs[] = { "pairperf-lua", "pairperf-supervisor" };
    int capacity = proc_listallpids(NULL, 0) + NEWCOMERS;
    pid_t *pids = capacity > NEWCOMERS ? calloc((size_t)capacity, sizeof *pids) : NULL;
    int count = pids ? proc_listallpids(pids, capacity * (int)sizeof *pids) : 0;
    pid_t found = 0;
    for (size_t p = 0; !found && p < 2; p++)
        for (int i = 0; !found && i < count; i++)
            if (pids[i] != getpid() && runs(pids[i], programs[p]) && has_open(pids[i], path))
                found = pids[i];
    free(pids);
    return found;
}

/* The refusal names the holder by pid and start token, where both can be had. */
static pp_status held(const char *name, int fd, pp_error *reterr) {
    char path[PATH_MAX];
    struct proc_bsdinfo info;
    pid_t pid = fcntl(fd, F_GETPATH, path) == 0 ? holder(path) : 0;
    if (pid <= 0 ||
        proc_pidinfo(pid, PROC_PIDTBSDINFO, 0, &info, (int)sizeof info) != (int)sizeof info)
        return pp_fail(reterr, PP_E_EXISTS, EWOULDBLOCK, "lock", "%s: held by another process",
                       name);
    uint64_t start_us = info.pbi_start_tvsec * 1000000 + info.pbi_start_tvusec;
    return pp_fail(reterr, PP_E_EXISTS, EWOULDBLOCK, "lock",
                   "%s: held by process %d (start %" PRIu64 ")", name, (int)pid, start_us);
}

pp_status pp_lock_acquire(const char *name, int *ret_fd, pp_error *reterr) {
    size_t size = strlen(name);
    if (size == 0 || size > NAME_MAX_BYTES)
        return pp_fail(reterr, PP_E_INVALID, 0, "lock", "a name has 1 to %d bytes", NAME_MAX_BYTES);
    const char *path = name[0] == '/' ? name : "/";
    PP_AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return pp_fail(reterr, PP_E_SYS, errno, "open", "%s", path);
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK)
            return held(name, fd, reterr);
        if (errno != EINTR)
            return pp_fail(reterr, PP_E_SYS, errno, "flock", "%s", path);
    }
    *ret_fd = pp_take_fd(&fd);
    return PP_OK;
}
