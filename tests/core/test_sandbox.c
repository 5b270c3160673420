/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "pairperf/sandbox.h"
#include "sandbox_layout.h"
#include "scratch.h"

static struct stat status_of(const char *path) {
    struct stat st;
    if (lstat(path, &st) != 0)
        fail_msg("%s: %s", path, strerror(errno));
    return st;
}

/* proves: BOX-2 */
static void every_place_is_a_private_directory_of_the_new_home(void **state) {
    (void)state;
    mode_t old = umask(0);
    const char *home = scratch_path("home");
    pp_sandbox sandbox = { .home = home };
    assert_int_equal(pp_sandbox_prepare(&sandbox, NULL, NULL), PP_OK);
    umask(old);
    for (size_t i = 0; i < pp__sandbox_place_count; i++) {
        const char *path = scratch_path("home/%s", pp__sandbox_places[i].directory);
        struct stat st = status_of(path);
        assert_true(S_ISDIR(st.st_mode));
        assert_int_equal(st.st_mode & 07777, 0700);
        assert_int_equal(st.st_uid, geteuid());
    }
}

/* proves: BOX-2 */
static void a_home_is_never_used_twice(void **state) {
    (void)state;
    pp_sandbox sandbox = { .home = scratch_path("home") };
    pp_error err = { 0 };
    assert_int_equal(pp_sandbox_prepare(&sandbox, NULL, &err), PP_E_EXISTS);
    const char *dangling = scratch_path("dangling");
    assert_int_equal(symlink("nowhere", dangling), 0);
    sandbox.home = dangling;
    assert_int_equal(pp_sandbox_prepare(&sandbox, NULL, &err), PP_E_EXISTS);
}

/* proves: BOX-2 BOX-4 */
static void a_template_comes_first_but_tmp_and_run_stay_private(void **state) {
    (void)state;
    scratch_mkdir("template", 0755);
    scratch_mkdir("template/run", 0777);
    scratch_mkdir("template/.config", 0750);
    scratch_file("template/.config/app.json", "{}", 0640);
    pp_sandbox sandbox = { .home = scratch_path("seeded"),
                           .template_dir = scratch_path("template") };
    assert_int_equal(pp_sandbox_prepare(&sandbox, NULL, NULL), PP_OK);
    assert_string_equal(scratch_content(scratch_path("seeded/.config/app.json")), "{}");
    assert_int_equal(status_of(scratch_path("seeded/.config")).st_mode & 07777, 0750);
    assert_int_equal(status_of(scratch_path("seeded/run")).st_mode & 07777, 0700);
    assert_int_equal(status_of(scratch_path("seeded")).st_mode & 07777, 0700);
}

/* proves: BOX-5 */
static void a_dot_directory_is_linked_to_the_real_one(void **state) {
    (void)state;
    const char *real = scratch_mkdir("real", 0755);
    const char *engine = scratch_mkdir("real/.omlx", 0755);
    const char *const names[] = { ".omlx", NULL };
    pp_sandbox sandbox = { .home = scratch_path("linked"),
                           .link_dotdirs = names,
                           .real_home = real };
    assert_int_equal(pp_sandbox_prepare(&sandbox, NULL, NULL), PP_OK);
    char target[4096] = "";
    assert_true(readlink(scratch_path("linked/.omlx"), target, sizeof target - 1) > 0);
    assert_string_equal(target, engine);
}

static void expect_link_refused(const char *name, pp_status wanted) {
    static unsigned number;
    const char *const names[] = { name, NULL };
    const char *home = scratch_path("refused-%u", number++);
    pp_sandbox sandbox = { .home = home, .link_dotdirs = names, .real_home = scratch_path("real") };
    pp_error err = { 0 };
    pp_status status = pp_sandbox_prepare(&sandbox, NULL, &err);
    if (status != wanted)
        fail_msg("%s: %s: %s", name, pp_status_name(status), err.detail);
    /* A bad name is found before anything is made. */
    if (wanted == PP_E_INVALID)
        assert_int_equal(access(home, F_OK), -1);
}

