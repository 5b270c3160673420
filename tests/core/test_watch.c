/* SPDX-License-Identifier: Apache-2.0 */
/* Exits and frames of the supervisor's loop, on a fake host. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fake_harness.h"
#include "loop_private.h"

#define MS INT64_C(1000000)
#define S (1000 * MS)
#define CHILD 101

static void run(fake_harness *h) {
    assert_int_equal(pp_loop_run(&h->fake.os, FAKE_BUILD, NULL), PP_OK);
}

static void stop_is_asked(fake_os *fake) {
    fake_stop(fake_harness_of(fake), true, 30 * S, 5 * S);
}

static void leader_exits(fake_os *fake) {
    fake_exit(fake, FAKE_LEADER, 3);
}

static void leader_is_stolen(fake_os *fake) {
    fake_steal(fake, FAKE_LEADER);
}

/* "key":<at + ns>, as a line would hold it. */
static const char *time_text(const char *key, int64_t ns) {
    static char text[64];
    (void)snprintf(text, sizeof text, "\"%s\":%lld,", key, (long long)ns);
    return text;
}

static void nothing_is_reaped(fake_os *fake) {
    assert_int_equal(fake_harness_of(fake)->heard[PP_MSG_EXITED], 1);
    assert_int_equal(fake->deed_count, 0);
}

/* proves: GRP-1 */
static void the_leaders_exit_is_told_and_the_leader_stays_pinned(void **state) {
    fake_harness *h = *state;
    fake_spawn(h);
    fake_after(&h->fake, S, leader_exits);
    fake_after(&h->fake, 9 * S, nothing_is_reaped);
    fake_after(&h->fake, 10 * S, stop_is_asked);
    run(h);
    assert_false(h->exit.by_signal);
    assert_int_equal(h->exit.code, 3);
    assert_int_equal(h->heard[PP_MSG_EXITED], 1);
    assert_int_equal(fake_lines(&h->events, "\"kind\":\"leader_exited\"", "\"exit\":{\"code\":3}"),
                     1);
    assert_int_equal(fake_deeds(&h->fake, FAKE_REAPED, FAKE_LEADER, 0), 1);
    /* Frames go on and show it. */
    assert_true(fake_lines(&h->frames, "\"leader\":true", "\"phase\":\"zombie\"") >= 9);
}

/* proves: GRP-7 (B14) */
static void a_leader_reaped_by_somebody_else_is_told_once(void **state) {
    fake_harness *h = *state;
    fake_spawn(h);
    fake_after(&h->fake, S, leader_is_stolen);
    fake_after(&h->fake, 3 * S, stop_is_asked);
    run(h);
    assert_int_equal(h->heard[PP_MSG_EXITED], 0);
    assert_int_equal(fake_lines(&h->events, NULL, "\"kind\":\"leader_reaped_elsewhere\""), 1);
    assert_int_equal(h->verdict, PP_VERDICT_UNVERIFIED);
}

static void orphan_ends(fake_os *fake) {
    fake_add(fake, CHILD, FAKE_SELF);
    fake_burn(fake, CHILD, 77);
    fake_end_by_signal(fake, CHILD, SIGSEGV);
}

/* proves: GRP-10, SMP-4 */
static void an_adopted_child_is_reaped_at_once_and_recorded(void **state) {
    fake_harness *h = *state;
    fake_spawn(h);
    int64_t start_ns = h->fake.t_ns;
    fake_after(&h->fake, S + 10 * MS, orphan_ends);
    fake_after(&h->fake, 3 * S, stop_is_asked);
    run(h);
    size_t at = fake_deed_at(&h->fake, FAKE_REAPED, CHILD, 0);
    assert_int_equal(at, 0);
    assert_true(h->fake.deeds[0].t_ns == start_ns + S + 10 * MS);
    assert_int_equal(fake_lines(&h->frames, "\"pid\":101", "\"signal\":\"SIGSEGV\""), 1);
    assert_true(fake_lines(&h->frames, NULL, "\"reaped_cpu_ns\":77") >= 1);
}

