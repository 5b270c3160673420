/* SPDX-License-Identifier: Apache-2.0 */
/* The conversation with the harness and its end; watch and teardown have tests of their own. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fake_harness.h"
#include "loop.h"

#define MS INT64_C(1000000)
#define S (1000 * MS)
#define CHILD 101

static pp_status run(fake_harness *h) {
    pp_error error = { 0 };
    pp_status status = pp_loop_run(&h->fake.os, FAKE_BUILD, &error);
    assert_int_equal(error.status, status);
    return status;
}

static void harness_dies(fake_os *fake) {
    fake_harness_of(fake)->closed = true;
}

static void stop_is_asked(fake_os *fake) {
    fake_stop(fake_harness_of(fake), true, 30 * S, 5 * S);
}

static void leader_is_deaf(fake_os *fake) {
    fake_find(fake, FAKE_LEADER)->deaf = true;
}

static const fake_deed *first(const fake_harness *h, fake_deed_kind kind, int signal_number) {
    size_t at = fake_deed_at(&h->fake, kind, 0, signal_number);
    assert_int_not_equal(at, FAKE_MAX_DEEDS);
    return &h->fake.deeds[at];
}

/* proves: SMP-9, BOX-6 */
static void a_spawn_is_answered_with_the_leader_and_recorded(void **state) {
    fake_harness *h = *state;
    fake_spawn(h);
    fake_after(&h->fake, S, stop_is_asked);
    assert_int_equal(run(h), PP_OK);
    assert_int_equal(h->heard[PP_MSG_HELLO], 1);
    assert_int_equal(h->heard[PP_MSG_SPAWNED], 1);
    assert_int_equal(h->leader.pid, FAKE_LEADER);
    assert_true(h->leader.start == h->fake.procs[0].info.id.start);
    assert_int_equal(fake_lines(&h->events, "\"kind\":\"spawned\"", "\"pid\":100"), 1);
    assert_int_equal(fake_lines(&h->events, "\"capability\":\"magic\"", "\"unsupported\""), 2);
    assert_int_equal(h->saved_events.size + h->saved_samples.size, 0);
}

/* proves: BOX-7 */
static void a_failed_spawn_names_its_step_and_starts_nothing(void **state) {
    fake_harness *h = *state;
    fake_rule_add(
        &h->fake,
        (fake_rule){ .call = FAKE_SPAWN, .times = 1, .status = PP_E_SYS, .sys_errno = ENOENT });
    fake_spawn(h);
    fake_after(&h->fake, S, harness_dies);
    assert_int_equal(run(h), PP_OK);
    assert_int_equal(h->heard[PP_MSG_SPAWN_FAILED], 1);
    assert_int_equal(h->spawn_error.status, PP_E_SYS);
    assert_int_equal(h->spawn_error.sys_errno, ENOENT);
    assert_string_equal(h->spawn_error.op, "scripted");
    assert_int_equal(fake_lines(&h->events, "\"kind\":\"spawn_failed\"", "\"ENOENT\""), 1);
    assert_int_equal(h->heard[PP_MSG_SPAWNED] + h->fake.deed_count, 0);
}

static void another_build_gets_an_answer_but_nothing_else(void **state) {
    static const char *const builds[] = { "", "build-2", "build-11", "build-" };
    fake_harness *h = *state;
    for (size_t i = 0; i < 4; i++) {
        fake_harness_done(h);
        fake_harness_init(h, true);
        fake_hello(h, builds[i]);
        fake_spawn(h);
        assert_int_equal(run(h), PP_E_PROTOCOL);
        fake_hear(h);
        assert_int_equal(h->heard[PP_MSG_HELLO], 1);
        assert_int_equal(h->fake.proc_count, 0);
    }
}

static void a_harness_that_leaves_before_the_spawn_leaves_nothing(void **state) {
    fake_harness *h = *state;
    fake_after(&h->fake, S, harness_dies);
    assert_int_equal(run(h), PP_OK);
    assert_int_equal(h->saved_events.size + h->fake.deed_count, 0);
}

static void nothing_is_believed_before_the_hello(void **state) {
    fake_harness *h = *state;
    h->to_us.size = 0;
    fake_spawn(h);
    assert_int_equal(run(h), PP_E_PROTOCOL);
    assert_int_equal(h->fake.proc_count, 0);
}