/* proves: BOX-5 */
static void only_one_dot_prefixed_component_is_linked(void **state) {
    (void)state;
    static const char *const bad[] = { "omlx", "", ".", "..", ".a/b", "/.a", "../.a", ".a/" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_link_refused(bad[i], PP_E_INVALID);
}

/* proves: BOX-5 BOX-2 */
static void the_sandbox_never_makes_directories_inside_the_real_home(void **state) {
    (void)state;
    static const char *const own[] = { ".config", ".cache", ".local" };
    for (size_t i = 0; i < 3; i++) {
        scratch_mkdir(scratch_path("real/%s", own[i]) + strlen(scratch_dir()) + 1, 0755);
        expect_link_refused(own[i], PP_E_REFUSED);
    }
    assert_int_equal(access(scratch_path("real/.local/share"), F_OK), -1);
    static const char *const similar[] = { ".locals", ".loc" }; /* whole components count */
    for (size_t i = 0; i < 2; i++) {
        scratch_mkdir(scratch_path("real/%s", similar[i]) + strlen(scratch_dir()) + 1, 0755);
        expect_link_refused(similar[i], PP_OK);
    }
}

/* proves: BOX-5 */
static void what_is_missing_or_no_directory_is_not_linked(void **state) {
    (void)state;
    scratch_file("real/.file", "", 0644);
    expect_link_refused(".file", PP_E_REFUSED);
    expect_link_refused(".missing", PP_E_SYS);
    const char *const names[] = { ".omlx", NULL };
    pp_sandbox sandbox = { .home = scratch_path("homeless"), .link_dotdirs = names };
    assert_int_equal(pp_sandbox_prepare(&sandbox, NULL, NULL), PP_E_INVALID);
}

/* All of it again as a user who may do nothing special; what the template was is told.
 * proves: BOX-2 BOX-4 BOX-5 */
static void an_unprivileged_user_gets_the_same_home(void **state) {
    (void)state;
    const char *all = scratch_mkdir("all", 0777);
    const char *const names[] = { ".omlx", NULL };
    scratch_drop_privilege();
    pp_sandbox sandbox = { .home = scratch_path("all/home"),
                           .template_dir = scratch_path("template"),
                           .link_dotdirs = names,
                           .real_home = scratch_path("real") };
    pp_template copied = { 0 };
    pp_error err = { 0 };
    pp_status status = pp_sandbox_prepare(&sandbox, &copied, &err);
    const char *const bad[] = { ".a/b", NULL };
    sandbox.link_dotdirs = bad;
    sandbox.home = scratch_path("all/bad");
    pp_status refused = pp_sandbox_prepare(&sandbox, NULL, NULL);
    scratch_restore_privilege();
    if (status != PP_OK)
        fail_msg("%s: %s: %s", all, err.op, err.detail);
    assert_int_equal(copied.entries, 3);
    assert_int_equal(copied.bytes, 2);
    char target[4096] = "";
    assert_true(readlink(scratch_path("all/home/.omlx"), target, sizeof target - 1) > 0);
    assert_string_equal(target, scratch_path("real/.omlx"));
    assert_int_equal(refused, PP_E_INVALID);
    assert_int_equal(access(scratch_path("all/bad"), F_OK), -1);
}

/* A link leads to the dot-directory's own name, also where that is a link itself; never over what
 * the template holds. proves: BOX-5 */
static void a_linked_dot_directory_replaces_nothing(void **state) {
    (void)state;
    scratch_mkdir("real/elsewhere", 0755);
    assert_int_equal(symlink("elsewhere", scratch_path("real/.alias")), 0);
    expect_link_refused(".alias", PP_OK);
    assert_int_equal(symlink("nowhere", scratch_path("real/.dangling")), 0);
    expect_link_refused(".dangling", PP_E_SYS);

    scratch_mkdir("owner", 0755);
    scratch_mkdir("owner/.omlx", 0755);
    scratch_file("owner/.omlx/f", "template's", 0644);
    const char *const names[] = { ".omlx", NULL };
    pp_sandbox sandbox = { .home = scratch_path("owned"),
                           .template_dir = scratch_path("owner"),
                           .link_dotdirs = names,
                           .real_home = scratch_path("real") };
    assert_int_equal(pp_sandbox_prepare(&sandbox, NULL, NULL), PP_E_EXISTS);
    assert_string_equal(scratch_content(scratch_path("owned/.omlx/f")), "template's");
    assert_int_equal(access(scratch_path("real/.omlx/f"), F_OK), -1);
}

/* proves: BOX-2 */
static void the_room_for_a_socket_is_what_bind_accepts(void **state) {
    (void)state;
    char home[200];
    size_t limit;
    (void)snprintf(home, sizeof home, "%s", scratch_mkdir("s", 0700));
    scratch_mkdir("s/tmp", 0700);
    long room = pp_sandbox_socket_room(home, &limit);
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    assert_int_equal(limit, sizeof address.sun_path);
    if (room < 1)
        fail_msg("the scratch directory's own path leaves no room: %s", home);
    /* A name of exactly that length fits with its NUL, one more byte does not. */
    size_t used = (size_t)snprintf(address.sun_path, sizeof address.sun_path, "%s/%s/", home,
                                   PP__SANDBOX_TMP);
    assert_int_equal(used + (size_t)room + 1, limit);
    memset(address.sun_path + used, 'x', (size_t)room);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    close(fd);

    memset(home, 'h', sizeof home);
    home[0] = '/';
    home[150] = '\0';
    assert_true(pp_sandbox_socket_room(home, &limit) < 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_place_is_a_private_directory_of_the_new_home),
        cmocka_unit_test(a_home_is_never_used_twice),
        cmocka_unit_test(a_template_comes_first_but_tmp_and_run_stay_private),
        cmocka_unit_test(a_dot_directory_is_linked_to_the_real_one),
        cmocka_unit_test(only_one_dot_prefixed_component_is_linked),
        cmocka_unit_test(the_sandbox_never_makes_directories_inside_the_real_home),
        cmocka_unit_test(what_is_missing_or_no_directory_is_not_linked),
        cmocka_unit_test(an_unprivileged_user_gets_the_same_home),
        cmocka_unit_test(a_linked_dot_directory_replaces_nothing),
        cmocka_unit_test(the_room_for_a_socket_is_what_bind_accepts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
