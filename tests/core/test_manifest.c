/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <locale.h>
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

#include "pairperf/manifest.h"
#include "scratch.h"

#define SHA_OF_ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

static char *text_of(const char *root) {
    pp_manifest manifest;
    pp_error err = { 0 };
    if (pp_manifest_build(root, NULL, &manifest, &err) != PP_OK)
        fail_msg("%s: %s", err.op, err.detail);
    char *text = strndup(manifest.json, manifest.size);
    pp_manifest_done(&manifest);
    return text;
}

static void expect_text(const char *root, const char *wanted) {
    char *text = text_of(root);
    assert_string_equal(text, wanted);
    free(text);
}

/* proves: PROV-2 */
static void the_form_is_fixed(void **state) {
    (void)state;
    const char *root = scratch_mkdir("form", 0755);
    scratch_mkdir("form/dir", 0750);
    scratch_file("form/dir/run", "abc", 04755);
    char digest_of_target[PP_DIGEST_HEX];
    pp_digest *digest;
    assert_int_equal(pp_digest_new(&digest, NULL), PP_OK);
    assert_int_equal(pp_digest_bytes(digest, "dir/run", 7, digest_of_target, NULL), PP_OK);
    pp_digest_free(digest);
    assert_int_equal(symlink("dir/run", scratch_path("form/link")), 0);
    char wanted[1024];
    snprintf(
        wanted, sizeof wanted,
        "{\"entries\":[{\"mode\":\"0750\",\"path\":\"dir\",\"type\":\"directory\"},"
        "{\"mode\":\"4755\",\"path\":\"dir/run\",\"sha256\":\"" SHA_OF_ABC "\",\"size\":3,"
        "\"type\":\"file\"},{\"path\":\"link\",\"target\":\"dir/run\",\"target_sha256\":\"%s\","
        "\"type\":\"symlink\"}],\"schema\":\"pairperf-manifest-1\"}",
        digest_of_target);
    expect_text(root, wanted);
}

/* proves: PROV-2 */
static void the_digest_is_that_of_the_canonical_bytes(void **state) {
    (void)state;
    pp_manifest manifest;
    assert_int_equal(pp_manifest_build(scratch_path("form"), NULL, &manifest, NULL), PP_OK);
    pp_digest *digest;
    char hex[PP_DIGEST_HEX];
    assert_int_equal(pp_digest_new(&digest, NULL), PP_OK);
    assert_int_equal(pp_digest_bytes(digest, manifest.json, manifest.size, hex, NULL), PP_OK);
    pp_digest_free(digest);
    assert_string_equal(manifest.sha256, hex);
    assert_int_equal(manifest.entries, 3);
    assert_int_equal(manifest.files, 1);
    assert_int_equal(manifest.bytes, 3);
    pp_manifest_done(&manifest);
    pp_manifest_done(&manifest);
}

static void a_single_file_is_the_entry_dot(void **state) {
    (void)state;
    expect_text(scratch_file("single", "abc", 0755),
                "{\"entries\":[{\"mode\":\"0755\",\"path\":\".\",\"sha256\":\"" SHA_OF_ABC
                "\",\"size\":3,\"type\":\"file\"}],\"schema\":\"pairperf-manifest-1\"}");
}

static void make_odd_names(const char *top) {
    static const char *const names[] = { "a\nb", "\xff\xfe", "-rf",      "Logo",
                                         "logo", "\xc3\xa9", "e\xcc\x81" };
    scratch_mkdir(top, 0755);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s/%s", top, names[i]);
        scratch_file(path, "", 0644);
    }
}

