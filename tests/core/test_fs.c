/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fs_internal.h"
#include "pairperf/fs.h"
#include "platform.h"
#include "scratch.h"

static mode_t mode_of(const char *path) {
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    return st.st_mode & 07777;
}

static size_t entries_in(const char *path) {
    pp_fs_names names;
    assert_int_equal(pp_fs_list(path, &names, NULL), PP_OK);
    size_t count = names.count;
    pp_fs_names_done(&names);
    return count;
}

/* proves: CLI-3 */
static void an_exclusive_directory_refuses_whatever_is_there(void **state) {
    (void)state;
    pp_error err = { 0 };
    const char *fresh = scratch_path("fresh");
    assert_int_equal(pp_fs_mkdir_exclusive(fresh, &err), PP_OK);
    assert_int_equal(mode_of(fresh), 0700);

    const char *file = scratch_file("taken", "x", 0600);
    const char *dangling = scratch_path("dangling");
    assert_int_equal(symlink("nowhere", dangling), 0);
    const char *taken[] = { fresh, file, dangling };
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(pp_fs_mkdir_exclusive(taken[i], &err), PP_E_EXISTS);
        assert_int_equal(err.sys_errno, EEXIST);
        assert_string_equal(err.detail, taken[i]);
    }
    assert_string_equal(scratch_content(file), "x");
    assert_int_equal(access(scratch_path("nowhere"), F_OK), -1);
}

/* proves: CLI-3 */
static void one_of_twelve_racing_processes_gets_the_directory(void **state) {
    (void)state;
    const char *path = scratch_path("raced");
    int gate[2];
    assert_int_equal(pipe(gate), 0);
    pid_t children[12];
    for (size_t i = 0; i < 12; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            char byte;
            close(gate[1]);
            (void)!read(gate[0], &byte, 1); /* end of file opens the gate for all */
            _exit(pp_fs_mkdir_exclusive(path, NULL) == PP_OK ? 1 : 0);
        }
    }
    close(gate[0]);
    close(gate[1]);
    int winners = 0;
    for (size_t i = 0; i < 12; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        winners += WEXITSTATUS(status);
    }
    assert_int_equal(winners, 1);
}

static void mkdirs_makes_what_is_missing_and_keeps_the_rest(void **state) {
    (void)state;
    const char *top = scratch_mkdir("deep", 0755);
    const char *leaf = scratch_path("deep/a/b/c");
    assert_int_equal(pp_fs_mkdirs(leaf, NULL), PP_OK);
    assert_int_equal(pp_fs_mkdirs(leaf, NULL), PP_OK);
    assert_int_equal(mode_of(top), 0755);
    assert_int_equal(mode_of(scratch_path("deep/a")), 0700);
    assert_int_equal(mode_of(leaf), 0700);

    scratch_file("deep/file", "", 0600);
    pp_error err = { 0 };
    assert_int_equal(pp_fs_mkdirs(scratch_path("deep/file"), &err), PP_E_EXISTS);
    assert_int_equal(pp_fs_mkdirs(scratch_path("deep/file/x"), &err), PP_E_SYS);
    assert_int_equal(err.sys_errno, ENOTDIR);
}

/* proves: REP-2 BOX-8 */
static void nothing_is_written_or_made_through_a_link(void **state) {
    (void)state;
    const char *target = scratch_mkdir("outside", 0700);
    scratch_mkdir("outside/inner", 0700);
    scratch_mkdir("tree", 0700);
    assert_int_equal(symlink(target, scratch_path("tree/link")), 0);
    assert_int_equal(symlink("nowhere", scratch_path("tree/dangling")), 0);
    pp_error err = { 0 };
    assert_int_equal(pp_fs_write_atomic(scratch_path("tree/link/x"), "x", 1, &err), PP_E_SYS);
    assert_int_equal(err.sys_errno, ELOOP);
    assert_int_equal(pp_fs_write_atomic(scratch_path("tree/link/inner/x"), "x", 1, &err), PP_E_SYS);
    assert_int_equal(err.sys_errno, ELOOP);
    assert_int_equal(pp_fs_append(scratch_path("tree/link/x"), "x", 1, false, &err), PP_E_SYS);
    assert_int_equal(err.sys_errno, ELOOP);
    assert_int_equal(pp_fs_mkdir_exclusive(scratch_path("tree/link/x"), &err), PP_E_SYS);
    assert_int_equal(err.sys_errno, ELOOP);
    assert_int_equal(pp_fs_mkdirs(scratch_path("tree/link/x/y"), &err), PP_E_SYS);
    assert_int_equal(err.sys_errno, ELOOP);
    assert_int_equal(pp_fs_mkdirs(scratch_path("tree/link"), &err), PP_E_EXISTS);
    assert_int_equal(pp_fs_mkdirs(scratch_path("tree/dangling"), &err), PP_E_EXISTS);
    assert_int_equal(entries_in(scratch_path("outside")), 1);
    assert_int_equal(entries_in(scratch_path("outside/inner")), 0);
}

