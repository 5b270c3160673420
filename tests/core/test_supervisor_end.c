/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for a supervisor's end, whatever becomes of it. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/ptrace.h>
#endif

#include <cmocka.h>

#include "supervisor_private.h"

#define MS INT64_C(1000000)
#define S (1000 * MS)

static pid_t a_child(int seconds, int status) {
    pid_t pid = fork();
    if (pid == 0) {
        if (seconds > 0)
            (void)sleep((unsigned)seconds);
        _exit(status);
    }
    assert_true(pid > 0);
    return pid;
}

static void one_that_ends_by_itself_is_waited_for(void **state) {
    (void)state;
    pid_t pid = a_child(0, 0), was = pid;
    assert_int_equal(pp__supervisor_await_end(&pid, 60 * S, S, NULL), PP_OK);
    assert_int_equal(pid, 0);
    assert_int_equal(waitpid(was, NULL, WNOHANG), -1);
    assert_int_equal(pp__supervisor_await_end(&pid, 60 * S, S, NULL), PP_OK);
}

static void one_that_does_not_end_is_killed(void **state) {
    (void)state;
    pid_t pid = a_child(60, 0);
    assert_int_equal(pp__supervisor_await_end(&pid, 20 * MS, 30 * S, NULL), PP_OK);
    assert_int_equal(pid, 0);
}

static void one_that_somebody_else_waited_for_is_over(void **state) {
    (void)state;
    pid_t pid = a_child(0, 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(pp__supervisor_await_end(&pid, 60 * S, S, NULL), PP_OK);
    assert_int_equal(pid, 0);
}

#ifdef __linux__
/* Traces `pid` and never waits for it: SIGKILL does not end it for its parent then, as one that
 * hangs in the kernel would not. Ends when the pipe's other end does. */
static pid_t a_tracer(pid_t pid, int *ret_hold) {
    int hold[2], ready[2];
    char byte;
    assert_int_equal(pipe(hold) | pipe(ready), 0);
    pid_t tracer = fork();
    if (tracer == 0) {
        (void)close(hold[1]);
        byte = ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0 ? 'y' : 'n';
        (void)!write(ready[1], &byte, 1);
        (void)!read(hold[0], &byte, 1);
        _exit(0);
    }
    assert_true(tracer > 0);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    (void)close(hold[0]);
    (void)close(ready[0]);
    (void)close(ready[1]);
    *ret_hold = hold[1];
    if (byte == 'y')
        return tracer;
    (void)close(hold[1]);
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
    (void)waitpid(tracer, NULL, 0);
    return 0;
}

/* proves: CAN-5 */
static void one_that_hangs_in_the_kernel_is_given_up_in_bounded_time(void **state) {
    (void)state;
    int hold;
    pid_t pid = fork(), was = pid;
    if (pid == 0) {
        (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
        for (;;)
            (void)pause();
    }
    pid_t tracer = a_tracer(pid, &hold);
    if (tracer == 0) {
        print_message("nobody may be traced here\n");
        skip();
    }
    pp_error error = { 0 };
    assert_int_equal(pp__supervisor_await_end(&pid, 20 * MS, 20 * MS, &error), PP_E_TIMEOUT);
    assert_string_equal(error.op, "end");
    assert_non_null(strstr(error.detail, "SIGKILL did not end it"));
    assert_int_equal(pid, was);
    (void)close(hold);
    assert_int_equal(waitpid(tracer, NULL, 0), tracer);
    assert_int_equal(pp__supervisor_await_end(&pid, 60 * S, S, NULL), PP_OK);
    assert_int_equal(pid, 0);
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_ends_by_itself_is_waited_for),
        cmocka_unit_test(one_that_does_not_end_is_killed),
        cmocka_unit_test(one_that_somebody_else_waited_for_is_over),
#ifdef __linux__
        cmocka_unit_test(one_that_hangs_in_the_kernel_is_given_up_in_bounded_time),
#endif
    };
    return cmocka_run_group_tests_name("supervisor_end", tests, NULL, NULL);
}
