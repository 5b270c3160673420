/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_TEST_FAKE_HARNESS_H
#define PAIRPERF_TEST_FAKE_HARNESS_H

#include "fake_os.h"
#include "pairperf/message.h"
#include "pairperf/stop.h"
#include "pairperf/supervisor.h"

/* The harness's end of the channel of a fake host: it asks, acknowledges every record at once
 * unless told not to, and keeps what it heard. */

#define FAKE_BUILD "build-1"

typedef struct fake_harness {
    fake_os fake;              /* first: the host's ctx is this object */
    pp_buffer to_us, from_us;  /* the channel; "us" is the supervisor */
    size_t recv_max, send_max; /* bytes per call; 0: all. send_max SIZE_MAX: would block */
    bool closed, closed_told;  /* by the harness; the host saw it */
    bool mute;                 /* does not acknowledge */
    bool output_changed;
    pp_output_state output;
    bool save_fails;
    size_t save_fails_at;                  /* counted from 1, this one alone; 0: none */
    size_t saves;                          /* tried */
    bool samples_fail;                     /* to be saved */
    pp_buffer saved_samples, saved_events; /* terminated by a NUL behind `size`, too */

    size_t heard[PP_MSG_TYPE_COUNT];
    pp_buffer frames, events; /* lines as received; always terminated by a NUL behind `size` */
    pp_proc_id leader;
    bool has_leaf; /* was told the path of one */
    pp_exit exit;
    pp_error spawn_error;
    pp_output_state told_output;
    uint64_t window_frames, window_missed;
    pp_verdict verdict;
    bool forced;
    pp_spawn_options spawn; /* what fake_spawn() asks for; ready to be changed */
} fake_harness;

void fake_harness_init(fake_harness *harness, bool adopts);
void fake_harness_done(fake_harness *harness);

/* One in *state that has said hello, on a host that adopts or not; and its end. */
fake_harness *fake_harness_begin(void **state, bool adopts);
int fake_harness_set_up(void **state);
int fake_harness_set_up_without_adoption(void **state);
int fake_harness_tear_down(void **state);

/* Requests, queued for the supervisor. */
void fake_hello(fake_harness *harness, const char *build);
void fake_spawn(fake_harness *harness);
void fake_sample(fake_harness *harness, int64_t duration_ns, int64_t interval_ns);
void fake_stop(fake_harness *harness, bool group_first, int64_t grace_ns, int64_t verify_ns);
void fake_raw(fake_harness *harness, pp_message_type type, const void *body, size_t size);

/* Takes in what was sent; wait() does it by itself. */
void fake_hear(fake_harness *harness);

static inline fake_harness *fake_harness_of(fake_os *fake) {
    return (fake_harness *)fake;
}

/* How often `text` occurs in lines that also hold `kind` (NULL: any line). */
size_t fake_lines(const pp_buffer *lines, const char *kind, const char *text);

#endif
