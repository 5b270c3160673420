/* SPDX-License-Identifier: Apache-2.0 */
/* The identity is looked at after the counters: as the process was seen before and is still there
 * afterwards, the counters between were its own. Otherwise there are no figures, only STALE or
 * VANISHED. A process of another effective user refuses all counters: DENIED, never a zero. */
#include <errno.h>
#include <string.h>

#include "adapter.h"
#include "darwin_abi.h"

pp_status pp__dw_rusage(pp_darwin *darwin, int32_t pid, void *buffer, pp_error *reterr) {
    static const int versions[] = { PP_DW_RUSAGE_V6, PP_DW_RUSAGE_V4, PP_DW_RUSAGE_V0 };
    int failure = EINVAL;

    memset(buffer, 0, PP_DW_RUSAGE_V6_SIZE);
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        if (versions[i] > darwin->rusage_version)
            continue;
        if (darwin->sys.pid_rusage(darwin->sys.ctx, pid, versions[i], buffer, &failure) == 0) {
            darwin->rusage_version = versions[i];
            return PP_OK;
        }
        if (failure != EINVAL) /* EINVAL: this kernel does not know the version */
            break;
    }
    return pp_fail(reterr, failure == EINVAL ? PP_E_UNSUPPORTED : pp_status_from_errno(failure),
                   failure, "proc_pid_rusage", "pid %d", pid);
}

static pp_reading read_threads(pp_darwin *darwin, int32_t pid) {
    uint8_t record[PP_DW_TASKINFO_SIZE];
    int failure = 0;
    int bytes = darwin->sys.pidinfo(darwin->sys.ctx, pid, PP_DW_TASKINFO, 0, record,
                                    (int)sizeof record, &failure);
    if (bytes <= 0)
        return pp_missing(pp_status_from_errno(failure));
    int32_t threads;
    memcpy(&threads, record + PP_DW_TASKINFO_THREADS, sizeof threads);
    if (bytes != (int)sizeof record || threads < 0)
        return pp_missing(PP_E_MALFORMED);
    return pp_known((uint64_t)threads);
}

pp_status pp__dw_usage(void *ctx, pp_proc_id id, bool with_switches, pp_usage *ret_usage,
                       pp_error *reterr) {
    pp_darwin *darwin = ctx;
    uint8_t record[PP_DW_RUSAGE_V6_SIZE];
    pp_usage usage = { 0 };
    pp_error failure;
    (void)with_switches; /* Darwin does not tell them apart */

    pp_status status = pp__dw_rusage(darwin, id.pid, record, &failure);
    if (status == PP_OK) {
        pp__dw_decode_rusage(record, darwin->rusage_version, darwin->timebase, &usage);
        usage.threads = read_threads(darwin, id.pid);
    }
    /* Also after a refusal: it may be the number's next owner that refused. */
    pp_dw_seen seen;
    pp_status identity = pp__dw_check(darwin, id, &seen, reterr);
    if (identity != PP_OK)
        return identity;
    if (status != PP_OK)
        return pp_fail(reterr, status, failure.sys_errno, failure.op, "%s", failure.detail);
    *ret_usage = usage;
    return PP_OK;
}

pp_status pp__dw_own_cost(void *ctx, pp_reading *ret_cpu_ns, pp_reading *ret_rss_bytes,
                          pp_error *reterr) {
    pp_darwin *darwin = ctx;
    uint8_t record[PP_DW_RUSAGE_V6_SIZE];
    pp_status status = pp__dw_rusage(darwin, darwin->self_pid, record, reterr);
    if (status != PP_OK)
        return status;
    pp_usage usage;
    pp__dw_decode_rusage(record, darwin->rusage_version, darwin->timebase, &usage);
    *ret_cpu_ns = usage.cpu_ns;
    *ret_rss_bytes = usage.rss_bytes;
    return PP_OK;
}
