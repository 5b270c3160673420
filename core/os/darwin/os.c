/* SPDX-License-Identifier: Apache-2.0 */
/* The table that makes a Darwin host of the raw calls, and the small functions. Nothing is adopted
 * here: orphans go to launchd and vanish without a zombie, so ECHILD would prove nothing. */
#include <errno.h>
#include <stdlib.h>

#include "adapter.h"
#include "darwin_abi.h"
#include "output.h"

#define LONGEST_WAIT_NS (INT64_C(86400) * 1000000000)

pp_status pp__dw_now(pp_darwin *darwin, pp_now *ret_now, pp_error *reterr) {
    const pp_darwin_sys *sys = &darwin->sys;
    pp_now now;
    int failure = 0;
    /* In this order, so that cont_ns - t_ns is never below the time slept. */
    if (sys->clock_ns(sys->ctx, PP_DW_UPTIME_RAW, &now.t_ns, &failure) != 0 ||
        sys->clock_ns(sys->ctx, PP_DW_MONOTONIC_RAW, &now.cont_ns, &failure) != 0 ||
        sys->clock_ns(sys->ctx, PP_DW_REALTIME, &now.wall_ns, &failure) != 0)
        return pp_fail(reterr, pp_status_from_errno(failure), failure, "clock_gettime", "now");
    *ret_now = now;
    return PP_OK;
}

static pp_status os_now(void *ctx, pp_now *ret_now, pp_error *reterr) {
    return pp__dw_now(ctx, ret_now, reterr);
}

/* One kevent, at most a day long: the kernel refuses times that are far too long. */
static pp_status wait_once(pp_darwin *darwin, int64_t timeout_ns, bool want_writable,
                           unsigned *ret_bits, pp_error *reterr) {
    const pp_dw_watch watch = {
        .channel = darwin->channel_ended ? -1 : darwin->channel_fd,
        .channel_writable = want_writable,
        .output = { darwin->streams[0].pipe_fd, darwin->streams[1].pipe_fd },
    };
    unsigned bits = 0;
    int failure = 0;
    if (timeout_ns > LONGEST_WAIT_NS)
        timeout_ns = LONGEST_WAIT_NS;
    if (darwin->sys.events(darwin->sys.ctx, &watch, timeout_ns, &bits, &failure) != 0 &&
        failure != EINTR)
        return pp_fail(reterr, pp_status_from_errno(failure), failure, "kevent", "wait");
    *ret_bits = bits;
    return PP_OK;
}

static pp_status os_wait(void *ctx, int64_t deadline_ns, bool want_writable, pp_events *ret_events,
                         pp_error *reterr) {
    pp_darwin *darwin = ctx;
    pp_now now = { 0 };
    unsigned bits = 0;
    pp_status status = pp__dw_now(darwin, &now, reterr);
    do { /* a look, at least, when the deadline has passed */
        int64_t timeout_ns = deadline_ns > now.t_ns ? deadline_ns - now.t_ns : 0;
        if (status == PP_OK)
            status = wait_once(darwin, timeout_ns, want_writable, &bits, reterr);
        if (status == PP_OK)
            status = pp__dw_now(darwin, &now, reterr);
    } while (status == PP_OK && bits == 0 && now.t_ns < deadline_ns);
    if (status != PP_OK)
        return status;

    *ret_events = (pp_events){
        .child = (bits & PP_DW_EVENT_CHILD) != 0,
        .channel_readable = (bits & PP_DW_EVENT_READABLE) != 0,
        .channel_writable = (bits & PP_DW_EVENT_WRITABLE) != 0,
        .output_readable = (bits & PP_DW_EVENT_OUTPUT) != 0,
        .timer = now.t_ns >= deadline_ns,
    };
    return PP_OK;
}

/* macOS has phys_footprint only. */
static void os_memory(void *ctx, pp_memory_answer *items, size_t count, int64_t deadline_ns) {
    (void)ctx;
    (void)deadline_ns;
    for (size_t i = 0; i < count; i++)
        items[i] =
            (pp_memory_answer){ .id = items[i].id, .status = PP_E_UNSUPPORTED, .op = "memory" };
}

static pp_status os_no_children_left(void *ctx, pp_error *reterr) {
    (void)ctx;
    return pp_fail(reterr, PP_E_UNSUPPORTED, 0, "waitid", "orphans are not ours on macOS");
}

/* Under Rosetta the timebase is 1/1 while the counters stay in the machine's own ticks. The name is
 * unknown on Intel, where nothing is translated. */
pp_status pp__dw_refuse_translated(const pp_darwin_sys *sys, pp_error *reterr) {
    int32_t translated = 0;
    size_t size = sizeof translated;
    int failure = 0;
    if (sys->sysctlbyname(sys->ctx, "sysctl.proc_translated", &translated, &size, &failure) != 0) {
        if (failure == ENOENT)
            return PP_OK;
        return pp_fail(reterr, pp_status_from_errno(failure), failure, "sysctlbyname",
                       "sysctl.proc_translated");
    }
    if (size != sizeof translated || translated != 0)
        return pp_fail(reterr, PP_E_REFUSED, 0, "sysctl.proc_translated",
                       "this is an Intel program under Rosetta; use the arm64 one");
    return PP_OK;
}

pp_status pp__darwin_init(pp_darwin *darwin, pp_os *ret_os, pp_error *reterr) {
    int failure = 0;
    pp_dw_timebase timebase = { 0, 0 };
    pp_status status = pp__dw_refuse_translated(&darwin->sys, reterr);
    if (status != PP_OK)
        return status;
    if (darwin->sys.timebase(darwin->sys.ctx, &timebase.numer, &timebase.denom, &failure) != 0)
        return pp_fail(reterr, pp_status_from_errno(failure), failure, "mach_timebase_info",
                       "ticks cannot be converted");
    if (timebase.numer == 0 || timebase.denom == 0)
        return pp_fail(reterr, PP_E_MALFORMED, 0, "mach_timebase_info", "%u/%u", timebase.numer,
                       timebase.denom);
    darwin->timebase = timebase;
    darwin->rusage_version = PP_DW_RUSAGE_V6;
    darwin->channel_ended = false;
    darwin->known = NULL;
    darwin->known_count = darwin->known_capacity = 0;
    pp__dw_output_init(darwin);

    *ret_os = (pp_os){
        .ctx = darwin,
        .now = os_now,
        .wait = os_wait,
        .channel_send = pp__dw_channel_send,
        .channel_recv = pp__dw_channel_recv,
        .spawn = pp__dw_spawn,
        .observe_exit = pp__dw_observe_exit,
        .reap = pp__dw_reap,
        .no_children_left = os_no_children_left,
        .list_group = pp__dw_list_group,
        .list_children = pp__dw_list_children,
        .list_own_children = pp__dw_list_own_children,
        .identify = pp__dw_identify,
        .inspect = pp__dw_inspect,
        .usage = pp__dw_usage,
        .memory = os_memory,
        .forget = pp__dw_forget,
        .signal = pp__dw_signal,
        .signal_group = pp__dw_signal_group,
        .drain_output = pp__dw_drain_output,
        .save = pp__dw_save,
        .own_cost = pp__dw_own_cost,
        .capability = pp__dw_capability,
        .adopts = false,
    };
    pp_os_without_leaf(ret_os);
    pp_os_without_orphans(ret_os);
    pp_os_without_notices(ret_os);
    return PP_OK;
}

void pp__darwin_done(pp_darwin *darwin) {
    pp__dw_output_done(darwin);
    free(darwin->known);
    darwin->known = NULL;
    darwin->known_count = darwin->known_capacity = 0;
}
