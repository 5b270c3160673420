/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "pairperf/template.h"
#include "platform.h"
#include "scratch.h"

static struct stat status_of(const char *path) {
    struct stat st;
    if (lstat(path, &st) != 0)
        fail_msg("%s: %s", path, strerror(errno));
    return st;
}

static void age(const char *path, time_t seconds, long nanoseconds) {
    const struct timespec times[2] = { { .tv_sec = 1 }, { seconds, nanoseconds } };
    assert_int_equal(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), 0);
}

/* proves: BOX-4 */
static void modes_and_times_are_kept(void **state) {
    (void)state;
    const char *from = scratch_mkdir("kept", 0755);
    scratch_mkdir("kept/d", 0750);
    scratch_file("kept/d/f", "content", 04711);
    scratch_file("kept/empty", "", 0400);
    age(scratch_path("kept/d/f"), 1000000007, 123456789);
    age(scratch_path("kept/empty"), 5, 0);
    assert_int_equal(chmod(scratch_path("kept/d"), 0550), 0);
    age(scratch_path("kept/d"), 1000000009, 5);
    const char *home = scratch_mkdir("kept-home", 0700);

    pp_template copied;
    assert_int_equal(pp_template_copy(from, home, NULL, &copied, NULL), PP_OK);
    assert_int_equal(copied.entries, 3);
    assert_int_equal(copied.bytes, 7);
    static const char *const names[] = { "d", "d/f", "empty" };
    for (size_t i = 0; i < 3; i++) {
        struct stat a = status_of(scratch_path("kept/%s", names[i]));
        struct stat b = status_of(scratch_path("kept-home/%s", names[i]));
        assert_int_equal(a.st_mode, b.st_mode);
        assert_int_equal(pp_platform_mtime_ns(&a), pp_platform_mtime_ns(&b));
    }
    assert_string_equal(scratch_content(scratch_path("kept-home/d/f")), "content");
    assert_int_equal(status_of(home).st_mode & 07777, 0700);
}

/* proves: BOX-4 (B27) */
static void every_special_entry_is_named_before_anything_is_copied(void **state) {
    (void)state;
    const char *from = scratch_mkdir("special", 0755);
    scratch_file("special/0-plain", "x", 0600);
    scratch_mkdir("special/d", 0755);
    assert_int_equal(mkfifo(scratch_path("special/d/pipe"), 0600), 0);
    assert_int_equal(symlink("0-plain", scratch_path("special/link")), 0);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    assert_int_equal(chdir(from), 0);
    strcpy(address.sun_path, "sock");
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    close(fd);
    const char *home = scratch_mkdir("special-home", 0700);

    pp_template copied;
    pp_error err = { 0 };
    assert_int_equal(pp_template_copy(from, home, NULL, &copied, &err), PP_E_REFUSED);
    assert_non_null(strstr(err.detail, "d/pipe (fifo)"));
    assert_non_null(strstr(err.detail, "link (symlink)"));
    assert_non_null(strstr(err.detail, "sock (socket)"));
    assert_null(strstr(err.detail, "0-plain"));
    assert_int_equal(access(scratch_path("special-home/0-plain"), F_OK), -1);
    assert_int_equal(pp_template_check(from, NULL, &copied, &err), PP_E_REFUSED);
}

static void rejects_that_do_not_fit_are_counted(void **state) {
    (void)state;
    scratch_mkdir("many", 0755);
    for (int i = 0; i < 100; i++)
        assert_int_equal(symlink("x", scratch_path("many/link-number-%03d", i)), 0);
    pp_template found;
    pp_error err = { 0 };
    assert_int_equal(pp_template_check(scratch_path("many"), NULL, &found, &err), PP_E_REFUSED);
    assert_non_null(strstr(err.detail, "link-number-000"));
    int named = 0;
    for (const char *at = err.detail; (at = strstr(at, "(symlink)")); at++)
        named++;
    char tail[32];
    snprintf(tail, sizeof tail, " and %d more", 100 - named);
    assert_string_equal(err.detail + strlen(err.detail) - strlen(tail), tail);
}

