/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "request.h"

static char *const argv[] = { (char[]){ "app" }, (char[]){ "" }, (char[]){ "two words\n" }, NULL };
static char *const envp[] = { (char[]){ "A=1" }, (char[]){ "B=\xff\xfe" }, NULL };
static const char *const expected[] = { "*/helper", NULL };

static const char *const writable[] = { "/home of it", "/dev/shm", NULL };

static const pp_spawn_options full = {
    .path = "/bin/app",
    .argv = argv,
    .envp = envp,
    .cwd = "/tmp",
    .capture = true,
    .stdout_name = "out",
    .stderr_name = "err",
    .output_cap_bytes = UINT64_MAX,
    .track = true,
    .interval_ns = 250000000,
    .expected = expected,
    .reap_escapees = true,
    .latest_end_ns = INT64_MAX,
    .writable = writable,
};

static pp_status decode(const pp_buffer *body, size_t size, pp_spawn_request *ret_request) {
    pp_message message = { .type = PP_MSG_SPAWN, .body = body->bytes, .size = size };
    return pp__request_get_spawn(&message, ret_request, NULL);
}

static void a_spawn_request_arrives_as_it_was_sent(void **state) {
    (void)state;
    pp_buffer body = { 0 };
    pp_spawn_request request;
    pp__request_put_spawn(&body, &full);
    assert_int_equal(decode(&body, body.size, &request), PP_OK);
    memset(body.bytes, 'x', body.size); /* its strings are its own */
    const pp_spawn_options *got = &request.options;
    assert_string_equal(got->path, "/bin/app");
    assert_string_equal(got->cwd, "/tmp");
    for (int i = 0; i < 3; i++)
        assert_string_equal(got->argv[i], argv[i]);
    assert_null(got->argv[3]);
    assert_string_equal(got->envp[0], "A=1");
    assert_string_equal(got->envp[1], "B=\xff\xfe");
    assert_null(got->envp[2]);
    assert_string_equal(got->expected[0], "*/helper");
    assert_null(got->expected[1]);
    assert_true(got->capture && got->track && got->reap_escapees);
    assert_string_equal(got->stdout_name, "out");
    assert_string_equal(got->stderr_name, "err");
    assert_true(got->output_cap_bytes == UINT64_MAX);
    assert_true(got->interval_ns == 250000000 && got->latest_end_ns == INT64_MAX);
    assert_string_equal(got->writable[0], "/home of it");
    assert_string_equal(got->writable[1], "/dev/shm");
    assert_null(got->writable[2]);
    pp__request_done(&request);
    pp__request_done(&request); /* twice is harmless */
    pp_buffer_done(&body);
}

static void absent_names_and_lists_arrive_empty(void **state) {
    (void)state;
    pp_spawn_options options = { .path = "/a", .argv = argv, .envp = &argv[3], .cwd = "/" };
    pp_buffer body = { 0 };
    pp_spawn_request request;
    pp__request_put_spawn(&body, &options);
    assert_int_equal(decode(&body, body.size, &request), PP_OK);
    assert_string_equal(request.options.stdout_name, "");
    assert_null(request.options.envp[0]);
    assert_null(request.options.expected[0]);
    assert_null(request.options.writable); /* not confined; an empty list would be, to nothing */
    assert_false(request.options.capture || request.options.track || request.options.reap_escapees);
    pp__request_done(&request);
    pp_buffer_done(&body);
}

static void a_request_cut_anywhere_or_too_long_is_refused(void **state) {
    (void)state;
    pp_buffer body = { 0 };
    pp_spawn_request request = { .options.interval_ns = 77 };
    pp__request_put_spawn(&body, &full);
    size_t size = body.size;
    for (size_t cut = 0; cut < size; cut++)
        assert_int_equal(decode(&body, cut, &request), PP_E_PROTOCOL);
    pp_put_u8(&body, 0);
    assert_int_equal(decode(&body, body.size, &request), PP_E_PROTOCOL);
    assert_int_equal(request.options.interval_ns, 77); /* outputs only on success */
    pp_buffer_done(&body);
}

static void a_string_with_a_nul_inside_or_none_at_its_end_is_refused(void **state) {
    (void)state;
    pp_buffer body = { 0 };
    pp_spawn_request request;
    pp__request_put_spawn(&body, &full);
    size_t path_end = 4 + sizeof "/bin/app" - 1;
    assert_int_equal(body.bytes[path_end], 0);
    body.bytes[path_end] = 'x';
    assert_int_equal(decode(&body, body.size, &request), PP_E_PROTOCOL);
    body.bytes[path_end] = 0;
    body.bytes[path_end - 2] = 0;
    assert_int_equal(decode(&body, body.size, &request), PP_E_PROTOCOL);
    pp_buffer_done(&body);
}

static void a_list_longer_than_its_message_is_refused(void **state) {
    (void)state;
    static const uint32_t lengths[] = { 65537, 0x7fffffff, UINT32_MAX };
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        pp_buffer body = { 0 };
        pp_spawn_request request;
        pp_put_bytes(&body, "/a", 3);
        pp_put_bytes(&body, "/", 2);
        pp_put_u32(&body, lengths[i]);
        assert_int_equal(decode(&body, body.size, &request), PP_E_PROTOCOL);
        pp_buffer_done(&body);
    }
}

