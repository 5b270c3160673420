/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_DARWIN_OUTPUT_H
#define PAIRPERF_DARWIN_OUTPUT_H

#include "adapter.h"

/* Captured output, kept files and the channel: plain descriptors, nothing of Darwin's own. */

void pp__dw_output_init(pp_darwin *darwin);
void pp__dw_output_done(pp_darwin *darwin);

/* Opens what becomes the command's 0, 1 and 2: /dev/null, and for CAPTURE the write ends of two
 * pipes whose read ends drain_output() reads. The caller closes ret_stdio after the start. On
 * failure nothing stays open. */
pp_status pp__dw_output_open(pp_darwin *darwin, const pp_command *command, int ret_stdio[3],
                             pp_error *reterr);

/* Functions of pp_os. */
pp_status pp__dw_drain_output(void *ctx, pp_output_state *ret_state, pp_error *reterr);
pp_status pp__dw_save(void *ctx, const char *name, const void *bytes, size_t size,
                      pp_error *reterr);
pp_status pp__dw_channel_send(void *ctx, const void *bytes, size_t size, size_t *ret_sent,
                              pp_error *reterr);
pp_status pp__dw_channel_recv(void *ctx, void *bytes, size_t capacity, size_t *ret_received,
                              pp_error *reterr);

#endif