static void hundreds_end(fake_os *fake) {
    for (int32_t pid = 200; pid < 900; pid++) {
        fake_add(fake, pid, FAKE_SELF);
        fake_escape(fake, pid);
        fake_exit(fake, pid, 0);
    }
    fake->call_ns = MS;
    fake->forgets_deeds = true;
    stop_is_asked(fake);
}

static void the_stop_was_heard(fake_os *fake) {
    assert_true(fake->calls[FAKE_REAP_ORPHAN] < 700);
    fake->call_ns = 0;
}

/* proves: SMP-4 */
static void a_stop_is_heard_while_children_end_by_the_hundred(void **state) {
    fake_harness *h = *state;
    fake_spawn(h);
    fake_after(&h->fake, S + 10 * MS, hundreds_end);
    fake_rule_add(
        &h->fake,
        (fake_rule){ .call = FAKE_SIGNAL_GROUP, .times = 1, .change = the_stop_was_heard });
    run(h);
    assert_int_equal(h->fake.call_ns, 0);
    assert_int_equal(h->verdict, PP_VERDICT_ECHILD);
}

static void orphan_comes(fake_os *fake) {
    fake_add(fake, CHILD, FAKE_SELF);
}

static void known_orphan_ends(fake_os *fake) {
    fake_rule_add(fake, (fake_rule){ .call = FAKE_IDENTIFY,
                                     .pid = CHILD,
                                     .times = FAKE_FOREVER,
                                     .status = PP_E_DENIED });
    fake_exit(fake, CHILD, 0);
}

/* proves: GRP-10 */
static void an_adopted_member_is_reaped_without_being_identified_again(void **state) {
    fake_harness *h = *state;
    fake_spawn(h);
    fake_after(&h->fake, S / 2, orphan_comes);
    fake_after(&h->fake, S, known_orphan_ends);
    fake_after(&h->fake, 3 * S, stop_is_asked);
    run(h);
    assert_int_equal(fake_deed_at(&h->fake, FAKE_REAPED, CHILD, 0), 0);
    assert_int_equal(h->verdict, PP_VERDICT_ECHILD);
}

static unsigned observed[2]; /* questions about the leader at the beginning and the end of 2 s */

static void note_first(fake_os *fake) {
    observed[0] = fake->calls[FAKE_OBSERVE];
}

static void note_last(fake_os *fake) {
    observed[1] = fake->calls[FAKE_OBSERVE];
}

/* proves: SMP-2 */
static void while_no_child_ended_children_are_asked_once_a_second(void **state) {
    fake_harness *h = *state;
    fake_spawn(h);
    fake_sample(h, 3 * S, 50 * MS);
    fake_after(&h->fake, S / 2, note_first);
    fake_after(&h->fake, S / 2 + 2 * S, note_last);
    fake_after(&h->fake, 4 * S, stop_is_asked);
    run(h);
    assert_int_equal(h->window_frames, 61);
    assert_in_range(observed[1] - observed[0], 1, 3);
}

/* proves: SMP-3 */
static void a_window_has_a_boundary_its_ticks_and_a_closing_frame_on_schedule(void **state) {
    fake_harness *h = *state;
    fake_spawn(h);
    fake_sample(h, 350 * MS, 100 * MS);
    int64_t start_ns = h->fake.t_ns;
    fake_after(&h->fake, S, stop_is_asked);
    run(h);
    assert_int_equal(h->window_frames, 5);
    assert_int_equal(h->window_missed, 0);
    assert_int_equal(fake_lines(&h->frames, NULL, "\"window\":1}"), 5);
    static const struct {
        int64_t at;
        const char *kind;
    } wanted[] = {
        { 0, "boundary" }, { 100, "tick" }, { 200, "tick" }, { 300, "tick" }, { 350, "closing" }
    };
    for (size_t i = 0; i < 5; i++) {
        char kind[32];
        (void)snprintf(kind, sizeof kind, "\"kind\":\"%s\"", wanted[i].kind);
        assert_int_equal(
            fake_lines(&h->frames, time_text("scheduled_ns", start_ns + wanted[i].at * MS), kind),
            1);
    }
    assert_int_equal(
        fake_lines(&h->events, "\"kind\":\"window_started\"", "\"duration_ns\":350000000"), 1);
    assert_int_equal(fake_lines(&h->events, "\"kind\":\"window_done\"", "\"frames\":5"), 1);
}

