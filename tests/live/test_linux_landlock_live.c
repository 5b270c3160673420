/* SPDX-License-Identifier: Apache-2.0 */
/* Confinement on the running kernel, and where a filter refuses it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "linux_live.h"
#include "pairperf/guard.h"
#include "scratch.h"

static const char *dir;

static int make_dir(void **state) {
    dir = scratch_dir();
    return live_make_run_dir(state);
}

static bool confinable(void) {
    int abi;
    return pp_guard_confinement(&abi, NULL) == PP_OK;
}

/* proves: BOX-9 */
static void the_switch_for_older_kernels_has_their_abi(void **state) {
    (void)state;
    if (!live_old_kernel())
        skip(); /* the other modes of this test */
    int abi;
    pp_error err = { 0 };
    assert_int_equal(pp_guard_confinement(&abi, &err), PP_E_UNSUPPORTED);
    assert_string_equal(err.op, "landlock");
}

static int under_a_filter_that_refuses(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0 /* the call's number */),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 444, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { .len = sizeof code / sizeof *code, .filter = code };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return 77;
    int abi;
    pp_error err = { 0 };
    const char *const nowhere[] = { NULL };
    bool writable;
    char *directory;
    if (pp_guard_confinement(&abi, &err) != PP_E_UNSUPPORTED || err.sys_errno != EPERM ||
        strstr(err.detail, "seccomp") == NULL)
        return 1;
    return pp_guard_writable_confined("/tmp/x", nowhere, &writable, &directory, NULL) !=
           PP_E_UNSUPPORTED;
}

/* proves: BOX-9 */
static void a_filter_that_refuses_the_call_is_no_confinement(void **state) {
    (void)state;
    int answer = live_forked(under_a_filter_that_refuses);
    if (answer == 77)
        skip(); /* no filters here either */
    assert_int_equal(answer, 0);
}

static bool asked(const char *path, const char *const *writable) {
    bool answer;
    char *directory;
    pp_error err = { 0 };
    if (pp_guard_writable_confined(path, writable, &answer, &directory, &err) != PP_OK)
        fail_msg("%s: %s", err.op, err.detail);
    free(directory);
    return answer;
}

/* proves: GUARD-2, BOX-9 */
static void a_confined_child_answers_and_leaves_nothing(void **state) {
    (void)state;
    if (!confinable())
        skip(); /* this kernel, or the switch */
    const char *const nowhere[] = { NULL };
    const char *const inside[] = { dir, NULL };
    char path[4096], missing[4096];
    struct stat before, after;
    (void)snprintf(path, sizeof path, "%s/launcher", dir);
    (void)snprintf(missing, sizeof missing, "%s/not/there", dir);
    assert_int_equal(stat(dir, &before), 0);
    assert_true(asked(path, inside));
    assert_false(asked(path, nowhere));
    assert_true(asked(missing, inside)); /* its missing directory could be made */
    assert_false(asked(missing, nowhere));
    assert_int_equal(stat(dir, &after), 0);
    assert_memory_equal(&before.st_mtim, &after.st_mtim, sizeof before.st_mtim);

    /* The file itself may be writable where its directory is not. */
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    (void)close(fd);
    const char *const file[] = { path, NULL };
    assert_true(asked(path, file));
    assert_false(asked(path, nowhere));
    assert_int_equal(unlink(path), 0);
}

static void a_path_that_is_not_there_confines_nothing(void **state) {
    (void)state;
    if (!confinable())
        skip(); /* this kernel, or the switch */
    const char *const gone[] = { "/nowhere/at/all", NULL };
    bool answer;
    char *directory;
    pp_error err = { 0 };
    assert_int_equal(pp_guard_writable_confined("/tmp/x", gone, &answer, &directory, &err),
                     PP_E_SYS);
    assert_string_equal(err.detail, "/nowhere/at/all");
    pp_proc_id id;
    char *const words[] = { "true", NULL };
    const pp_command command = {
        .path = "/bin/true", .argv = words, .envp = words + 1, .cwd = "/", .writable = gone
    };
    assert_int_equal(live_open(state), 0);
    assert_int_equal(live_os.spawn(live_os.ctx, &command, &id, &live_error), PP_E_SYS);
    assert_string_equal(live_error.detail, "/nowhere/at/all");
    (void)live_close(state);
}
#endif

int main(void) {
#ifdef __linux__
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_switch_for_older_kernels_has_their_abi),
        cmocka_unit_test(a_filter_that_refuses_the_call_is_no_confinement),
        cmocka_unit_test(a_confined_child_answers_and_leaves_nothing),
        cmocka_unit_test(a_path_that_is_not_there_confines_nothing),
    };
    return cmocka_run_group_tests(tests, make_dir, live_remove_run_dir);
#else
    return 77; /* skipped */
#endif
}