static void byte_by_byte_is_as_good_as_at_once(void **state) {
    fake_harness *h = *state;
    h->recv_max = h->send_max = 1;
    fake_spawn(h);
    fake_sample(h, 200 * MS, 100 * MS);
    fake_after(&h->fake, S, stop_is_asked);
    assert_int_equal(run(h), PP_OK);
    assert_int_equal(h->verdict, PP_VERDICT_ECHILD);
    assert_int_equal(h->window_frames, 3);
}

/* One request that fits no state. */
typedef struct bad_request {
    pp_message_type type;
    size_t size;
    unsigned char body[24];
} bad_request;

/* Whatever the harness says wrongly, the tree is ended and told of on disk.
 * proves: CAN-5 */
static void a_protocol_error_ends_the_tree_and_saves_the_verdict(void **state) {
    static const bad_request bad[] = {
        { PP_MSG_SPAWN, 0, { 0 } },          /* a second command, and cut */
        { PP_MSG_SAMPLE, 20, { 0 } },        /* no duration */
        { PP_MSG_SAMPLE, 19, { 0 } },        /* cut */
        { PP_MSG_STOP, 16, { 0 } },          /* cut */
        { PP_MSG_STOP, 18, { 0 } },          /* left over */
        { PP_MSG_STOP, 17, { [8] = 0xff } }, /* a grace before the beginning */
        { PP_MSG_FRAME, 0, { 0 } },          /* not for us */
        { PP_MSG_HELLO, 4, { 9 } },          /* another build, cut */
        { PP_MSG_NONE, 0, { 0 } },           { PP_MSG_TYPE_COUNT, 0, { 0 } },
    };
    fake_harness *h = *state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fake_harness_done(h);
        fake_harness_init(h, true);
        fake_hello(h, FAKE_BUILD);
        fake_spawn(h);
        fake_raw(h, bad[i].type, bad[i].body, bad[i].size);
        assert_int_equal(run(h), PP_E_PROTOCOL);
        assert_int_equal(fake_deeds(&h->fake, FAKE_GROUP_SIGNALLED, FAKE_LEADER, SIGTERM), 1);
        assert_int_equal(fake_deeds(&h->fake, FAKE_REAPED, FAKE_LEADER, 0), 1);
        assert_int_equal(
            fake_lines(&h->saved_events, "\"kind\":\"verdict\"", "\"cause\":\"harness_gone\""), 1);
    }
}

static void a_second_command_is_refused_and_the_first_one_ended(void **state) {
    fake_harness *h = *state;
    fake_spawn(h);
    fake_spawn(h);
    assert_int_equal(run(h), PP_E_PROTOCOL);
    assert_int_equal(h->fake.proc_count, 1);
    assert_int_equal(fake_deeds(&h->fake, FAKE_REAPED, FAKE_LEADER, 0), 1);
}

static void a_request_that_needs_a_command_is_refused_without_one(void **state) {
    fake_harness *h = *state;
    for (int i = 0; i < 2; i++) {
        fake_harness_done(h);
        fake_harness_init(h, true);
        fake_hello(h, FAKE_BUILD);
        if (i)
            fake_sample(h, S, S);
        else
            fake_stop(h, true, S, S);
        assert_int_equal(run(h), PP_E_PROTOCOL);
    }
}

static void a_window_is_refused_when_nothing_is_tracked_or_one_is_open(void **state) {
    fake_harness *h = *state;
    for (int i = 0; i < 2; i++) {
        fake_harness_done(h);
        fake_harness_init(h, true);
        fake_hello(h, FAKE_BUILD);
        h->spawn.track = i == 1;
        fake_spawn(h);
        fake_sample(h, S, S);
        if (i)
            fake_sample(h, S, S);
        assert_int_equal(run(h), PP_E_PROTOCOL);
    }
}

static void impossible_bytes_end_the_tree(void **state) {
    fake_harness *h = *state;
    fake_spawn(h);
    pp_buffer_add(&h->to_us, "\xff\xff\xff\xff", 4);
    assert_int_equal(run(h), PP_E_PROTOCOL);
    assert_int_equal(fake_deeds(&h->fake, FAKE_REAPED, FAKE_LEADER, 0), 1);
}