/* proves: BOX-4 */
static void all_rejects_are_listed_by_path_with_their_types(void **state) {
    (void)state;
    pp_template_rejects rejects = { .count = 77 };
    assert_int_equal(pp_template_rejects_list(scratch_path("many"), &rejects, NULL), PP_OK);
    assert_int_equal(rejects.count, 100);
    for (int i = 0; i < 100; i++) {
        char wanted[32];
        snprintf(wanted, sizeof wanted, "link-number-%03d", i);
        assert_string_equal(rejects.items[i].path, wanted);
        assert_string_equal(rejects.items[i].type, "symlink");
    }
    pp_template_rejects_done(&rejects);
    assert_int_equal(pp_template_rejects_list(scratch_path("special"), &rejects, NULL), PP_OK);
    static const pp_template_reject special[] = { { "d/pipe", "fifo" },
                                                  { "link", "symlink" },
                                                  { "sock", "socket" } };
    assert_int_equal(rejects.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(rejects.items[i].path, special[i].path);
        assert_string_equal(rejects.items[i].type, special[i].type);
    }
    pp_template_rejects_done(&rejects);
    pp_template_rejects_done(&rejects);
    assert_int_equal(pp_template_rejects_list(scratch_path("kept"), &rejects, NULL), PP_OK);
    assert_int_equal(rejects.count, 0);
    pp_template_rejects_done(&rejects);
    const char *file = scratch_file("no-directory", "", 0600);
    assert_int_equal(pp_template_rejects_list(file, &rejects, NULL), PP_E_INVALID);
}

/* proves: BOX-4 (B27) */
static void a_hole_is_copied_as_a_hole(void **state) {
    (void)state;
    const char *from = scratch_mkdir("sparse", 0755);
    const char *path = scratch_file("sparse/file", "head", 0600);
    const off_t size = (off_t)64 << 20;
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, "middle", 6, size / 2), 6);
    assert_int_equal(ftruncate(fd, size), 0);
    close(fd);
    if (status_of(path).st_blocks * 512 > size / 2) {
        print_message("skipped: this file system keeps no holes\n");
        skip();
    }
    const char *home = scratch_mkdir("sparse-home", 0700);
    pp_template copied;
    assert_int_equal(pp_template_copy(from, home, NULL, &copied, NULL), PP_OK);
    struct stat st = status_of(scratch_path("sparse-home/file"));
    assert_int_equal(st.st_size, size);
    assert_true(st.st_blocks * 512 < 1 << 20);
    pp_template again; /* same content */
    assert_int_equal(pp_template_check(home, NULL, &again, NULL), PP_OK);
    assert_string_equal(again.sha256, copied.sha256);
}

static void hard_links_become_files_of_their_own(void **state) {
    (void)state;
    const char *from = scratch_mkdir("hard", 0755);
    scratch_file("hard/a", "x", 0600);
    assert_int_equal(link(scratch_path("hard/a"), scratch_path("hard/b")), 0);
    const char *home = scratch_mkdir("hard-home", 0700);
    pp_template copied;
    assert_int_equal(pp_template_copy(from, home, NULL, &copied, NULL), PP_OK);
    assert_int_equal(status_of(scratch_path("hard-home/a")).st_nlink, 1);
    assert_string_equal(scratch_content(scratch_path("hard-home/b")), "x");
}

/* The home lies inside the template, so copying changes what is copied. proves: BOX-4 */
static void a_template_that_changes_meanwhile_is_found_out(void **state) {
    (void)state;
    const char *from = scratch_mkdir("moving", 0755);
    scratch_file("moving/f", "x", 0600);
    const char *home = scratch_mkdir("moving/home", 0700);
    pp_template copied = { .entries = 77 };
    pp_error err = { 0 };
    assert_int_equal(pp_template_copy(from, home, NULL, &copied, &err), PP_E_UNVERIFIED);
    assert_int_equal(copied.entries, 77);
}

