/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_harness.h"
#include "outbox.h"

static void put(pp_outbox *box, pp_message_type type, const char *line) {
    assert_int_equal(pp__outbox_record(box, type, pp__outbox_seq(box), NULL, line, strlen(line)),
                     PP_OK);
}

static void sequence_numbers_start_at_one_and_never_repeat(void **state) {
    (void)state;
    pp_outbox box = { 0 };
    for (uint64_t seq = 1; seq < 5; seq++)
        assert_true(pp__outbox_seq(&box) == seq);
}

static void a_record_travels_as_its_line_with_the_head_in_front(void **state) {
    (void)state;
    pp_outbox box = { 0 };
    pp_buffer head = { 0 };
    pp_message message;
    size_t used, size;
    pp_put_u32(&head, 7);
    assert_int_equal(pp__outbox_record(&box, PP_MSG_FRAME, 3, &head, "{}", 2), PP_OK);
    assert_int_equal(pp_message_next(box.wire.bytes, box.wire.size, &message, &used, NULL), PP_OK);
    assert_int_equal(used, box.wire.size);
    assert_int_equal(message.type, PP_MSG_FRAME);
    assert_int_equal(message.seq, 3);
    pp_cursor cursor = pp_cursor_of(&message);
    assert_int_equal(pp_get_u32(&cursor), 7);
    const unsigned char *line = pp_get_bytes(&cursor, &size);
    assert_int_equal(size, 3);
    assert_memory_equal(line, "{}\n", 3);
    assert_int_equal(pp_cursor_end(&cursor, NULL), PP_OK);
    pp_buffer_done(&head);
    pp__outbox_done(&box);
}

static void an_acknowledgement_forgets_what_it_names_and_nothing_later(void **state) {
    (void)state;
    pp_outbox box = { 0 };
    for (int i = 0; i < 200; i++)
        put(&box, PP_MSG_EVENT, "x");
    pp__outbox_ack(&box, 0);
    assert_int_equal(box.count, 200);
    pp__outbox_ack(&box, 150);
    assert_int_equal(box.count, 50);
    assert_int_equal(box.records[0].seq, 151);
    assert_int_equal(box.record_bytes, 100);
    pp__outbox_ack(&box, 150);
    assert_int_equal(box.count, 50);
    pp__outbox_ack(&box, UINT64_MAX);
    assert_int_equal(box.count + box.record_bytes, 0);
    pp__outbox_done(&box);
}

static void a_slow_channel_gets_every_byte_once_and_in_order(void **state) {
    (void)state;
    fake_harness harness;
    pp_outbox box = { 0 };
    fake_harness_init(&harness, true);
    put(&box, PP_MSG_EVENT, "first");
    put(&box, PP_MSG_EVENT, "second");
    pp_buffer all = { 0 };
    pp_buffer_add(&all, box.wire.bytes, box.wire.size);

    harness.send_max = SIZE_MAX;
    assert_int_equal(pp__outbox_flush(&box, &harness.fake.os, NULL), PP_OK);
    assert_int_equal(harness.from_us.size, 0);
    harness.send_max = 3;
    assert_int_equal(pp__outbox_flush(&box, &harness.fake.os, NULL), PP_OK);
    assert_int_equal(harness.from_us.size, all.size);
    assert_memory_equal(harness.from_us.bytes, all.bytes, all.size);
    assert_int_equal(box.wire.size, 0);
    assert_int_equal(pp__outbox_flush(&box, &harness.fake.os, NULL), PP_OK);
    assert_int_equal(harness.from_us.size, all.size);
    assert_int_equal(box.count, 2); /* sent is not acknowledged */
    pp_buffer_done(&all);
    pp__outbox_done(&box);
    fake_harness_done(&harness);
}

static pp_status (*real_send)(void *, const void *, size_t, size_t *, pp_error *);
static bool has_room;

/* Takes one piece, then none until there is room again. */
static pp_status send_one_piece(void *ctx, const void *bytes, size_t size, size_t *ret_sent,
                                pp_error *reterr) {
    if (!has_room)
        return pp_fail(reterr, PP_E_AGAIN, 0, "send", "full");
    has_room = false;
    return real_send(ctx, bytes, size, ret_sent, reterr);
}