/* proves: CAN-5 (B17) */
static void a_dead_harness_means_term_one_second_kill_and_a_saved_verdict(void **state) {
    fake_harness *h = *state;
    h->fake.on_spawn = leader_is_deaf;
    h->mute = true;
    fake_spawn(h);
    fake_after(&h->fake, 2 * S, harness_dies);
    int64_t dies_ns = h->fake.t_ns + 2 * S;
    assert_int_equal(run(h), PP_OK);
    assert_true(first(h, FAKE_GROUP_SIGNALLED, SIGTERM)->t_ns == dies_ns);
    assert_true(first(h, FAKE_GROUP_SIGNALLED, SIGKILL)->t_ns == dies_ns + S);
    assert_int_equal(fake_deeds(&h->fake, FAKE_REAPED, FAKE_LEADER, 0), 1);
    assert_int_equal(
        fake_lines(&h->saved_events, "\"verdict\":\"echild\"", "\"cause\":\"harness_gone\""), 1);
    assert_int_equal(fake_lines(&h->saved_events, "\"verdict\":\"echild\"", "\"forced\":true"), 1);
    assert_int_equal(fake_lines(&h->saved_events, NULL, "\"kind\":\"spawned\""), 1);
    assert_true(fake_lines(&h->saved_samples, NULL, "\"kind\":\"track\"") >= 20);
}

static void child_escapes(fake_os *fake) {
    fake_add(fake, CHILD, FAKE_LEADER);
    fake_escape(fake, CHILD);
}

/* proves: CAN-5 */
static void a_dead_harness_takes_escapees_along_where_orphans_are_ours(void **state) {
    fake_harness *h = *state;
    fake_spawn(h);
    h->fake.on_spawn = child_escapes;
    fake_after(&h->fake, 2 * S, harness_dies);
    assert_int_equal(run(h), PP_OK);
    assert_int_equal(fake_deeds(&h->fake, FAKE_SIGNALLED, CHILD, SIGKILL), 1);
    assert_int_equal(fake_lines(&h->saved_events, NULL, "\"verdict\":\"echild\""), 1);
}

/* proves: CAN-5 */
static void without_adoption_a_dead_harness_leaves_escapees_and_lists_them(void **state) {
    fake_harness *h = *state;
    h->fake.os.adopts = false;
    fake_spawn(h);
    h->fake.on_spawn = child_escapes;
    fake_after(&h->fake, 2 * S, harness_dies);
    assert_int_equal(run(h), PP_OK);
    assert_int_equal(fake_deeds(&h->fake, FAKE_SIGNALLED, CHILD, 0), 0);
    assert_int_equal(
        fake_lines(&h->saved_events, "\"verdict\":\"left_running\"", "\"pid\":101,\"start\":1002"),
        2); /* survivor and escapee */
}

/* proves: CAN-5 */
static void a_harness_that_dies_while_stopping_shortens_the_grace(void **state) {
    fake_harness *h = *state;
    h->fake.on_spawn = leader_is_deaf;
    fake_spawn(h);
    fake_after(&h->fake, S, stop_is_asked);
    fake_after(&h->fake, 3 * S, harness_dies);
    int64_t start_ns = h->fake.t_ns;
    assert_int_equal(run(h), PP_OK);
    assert_true(first(h, FAKE_GROUP_SIGNALLED, SIGKILL)->t_ns == start_ns + 4 * S);
    assert_int_equal(
        fake_lines(&h->saved_events, "\"kind\":\"verdict\"", "\"cause\":\"harness_gone\""), 1);
}

static void application_stop_is_asked(fake_os *fake) {
    fake_stop(fake_harness_of(fake), false, 30 * S, 5 * S);
}

/* proves: CAN-5 */
static void a_harness_that_dies_while_escapees_are_awaited_takes_them_along(void **state) {
    fake_harness *h = *state;
    h->fake.on_spawn = child_escapes;
    fake_spawn(h);
    fake_after(&h->fake, S, application_stop_is_asked);
    fake_after(&h->fake, 3 * S, harness_dies);
    int64_t start_ns = h->fake.t_ns;
    assert_int_equal(run(h), PP_OK);
    assert_true(first(h, FAKE_SIGNALLED, SIGKILL)->t_ns == start_ns + 3 * S);
    assert_int_equal(fake_deeds(&h->fake, FAKE_SIGNALLED, CHILD, SIGKILL), 1);
    assert_int_equal(fake_lines(&h->saved_events, NULL, "\"verdict\":\"echild\""), 1);
}

