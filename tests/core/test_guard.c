/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "pairperf/guard.h"
#include "scratch.h"

#define OF_ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

static pp_guard_snapshot take(const char *path) {
    pp_guard_snapshot snapshot;
    pp_error err = { 0 };
    if (pp_guard_snapshot_take(path, &snapshot, &err) != PP_OK)
        fail_msg("%s: %s", err.op, err.detail);
    return snapshot;
}

static const pp_guard_field *field(const pp_guard_snapshot *snapshot, const char *name) {
    for (size_t i = 0; i < snapshot->count; i++)
        if (strcmp(snapshot->fields[i].name, name) == 0)
            return &snapshot->fields[i];
    return NULL;
}

static void expect_text(const pp_guard_snapshot *snapshot, const char *name, const char *text) {
    const pp_guard_field *found = field(snapshot, name);
    if (found && found->text)
        assert_string_equal(found->text, text);
    else
        fail_msg("no text %s", name);
}

/* Differences joined by spaces; frees both snapshots. */
static const char *differences(pp_guard_snapshot *before, pp_guard_snapshot *after) {
    static char joined[1024];
    const char *names[2 * PP_GUARD_FIELDS_MAX];
    size_t count = pp_guard_differences(before, after, names);
    size_t used = 0;
    joined[0] = '\0';
    for (size_t i = 0; i < count && used < sizeof joined; i++)
        used +=
            (size_t)snprintf(joined + used, sizeof joined - used, "%s%s", i ? " " : "", names[i]);
    pp_guard_done(before);
    pp_guard_done(after);
    return joined;
}

/* proves: GUARD-1 */
static void an_absent_path_is_a_snapshot_too(void **state) {
    (void)state;
    pp_guard_snapshot snapshot = take(scratch_path("no/such/thing"));
    assert_int_equal(snapshot.count, 1);
    expect_text(&snapshot, "type", "absent");
    pp_guard_done(&snapshot);
}

/* proves: GUARD-1 */
static void a_file_is_metadata_and_digest(void **state) {
    (void)state;
    const char *path = scratch_file("file", "abc", 0755);
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    pp_guard_snapshot snapshot = take(path);
    expect_text(&snapshot, "type", "file");
    expect_text(&snapshot, "mode", "0755");
    expect_text(&snapshot, "sha256", OF_ABC);
    assert_int_equal(field(&snapshot, "ino")->number, st.st_ino);
    assert_int_equal(field(&snapshot, "size")->number, 3);
    assert_int_equal(field(&snapshot, "uid")->number, st.st_uid);
    for (size_t i = 1; i < snapshot.count; i++)
        assert_true(strcmp(snapshot.fields[i - 1].name, snapshot.fields[i].name) < 0);
    pp_guard_done(&snapshot);
    pp_guard_done(&snapshot);
}

/* proves: GUARD-1 */
static void a_link_is_target_and_referent(void **state) {
    (void)state;
    const char *link = scratch_path("link");
    assert_int_equal(symlink("file", link), 0);
    pp_guard_snapshot snapshot = take(link);
    expect_text(&snapshot, "type", "symlink");
    expect_text(&snapshot, "target", "file");
    expect_text(&snapshot, "referent.type", "file");
    expect_text(&snapshot, "referent.sha256", OF_ABC);
    expect_text(&snapshot, "referent.mode", "0755");
    assert_null(field(&snapshot, "sha256"));
    pp_guard_done(&snapshot);

    const char *dangling = scratch_path("dangling");
    assert_int_equal(symlink("nowhere", dangling), 0);
    snapshot = take(dangling);
    expect_text(&snapshot, "referent.type", "absent");
    pp_guard_done(&snapshot);
}