/* proves: BOX-4 */
static void the_template_itself_is_only_read(void **state) {
    (void)state;
    const char *path = scratch_path("kept/d/f");
    int64_t changed_ns = scratch_ctime_ns(path);
    int64_t top_changed_ns = scratch_ctime_ns(scratch_path("kept"));
    const char *home = scratch_mkdir("read-home", 0700);
    pp_template copied;
    assert_int_equal(pp_template_copy(scratch_path("kept"), home, NULL, &copied, NULL), PP_OK);
    assert_int_equal(scratch_ctime_ns(path), changed_ns);
    assert_int_equal(scratch_ctime_ns(scratch_path("kept")), top_changed_ns);
}

static void what_the_home_already_has_is_not_overwritten(void **state) {
    (void)state;
    const char *home = scratch_mkdir("busy-home", 0700);
    scratch_file("busy-home/empty", "mine", 0600);
    pp_template copied;
    pp_error err = { 0 };
    assert_int_equal(pp_template_copy(scratch_path("kept"), home, NULL, &copied, &err),
                     PP_E_EXISTS);
    assert_string_equal(scratch_content(scratch_path("busy-home/empty")), "mine");
}

static void unreadable_parts_and_files_are_refused_by_name(void **state) {
    (void)state;
    const char *from = scratch_mkdir("closed", 0755);
    const char *path = scratch_mkdir("closed/d", 0000);
    pp_template found;
    pp_error err = { 0 };
    scratch_drop_privilege();
    pp_status status = pp_template_check(from, NULL, &found, &err);
    scratch_restore_privilege();
    assert_int_equal(status, PP_E_DENIED);
    assert_string_equal(err.detail, path);
    assert_int_equal(pp_template_check(scratch_file("file", "", 0600), NULL, &found, &err),
                     PP_E_INVALID);
}

typedef struct special_row {
    const char *type;
    mode_t mode; /* for mknod */
} special_row;

/* proves: BOX-4 */
static void each_kind_of_special_entry_is_refused(void **state) {
    (void)state;
    static const special_row kinds[] = {
        { "symlink", S_IFLNK },     { "fifo", S_IFIFO | 0600 },  { "socket", S_IFSOCK | 0600 },
        { "char", S_IFCHR | 0600 }, { "block", S_IFBLK | 0600 },
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char name[32];
        snprintf(name, sizeof name, "kind-%s", kinds[i].type);
        const char *from = scratch_mkdir(name, 0755);
        const char *path = scratch_path("%s/x", name);
        int made = S_ISLNK(kinds[i].mode) ? symlink("/", path)
                                          : mknod(path, kinds[i].mode, (dev_t)(1 << 8 | 3));
        if (made != 0) {
            print_message("without %s: %s\n", kinds[i].type, strerror(errno));
            continue;
        }
        char wanted[32];
        snprintf(wanted, sizeof wanted, "x (%s)", kinds[i].type);
        for (int unprivileged = 0; unprivileged < 2; unprivileged++) {
            pp_template found;
            pp_error err = { 0 };
            if (unprivileged)
                scratch_drop_privilege();
            pp_status status = pp_template_check(from, NULL, &found, &err);
            scratch_restore_privilege();
            if (status != PP_E_REFUSED || !strstr(err.detail, wanted))
                fail_msg("%s: %s", kinds[i].type, err.detail);
        }
    }
}