static void latest_end_ends_the_tree_by_itself(void **state) {
    fake_harness *h = *state;
    h->spawn.latest_end_ns = h->fake.t_ns + 7 * S;
    fake_spawn(h);
    assert_int_equal(run(h), PP_OK);
    assert_true(first(h, FAKE_GROUP_SIGNALLED, SIGTERM)->t_ns == h->spawn.latest_end_ns);
    assert_int_equal(fake_lines(&h->events, "\"kind\":\"verdict\"", "\"cause\":\"latest_end\""), 1);
}

static void latest_end_does_not_disturb_a_stop_that_was_asked_for(void **state) {
    fake_harness *h = *state;
    h->fake.on_spawn = leader_is_deaf;
    h->spawn.latest_end_ns = h->fake.t_ns + 2 * S;
    fake_spawn(h);
    fake_after(&h->fake, S, stop_is_asked);
    assert_int_equal(run(h), PP_OK);
    assert_int_equal(fake_deeds(&h->fake, FAKE_GROUP_SIGNALLED, 0, SIGTERM), 1);
    assert_int_equal(fake_lines(&h->events, "\"kind\":\"verdict\"", "\"cause\":\"requested\""), 1);
}

/* proves: CAN-5 */
static void a_verdict_that_nobody_acknowledged_is_saved(void **state) {
    fake_harness *h = *state;
    h->mute = true;
    fake_spawn(h);
    fake_after(&h->fake, S, stop_is_asked);
    fake_after(&h->fake, 100 * S, harness_dies);
    int64_t start_ns = h->fake.t_ns;
    assert_int_equal(run(h), PP_OK);
    assert_int_equal(h->heard[PP_MSG_VERDICT], 1);
    assert_true(h->fake.t_ns == start_ns + 100 * S); /* it waited for the acknowledgement */
    assert_int_equal(
        fake_lines(&h->saved_events, "\"kind\":\"verdict\"", "\"cause\":\"requested\""), 1);
}

/* proves: CAN-5 */
static void a_save_that_fails_for_a_moment_neither_loses_nor_doubles_a_record(void **state) {
    fake_harness *h = *state;
    h->mute = true;
    h->save_fails_at = 3;
    fake_spawn(h);
    fake_after(&h->fake, S, stop_is_asked);
    fake_after(&h->fake, 100 * S, harness_dies);
    assert_int_equal(run(h), PP_OK);
    assert_int_equal(fake_lines(&h->saved_events, NULL, "\"kind\":\"spawned\""), 1);
    assert_int_equal(fake_lines(&h->saved_events, NULL, "\"kind\":\"verdict\""), 1);
    assert_int_equal(fake_lines(&h->saved_events, NULL, "\"kind\":\"records_lost\""), 0);
    assert_int_equal(fake_lines(&h->saved_samples, NULL, "\"seq\":"),
                     fake_lines(&h->frames, NULL, "\"seq\":"));
}

/* proves: CAN-5 */
static void frames_that_cannot_be_saved_are_named_as_lost(void **state) {
    fake_harness *h = *state;
    h->mute = true;
    h->samples_fail = true;
    fake_spawn(h);
    fake_after(&h->fake, S, stop_is_asked);
    fake_after(&h->fake, 100 * S, harness_dies);
    assert_int_equal(run(h), PP_E_SYS);
    char lost[64];
    (void)snprintf(lost, sizeof lost, "\"detail\":\"%zu frames, 0 events: ",
                   (size_t)fake_lines(&h->frames, NULL, "\"seq\":"));
    assert_int_equal(fake_lines(&h->saved_events, "\"kind\":\"records_lost\"", lost), 1);
    assert_int_equal(fake_lines(&h->saved_events, NULL, "\"kind\":\"verdict\""), 1);
    assert_int_equal(h->saved_samples.size, 0);
}

static void nonsense_is_said(fake_os *fake) {
    fake_raw(fake_harness_of(fake), PP_MSG_FRAME, "", 0);
}

/* proves: CAN-5 */
static void a_protocol_error_after_the_verdict_does_not_lose_it(void **state) {
    fake_harness *h = *state;
    h->mute = true;
    fake_spawn(h);
    fake_after(&h->fake, S, stop_is_asked);
    fake_after(&h->fake, 100 * S, nonsense_is_said);
    assert_int_equal(run(h), PP_E_PROTOCOL);
    assert_int_equal(fake_lines(&h->saved_events, NULL, "\"kind\":\"verdict\""), 1);
}