/* proves: MET-3 */
static void memory_is_read_at_both_ends_and_once_a_second_between(void **state) {
    fake_harness *h = *state;
    fake_spawn(h);
    fake_sample(h, 2500 * MS, 100 * MS);
    fake_after(&h->fake, 4 * S, stop_is_asked);
    run(h);
    assert_int_equal(h->window_frames, 26);
    /* 0, 1 s, 2 s and the end */
    assert_int_equal(fake_lines(&h->frames, "\"memory_pass\":true", "\"window\":1}"), 4);
    assert_int_equal(fake_lines(&h->frames, "\"memory_pass\":true", "\"window\":0}"), 0);
}

/* proves: MET-3 */
static void memory_is_read_in_every_frame_of_a_slow_window(void **state) {
    fake_harness *h = *state;
    fake_spawn(h);
    fake_sample(h, 6 * S, 2 * S);
    fake_after(&h->fake, 7 * S, stop_is_asked);
    run(h);
    assert_int_equal(fake_lines(&h->frames, "\"memory_pass\":true", "\"window\":1}"), 4);
}

/* How long the closing frame of a window waits for memory figures at most. */
static int64_t memory_budget_ns(int64_t interval_ns) {
    void *state;
    assert_int_equal(fake_harness_set_up(&state), 0);
    fake_harness *h = state;
    fake_spawn(h);
    fake_sample(h, 2 * interval_ns, interval_ns);
    int64_t end_ns = h->fake.t_ns + 2 * interval_ns;
    fake_after(&h->fake, 2 * interval_ns + S, stop_is_asked);
    run(h);
    int64_t budget_ns = h->fake.memory_deadline_ns - end_ns;
    assert_int_equal(fake_harness_tear_down(&state), 0);
    return budget_ns;
}

/* proves: MET-3 */
static void memory_is_given_an_interval_within_bounds(void **state) {
    (void)state;
    assert_int_equal(memory_budget_ns(50 * MS), 75 * MS); /* a gap of 100 ms is the limit */
    assert_int_equal(memory_budget_ns(200 * MS), 250 * MS);
    assert_int_equal(memory_budget_ns(400 * MS), 400 * MS);
    assert_int_equal(memory_budget_ns(5 * S), S);
}

static void stall(fake_os *fake) {
    fake->t_ns += 350 * MS;
}

/* proves: SMP-3 (B13) */
static void B13_after_a_stall_one_frame_is_taken_and_the_missed_ones_are_counted(void **state) {
    fake_harness *h = *state;
    fake_spawn(h);
    fake_sample(h, S, 100 * MS);
    int64_t start_ns = h->fake.t_ns;
    /* Usage is read at 0, 50 (tracking) and 100 ms: that read lasts until 450 ms. */
    fake_rule_add(&h->fake,
                  (fake_rule){ .call = FAKE_USAGE, .skip = 2, .times = 1, .change = stall });
    fake_after(&h->fake, 2 * S, stop_is_asked);
    run(h);
    assert_int_equal(h->window_missed, 2); /* 200 and 300; 400 is the one taken */
    assert_int_equal(h->window_frames, 9);
    assert_int_equal(
        fake_lines(&h->frames, time_text("scheduled_ns", start_ns + 400 * MS), "\"missed\":2"), 1);
    assert_int_equal(fake_lines(&h->frames, time_text("scheduled_ns", start_ns + 400 * MS),
                                time_text("t_ns", start_ns + 450 * MS)),
                     1);
    assert_int_equal(fake_lines(&h->frames, time_text("scheduled_ns", start_ns + 500 * MS),
                                time_text("t_ns", start_ns + 500 * MS)),
                     1);
    assert_int_equal(fake_lines(&h->events, "\"kind\":\"window_done\"", "\"missed\":2"), 1);
}

