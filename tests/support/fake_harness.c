/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the supervisor's messages with the real decoder, so a message that does not parse fails the
 * test that caused it. */
#include "fake_harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "request.h"

static void add_line(pp_buffer *lines, pp_cursor *cursor) {
    size_t size = 0;
    const unsigned char *line = pp_get_bytes(cursor, &size);

    assert_true(size > 1 && line[size - 1] == '\n');
    pp_buffer_add(lines, line, size);
    pp_buffer_add(lines, "", 1);
    lines->size--;
}

static void on_frame(fake_harness *harness, pp_cursor *cursor) {
    (void)pp_get_i64(cursor);
    (void)pp_get_u32(cursor);
    (void)pp__get_reading(cursor);
    (void)pp__get_reading(cursor);
    (void)pp_get_u64(cursor);
    add_line(&harness->frames, cursor);
}

static void on_output(fake_harness *harness, pp_cursor *cursor) {
    pp_output_state *told = &harness->told_output;

    told->stdout_bytes = pp_get_u64(cursor);
    told->stderr_bytes = pp_get_u64(cursor);
    told->stdout_truncated = pp_get_u8(cursor) != 0;
    told->stderr_truncated = pp_get_u8(cursor) != 0;
    told->failure = (pp_status)pp_get_u32(cursor);
    told->failure_errno = (int)pp_get_u32(cursor);
}

static void hear(fake_harness *harness, const pp_message *message) {
    pp_cursor cursor = pp_cursor_of(message);
    size_t size = 0;

    harness->heard[message->type]++;
    switch (message->type) {
    case PP_MSG_HELLO:
        (void)pp_get_bytes(&cursor, &size);
        break;
    case PP_MSG_SPAWNED:
        harness->leader = pp__get_id(&cursor);
        harness->has_leaf = pp_get_bytes(&cursor, &size) && size > 0;
        break;
    case PP_MSG_SPAWN_FAILED:
        pp__get_error(&cursor, &harness->spawn_error);
        break;
    case PP_MSG_EXITED:
        harness->exit = pp__get_exit(&cursor);
        break;
    case PP_MSG_WINDOW:
        (void)pp_get_u32(&cursor);
        harness->window_frames = pp_get_u64(&cursor);
        harness->window_missed = pp_get_u64(&cursor);
        break;
    case PP_MSG_OUTPUT:
        on_output(harness, &cursor);
        break;
    case PP_MSG_FRAME:
        on_frame(harness, &cursor);
        break;
    case PP_MSG_EVENT:
        add_line(&harness->events, &cursor);
        break;
    case PP_MSG_VERDICT:
        harness->verdict = (pp_verdict)pp_get_u8(&cursor);
        harness->forced = pp_get_u8(&cursor) != 0;
        add_line(&harness->events, &cursor);
        break;
    default:
        fail_msg("message %d is not for a harness", (int)message->type);
    }
    assert_int_equal(pp_cursor_end(&cursor, NULL), PP_OK);
}

void fake_hear(fake_harness *harness) {
    pp_message message;
    size_t used = 0;

    while (pp_message_next(harness->from_us.bytes, harness->from_us.size, &message, &used, NULL) ==
           PP_OK) {
        uint64_t seq = message.seq;
        hear(harness, &message);
        pp_buffer_consume(&harness->from_us, used);
        if (seq > 0 && !harness->mute)
            pp_message_end(&harness->to_us, pp_message_begin(&harness->to_us, PP_MSG_ACK, seq));
    }
}

static bool channel(fake_os *fake, bool want_writable, pp_events *events) {
    fake_harness *harness = fake_harness_of(fake);

    fake_hear(harness);
    events->channel_readable = harness->to_us.size > 0 || harness->closed;
    events->channel_writable = want_writable && harness->send_max != SIZE_MAX && !harness->closed;
    events->output_readable = harness->output_changed;
    harness->output_changed = false;
    bool told = harness->closed && harness->to_us.size == 0 && harness->closed_told;
    if (harness->closed && harness->to_us.size == 0)
        harness->closed_told = true; /* a host stops watching a channel at its end */
    if (told)
        events->channel_readable = false;
    return events->channel_readable || events->channel_writable || events->output_readable;
}

static pp_status os_send(void *ctx, const void *bytes, size_t size, size_t *ret_sent,
                         pp_error *reterr) {
    fake_harness *harness = ctx;

    if (harness->closed)
        return pp_fail(reterr, PP_E_CLOSED, 0, "send", "channel");
    if (harness->send_max == SIZE_MAX)
        return pp_fail(reterr, PP_E_AGAIN, 0, "send", "channel");
    if (harness->send_max > 0 && size > harness->send_max)
        size = harness->send_max;
    pp_buffer_add(&harness->from_us, bytes, size);
    *ret_sent = size;
    return PP_OK;
}

static pp_status os_recv(void *ctx, void *bytes, size_t capacity, size_t *ret_received,
                         pp_error *reterr) {
    fake_harness *harness = ctx;
    size_t size = harness->to_us.size < capacity ? harness->to_us.size : capacity;

    if (size == 0)
        return pp_fail(reterr, harness->closed ? PP_E_CLOSED : PP_E_AGAIN, 0, "recv", "channel");
    if (harness->recv_max > 0 && size > harness->recv_max)
        size = harness->recv_max;
    memcpy(bytes, harness->to_us.bytes, size);
    pp_buffer_consume(&harness->to_us, size);
    *ret_received = size;
    return PP_OK;
}

