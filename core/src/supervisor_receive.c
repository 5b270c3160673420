/* SPDX-License-Identifier: Apache-2.0 */

/* What the supervisor says. The invariant: a record is written before anything that depends on it
 * becomes visible, and is acknowledged only when every earlier one is on disk too.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "pairperf/build_id.h"
#include "request.h"
#include "supervisor_private.h"

static void complain(pp_supervisor *supervisor, const pp_error *error) {
    if (supervisor->view.error.status == PP_OK)
        supervisor->view.error = *error;
}

void pp__supervisor_lose(pp_supervisor *supervisor, const pp_error *error) {
    if (supervisor->view.phase == PP_SUPERVISOR_DONE)
        return;
    complain(supervisor, error);
    supervisor->view.phase = PP_SUPERVISOR_LOST;
    supervisor->spawn_answered = true;
    if (supervisor->spawn_error.status == PP_OK)
        supervisor->spawn_error = *error;
}

static void acknowledge(pp_supervisor *supervisor, bool now) {
    uint64_t samples = 0, events = 0;
    pp_error error = { 0 };

    if (supervisor->unkept)
        return; /* something earlier is not on disk: the supervisor keeps and saves the rest */
    if (pp__record_sync(&supervisor->samples, now, &samples, &error) != PP_OK ||
        pp__record_sync(&supervisor->events, now, &events, &error) != PP_OK) {
        supervisor->unkept = true;
        complain(supervisor, &error);
        return;
    }
    uint64_t acked = samples > events ? samples : events;
    if (acked > 0)
        pp_message_end(&supervisor->out, pp_message_begin(&supervisor->out, PP_MSG_ACK, acked));
}

/* The record at the cursor goes into its file; *ret_line is it, without its line end. */
static const unsigned char *keep(pp_supervisor *supervisor, pp_record_file *file, uint64_t seq,
                                 pp_cursor *cursor, size_t *ret_size) {
    size_t size = 0;
    const unsigned char *line = pp_get_bytes(cursor, &size);
    pp_error error = { 0 };

    *ret_size = size > 0 ? size - 1 : 0;
    if (line && !supervisor->unkept && pp__record_append(file, seq, line, size, &error) != PP_OK) {
        supervisor->unkept = true;
        complain(supervisor, &error);
    }
    return line;
}

static void remember(pp_buffer *latest, const unsigned char *line, size_t size) {
    latest->size = 0;
    pp_buffer_add(latest, line, size);
}

static void on_frame(pp_supervisor *supervisor, uint64_t seq, pp_cursor *cursor) {
    pp_supervisor_view *view = &supervisor->view;
    size_t size = 0;

    view->live_t_ns = pp_get_i64(cursor);
    view->live_processes = pp_get_u32(cursor);
    view->live_rss_bytes = pp__get_reading(cursor);
    view->live_cpu_ns = pp__get_reading(cursor);
    view->escapes = pp_get_u64(cursor);
    const unsigned char *line = keep(supervisor, &supervisor->samples, seq, cursor, &size);
    remember(&supervisor->frame_line, line, size);
    view->frames++;
    acknowledge(supervisor, false);
}

static void on_event(pp_supervisor *supervisor, uint64_t seq, pp_cursor *cursor) {
    size_t size = 0;

    (void)keep(supervisor, &supervisor->events, seq, cursor, &size);
    acknowledge(supervisor, true);
}

static void on_verdict(pp_supervisor *supervisor, uint64_t seq, pp_cursor *cursor) {
    pp_supervisor_view *view = &supervisor->view;
    size_t size = 0;
    uint8_t verdict = pp_get_u8(cursor);
    bool forced = pp_get_u8(cursor) != 0;
    const unsigned char *line = keep(supervisor, &supervisor->events, seq, cursor, &size);

    if (pp_cursor_end(cursor, NULL) != PP_OK)
        return; /* no verdict; the caller says so */
    remember(&supervisor->verdict_line, line, size);
    view->verdict = verdict <= PP_VERDICT_UNVERIFIED ? (pp_verdict)verdict : PP_VERDICT_UNVERIFIED;
    view->forced = forced;
    view->phase = PP_SUPERVISOR_DONE;
    acknowledge(supervisor, true);
}

static void on_window(pp_supervisor *supervisor, pp_cursor *cursor) {
    pp_supervisor_view *view = &supervisor->view;
    uint32_t id = pp_get_u32(cursor);
    uint64_t frames = pp_get_u64(cursor);
    uint64_t missed = pp_get_u64(cursor);

    if (id != view->window)
        return;
    view->window_done = true;
    view->window_frames = frames;
    view->window_missed = missed;
}

