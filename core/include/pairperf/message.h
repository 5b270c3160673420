/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_MESSAGE_H
#define PAIRPERF_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pairperf/status.h"

/* The channel between harness and supervisor: one stream of length-prefixed messages.
 *
 *   u32 size of what follows | u16 type | u64 sequence number | body
 *
 * Integers are little-endian; a string is u32 length and bytes. Both ends must carry the same
 * build id. Records (frames, events, the verdict) travel as the very lines that go to the evidence
 * files, and keep their sequence number until they are acknowledged as written.
 */

#define PP_MESSAGE_HEAD 14
#define PP_MESSAGE_MAX (16U << 20) /* bytes of one message */

typedef enum pp_message_type {
    PP_MSG_NONE = 0,
    PP_MSG_HELLO, /* both ways: build id */
    /* harness -> supervisor */
    PP_MSG_SPAWN,
    PP_MSG_SAMPLE,
    PP_MSG_STOP,
    PP_MSG_ACK, /* everything up to this sequence number is written */
    /* supervisor -> harness */
    PP_MSG_SPAWNED,
    PP_MSG_SPAWN_FAILED,
    PP_MSG_EXITED,  /* the leader exited; it stays pinned */
    PP_MSG_WINDOW,  /* a window closed */
    PP_MSG_OUTPUT,  /* captured output so far */
    PP_MSG_FRAME,   /* record for samples.jsonl, with live figures in front */
    PP_MSG_EVENT,   /* record for events.jsonl */
    PP_MSG_VERDICT, /* record for events.jsonl; the supervisor ends when it is acknowledged */
    PP_MSG_TYPE_COUNT
} pp_message_type;

/* A growable byte buffer; zero-initialised is empty. */
typedef struct pp_buffer {
    unsigned char *bytes;
    size_t size, capacity;
    bool failed; /* memory ran out: what follows was not added */
} pp_buffer;

void pp_buffer_done(pp_buffer *buffer);
void pp_buffer_add(pp_buffer *buffer, const void *bytes, size_t size);
/* Drops the first `size` bytes. */
void pp_buffer_consume(pp_buffer *buffer, size_t size);

/* Writing: begin, put the body, end (fills in the size). */
size_t pp_message_begin(pp_buffer *buffer, pp_message_type type, uint64_t seq);
void pp_message_end(pp_buffer *buffer, size_t start);
void pp_put_u8(pp_buffer *buffer, uint8_t value);
void pp_put_u32(pp_buffer *buffer, uint32_t value);
void pp_put_u64(pp_buffer *buffer, uint64_t value);
void pp_put_i64(pp_buffer *buffer, int64_t value);
void pp_put_bytes(pp_buffer *buffer, const void *bytes, size_t size);
void pp_put_text(pp_buffer *buffer, const char *text);

/* One received message; body points into the buffer it was read from. */
typedef struct pp_message {
    pp_message_type type;
    uint64_t seq;
    const unsigned char *body;
    size_t size; /* of the body */
} pp_message;

/* The first whole message of `size` bytes.
 *
 * ret_used  bytes it took, to be consumed when it was handled
 * Errors    PP_E_AGAIN     not whole yet
 *           PP_E_PROTOCOL  impossible size or type: the stream is lost
 */
pp_status pp_message_next(const unsigned char *bytes, size_t size, pp_message *ret_message,
                          size_t *ret_used, pp_error *reterr);

/* Reading a body: a cursor that turns bad at the first read beyond the end and stays so. */
typedef struct pp_cursor {
    const unsigned char *at, *end;
    bool bad;
} pp_cursor;

pp_cursor pp_cursor_of(const pp_message *message);
uint8_t pp_get_u8(pp_cursor *cursor);
uint32_t pp_get_u32(pp_cursor *cursor);
uint64_t pp_get_u64(pp_cursor *cursor);
int64_t pp_get_i64(pp_cursor *cursor);
/* Bytes inside the message; *ret_size 0 and NULL when bad. */
const unsigned char *pp_get_bytes(pp_cursor *cursor, size_t *ret_size);
/* PP_OK when everything was read and nothing is left over. */
pp_status pp_cursor_end(const pp_cursor *cursor, pp_error *reterr);

#endif
