/* SPDX-License-Identifier: Apache-2.0 */
/* The handler writes `first` last, so whoever sees a signal number also sees its time. All three
 * signals are blocked while the handler runs; only lock-free atomics are shared with it. One byte
 * is ever written to the pipe, so writing cannot block. */
#include "pairperf/cancel.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include "host.h"

static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && ATOMIC_INT_LOCK_FREE == 2,
              "the handler needs lock-free atomics");

static atomic_int first;
static atomic_uint count;
static atomic_llong first_t_ns;
static int pipe_fds[2] = { -1, -1 };

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
enum { SIGNAL_COUNT = sizeof signals / sizeof *signals };

static void remember(int signal_number) {
    int saved = errno;
    if (atomic_fetch_add(&count, 1) == 0) {
        pp_now now = { 0 };
        (void)pp_host_now(&now, NULL);
        atomic_store(&first_t_ns, now.t_ns);
        atomic_store(&first, signal_number);
        (void)!write(pipe_fds[1], "", 1);
    }
    errno = saved;
}

static pp_status make_pipe(pp_error *reterr) {
    int fds[2];
    if (pipe(fds) != 0)
        return pp_fail(reterr, PP_E_SYS, errno, "pipe", "cancellation");
    for (int i = 0; i < 2; i++) {
        if (fcntl(fds[i], F_SETFD, FD_CLOEXEC) != 0) {
            int failed = errno;
            close(fds[0]);
            close(fds[1]);
            return pp_fail(reterr, PP_E_SYS, failed, "fcntl", "cancellation");
        }
    }
    pipe_fds[0] = fds[0];
    pipe_fds[1] = fds[1];
    return PP_OK;
}

static pp_status handle(int signal_number, pp_error *reterr) {
    struct sigaction old, new = { .sa_handler = remember };
    sigemptyset(&new.sa_mask);
    for (size_t i = 0; i < SIGNAL_COUNT; i++)
        sigaddset(&new.sa_mask, signals[i]);
    if (sigaction(signal_number, NULL, &old) != 0)
        return pp_fail(reterr, PP_E_SYS, errno, "sigaction", "%s", pp_signal_name(signal_number));
    if (old.sa_handler == SIG_IGN)
        return PP_OK;
    if (sigaction(signal_number, &new, NULL) != 0)
        return pp_fail(reterr, PP_E_SYS, errno, "sigaction", "%s", pp_signal_name(signal_number));
    return PP_OK;
}

pp_status pp_cancel_install(pp_error *reterr) {
    pp_status status = pipe_fds[0] >= 0 ? PP_OK : make_pipe(reterr);
    for (size_t i = 0; status == PP_OK && i < SIGNAL_COUNT; i++)
        status = handle(signals[i], reterr);
    return status;
}

bool pp_cancel_requested(pp_cancel *ret_cancel) {
    int signal_number = atomic_load(&first);
    if (signal_number == 0)
        return false;
    if (ret_cancel) {
        ret_cancel->signal_number = signal_number;
        ret_cancel->count = atomic_load(&count);
        ret_cancel->t_ns = atomic_load(&first_t_ns);
    }
    return true;
}

int pp_cancel_fd(void) {
    return pipe_fds[0];
}