/* proves: SMP-7 */
static void a_harness_that_does_not_read_disturbs_neither_frames_nor_the_stop(void **state) {
    fake_harness *h = *state;
    h->send_max = SIZE_MAX;
    fake_spawn(h);
    fake_sample(h, 10 * S, 100 * MS);
    h->spawn.latest_end_ns = 0;
    fake_after(&h->fake, 20 * S, stop_is_asked);
    fake_after(&h->fake, 30 * S, harness_dies);
    assert_int_equal(run(h), PP_OK);
    assert_int_equal(h->heard[PP_MSG_HELLO], 0);
    assert_int_equal(fake_lines(&h->saved_samples, NULL, "\"window\":1"), 101);
    assert_int_equal(fake_lines(&h->saved_events, NULL, "\"verdict\":\"echild\""), 1);
}

static void a_host_that_cannot_wait_still_ends_the_tree(void **state) {
    fake_harness *h = *state;
    fake_spawn(h);
    fake_rule_add(
        &h->fake,
        (fake_rule){
            .call = FAKE_WAIT, .skip = 10, .times = 1, .status = PP_E_SYS, .sys_errno = EBADF });
    assert_int_equal(run(h), PP_E_SYS);
    assert_int_equal(fake_deeds(&h->fake, FAKE_REAPED, FAKE_LEADER, 0), 1);
    assert_int_equal(
        fake_lines(&h->saved_events, "\"kind\":\"verdict\"", "\"cause\":\"wait_failed\""), 1);
}

static void time_passes(fake_os *fake) {
    fake->t_ns += 100 * MS;
}

/* proves: CAN-5 */
static void a_host_that_never_waits_again_kills_what_is_deaf(void **state) {
    fake_harness *h = *state;
    h->fake.on_spawn = leader_is_deaf;
    fake_spawn(h);
    fake_rule_add(&h->fake, (fake_rule){ .call = FAKE_WAIT,
                                         .skip = 10,
                                         .times = FAKE_FOREVER,
                                         .status = PP_E_SYS,
                                         .sys_errno = EBADF });
    fake_rule_add(&h->fake, (fake_rule){ .call = FAKE_OBSERVE,
                                         .skip = 10,
                                         .times = FAKE_FOREVER,
                                         .change = time_passes });
    assert_int_equal(run(h), PP_E_SYS);
    assert_int_equal(fake_deeds(&h->fake, FAKE_GROUP_SIGNALLED, 0, SIGTERM), 1);
    assert_int_equal(fake_deeds(&h->fake, FAKE_GROUP_SIGNALLED, 0, SIGKILL), 1);
    assert_int_equal(fake_deeds(&h->fake, FAKE_REAPED, FAKE_LEADER, 0), 1);
    assert_int_equal(fake_lines(&h->saved_events, NULL, "\"verdict\":\"echild\""), 1);
}

static void late_sample(fake_os *fake) {
    fake_sample(fake_harness_of(fake), 10 * S, 100 * MS);
}

static void leader_left_a_daemon(fake_os *fake) {
    fake_add(fake, 101, FAKE_LEADER);
    fake_escape(fake, 101);
}

/* It crossed the stop on its way, and nobody would ever close that window. */
static void a_window_asked_for_during_the_stop_is_aborted_at_once(void **state) {
    fake_harness *h = *state;
    h->fake.on_spawn = leader_left_a_daemon;
    fake_spawn(h);
    fake_after(&h->fake, S, application_stop_is_asked);
    fake_after(&h->fake, 2 * S, late_sample);
    assert_int_equal(run(h), PP_OK);
    assert_int_equal(h->heard[PP_MSG_VERDICT], 1);
    assert_int_equal(fake_lines(&h->events, NULL, "\"kind\":\"window_aborted\""), 1);
    assert_int_equal(fake_lines(&h->events, NULL, "\"kind\":\"window_started\""), 0);
    assert_int_equal(fake_lines(&h->frames, NULL, "\"kind\":\"boundary\""), 0);
}

/* proves: CAN-1 (B20) */
static void a_second_stop_changes_nothing(void **state) {
    fake_harness *h = *state;
    h->fake.on_spawn = leader_is_deaf;
    fake_spawn(h);
    fake_after(&h->fake, S, application_stop_is_asked);
    fake_after(&h->fake, 2 * S, stop_is_asked);
    fake_after(&h->fake, 3 * S, stop_is_asked);
    int64_t start_ns = h->fake.t_ns;
    assert_int_equal(run(h), PP_OK);
    assert_int_equal(fake_deeds(&h->fake, FAKE_GROUP_SIGNALLED, 0, SIGTERM), 0);
    assert_true(first(h, FAKE_GROUP_SIGNALLED, SIGKILL)->t_ns == start_ns + 31 * S);
    assert_int_equal(fake_lines(&h->events, NULL, "\"kind\":\"stop_requested\""), 1);
}

