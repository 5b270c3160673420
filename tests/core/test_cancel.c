/* SPDX-License-Identifier: Apache-2.0 */
/* Each test runs in a child: the handlers and what they remember stay until a process ends. */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "host.h"
#include "pairperf/cancel.h"

static void require(bool good, const char *what) {
    if (good)
        return;
    fprintf(stderr, "wrong: %s\n", what);
    _exit(1);
}

/* Runs `body` in a child; it must end with exit(0). */
static void in_child(void (*body)(void)) {
    pid_t child = fork();
    if (child == 0) {
        body();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static bool readable(void) {
    struct pollfd fd = { .fd = pp_cancel_fd(), .events = POLLIN };
    return poll(&fd, 1, 0) == 1 && fd.revents == POLLIN;
}

static void first_signal_body(void) {
    require(pp_cancel_fd() == -1, "no descriptor before");
    require(pp_cancel_install(NULL) == PP_OK, "install");
    require(pp_cancel_install(NULL) == PP_OK, "install again");
    require(!pp_cancel_requested(NULL) && !readable(), "nothing came yet");
    pp_now before, after;
    require(pp_host_now(&before, NULL) == PP_OK, "clock");
    raise(SIGTERM);
    require(pp_host_now(&after, NULL) == PP_OK, "clock");
    raise(SIGINT);
    raise(SIGHUP);
    raise(SIGTERM);
    pp_cancel cancel;
    require(pp_cancel_requested(&cancel), "requested");
    require(cancel.signal_number == SIGTERM, "the first signal");
    require(cancel.count == 4, "all are counted");
    require(before.t_ns <= cancel.t_ns && cancel.t_ns <= after.t_ns, "time of the first");
    require(readable(), "readable");
}

/* proves: CAN-1 */
static void the_first_signal_is_remembered_and_all_are_counted(void **state) {
    (void)state;
    in_child(first_signal_body);
}

static void many_signals_body(void) {
    require(pp_cancel_install(NULL) == PP_OK, "install");
    for (int i = 0; i < 100000; i++) /* far more than a pipe holds */
        raise(SIGINT);
    pp_cancel cancel;
    require(pp_cancel_requested(&cancel) && cancel.count == 100000, "count");
}

/* proves: CAN-1 */
static void many_signals_never_block(void **state) {
    (void)state;
    in_child(many_signals_body);
}

static void ignored_body(void) {
    signal(SIGHUP, SIG_IGN);
    require(pp_cancel_install(NULL) == PP_OK, "install");
    raise(SIGHUP);
    require(!pp_cancel_requested(NULL), "SIGHUP was ignored at start");
    raise(SIGINT);
    pp_cancel cancel;
    require(pp_cancel_requested(&cancel) && cancel.signal_number == SIGINT, "SIGINT was not");
}

/* proves: CAN-1 */
static void a_signal_ignored_at_start_stays_ignored(void **state) {
    (void)state;
    in_child(ignored_body);
}

static void waiting_body(void) {
    require(pp_cancel_install(NULL) == PP_OK, "install");
    pid_t parent = getpid();
    if (fork() == 0) {
        kill(parent, SIGTERM);
        _exit(0);
    }
    struct pollfd fd = { .fd = pp_cancel_fd(), .events = POLLIN };
    while (poll(&fd, 1, 10000) < 0) /* EINTR: the signal came inside the call */
        continue;
    require(fd.revents == POLLIN, "the wait ended");
    require(pp_cancel_requested(NULL), "requested");
    wait(NULL);
}

static void a_wait_on_the_descriptor_ends(void **state) {
    (void)state;
    in_child(waiting_body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_signal_is_remembered_and_all_are_counted),
        cmocka_unit_test(many_signals_never_block),
        cmocka_unit_test(a_signal_ignored_at_start_stays_ignored),
        cmocka_unit_test(a_wait_on_the_descriptor_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