static pp_status os_drain_output(void *ctx, pp_output_state *ret_state, pp_error *reterr) {
    fake_harness *harness = ctx;

    (void)reterr;
    *ret_state = harness->output;
    return PP_OK;
}

static pp_status os_save(void *ctx, const char *name, const void *bytes, size_t size,
                         pp_error *reterr) {
    fake_harness *harness = ctx;
    pp_buffer *saved = strcmp(name, "samples.supervisor.jsonl") == 0  ? &harness->saved_samples
                       : strcmp(name, "events.supervisor.jsonl") == 0 ? &harness->saved_events
                                                                      : NULL;

    harness->saves++;
    if (!saved || harness->save_fails || harness->saves == harness->save_fails_at ||
        (harness->samples_fail && saved == &harness->saved_samples))
        return pp_fail(reterr, PP_E_SYS, 0, "save", "%s", name);
    pp_buffer_add(saved, bytes, size);
    pp_buffer_add(saved, "", 1);
    saved->size--;
    return PP_OK;
}

void fake_harness_init(fake_harness *harness, bool adopts) {
    static char name[] = "fake";
    static char *argv[] = { name, NULL };
    static char *envp[] = { NULL };

    *harness = (fake_harness){ .spawn = { .path = "/bin/fake",
                                          .argv = argv,
                                          .envp = envp,
                                          .cwd = "/",
                                          .track = true,
                                          .interval_ns = 1000000000 } };
    fake_init(&harness->fake, adopts);
    harness->fake.channel = channel;
    harness->fake.os.channel_send = os_send;
    harness->fake.os.channel_recv = os_recv;
    harness->fake.os.drain_output = os_drain_output;
    harness->fake.os.save = os_save;
}

void fake_harness_done(fake_harness *harness) {
    pp_buffer_done(&harness->to_us);
    pp_buffer_done(&harness->from_us);
    pp_buffer_done(&harness->saved_samples);
    pp_buffer_done(&harness->saved_events);
    pp_buffer_done(&harness->frames);
    pp_buffer_done(&harness->events);
}

void fake_raw(fake_harness *harness, pp_message_type type, const void *body, size_t size) {
    size_t start = pp_message_begin(&harness->to_us, type, 0);

    pp_buffer_add(&harness->to_us, body, size);
    pp_message_end(&harness->to_us, start);
}

void fake_hello(fake_harness *harness, const char *build) {
    size_t start = pp_message_begin(&harness->to_us, PP_MSG_HELLO, 0);

    pp_put_text(&harness->to_us, build);
    pp_message_end(&harness->to_us, start);
}

void fake_spawn(fake_harness *harness) {
    size_t start = pp_message_begin(&harness->to_us, PP_MSG_SPAWN, 0);

    pp__request_put_spawn(&harness->to_us, &harness->spawn);
    pp_message_end(&harness->to_us, start);
}

void fake_sample(fake_harness *harness, int64_t duration_ns, int64_t interval_ns) {
    size_t start = pp_message_begin(&harness->to_us, PP_MSG_SAMPLE, 0);

    pp_put_u32(&harness->to_us, 1);
    pp_put_i64(&harness->to_us, duration_ns);
    pp_put_i64(&harness->to_us, interval_ns);
    pp_message_end(&harness->to_us, start);
}

void fake_stop(fake_harness *harness, bool group_first, int64_t grace_ns, int64_t verify_ns) {
    size_t start = pp_message_begin(&harness->to_us, PP_MSG_STOP, 0);

    pp_put_u8(&harness->to_us, group_first);
    pp_put_i64(&harness->to_us, grace_ns);
    pp_put_i64(&harness->to_us, verify_ns);
    pp_message_end(&harness->to_us, start);
}

static size_t count_in(const char *line, size_t size, const char *text) {
    size_t count = 0, length = strlen(text);

    for (size_t i = 0; i + length <= size; i++)
        count += memcmp(line + i, text, length) == 0;
    return count;
}

size_t fake_lines(const pp_buffer *lines, const char *kind, const char *text) {
    const char *line = (const char *)lines->bytes;
    size_t left = lines->size, count = 0;

    while (left > 0) {
        const char *end = memchr(line, '\n', left);
        size_t size = (size_t)(end - line);
        if (!kind || count_in(line, size, kind) > 0)
            count += count_in(line, size, text);
        left -= size + 1;
        line = end + 1;
    }
    return count;
}

fake_harness *fake_harness_begin(void **state, bool adopts) {
    fake_harness *harness = malloc(sizeof *harness);

    assert_non_null(harness);
    fake_harness_init(harness, adopts);
    fake_hello(harness, FAKE_BUILD);
    *state = harness;
    return harness;
}

int fake_harness_set_up(void **state) {
    (void)fake_harness_begin(state, true);
    return 0;
}

int fake_harness_set_up_without_adoption(void **state) {
    (void)fake_harness_begin(state, false);
    return 0;
}

int fake_harness_tear_down(void **state) {
    fake_harness_done(*state);
    free(*state);
    return 0;
}
