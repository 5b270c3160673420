/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "platform.h"
#include "scratch.h"

static void a_modification_time_comes_back_to_the_nanosecond(void **state) {
    (void)state;
    static const int64_t times[] = { 0, 1, 1700000000123456789, -1, -1000000000 };
    const char *path = scratch_file("timed", "", 0600);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        assert_int_equal(pp_platform_set_mtime(fd, times[i], path, NULL), PP_OK);
        struct stat st;
        assert_int_equal(fstat(fd, &st), 0);
        assert_int_equal(pp_platform_mtime_ns(&st), times[i]);
    }
    close(fd);
    pp_error err = { 0 };
    assert_int_equal(pp_platform_set_mtime(-1, 0, "the name", &err), PP_E_SYS);
    assert_string_equal(err.detail, "the name");
}

/* proves: GUARD-5 */
static void stat_fields_are_sorted_and_leave_out_two_times(void **state) {
    (void)state;
    static const char *const common[] = { "blksize",  "blocks", "dev",  "gid",  "ino",
                                          "mtime_ns", "nlink",  "rdev", "size", "uid" };
    struct stat st;
    assert_int_equal(lstat(scratch_dir(), &st), 0);
    pp_stat_field fields[PP_STAT_FIELDS_MAX];
    size_t count = pp_platform_stat_fields(&st, fields), found = 0;
    for (size_t i = 0; i < count; i++) {
        assert_true(i == 0 || strcmp(fields[i - 1].name, fields[i].name) < 0);
        assert_null(strstr(fields[i].name, "atime"));
        assert_null(strstr(fields[i].name, "ctime"));
        for (size_t k = 0; k < sizeof common / sizeof *common; k++)
            found += strcmp(fields[i].name, common[k]) == 0;
    }
    assert_int_equal(found, sizeof common / sizeof *common);
}

static void the_executable_is_this_test(void **state) {
    (void)state;
    char path[4096];
    assert_int_equal(pp_platform_exe_path(path, sizeof path, NULL), PP_OK);
    assert_int_equal(path[0], '/');
    assert_int_equal(access(path, X_OK), 0);
    assert_non_null(strstr(path, "platform"));
    assert_int_equal(pp_platform_exe_path(path, strlen(path), NULL), PP_E_NOMEM);
}

static void the_environment_is_the_live_one(void **state) {
    (void)state;
    assert_int_equal(setenv("PAIRPERF_TEST_ONLY", "1", 1), 0);
    bool found = false;
    for (char **entry = pp_platform_environment(); *entry; entry++)
        found = found || strcmp(*entry, "PAIRPERF_TEST_ONLY=1") == 0;
    assert_true(found);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_modification_time_comes_back_to_the_nanosecond),
        cmocka_unit_test(stat_fields_are_sorted_and_leave_out_two_times),
        cmocka_unit_test(the_executable_is_this_test),
        cmocka_unit_test(the_environment_is_the_live_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
