/* SPDX-License-Identifier: Apache-2.0 */
/* macOS gives orphans to launchd: there is no net to spread. */
#include "host.h"

static pp_status absent(pp_error *reterr) {
    return pp_fail(reterr, PP_E_UNSUPPORTED, 0, "net", "orphans are launchd's");
}

pp_status pp_host_adopt(pp_error *reterr) {
    return absent(reterr);
}

pp_status pp_host_net_open(const char *leaf, pp_os *ret_os, pp_error *reterr) {
    (void)leaf;
    (void)ret_os;
    return absent(reterr);
}

pp_status pp_host_net_close(pp_os *os, pp_error *reterr) {
    (void)os;
    (void)reterr;
    return PP_OK;
}

bool pp_host_started_with(int32_t pid, const char *assignment) {
    (void)pid;
    (void)assignment;
    return false;
}
