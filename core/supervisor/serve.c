/* SPDX-License-Identifier: Apache-2.0 */

/* What the harness asks. The invariant: nothing is believed before the build ids agreed, and a
 * request that does not fit the present state ends the conversation instead of being guessed at.
 */
#include <string.h>

#include "loop_private.h"

static void say_hello(pp_loop *loop) {
    size_t start = pp_message_begin(&loop->out.wire, PP_MSG_HELLO, 0);

    pp_put_text(&loop->out.wire, loop->build_id);
    pp_message_end(&loop->out.wire, start);
}

static pp_status hello(pp_loop *loop, const pp_message *message, pp_error *reterr) {
    pp_cursor cursor = pp_cursor_of(message);
    size_t size = 0;
    const unsigned char *build = pp_get_bytes(&cursor, &size);

    say_hello(loop);
    if (!build || size != strlen(loop->build_id) || memcmp(build, loop->build_id, size) != 0)
        return pp_fail(reterr, PP_E_PROTOCOL, 0, "hello", "the harness is another build than %s",
                       loop->build_id);
    loop->greeted = true;
    return pp_cursor_end(&cursor, reterr);
}

#define TREE_EVENTS_MAX 1024U

static void tree_event(void *ctx, const pp_tree_event *event) {
    pp_loop *loop = ctx;

    if (++loop->tree_events > TREE_EVENTS_MAX)
        return; /* counted; the verdict tells */
    pp__loop_event(
        loop, (pp_event){ .kind = pp_tree_event_name(event->kind),
                          .info = &event->info,
                          .old_ppid = event->kind == PP_TREE_REPARENTED ? event->old_ppid : 0 });
}

static void tell_capabilities(pp_loop *loop) {
    pp_os *os = loop->os;
    pp_event event = { .kind = "capability" };
    pp_error error = { .op = "probe" };

    for (size_t i = 0; os->capability(os->ctx, i, &event.capability, &event.state, &error.sys_errno,
                                      &event.consequence) == PP_OK;
         i++) {
        error.status = event.state;
        event.error = event.state == PP_OK ? NULL : &error;
        pp__loop_event(loop, event);
    }
}

static void spawn_failed(pp_loop *loop, const pp_error *error) {
    pp__loop_event(loop, (pp_event){ .kind = "spawn_failed", .error = error });
    size_t start = pp_message_begin(&loop->out.wire, PP_MSG_SPAWN_FAILED, 0);
    pp__put_error(&loop->out.wire, error);
    pp_message_end(&loop->out.wire, start);
    pp__request_done(&loop->request);
}

static void spawned(pp_loop *loop) {
    const char *leaf = loop->os->leaf_path(loop->os->ctx);

    loop->spawned = true;
    loop->spawned_ns = pp__loop_now(loop);
    loop->next_track_ns = loop->spawned_ns;
    pp_tree_init(&loop->tree, loop->os, loop->leader, loop->request.options.expected);
    loop->tree.on_event = tree_event;
    loop->tree.event_ctx = loop;
    tell_capabilities(loop);
    pp__loop_event(loop, (pp_event){ .kind = "spawned",
                                     .info = loop->tree.count ? &loop->tree.members[0].info : NULL,
                                     .leaf = leaf });
    size_t start = pp_message_begin(&loop->out.wire, PP_MSG_SPAWNED, 0);
    pp__put_id(&loop->out.wire, loop->leader);
    pp_put_text(&loop->out.wire, leaf ? leaf : "");
    pp_message_end(&loop->out.wire, start);
}

static pp_status spawn(pp_loop *loop, const pp_message *message, pp_error *reterr) {
    pp_os *os = loop->os;
    pp_error error = { 0 };

    if (loop->spawned)
        return pp_fail(reterr, PP_E_PROTOCOL, 0, "spawn", "a command was started before");
    pp_status status = pp__request_get_spawn(message, &loop->request, reterr);
    if (status != PP_OK)
        return status;
    const pp_spawn_options *options = &loop->request.options;
    pp_command command = { .path = options->path,
                           .argv = options->argv,
                           .envp = options->envp,
                           .cwd = options->cwd,
                           .output = options->capture ? PP_OUTPUT_CAPTURE : PP_OUTPUT_NULL,
                           .stdout_name = options->stdout_name,
                           .stderr_name = options->stderr_name,
                           .output_cap_bytes = options->output_cap_bytes,
                           .writable = options->writable,
                           .count_births = options->track };
    if (os->spawn(os->ctx, &command, &loop->leader, &error) != PP_OK)
        spawn_failed(loop, &error);
    else
        spawned(loop);
    return PP_OK;
}

