/* SPDX-License-Identifier: Apache-2.0 */
/* The one place that blocks. Everything that may wake us is level-triggered in one epoll set, so
 * nothing is lost between two calls; what has come to its end leaves the set, so nothing wakes us
 * for ever. The deadline is a timer on the same clock as pp_now.t_ns. */
#include "internal.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>

enum { TAG_SIGNAL, TAG_TIMER, TAG_CHANNEL, TAG_OUTPUT };
enum { MAX_SIGNAL_READS = 64 };

static pp_status watch(pp_linux_host *host, int operation, int fd, uint32_t events, uint32_t tag,
                       pp_error *reterr) {
    int result = host->sys->epoll_change(host->epoll_fd, operation, fd, events, tag);
    return result < 0 ? pp_fail(reterr, PP_E_SYS, -result, "epoll_ctl", "fd %d", fd) : PP_OK;
}

static pp_status open_fd(int result, const char *op, int *ret_fd, pp_error *reterr) {
    if (result < 0)
        return pp_fail(reterr, PP_E_SYS, -result, op, "%s", "");
    *ret_fd = result;
    return PP_OK;
}

pp_status pp__linux_wait_open(pp_linux_host *host, pp_error *reterr) {
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);

    pp_status status = open_fd(host->sys->epoll_create(), "epoll_create1", &host->epoll_fd, reterr);
    if (status == PP_OK)
        status = open_fd(host->sys->signal_fd(&child), "signalfd", &host->signal_fd, reterr);
    if (status == PP_OK)
        status = open_fd(host->sys->timer_fd(), "timerfd_create", &host->timer_fd, reterr);
    if (status == PP_OK)
        status = watch(host, EPOLL_CTL_ADD, host->signal_fd, EPOLLIN, TAG_SIGNAL, reterr);
    if (status == PP_OK)
        status = watch(host, EPOLL_CTL_ADD, host->timer_fd, EPOLLIN, TAG_TIMER, reterr);
    if (status == PP_OK && host->options.channel_fd >= 0) {
        status = watch(host, EPOLL_CTL_ADD, host->options.channel_fd, EPOLLIN, TAG_CHANNEL, reterr);
        host->channel_watched = status == PP_OK;
    }
    return status;
}

pp_status pp__linux_watch_stream(pp_linux_host *host, size_t stream, pp_error *reterr) {
    return watch(host, EPOLL_CTL_ADD, host->streams[stream].pipe_fd, EPOLLIN, TAG_OUTPUT, reterr);
}

void pp__linux_unwatch(pp_linux_host *host, int fd) {
    (void)host->sys->epoll_change(host->epoll_fd, EPOLL_CTL_DEL, fd, 0, 0);
}

/* A deadline that was met keeps the timer readable until another one is set. */
static pp_status arm(pp_linux_host *host, int64_t deadline_ns, pp_error *reterr) {
    if (deadline_ns <= 0)
        deadline_ns = 1; /* 0 would disarm */
    if (deadline_ns == host->armed_ns)
        return PP_OK;
    struct timespec when = { .tv_sec = deadline_ns / PP_LINUX_NS_PER_SECOND,
                             .tv_nsec = deadline_ns % PP_LINUX_NS_PER_SECOND };
    int result = host->sys->set_timer(host->timer_fd, &when);
    if (result < 0)
        return pp_fail(reterr, PP_E_SYS, -result, "timerfd_settime", "%lld ns",
                       (long long)deadline_ns);
    host->armed_ns = deadline_ns;
    return PP_OK;
}

static pp_status want_channel(pp_linux_host *host, bool want_writable, pp_error *reterr) {
    if (!host->channel_watched || want_writable == host->channel_wants_writable)
        return PP_OK;
    uint32_t events = EPOLLIN | (want_writable ? (uint32_t)EPOLLOUT : 0U);
    pp_status status =
        watch(host, EPOLL_CTL_MOD, host->options.channel_fd, events, TAG_CHANNEL, reterr);
    if (status == PP_OK)
        host->channel_wants_writable = want_writable;
    return status;
}

