/* SPDX-License-Identifier: Apache-2.0 */
/* Facts are found by trying them on this process itself, each time they are asked for. What macOS
 * has no call for is listed as well: a reader of the evidence need not know the system. */
#include <errno.h>

#include "adapter.h"
#include "darwin_abi.h"

typedef pp_status (*probe_fn)(pp_darwin *darwin, int *ret_errno);

static pp_status probe_rusage_v6(pp_darwin *darwin, int *ret_errno) {
    uint8_t record[PP_DW_RUSAGE_V6_SIZE];
    if (darwin->sys.pid_rusage(darwin->sys.ctx, darwin->self_pid, PP_DW_RUSAGE_V6, record,
                               ret_errno) == 0)
        return PP_OK;
    return *ret_errno == EINVAL ? PP_E_UNSUPPORTED : pp_status_from_errno(*ret_errno);
}

static pp_status with_error(pp_status status, const pp_error *failure, int *ret_errno) {
    *ret_errno = status == PP_OK ? 0 : failure->sys_errno;
    return status;
}

static pp_status probe_kern_proc(pp_darwin *darwin, int *ret_errno) {
    pp_dw_seen seen;
    pp_error failure = { 0 };
    return with_error(pp__dw_kinfo(darwin, darwin->self_pid, &seen, &failure), &failure, ret_errno);
}

/* Both interfaces must tell the same start: identities rest on it. */
static pp_status probe_bsdinfo(pp_darwin *darwin, int *ret_errno) {
    pp_dw_seen one, other;
    pp_error failure = { 0 };
    pp_status status = pp__dw_kinfo(darwin, darwin->self_pid, &one, &failure);
    if (status == PP_OK)
        status = pp__dw_bsdinfo(darwin, darwin->self_pid, &other, &failure);
    if (status == PP_OK && one.start_us != other.start_us)
        return PP_E_UNVERIFIED;
    return with_error(status, &failure, ret_errno);
}

static pp_status probe_children(pp_darwin *darwin, int *ret_errno) {
    pp_pid_list pids = { 0 };
    pp_error failure = { 0 };
    pp_status status = pp__dw_list_own_children(darwin, &pids, &failure);
    pp_pid_list_done(&pids);
    return with_error(status, &failure, ret_errno);
}

static pp_status absent(pp_darwin *darwin, int *ret_errno) {
    (void)darwin;
    *ret_errno = 0;
    return PP_E_UNSUPPORTED;
}

static const struct {
    const char *name;
    probe_fn probe;
    const char *consequence;
} facts[] = {
    { "kern_proc", probe_kern_proc, "no identities, no group lists: nothing can be verified" },
    { "proc_bsdinfo", probe_bsdinfo, "identities are confirmed by KERN_PROC alone" },
    { "proc_listchildpids", probe_children, "children outside the group are not found" },
    { "rusage_v6", probe_rusage_v6, "the V4 record is read instead: no kernel CPU energy" },
    { "subreaper", absent, "orphans are launchd's: their last usage and exit are not seen" },
    { "smaps_rollup", absent, "no PSS, USS or swap; phys_footprint instead" },
    { "context_switches", absent, "no switch counts; wakeups instead" },
};

pp_status pp__dw_capability(void *ctx, size_t index, const char **ret_name, pp_status *ret_state,
                            int *ret_errno, const char **ret_consequence) {
    if (index >= sizeof facts / sizeof facts[0])
        return PP_E_VANISHED;
    *ret_errno = 0;
    *ret_state = facts[index].probe(ctx, ret_errno);
    *ret_name = facts[index].name;
    *ret_consequence = *ret_state == PP_OK ? "" : facts[index].consequence;
    return PP_OK;
}
