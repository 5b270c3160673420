/* SPDX-License-Identifier: Apache-2.0 */
/* Ending trees that have a cgroup of their own, on a fake host. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fake_harness.h"
#include "loop.h"

#define S INT64_C(1000000000)
#define CHILD 101
#define DAEMON 102
#define STRANGER 300

static int set_up(void **state) {
    fake_give_leaf(&fake_harness_begin(state, true)->fake);
    return 0;
}

static void app_stop(fake_os *fake) {
    fake_stop(fake_harness_of(fake), false, 30 * S, 5 * S);
}

/* Spawns with `tree` as its first deed, stops it after 2 s; returns how long the stop took. */
static int64_t run(fake_harness *h, fake_change tree) {
    int64_t stop_ns = h->fake.t_ns + 2 * S;
    h->fake.on_spawn = tree;
    fake_spawn(h);
    fake_after(&h->fake, 2 * S, app_stop);
    assert_int_equal(pp_loop_run(&h->fake.os, FAKE_BUILD, NULL), PP_OK);
    assert_int_equal(h->heard[PP_MSG_VERDICT], 1);
    return h->fake.t_ns - stop_ns;
}

static size_t verdict_says(const fake_harness *h, const char *text) {
    return fake_lines(&h->events, "\"kind\":\"verdict\"", text);
}

static void a_child(fake_os *fake) {
    fake_add(fake, CHILD, FAKE_LEADER);
}

static void a_daemon(fake_os *fake) {
    fake_add(fake, DAEMON, FAKE_LEADER);
    fake_escape(fake, DAEMON);
}

/* No descendant of ours, but in the leaf. */
static fake_proc *add_stranger(fake_os *fake) {
    fake_proc *stranger = fake_add(fake, STRANGER, 1);
    stranger->info.pgid = stranger->info.sid = STRANGER;
    return stranger;
}

static void a_stranger_moves_in(fake_os *fake) {
    (void)add_stranger(fake);
}

static void a_hidden_one_moves_in(fake_os *fake) {
    add_stranger(fake)->hidden = true;
}

/* proves: GRP-10, GRP-12 */
static void an_empty_leaf_is_told_beside_the_other_proofs(void **state) {
    fake_harness *h = *state;
    (void)run(h, a_child);
    assert_int_equal(h->verdict, PP_VERDICT_ECHILD);
    assert_true(h->has_leaf);
    assert_int_equal(fake_deeds(&h->fake, FAKE_LEAF_KILLED, 0, 0), 0);
    assert_int_equal(verdict_says(h, "\"cgroup_empty\":true"), 1);
    assert_int_equal(
        fake_lines(&h->events, "\"kind\":\"spawned\"", "\"cgroup\":\"/cgroup/pairperf-50-1-1\""),
        1);
}

/* proves: GRP-12 */
static void without_a_leaf_nothing_is_said_of_one(void **state) {
    fake_harness *h = *state;
    pp_os_without_leaf(&h->fake.os);
    (void)run(h, a_child);
    assert_false(h->has_leaf);
    assert_int_equal(verdict_says(h, "\"cgroup_empty\":null"), 1);
    assert_int_equal(fake_lines(&h->events, "\"kind\":\"spawned\"", "\"cgroup\""), 0);
    assert_true(fake_lines(&h->frames, NULL, "\"cgroup\":null,") > 0);
}

/* proves: GRP-12 */
static void a_leaf_that_cannot_be_read_is_not_called_empty(void **state) {
    fake_harness *h = *state;
    fake_rule_add(&h->fake, (fake_rule){ .call = FAKE_LEAF_EMPTY,
                                         .times = FAKE_FOREVER,
                                         .status = PP_E_SYS,
                                         .sys_errno = ENODEV });
    (void)run(h, a_child);
    assert_int_equal(h->verdict, PP_VERDICT_ECHILD);
    assert_int_equal(verdict_says(h, "\"cgroup_empty\":null"), 1);
}

/* proves: GRP-10, GRP-12 */
static void somebody_unknown_in_the_leaf_forbids_the_kernels_proof(void **state) {
    fake_harness *h = *state;
    assert_true(run(h, a_hidden_one_moves_in) == 30 * S); /* as escapees are awaited */
    assert_int_equal(h->verdict, PP_VERDICT_UNVERIFIED);
    assert_int_equal(fake_deeds(&h->fake, FAKE_SIGNALLED, STRANGER, 0), 0);
    assert_int_equal(verdict_says(h, "\"cgroup_empty\":false"), 1);
    assert_int_equal(verdict_says(h, "\"kernel_childless\":\"ok\""), 1);
}

/* proves: CAN-3, GRP-12, TRK-4 */
static void somebody_found_in_the_leaf_is_listed_as_left_running(void **state) {
    fake_harness *h = *state;
    assert_true(run(h, a_stranger_moves_in) == 30 * S);
    assert_int_equal(h->verdict, PP_VERDICT_LEFT_RUNNING);
    assert_int_equal(fake_deeds(&h->fake, FAKE_SIGNALLED, STRANGER, 0), 0);
    assert_int_equal(verdict_says(h, "\"survivors\":[{\"exe\":\"/bin/fake\",\"expected\":false,"
                                     "\"pgid\":300,\"phase\":\"alive\",\"pid\":300,"),
                     1);
}

