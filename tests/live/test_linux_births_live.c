/* SPDX-License-Identifier: Apache-2.0 */
/* Births by the kernel's notices, of real processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#ifdef __linux__
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "linux/decode.h"
#include "linux/linux_sys.h"
#include "linux_live.h"

static bool births_are_told(void) {
    const char *name, *consequence;
    pp_status state = PP_OK;
    int sys_errno;
    for (size_t i = 0;
         live_os.capability(live_os.ctx, i, &name, &state, &sys_errno, &consequence) == PP_OK; i++)
        if (strcmp(name, "process_events") == 0)
            return state == PP_OK;
    fail_msg("no capability process_events");
    return false;
}

/* Per turn a child, and an orphan of an orphan in a session of its own: three births that nobody
 * looks at, beside those of others.
 * proves: TRK-5 */
static void every_birth_in_the_tree_counts_though_nobody_met_it(void **state) {
    (void)state;
    enum { TURNS = 30, SOME = 5 };
    for (int i = 0; i < SOME; i++)
        if (fork() == 0)
            _exit(0);
    pp_proc_id leader = live_shell("i=0; while [ $i -lt 30 ]; do /bin/true; "
                                   "(setsid /bin/true &); i=$((i+1)); done; "
                                   "echo done; exec sleep 1000");
    if (!births_are_told()) {
        assert_false(live_os.notices(live_os.ctx).births.known);
        live_end(leader);
        skip();
    }
    (void)live_await_output("done");
    pp_reading births = live_os.notices(live_os.ctx).births;
    assert_true(births.known);
    assert_int_equal(births.value, 1 + 3 * TURNS);
    live_end(leader);
}

/* A program that is started, takes another name and a session: the kernel tells four other things
 * between its birth and its end. */
static void nothing_but_lives_gets_into_the_socket(void **state) {
    (void)state;
    int fd = pp_linux_sys_real.notices_open();
    if (fd < 0)
        skip(); /* as the host says, too */
    pid_t child = fork();
    if (child == 0) {
        (void)setsid();
        (void)execl("/bin/true", "true", (char *)NULL);
        _exit(127);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    bool born = false, ended = false, answered = false;
    while (!ended) {
        char bytes[1024];
        pp_linux_notice notice;
        struct pollfd ready = { .fd = fd, .events = POLLIN };
        ssize_t got = pp_linux_sys_real.recv(fd, bytes, sizeof bytes);
        if (got == -EAGAIN) {
            if (answered)
                assert_int_equal(poll(&ready, 1, 10000), 1);
            else if (poll(&ready, 1, 1000) == 0)
                break; /* not told in this namespace */
            continue;
        }
        assert_true(got > 0);
        assert_int_equal(pp__linux_decode_notice(bytes, (size_t)got, &notice, NULL), PP_OK);
        assert_int_not_equal(notice.kind, PP_LINUX_NOTICE_OTHER);
        if (notice.kind == PP_LINUX_NOTICE_ANSWER && notice.sys_errno != 0)
            break;
        answered |= notice.kind == PP_LINUX_NOTICE_ANSWER;
        born |= notice.kind == PP_LINUX_NOTICE_PROCESS && notice.pid == child;
        ended = notice.kind == PP_LINUX_NOTICE_EXIT && notice.pid == child;
    }
    (void)close(fd);
    if (!ended)
        skip();
    assert_true(born);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_birth_in_the_tree_counts_though_nobody_met_it,
                                        live_open, live_close),
        cmocka_unit_test(nothing_but_lives_gets_into_the_socket),
    };
    return cmocka_run_group_tests(tests, live_make_run_dir, live_remove_run_dir);
}
#else
int main(void) {
    return 77; /* skipped: Linux only */
}
#endif