static void long_stall(fake_os *fake) {
    fake->t_ns += 5 * S;
}

/* proves: SMP-3 */
static void a_stall_over_the_end_still_closes_the_window(void **state) {
    fake_harness *h = *state;
    fake_spawn(h);
    fake_sample(h, S, 100 * MS);
    fake_rule_add(&h->fake,
                  (fake_rule){ .call = FAKE_USAGE, .skip = 2, .times = 1, .change = long_stall });
    fake_after(&h->fake, 9 * S, stop_is_asked);
    run(h);
    assert_int_equal(h->window_frames, 3); /* 0, 100 ms, the end */
    assert_int_equal(h->window_missed, 8); /* 200 to 900 ms */
    assert_int_equal(fake_lines(&h->frames, "\"kind\":\"closing\"", "\"missed\":8"), 1);
}

static void second_window_is_asked(fake_os *fake) {
    fake_harness *h = fake_harness_of(fake);
    assert_int_equal(h->heard[PP_MSG_WINDOW], 1);
    fake_sample(h, 100 * MS, 100 * MS);
}

static void a_second_window_may_follow_the_first(void **state) {
    fake_harness *h = *state;
    fake_spawn(h);
    fake_sample(h, 100 * MS, 100 * MS);
    fake_after(&h->fake, 500 * MS, second_window_is_asked);
    fake_after(&h->fake, S, stop_is_asked);
    run(h);
    assert_int_equal(h->heard[PP_MSG_WINDOW], 2);
}

static void leader_is_deaf(fake_os *fake) {
    fake_find(fake, FAKE_LEADER)->deaf = true;
}

/* proves: CAN-1, CAN-4 */
static void a_stop_aborts_the_window_and_keeps_its_frames(void **state) {
    fake_harness *h = *state;
    h->fake.on_spawn = leader_is_deaf; /* the stop lasts longer than the window would */
    fake_spawn(h);
    fake_sample(h, 10 * S, 100 * MS);
    fake_after(&h->fake, 250 * MS, stop_is_asked);
    run(h);
    assert_int_equal(h->heard[PP_MSG_WINDOW], 0);
    assert_int_equal(fake_lines(&h->events, "\"kind\":\"window_aborted\"", "\"frames\":3"), 1);
    assert_int_equal(fake_lines(&h->frames, NULL, "\"window\":1}"), 3);
    assert_int_equal(fake_lines(&h->frames, NULL, "\"kind\":\"closing\""), 0);
}

/* proves: TRK-2 */
static void tracking_runs_every_50_ms_at_first_and_at_most_a_second_apart_later(void **state) {
    fake_harness *h = *state;
    h->spawn.interval_ns = 10 * S;
    fake_spawn(h);
    int64_t start_ns = h->fake.t_ns;
    fake_after(&h->fake, 4 * S + 500 * MS, stop_is_asked);
    run(h);
    for (int64_t at = 0; at < S; at += 50 * MS)
        assert_int_equal(fake_lines(&h->frames, NULL, time_text("scheduled_ns", start_ns + at)), 1);
    for (int64_t at = S; at <= 4 * S; at += S)
        assert_int_equal(fake_lines(&h->frames, NULL, time_text("scheduled_ns", start_ns + at)), 1);
    /* The last one is taken before the verdict. */
    assert_int_equal(fake_lines(&h->frames, NULL, "\"kind\":\"track\""), 20 + 4 + 1);
}

/* proves: TRK-2 */
static void tracking_follows_a_shorter_interval(void **state) {
    fake_harness *h = *state;
    h->spawn.interval_ns = 250 * MS;
    fake_spawn(h);
    fake_after(&h->fake, 3 * S + 10 * MS, stop_is_asked);
    run(h);
    assert_int_equal(fake_lines(&h->frames, NULL, "\"kind\":\"track\""), 20 + 9 + 1);
}