static void a_channel_that_is_never_empty_does_not_grow_the_box(void **state) {
    (void)state;
    fake_harness harness;
    pp_outbox box = { 0 };
    pp_buffer all = { 0 };
    fake_harness_init(&harness, true);
    real_send = harness.fake.os.channel_send;
    harness.fake.os.channel_send = send_one_piece;
    harness.send_max = 29; /* of each message, which is as long */
    put(&box, PP_MSG_EVENT, "01234567890");
    pp_buffer_add(&all, box.wire.bytes, box.wire.size);
    for (int i = 0; i < 1000; i++) {
        size_t before = box.wire.size;
        put(&box, PP_MSG_EVENT, "0123456789");
        pp_buffer_add(&all, box.wire.bytes + before, box.wire.size - before);
        has_room = true;
        assert_int_equal(pp__outbox_flush(&box, &harness.fake.os, NULL), PP_OK);
        assert_true(box.wire.size > 0);
    }
    assert_true(box.wire.capacity < 1000);
    while (box.wire.size > 0) {
        has_room = true;
        assert_int_equal(pp__outbox_flush(&box, &harness.fake.os, NULL), PP_OK);
    }
    assert_int_equal(harness.from_us.size, all.size);
    assert_memory_equal(harness.from_us.bytes, all.bytes, all.size);
    pp_buffer_done(&all);
    pp__outbox_done(&box);
    fake_harness_done(&harness);
}

/* proves: CAN-5 */
static void what_was_not_acknowledged_is_saved_by_kind_when_the_harness_is_gone(void **state) {
    (void)state;
    fake_harness harness;
    pp_outbox box = { 0 };
    fake_harness_init(&harness, true);
    put(&box, PP_MSG_EVENT, "old");
    put(&box, PP_MSG_FRAME, "frame");
    put(&box, PP_MSG_EVENT, "event");
    put(&box, PP_MSG_VERDICT, "verdict");
    harness.closed = true;
    assert_int_equal(pp__outbox_flush(&box, &harness.fake.os, NULL), PP_E_CLOSED);
    pp__outbox_ack(&box, 1);
    assert_int_equal(pp__outbox_save(&box, &harness.fake.os, NULL), PP_OK);
    assert_string_equal((char *)harness.saved_samples.bytes, "frame\n");
    assert_string_equal((char *)harness.saved_events.bytes, "event\nverdict\n");
    assert_int_equal(box.count, 0);
    pp__outbox_done(&box);
    fake_harness_done(&harness);
}

/* proves: CAN-5 */
static void a_record_that_could_not_be_saved_is_not_forgotten(void **state) {
    (void)state;
    fake_harness harness;
    pp_outbox box = { 0 };
    fake_harness_init(&harness, true);
    put(&box, PP_MSG_EVENT, "event");
    harness.save_fails = true;
    assert_int_equal(pp__outbox_save(&box, &harness.fake.os, NULL), PP_E_SYS);
    assert_int_equal(box.count, 1);
    harness.save_fails = false;
    assert_int_equal(pp__outbox_save(&box, &harness.fake.os, NULL), PP_OK);
    assert_string_equal((char *)harness.saved_events.bytes, "event\n");
    pp__outbox_done(&box);
    fake_harness_done(&harness);
}

/* proves: CAN-5 */
static void a_save_that_fails_half_way_goes_on_where_it_failed(void **state) {
    (void)state;
    for (size_t failing = 1; failing <= 5; failing++) {
        fake_harness harness;
        pp_outbox box = { 0 };
        fake_harness_init(&harness, true);
        put(&box, PP_MSG_EVENT, "1");
        put(&box, PP_MSG_FRAME, "2");
        put(&box, PP_MSG_EVENT, "3");
        put(&box, PP_MSG_FRAME, "4");
        put(&box, PP_MSG_VERDICT, "5");
        harness.save_fails_at = failing;
        pp_error error = { 0 };
        assert_int_equal(pp__outbox_save(&box, &harness.fake.os, &error), PP_E_SYS);
        assert_string_equal(error.op, "save");
        assert_true(box.count > 0);
        assert_int_equal(box.record_bytes, 2 * box.count);
        assert_int_equal(pp__outbox_save(&box, &harness.fake.os, NULL), PP_OK);
        assert_string_equal((char *)harness.saved_events.bytes, "1\n3\n5\n");
        assert_string_equal((char *)harness.saved_samples.bytes, "2\n4\n");
        assert_int_equal(box.count + box.record_bytes, 0);
        pp__outbox_done(&box);
        fake_harness_done(&harness);
    }
}

