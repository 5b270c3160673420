/* SPDX-License-Identifier: Apache-2.0 */

/* What the loop tells without being asked. The invariant: a record has its number from the moment
 * it is made, and one that found no room is known to its maker.
 */
#include "loop_private.h"

pp_status pp__loop_queue(pp_loop *loop, pp_message_type type, uint64_t seq, const pp_buffer *head,
                         pp_json *json) {
    const char *line = NULL;
    size_t size = 0;
    pp_status status = pp_json_finish(json, &line, &size, NULL);

    if (status == PP_OK)
        status = pp__outbox_record(&loop->out, type, seq, head, line, size);
    return status;
}

void pp__loop_event(pp_loop *loop, pp_event event) {
    pp_json json = { 0 };

    event.seq = pp__outbox_seq(&loop->out);
    (void)loop->os->now(loop->os->ctx, &event.now, NULL);
    pp__record_event(&json, &event);
    (void)pp__loop_queue(loop, PP_MSG_EVENT, event.seq, NULL, &json);
    pp_json_done(&json);
}

/* A gap in the numbers tells of it where this cannot be written either. */
static void name_lost(pp_loop *loop, const pp_error *error) {
    pp_outbox *box = &loop->out;
    size_t frames = 0, count = box->count;
    pp_error told = { 0 };

    for (size_t i = 0; i < count; i++)
        frames += box->records[i].type == PP_MSG_FRAME;
    (void)pp_fail(&told, error->status, error->sys_errno, error->op, "%zu frames, %zu events: %s",
                  frames, count - frames, error->detail);
    pp__outbox_ack(box, UINT64_MAX);
    pp__loop_event(loop, (pp_event){ .kind = "records_lost", .error = &told });
    (void)pp__outbox_save(box, loop->os, NULL);
    pp__outbox_ack(box, UINT64_MAX);
}

pp_status pp__loop_save(pp_loop *loop, pp_error *reterr) {
    pp_error error = { 0 };

    if (pp__outbox_save(&loop->out, loop->os, &error) == PP_OK ||
        pp__outbox_save(&loop->out, loop->os, &error) == PP_OK) /* it may have been a moment */
        return PP_OK;
    name_lost(loop, &error);
    return pp_fail(reterr, error.status, error.sys_errno, error.op, "%s", error.detail);
}

void pp__loop_drain(pp_loop *loop) {
    pp_error error = { 0 };

    if (loop->os->drain_output(loop->os->ctx, &loop->output, &error) != PP_OK) {
        loop->output.failure = error.status;
        loop->output.failure_errno = error.sys_errno;
    }
    loop->output_untold = true;
}

void pp__loop_tell_output(pp_loop *loop) {
    pp_output_state state = loop->output;

    if (!loop->output_untold)
        return;
    loop->output_untold = false;
    size_t start = pp_message_begin(&loop->out.wire, PP_MSG_OUTPUT, 0);
    pp_put_u64(&loop->out.wire, state.stdout_bytes);
    pp_put_u64(&loop->out.wire, state.stderr_bytes);
    pp_put_u8(&loop->out.wire, state.stdout_truncated);
    pp_put_u8(&loop->out.wire, state.stderr_truncated);
    pp_put_u32(&loop->out.wire, (uint32_t)state.failure);
    pp_put_u32(&loop->out.wire, (uint32_t)state.failure_errno);
    pp_message_end(&loop->out.wire, start);
}
