/* SPDX-License-Identifier: Apache-2.0 */
/* One notice per datagram. Nothing is read beyond what the datagram holds, whatever its headers
 * say. */
#include "decode.h"

#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <string.h>

enum { EVENT_AT = NLMSG_HDRLEN + sizeof(struct cn_msg) };

static pp_linux_notice notice_of(const struct proc_event *event) {
    const __typeof__(event->event_data.fork) *birth = &event->event_data.fork;
    switch ((unsigned)event->what) {
    case PROC_EVENT_NONE:
        return (pp_linux_notice){ .kind = PP_LINUX_NOTICE_ANSWER,
                                  .sys_errno = (int)event->event_data.ack.err };
    case PROC_EVENT_FORK:
        return (pp_linux_notice){ .kind = birth->child_pid == birth->child_tgid
                                              ? PP_LINUX_NOTICE_PROCESS
                                              : PP_LINUX_NOTICE_THREAD,
                                  .pid = birth->child_tgid,
                                  .parent = birth->parent_tgid };
    case PROC_EVENT_EXIT:
        return (pp_linux_notice){ .kind = PP_LINUX_NOTICE_EXIT,
                                  .pid = event->event_data.exit.process_tgid };
    default:
        return (pp_linux_notice){ .kind = PP_LINUX_NOTICE_OTHER };
    }
}

pp_status pp__linux_decode_notice(const char *bytes, size_t size, pp_linux_notice *ret_notice,
                                  pp_error *reterr) {
    struct proc_event event;
    if (size < EVENT_AT + sizeof event)
        return pp_fail(reterr, PP_E_MALFORMED, 0, "decode", "a notice of %zu bytes", size);
    memcpy(&event, bytes + EVENT_AT, sizeof event);
    *ret_notice = notice_of(&event);
    return PP_OK;
}