/* As a user who may do nothing special. proves: BOX-4 */
static void an_unprivileged_copy_keeps_modes_and_times(void **state) {
    (void)state;
    scratch_mkdir("all", 0777);
    scratch_drop_privilege();
    const char *from = scratch_mkdir("all/plain", 0755);
    scratch_mkdir("all/plain/d", 0755);
    scratch_file("all/plain/d/f", "content", 04750);
    scratch_file("all/plain/r", "read", 0400);
    age(scratch_path("all/plain/d/f"), 77, 5);
    assert_int_equal(chmod(scratch_path("all/plain/d"), 0555), 0);
    const char *home = scratch_mkdir("all/plain-home", 0700);
    pp_template copied;
    pp_error err = { 0 };
    pp_status status = pp_template_copy(from, home, NULL, &copied, &err);
    scratch_restore_privilege();
    if (status != PP_OK)
        fail_msg("%s: %s", err.op, err.detail);
    struct stat st = status_of(scratch_path("all/plain-home/d/f"));
    assert_int_equal(st.st_mode & 07777, 04750);
    assert_int_equal(pp_platform_mtime_ns(&st), INT64_C(77000000005));
    assert_int_equal(status_of(scratch_path("all/plain-home/d")).st_mode & 07777, 0555);
    assert_int_equal(status_of(scratch_path("all/plain-home/r")).st_mode & 07777, 0400);
}

/* proves: BOX-4 */
static void an_unreadable_file_is_refused_before_anything_is_copied(void **state) {
    (void)state;
    const char *from = scratch_mkdir("secret", 0755);
    scratch_file("secret/a", "x", 0644);
    const char *path = scratch_file("secret/b", "x", 0);
    const char *home = scratch_mkdir("secret-home", 0777);
    pp_template copied;
    pp_error err = { 0 };
    scratch_drop_privilege();
    pp_status status = pp_template_copy(from, home, NULL, &copied, &err);
    scratch_restore_privilege();
    assert_int_equal(status, PP_E_DENIED);
    assert_string_equal(err.detail, path);
    assert_int_equal(access(scratch_path("secret-home/a"), F_OK), -1);
}

static void expect_same_content(const char *home) {
    pp_template a, b;
    assert_int_equal(pp_template_check(scratch_path("bulk"), NULL, &a, NULL), PP_OK);
    assert_int_equal(pp_template_check(home, NULL, &b, NULL), PP_OK);
    assert_string_equal(a.sha256, b.sha256);
}

/* Shared or copied by the kernel where it can; into another file system it is read and written.
 * proves: BOX-4 */
static void a_copy_is_the_same_whichever_way_it_was_made(void **state) {
    (void)state;
    const char *from = scratch_mkdir("bulk", 0755);
    char *text = malloc(1000001);
    for (size_t i = 0; i < 1000000; i++)
        text[i] = (char)('a' + i * i % 26);
    text[1000000] = '\0';
    scratch_file("bulk/big", text, 0644);
    free(text);
    scratch_file("bulk/small", "x", 0644);
    pp_template copied;
    const char *home = scratch_mkdir("bulk-home", 0700);
    assert_int_equal(pp_template_copy(from, home, NULL, &copied, NULL), PP_OK);
    expect_same_content(home);
    char elsewhere[] = "/dev/shm/pp-template-XXXXXX";
    if (!mkdtemp(elsewhere)) {
        print_message("without another file system: %s\n", strerror(errno));
        return;
    }
    pp_status status = pp_template_copy(from, elsewhere, NULL, &copied, NULL);
    expect_same_content(elsewhere);
    char path[64];
    snprintf(path, sizeof path, "%s/big", elsewhere);
    unlink(path);
    snprintf(path, sizeof path, "%s/small", elsewhere);
    unlink(path);
    rmdir(elsewhere);
    assert_int_equal(status, PP_OK);
}

static int left;

static bool count_down(void *ctx) {
    (void)ctx;
    return left-- > 0;
}

static void expect_home(const char *home, int files) {
    int there = 0;
    for (int i = 0; i < 3; i++)
        there += access(scratch_path("%s/f%d", home, i), F_OK) == 0;
    assert_int_equal(there, files);
}

/* Asked once before hashing and after each file: stopped at every one of these points. What was
 * begun stays, the template is only read. proves: BOX-4 CAN-1 */
