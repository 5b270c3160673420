/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pairperf/status.h"

static void a_failure_fills_the_error_and_returns_its_status(void **state) {
    (void)state;
    pp_error error = { 0 };
    assert_int_equal(pp_fail(&error, PP_E_DENIED, EACCES, "open", "%s:%d", "/x", 7), PP_E_DENIED);
    assert_int_equal(error.status, PP_E_DENIED);
    assert_int_equal(error.sys_errno, EACCES);
    assert_string_equal(error.op, "open");
    assert_string_equal(error.detail, "/x:7");
}

static void a_failure_without_an_error_still_returns_its_status(void **state) {
    (void)state;
    assert_int_equal(pp_fail(NULL, PP_E_STALE, 0, "open", "%s", ""), PP_E_STALE);
}

static void what_is_too_long_is_cut_and_terminated(void **state) {
    (void)state;
    char longer[2000];
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    pp_error error;
    memset(&error, 0x55, sizeof error);
    pp_fail(&error, PP_E_SYS, 0, longer, "%s", longer);
    assert_int_equal(strlen(error.op), sizeof error.op - 1);
    assert_int_equal(strlen(error.detail), sizeof error.detail - 1);

    assert_int_equal(pp_error_wrap(&error, "outside"), PP_E_SYS);
    assert_int_equal(strlen(error.detail), sizeof error.detail - 1);
    assert_memory_equal(error.detail, "outside: aaa", 12);
}

static void wrapping_says_what_was_being_done(void **state) {
    (void)state;
    pp_error error = { 0 };
    pp_fail(&error, PP_E_SYS, ENOENT, "open", "file");
    assert_int_equal(pp_error_wrap(&error, "reading the plan"), PP_E_SYS);
    assert_string_equal(error.detail, "reading the plan: file");
    assert_int_equal(error.sys_errno, ENOENT);
}

static void every_status_has_a_name_of_its_own(void **state) {
    (void)state;
    for (int i = 0; i < PP_STATUS_COUNT; i++) {
        const char *name = pp_status_name((pp_status)i);
        assert_non_null(name);
        assert_int_equal(pp_status_parse(name), i);
    }
    assert_string_equal(pp_status_name(PP_OK), "not_measured");
    assert_string_equal(pp_status_name(PP_E_VANISHED), "vanished");
}

static void an_unknown_status_has_no_name_and_no_number(void **state) {
    (void)state;
    assert_string_equal(pp_status_name(PP_STATUS_COUNT), "?");
    assert_string_equal(pp_status_name((pp_status)-1), "?");
    assert_int_equal(pp_status_parse("Denied"), PP_STATUS_COUNT);
    assert_int_equal(pp_status_parse(""), PP_STATUS_COUNT);
}

/* proves: GRP-3 */
static void denied_vanished_and_unsupported_are_kept_apart(void **state) {
    (void)state;
    assert_int_equal(pp_status_from_errno(ESRCH), PP_E_VANISHED);
    assert_int_equal(pp_status_from_errno(EPERM), PP_E_DENIED);
    assert_int_equal(pp_status_from_errno(EACCES), PP_E_DENIED);
    assert_int_equal(pp_status_from_errno(ENOSYS), PP_E_UNSUPPORTED);
    assert_int_equal(pp_status_from_errno(ENOTSUP), PP_E_UNSUPPORTED);
    assert_int_equal(pp_status_from_errno(EOPNOTSUPP), PP_E_UNSUPPORTED);
    assert_int_equal(pp_status_from_errno(EIO), PP_E_SYS);
    assert_int_equal(pp_status_from_errno(0), PP_E_SYS);
}

static void errno_and_signal_numbers_have_their_symbolic_names(void **state) {
    (void)state;
    assert_string_equal(pp_errno_name(ENOENT), "ENOENT");
    assert_string_equal(pp_errno_name(ECHILD), "ECHILD");
    assert_string_equal(pp_errno_name(EAGAIN), "EAGAIN");
    assert_string_equal(pp_errno_name(0), "E?");
    assert_string_equal(pp_errno_name(-1), "E?");
    assert_string_equal(pp_signal_name(SIGTERM), "SIGTERM");
    assert_string_equal(pp_signal_name(SIGKILL), "SIGKILL");
    assert_string_equal(pp_signal_name(0), "SIG?");
}

static void a_signal_is_found_with_and_without_its_prefix(void **state) {
    (void)state;
    assert_int_equal(pp_signal_number("SIGTERM"), SIGTERM);
    assert_int_equal(pp_signal_number("TERM"), SIGTERM);
    assert_int_equal(pp_signal_number("SIGINT"), SIGINT);
    assert_int_equal(pp_signal_number("SIG"), 0);
    assert_int_equal(pp_signal_number("SIGSIGTERM"), 0);
    assert_int_equal(pp_signal_number("term"), 0);
    assert_int_equal(pp_signal_number(""), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_fills_the_error_and_returns_its_status),
        cmocka_unit_test(a_failure_without_an_error_still_returns_its_status),
        cmocka_unit_test(what_is_too_long_is_cut_and_terminated),
        cmocka_unit_test(wrapping_says_what_was_being_done),
        cmocka_unit_test(every_status_has_a_name_of_its_own),
        cmocka_unit_test(an_unknown_status_has_no_name_and_no_number),
        cmocka_unit_test(denied_vanished_and_unsupported_are_kept_apart),
        cmocka_unit_test(errno_and_signal_numbers_have_their_symbolic_names),
        cmocka_unit_test(a_signal_is_found_with_and_without_its_prefix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