/* proves: REP-2 */
static void an_atomic_write_replaces_whole_and_leaves_no_temporary(void **state) {
    (void)state;
    scratch_mkdir("atomic", 0700);
    const char *path = scratch_path("atomic/report.json");
    assert_int_equal(pp_fs_write_atomic(path, "first, longer", 13, NULL), PP_OK);
    assert_int_equal(mode_of(path), 0600);
    assert_int_equal(pp_fs_write_atomic(path, "second", 6, NULL), PP_OK);
    assert_string_equal(scratch_content(path), "second");
    assert_int_equal(entries_in(scratch_path("atomic")), 1);
}

/* proves: REP-2 */
static void an_atomic_write_replaces_a_link_and_not_its_target(void **state) {
    (void)state;
    scratch_mkdir("linked", 0700);
    const char *target = scratch_file("linked/target", "kept", 0600);
    const char *path = scratch_path("linked/link");
    assert_int_equal(symlink("target", path), 0);
    assert_int_equal(pp_fs_write_atomic(path, "new", 3, NULL), PP_OK);
    assert_string_equal(scratch_content(target), "kept");
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    assert_true(S_ISREG(st.st_mode));
}

/* Writes beyond this limit fail with EFBIG as they would with ENOSPC on a full disk. */
static void limit_file_size(rlim_t bytes) {
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* proves: REP-2 */
static void a_failed_atomic_write_leaves_the_old_file_and_nothing_else(void **state) {
    (void)state;
    scratch_mkdir("full", 0700);
    const char *path = scratch_file("full/report.json", "old", 0600);
    static const char big[8192];
    pp_error err = { 0 };
    limit_file_size(4096);
    pp_status status = pp_fs_write_atomic(path, big, sizeof big, &err);
    limit_file_size(RLIM_INFINITY);
    assert_int_equal(status, PP_E_SYS);
    assert_string_equal(err.op, "write");
    assert_int_equal(err.sys_errno, EFBIG);
    assert_string_equal(err.detail, path);
    assert_string_equal(scratch_content(path), "old");
    assert_int_equal(entries_in(scratch_path("full")), 1);
}

static void an_atomic_write_into_nowhere_names_the_path(void **state) {
    (void)state;
    pp_error err = { 0 };
    const char *path = scratch_path("missing/report.json");
    assert_int_equal(pp_fs_write_atomic(path, "x", 1, &err), PP_E_SYS);
    assert_int_equal(err.sys_errno, ENOENT);
    assert_string_equal(err.detail, path);
}

/* proves: REP-2 */
static void appending_adds_at_the_end(void **state) {
    (void)state;
    const char *path = scratch_path("events.jsonl");
    assert_int_equal(pp_fs_append(path, "one\n", 4, false, NULL), PP_OK);
    assert_int_equal(pp_fs_append(path, "two\n", 4, true, NULL), PP_OK);
    assert_string_equal(scratch_content(path), "one\ntwo\n");
    assert_int_equal(mode_of(path), 0600);
}

/* proves: REP-2 */
static void a_failed_append_takes_its_torn_tail_back(void **state) {
    (void)state;
    const char *path = scratch_file("torn.jsonl", "{\"seq\":1}\n", 0600);
    static const char big[8192] = "{\"seq\":2";
    pp_error err = { 0 };
    limit_file_size(4096);
    pp_status status = pp_fs_append(path, big, sizeof big, false, &err);
    limit_file_size(RLIM_INFINITY);
    assert_int_equal(status, PP_E_SYS);
    assert_int_equal(err.sys_errno, EFBIG);
    assert_string_equal(scratch_content(path), "{\"seq\":1}\n");
}

static void the_always_full_device_is_an_error(void **state) {
    (void)state;
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        print_message("skipped: no /dev/full here\n");
        skip();
    }
    pp_error err = { 0 };
    assert_int_equal(pp__fs_write_all(fd, "x", 1, "/dev/full", &err), PP_E_SYS);
    assert_int_equal(err.sys_errno, ENOSPC);
    close(fd);
}

static void appending_never_follows_a_link_nor_waits_for_a_fifo(void **state) {
    (void)state;
    pp_error err = { 0 };
    const char *target = scratch_file("append-target", "kept", 0600);
    const char *link = scratch_path("append-link");
    assert_int_equal(symlink(target, link), 0);
    assert_int_equal(pp_fs_append(link, "x", 1, false, &err), PP_E_SYS);
    assert_int_equal(err.sys_errno, ELOOP);
    assert_string_equal(scratch_content(target), "kept");

    const char *fifo = scratch_path("append-fifo");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(pp_fs_append(fifo, "x", 1, false, &err), PP_E_SYS);
    int reader = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_int_equal(pp_fs_append(fifo, "x", 1, false, &err), PP_E_INVALID);
    close(reader);
}

