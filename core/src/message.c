/* SPDX-License-Identifier: Apache-2.0 */

/* Encoding and decoding of channel messages. The invariant: no length from the wire is trusted
 * before it was compared with what is there, and a cursor that ran over its end reads zeros and
 * says so at the end.
 */
#include "pairperf/message.h"

#include <stdlib.h>
#include <string.h>

void pp_buffer_done(pp_buffer *buffer) {
    if (!buffer)
        return;
    free(buffer->bytes);
    *buffer = (pp_buffer){ 0 };
}

static bool reserve(pp_buffer *buffer, size_t extra) {
    if (extra > SIZE_MAX / 2 - buffer->size)
        return false;
    if (buffer->size + extra <= buffer->capacity)
        return true;
    size_t wanted = buffer->capacity ? buffer->capacity : 512;
    while (wanted < buffer->size + extra)
        wanted *= 2;
    unsigned char *bigger = realloc(buffer->bytes, wanted);
    if (!bigger)
        return false;
    buffer->bytes = bigger;
    buffer->capacity = wanted;
    return true;
}

void pp_buffer_add(pp_buffer *buffer, const void *bytes, size_t size) {
    if (buffer->failed || !reserve(buffer, size)) {
        buffer->failed = true;
        return;
    }
    if (size > 0)
        memcpy(buffer->bytes + buffer->size, bytes, size);
    buffer->size += size;
}

void pp_buffer_consume(pp_buffer *buffer, size_t size) {
    if (size > 0)
        memmove(buffer->bytes, buffer->bytes + size, buffer->size - size);
    buffer->size -= size;
}

static void put_le(pp_buffer *buffer, uint64_t value, size_t width) {
    unsigned char bytes[8];

    for (size_t i = 0; i < width; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
    pp_buffer_add(buffer, bytes, width);
}

static uint64_t load_le(const unsigned char *bytes, size_t width) {
    uint64_t value = 0;

    for (size_t i = 0; i < width; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

size_t pp_message_begin(pp_buffer *buffer, pp_message_type type, uint64_t seq) {
    size_t start = buffer->size;

    put_le(buffer, 0, 4);
    put_le(buffer, (uint64_t)type, 2);
    put_le(buffer, seq, 8);
    return start;
}

void pp_message_end(pp_buffer *buffer, size_t start) {
    if (buffer->failed)
        return;
    uint64_t size = buffer->size - start - 4;
    for (size_t i = 0; i < 4; i++)
        buffer->bytes[start + i] = (unsigned char)(size >> (8 * i));
}

void pp_put_u8(pp_buffer *buffer, uint8_t value) {
    put_le(buffer, value, 1);
}

void pp_put_u32(pp_buffer *buffer, uint32_t value) {
    put_le(buffer, value, 4);
}

void pp_put_u64(pp_buffer *buffer, uint64_t value) {
    put_le(buffer, value, 8);
}

void pp_put_i64(pp_buffer *buffer, int64_t value) {
    put_le(buffer, (uint64_t)value, 8);
}

void pp_put_bytes(pp_buffer *buffer, const void *bytes, size_t size) {
    put_le(buffer, size, 4);
    pp_buffer_add(buffer, bytes, size);
}

void pp_put_text(pp_buffer *buffer, const char *text) {
    pp_put_bytes(buffer, text, strlen(text));
}

pp_status pp_message_next(const unsigned char *bytes, size_t size, pp_message *ret_message,
                          size_t *ret_used, pp_error *reterr) {
    if (size < 4)
        return PP_E_AGAIN;
    size_t length = load_le(bytes, 4);
    if (length < PP_MESSAGE_HEAD - 4 || length > PP_MESSAGE_MAX)
        return pp_fail(reterr, PP_E_PROTOCOL, 0, "message", "impossible size %zu", length);
    if (size < 4 + length)
        return PP_E_AGAIN;
    uint64_t type = load_le(bytes + 4, 2);
    if (type == PP_MSG_NONE || type >= PP_MSG_TYPE_COUNT)
        return pp_fail(reterr, PP_E_PROTOCOL, 0, "message", "unknown type %llu",
                       (unsigned long long)type);
    *ret_message = (pp_message){ .type = (pp_message_type)type,
                                 .seq = load_le(bytes + 6, 8),
                                 .body = bytes + PP_MESSAGE_HEAD,
                                 .size = length + 4 - PP_MESSAGE_HEAD };
    *ret_used = 4 + length;
    return PP_OK;
}

pp_cursor pp_cursor_of(const pp_message *message) {
    return (pp_cursor){ .at = message->body, .end = message->body + message->size };
}

static const unsigned char *take(pp_cursor *cursor, size_t size) {
    if (cursor->bad || (size_t)(cursor->end - cursor->at) < size) {
        cursor->bad = true;
        return NULL;
    }
    const unsigned char *bytes = cursor->at;
    cursor->at += size;
    return bytes;
}

static uint64_t get_le(pp_cursor *cursor, size_t width) {
    const unsigned char *bytes = take(cursor, width);

    return bytes ? load_le(bytes, width) : 0;
}

uint8_t pp_get_u8(pp_cursor *cursor) {
    return (uint8_t)get_le(cursor, 1);
}

uint32_t pp_get_u32(pp_cursor *cursor) {
    return (uint32_t)get_le(cursor, 4);
}

uint64_t pp_get_u64(pp_cursor *cursor) {
    return get_le(cursor, 8);
}

int64_t pp_get_i64(pp_cursor *cursor) {
    return (int64_t)get_le(cursor, 8);
}

const unsigned char *pp_get_bytes(pp_cursor *cursor, size_t *ret_size) {
    size_t size = pp_get_u32(cursor);
    const unsigned char *bytes = take(cursor, size);

    *ret_size = bytes ? size : 0;
    return bytes;
}

pp_status pp_cursor_end(const pp_cursor *cursor, pp_error *reterr) {
    if (cursor->bad || cursor->at != cursor->end)
        return pp_fail(reterr, PP_E_PROTOCOL, 0, "message", "body of the wrong size");
    return PP_OK;
}
