/* SPDX-License-Identifier: Apache-2.0 */

/* Message bodies. The invariant: a decoded string is terminated inside its own bytes and holds no
 * other NUL; anything else is a protocol error, never a shorter string.
 */
#include "request.h"

#include <stdlib.h>
#include <string.h>

#define LIST_MAX 65536U

/* Strings travel with their NUL so that a decoded pointer is a C string. */
static void put_string(pp_buffer *buffer, const char *text) {
    pp_put_bytes(buffer, text ? text : "", strlen(text ? text : "") + 1);
}

static void put_list(pp_buffer *buffer, const char *const *list) {
    uint32_t count = 0;

    while (list && list[count])
        count++;
    pp_put_u32(buffer, count);
    for (uint32_t i = 0; i < count; i++)
        put_string(buffer, list[i]);
}

void pp__request_put_spawn(pp_buffer *buffer, const pp_spawn_options *options) {
    put_string(buffer, options->path);
    put_string(buffer, options->cwd);
    put_list(buffer, (const char *const *)options->argv);
    put_list(buffer, (const char *const *)options->envp);
    put_list(buffer, options->expected);
    pp_put_u8(buffer, options->capture);
    put_string(buffer, options->stdout_name);
    put_string(buffer, options->stderr_name);
    pp_put_u64(buffer, options->output_cap_bytes);
    pp_put_u8(buffer, options->track);
    pp_put_i64(buffer, options->interval_ns);
    pp_put_u8(buffer, options->reap_escapees);
    pp_put_i64(buffer, options->latest_end_ns);
    pp_put_u8(buffer, options->writable != NULL);
    put_list(buffer, options->writable);
}

static char *get_string(pp_cursor *cursor) {
    size_t size = 0;
    const unsigned char *bytes = pp_get_bytes(cursor, &size);

    if (!bytes || size == 0 || memchr(bytes, 0, size) != bytes + size - 1) {
        cursor->bad = true;
        return NULL;
    }
    return (char *)(uintptr_t)bytes; /* inside the request's own storage */
}

static char **get_list(pp_cursor *cursor) {
    uint32_t count = pp_get_u32(cursor);

    if (cursor->bad || count > LIST_MAX) {
        cursor->bad = true;
        return NULL;
    }
    char **list = calloc((size_t)count + 1, sizeof *list);
    if (!list)
        cursor->bad = true;
    for (uint32_t i = 0; list && i < count; i++)
        list[i] = get_string(cursor);
    return list;
}

pp_status pp__request_get_spawn(const pp_message *message, pp_spawn_request *ret_request,
                                pp_error *reterr) {
    pp_spawn_request request = { 0 };

    if (message->size == 0) /* no storage to point into */
        return pp_fail(reterr, PP_E_PROTOCOL, 0, "spawn", "empty request");
    pp_buffer_add(&request.storage, message->body, message->size);
    if (request.storage.failed)
        return pp_fail(reterr, PP_E_NOMEM, 0, "spawn", "request of %zu bytes", message->size);
    pp_cursor cursor = { .at = request.storage.bytes,
                         .end = request.storage.bytes + request.storage.size };
    pp_spawn_options *options = &request.options;
    options->path = get_string(&cursor);
    options->cwd = get_string(&cursor);
    options->argv = request.argv = get_list(&cursor);
    options->envp = request.envp = get_list(&cursor);
    request.expected = get_list(&cursor);
    options->expected = (const char *const *)request.expected;
    options->capture = pp_get_u8(&cursor) != 0;
    options->stdout_name = get_string(&cursor);
    options->stderr_name = get_string(&cursor);
    options->output_cap_bytes = pp_get_u64(&cursor);
    options->track = pp_get_u8(&cursor) != 0;
    options->interval_ns = pp_get_i64(&cursor);
    options->reap_escapees = pp_get_u8(&cursor) != 0;
    options->latest_end_ns = pp_get_i64(&cursor);
    bool confined = pp_get_u8(&cursor) != 0;
    request.writable = get_list(&cursor);
    options->writable = confined ? (const char *const *)request.writable : NULL;
    pp_status status = pp_cursor_end(&cursor, reterr);
    if (status != PP_OK)
        pp__request_done(&request);
    else
        *ret_request = request;
    return status;
}

void pp__request_done(pp_spawn_request *request) {
    free(request->argv);
    free(request->envp);
    free(request->expected);
    free(request->writable);
    pp_buffer_done(&request->storage);
    *request = (pp_spawn_request){ 0 };
}

static void copy_text(char *to, size_t capacity, const unsigned char *bytes, size_t size) {
    size_t kept = size < capacity - 1 ? size : capacity - 1;

    if (kept > 0)
        memcpy(to, bytes, kept);
    to[kept] = '\0';
}

void pp__put_error(pp_buffer *buffer, const pp_error *error) {
    pp_put_u32(buffer, (uint32_t)error->status);
    pp_put_u32(buffer, (uint32_t)error->sys_errno);
    pp_put_text(buffer, error->op);
    pp_put_text(buffer, error->detail);
}

void pp__get_error(pp_cursor *cursor, pp_error *ret_error) {
    uint32_t status = pp_get_u32(cursor);
    size_t size = 0;

    *ret_error =
        (pp_error){ .status = status > PP_OK && status < PP_STATUS_COUNT ? (pp_status)status
                                                                         : PP_E_PROTOCOL };
    ret_error->sys_errno = (int)pp_get_u32(cursor);
    const unsigned char *op = pp_get_bytes(cursor, &size);
    copy_text(ret_error->op, sizeof ret_error->op, op, size);
    const unsigned char *detail = pp_get_bytes(cursor, &size);
    copy_text(ret_error->detail, sizeof ret_error->detail, detail, size);
}

void pp__put_id(pp_buffer *buffer, pp_proc_id id) {
    pp_put_u32(buffer, (uint32_t)id.pid);
    pp_put_u64(buffer, id.start);
    pp_put_u64(buffer, id.unique);
}

pp_proc_id pp__get_id(pp_cursor *cursor) {
    pp_proc_id id = { .pid = (int32_t)pp_get_u32(cursor) };

    id.start = pp_get_u64(cursor);
    id.unique = pp_get_u64(cursor);
    return id;
}

void pp__put_reading(pp_buffer *buffer, pp_reading reading) {
    pp_put_u8(buffer, reading.known);
    pp_put_u64(buffer, reading.known ? reading.value : (uint64_t)reading.why);
}

pp_reading pp__get_reading(pp_cursor *cursor) {
    bool known = pp_get_u8(cursor) != 0;
    uint64_t value = pp_get_u64(cursor);

    if (known)
        return pp_known(value);
    return pp_missing(value < PP_STATUS_COUNT ? (pp_status)value : PP_E_PROTOCOL);
}

void pp__put_exit(pp_buffer *buffer, const pp_exit *exit) {
    pp_put_u8(buffer, exit->by_signal);
    pp_put_u32(buffer, (uint32_t)exit->code);
    pp_put_u32(buffer, (uint32_t)exit->signal_number);
    pp_put_u8(buffer, exit->core_dumped);
    pp__put_reading(buffer, exit->cpu_ns);
}

pp_exit pp__get_exit(pp_cursor *cursor) {
    pp_exit exit = { .by_signal = pp_get_u8(cursor) != 0 };

    exit.code = (int)pp_get_u32(cursor);
    exit.signal_number = (int)pp_get_u32(cursor);
    exit.core_dumped = pp_get_u8(cursor) != 0;
    exit.cpu_ns = pp__get_reading(cursor);
    return exit;
}
