/* SPDX-License-Identifier: Apache-2.0 */
/* How many processes were born and ended in the tree, by the kernel's notices. The invariant:
 * `threads` has the living processes of the tree, each with how many threads it has, as of the last
 * notice read; a process is of the tree if its parent was when it was born. A notice that was lost
 * could be that of a parent, so there is no count from then on. Who is in the tree is found by
 * looking; the counts tell when there is nobody new to be found. */
#include "internal.h"

#include <errno.h>

enum {
    NOTICE_BYTES = 1024,
    NOTICES_MAX =
        16384, /* a machine that forks faster than we read is one whose notices get lost */
};

void pp__linux_births_init(pp_linux_births *births) {
    *births = (pp_linux_births){ .fd = -1, .state = PP_E_UNSUPPORTED };
}

void pp__linux_births_close(pp_linux_host *host) {
    pp__linux_close(host->sys, &host->births.fd);
    pp_pid_map_done(&host->births.threads);
}

static void give_up(pp_linux_host *host, pp_status why, int sys_errno) {
    pp__linux_births_close(host);
    host->births.state = why;
    host->births.sys_errno = sys_errno;
}

void pp__linux_births_open(pp_linux_host *host) {
    pp_linux_births *births = &host->births;
    if (pp__linux_switched("6.1")) /* where it takes privileges */
        return;
    births->asked = true;
    births->fd = host->sys->notices_open();
    if (births->fd < 0)
        give_up(host, pp_status_from_errno(-births->fd), -births->fd);
    else
        births->state = PP_OK;
}

static void set_threads(pp_linux_host *host, int32_t pid, size_t count) {
    pp_pid_map *threads = &host->births.threads;
    if (count == 0)
        pp_pid_map_remove(threads, pid);
    else if (!pp_pid_map_put(threads, pid, count))
        give_up(host, PP_E_NOMEM, 0);
}

/* We start the leader alone; others whose parent we are were put there by it and its like. */
static bool is_of_tree(const pp_linux_host *host, const pp_linux_notice *notice) {
    const pp_linux_births *births = &host->births;
    if (notice->parent != host->own_pid)
        return pp_pid_map_has(&births->threads, notice->parent);
    return births->count > 0 || notice->pid == host->leader.pid;
}

static void take(pp_linux_host *host, const pp_linux_notice *notice) {
    pp_linux_births *births = &host->births;
    ptrdiff_t threads = pp_pid_map_at(&births->threads, notice->pid);
    if (notice->kind == PP_LINUX_NOTICE_ANSWER && notice->sys_errno != 0) {
        give_up(host, pp_status_from_errno(notice->sys_errno), notice->sys_errno);
    } else if (notice->kind == PP_LINUX_NOTICE_PROCESS && is_of_tree(host, notice)) {
        births->count++;
        set_threads(host, notice->pid, 1);
    } else if (notice->kind == PP_LINUX_NOTICE_THREAD && threads > 0) {
        set_threads(host, notice->pid, (size_t)threads + 1);
    } else if (notice->kind == PP_LINUX_NOTICE_EXIT && threads > 0) {
        births->ends += threads == 1;
        set_threads(host, notice->pid, (size_t)threads - 1);
    }
}

/* All that was noticed so far. */
static void catch_up(pp_linux_host *host) {
    pp_linux_births *births = &host->births;
    for (int i = 0; births->state == PP_OK; i++) {
        char bytes[NOTICE_BYTES];
        pp_linux_notice notice;
        ssize_t got = host->sys->recv(births->fd, bytes, sizeof bytes);
        if (got == -EAGAIN)
            return;
        if (got < 0 || i == NOTICES_MAX) /* ENOBUFS: some are lost */
            give_up(host, PP_E_ENUMERATION, got < 0 ? (int)-got : 0);
        else if (pp__linux_decode_notice(bytes, (size_t)got, &notice, NULL) != PP_OK)
            give_up(host, PP_E_MALFORMED, 0);
        else
            take(host, &notice);
    }
}

/* In a namespace of pids the notices are there, about other numbers, or not there at all. */
void pp__linux_births_settle(pp_linux_host *host) {
    pp_linux_births *births = &host->births;
    if (!births->asked)
        return;
    catch_up(host);
    if (births->state == PP_OK && births->count == 0)
        give_up(host, PP_E_UNSUPPORTED, 0);
    const pp_error found = { .status = births->state, .sys_errno = births->sys_errno };
    pp__linux_record_error(host, PP_LINUX_FACT_BIRTHS, &found);
}

pp_notices pp__linux_notices(void *ctx) {
    pp_linux_host *host = ctx;
    pp_linux_births *births = &host->births;
    catch_up(host);
    if (births->state != PP_OK)
        return (pp_notices){ .births = pp_missing(births->state) };
    return (pp_notices){ .births = pp_known(births->count), .ends = births->ends };
}
