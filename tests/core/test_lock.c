/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "host.h"
#include "pairperf/lock.h"
#include "scratch.h"

/* A name of this process's own; on macOS names are files. */
static const char *own_name(const char *suffix) {
    const char *path = scratch_path("%s", suffix);
    if (access(path, F_OK) != 0)
        scratch_file(suffix, "", 0600);
    size_t size = strlen(path);
    return size > 100 ? path + size - 100 : path;
}

/* proves: CLI-3 */
static void a_second_holder_is_refused_and_told_who_holds_it(void **state) {
    (void)state;
    const char *name = own_name("held");
    int fd = -1, other = 77;
    pp_error err = { 0 };
    struct utsname system;
    assert_return_code(uname(&system), 0);
    assert_int_equal(pp_lock_acquire(name, &fd, &err), PP_OK);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(pp_lock_acquire(name, &other, &err), PP_E_EXISTS);
    assert_int_equal(other, 77);
    if (strcmp(system.sysname, "Linux") == 0) { /* macOS: our own programs only */
        char holder[32];
        snprintf(holder, sizeof holder, "process %d", (int)getpid());
        assert_non_null(strstr(err.detail, holder));
    }
    close(fd);
    assert_int_equal(pp_lock_acquire(name, &fd, &err), PP_OK);
    close(fd);
}

/* proves: CLI-3 */
static void whoever_inherits_the_descriptor_holds_the_lock(void **state) {
    (void)state;
    const char *name = own_name("inherited");
    int fd, gate[2];
    assert_int_equal(pp_lock_acquire(name, &fd, NULL), PP_OK);
    assert_int_equal(pipe(gate), 0);
    pid_t child = fork();
    if (child == 0) {
        char byte;
        close(gate[1]);
        (void)!read(gate[0], &byte, 1); /* until the parent closes */
        _exit(0);
    }
    close(gate[0]);
    close(fd);
    int again;
    assert_int_equal(pp_lock_acquire(name, &again, NULL), PP_E_EXISTS);
    close(gate[1]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(pp_lock_acquire(name, &again, NULL), PP_OK);
    close(again);
}

static void different_names_do_not_meet(void **state) {
    (void)state;
    int a, b;
    assert_int_equal(pp_lock_acquire(own_name("one"), &a, NULL), PP_OK);
    assert_int_equal(pp_lock_acquire(own_name("two"), &b, NULL), PP_OK);
    close(a);
    close(b);
}

static void names_have_a_length(void **state) {
    (void)state;
    char name[102];
    memset(name, 'x', sizeof name);
    name[101] = '\0';
    int fd = 77;
    assert_int_equal(pp_lock_acquire(name, &fd, NULL), PP_E_INVALID);
    assert_int_equal(pp_lock_acquire("", &fd, NULL), PP_E_INVALID);
    assert_int_equal(fd, 77);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_holder_is_refused_and_told_who_holds_it),
        cmocka_unit_test(whoever_inherits_the_descriptor_holds_the_lock),
        cmocka_unit_test(different_names_do_not_meet),
        cmocka_unit_test(names_have_a_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