static pp_cursor cursor_of(const pp_buffer *body) {
    return (pp_cursor){ .at = body->bytes, .end = body->bytes + body->size };
}

/* proves: BOX-7 */
static void an_error_keeps_its_step_errno_and_path(void **state) {
    (void)state;
    pp_buffer body = { 0 };
    pp_error sent, got;
    (void)pp_fail(&sent, PP_E_SYS, ENOENT, "execve", "%s", "/no/such");
    pp__put_error(&body, &sent);
    pp_cursor cursor = cursor_of(&body);
    pp__get_error(&cursor, &got);
    assert_int_equal(pp_cursor_end(&cursor, NULL), PP_OK);
    assert_int_equal(got.status, PP_E_SYS);
    assert_int_equal(got.sys_errno, ENOENT);
    assert_string_equal(got.op, "execve");
    assert_string_equal(got.detail, "/no/such");
    pp_buffer_done(&body);
}

static void a_hostile_error_is_cut_and_never_reads_as_success(void **state) {
    (void)state;
    static const uint32_t statuses[] = { PP_OK, PP_STATUS_COUNT, UINT32_MAX };
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        pp_buffer body = { 0 };
        pp_error got;
        char longer[1000];
        memset(longer, 'a', sizeof longer);
        pp_put_u32(&body, statuses[i]);
        pp_put_u32(&body, 0);
        pp_put_bytes(&body, longer, sizeof longer);
        pp_put_bytes(&body, longer, sizeof longer);
        pp_cursor cursor = cursor_of(&body);
        pp__get_error(&cursor, &got);
        assert_int_equal(got.status, PP_E_PROTOCOL);
        assert_int_equal(strlen(got.op), sizeof got.op - 1);
        assert_int_equal(strlen(got.detail), sizeof got.detail - 1);
        body.size = 0;
        cursor = cursor_of(&body);
        pp__get_error(&cursor, &got);
        assert_true(cursor.bad);
        assert_string_equal(got.detail, "");
        pp_buffer_done(&body);
    }
}

static void identities_readings_and_exits_arrive_as_they_were(void **state) {
    (void)state;
    pp_buffer body = { 0 };
    pp_proc_id id = { .pid = INT32_MAX, .start = UINT64_MAX, .unique = 1 };
    pp_exit exit = { .by_signal = true,
                     .signal_number = SIGSEGV,
                     .core_dumped = true,
                     .cpu_ns = pp_missing(PP_E_DENIED) };
    pp__put_id(&body, id);
    pp__put_reading(&body, pp_known(UINT64_MAX));
    pp__put_exit(&body, &exit);
    pp__put_exit(&body, &(pp_exit){ .code = 255, .cpu_ns = pp_known(0) });
    pp_cursor cursor = cursor_of(&body);
    assert_true(pp_proc_id_equal(pp__get_id(&cursor), id));
    pp_reading reading = pp__get_reading(&cursor);
    assert_true(reading.known && reading.value == UINT64_MAX);
    pp_exit got = pp__get_exit(&cursor);
    assert_true(got.by_signal && got.core_dumped && got.signal_number == SIGSEGV);
    assert_false(got.cpu_ns.known);
    assert_int_equal(got.cpu_ns.why, PP_E_DENIED);
    got = pp__get_exit(&cursor);
    assert_false(got.by_signal);
    assert_int_equal(got.code, 255);
    assert_true(got.cpu_ns.known);
    assert_int_equal(pp_cursor_end(&cursor, NULL), PP_OK);
    pp_buffer_done(&body);
}

static void a_reason_out_of_range_is_a_protocol_error_not_a_number(void **state) {
    (void)state;
    pp_buffer body = { 0 };
    pp_put_u8(&body, 0);
    pp_put_u64(&body, PP_STATUS_COUNT);
    pp_cursor cursor = cursor_of(&body);
    pp_reading reading = pp__get_reading(&cursor);
    assert_false(reading.known);
    assert_int_equal(reading.why, PP_E_PROTOCOL);
    pp_buffer_done(&body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spawn_request_arrives_as_it_was_sent),
        cmocka_unit_test(absent_names_and_lists_arrive_empty),
        cmocka_unit_test(a_request_cut_anywhere_or_too_long_is_refused),
        cmocka_unit_test(a_string_with_a_nul_inside_or_none_at_its_end_is_refused),
        cmocka_unit_test(a_list_longer_than_its_message_is_refused),
        cmocka_unit_test(an_error_keeps_its_step_errno_and_path),
        cmocka_unit_test(a_hostile_error_is_cut_and_never_reads_as_success),
        cmocka_unit_test(identities_readings_and_exits_arrive_as_they_were),
        cmocka_unit_test(a_reason_out_of_range_is_a_protocol_error_not_a_number),
    };
    return cmocka_run_group_tests_name("request", tests, NULL, NULL);
}
