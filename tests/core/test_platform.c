/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
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

static bool in_memory(const char *name, const char *text) {
    int fd = open(scratch_file(name, text, 0600), O_RDONLY | O_CLOEXEC);
    bool is = pp_platform_in_memory(fd);
    close(fd);
    return is;
}

static void an_empty_file_needs_no_device(void **state) {
    (void)state;
    if (!in_memory("full", "just written")) {
        print_message("skipped: the system does not tell\n");
        skip();
    }
    assert_true(in_memory("empty", ""));
}

static int opened;
static bool own, closed;

static void *open_four(void *argument) {
    own = pp_platform_own_files();
    int fds[4];
    for (size_t i = 0; i < 4; i++)
        fds[i] = fcntl(*(int *)argument, F_DUPFD_CLOEXEC, 100);
    opened = fds[0];
    closed = pp_platform_close_range(fds[1], fds[2]);
    assert_int_equal(closed, fcntl(fds[1], F_GETFD) < 0);
    assert_int_equal(closed, fcntl(fds[2], F_GETFD) < 0);
    assert_true(fcntl(fds[0], F_GETFD) >= 0);
    assert_true(fcntl(fds[3], F_GETFD) >= 0);
    return NULL;
}

static void own_files_are_of_one_thread_and_a_range_has_an_end(void **state) {
    (void)state;
    int fd = open(scratch_dir(), O_RDONLY | O_CLOEXEC);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, open_four, &fd), 0);
    pthread_join(thread, NULL);
    assert_true(fcntl(fd, F_GETFD) >= 0); /* was copied, and is closed there alone */
    close(fd);
    if (!own || !closed) {
        print_message("skipped: threads share their files here\n");
        skip();
    }
    assert_int_equal(fcntl(opened, F_GETFD), -1);
    assert_int_equal(errno, EBADF);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stat_fields_are_sorted_and_leave_out_two_times),
        cmocka_unit_test(the_executable_is_this_test),
        cmocka_unit_test(the_environment_is_the_live_one),
        cmocka_unit_test(an_empty_file_needs_no_device),
        cmocka_unit_test(own_files_are_of_one_thread_and_a_range_has_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