/* proves: PROV-2 (B26) */
static void odd_names_are_kept_apart_and_sorted_by_bytes(void **state) {
    (void)state;
    make_odd_names("odd");
    char *text = text_of(scratch_path("odd"));
    static const char *const sorted[] = { "\"-rf\"",
                                          "\"Logo\"",
                                          "\"a\\nb\"",
                                          "\"e\xcc\x81\"",
                                          "\"logo\"",
                                          "\"\xc3\xa9\"",
                                          "{\"bytes_hex\":\"fffe\"}" };
    const char *at = text;
    for (size_t i = 0; i < sizeof sorted / sizeof *sorted; i++) {
        const char *found = strstr(at, sorted[i]);
        if (found)
            at = found;
        else
            fail_msg("%s is missing or out of order in %s", sorted[i], text);
    }
    free(text);
}

/* proves: PROV-2 */
static void neither_times_nor_locale_nor_place_change_the_digest(void **state) {
    (void)state;
    make_odd_names("twin");
    const struct timespec old[2] = { { .tv_sec = 1 }, { .tv_sec = 2 } };
    assert_int_equal(utimensat(-1, scratch_path("twin/Logo"), old, 0), 0);
    char *first = text_of(scratch_path("odd"));
    if (!scratch_comma_locale())
        print_message("without another locale\n");
    char *second = text_of(scratch_path("twin"));
    setlocale(LC_ALL, "C");
    assert_string_equal(first, second);
    free(first);
    free(second);
}

/* proves: PROV-2 (B25) */
static void links_that_loop_or_lead_out_are_entries(void **state) {
    (void)state;
    const char *root = scratch_mkdir("links", 0755);
    scratch_mkdir("links/A", 0755);
    assert_int_equal(symlink("A", scratch_path("links/Current")), 0);
    assert_int_equal(symlink("..", scratch_path("links/A/up")), 0);
    assert_int_equal(symlink("nowhere", scratch_path("links/dangling")), 0);
    assert_int_equal(symlink("/etc", scratch_path("links/outside")), 0);
    pp_manifest manifest;
    assert_int_equal(pp_manifest_build(root, NULL, &manifest, NULL), PP_OK);
    assert_int_equal(manifest.entries, 5);
    assert_int_equal(manifest.files, 0);
    pp_manifest_done(&manifest);
}

/* proves: PROV-2 */
static void special_files_are_listed_without_being_opened(void **state) {
    (void)state;
    const char *root = scratch_mkdir("special", 0755);
    assert_int_equal(mkfifo(scratch_path("special/fifo"), 0640), 0);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    assert_int_equal(chdir(root), 0);
    strcpy(address.sun_path, "socket");
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(chmod("socket", 0755), 0);
    close(fd);
    expect_text(root, "{\"entries\":[{\"mode\":\"0640\",\"path\":\"fifo\",\"type\":\"fifo\"},"
                      "{\"mode\":\"0755\",\"path\":\"socket\",\"type\":\"socket\"}],"
                      "\"schema\":\"pairperf-manifest-1\"}");
}

/* proves: PROV-2 (B26) */
static void an_unreadable_file_is_an_error_by_name_and_not_empty(void **state) {
    (void)state;
    const char *root = scratch_mkdir("sealed", 0755);
    scratch_file("sealed/open", "x", 0644);
    const char *path = scratch_file("sealed/secret", "x", 0000);
    pp_manifest manifest;
    pp_error err = { 0 };
    scratch_drop_privilege();
    pp_status status = pp_manifest_build(root, NULL, &manifest, &err);
    scratch_restore_privilege();
    assert_int_equal(status, PP_E_DENIED);
    assert_string_equal(err.detail, path);
    assert_int_equal(err.sys_errno, EACCES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_form_is_fixed),
        cmocka_unit_test(the_digest_is_that_of_the_canonical_bytes),
        cmocka_unit_test(a_single_file_is_the_entry_dot),
        cmocka_unit_test(odd_names_are_kept_apart_and_sorted_by_bytes),
        cmocka_unit_test(neither_times_nor_locale_nor_place_change_the_digest),
        cmocka_unit_test(links_that_loop_or_lead_out_are_entries),
        cmocka_unit_test(special_files_are_listed_without_being_opened),
        cmocka_unit_test(an_unreadable_file_is_an_error_by_name_and_not_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