static void on_output(pp_supervisor *supervisor, pp_cursor *cursor) {
    pp_supervisor_view *view = &supervisor->view;

    view->output_bytes[0] = pp_get_u64(cursor);
    view->output_bytes[1] = pp_get_u64(cursor);
    view->output_truncated[0] = pp_get_u8(cursor) != 0;
    view->output_truncated[1] = pp_get_u8(cursor) != 0;
    uint32_t failure = pp_get_u32(cursor);
    view->output_failure = failure < PP_STATUS_COUNT ? (pp_status)failure : PP_E_PROTOCOL;
    view->output_errno = (int)pp_get_u32(cursor);
}

static void on_exit_of_leader(pp_supervisor *supervisor, pp_cursor *cursor) {
    supervisor->view.exit = pp__get_exit(cursor);
    supervisor->view.exited = true;
    if (supervisor->view.phase == PP_SUPERVISOR_RUNNING)
        supervisor->view.phase = PP_SUPERVISOR_EXITED;
}

static pp_status on_hello(pp_supervisor *supervisor, pp_cursor *cursor, pp_error *reterr) {
    size_t size = 0;
    const unsigned char *build = pp_get_bytes(cursor, &size);

    if (!build || size != strlen(pp_build_id()) || memcmp(build, pp_build_id(), size) != 0)
        return pp_fail(reterr, PP_E_PROTOCOL, 0, "hello", "the supervisor is another build than %s",
                       pp_build_id());
    supervisor->greeted = true;
    return PP_OK;
}

static void on_spawned(pp_supervisor *supervisor, pp_cursor *cursor) {
    size_t size = 0;

    supervisor->view.leader = pp__get_id(cursor);
    const unsigned char *leaf = pp_get_bytes(cursor, &size);
    if (size > 0) {
        pp_buffer_add(&supervisor->leaf, leaf, size);
        pp_buffer_add(&supervisor->leaf, "", 1);
    }
    supervisor->view.phase = PP_SUPERVISOR_RUNNING;
    supervisor->spawn_answered = true;
}

static pp_status handle(pp_supervisor *supervisor, const pp_message *message, pp_error *reterr) {
    pp_cursor cursor = pp_cursor_of(message);

    switch (message->type) {
    case PP_MSG_HELLO:
        return on_hello(supervisor, &cursor, reterr);
    case PP_MSG_SPAWNED:
        on_spawned(supervisor, &cursor);
        break;
    case PP_MSG_SPAWN_FAILED:
        pp__get_error(&cursor, &supervisor->spawn_error);
        supervisor->spawn_answered = true;
        break;
    case PP_MSG_EXITED:
        on_exit_of_leader(supervisor, &cursor);
        break;
    case PP_MSG_WINDOW:
        on_window(supervisor, &cursor);
        break;
    case PP_MSG_OUTPUT:
        on_output(supervisor, &cursor);
        break;
    case PP_MSG_FRAME:
        on_frame(supervisor, message->seq, &cursor);
        break;
    case PP_MSG_EVENT:
        on_event(supervisor, message->seq, &cursor);
        break;
    case PP_MSG_VERDICT:
        on_verdict(supervisor, message->seq, &cursor);
        break;
    default:
        return pp_fail(reterr, PP_E_PROTOCOL, 0, "message", "type %d is not for a harness",
                       (int)message->type);
    }
    return pp_cursor_end(&cursor, reterr);
}

static void handle_all(pp_supervisor *supervisor) {
    size_t done = 0, used = 0;
    pp_message message;
    pp_error error = { 0 };
    pp_status status;

    while ((status = pp_message_next(supervisor->in.bytes + done, supervisor->in.size - done,
                                     &message, &used, &error)) == PP_OK) {
        status = handle(supervisor, &message, &error);
        if (status != PP_OK)
            break;
        done += used;
    }
    pp_buffer_consume(&supervisor->in, done);
    if (status != PP_E_AGAIN)
        pp__supervisor_lose(supervisor, &error);
}

void pp__supervisor_receive(pp_supervisor *supervisor) {
    unsigned char chunk[65536];
    pp_error error = { 0 };

    for (;;) {
        ssize_t got = recv(supervisor->fd, chunk, sizeof chunk, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            break;
        if (got <= 0) {
            (void)pp_fail(&error, PP_E_CLOSED, got < 0 ? errno : 0, "recv",
                          "the supervisor ended before its verdict");
            handle_all(supervisor);
            pp__supervisor_lose(supervisor, &error);
            return;
        }
        pp_buffer_add(&supervisor->in, chunk, (size_t)got);
        handle_all(supervisor);
    }
}
