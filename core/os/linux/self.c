/* SPDX-License-Identifier: Apache-2.0 */
/* What a process may ask about itself and its clocks without hosting anything. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "host.h"
#include "platform.h"

#define NS_PER_SECOND INT64_C(1000000000)

static pp_status read_clock(clockid_t clock, const char *name, int64_t *ret_ns, pp_error *reterr) {
    struct timespec time;
    if (clock_gettime(clock, &time) < 0)
        return pp_fail(reterr, PP_E_SYS, errno, "clock_gettime", "%s", name);
    *ret_ns = time.tv_sec * NS_PER_SECOND + time.tv_nsec;
    return PP_OK;
}

pp_status pp_host_now(pp_now *ret_now, pp_error *reterr) {
    pp_now now;
    pp_status status = read_clock(CLOCK_MONOTONIC, "CLOCK_MONOTONIC", &now.t_ns, reterr);
    if (status == PP_OK)
        status = read_clock(CLOCK_BOOTTIME, "CLOCK_BOOTTIME", &now.cont_ns, reterr);
    if (status == PP_OK)
        status = read_clock(CLOCK_REALTIME, "CLOCK_REALTIME", &now.wall_ns, reterr);
    if (status == PP_OK)
        *ret_now = now;
    return status;
}

pp_status pp_host_self_exe_dir(char *buf, size_t size, pp_error *reterr) {
    char path[4096];
    pp_status status = pp_platform_exe_path(path, sizeof path, reterr);
    if (status != PP_OK)
        return status;
    const char *slash = strrchr(path, '/');
    size_t length = slash == path ? 1 : (size_t)(slash - path);
    if (length >= size)
        return pp_fail(reterr, PP_E_NOMEM, 0, "executable path", "%zu bytes needed", length + 1);
    memcpy(buf, path, length);
    buf[length] = '\0';
    return PP_OK;
}
