/* SPDX-License-Identifier: Apache-2.0 */
/* A signal goes to a process or group that was proved to be the one meant in the same call: by the
 * pidfd itself, or, for a group on kernels without the group flag, by the leader being our own
 * unreaped child, which pins its number. */
#include "internal.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#ifndef PIDFD_SIGNAL_PROCESS_GROUP
#define PIDFD_SIGNAL_PROCESS_GROUP (1U << 2)
#endif

static pp_status refuse_low(pp_proc_id id, pp_error *reterr) {
    if (id.pid > 1)
        return PP_OK;
    return pp_fail(reterr, PP_E_REFUSED, 0, "signal", "pid %d", id.pid);
}

static pp_status outcome(int result, const char *op, pp_proc_id id, int signal_number,
                         pp_error *reterr) {
    if (result >= 0)
        return PP_OK;
    return pp_fail(reterr, pp_status_from_errno(-result), -result, op, "%s to %d",
                   signal_number ? pp_signal_name(signal_number) : "0", id.pid);
}

pp_status pp__linux_signal(void *ctx, pp_proc_id id, int signal_number, pp_error *reterr) {
    pp_linux_host *host = ctx;
    pp_linux_handle *handle;
    pp_status status = refuse_low(id, reterr);
    if (status == PP_OK)
        status = pp__linux_handle_find(host, id, &handle, reterr);
    if (status != PP_OK)
        return status;
    int result = host->sys->pidfd_signal(handle->pidfd, signal_number, 0);
    if (result == -ESRCH) /* reaped: VANISHED, or STALE if the number lives on */
        return pp__linux_handle_validate(host, handle, reterr) == PP_E_STALE
                   ? PP_E_STALE
                   : outcome(result, "pidfd_send_signal", id, signal_number, reterr);
    return outcome(result, "pidfd_send_signal", id, signal_number, reterr);
}

/* The leader is a child of ours that nobody reaped. */
static bool is_pinned(const pp_linux_host *host) {
    siginfo_t info;
    struct rusage usage;
    memset(&info, 0, sizeof info);
    return host->sys->wait_id(P_PIDFD, host->leader_pidfd, &info, WEXITED | WNOWAIT | WNOHANG,
                              &usage) >= 0;
}

pp_status pp__linux_signal_group(void *ctx, pp_proc_id leader, int signal_number,
                                 pp_error *reterr) {
    pp_linux_host *host = ctx;
    pp_status status = refuse_low(leader, reterr);
    if (status != PP_OK)
        return status;
    if (!host->spawned || !pp_proc_id_equal(leader, host->leader))
        return pp_fail(reterr, PP_E_REFUSED, 0, "signal_group", "%d is not our leader", leader.pid);
    if (pp__linux_has(host, PP_LINUX_FACT_GROUP_SIGNAL))
        return outcome(
            host->sys->pidfd_signal(host->leader_pidfd, signal_number, PIDFD_SIGNAL_PROCESS_GROUP),
            "pidfd_send_signal", leader, signal_number, reterr);
    if (!is_pinned(host))
        return pp_fail(reterr, PP_E_REFUSED, 0, "signal_group", "number %d is not pinned",
                       leader.pid);
    return outcome(host->sys->kill(-leader.pid, signal_number), "kill", leader, signal_number,
                   reterr);
}

/* Nobody but this thread reaps, so what is on the list has its number until the loop is over. Who
 * came last lives most likely, and the others may be a crowd of ended ones. */
pp_status pp__linux_kill_children(void *ctx, size_t *ret_count, pp_error *reterr) {
    pp_linux_host *host = ctx;
    pp_pid_list own = { 0 };
    pp_status status = pp__linux_list_own_children(host, &own, reterr);
    for (size_t i = own.count; i > 0; i--) {
        int32_t pid = own.pids[i - 1];
        int result = pid > 1 ? host->sys->kill(pid, SIGKILL) : 0;
        if (result < 0 && result != -ESRCH)
            status = outcome(result, "kill", (pp_proc_id){ .pid = pid }, SIGKILL, reterr);
    }
    *ret_count = own.count;
    pp_pid_list_done(&own);
    return status;
}
