/* SPDX-License-Identifier: Apache-2.0 */
/* Only si_code says that a child exited: the kernel reports stopped children to every waiter.
 * ECHILD says only that the child is not ours at the moment (a debugger borrows it); that it is
 * gone is said by KERN_PROC. The final reading is taken from the exited process before it is
 * reaped. */
#include <errno.h>
#include <string.h>

#include "adapter.h"
#include "darwin_abi.h"

static pp_reading add_readings(pp_reading a, pp_reading b) {
    pp_sum sum = { 0 };
    pp_sum_add(&sum, a);
    pp_sum_add(&sum, b);
    return pp_sum_total(&sum);
}

/* Own CPU and that of the children it waited for, frozen since the exit began. */
static pp_reading exited_cpu(pp_darwin *darwin, int32_t pid) {
    uint8_t record[PP_DW_RUSAGE_V6_SIZE];
    pp_status status = pp__dw_rusage(darwin, pid, record, NULL);
    if (status != PP_OK)
        return pp_missing(status);
    pp_usage usage;
    pp__dw_decode_rusage(record, darwin->rusage_version, darwin->timebase, &usage);
    return add_readings(usage.cpu_ns, usage.child_cpu_ns);
}

/* ECHILD: whether it is gone, or only somebody else's for now. */
static pp_status not_our_child(pp_darwin *darwin, pp_proc_id id, pp_error *reterr) {
    pp_dw_seen seen;
    pp_error failure;
    pp_status status = pp__dw_check(darwin, id, &seen, &failure);
    if (status == PP_OK)
        return pp_fail(reterr, PP_E_AGAIN, ECHILD, "waitid",
                       "pid %d lives, but is not our child now (a debugger?)", id.pid);
    if (status == PP_E_VANISHED || status == PP_E_STALE)
        return pp_fail(reterr, PP_E_VANISHED, ECHILD, "waitid",
                       "pid %d was reaped by somebody else", id.pid);
    return pp_fail(reterr, status, failure.sys_errno, failure.op, "%s", failure.detail);
}

static pp_status wait_child(pp_darwin *darwin, pp_proc_id id, int options, pp_exit *ret_exit,
                            pp_error *reterr) {
    uint8_t info[PP_DW_SIGINFO_SIZE];
    int failure = 0, result = -1;

    for (int i = 0; i < PP_DW_TRIES; i++) {
        memset(info, 0, sizeof info); /* WNOHANG with nothing to report leaves it untouched */
        result = darwin->sys.waitid(darwin->sys.ctx, id.pid, info, options, &failure);
        if (result == 0 || failure != EINTR)
            break;
    }
    if (result != 0 && failure == ECHILD)
        return not_our_child(darwin, id, reterr);
    if (result != 0)
        return pp_fail(reterr, pp_status_from_errno(failure), failure, "waitid", "pid %d", id.pid);
    pp_status status = pp__dw_decode_siginfo(info, id.pid, ret_exit);
    if (status == PP_E_AGAIN)
        return pp_fail(reterr, status, 0, "waitid", "pid %d has not exited", id.pid);
    if (status != PP_OK)
        return pp_fail(reterr, status, 0, "waitid", "pid %d: an answer about something else",
                       id.pid);
    return PP_OK;
}

pp_status pp__dw_observe_exit(void *ctx, pp_proc_id id, pp_exit *ret_exit, pp_error *reterr) {
    pp_darwin *darwin = ctx;
    pp_exit how;
    pp_dw_seen seen;
    if (id.pid <= 1)
        return pp_fail(reterr, PP_E_INVALID, 0, "waitid", "pid %d", id.pid);
    pp_status status =
        wait_child(darwin, id, PP_DW_WEXITED | PP_DW_WNOHANG | PP_DW_WNOWAIT, &how, reterr);
    if (status != PP_OK && status != PP_E_AGAIN)
        return status;
    /* The answer may be about another child, if somebody else reaped ours. */
    pp_status identity = pp__dw_check(darwin, id, &seen, reterr);
    if (identity == PP_E_STALE)
        return pp_fail(reterr, PP_E_VANISHED, 0, "waitid", "pid %d was reaped by somebody else",
                       id.pid);
    if (identity != PP_OK || status != PP_OK)
        return identity != PP_OK ? identity : status;
    how.cpu_ns = exited_cpu(darwin, id.pid);
    *ret_exit = how;
    return PP_OK;
}

pp_status pp__dw_reap(void *ctx, pp_proc_id id, pp_exit *ret_exit, pp_reading *ret_write_bytes,
                      pp_error *reterr) {
    pp_darwin *darwin = ctx;
    pp_exit seen, how;
    /* Looking first: only then is it known that the next wait reaps and does not eat a stop. */
    pp_status status = pp__dw_observe_exit(ctx, id, &seen, reterr);
    if (status == PP_OK)
        status = wait_child(darwin, id, PP_DW_WEXITED | PP_DW_WNOHANG, &how, reterr);
    if (status != PP_OK)
        return status;
    how.cpu_ns = seen.cpu_ns;
    *ret_exit = how;
    *ret_write_bytes = pp_missing(PP_E_UNSUPPORTED); /* a parent's counters hold no child's I/O */
    return PP_OK;
}
