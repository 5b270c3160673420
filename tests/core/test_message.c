/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pairperf/message.h"

static void load(pp_buffer *buffer, size_t at, uint32_t value) {
    for (int i = 0; i < 4; i++)
        buffer->bytes[at + (size_t)i] = (unsigned char)(value >> (8 * i));
}

/* An empty message of this type. */
static pp_buffer message_of(uint32_t type) {
    pp_buffer buffer = { 0 };
    pp_message_end(&buffer, pp_message_begin(&buffer, (pp_message_type)type, 9));
    return buffer;
}

static pp_status status_of(const pp_buffer *buffer) {
    pp_message message = { 0 };
    pp_error error = { 0 };
    size_t used = 77;
    pp_status status = pp_message_next(buffer->bytes, buffer->size, &message, &used, &error);
    if (status != PP_OK) { /* outputs only on success, the error only on failure */
        assert_int_equal(used, 77);
        assert_null(message.body);
    }
    assert_int_equal(error.status, status == PP_E_PROTOCOL ? PP_E_PROTOCOL : PP_OK);
    return status;
}

static void the_bytes_are_little_endian_and_the_size_leaves_itself_out(void **state) {
    (void)state;
    static const unsigned char wanted[] = { 15,   0,    0,    0,    PP_MSG_ACK, 0,    0x88,
                                            0x77, 0x66, 0x55, 0x44, 0x33,       0x22, 0x11,
                                            4,    3,    2,    1,    0xff };
    pp_buffer buffer = { 0 };
    size_t start = pp_message_begin(&buffer, PP_MSG_ACK, 0x1122334455667788);
    pp_put_u32(&buffer, 0x01020304);
    pp_put_u8(&buffer, 0xff);
    pp_message_end(&buffer, start);
    assert_int_equal(buffer.size, sizeof wanted);
    assert_memory_equal(buffer.bytes, wanted, sizeof wanted);
    pp_buffer_done(&buffer);
}

static void every_kind_of_value_comes_back_as_it_went(void **state) {
    (void)state;
    pp_buffer buffer = { 0 };
    pp_message message;
    size_t used, size;
    size_t start = pp_message_begin(&buffer, PP_MSG_FRAME, UINT64_MAX);
    pp_put_u8(&buffer, 255);
    pp_put_u32(&buffer, UINT32_MAX);
    pp_put_u64(&buffer, UINT64_MAX);
    pp_put_i64(&buffer, INT64_MIN);
    pp_put_i64(&buffer, -1);
    pp_put_bytes(&buffer, "a\0b", 3);
    pp_put_text(&buffer, "");
    pp_message_end(&buffer, start);
    assert_int_equal(pp_message_next(buffer.bytes, buffer.size, &message, &used, NULL), PP_OK);
    assert_int_equal(used, buffer.size);
    assert_int_equal(message.type, PP_MSG_FRAME);
    assert_true(message.seq == UINT64_MAX);
    pp_cursor cursor = pp_cursor_of(&message);
    assert_int_equal(pp_get_u8(&cursor), 255);
    assert_true(pp_get_u32(&cursor) == UINT32_MAX);
    assert_true(pp_get_u64(&cursor) == UINT64_MAX);
    assert_true(pp_get_i64(&cursor) == INT64_MIN);
    assert_true(pp_get_i64(&cursor) == -1);
    assert_memory_equal(pp_get_bytes(&cursor, &size), "a\0b", 3);
    assert_int_equal(size, 3);
    assert_non_null(pp_get_bytes(&cursor, &size));
    assert_int_equal(size, 0);
    assert_int_equal(pp_cursor_end(&cursor, NULL), PP_OK);
    pp_buffer_done(&buffer);
}

static void a_message_is_whole_at_its_last_byte_and_not_before(void **state) {
    (void)state;
    pp_buffer whole = { 0 };
    size_t start = pp_message_begin(&whole, PP_MSG_EVENT, 5);
    pp_put_text(&whole, "line");
    pp_message_end(&whole, start);
    for (size_t size = 0; size < whole.size; size++) {
        pp_buffer part = { .bytes = whole.bytes, .size = size };
        assert_int_equal(status_of(&part), PP_E_AGAIN);
    }
    assert_int_equal(status_of(&whole), PP_OK);
    pp_buffer_done(&whole);
}

static void messages_fed_byte_by_byte_come_out_one_by_one(void **state) {
    (void)state;
    pp_buffer stream = { 0 }, in = { 0 };
    uint64_t expected = 1;
    for (uint64_t seq = 1; seq <= 3; seq++) {
        size_t start = pp_message_begin(&stream, PP_MSG_EVENT, seq);
        for (uint64_t i = 0; i < seq; i++)
            pp_put_u8(&stream, (uint8_t)seq);
        pp_message_end(&stream, start);
    }
    for (size_t i = 0; i < stream.size; i++) {
        pp_message message;
        size_t used;
        pp_buffer_add(&in, stream.bytes + i, 1);
        if (pp_message_next(in.bytes, in.size, &message, &used, NULL) != PP_OK)
            continue;
        assert_int_equal(message.seq, expected);
        assert_int_equal(message.size, expected);
        assert_int_equal(used, in.size);
        pp_buffer_consume(&in, used);
        expected++;
    }
    assert_int_equal(expected, 4);
    assert_int_equal(in.size, 0);
    pp_buffer_done(&stream);
    pp_buffer_done(&in);
}