static pp_status sample(pp_loop *loop, const pp_message *message, pp_error *reterr) {
    pp_cursor cursor = pp_cursor_of(message);
    uint32_t id = pp_get_u32(&cursor);
    int64_t duration_ns = pp_get_i64(&cursor);
    int64_t interval_ns = pp_get_i64(&cursor);
    pp_status status = pp_cursor_end(&cursor, reterr);

    if (status != PP_OK)
        return status;
    if (!loop->spawned || !loop->request.options.track || loop->window.open || duration_ns <= 0 ||
        interval_ns <= 0)
        return pp_fail(reterr, PP_E_PROTOCOL, 0, "sample", "no such window is possible now");
    if (loop->stopping) { /* asked for before the harness could know */
        pp__loop_event(loop, (pp_event){ .kind = "window_aborted", .window = id });
        return PP_OK;
    }
    int64_t now_ns = pp__loop_now(loop);
    loop->window = (pp_window_plan){
        .open = true,
        .id = id,
        .start_ns = now_ns,
        .end_ns = now_ns + duration_ns,
        .interval_ns = interval_ns,
        .memory_every = interval_ns >= PP_SECOND_NS
                            ? 1
                            : (uint64_t)((PP_SECOND_NS + interval_ns - 1) / interval_ns),
    };
    pp__loop_event(loop, (pp_event){ .kind = "window_started",
                                     .window = id,
                                     .duration_ns = duration_ns,
                                     .interval_ns = interval_ns });
    return PP_OK;
}

static pp_status stop(pp_loop *loop, const pp_message *message, pp_error *reterr) {
    pp_cursor cursor = pp_cursor_of(message);
    pp_stop_plan plan = { .group_first = pp_get_u8(&cursor) != 0 };

    plan.grace_ns = pp_get_i64(&cursor);
    plan.verify_ns = pp_get_i64(&cursor);
    plan.reap_escapees = loop->request.options.reap_escapees;
    pp_status status = pp_cursor_end(&cursor, reterr);
    if (status != PP_OK)
        return status;
    if (!loop->spawned || plan.grace_ns < 0 || plan.verify_ns < 0)
        return pp_fail(reterr, PP_E_PROTOCOL, 0, "stop", "nothing to stop");
    if (!loop->stopping)
        pp__loop_begin_stop(loop, &plan, "requested");
    return PP_OK;
}

static pp_status handle(pp_loop *loop, const pp_message *message, pp_error *reterr) {
    if (!loop->greeted && message->type != PP_MSG_HELLO)
        return pp_fail(reterr, PP_E_PROTOCOL, 0, "hello", "a request came before it");
    switch (message->type) {
    case PP_MSG_HELLO:
        return hello(loop, message, reterr);
    case PP_MSG_SPAWN:
        return spawn(loop, message, reterr);
    case PP_MSG_SAMPLE:
        return sample(loop, message, reterr);
    case PP_MSG_STOP:
        return stop(loop, message, reterr);
    case PP_MSG_ACK:
        pp__outbox_ack(&loop->out, message->seq);
        return PP_OK;
    default:
        return pp_fail(reterr, PP_E_PROTOCOL, 0, "message", "type %d is not for a supervisor",
                       (int)message->type);
    }
}

static pp_status handle_all(pp_loop *loop, pp_error *reterr) {
    pp_message message;
    size_t used = 0;

    for (;;) {
        pp_status status = pp_message_next(loop->in.bytes, loop->in.size, &message, &used, reterr);
        if (status == PP_E_AGAIN)
            return PP_OK;
        if (status == PP_OK)
            status = handle(loop, &message, reterr);
        if (status != PP_OK)
            return status;
        pp_buffer_consume(&loop->in, used);
    }
}

pp_status pp__loop_serve(pp_loop *loop, pp_error *reterr) {
    unsigned char chunk[16384];
    pp_os *os = loop->os;
    pp_error ignored;

    for (;;) {
        size_t received = 0;
        pp_status status = os->channel_recv(os->ctx, chunk, sizeof chunk, &received, &ignored);
        if (status == PP_E_AGAIN)
            return PP_OK;
        if (status != PP_OK)
            return PP_E_CLOSED;
        pp_buffer_add(&loop->in, chunk, received);
        if (loop->in.failed)
            return pp_fail(reterr, PP_E_NOMEM, 0, "recv", "request too large");
        status = handle_all(loop, reterr);
        if (status != PP_OK)
            return status;
    }
}
