/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PP_REQUEST_H
#define PP_REQUEST_H

#include "pairperf/message.h"
#include "pairperf/supervisor.h"

/* Bodies of the channel's messages; both ends use the same functions. */

void pp__request_put_spawn(pp_buffer *buffer, const pp_spawn_options *options);

/* A decoded spawn request. Its strings live in `storage`. */
typedef struct pp_spawn_request {
    pp_spawn_options options;
    pp_buffer storage;
    char **argv, **envp, **expected, **writable;
} pp_spawn_request;

/* PP_E_PROTOCOL when the body does not parse. Free with pp__request_done(). */
pp_status pp__request_get_spawn(const pp_message *message, pp_spawn_request *ret_request,
                                pp_error *reterr);
void pp__request_done(pp_spawn_request *request);

void pp__put_error(pp_buffer *buffer, const pp_error *error);
void pp__get_error(pp_cursor *cursor, pp_error *ret_error);
void pp__put_id(pp_buffer *buffer, pp_proc_id id);
pp_proc_id pp__get_id(pp_cursor *cursor);
void pp__put_exit(pp_buffer *buffer, const pp_exit *exit);
pp_exit pp__get_exit(pp_cursor *cursor);
void pp__put_reading(pp_buffer *buffer, pp_reading reading);
pp_reading pp__get_reading(pp_cursor *cursor);

#endif
