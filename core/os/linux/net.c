/* SPDX-License-Identifier: Apache-2.0 */
/* The harness as the net under its supervisors: a host that only lists, looks at, signals and
 * reaps its own children. It changes nothing of the process but its being a subreaper. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "internal.h"

enum { ENVIRONMENT_MAX = 1 << 20 };

pp_status pp_host_adopt(pp_error *reterr) {
    int result = pp_linux_sys_real.prctl(PR_SET_CHILD_SUBREAPER, 1);
    return result < 0 ? pp_fail(reterr, PP_E_SYS, -result, "prctl", "PR_SET_CHILD_SUBREAPER")
                      : PP_OK;
}

/* One that was removed meanwhile needs nothing. */
static pp_status take_leaf(pp_linux_host *host, const char *leaf, pp_error *reterr) {
    pp_error error;
    pp_status status = leaf ? pp__linux_leaf_take_over(host, leaf, &error) : PP_OK;
    if (status == PP_OK || error.sys_errno == ENOENT || error.sys_errno == ENODEV)
        return PP_OK;
    return pp_fail(reterr, status, error.sys_errno, error.op, "%s", error.detail);
}

/* Identities have to be those that the supervisor showed, so it is found out as it does. */
static bool has_inodes(const pp_linux_host *host) {
    int pidfd = pp__linux_switched("6.1") ? -1 : host->sys->pidfd_open((pid_t)getpid());
    bool has = pidfd >= 0 && pp__linux_try_inode(host, pidfd) == 0;
    pp__linux_close(host->sys, &pidfd);
    return has;
}

pp_status pp_host_net_open(const char *leaf, pp_os *ret_os, pp_error *reterr) {
    pp_linux_host *host = calloc(1, sizeof *host);
    if (host == NULL)
        return pp_fail(reterr, PP_E_NOMEM, 0, "net", "no memory");
    host->sys = &pp_linux_sys_real;
    host->ticks_per_second = (uint64_t)sysconf(_SC_CLK_TCK);
    if (access("/proc/thread-self/children", R_OK) != 0)
        host->facts[PP_LINUX_FACT_CHILDREN].state = PP_E_UNSUPPORTED;
    if (!has_inodes(host))
        host->facts[PP_LINUX_FACT_INODE].state = PP_E_UNSUPPORTED;
    host->facts[PP_LINUX_FACT_IO].state = PP_E_UNSUPPORTED; /* not asked for */
    host->own_pid = (int32_t)getpid();
    host->self_io_fd = host->own_children_fd = host->leader_pidfd = -1;
    pp__linux_leaf_init(&host->leaf);
    host->proc_fd = host->sys->open_at(AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (host->proc_fd < 0) {
        int failed = -host->proc_fd;
        free(host);
        return pp_fail(reterr, PP_E_SYS, failed, "open", "/proc");
    }
    pp_status status = take_leaf(host, leaf, reterr);
    if (status != PP_OK) {
        pp__linux_close(host->sys, &host->proc_fd);
        free(host);
        return status;
    }
    *ret_os = (pp_os){ .ctx = host,
                       .list_own_children = pp__linux_list_own_children,
                       .identify = pp__linux_identify,
                       .inspect = pp__linux_inspect,
                       .signal = pp__linux_signal,
                       .reap = pp__linux_reap,
                       .leaf_read = pp__linux_leaf_read,
                       .leaf_list = pp__linux_leaf_list,
                       .leaf_holds = pp__linux_leaf_holds,
                       .leaf_empty = pp__linux_leaf_empty,
                       .leaf_kill = pp__linux_leaf_kill,
                       .leaf_path = pp__linux_leaf_path };
    return PP_OK;
}

pp_status pp_host_net_close(pp_os *os, pp_error *reterr) {
    pp_linux_host *host = os->ctx;
    pp_status status = pp__linux_leaf_close(host, reterr);
    pp__linux_handles_done(host);
    pp__linux_close(host->sys, &host->proc_fd);
    pp__linux_close(host->sys, &host->own_children_fd);
    free(host);
    *os = (pp_os){ 0 };
    return status;
}

static bool has_entry(const char *bytes, size_t size, const char *entry) {
    size_t wanted = strlen(entry) + 1; /* with its NUL */
    const char *end = bytes + size;
    for (const char *at = bytes; at < end;) {
        const char *next = memchr(at, '\0', (size_t)(end - at));
        if (next == NULL)
            return false;
        if ((size_t)(next + 1 - at) == wanted && memcmp(at, entry, wanted) == 0)
            return true;
        at = next + 1;
    }
    return false;
}

bool pp_host_started_with(int32_t pid, const char *assignment) {
    char path[PP_LINUX_PATH_MAX];
    (void)snprintf(path, sizeof path, "/proc/%d/environ", pid);
    int fd = pp_linux_sys_real.open_at(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    char *bytes = fd >= 0 ? malloc(ENVIRONMENT_MAX) : NULL;
    size_t size = 0;
    ssize_t got = bytes != NULL;
    while (got > 0 && size < ENVIRONMENT_MAX) {
        got = pp_linux_sys_real.read(fd, bytes + size, ENVIRONMENT_MAX - size);
        size += got > 0 ? (size_t)got : 0;
    }
    bool found = bytes != NULL && has_entry(bytes, size, assignment);
    free(bytes);
    if (fd >= 0)
        (void)pp_linux_sys_real.close(fd);
    return found;
}