static void hashing_and_copying_stop_when_asked_to(void **state) {
    (void)state;
    const char *from = scratch_mkdir("stopped", 0755);
    for (int i = 0; i < 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "stopped/f%d", i);
        scratch_file(name, "x", 0644);
    }
    const pp_template_watch watch = { .go_on = count_down };
    pp_template before, found = { .entries = 77 };
    assert_int_equal(pp_template_check(from, NULL, &before, NULL), PP_OK);
    left = 0;
    assert_int_equal(pp_template_check(from, &watch, &found, NULL), PP_E_CANCELLED);
    assert_int_equal(found.entries, 77);

    for (int i = 0; i < 4; i++) {
        char home[32];
        snprintf(home, sizeof home, "stopped-home-%d", i);
        const char *to = scratch_mkdir(home, 0700);
        pp_error err = { 0 };
        left = i;
        assert_int_equal(pp_template_copy(from, to, &watch, &found, &err), PP_E_CANCELLED);
        expect_home(home, i);
    }
    assert_int_equal(found.entries, 77);
    pp_template after;
    assert_int_equal(pp_template_check(from, NULL, &after, NULL), PP_OK);
    assert_string_equal(after.sha256, before.sha256);
}

/* One file of minutes. proves: BOX-4 CAN-1 */
static void a_huge_file_stops_in_the_middle(void **state) {
    (void)state;
    const char *from = scratch_mkdir("huge", 0755);
    const char *path = scratch_file("huge/f", "", 0644);
    if (truncate(path, (off_t)1 << 40) != 0) {
        print_message("skipped: no file of this size: %s\n", strerror(errno));
        skip();
    }
    const pp_template_watch watch = { .go_on = count_down };
    pp_template found;
    left = 2;
    assert_int_equal(pp_template_check(from, &watch, &found, NULL), PP_E_CANCELLED);
}

/* A clone shares all and is whole; where files cannot share, nothing was written. */
static void a_clone_is_whole_or_was_never_begun(void **state) {
    (void)state;
    const char *path = scratch_file("original", "content", 0600);
    const char *to = scratch_path("clone");
    int in = open(path, O_RDONLY | O_CLOEXEC);
    int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    pp_error err = { 0 };
    pp_status status = pp_platform_clone(in, out, to, &err);
    close(in);
    close(out);
    assert_true(status == PP_OK || status == PP_E_UNSUPPORTED);
    assert_string_equal(scratch_content(to), status == PP_OK ? "content" : "");
    print_message("this file system %s\n", status == PP_OK ? "shares" : "cannot share");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modes_and_times_are_kept),
        cmocka_unit_test(every_special_entry_is_named_before_anything_is_copied),
        cmocka_unit_test(rejects_that_do_not_fit_are_counted),
        cmocka_unit_test(a_hole_is_copied_as_a_hole),
        cmocka_unit_test(all_rejects_are_listed_by_path_with_their_types),
        cmocka_unit_test(hashing_and_copying_stop_when_asked_to),
        cmocka_unit_test(a_huge_file_stops_in_the_middle),
        cmocka_unit_test(hard_links_become_files_of_their_own),
        cmocka_unit_test(a_template_that_changes_meanwhile_is_found_out),
        cmocka_unit_test(the_template_itself_is_only_read),
        cmocka_unit_test(what_the_home_already_has_is_not_overwritten),
        cmocka_unit_test(unreadable_parts_and_files_are_refused_by_name),
        cmocka_unit_test(each_kind_of_special_entry_is_refused),
        cmocka_unit_test(an_unprivileged_copy_keeps_modes_and_times),
        cmocka_unit_test(an_unreadable_file_is_refused_before_anything_is_copied),
        cmocka_unit_test(a_copy_is_the_same_whichever_way_it_was_made),
        cmocka_unit_test(a_clone_is_whole_or_was_never_begun),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