/* Applies one change to a file and to the referent of a link. proves: GUARD-5 */
static void every_kind_of_change_is_seen(void **state) {
    (void)state;
    const char *path = scratch_file("victim", "one", 0755);
    const char *link = scratch_path("victim-link");
    assert_int_equal(symlink("victim", link), 0);
    const struct timespec old[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);

    pp_guard_snapshot before = take(path), link_before = take(link);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(write(fd, "two", 3), 3);
    close(fd);
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0); /* content alone */
    pp_guard_snapshot after = take(path), link_after = take(link);
    assert_string_equal(differences(&before, &after), "sha256");
    assert_string_equal(differences(&link_before, &link_after), "referent.sha256");

    before = take(path);
    assert_int_equal(chmod(path, 0700), 0);
    after = take(path);
    assert_string_equal(differences(&before, &after), "mode");

    before = take(path), link_before = take(link);
    const char *copy = scratch_file("copy", "two", 0700); /* identical, swapped in */
    assert_int_equal(utimensat(AT_FDCWD, copy, old, 0), 0);
    assert_int_equal(chown(copy, (uid_t)field(&before, "uid")->number, (gid_t)-1), 0);
    assert_int_equal(rename(copy, path), 0);
    after = take(path), link_after = take(link);
    assert_string_equal(differences(&before, &after), "ino");
    assert_string_equal(differences(&link_before, &link_after), "referent.ino");

    before = take(link);
    assert_int_equal(unlink(path), 0);
    after = take(link);
    assert_non_null(strstr(differences(&before, &after), "referent.type"));

    before = take(path);
    scratch_file("victim", "new", 0755);
    after = take(path);
    assert_non_null(strstr(differences(&before, &after), "sha256 size type uid"));
}

/* proves: GUARD-3 */
static void facts_on_one_side_only_are_differences(void **state) {
    (void)state;
    pp_guard_snapshot few = { .fields = { { .name = "b" }, { .name = "c" } }, .count = 2 };
    pp_guard_snapshot more = {
        .fields = { { .name = "a" }, { .name = "b" }, { .name = "c" }, { .name = "d" } },
        .count = 4,
    };
    pp_guard_snapshot a = few, b = more;
    assert_string_equal(differences(&a, &b), "a d");
    a = more;
    b = few;
    assert_string_equal(differences(&a, &b), "a d");
}

/* proves: GUARD-5 */
static void access_and_change_times_do_not_count(void **state) {
    (void)state;
    const char *path = scratch_file("touched", "abc", 0755);
    pp_guard_snapshot before = take(path);
    const struct timespec access_only[2] = { { .tv_sec = 12345 }, { .tv_nsec = UTIME_OMIT } };
    assert_int_equal(utimensat(AT_FDCWD, path, access_only, 0), 0);
    assert_int_equal(chmod(path, 0755), 0); /* what the application does to an unchanged file */
    pp_guard_snapshot after = take(path);
    assert_string_equal(differences(&before, &after), "");
}

/* proves: GUARD-3 */
static void what_cannot_be_compared_is_no_snapshot(void **state) {
    (void)state;
    pp_guard_snapshot snapshot = { .count = 77 };
    pp_error err = { 0 };
    const char *closed = scratch_file("closed", "x", 0000);
    scratch_drop_privilege();
    pp_status status = pp_guard_snapshot_take(closed, &snapshot, &err);
    scratch_restore_privilege();
    assert_int_equal(status, PP_E_DENIED);

    const char *fifo = scratch_path("fifo");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(pp_guard_snapshot_take(fifo, &snapshot, &err), PP_E_UNVERIFIED);
    assert_int_equal(pp_guard_snapshot_take(scratch_dir(), &snapshot, &err), PP_E_UNVERIFIED);
    const char *loop = scratch_path("loop");
    assert_int_equal(symlink("loop", loop), 0);
    assert_int_equal(pp_guard_snapshot_take(loop, &snapshot, &err), PP_E_SYS);
    assert_int_equal(err.sys_errno, ELOOP);
    assert_int_equal(snapshot.count, 77);
}

