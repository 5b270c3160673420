/* SPDX-License-Identifier: Apache-2.0 */
/* No signal goes to a number whose owner was not confirmed in the same call, nor to 1 or below. A
 * group number is good while its leader is alive or unreaped, whoever else is in it. kill(-pgid)
 * answers EPERM when all members have exited or are exiting, so the members are asked first and
 * such a group is not signalled; EPERM after that is a refusal. Success proves nothing about any
 * one. */
#include <errno.h>
#include <stdlib.h>

#include "adapter.h"

static pp_status send(pp_darwin *darwin, int32_t target, int signal_number, pp_error *reterr) {
    int failure = 0;
    if (darwin->sys.kill(darwin->sys.ctx, target, signal_number, &failure) != 0)
        return pp_fail(reterr, pp_status_from_errno(failure), failure, "kill", "%s to %d",
                       pp_signal_name(signal_number), target);
    return PP_OK;
}

pp_status pp__dw_signal(void *ctx, pp_proc_id id, int signal_number, pp_error *reterr) {
    pp_darwin *darwin = ctx;
    pp_dw_seen seen;
    if (id.pid <= 1)
        return pp_fail(reterr, PP_E_INVALID, 0, "kill", "pid %d", id.pid);
    pp_status status = pp__dw_check(darwin, id, &seen, reterr);
    if (status != PP_OK)
        return status;
    return send(darwin, id.pid, signal_number, reterr);
}

/* False only when a whole list says so. */
static bool may_hold_living(pp_darwin *darwin, int32_t pgid) {
    pp_dw_seen *seen = NULL;
    size_t count = 0;
    if (pp__dw_group(darwin, pgid, &seen, &count, NULL) != PP_OK)
        return true;
    bool living = false;
    for (size_t i = 0; i < count && !living; i++)
        living = seen[i].phase != PP_PHASE_ZOMBIE;
    free(seen);
    return living;
}

pp_status pp__dw_signal_group(void *ctx, pp_proc_id leader, int signal_number, pp_error *reterr) {
    pp_darwin *darwin = ctx;
    pp_dw_seen seen;
    if (leader.pid <= 1)
        return pp_fail(reterr, PP_E_INVALID, 0, "kill", "group %d", leader.pid);
    if (!may_hold_living(darwin, leader.pid))
        return pp_fail(reterr, PP_E_VANISHED, 0, "kill", "group %d has only exited members",
                       leader.pid);
    pp_status status = pp__dw_check(darwin, leader, &seen, reterr);
    if (status != PP_OK)
        return status;
    return send(darwin, -leader.pid, signal_number, reterr);
}
