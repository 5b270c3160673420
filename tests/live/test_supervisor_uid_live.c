/* SPDX-License-Identifier: Apache-2.0 */
/* Groups whose members belong to different users, under the built supervisor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#ifdef __linux__
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervised.h"

enum { OURS = 65534, FOREIGN = 65533 };

static char copy_path[] = "/tmp/pairperf-uid-XXXXXX";

/* proves: GRP-12 */
static void root_ends_a_member_that_belongs_to_somebody_else(void **state) {
    supervised *sv = *state;
    sv_app(sv, "with_user", "65533");
    sv_await(sv, sv_printed);
    sv_stop(sv, false, 300 * SV_MS);
    assert_int_equal(sv->view.verdict, PP_VERDICT_ECHILD);
    assert_true(sv->view.forced);
    sv_end(sv);
    assert_int_equal(sv_end_leftovers(), 0);
}

static void become(uid_t uid) {
    assert_int_equal(setresuid(uid, uid, 0), 0);
    (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); /* so that /proc/self stays ours */
}

static int set_up_unprivileged(void **state) {
    become(OURS);
    return sv_set_up(state);
}

static int tear_down_unprivileged(void **state) {
    assert_int_equal(setresuid(0, 0, 0), 0);
    return sv_tear_down(state);
}

/* proves: GRP-3, GRP-6, GRP-9 */
static void a_group_signal_that_succeeded_proves_nothing_about_a_foreign_member(void **state) {
    supervised *sv = *state;
    char wanted[64];
    sv_app(sv, "with_foreigner", copy_path);
    sv_await(sv, sv_printed);
    pid_t foreigner = atoi(sv_file(sv, "out"));
    assert_int_equal(pp_supervisor_stop(sv->supervisor, false, 200 * SV_MS, 200 * SV_MS, NULL),
                     PP_OK);
    sv_await(sv, sv_done);
    assert_int_equal(sv->view.verdict, PP_VERDICT_UNVERIFIED);
    assert_true(sv->view.forced);
    assert_true(sv->view.exit.by_signal);
    (void)snprintf(wanted, sizeof wanted, "\"pid\":%d,", foreigner);
    const char *survivors = strstr(sv->view.verdict_json, "\"survivors\":[{");
    assert_non_null(survivors);
    assert_non_null(strstr(survivors, wanted));
    sv_end(sv);
    assert_int_equal(sv_state(foreigner), 'S');
    assert_int_equal(setresuid(0, 0, 0), 0);
    assert_int_equal(sv_end_leftovers(), 1);
}

/* A copy of the application that runs as FOREIGN, whoever starts it. */
static bool make_copy(void) {
    struct stat info;
    int from = open(PP_TEST_BUILD_DIR "/tests/stubs/live_app", O_RDONLY | O_CLOEXEC);
    int to = mkstemp(copy_path);
    bool made = from >= 0 && to >= 0 && fstat(from, &info) == 0 &&
                sendfile(to, from, NULL, (size_t)info.st_size) == info.st_size &&
                fchown(to, FOREIGN, FOREIGN) == 0 && fchmod(to, 04755) == 0;
    (void)close(from);
    (void)close(to);
    return made;
}

int main(void) {
    if (getuid() != 0) {
        print_message("skipped: only root can make processes of other users\n");
        return 77;
    }
    sv_exe_path = PP_TEST_SUPERVISOR;
    if (setgroups(0, NULL) < 0 || setresuid(OURS, OURS, 0) < 0 ||
        access(PP_TEST_SUPERVISOR, X_OK) < 0 || setresuid(0, 0, 0) < 0) {
        print_message("skipped: the build directory is not everybody's to read\n");
        return 77;
    }
    if (!make_copy())
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(root_ends_a_member_that_belongs_to_somebody_else, sv_set_up,
                                        sv_tear_down),
        cmocka_unit_test_setup_teardown(
            a_group_signal_that_succeeded_proves_nothing_about_a_foreign_member,
            set_up_unprivileged, tear_down_unprivileged),
    };
    int failed = cmocka_run_group_tests_name("supervisor_uid_live", tests, NULL, NULL);
    (void)unlink(copy_path);
    return failed;
}
#else
int main(void) {
    return 77; /* skipped: Linux only */
}
#endif