static void expect_writable(const char *path, bool wanted, const char *directory) {
    bool writable = !wanted;
    char *asked = NULL;
    pp_error err = { 0 };
    scratch_drop_privilege();
    pp_status status = pp_guard_writable(path, &writable, &asked, &err);
    scratch_restore_privilege();
    if (status != PP_OK)
        fail_msg("%s: %s", path, err.detail);
    assert_int_equal(writable, wanted);
    assert_string_equal(asked, directory);
    free(asked);
}

/* proves: GUARD-2 */
static void the_kernel_is_asked_about_the_nearest_existing_parent(void **state) {
    (void)state;
    const char *open_dir = scratch_mkdir("open", 0777);
    const char *shut = scratch_mkdir("shut", 0555);
    expect_writable(scratch_path("open/nvpair"), true, open_dir);
    expect_writable(scratch_path("open/bin/deeper/nvpair"), true, open_dir);
    expect_writable(scratch_path("shut/nvpair"), false, shut);
    expect_writable(scratch_path("shut/bin/nvpair"), false, shut);
}

/* proves: GUARD-2 */
static void effective_ids_decide(void **state) {
    (void)state;
    if (geteuid() != 0) {
        print_message("skipped: needs to run as root\n");
        skip();
    }
    const char *path = scratch_path("shut/nvpair");
    bool writable = false;
    char *asked;
    assert_int_equal(pp_guard_writable(path, &writable, &asked, NULL), PP_OK);
    free(asked);
    assert_true(writable); /* root may; the same path is refused to an effective nobody above */
}

/* proves: GUARD-2 */
static void no_answer_is_not_a_no(void **state) {
    (void)state;
    bool writable = false;
    char *asked = NULL;
    pp_error err = { 0 };
    const char *dangling = scratch_path("dangling-dir");
    assert_int_equal(symlink("nowhere-dir", dangling), 0);
    const char *path = scratch_path("dangling-dir/nvpair");
    assert_int_equal(pp_guard_writable(path, &writable, &asked, &err), PP_E_UNVERIFIED);

    const char *hidden = scratch_mkdir("hidden", 0700);
    scratch_mkdir("hidden/bin", 0777);
    assert_int_equal(chmod(hidden, 0000), 0);
    path = scratch_path("hidden/bin/nvpair");
    scratch_drop_privilege();
    pp_status status = pp_guard_writable(path, &writable, &asked, &err);
    scratch_restore_privilege();
    assert_int_equal(status, PP_E_UNVERIFIED);
    assert_null(asked);
}

/* proves: GUARD-4 */
static void taking_a_snapshot_changes_nothing(void **state) {
    (void)state;
    const char *path = scratch_file("calm", "abc", 0755);
    struct stat before, after;
    assert_int_equal(lstat(path, &before), 0);
    int64_t changed_ns = scratch_ctime_ns(path);
    pp_guard_snapshot snapshot = take(path);
    pp_guard_done(&snapshot);
    assert_int_equal(lstat(path, &after), 0);
    assert_int_equal(scratch_ctime_ns(path), changed_ns);
    assert_int_equal(before.st_ino, after.st_ino);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_absent_path_is_a_snapshot_too),
        cmocka_unit_test(a_file_is_metadata_and_digest),
        cmocka_unit_test(a_link_is_target_and_referent),
        cmocka_unit_test(every_kind_of_change_is_seen),
        cmocka_unit_test(facts_on_one_side_only_are_differences),
        cmocka_unit_test(access_and_change_times_do_not_count),
        cmocka_unit_test(what_cannot_be_compared_is_no_snapshot),
        cmocka_unit_test(the_kernel_is_asked_about_the_nearest_existing_parent),
        cmocka_unit_test(effective_ids_decide),
        cmocka_unit_test(no_answer_is_not_a_no),
        cmocka_unit_test(taking_a_snapshot_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
