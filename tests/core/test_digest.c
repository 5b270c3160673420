/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "pairperf/digest.h"
#include "scratch.h"

#define OF_NOTHING "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define OF_ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define OF_MILLION_A "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"

static pp_digest *digest;

static int open_digest(void **state) {
    (void)state;
    return pp_digest_new(&digest, NULL) != PP_OK;
}

static int close_digest(void **state) {
    (void)state;
    pp_digest_free(digest);
    pp_digest_free(NULL);
    return 0;
}

static void published_values_come_out(void **state) {
    (void)state;
    char hex[PP_DIGEST_HEX];
    assert_int_equal(pp_digest_bytes(digest, "", 0, hex, NULL), PP_OK);
    assert_string_equal(hex, OF_NOTHING);
    assert_int_equal(pp_digest_bytes(digest, "abc", 3, hex, NULL), PP_OK);
    assert_string_equal(hex, OF_ABC);
}

static void pieces_are_their_whole_and_an_unended_one_is_forgotten(void **state) {
    (void)state;
    char hex[PP_DIGEST_HEX];
    assert_int_equal(pp_digest_begin(digest, NULL), PP_OK);
    assert_int_equal(pp_digest_add(digest, "x", 1, NULL), PP_OK);
    assert_int_equal(pp_digest_begin(digest, NULL), PP_OK);
    assert_int_equal(pp_digest_add(digest, "a", 1, NULL), PP_OK);
    assert_int_equal(pp_digest_add(digest, "bc", 2, NULL), PP_OK);
    assert_int_equal(pp_digest_end(digest, hex, NULL), PP_OK);
    assert_string_equal(hex, OF_ABC);
}

static void one_context_serves_many_contents(void **state) {
    (void)state;
    char *many = malloc(1000001);
    memset(many, 'a', 1000000);
    many[1000000] = '\0';
    const char *big = scratch_file("million", many, 0600);
    const char *small = scratch_file("abc", "abc", 0600);
    free(many);
    char hex[PP_DIGEST_HEX];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pp_digest_file(digest, big, hex, NULL), PP_OK);
        assert_string_equal(hex, OF_MILLION_A);
        assert_int_equal(pp_digest_file(digest, small, hex, NULL), PP_OK);
        assert_string_equal(hex, OF_ABC);
    }
}

static void a_link_is_followed_to_what_would_run(void **state) {
    (void)state;
    const char *link = scratch_path("link");
    assert_int_equal(symlink("abc", link), 0);
    char hex[PP_DIGEST_HEX];
    assert_int_equal(pp_digest_file(digest, link, hex, NULL), PP_OK);
    assert_string_equal(hex, OF_ABC);
}

static void what_is_no_file_has_no_digest_and_does_not_hang(void **state) {
    (void)state;
    char hex[PP_DIGEST_HEX] = "untouched";
    pp_error err = { 0 };
    const char *fifo = scratch_path("fifo");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(pp_digest_file(digest, fifo, hex, &err), PP_E_INVALID);
    assert_int_equal(pp_digest_file(digest, scratch_dir(), hex, &err), PP_E_INVALID);
    assert_int_equal(pp_digest_file(digest, scratch_path("no"), hex, &err), PP_E_SYS);
    assert_int_equal(err.sys_errno, ENOENT);
    assert_string_equal(hex, "untouched");
}

/* A file that is read from its middle looks like one that grew or shrank meanwhile. */
static void a_size_that_is_not_what_was_read_is_an_error(void **state) {
    (void)state;
    int fd = open(scratch_path("million"), O_RDONLY | O_CLOEXEC);
    assert_int_equal(lseek(fd, 1, SEEK_SET), 1);
    uint64_t size = 5;
    char hex[PP_DIGEST_HEX] = "untouched";
    pp_error err = { 0 };
    assert_int_equal(pp_digest_fd(digest, fd, "the name", &size, hex, &err), PP_E_UNVERIFIED);
    assert_non_null(strstr(err.detail, "the name"));
    assert_string_equal(hex, "untouched");
    assert_int_equal(size, 5);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    assert_int_equal(pp_digest_fd(digest, fd, "the name", &size, hex, &err), PP_OK);
    assert_int_equal(size, 1000000);
    close(fd);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_values_come_out),
        cmocka_unit_test(pieces_are_their_whole_and_an_unended_one_is_forgotten),
        cmocka_unit_test(one_context_serves_many_contents),
        cmocka_unit_test(a_link_is_followed_to_what_would_run),
        cmocka_unit_test(what_is_no_file_has_no_digest_and_does_not_hang),
        cmocka_unit_test(a_size_that_is_not_what_was_read_is_an_error),
    };
    return cmocka_run_group_tests(tests, open_digest, close_digest);
}
