/* SPDX-License-Identifier: Apache-2.0 */
/* One notice per datagram, by the fixed layout of the kernel's interface: a netlink header, a
 * connector header, an event in native byte order. Nothing is read beyond what the datagram holds,
 * whatever its headers say. */
#include "decode.h"

#include <string.h>

enum {
    EVENT_AT = 16 + 20,
    EVENT_BYTES = 40,
    DATA_AT = EVENT_AT + 16, /* behind kind, processor and time */
};

enum {
    EVENT_ANSWER = 0,
    EVENT_FORK = 1,
};
#define EVENT_EXIT UINT32_C(0x80000000)

static uint32_t word(const char *bytes, size_t index) {
    uint32_t value;
    memcpy(&value, bytes + DATA_AT + index * sizeof value, sizeof value);
    return value;
}

/* fork: the parent's thread and process, the child's thread and process. */
static pp_linux_notice birth(const char *bytes) {
    return (pp_linux_notice){ .kind = word(bytes, 2) == word(bytes, 3) ? PP_LINUX_NOTICE_PROCESS
                                                                       : PP_LINUX_NOTICE_THREAD,
                              .pid = (int32_t)word(bytes, 3),
                              .parent = (int32_t)word(bytes, 1) };
}

pp_status pp__linux_decode_notice(const char *bytes, size_t size, pp_linux_notice *ret_notice,
                                  pp_error *reterr) {
    uint32_t what;
    if (size < EVENT_AT + EVENT_BYTES)
        return pp_fail(reterr, PP_E_MALFORMED, 0, "decode", "a notice of %zu bytes", size);
    memcpy(&what, bytes + EVENT_AT, sizeof what);
    if (what == EVENT_ANSWER)
        *ret_notice =
            (pp_linux_notice){ .kind = PP_LINUX_NOTICE_ANSWER, .sys_errno = (int)word(bytes, 0) };
    else if (what == EVENT_FORK)
        *ret_notice = birth(bytes);
    else if (what == EVENT_EXIT) /* a thread and its process */
        *ret_notice =
            (pp_linux_notice){ .kind = PP_LINUX_NOTICE_EXIT, .pid = (int32_t)word(bytes, 1) };
    else
        *ret_notice = (pp_linux_notice){ .kind = PP_LINUX_NOTICE_OTHER };
    return PP_OK;
}