static void reading_gives_every_byte_and_a_nul(void **state) {
    (void)state;
    const char *path = scratch_path("bytes");
    enum { SIZE = 100000 };
    char *wanted = malloc(SIZE);
    for (size_t i = 0; i < SIZE; i++)
        wanted[i] = (char)(i * 7);
    assert_int_equal(pp_fs_write_atomic(path, wanted, SIZE, NULL), PP_OK);
    char *bytes;
    size_t size;
    assert_int_equal(pp_fs_read(path, SIZE, &bytes, &size, NULL), PP_OK);
    assert_int_equal(size, SIZE);
    assert_memory_equal(bytes, wanted, SIZE);
    assert_int_equal(bytes[SIZE], 0);
    free(bytes);
    pp_error err = { 0 };
    assert_int_equal(pp_fs_read(path, SIZE - 1, &bytes, &size, &err), PP_E_NOMEM);
    free(wanted);
}

static void a_file_that_says_size_0_is_read_to_its_end(void **state) {
    (void)state;
    const char *path = "/proc/self/smaps"; /* far more than one buffer, and ends with a line end */
    if (access(path, R_OK) != 0) {
        print_message("skipped: no process file system here\n");
        skip();
    }
    char *bytes;
    size_t size;
    assert_int_equal(pp_fs_read(path, 1 << 24, &bytes, &size, NULL), PP_OK);
    assert_true(size > 8192);
    assert_non_null(strstr(bytes, "[stack]"));
    assert_int_equal(bytes[size - 1], '\n');
    free(bytes);
    assert_int_equal(pp_fs_read(path, 10, &bytes, &size, NULL), PP_E_NOMEM);
}

static void only_regular_files_are_read(void **state) {
    (void)state;
    char *bytes;
    size_t size;
    pp_error err = { 0 };
    const char *fifo = scratch_path("read-fifo");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(pp_fs_read(fifo, 10, &bytes, &size, &err), PP_E_INVALID);
    assert_int_equal(pp_fs_read(scratch_dir(), 10, &bytes, &size, &err), PP_E_INVALID);
    assert_int_equal(pp_fs_read(scratch_path("no"), 10, &bytes, &size, &err), PP_E_SYS);
    assert_int_equal(err.sys_errno, ENOENT);
}

static void an_unreadable_file_is_denied(void **state) {
    (void)state;
    const char *path = scratch_file("secret", "x", 0000);
    char *bytes;
    size_t size;
    pp_error err = { 0 };
    scratch_drop_privilege();
    pp_status status = pp_fs_read(path, 10, &bytes, &size, &err);
    scratch_restore_privilege();
    assert_int_equal(status, PP_E_DENIED);
    assert_int_equal(err.sys_errno, EACCES);
}

static void types_and_modes_are_told_apart(void **state) {
    (void)state;
    pp_fs_info info;
    const char *file = scratch_file("typed", "1234", 04755);
    assert_int_equal(pp_fs_stat(file, false, &info, NULL), PP_OK);
    assert_string_equal(info.type, "file");
    assert_int_equal(info.mode, 04755);
    assert_int_equal(info.size, 4);
    const char *link = scratch_path("typed-link");
    assert_int_equal(symlink(file, link), 0);
    assert_int_equal(pp_fs_stat(link, false, &info, NULL), PP_OK);
    assert_string_equal(info.type, "symlink");
    assert_int_equal(pp_fs_stat(link, true, &info, NULL), PP_OK);
    assert_string_equal(info.type, "file");
    assert_int_equal(pp_fs_stat("/dev/null", true, &info, NULL), PP_OK);
    assert_string_equal(info.type, "char");
}

static void names_are_sorted_by_their_bytes(void **state) {
    (void)state;
    scratch_mkdir("names", 0700);
    static const char *const sorted[] = { "A", "Z", "a", "a\nb", "b", "\xc3\xa9", "\xff" };
    for (size_t i = 7; i > 0; i--)
        scratch_file(scratch_path("names/%s", sorted[i - 1]) + strlen(scratch_dir()) + 1, "", 0600);
    pp_fs_names names;
    assert_int_equal(pp_fs_list(scratch_path("names"), &names, NULL), PP_OK);
    assert_int_equal(names.count, 7);
    for (size_t i = 0; i < 7; i++)
        assert_string_equal(names.names[i], sorted[i]);
    pp_fs_names_done(&names);
    pp_fs_names_done(&names);
}

static void an_unreadable_directory_is_not_an_empty_list(void **state) {
    (void)state;
    const char *path = scratch_mkdir("closed", 0000);
    pp_fs_names names;
    pp_error err = { 0 };
    scratch_drop_privilege();
    pp_status status = pp_fs_list(path, &names, &err);
    scratch_restore_privilege();
    assert_int_equal(status, PP_E_DENIED);
}