/* Only that there were some matters: they coalesce. */
static void drain_signals(pp_linux_host *host) {
    struct signalfd_siginfo infos[16];
    for (int reads = 0; reads < MAX_SIGNAL_READS; reads++)
        if (host->sys->read(host->signal_fd, infos, sizeof infos) < (ssize_t)sizeof infos)
            return;
}

static void note(pp_linux_host *host, const struct epoll_event *event, pp_events *events) {
    const uint32_t ended = EPOLLHUP | EPOLLERR;
    switch (event->data.u32) {
    case TAG_SIGNAL:
        drain_signals(host);
        events->child = true;
        break;
    case TAG_TIMER:
        events->timer = true;
        break;
    case TAG_CHANNEL:
        events->channel_readable |= (event->events & (EPOLLIN | ended)) != 0;
        events->channel_writable |= (event->events & EPOLLOUT) != 0;
        break;
    default:
        events->output_readable = true;
        break;
    }
}

pp_status pp__linux_wait(void *ctx, int64_t deadline_ns, bool want_writable, pp_events *ret_events,
                         pp_error *reterr) {
    pp_linux_host *host = ctx;
    pp_status status = arm(host, deadline_ns, reterr);
    if (status == PP_OK)
        status = want_channel(host, want_writable, reterr);
    if (status != PP_OK)
        return status;

    struct epoll_event ready[8];
    int count;
    do { /* the timer bounds this */
        count = host->sys->epoll_wait(host->epoll_fd, ready, sizeof ready / sizeof *ready);
    } while (count == -EINTR);
    if (count < 0)
        return pp_fail(reterr, PP_E_SYS, -count, "epoll_wait", "%s", "");

    pp_events events = { 0 };
    for (int i = 0; i < count; i++)
        note(host, &ready[i], &events);
    *ret_events = events;
    return PP_OK;
}

static pp_status channel_closed(pp_linux_host *host, int sys_errno, const char *op,
                                pp_error *reterr) {
    if (host->channel_watched)
        pp__linux_unwatch(host, host->options.channel_fd);
    host->channel_watched = false;
    return pp_fail(reterr, PP_E_CLOSED, sys_errno, op, "channel");
}

static pp_status channel_failed(pp_linux_host *host, int sys_errno, const char *op,
                                pp_error *reterr) {
    if (sys_errno == EAGAIN)
        return pp_fail(reterr, PP_E_AGAIN, EAGAIN, op, "channel");
    if (sys_errno == EPIPE || sys_errno == ECONNRESET)
        return channel_closed(host, sys_errno, op, reterr);
    return pp_fail(reterr, PP_E_SYS, sys_errno, op, "channel");
}

/* The kernel copies what fits a page with its own header into one piece; more takes pages of its
 * own and, measured, two to three times as long for the same bytes. */
enum { SEND_MAX = 3584 };

pp_status pp__linux_channel_send(void *ctx, const void *bytes, size_t size, size_t *ret_sent,
                                 pp_error *reterr) {
    pp_linux_host *host = ctx;
    if (host->options.channel_fd < 0)
        return channel_closed(host, 0, "send", reterr);
    ssize_t sent =
        host->sys->send(host->options.channel_fd, bytes, size < SEND_MAX ? size : SEND_MAX);
    if (sent < 0)
        return channel_failed(host, (int)-sent, "send", reterr);
    *ret_sent = (size_t)sent;
    return PP_OK;
}

pp_status pp__linux_channel_recv(void *ctx, void *bytes, size_t capacity, size_t *ret_received,
                                 pp_error *reterr) {
    pp_linux_host *host = ctx;
    if (host->options.channel_fd < 0)
        return channel_closed(host, 0, "recv", reterr);
    ssize_t got = host->sys->recv(host->options.channel_fd, bytes, capacity);
    if (got < 0)
        return channel_failed(host, (int)-got, "recv", reterr);
    if (got == 0 && capacity > 0)
        return channel_closed(host, 0, "recv", reterr);
    *ret_received = (size_t)got;
    return PP_OK;
}