/* proves: CAN-5 */
static void frames_without_room_do_not_keep_the_verdict_from_being_saved(void **state) {
    (void)state;
    fake_harness harness;
    pp_outbox box = { 0 };
    fake_harness_init(&harness, true);
    put(&box, PP_MSG_FRAME, "frame");
    put(&box, PP_MSG_VERDICT, "verdict");
    harness.samples_fail = true;
    assert_int_equal(pp__outbox_save(&box, &harness.fake.os, NULL), PP_E_SYS);
    assert_string_equal((char *)harness.saved_events.bytes, "verdict\n");
    assert_int_equal(box.count, 1);
    pp__outbox_done(&box);
    fake_harness_done(&harness);
}

static void a_record_without_room_is_refused(void **state) {
    (void)state;
    pp_outbox box = { .count = SIZE_MAX / 2, .capacity = SIZE_MAX / 2 };
    assert_int_equal(pp__outbox_record(&box, PP_MSG_FRAME, 1, NULL, "frame", 5), PP_E_NOMEM);
    assert_true(box.count == SIZE_MAX / 2);
    assert_int_equal(box.wire.size, 0);
}

static void unsent_and_unacknowledged_bytes_both_fill_the_box(void **state) {
    (void)state;
    fake_harness harness;
    pp_outbox box = { 0 };
    size_t size = 8U << 20;
    char *line = calloc(size, 1);
    fake_harness_init(&harness, true);
    for (int i = 0; i < 3; i++) /* 24 MiB kept, 24 MiB on the wire */
        (void)pp__outbox_record(&box, PP_MSG_FRAME, pp__outbox_seq(&box), NULL, line, size);
    assert_false(pp__outbox_full(&box));
    (void)pp__outbox_record(&box, PP_MSG_FRAME, pp__outbox_seq(&box), NULL, line, size);
    assert_true(pp__outbox_full(&box));
    assert_int_equal(pp__outbox_flush(&box, &harness.fake.os, NULL), PP_OK);
    assert_false(pp__outbox_full(&box));
    for (int i = 0; i < 4; i++) {
        (void)pp__outbox_record(&box, PP_MSG_FRAME, pp__outbox_seq(&box), NULL, line, size);
        assert_int_equal(pp__outbox_flush(&box, &harness.fake.os, NULL), PP_OK);
    }
    assert_true(pp__outbox_full(&box));
    pp__outbox_ack(&box, 1);
    assert_false(pp__outbox_full(&box));
    free(line);
    pp__outbox_done(&box);
    fake_harness_done(&harness);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequence_numbers_start_at_one_and_never_repeat),
        cmocka_unit_test(a_record_travels_as_its_line_with_the_head_in_front),
        cmocka_unit_test(an_acknowledgement_forgets_what_it_names_and_nothing_later),
        cmocka_unit_test(a_slow_channel_gets_every_byte_once_and_in_order),
        cmocka_unit_test(a_channel_that_is_never_empty_does_not_grow_the_box),
        cmocka_unit_test(what_was_not_acknowledged_is_saved_by_kind_when_the_harness_is_gone),
        cmocka_unit_test(a_record_that_could_not_be_saved_is_not_forgotten),
        cmocka_unit_test(a_save_that_fails_half_way_goes_on_where_it_failed),
        cmocka_unit_test(frames_without_room_do_not_keep_the_verdict_from_being_saved),
        cmocka_unit_test(a_record_without_room_is_refused),
        cmocka_unit_test(unsent_and_unacknowledged_bytes_both_fill_the_box),
    };
    return cmocka_run_group_tests_name("outbox", tests, NULL, NULL);
}