static void an_untracked_command_has_no_frames_but_a_verdict(void **state) {
    fake_harness *h = *state;
    h->spawn.track = false;
    fake_spawn(h);
    fake_after(&h->fake, 3 * S, leader_exits);
    fake_after(&h->fake, 4 * S, stop_is_asked);
    run(h);
    assert_int_equal(h->heard[PP_MSG_FRAME], 0);
    assert_int_equal(h->heard[PP_MSG_EXITED], 1);
    assert_int_equal(h->verdict, PP_VERDICT_ECHILD);
}

static void child_escapes(fake_os *fake) {
    fake_add(fake, CHILD, FAKE_LEADER);
    fake_escape(fake, CHILD);
}

/* proves: TRK-3 */
static void an_escape_is_an_event_of_its_own(void **state) {
    fake_harness *h = *state;
    fake_spawn(h);
    fake_after(&h->fake, S, child_escapes);
    fake_after(&h->fake, 3 * S, stop_is_asked);
    run(h);
    assert_int_equal(fake_lines(&h->events, "\"kind\":\"escaped\"", "\"pid\":101"), 1);
}

static void sixty_escape(fake_os *fake) {
    fake->proc_count = 1; /* the sixty before are gone */
    for (int32_t pid = 200; pid < 260; pid++) {
        fake_add(fake, pid, FAKE_LEADER);
        fake_escape(fake, pid);
    }
}

/* proves: TRK-4 */
static void events_beyond_the_limit_are_counted_not_told(void **state) {
    fake_harness *h = *state;
    fake_spawn(h);
    for (int i = 0; i < 20; i++)
        fake_after(&h->fake, 10 * MS + i * (50 * MS), sixty_escape);
    fake_after(&h->fake, 3 * S, stop_is_asked);
    run(h);
    size_t told = fake_lines(&h->events, NULL, "\"kind\":\"escaped\"") +
                  fake_lines(&h->events, NULL, "\"kind\":\"reused\"");
    assert_int_equal(told, 1024);
    assert_int_equal(fake_lines(&h->events, "\"kind\":\"verdict\"", "\"escapees_total\":1200"), 1);
    /* Sixty numbers: each escapes 20 times, is reused 19 times and gets a new parent once. */
    assert_int_equal(fake_lines(&h->events, "\"kind\":\"verdict\"", "\"tree_events\":2400"), 1);
}

/* proves: SMP-3 */
static void a_full_outbox_pauses_sampling_and_the_gap_is_counted(void **state) {
    fake_harness *h = *state;
    pp_loop loop = { .os = &h->fake.os, .request.options.track = true, .next_track_ns = INT64_MAX };
    loop.leader = fake_add(&h->fake, FAKE_LEADER, FAKE_SELF)->info.id;
    pp_tree_init(&loop.tree, loop.os, loop.leader, NULL);
    int64_t start_ns = h->fake.t_ns;
    loop.window = (pp_window_plan){ .open = true,
                                    .id = 1,
                                    .start_ns = start_ns,
                                    .end_ns = start_ns + S,
                                    .interval_ns = 100 * MS,
                                    .memory_every = 10 };
    for (int i = 0; i <= 10; i++) {
        bool full = i >= 3 && i <= 6;
        size_t bytes = loop.out.record_bytes;
        loop.out.record_bytes += full ? PP_OUTBOX_MAX : 0;
        h->fake.t_ns = start_ns + i * (100 * MS);
        assert_true(pp__loop_sample(&loop, h->fake.t_ns) > h->fake.t_ns);
        loop.out.record_bytes -= full ? PP_OUTBOX_MAX : 0;
        assert_true(full == (loop.out.record_bytes == bytes));
    }
    assert_false(loop.window.open);
    assert_int_equal(loop.window.frames, 7);
    assert_int_equal(loop.window.missed, 4);
    assert_int_equal(loop.frames_dropped, 4);
    loop.request.options.track = true;
    loop.out.record_bytes += PP_OUTBOX_MAX;
    uint64_t frames = loop.frames;
    pp__loop_last_frame(&loop); /* tells of those whose frames were dropped */
    assert_int_equal(loop.frames, frames + 1);
    loop.out.record_bytes -= PP_OUTBOX_MAX;
    assert_int_equal(pp__outbox_flush(&loop.out, loop.os, NULL), PP_OK);
    fake_hear(h);
    assert_int_equal(
        fake_lines(&h->frames, time_text("scheduled_ns", start_ns + 700 * MS), "\"missed\":4"), 1);
    assert_int_equal(fake_lines(&h->frames, NULL, "\"missed\":0"), 6 + 1);
    pp__loop_done(&loop);
}

