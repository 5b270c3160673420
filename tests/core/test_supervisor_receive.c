/* SPDX-License-Identifier: Apache-2.0 */
/* The harness's side of the channel, against a supervisor that says what the test wants. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "pairperf/build_id.h"
#include "request.h"
#include "supervisor_private.h"

typedef struct fixture {
    pp_supervisor supervisor;
    int theirs;
    pp_buffer said;
} fixture;

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    int ends[2];
    *state = f;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
        return -1;
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    f->supervisor.fd = ends[0];
    f->supervisor.samples.fd = f->supervisor.events.fd = -1;
    f->theirs = ends[1];
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    if (f->theirs >= 0)
        (void)close(f->theirs);
    (void)close(f->supervisor.fd);
    pp__record_close(&f->supervisor.samples);
    pp__record_close(&f->supervisor.events);
    pp_buffer_done(&f->supervisor.in);
    pp_buffer_done(&f->supervisor.out);
    pp_buffer_done(&f->supervisor.frame_line);
    pp_buffer_done(&f->supervisor.verdict_line);
    pp_buffer_done(&f->said);
    free(f);
    return 0;
}

static size_t begin(fixture *f, pp_message_type type, uint64_t seq) {
    return pp_message_begin(&f->said, type, seq);
}

static void say_hello(fixture *f, const char *build) {
    size_t start = begin(f, PP_MSG_HELLO, 0);
    pp_put_text(&f->said, build);
    pp_message_end(&f->said, start);
}

static void say_line(fixture *f, pp_message_type type, uint64_t seq, const char *line) {
    size_t start = begin(f, type, seq);
    if (type == PP_MSG_VERDICT) {
        pp_put_u8(&f->said, PP_VERDICT_ECHILD);
        pp_put_u8(&f->said, true);
    }
    if (type == PP_MSG_FRAME) {
        pp_put_i64(&f->said, 5);
        pp_put_u32(&f->said, 6);
        pp__put_reading(&f->said, pp_known(7));
        pp__put_reading(&f->said, pp_missing(PP_E_DENIED));
        pp_put_u64(&f->said, 8);
    }
    pp_put_text(&f->said, line);
    pp_message_end(&f->said, start);
}

/* Sends what was said, `cut` bytes less, and lets the harness receive it. */
static pp_supervisor_view hear(fixture *f, size_t cut) {
    pp_supervisor_view view;
    size_t size = f->said.size - cut;
    assert_int_equal(send(f->theirs, f->said.bytes, size, 0), size);
    f->said.size = 0;
    pp__supervisor_receive(&f->supervisor);
    pp_supervisor_look(&f->supervisor, &view);
    return view;
}

/* The sequence number of the latest acknowledgement queued; 0: none. */
static uint64_t acked(const fixture *f) {
    const pp_buffer *out = &f->supervisor.out;
    pp_message message;
    uint64_t seq = 0;
    size_t used;
    for (size_t at = 0; out->size > 0 && pp_message_next(out->bytes + at, out->size - at, &message,
                                                         &used, NULL) == PP_OK;
         at += used) {
        assert_int_equal(message.type, PP_MSG_ACK);
        seq = message.seq;
    }
    return seq;
}

static void a_frame_shows_its_live_figures_and_its_line(void **state) {
    fixture *f = *state;
    say_line(f, PP_MSG_FRAME, 1, "{\"a\":1}\n");
    pp_supervisor_view view = hear(f, 0);
    assert_int_equal(view.frames, 1);
    assert_int_equal(view.live_t_ns, 5);
    assert_int_equal(view.live_processes, 6);
    assert_true(view.live_rss_bytes.known && view.live_rss_bytes.value == 7);
    assert_int_equal(view.live_cpu_ns.why, PP_E_DENIED);
    assert_int_equal(view.escapes, 8);
    assert_int_equal(view.frame_size, 7);
    assert_memory_equal(view.frame_json, "{\"a\":1}", 7);
}

static void a_verdict_ends_it_and_is_acknowledged(void **state) {
    fixture *f = *state;
    say_line(f, PP_MSG_EVENT, 1, "{}\n");
    say_line(f, PP_MSG_VERDICT, 2, "{}\n");
    pp_supervisor_view view = hear(f, 0);
    assert_int_equal(view.phase, PP_SUPERVISOR_DONE);
    assert_int_equal(view.verdict, PP_VERDICT_ECHILD);
    assert_true(view.forced);
    assert_int_equal(acked(f), 2);
    (void)close(f->theirs); /* then it may go */
    f->theirs = -1;
    pp__supervisor_receive(&f->supervisor);
    pp_supervisor_look(&f->supervisor, &view);
    assert_int_equal(view.phase, PP_SUPERVISOR_DONE);
    assert_int_equal(view.error.status, PP_OK);
}

/* proves: CAN-5, GRP-9 */
static void a_supervisor_that_leaves_without_a_verdict_is_lost(void **state) {
    fixture *f = *state;
    say_line(f, PP_MSG_EVENT, 1, "{}\n");
    say_line(f, PP_MSG_VERDICT, 2, "{}\n");
    pp_supervisor_view view = hear(f, 1);
    assert_int_not_equal(view.phase, PP_SUPERVISOR_DONE);
    (void)close(f->theirs);
    f->theirs = -1;
    pp__supervisor_receive(&f->supervisor);
    pp_supervisor_look(&f->supervisor, &view);
    assert_int_equal(view.phase, PP_SUPERVISOR_LOST);
    assert_int_equal(view.error.status, PP_E_CLOSED);
    assert_int_equal(view.verdict, PP_VERDICT_NONE);
    assert_int_equal(acked(f), 1);
}