/* proves: CAN-3 */
static void the_leaf_is_not_killed_while_escapees_are_only_awaited(void **state) {
    fake_harness *h = *state;
    (void)run(h, a_daemon);
    assert_int_equal(h->verdict, PP_VERDICT_LEFT_RUNNING);
    assert_int_equal(fake_deeds(&h->fake, FAKE_LEAF_KILLED, 0, 0), 0);
}

/* proves: CAN-3, GRP-10 */
static void escapees_to_be_reaped_are_killed_through_the_leaf_once(void **state) {
    fake_harness *h = *state;
    h->spawn.reap_escapees = true;
    (void)run(h, a_daemon);
    assert_int_equal(h->verdict, PP_VERDICT_ECHILD);
    assert_int_equal(fake_deeds(&h->fake, FAKE_LEAF_KILLED, 0, 0), 1);
    assert_int_equal(fake_deeds(&h->fake, FAKE_SIGNALLED, DAEMON, 0), 0);
    assert_int_equal(fake_lines(&h->events, "\"target\":\"cgroup\"", "\"SIGKILL\""), 1);
    assert_int_equal(verdict_says(h, "\"escapees_killed\":true"), 1);
}

static void a_stray_daemon(fake_os *fake) {
    a_daemon(fake);
    fake_find(fake, DAEMON)->outside = true;
}

/* proves: CAN-3, GRP-10 */
static void a_daemon_that_left_the_leaf_is_killed_by_the_sweep(void **state) {
    fake_harness *h = *state;
    h->spawn.reap_escapees = true;
    (void)run(h, a_stray_daemon);
    assert_int_equal(h->verdict, PP_VERDICT_ECHILD);
    assert_true(fake_deed_at(&h->fake, FAKE_LEAF_KILLED, 0, 0) <
                fake_deed_at(&h->fake, FAKE_SIGNALLED, DAEMON, SIGKILL));
    assert_int_equal(fake_deeds(&h->fake, FAKE_SIGNALLED, DAEMON, SIGKILL), 1);
    assert_true(fake_lines(&h->frames, NULL, "\"strays\":1") > 0);
}

/* proves: CAN-3 */
static void a_leaf_that_cannot_be_killed_is_told_and_the_sweep_goes_on(void **state) {
    fake_harness *h = *state;
    h->spawn.reap_escapees = true;
    fake_rule_add(&h->fake, (fake_rule){ .call = FAKE_LEAF_KILL,
                                         .times = FAKE_FOREVER,
                                         .status = PP_E_DENIED,
                                         .sys_errno = EACCES });
    (void)run(h, a_daemon);
    assert_int_equal(h->verdict, PP_VERDICT_ECHILD);
    assert_int_equal(fake_deeds(&h->fake, FAKE_LEAF_KILLED, 0, 0), 1);
    assert_int_equal(fake_deeds(&h->fake, FAKE_SIGNALLED, DAEMON, SIGKILL), 1);
    assert_int_equal(fake_lines(&h->events, "\"target\":\"cgroup\"", "\"EACCES\""), 1);
}

static void the_harness_dies(fake_os *fake) {
    fake_harness_of(fake)->closed = true;
}

/* proves: CAN-5 */
static void a_dead_harness_means_the_leaf_too(void **state) {
    fake_harness *h = *state;
    h->fake.on_spawn = a_daemon;
    fake_spawn(h);
    fake_after(&h->fake, S, the_harness_dies);
    assert_int_equal(pp_loop_run(&h->fake.os, FAKE_BUILD, NULL), PP_OK);
    assert_int_equal(fake_deeds(&h->fake, FAKE_LEAF_KILLED, 0, 0), 1);
    assert_int_equal(fake_lines(&h->saved_events, "\"kind\":\"verdict\"", "\"verdict\":\"echild\""),
                     1);
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, fake_harness_tear_down)
    const struct CMUnitTest tests[] = {
        T(an_empty_leaf_is_told_beside_the_other_proofs),
        T(without_a_leaf_nothing_is_said_of_one),
        T(a_leaf_that_cannot_be_read_is_not_called_empty),
        T(somebody_unknown_in_the_leaf_forbids_the_kernels_proof),
        T(somebody_found_in_the_leaf_is_listed_as_left_running),
        T(the_leaf_is_not_killed_while_escapees_are_only_awaited),
        T(escapees_to_be_reaped_are_killed_through_the_leaf_once),
        T(a_daemon_that_left_the_leaf_is_killed_by_the_sweep),
        T(a_leaf_that_cannot_be_killed_is_told_and_the_sweep_goes_on),
        T(a_dead_harness_means_the_leaf_too),
    };
    return cmocka_run_group_tests_name("teardown_leaf", tests, NULL, NULL);
}