/* proves: MET-3 */
static void a_stall_delays_a_memory_pass_and_never_drops_it(void **state) {
    fake_harness *h = *state;
    pp_loop loop = { .os = &h->fake.os, .request.options.track = true, .next_track_ns = INT64_MAX };
    loop.leader = fake_add(&h->fake, FAKE_LEADER, FAKE_SELF)->info.id;
    pp_tree_init(&loop.tree, loop.os, loop.leader, NULL);
    int64_t start_ns = h->fake.t_ns;
    loop.window = (pp_window_plan){ .open = true,
                                    .id = 1,
                                    .start_ns = start_ns,
                                    .end_ns = start_ns + 3 * S,
                                    .interval_ns = 100 * MS,
                                    .memory_every = 10 };
    static const int due[] = { 0, 5, 12, 13, 20 }; /* nobody ran at 10 */
    for (size_t i = 0; i < sizeof due / sizeof *due; i++) {
        h->fake.t_ns = start_ns + due[i] * (100 * MS);
        (void)pp__loop_sample(&loop, h->fake.t_ns);
    }
    assert_int_equal(pp__outbox_flush(&loop.out, loop.os, NULL), PP_OK);
    fake_hear(h);
    const char *read = "\"memory_pass\":true";
    assert_int_equal(fake_lines(&h->frames, NULL, read), 3);
    assert_int_equal(fake_lines(&h->frames, time_text("scheduled_ns", start_ns + 1200 * MS), read),
                     1);
    assert_int_equal(fake_lines(&h->frames, time_text("scheduled_ns", start_ns + 2000 * MS), read),
                     1);
    pp__loop_done(&loop);
}

#define T(test) cmocka_unit_test_setup_teardown(test, fake_harness_set_up, fake_harness_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(the_leaders_exit_is_told_and_the_leader_stays_pinned),
        T(a_leader_reaped_by_somebody_else_is_told_once),
        T(an_adopted_child_is_reaped_at_once_and_recorded),
        T(a_stop_is_heard_while_children_end_by_the_hundred),
        T(an_adopted_member_is_reaped_without_being_identified_again),
        T(while_no_child_ended_children_are_asked_once_a_second),
        T(a_window_has_a_boundary_its_ticks_and_a_closing_frame_on_schedule),
        T(memory_is_read_at_both_ends_and_once_a_second_between),
        T(memory_is_read_in_every_frame_of_a_slow_window),
        cmocka_unit_test(memory_is_given_an_interval_within_bounds),
        T(B13_after_a_stall_one_frame_is_taken_and_the_missed_ones_are_counted),
        T(a_stall_over_the_end_still_closes_the_window),
        T(a_second_window_may_follow_the_first),
        T(a_stop_aborts_the_window_and_keeps_its_frames),
        T(tracking_runs_every_50_ms_at_first_and_at_most_a_second_apart_later),
        T(tracking_follows_a_shorter_interval),
        T(an_untracked_command_has_no_frames_but_a_verdict),
        T(an_escape_is_an_event_of_its_own),
        T(events_beyond_the_limit_are_counted_not_told),
        T(a_full_outbox_pauses_sampling_and_the_gap_is_counted),
        T(a_stall_delays_a_memory_pass_and_never_drops_it),
    };
    return cmocka_run_group_tests_name("watch", tests, NULL, NULL);
}
