/* SPDX-License-Identifier: Apache-2.0 */

/* The harness's side of one supervisor. The invariant: a request is queued, never waited for,
 * except where the header says so, and every wait has an end of its own.
 */
#include "pairperf/supervisor.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host.h"
#include "pairperf/build_id.h"
#include "request.h"
#include "supervisor_private.h"

#define SECOND_NS 1000000000LL
#define HELLO_WAIT_NS (10 * SECOND_NS)
#define SPAWN_WAIT_NS (30 * SECOND_NS)
/* Its plan for a dead harness takes 1 s, 5 s for the group, for the leader and for escapees each.
 */
#define END_WAIT_NS (20 * SECOND_NS)
#define KILL_WAIT_NS (5 * SECOND_NS)

static int64_t now_ns(void) {
    pp_now now = { 0 };

    (void)pp_host_now(&now, NULL);
    return now.t_ns;
}

static void flush(pp_supervisor *supervisor) {
    pp_buffer *out = &supervisor->out;
    pp_error error = { 0 };

    while (supervisor->fd >= 0 && supervisor->sent < out->size) {
        ssize_t sent = send(supervisor->fd, out->bytes + supervisor->sent,
                            out->size - supervisor->sent, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (sent < 0) { /* what it said before is still to be read */
            (void)pp_fail(&error, PP_E_CLOSED, errno, "send", "the supervisor is gone");
            pp__supervisor_receive(supervisor);
            pp__supervisor_lose(supervisor, &error);
            return;
        }
        supervisor->sent += (size_t)sent;
    }
    if (supervisor->sent == out->size)
        out->size = supervisor->sent = 0;
}

static bool is_open(const pp_supervisor *supervisor) {
    return supervisor->fd >= 0 && supervisor->view.phase != PP_SUPERVISOR_LOST &&
           (supervisor->view.phase != PP_SUPERVISOR_DONE || supervisor->out.size > 0);
}

static int timeout_ms(int64_t timeout_ns) {
    if (timeout_ns <= 0)
        return 0;
    int64_t ms = (timeout_ns + 999999) / 1000000;
    return ms > 3600000 ? 3600000 : (int)ms;
}

pp_status pp_supervisors_pump(pp_supervisor *const *supervisors, size_t count, int extra_fd,
                              int64_t timeout_ns, pp_error *reterr) {
    struct pollfd *fds = calloc(count + 1, sizeof *fds);

    if (!fds)
        return pp_fail(reterr, PP_E_NOMEM, 0, "pump", "%zu supervisors", count);
    for (size_t i = 0; i < count; i++) {
        flush(supervisors[i]);
        fds[i].fd = is_open(supervisors[i]) ? supervisors[i]->fd : -1;
        fds[i].events = POLLIN;
        if (supervisors[i]->out.size > 0)
            fds[i].events |= POLLOUT;
    }
    fds[count] = (struct pollfd){ .fd = extra_fd, .events = POLLIN };
    int ready = poll(fds, (nfds_t)(count + 1), timeout_ms(timeout_ns));
    int failed = errno;
    for (size_t i = 0; ready > 0 && i < count; i++) {
        if (fds[i].revents & (POLLIN | POLLHUP | POLLERR))
            pp__supervisor_receive(supervisors[i]);
        flush(supervisors[i]);
    }
    free(fds);
    if (ready < 0 && failed != EINTR)
        return pp_fail(reterr, PP_E_SYS, failed, "poll", "%zu supervisors", count);
    return PP_OK;
}

/* Serves this one until *flag or the time is over. */
static pp_status await(pp_supervisor *supervisor, const bool *flag, int64_t wait_ns,
                       const char *what, pp_error *reterr) {
    int64_t deadline_ns = now_ns() + wait_ns;

    while (!*flag) {
        int64_t left_ns = deadline_ns - now_ns();
        if (supervisor->view.phase == PP_SUPERVISOR_LOST) {
            *reterr = supervisor->view.error;
            return reterr->status;
        }
        if (left_ns <= 0)
            return pp_fail(reterr, PP_E_TIMEOUT, 0, what, "the supervisor did not answer");
        pp_status status = pp_supervisors_pump(&supervisor, 1, -1, left_ns, reterr);
        if (status != PP_OK)
            return status;
    }
    return PP_OK;
}

static pp_status greet(pp_supervisor *supervisor, pp_error *reterr) {
    size_t start = pp_message_begin(&supervisor->out, PP_MSG_HELLO, 0);

    pp_put_text(&supervisor->out, pp_build_id());
    pp_message_end(&supervisor->out, start);
    return await(supervisor, &supervisor->greeted, HELLO_WAIT_NS, "hello", reterr);
}

pp_status pp_supervisor_start(const pp_supervisor_options *options, pp_supervisor **ret_supervisor,
                              pp_error *reterr) {
    pp_error error = { 0 };
    pp_supervisor *supervisor = calloc(1, sizeof *supervisor);

    if (!supervisor)
        return pp_fail(reterr, PP_E_NOMEM, 0, "start", "supervisor");
    supervisor->fd = supervisor->samples.fd = supervisor->events.fd = -1;
    pp_status status =
        pp__record_open(&supervisor->samples, "samples", options->samples_path, &error);
    if (status == PP_OK)
        status = pp__record_open(&supervisor->events, "events", options->events_path, &error);
    if (status == PP_OK)
        status = pp__supervisor_launch(supervisor, options, &error);
    if (status == PP_OK)
        status = greet(supervisor, &error);
    if (status != PP_OK) {
        pp_supervisor_free(supervisor);
        if (reterr)
            *reterr = error;
        return status;
    }
    *ret_supervisor = supervisor;
    return PP_OK;
}

pp_status pp__supervisor_await_end(pid_t *pid, int64_t end_ns, int64_t kill_ns, pp_error *reterr) {
    int64_t deadline_ns = now_ns() + end_ns;
    bool killed = false;
    int status = 0;

    while (*pid > 0) {
        pid_t ended = waitpid(*pid, &status, WNOHANG);
        if (ended == *pid || (ended < 0 && errno != EINTR)) {
            *pid = 0;
        } else if (now_ns() < deadline_ns) {
            (void)poll(NULL, 0, 2);
        } else if (killed) {
            return pp_fail(reterr, PP_E_TIMEOUT, 0, "end",
                           "supervisor %d hangs in the kernel, SIGKILL did not end it", (int)*pid);
        } else {
            (void)kill(*pid, SIGKILL); /* our own unreaped child */
            killed = true;
            deadline_ns = now_ns() + kill_ns;
        }
    }
    return PP_OK;
}

pp_status pp_supervisor_close(pp_supervisor *supervisor, pp_error *reterr) {
    if (supervisor->fd >= 0) {
        flush(supervisor);
        if (supervisor->fd >= 0)
            (void)close(supervisor->fd);
        supervisor->fd = -1;
    }
    bool again = supervisor->given_up;
    pp_status status = pp__supervisor_await_end(&supervisor->pid, again ? 0 : END_WAIT_NS,
                                                again ? 0 : KILL_WAIT_NS, reterr);
    supervisor->given_up = status != PP_OK;
    return status;
}

void pp_supervisor_free(pp_supervisor *supervisor) {
    if (!supervisor)
        return;
    (void)pp_supervisor_close(supervisor, NULL);
    pp__record_close(&supervisor->samples);
    pp__record_close(&supervisor->events);
    pp_buffer_done(&supervisor->in);
    pp_buffer_done(&supervisor->out);
    pp_buffer_done(&supervisor->frame_line);
    pp_buffer_done(&supervisor->verdict_line);
    pp_buffer_done(&supervisor->leaf);
    free(supervisor);
}

pp_status pp_supervisor_spawn(pp_supervisor *supervisor, const pp_spawn_options *options,
                              pp_proc_id *ret_leader, pp_error *reterr) {
    pp_error error = { 0 };

    if (supervisor->view.phase != PP_SUPERVISOR_IDLE || supervisor->spawn_answered)
        return pp_fail(reterr, PP_E_INVALID, 0, "spawn", "this supervisor was used before");
    supervisor->tracked = options->track;
    size_t start = pp_message_begin(&supervisor->out, PP_MSG_SPAWN, 0);
    pp__request_put_spawn(&supervisor->out, options);
    pp_message_end(&supervisor->out, start);
    if (supervisor->out.failed || supervisor->out.size - start > PP_MESSAGE_MAX)
        return pp_fail(reterr, PP_E_INVALID, 0, "spawn", "command and environment too large");
    pp_status status =
        await(supervisor, &supervisor->spawn_answered, SPAWN_WAIT_NS, "spawn", &error);
    if (status == PP_OK && supervisor->spawn_error.status != PP_OK) {
        error = supervisor->spawn_error;
        status = error.status;
    }
    if (status == PP_OK)
        *ret_leader = supervisor->view.leader;
    else if (reterr)
        *reterr = error;
    return status;
}

static bool has_tree(const pp_supervisor *supervisor) {
    pp_supervisor_phase phase = supervisor->view.phase;

    return phase == PP_SUPERVISOR_RUNNING || phase == PP_SUPERVISOR_EXITED ||
           phase == PP_SUPERVISOR_STOPPING;
}

pp_status pp_supervisor_sample(pp_supervisor *supervisor, int64_t duration_ns, int64_t interval_ns,
                               pp_error *reterr) {
    pp_supervisor_view *view = &supervisor->view;

    if (duration_ns <= 0 || interval_ns <= 0)
        return pp_fail(reterr, PP_E_INVALID, 0, "sample", "duration and interval are positive");
    if (!has_tree(supervisor) || !supervisor->tracked || (view->window > 0 && !view->window_done))
        return pp_fail(reterr, PP_E_INVALID, 0, "sample",
                       "nothing is tracked, or a window is still open");
    view->window = ++supervisor->windows;
    view->window_done = false;
    view->window_frames = view->window_missed = 0;
    size_t start = pp_message_begin(&supervisor->out, PP_MSG_SAMPLE, 0);
    pp_put_u32(&supervisor->out, view->window);
    pp_put_i64(&supervisor->out, duration_ns);
    pp_put_i64(&supervisor->out, interval_ns);
    pp_message_end(&supervisor->out, start);
    flush(supervisor);
    return PP_OK;
}

pp_status pp_supervisor_stop(pp_supervisor *supervisor, bool group_first, int64_t grace_ns,
                             int64_t verify_ns, pp_error *reterr) {
    if (grace_ns < 0 || verify_ns < 0)
        return pp_fail(reterr, PP_E_INVALID, 0, "stop", "times are not negative");
    if (supervisor->stop_asked || supervisor->view.phase == PP_SUPERVISOR_DONE)
        return PP_OK;
    if (!has_tree(supervisor))
        return pp_fail(reterr, PP_E_INVALID, 0, "stop", "nothing runs");
    supervisor->stop_asked = true;
    supervisor->view.phase = PP_SUPERVISOR_STOPPING;
    size_t start = pp_message_begin(&supervisor->out, PP_MSG_STOP, 0);
    pp_put_u8(&supervisor->out, group_first);
    pp_put_i64(&supervisor->out, grace_ns);
    pp_put_i64(&supervisor->out, verify_ns);
    pp_message_end(&supervisor->out, start);
    flush(supervisor);
    return PP_OK;
}

static void show_line(const pp_buffer *line, const char **ret_bytes, size_t *ret_size) {
    *ret_bytes = line->size > 0 ? (const char *)line->bytes : NULL;
    *ret_size = line->size;
}

void pp_supervisor_look(const pp_supervisor *supervisor, pp_supervisor_view *ret_view) {
    *ret_view = supervisor->view;
    ret_view->leaf = supervisor->leaf.size > 0 ? (const char *)supervisor->leaf.bytes : NULL;
    show_line(&supervisor->frame_line, &ret_view->frame_json, &ret_view->frame_size);
    show_line(&supervisor->verdict_line, &ret_view->verdict_json, &ret_view->verdict_size);
}

const char *pp_supervisor_phase_name(pp_supervisor_phase phase) {
    static const char *const names[] = { "idle", "running", "exited", "stopping", "done", "lost" };

    return names[phase];
}
