/* SPDX-License-Identifier: Apache-2.0 */
/* What the supervisor reads from the harness: messages out of a stream, and a spawn request out of
 * each. What decodes is sent again as the same bytes. */
#include "fuzz.h"
#include "request.h"

static void check_spawn(const pp_message *message) {
    pp_spawn_request request;
    pp_buffer again = { 0 };
    if (pp__request_get_spawn(message, &request, NULL) != PP_OK)
        return;
    MUST(request.options.path != NULL && request.options.cwd != NULL);
    MUST(request.options.argv != NULL && request.options.envp != NULL);
    pp__request_put_spawn(&again, &request.options);
    pp_message second = { .type = PP_MSG_SPAWN, .body = again.bytes, .size = again.size };
    pp_spawn_request same;
    MUST(pp__request_get_spawn(&second, &same, NULL) == PP_OK);
    MUST(strcmp(same.options.path, request.options.path) == 0);
    MUST((same.options.writable == NULL) == (request.options.writable == NULL));
    pp__request_done(&same);
    pp__request_done(&request);
    pp_buffer_done(&again);
}

static void check_bodies(const pp_message *message) {
    pp_cursor cursor = pp_cursor_of(message);
    pp_error error;
    pp__get_error(&cursor, &error);
    MUST(memchr(error.detail, '\0', sizeof error.detail) != NULL);
    cursor = pp_cursor_of(message);
    (void)pp__get_exit(&cursor);
    (void)pp__get_id(&cursor);
    (void)pp_cursor_end(&cursor, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    unsigned char *copy = (unsigned char *)exact_copy(bytes, size);
    size_t at = 0, used;
    pp_message message;
    while (at < size && pp_message_next(copy + at, size - at, &message, &used, NULL) == PP_OK) {
        MUST(used > 0 && used <= size - at);
        check_spawn(&message);
        check_bodies(&message);
        at += used;
    }
    free(copy);
    return 0;
}
