/* SPDX-License-Identifier: Apache-2.0 */
/* The channel never blocks, and its end is told as PP_E_CLOSED by whoever meets it first. SIGPIPE
 * is ignored by the host. */
#include <errno.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "output.h"

static pp_status ended(pp_darwin *darwin, int failure, const char *op, pp_error *reterr) {
    darwin->channel_ended = true;
    return pp_fail(reterr, PP_E_CLOSED, failure, op, "channel");
}

static pp_status failed(pp_darwin *darwin, int failure, const char *op, pp_error *reterr) {
    if (failure == EAGAIN || failure == EWOULDBLOCK || failure == EINTR)
        return pp_fail(reterr, PP_E_AGAIN, failure, op, "channel");
    if (failure == ECONNRESET || failure == EPIPE || failure == ENOTCONN)
        return ended(darwin, failure, op, reterr);
    return pp_fail(reterr, PP_E_SYS, failure, op, "channel");
}

pp_status pp__dw_channel_send(void *ctx, const void *bytes, size_t size, size_t *ret_sent,
                              pp_error *reterr) {
    pp_darwin *darwin = ctx;
    if (darwin->channel_fd < 0)
        return ended(darwin, 0, "send", reterr);
    ssize_t sent = send(darwin->channel_fd, bytes, size, MSG_DONTWAIT);
    if (sent < 0)
        return failed(darwin, errno, "send", reterr);
    *ret_sent = (size_t)sent;
    return PP_OK;
}

pp_status pp__dw_channel_recv(void *ctx, void *bytes, size_t capacity, size_t *ret_received,
                              pp_error *reterr) {
    pp_darwin *darwin = ctx;
    if (darwin->channel_fd < 0)
        return ended(darwin, 0, "recv", reterr);
    ssize_t got = recv(darwin->channel_fd, bytes, capacity, MSG_DONTWAIT);
    if (got < 0)
        return failed(darwin, errno, "recv", reterr);
    if (got == 0 && capacity > 0)
        return ended(darwin, 0, "recv", reterr);
    *ret_received = (size_t)got;
    return PP_OK;
}