static void parents_are_those_of_the_text(void **state) {
    (void)state;
    static const char *const cases[][2] = { { "a", "." },      { "a/b", "a" }, { "/a", "/" },
                                            { "/a/b/", "/a" }, { "/", "/" },   { "a//b", "a" },
                                            { "", "." } };
    for (size_t i = 0; i < 7; i++) {
        char *parent = pp__fs_parent(cases[i][0]);
        assert_string_equal(parent, cases[i][1]);
        free(parent);
    }
}

static void executables_are_regular_files_with_permission(void **state) {
    (void)state;
    pp_error err = { 0 };
    assert_int_equal(pp_fs_access_exec("/bin/sh", &err), PP_OK);
    assert_int_equal(pp_fs_access_exec("/", &err), PP_E_INVALID);
    assert_int_equal(pp_fs_access_exec(scratch_file("plain", "", 0644), &err), PP_E_DENIED);
    assert_int_equal(pp_fs_access_exec(scratch_path("none"), &err), PP_E_SYS);
}

static void links_and_the_working_directory_are_named(void **state) {
    (void)state;
    const char *link = scratch_path("to-root");
    assert_int_equal(symlink("/", link), 0);
    char *text;
    assert_int_equal(pp_fs_readlink(link, &text, NULL), PP_OK);
    assert_string_equal(text, "/");
    free(text);
    assert_int_equal(pp_fs_realpath(link, &text, NULL), PP_OK);
    assert_string_equal(text, "/");
    free(text);
    assert_int_equal(chdir(scratch_dir()), 0);
    assert_int_equal(pp_fs_getcwd(&text, NULL), PP_OK);
    assert_string_equal(text, scratch_dir());
    free(text);
    uint64_t bytes = 0;
    assert_int_equal(pp_fs_free_bytes(scratch_dir(), &bytes, NULL), PP_OK);
    assert_true(bytes > 0);
    const char *file = scratch_file("chmodded", "", 0600);
    assert_int_equal(pp_fs_chmod(file, 0640, NULL), PP_OK);
    assert_int_equal(mode_of(file), 0640);
}

static void a_modification_time_comes_back_to_the_nanosecond(void **state) {
    (void)state;
    static const int64_t times[] = { 0, 1, 1700000000123456789, -1, -1000000000 };
    const char *path = scratch_file("timed", "", 0600);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        assert_int_equal(pp__fs_set_mtime(fd, times[i], path, NULL), PP_OK);
        struct stat st;
        assert_int_equal(fstat(fd, &st), 0);
        assert_int_equal(pp_platform_mtime_ns(&st), times[i]);
    }
    close(fd);
    pp_error err = { 0 };
    assert_int_equal(pp__fs_set_mtime(-1, 0, "the name", &err), PP_E_SYS);
    assert_string_equal(err.detail, "the name");
}

int main(void) {
    signal(SIGXFSZ, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_exclusive_directory_refuses_whatever_is_there),
        cmocka_unit_test(one_of_twelve_racing_processes_gets_the_directory),
        cmocka_unit_test(mkdirs_makes_what_is_missing_and_keeps_the_rest),
        cmocka_unit_test(nothing_is_written_or_made_through_a_link),
        cmocka_unit_test(an_atomic_write_replaces_whole_and_leaves_no_temporary),
        cmocka_unit_test(an_atomic_write_replaces_a_link_and_not_its_target),
        cmocka_unit_test(a_failed_atomic_write_leaves_the_old_file_and_nothing_else),
        cmocka_unit_test(an_atomic_write_into_nowhere_names_the_path),
        cmocka_unit_test(appending_adds_at_the_end),
        cmocka_unit_test(a_failed_append_takes_its_torn_tail_back),
        cmocka_unit_test(the_always_full_device_is_an_error),
        cmocka_unit_test(appending_never_follows_a_link_nor_waits_for_a_fifo),
        cmocka_unit_test(reading_gives_every_byte_and_a_nul),
        cmocka_unit_test(a_file_that_says_size_0_is_read_to_its_end),
        cmocka_unit_test(only_regular_files_are_read),
        cmocka_unit_test(an_unreadable_file_is_denied),
        cmocka_unit_test(types_and_modes_are_told_apart),
        cmocka_unit_test(names_are_sorted_by_their_bytes),
        cmocka_unit_test(an_unreadable_directory_is_not_an_empty_list),
        cmocka_unit_test(parents_are_those_of_the_text),
        cmocka_unit_test(executables_are_regular_files_with_permission),
        cmocka_unit_test(a_modification_time_comes_back_to_the_nanosecond),
        cmocka_unit_test(links_and_the_working_directory_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
