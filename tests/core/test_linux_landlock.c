/* SPDX-License-Identifier: Apache-2.0 */
/* The rules that confine a command, over a scripted kernel. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#ifdef __linux__
#include "linux/internal.h"

enum { RULES_FD = 900, FIRST_FD = 901 };

static int abi_answer, create_answer, next_fd, open_count;
static uint64_t handled;
static const char *opened[16];
static uint64_t allowed[16];
static bool is_file[16]; /* takes no rights of directories */
static const char *missing;

static int fake_abi(void) {
    return abi_answer;
}

static int fake_create(uint64_t rights) {
    handled = rights;
    open_count += create_answer >= 0;
    return create_answer;
}

static int fake_open(int dir_fd, const char *path, int flags, mode_t mode) {
    (void)dir_fd;
    (void)flags;
    (void)mode;
    if (missing != NULL && strcmp(path, missing) == 0)
        return -ENOENT;
    opened[next_fd] = path;
    open_count++;
    return FIRST_FD + next_fd++;
}

static int fake_allow(int rules_fd, int path_fd, uint64_t rights) {
    assert_int_equal(rules_fd, RULES_FD);
    int index = path_fd - FIRST_FD;
    const uint64_t of_directories = 0x3ff0;
    is_file[index] = strncmp(opened[index], "/dev/", 5) == 0;
    if (is_file[index] && (rights & of_directories) != 0)
        return -EINVAL;
    allowed[index] = rights;
    return 0;
}

static int fake_close(int fd) {
    (void)fd;
    open_count--;
    return 0;
}

static const pp_linux_sys fake = { .landlock_abi = fake_abi,
                                   .landlock_create = fake_create,
                                   .landlock_allow = fake_allow,
                                   .open_at = fake_open,
                                   .close = fake_close };

static int set_up(void **state) {
    (void)state;
    abi_answer = 7;
    create_answer = RULES_FD;
    next_fd = open_count = 0;
    missing = NULL;
    memset(allowed, 0, sizeof allowed);
    (void)unsetenv("PP_KERNEL");
    return 0;
}

static const char *const home[] = { "/out/home", NULL };

/* proves: BOX-9 */
static void every_right_to_write_is_taken_and_given_back_below_the_home(void **state) {
    (void)state;
    int fd = -1;
    assert_int_equal(pp__linux_landlock_open(&fake, home, &fd, NULL), PP_OK);
    assert_int_equal(fd, RULES_FD);
    assert_int_equal(open_count, 1); /* the rules alone */
    assert_true(handled == 0xfff2);
    assert_string_equal(opened[next_fd - 1], "/out/home");
    assert_true(allowed[next_fd - 1] == handled);
}

static void devices_that_keep_nothing_get_the_rights_of_files(void **state) {
    (void)state;
    int fd = -1;
    assert_int_equal(pp__linux_landlock_open(&fake, home, &fd, NULL), PP_OK);
    assert_string_equal(opened[0], "/dev/null");
    assert_true(allowed[0] == 0xc002);
}

static void ioctl_is_not_handled_before_abi_5(void **state) {
    (void)state;
    int fd = -1;
    abi_answer = 4;
    assert_int_equal(pp__linux_landlock_open(&fake, home, &fd, NULL), PP_OK);
    assert_true((handled & 0x8000) == 0);
    assert_true((handled & 0x4000) != 0);
}

static void expect_unsupported(int answer, int sys_errno, const char *words) {
    pp_error err = { 0 };
    int fd = -1;
    abi_answer = answer;
    assert_int_equal(pp__linux_landlock_open(&fake, home, &fd, &err), PP_E_UNSUPPORTED);
    assert_int_equal(err.sys_errno, sys_errno);
    assert_non_null(strstr(err.detail, words));
    assert_int_equal(fd, -1);
    assert_int_equal(open_count, 0);
}

/* proves: BOX-9 */
static void a_kernel_that_cannot_deny_truncation_confines_nothing(void **state) {
    (void)state;
    expect_unsupported(2, 0, "ABI 2 cannot deny truncation");
    expect_unsupported(-ENOSYS, ENOSYS, "not part of this kernel");
    expect_unsupported(-EOPNOTSUPP, EOPNOTSUPP, "switched off at boot");
    expect_unsupported(-EPERM, EPERM, "seccomp");
    assert_int_equal(setenv("PP_KERNEL", "no-cgroup,6.1", 1), 0);
    expect_unsupported(7, 0, "ABI 2 cannot deny truncation");
}

static void a_path_that_cannot_be_opened_fails_and_leaves_nothing_open(void **state) {
    (void)state;
    pp_error err = { 0 };
    int fd = -1;
    missing = "/out/home";
    assert_int_equal(pp__linux_landlock_open(&fake, home, &fd, &err), PP_E_SYS);
    assert_string_equal(err.detail, "/out/home");
    assert_int_equal(err.sys_errno, ENOENT);
    assert_int_equal(open_count, 0);
    missing = "/dev/full"; /* a place with few devices */
    assert_int_equal(pp__linux_landlock_open(&fake, home, &fd, NULL), PP_OK);
}

static void rules_that_are_refused_are_named(void **state) {
    (void)state;
    pp_error err = { 0 };
    int fd = -1;
    create_answer = -ENOMSG;
    assert_int_equal(pp__linux_landlock_open(&fake, home, &fd, &err), PP_E_SYS);
    assert_string_equal(err.op, "landlock_create_ruleset");
}
#endif

int main(void) {
#ifdef __linux__
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_right_to_write_is_taken_and_given_back_below_the_home, set_up),
        cmocka_unit_test_setup(devices_that_keep_nothing_get_the_rights_of_files, set_up),
        cmocka_unit_test_setup(ioctl_is_not_handled_before_abi_5, set_up),
        cmocka_unit_test_setup(a_kernel_that_cannot_deny_truncation_confines_nothing, set_up),
        cmocka_unit_test_setup(a_path_that_cannot_be_opened_fails_and_leaves_nothing_open, set_up),
        cmocka_unit_test_setup(rules_that_are_refused_are_named, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
#else
    return 77; /* skipped */
#endif
}