static void an_impossible_length_is_refused_before_its_bytes_arrive(void **state) {
    (void)state;
    static const uint32_t impossible[] = {
        0, 1, PP_MESSAGE_HEAD - 5, PP_MESSAGE_MAX + 1, 0x80000000, UINT32_MAX
    };
    pp_buffer buffer = message_of(PP_MSG_STOP);
    for (size_t i = 0; i < sizeof impossible / sizeof *impossible; i++) {
        load(&buffer, 0, impossible[i]);
        assert_int_equal(status_of(&buffer), PP_E_PROTOCOL);
        assert_int_equal(status_of(&(pp_buffer){ .bytes = buffer.bytes, .size = 4 }),
                         PP_E_PROTOCOL);
    }
    load(&buffer, 0, PP_MESSAGE_MAX);
    assert_int_equal(status_of(&buffer), PP_E_AGAIN);
    pp_buffer_done(&buffer);
}

static void an_unknown_type_is_refused(void **state) {
    (void)state;
    static const uint32_t unknown[] = { PP_MSG_NONE, PP_MSG_TYPE_COUNT, 256, 0xffff };
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        pp_buffer buffer = message_of(unknown[i]);
        assert_int_equal(status_of(&buffer), PP_E_PROTOCOL);
        pp_buffer_done(&buffer);
    }
    pp_buffer last = message_of(PP_MSG_VERDICT);
    assert_int_equal(status_of(&last), PP_OK);
    pp_buffer_done(&last);
}

static void a_body_cut_anywhere_reads_zeros_and_is_bad(void **state) {
    (void)state;
    pp_buffer body = { 0 };
    pp_put_u64(&body, UINT64_MAX);
    pp_put_text(&body, "four");
    for (size_t size = 0; size <= body.size; size++) {
        pp_message message = { .body = body.bytes, .size = size };
        pp_cursor cursor = pp_cursor_of(&message);
        size_t length = 99;
        uint64_t value = pp_get_u64(&cursor);
        const unsigned char *text = pp_get_bytes(&cursor, &length);
        bool whole = size == body.size;
        assert_true(value == (size >= 8 ? UINT64_MAX : 0));
        assert_true(whole == (text != NULL));
        assert_int_equal(length, whole ? 4 : 0);
        assert_int_equal(pp_get_u8(&cursor), 0); /* once bad, always bad */
        assert_int_equal(pp_cursor_end(&cursor, NULL), PP_E_PROTOCOL);
    }
    pp_buffer_done(&body);
}

static void a_string_longer_than_its_message_is_bad(void **state) {
    (void)state;
    static const uint32_t lies[] = { 5, 0x7fffffff, UINT32_MAX };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        pp_buffer body = { 0 };
        size_t size = 99;
        pp_put_text(&body, "four");
        load(&body, 0, lies[i]);
        pp_cursor cursor = pp_cursor_of(&(pp_message){ .body = body.bytes, .size = body.size });
        assert_null(pp_get_bytes(&cursor, &size));
        assert_int_equal(size, 0);
        assert_true(cursor.bad);
        pp_buffer_done(&body);
    }
}

static void bytes_left_over_are_a_protocol_error(void **state) {
    (void)state;
    pp_cursor cursor =
        pp_cursor_of(&(pp_message){ .body = (const unsigned char *)"ab", .size = 2 });
    pp_error error = { 0 };
    assert_int_equal(pp_get_u8(&cursor), 'a');
    assert_int_equal(pp_cursor_end(&cursor, &error), PP_E_PROTOCOL);
    assert_int_equal(error.status, PP_E_PROTOCOL);
    assert_int_equal(pp_get_u8(&cursor), 'b');
    assert_int_equal(pp_cursor_end(&cursor, NULL), PP_OK);
}

static void a_buffer_without_memory_adds_nothing_more_and_says_so(void **state) {
    (void)state;
    pp_buffer buffer = { 0 };
    pp_put_u32(&buffer, 7);
    pp_buffer_add(&buffer, "x", SIZE_MAX / 2);
    assert_true(buffer.failed);
    assert_int_equal(buffer.size, 4);
    pp_put_u32(&buffer, 8);
    assert_int_equal(buffer.size, 4);
    pp_message_end(&buffer, 0); /* there is no message to be closed */
    assert_memory_equal(buffer.bytes, "\7\0\0\0", 4);
    pp_buffer_done(&buffer);
    assert_false(buffer.failed);
}

static void consuming_keeps_what_follows(void **state) {
    (void)state;
    pp_buffer buffer = { 0 };
    pp_buffer_consume(&buffer, 0);
    pp_buffer_add(&buffer, "abcdef", 6);
    pp_buffer_consume(&buffer, 2);
    assert_int_equal(buffer.size, 4);
    assert_memory_equal(buffer.bytes, "cdef", 4);
    pp_buffer_consume(&buffer, 4);
    assert_int_equal(buffer.size, 0);
    pp_buffer_done(&buffer);
    pp_buffer_done(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_are_little_endian_and_the_size_leaves_itself_out),
        cmocka_unit_test(every_kind_of_value_comes_back_as_it_went),
        cmocka_unit_test(a_message_is_whole_at_its_last_byte_and_not_before),
        cmocka_unit_test(messages_fed_byte_by_byte_come_out_one_by_one),
        cmocka_unit_test(an_impossible_length_is_refused_before_its_bytes_arrive),
        cmocka_unit_test(an_unknown_type_is_refused),
        cmocka_unit_test(a_body_cut_anywhere_reads_zeros_and_is_bad),
        cmocka_unit_test(a_string_longer_than_its_message_is_bad),
        cmocka_unit_test(bytes_left_over_are_a_protocol_error),
        cmocka_unit_test(a_buffer_without_memory_adds_nothing_more_and_says_so),
        cmocka_unit_test(consuming_keeps_what_follows),
    };
    return cmocka_run_group_tests_name("message", tests, NULL, NULL);
}
