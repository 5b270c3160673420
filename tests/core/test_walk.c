/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "scratch.h"
#include "walk.h"

static void a_directory_comes_before_its_entries_in_byte_order(void **state) {
    (void)state;
    const char *root = scratch_mkdir("tree", 0755);
    scratch_mkdir("tree/a", 0755);
    scratch_file("tree/a/x", "12", 0600);
    scratch_file("tree/a-b", "", 0600); /* '-' sorts before '/' */
    scratch_file("tree/B", "", 0600);
    pp__walk walk;
    assert_int_equal(pp__walk_open(root, &walk, NULL), PP_OK);
    static const char *const wanted[] = { "B", "a", "a-b", "a/x" };
    assert_int_equal(walk.count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(walk.entries[i]->path, wanted[i]);
    int fd;
    pp__walk_cursor cursor = { 0 };
    assert_int_equal(pp__walk_entry_open(&walk, 3, &cursor, &fd, NULL), PP_OK);
    assert_int_equal(pp__walk_entry_look(&walk, 3, fd, NULL), PP_OK);
    assert_int_equal(walk.entries[3]->facts.size, 2);
    close(fd);
    pp__walk_cursor_done(&cursor);
    pp__walk_cursor_done(&cursor);
    pp__walk_done(&walk);
    pp__walk_done(&walk);
}

static void deep_trees_cost_no_descriptors(void **state) {
    (void)state;
    char path[2048] = "deep";
    scratch_mkdir(path, 0755);
    enum { DEPTH = 500, DESCRIPTORS = 64 };
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = DESCRIPTORS;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    size_t used = strlen(path);
    for (int i = 0; i < DEPTH; i++, used += 2) {
        memcpy(path + used, "/d", 3);
        scratch_mkdir(path, 0755);
    }
    pp__walk walk;
    assert_int_equal(pp__walk_open(scratch_path("deep"), &walk, NULL), PP_OK);
    assert_int_equal(walk.count, DEPTH);
    pp__walk_done(&walk);
}

static void links_below_the_root_are_entries_and_not_followed(void **state) {
    (void)state;
    const char *root = scratch_mkdir("loops", 0755);
    assert_int_equal(symlink("..", scratch_path("loops/parent")), 0);
    assert_int_equal(symlink("/", scratch_path("loops/slash")), 0);
    const char *link = scratch_path("to-loops");
    assert_int_equal(symlink("loops", link), 0);
    pp__walk walk;
    const char *roots[] = { root, link }; /* a link at the root itself is followed */
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pp__walk_open(roots[i], &walk, NULL), PP_OK);
        assert_int_equal(walk.count, 2);
        assert_true(S_ISLNK(walk.entries[0]->type));
        int fd;
        pp_error err = { 0 };
        pp__walk_cursor cursor = { 0 };
        assert_int_equal(pp__walk_entry_open(&walk, 1, &cursor, &fd, &err), PP_E_UNVERIFIED);
        assert_int_equal(err.sys_errno, ELOOP);
        pp__walk_cursor_done(&cursor);
        pp__walk_done(&walk);
    }
}

static void an_unreadable_directory_ends_the_walk_by_name(void **state) {
    (void)state;
    const char *root = scratch_mkdir("partly", 0755);
    scratch_mkdir("partly/closed", 0000);
    pp__walk walk;
    pp_error err = { 0 };
    scratch_drop_privilege();
    pp_status status = pp__walk_open(root, &walk, &err);
    scratch_restore_privilege();
    assert_int_equal(status, PP_E_DENIED);
    assert_string_equal(err.detail, scratch_path("partly/closed"));
}

/* Of several the same one, in whatever order the system lists them. */
static void the_first_unreadable_directory_by_path_is_reported(void **state) {
    (void)state;
    const char *root = scratch_mkdir("several", 0755);
    static const char *const names[] = { "m", "z", "a", "q/deep", "c" };
    scratch_mkdir("several/q", 0755);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(mkdir(scratch_path("several/%s", names[i]), 0), 0);
    pp__walk walk;
    pp_error err = { 0 };
    scratch_drop_privilege();
    pp_status status = pp__walk_open(root, &walk, &err);
    scratch_restore_privilege();
    assert_int_equal(status, PP_E_DENIED);
    assert_string_equal(err.detail, scratch_path("several/a"));
}

/* A directory that is exchanged for a link, or for another one, is not entered. */
static void an_exchanged_directory_is_found_out(void **state) {
    (void)state;
    const char *root = scratch_mkdir("swap", 0755);
    scratch_mkdir("swap/d", 0755);
    scratch_file("swap/d/f", "inside", 0644);
    scratch_mkdir("other", 0755);
    scratch_file("other/f", "outside", 0644);
    pp__walk walk;
    assert_int_equal(pp__walk_open(root, &walk, NULL), PP_OK);
    assert_int_equal(rename(scratch_path("swap/d"), scratch_path("swap-d")), 0);
    for (int i = 0; i < 2; i++) {
        if (i == 0)
            assert_int_equal(symlink("../other", scratch_path("swap/d")), 0);
        else
            assert_int_equal(rename(scratch_path("other"), scratch_path("swap/d")), 0);
        int fd;
        pp__walk_cursor cursor = { 0 };
        pp_error err = { 0 };
        assert_int_equal(pp__walk_entry_open(&walk, 1, &cursor, &fd, &err), PP_E_UNVERIFIED);
        assert_non_null(strstr(err.detail, scratch_path("swap/d")));
        pp__walk_cursor_done(&cursor);
        if (i == 0)
            assert_int_equal(unlink(scratch_path("swap/d")), 0);
    }
    pp__walk_done(&walk);
}

static void a_root_that_is_neither_file_nor_directory_is_refused(void **state) {
    (void)state;
    pp__walk walk;
    pp_error err = { 0 };
    assert_int_equal(pp__walk_open("/dev/null", &walk, &err), PP_E_INVALID);
    assert_int_equal(pp__walk_open(scratch_path("no"), &walk, &err), PP_E_SYS);
    const char *file = scratch_file("single", "123", 0600);
    assert_int_equal(pp__walk_open(file, &walk, &err), PP_OK);
    assert_int_equal(walk.count, 1);
    assert_string_equal(walk.entries[0]->path, ".");
    assert_string_equal(pp__walk_entry_name(&walk, 0).text, file);
    pp__walk_done(&walk);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_directory_comes_before_its_entries_in_byte_order),
        cmocka_unit_test(deep_trees_cost_no_descriptors),
        cmocka_unit_test(links_below_the_root_are_entries_and_not_followed),
        cmocka_unit_test(an_unreadable_directory_ends_the_walk_by_name),
        cmocka_unit_test(the_first_unreadable_directory_by_path_is_reported),
        cmocka_unit_test(an_exchanged_directory_is_found_out),
        cmocka_unit_test(a_root_that_is_neither_file_nor_directory_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