static void a_verdict_of_the_wrong_size_is_no_verdict(void **state) {
    fixture *f = *state;
    pp_message_end(&f->said, begin(f, PP_MSG_VERDICT, 1));
    pp_supervisor_view view = hear(f, 0);
    assert_int_equal(view.phase, PP_SUPERVISOR_LOST);
    assert_int_equal(view.error.status, PP_E_PROTOCOL);
    assert_int_equal(view.verdict, PP_VERDICT_NONE);
}

static void a_verdict_out_of_range_is_unverified(void **state) {
    fixture *f = *state;
    say_line(f, PP_MSG_VERDICT, 1, "{}\n");
    f->said.bytes[PP_MESSAGE_HEAD] = 200;
    assert_int_equal(hear(f, 0).verdict, PP_VERDICT_UNVERIFIED);
}

static void messages_that_do_not_parse_or_are_not_for_a_harness_lose_it(void **state) {
    static const pp_message_type types[] = { PP_MSG_SPAWN,     PP_MSG_ACK,    PP_MSG_SPAWNED,
                                             PP_MSG_EXITED,    PP_MSG_WINDOW, PP_MSG_OUTPUT,
                                             PP_MSG_FRAME,     PP_MSG_EVENT,  PP_MSG_HELLO,
                                             PP_MSG_TYPE_COUNT };
    fixture *f = *state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        pp_message_end(&f->said, begin(f, types[i], 1));
        pp_supervisor_view view = hear(f, 0);
        assert_int_equal(view.phase, PP_SUPERVISOR_LOST);
        assert_int_equal(view.error.status, PP_E_PROTOCOL);
        assert_int_equal(acked(f), 0);
        f->supervisor.view = (pp_supervisor_view){ 0 };
        f->supervisor.in.size = 0;
    }
}

static void only_the_same_build_is_greeted(void **state) {
    fixture *f = *state;
    say_hello(f, pp_build_id());
    assert_int_equal(hear(f, 0).phase, PP_SUPERVISOR_IDLE);
    assert_true(f->supervisor.greeted);
    f->supervisor.greeted = false;
    say_hello(f, "other");
    assert_int_equal(hear(f, 0).error.status, PP_E_PROTOCOL);
    assert_false(f->supervisor.greeted);
}

static void a_window_that_was_not_asked_for_is_not_done(void **state) {
    fixture *f = *state;
    f->supervisor.view.window = 2;
    for (uint32_t id = 1; id <= 2; id++) {
        size_t start = begin(f, PP_MSG_WINDOW, 0);
        pp_put_u32(&f->said, id);
        pp_put_u64(&f->said, UINT64_C(10) * id);
        pp_put_u64(&f->said, id);
        pp_message_end(&f->said, start);
        pp_supervisor_view view = hear(f, 0);
        assert_true(view.window_done == (id == 2));
        assert_int_equal(view.window_frames, id == 2 ? 20 : 0);
    }
}

/* What is not on disk is not acknowledged, so that the supervisor saves it.
 * proves: CAN-5, CAN-4 */
static void a_full_disk_stops_the_acknowledgements_and_is_told(void **state) {
    fixture *f = *state;
    if (access("/dev/full", W_OK) != 0)
        skip();
    say_line(f, PP_MSG_EVENT, 1, "{}\n");
    (void)hear(f, 0);
    assert_int_equal(acked(f), 1);
    assert_int_equal(pp__record_open(&f->supervisor.events, "events", "/dev/full", NULL), PP_OK);
    say_line(f, PP_MSG_EVENT, 2, "{}\n");
    say_line(f, PP_MSG_FRAME, 3, "{}\n");
    say_line(f, PP_MSG_VERDICT, 4, "{}\n");
    pp_supervisor_view view = hear(f, 0);
    assert_int_equal(view.error.status, PP_E_SYS);
    assert_int_equal(view.error.sys_errno, ENOSPC);
    assert_string_equal(view.error.op, "write");
    assert_int_equal(acked(f), 1);
    assert_int_equal(view.phase, PP_SUPERVISOR_DONE); /* the verdict stands all the same */
}

#ifdef __linux__
/* Not for want of space: a file that may not be written any more, in the middle. */
static void a_refused_write_stops_the_acknowledgements_too(void **state) {
    fixture *f = *state;
    int fd = memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_true(fd >= 0);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), 0);
    say_line(f, PP_MSG_EVENT, 1, "{}\n");
    (void)hear(f, 0);
    assert_int_equal(acked(f), 1);
    f->supervisor.events.fd = fd;
    say_line(f, PP_MSG_EVENT, 2, "{}\n");
    say_line(f, PP_MSG_FRAME, 3, "{}\n");
    pp_supervisor_view view = hear(f, 0);
    assert_int_equal(view.error.status, PP_E_DENIED);
    assert_int_equal(acked(f), 1);
}
#endif

#define T(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(a_frame_shows_its_live_figures_and_its_line),
        T(a_verdict_ends_it_and_is_acknowledged),
        T(a_supervisor_that_leaves_without_a_verdict_is_lost),
        T(a_verdict_of_the_wrong_size_is_no_verdict),
        T(a_verdict_out_of_range_is_unverified),
        T(messages_that_do_not_parse_or_are_not_for_a_harness_lose_it),
        T(only_the_same_build_is_greeted),
        T(a_window_that_was_not_asked_for_is_not_done),
        T(a_full_disk_stops_the_acknowledgements_and_is_told),
#ifdef __linux__
        T(a_refused_write_stops_the_acknowledgements_too),
#endif
    };
    return cmocka_run_group_tests_name("supervisor_receive", tests, NULL, NULL);
}
