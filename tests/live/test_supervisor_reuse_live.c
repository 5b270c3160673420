/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that get a second owner at once, under the built supervisor. All of it happens in a PID
 * namespace of its own, with this program as PID 1: no number of the machine's is touched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#ifdef __linux__
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervised.h"

enum { TRIES = 100 };

static bool three_live(const pp_supervisor_view *view) {
    return view->live_processes == 3;
}

static bool two_live(const pp_supervisor_view *view) {
    return view->live_processes == 2;
}

static void start_pair(supervised *sv, pid_t *ret_member, pid_t *ret_daemon) {
    sv_app(sv, "pair", NULL);
    sv_await(sv, sv_printed);
    assert_int_equal(sscanf(sv_file(sv, "out"), "%d %d", ret_member, ret_daemon), 2);
    sv_await(sv, three_live); /* the tracker knows all of them */
}

/* Ends one of the application's processes; its parent waits for it. */
static void end_and_see_gone(pid_t pid) {
    assert_int_equal(kill(pid, SIGKILL), 0);
    sv_await_state(pid, '\0');
}

static void set_last_pid(pid_t pid) {
    char text[16];
    int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
    int size = snprintf(text, sizeof text, "%d", pid);
    assert_int_equal(write(fd, text, (size_t)size), size);
    (void)close(fd);
}

/* A process of this program's, in a group and session of its own, with this number. */
static void start_stranger(pid_t pid) {
    for (int i = 0; i < TRIES; i++) {
        set_last_pid(pid - 1);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            (void)setsid();
            for (;;)
                (void)pause();
        }
        if (child == pid)
            return;
        (void)kill(child, SIGKILL); /* somebody else was faster with the number */
        (void)waitpid(child, NULL, 0);
    }
    fail_msg("%d is not to be had", pid);
}

static void stranger_lives(const supervised *sv, pid_t pid) {
    char wanted[32];
    (void)snprintf(wanted, sizeof wanted, "\"pid\":%d,", pid);
    assert_false(sv_has_line(sv_file(sv, "events.jsonl"), wanted, "\"kind\":\"signal\""));
    assert_int_equal(kill(pid, 0), 0);
    assert_int_not_equal(sv_state(pid), 'Z');
    assert_int_equal(kill(pid, SIGKILL), 0);
    (void)sv_reap(pid);
}

/* proves: TRK-1, TRK-3, GRP-11 (B14) */
static void a_stranger_with_a_members_number_is_neither_counted_nor_signalled(void **state) {
    supervised *sv = *state;
    pid_t member, daemon;
    sv->spawn.reap_escapees = true;
    start_pair(sv, &member, &daemon);
    end_and_see_gone(member);
    start_stranger(member);
    sv_await(sv, two_live);
    sv_stop(sv, false, 10 * SV_S);
    assert_int_equal(sv->view.verdict, PP_VERDICT_ECHILD);
    assert_false(sv->view.forced);
    stranger_lives(sv, member);
}

/* proves: TRK-1, GRP-11, CAN-3 */
static void a_stranger_with_an_escapees_number_is_not_swept_away(void **state) {
    supervised *sv = *state;
    pid_t member, daemon;
    sv->spawn.reap_escapees = true;
    start_pair(sv, &member, &daemon);
    end_and_see_gone(daemon);
    start_stranger(daemon);
    sv_stop(sv, true, 10 * SV_S);
    assert_int_equal(sv->view.verdict, PP_VERDICT_ECHILD);
    stranger_lives(sv, daemon);
}

/* proves: GRP-1, GRP-7 (B14) */
static void a_strangers_group_with_the_reaped_leaders_number_gets_no_signal(void **state) {
    supervised *sv = *state;
    pid_t member, daemon;
    start_pair(sv, &member, &daemon);
    end_and_see_gone(member);
    pid_t leader = sv->leader.pid;
    assert_int_equal(pp_supervisor_stop(sv->supervisor, false, SV_S, SV_S, NULL), PP_OK);
    while (!strstr(sv_file(sv, "events.jsonl"), "\"kind\":\"reaped\""))
        assert_int_equal(pp_supervisors_pump(&sv->supervisor, 1, -1, SV_S, NULL), PP_OK);
    start_stranger(leader);
    sv_await(sv, sv_done);
    assert_int_equal(sv->view.verdict, PP_VERDICT_LEFT_RUNNING);
    sv_end(sv);
    stranger_lives(sv, leader);
    assert_int_equal(sv_end_leftovers(), 1); /* the daemon */
}

static int run_all(void) {
#define T(name) cmocka_unit_test_setup_teardown(name, sv_set_up, sv_tear_down)
    const struct CMUnitTest tests[] = {
        T(a_stranger_with_a_members_number_is_neither_counted_nor_signalled),
        T(a_stranger_with_an_escapees_number_is_not_swept_away),
        T(a_strangers_group_with_the_reaped_leaders_number_gets_no_signal),
    };
    return cmocka_run_group_tests_name("supervisor_reuse_live", tests, NULL, NULL);
}

int main(void) {
    int status;
    sv_exe_path = PP_TEST_SUPERVISOR;
    if (getuid() != 0 || unshare(CLONE_NEWPID | CLONE_NEWNS) < 0) {
        print_message("skipped: no PID namespace of our own may be made here\n");
        return 77;
    }
    pid_t first = fork();
    if (first == 0) {
        if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
            mount("proc", "/proc", "proc", 0, NULL) < 0 ||
            access("/proc/sys/kernel/ns_last_pid", W_OK) < 0) {
            print_message("skipped: no /proc with numbers that can be chosen\n");
            _exit(77);
        }
        exit(run_all());
    }
    if (first < 0 || waitpid(first, &status, 0) != first || !WIFEXITED(status))
        _exit(1);
    _exit(WEXITSTATUS(status)); /* the leak check needs a child, which this namespace has no more */
}
#else
int main(void) {
    return 77; /* skipped: Linux only */
}
#endif