static void output_comes(fake_os *fake) {
    fake_harness_of(fake)->output =
        (pp_output_state){ .stdout_bytes = 5, .stdout_truncated = true };
    fake_harness_of(fake)->output_changed = true;
}

static void captured_output_is_told_when_it_comes(void **state) {
    fake_harness *h = *state;
    fake_spawn(h);
    fake_after(&h->fake, S, output_comes);
    fake_after(&h->fake, 2 * S, harness_dies);
    h->mute = true;
    assert_int_equal(run(h), PP_OK);
    assert_int_equal(h->heard[PP_MSG_OUTPUT], 1);
    assert_int_equal(h->told_output.stdout_bytes, 5);
    assert_true(h->told_output.stdout_truncated);
    assert_false(h->told_output.stderr_truncated);
}

static void output_comes_again(fake_os *fake) {
    fake_harness *h = fake_harness_of(fake);
    h->output.stdout_bytes++;
    h->output_changed = true;
    if (h->output.stdout_bytes < 1000)
        fake_after(fake, MS, output_comes_again);
}

static void harness_reads_again(fake_os *fake) {
    fake_harness_of(fake)->send_max = 0;
}

/* proves: SMP-7 (B18) */
static void output_without_end_does_not_pile_up_for_a_harness_that_does_not_read(void **state) {
    fake_harness *h = *state;
    fake_spawn(h);
    h->send_max = SIZE_MAX;
    fake_after(&h->fake, MS, output_comes_again);
    fake_after(&h->fake, 2 * S, harness_reads_again);
    fake_after(&h->fake, 3 * S, harness_dies);
    assert_int_equal(run(h), PP_OK);
    assert_int_equal(h->told_output.stdout_bytes, 1000);
    assert_in_range(h->heard[PP_MSG_OUTPUT], 1, 2);
}

#define T(test) cmocka_unit_test_setup_teardown(test, fake_harness_set_up, fake_harness_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(a_spawn_is_answered_with_the_leader_and_recorded),
        T(a_failed_spawn_names_its_step_and_starts_nothing),
        T(another_build_gets_an_answer_but_nothing_else),
        T(a_harness_that_leaves_before_the_spawn_leaves_nothing),
        T(nothing_is_believed_before_the_hello),
        T(byte_by_byte_is_as_good_as_at_once),
        T(a_protocol_error_ends_the_tree_and_saves_the_verdict),
        T(a_second_command_is_refused_and_the_first_one_ended),
        T(a_request_that_needs_a_command_is_refused_without_one),
        T(a_window_is_refused_when_nothing_is_tracked_or_one_is_open),
        T(impossible_bytes_end_the_tree),
        T(a_dead_harness_means_term_one_second_kill_and_a_saved_verdict),
        T(a_dead_harness_takes_escapees_along_where_orphans_are_ours),
        T(without_adoption_a_dead_harness_leaves_escapees_and_lists_them),
        T(a_harness_that_dies_while_stopping_shortens_the_grace),
        T(a_harness_that_dies_while_escapees_are_awaited_takes_them_along),
        T(latest_end_ends_the_tree_by_itself),
        T(latest_end_does_not_disturb_a_stop_that_was_asked_for),
        T(a_verdict_that_nobody_acknowledged_is_saved),
        T(a_save_that_fails_for_a_moment_neither_loses_nor_doubles_a_record),
        T(frames_that_cannot_be_saved_are_named_as_lost),
        T(a_protocol_error_after_the_verdict_does_not_lose_it),
        T(a_harness_that_does_not_read_disturbs_neither_frames_nor_the_stop),
        T(a_host_that_cannot_wait_still_ends_the_tree),
        T(a_host_that_never_waits_again_kills_what_is_deaf),
        T(a_window_asked_for_during_the_stop_is_aborted_at_once),
        T(a_second_stop_changes_nothing),
        T(captured_output_is_told_when_it_comes),
        T(output_without_end_does_not_pile_up_for_a_harness_that_does_not_read),
    };
    return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}
