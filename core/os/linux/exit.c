/* SPDX-License-Identifier: Apache-2.0 */
/* Exits are looked at without reaping, and reaping takes exactly one child, by its pidfd or by a
 * number that it holds; nothing here ever waits for "any child", which could take the pinned
 * leader. */
#include "internal.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "pairperf/counters.h"

#ifndef __WALL
#define __WALL 0x40000000
#endif

#define NS_PER_US UINT64_C(1000)

static uint64_t time_ns(struct timeval time) {
    return (uint64_t)time.tv_sec * (uint64_t)PP_LINUX_NS_PER_SECOND +
           (uint64_t)time.tv_usec * NS_PER_US;
}

static pp_exit exit_of(const siginfo_t *info, const struct rusage *usage) {
    pp_exit exit = { .cpu_ns = pp_known(time_ns(usage->ru_utime) + time_ns(usage->ru_stime)) };
    exit.by_signal = info->si_code != CLD_EXITED;
    exit.core_dumped = info->si_code == CLD_DUMPED;
    if (exit.by_signal)
        exit.signal_number = info->si_status;
    else
        exit.code = info->si_status & 0xff;
    return exit;
}

/* The handle of a child; a number that is another process's by now was reaped by somebody. */
static pp_status find_child(pp_linux_host *host, pp_proc_id id, pp_linux_handle **ret_handle,
                            pp_error *reterr) {
    pp_error error;
    pp_status status = pp__linux_handle_find(host, id, ret_handle, &error);
    if (status == PP_OK)
        return PP_OK;
    if (status == PP_E_STALE)
        error.status = PP_E_VANISHED;
    return pp_fail(reterr, error.status, error.sys_errno, error.op, "%s", error.detail);
}

static pp_status ask(const pp_linux_host *host, int32_t pid, int id_type, int number, int options,
                     pp_exit *ret_exit, pp_error *reterr) {
    siginfo_t info;
    struct rusage usage;
    memset(&info, 0, sizeof info);
    memset(&usage, 0, sizeof usage);
    int result = host->sys->wait_id(id_type, number, &info, WEXITED | WNOHANG | options, &usage);
    if (result == -ECHILD)
        return pp_fail(reterr, PP_E_VANISHED, ECHILD, "waitid", "pid %d is not ours to reap", pid);
    if (result < 0)
        return pp_fail(reterr, PP_E_SYS, -result, "waitid", "pid %d", pid);
    if (info.si_pid == 0)
        return pp_fail(reterr, PP_E_AGAIN, 0, "waitid", "pid %d lives", pid);
    *ret_exit = exit_of(&info, &usage);
    return PP_OK;
}

static pp_status wait_for(pp_linux_host *host, pp_proc_id id, int options, pp_exit *ret_exit,
                          pp_error *reterr) {
    pp_linux_handle *handle;
    pp_status status = find_child(host, id, &handle, reterr);
    if (status != PP_OK)
        return status;
    handle->fresh_for_usage = false; /* the counters of the ended are read after its end */
    return ask(host, id.pid, P_PIDFD, handle->pidfd, options, ret_exit, reterr);
}

pp_status pp__linux_observe_exit(void *ctx, pp_proc_id id, pp_exit *ret_exit, pp_error *reterr) {
    return wait_for(ctx, id, WNOWAIT, ret_exit, reterr);
}

pp_reading pp__linux_own_written(void *ctx) {
    const pp_linux_host *host = ctx;
    char bytes[PP_LINUX_FILE_MAX];
    size_t size;
    pp_linux_io io;
    pp_status status = host->facts[PP_LINUX_FACT_IO].state;
    if (status == PP_OK)
        status = pp__linux_pread_file(host->sys, host->self_io_fd, "/proc/self/io", bytes,
                                      sizeof bytes, &size, NULL);
    if (status == PP_OK)
        status = pp__linux_decode_io(bytes, size, &io, NULL);
    return status == PP_OK ? io.write_bytes : pp_missing(status);
}

pp_status pp__linux_reap(void *ctx, pp_proc_id id, pp_exit *ret_exit, pp_reading *ret_write_bytes,
                         pp_error *reterr) {
    pp_linux_host *host = ctx;
    pp_reading before = pp__linux_own_written(host);
    pp_exit exit;
    pp_status status = wait_for(host, id, 0, &exit, reterr);
    if (status != PP_OK)
        return status;

    *ret_write_bytes = pp_gain(before, pp__linux_own_written(host));
    *ret_exit = exit;
    pp__linux_forget(host, id);
    if (host->spawned && pp_proc_id_equal(id, host->leader))
        pp__linux_terminal_back(host);
    return PP_OK;
}

pp_status pp__linux_orphan_ended(void *ctx, int32_t pid, pp_error *reterr) {
    pp_exit exit;
    return ask(ctx, pid, P_PID, pid, WNOWAIT, &exit, reterr);
}

/* It has ended, and nobody but us can take it, so it is taken also if it cannot be looked at: /proc
 * hides those of other users (hidepid), and one that stays would be a child left for ever. */
static pp_status look_at_orphan(pp_linux_host *host, int32_t pid, pp_orphan *orphan,
                                pp_error *reterr) {
    pp_status status = ask(host, pid, P_PID, pid, WNOWAIT, &orphan->exit, reterr);
    if (status == PP_OK)
        orphan->unseen = pp__linux_glance(host, pid, &orphan->info, NULL) != PP_OK;
    return status;
}

/* A zombie of ours keeps its number until we take it, so nothing needs to be held meanwhile. */
pp_status pp__linux_reap_orphan(void *ctx, int32_t pid, bool briefly, pp_orphan *ret_orphan,
                                pp_error *reterr) {
    pp_linux_host *host = ctx;
    pp_orphan orphan = {
        .info = { .id = { .pid = pid }, .phase = PP_PHASE_ZOMBIE, .exe = "[unread]" },
        .unseen = briefly,
    };
    bool inside = true;
    pp_status status = PP_OK;
    if (!briefly)
        status = look_at_orphan(host, pid, &orphan, reterr);
    if (status != PP_OK)
        return status;
    if (orphan.unseen)
        orphan.info.pgid = (int32_t)host->sys->get_pgid(pid);
    orphan.stray = pp__linux_leaf_holds_number(host, pid, &inside) == PP_OK && !inside;
    status = ask(host, pid, P_PID, pid, 0, &orphan.exit, reterr);
    if (status != PP_OK)
        return status;
    pp__linux_handle_drop(host, pid);
    *ret_orphan = orphan;
    return PP_OK;
}

pp_status pp__linux_no_children_left(void *ctx, pp_error *reterr) {
    pp_linux_host *host = ctx;
    siginfo_t info;
    struct rusage usage;
    memset(&info, 0, sizeof info);
    int result = host->sys->wait_id(P_ALL, 0, &info, WEXITED | WNOWAIT | WNOHANG | __WALL, &usage);
    if (result == -ECHILD)
        return PP_OK;
    if (result < 0)
        return pp_fail(reterr, PP_E_SYS, -result, "waitid", "any child");
    return pp_fail(reterr, PP_E_AGAIN, 0, "waitid", "a child is left");
}
