/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor's second look at members of the group, on a fake host. */
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
#define STOP_NS (2 * S)

static void stop(fake_os *fake) {
    fake_stop(fake_harness_of(fake), true, 30 * S, 5 * S);
}

static void leader_left_a_child(fake_os *fake) {
    fake_add(fake, CHILD, FAKE_LEADER);
    fake_exit(fake, FAKE_LEADER, 3);
}

static void child_joins_the_group(fake_os *fake) {
    fake_find(fake, CHILD)->info.pgid = FAKE_LEADER;
}

static void child_leaves_the_group(fake_os *fake) {
    fake_find(fake, CHILD)->info.pgid = CHILD;
}

/* proves: GRP-2 */
static void who_left_the_group_since_it_was_listed_is_no_member(void **state) {
    fake_harness h;
    (void)state;
    fake_harness_init(&h, true);
    fake_rule_add(&h.fake, (fake_rule){ .call = FAKE_LIST_GROUP,
                                        .times = FAKE_FOREVER,
                                        .change = child_joins_the_group });
    fake_rule_add(&h.fake, (fake_rule){ .call = FAKE_IDENTIFY,
                                        .pid = CHILD,
                                        .times = FAKE_FOREVER,
                                        .change = child_leaves_the_group });
    h.fake.on_spawn = leader_left_a_child;
    int64_t stop_ns = h.fake.t_ns + STOP_NS;
    fake_hello(&h, FAKE_BUILD);
    fake_spawn(&h);
    fake_after(&h.fake, STOP_NS, stop);
    assert_int_equal(pp_loop_run(&h.fake.os, FAKE_BUILD, NULL), PP_OK);
    size_t reaped = fake_deed_at(&h.fake, FAKE_REAPED, FAKE_LEADER, 0);
    assert_int_not_equal(reaped, FAKE_MAX_DEEDS);
    assert_true(h.fake.deeds[reaped].t_ns == stop_ns);
    assert_int_equal(fake_deeds(&h.fake, FAKE_GROUP_SIGNALLED, 0, 0), 0);
    assert_false(h.forced);
    assert_int_equal(h.verdict, PP_VERDICT_LEFT_RUNNING);
    fake_harness_done(&h);
}

static void deaf_child(fake_os *fake) {
    fake_add(fake, CHILD, FAKE_LEADER)->deaf = true;
}

static void leader_is_stolen(fake_os *fake) {
    fake_find(fake, FAKE_LEADER)->gone = true;
}

/* proves: GRP-7 */
static void
without_the_leader_whoever_may_have_left_the_group_is_named_and_not_killed(void **state) {
    fake_harness h;
    (void)state;
    fake_harness_init(&h, true);
    fake_rule_add(&h.fake, (fake_rule){ .call = FAKE_INSPECT,
                                        .pid = CHILD,
                                        .times = FAKE_FOREVER,
                                        .status = PP_E_MALFORMED });
    h.fake.on_spawn = deaf_child;
    fake_hello(&h, FAKE_BUILD);
    fake_spawn(&h);
    fake_after(&h.fake, S, leader_is_stolen);
    fake_after(&h.fake, STOP_NS, stop);
    assert_int_equal(pp_loop_run(&h.fake.os, FAKE_BUILD, NULL), PP_OK);
    assert_int_equal(fake_deeds(&h.fake, FAKE_SIGNALLED, CHILD, 0), 0);
    assert_int_equal(h.verdict, PP_VERDICT_UNVERIFIED);
    assert_int_equal(fake_lines(&h.events, "\"kind\":\"verdict\"",
                                "\"unverified\":[{\"exe\":\"/bin/fake\",\"expected\":false,"
                                "\"pgid\":100,\"phase\":\"alive\",\"pid\":101"),
                     1);
    fake_harness_done(&h);
}

enum { PASSING = 20 };

static bool held[PASSING + 1];
static int32_t passing;
static pp_status (*real_identify)(void *, int32_t, pp_proc_info *, pp_error *);

static pp_status identify_and_hold(void *ctx, int32_t pid, pp_proc_info *ret_info,
                                   pp_error *reterr) {
    pp_status status = real_identify(ctx, pid, ret_info, reterr);
    if (pid > CHILD && pid <= CHILD + PASSING)
        held[pid - CHILD] |= status == PP_OK;
    return status;
}

static void let_go(void *ctx, pp_proc_id id) {
    (void)ctx;
    if (id.pid > CHILD && id.pid <= CHILD + PASSING)
        held[id.pid - CHILD] = false;
}

/* One that lives from one look at the group to the next, and is met by none at the tree. */
static void another_passes(fake_os *fake) {
    if (fake_find(fake, CHILD + passing) && passing > 0)
        fake_steal(fake, CHILD + passing);
    fake_add(fake, CHILD + ++passing, 1);
}

/* What was opened to look at a member is not kept for ever, however many there are.
 * proves: GRP-2 */
static void whoever_was_confirmed_and_is_not_on_record_is_let_go(void **state) {
    fake_harness h;
    (void)state;
    fake_harness_init(&h, true);
    passing = 0;
    memset(held, 0, sizeof held);
    real_identify = h.fake.os.identify;
    h.fake.os.identify = identify_and_hold;
    h.fake.os.forget = let_go;
    fake_rule_add(
        &h.fake,
        (fake_rule){ .call = FAKE_LIST_GROUP, .times = PASSING, .change = another_passes });
    h.fake.on_spawn = deaf_child;
    fake_hello(&h, FAKE_BUILD);
    fake_spawn(&h);
    fake_after(&h.fake, STOP_NS, stop);
    assert_int_equal(pp_loop_run(&h.fake.os, FAKE_BUILD, NULL), PP_OK);
    assert_int_equal(passing, PASSING);
    size_t left = 0;
    for (int i = 1; i <= PASSING; i++)
        left += held[i];
    assert_int_equal(left, 0);
    fake_harness_done(&h);
}

/* The leader, a stopped member, one that ended unreaped by its parent, and one outside. */
static void stopped_and_others(fake_os *fake) {
    fake_proc *stopped = fake_add(fake, CHILD, FAKE_LEADER);
    stopped->deaf = true;
    stopped->info.phase = PP_PHASE_STOPPED;
    fake_add(fake, CHILD + 1, FAKE_LEADER)->info.phase = PP_PHASE_ZOMBIE;
    fake_add(fake, CHILD + 2, FAKE_LEADER)->info.pgid = CHILD + 2;
    fake_find(fake, FAKE_LEADER)->deaf = true;
}

/* proves: GRP-4, GRP-12 */
static void a_verdict_names_the_members_that_sigkill_was_needed_for(void **state) {
    fake_harness h;
    (void)state;
    fake_harness_init(&h, true);
    h.fake.on_spawn = stopped_and_others;
    fake_hello(&h, FAKE_BUILD);
    fake_spawn(&h);
    fake_after(&h.fake, STOP_NS, stop);
    assert_int_equal(pp_loop_run(&h.fake.os, FAKE_BUILD, NULL), PP_OK);
    assert_true(h.forced);
    assert_int_equal(fake_lines(&h.events,
                                "\"outlasted\":[{\"exe\":\"/bin/fake\",\"expected\":false,"
                                "\"pgid\":100,\"phase\":\"alive\",\"pid\":100,",
                                "\"phase\":\"stopped\",\"pid\":101,\"start\":1002,\"unique\":0}],"
                                "\"outlasted_total\":2,"),
                     1);
    fake_harness_done(&h);
}

static void deaf_family(fake_os *fake) {
    deaf_child(fake);
    fake_exit(fake, FAKE_LEADER, 0);
}

/* The host finds out at the signal that somebody else reaped the leader.
 * proves: GRP-7, GRP-11 (B14) */
static void a_group_signal_that_is_refused_means_recorded_members_one_by_one(void **state) {
    fake_harness h;
    (void)state;
    fake_harness_init(&h, true);
    fake_rule_add(&h.fake, (fake_rule){ .call = FAKE_SIGNAL_GROUP,
                                        .skip = 1, /* SIGTERM */
                                        .times = FAKE_FOREVER,
                                        .status = PP_E_REFUSED });
    h.fake.on_spawn = deaf_family;
    fake_hello(&h, FAKE_BUILD);
    fake_spawn(&h);
    fake_after(&h.fake, STOP_NS, stop);
    assert_int_equal(pp_loop_run(&h.fake.os, FAKE_BUILD, NULL), PP_OK);
    assert_int_equal(fake_deeds(&h.fake, FAKE_SIGNALLED, CHILD, SIGKILL), 1);
    assert_int_equal(h.verdict, PP_VERDICT_UNVERIFIED);
    assert_int_equal(fake_lines(&h.events, NULL, "\"kind\":\"leader_reaped_elsewhere\""), 1);
    fake_harness_done(&h);
}

static void hop_out(fake_os *fake) {
    child_leaves_the_group(fake);
    fake_find(fake, CHILD)->info.ppid = 1;
}

/* It was on a list once, and is on none any more.
 * proves: GRP-2, GRP-12 */
static void whoever_was_listed_and_never_looked_at_is_named_by_its_number(void **state) {
    fake_harness h;
    (void)state;
    fake_harness_init(&h, false);
    fake_rule_add(&h.fake, (fake_rule){ .call = FAKE_IDENTIFY,
                                        .pid = CHILD,
                                        .times = FAKE_FOREVER,
                                        .status = PP_E_DENIED });
    h.fake.on_spawn = deaf_child;
    fake_hello(&h, FAKE_BUILD);
    fake_spawn(&h);
    fake_after(&h.fake, S, hop_out);
    fake_after(&h.fake, STOP_NS, stop);
    assert_int_equal(pp_loop_run(&h.fake.os, FAKE_BUILD, NULL), PP_OK);
    assert_int_equal(fake_deeds(&h.fake, FAKE_SIGNALLED, CHILD, 0), 0);
    assert_int_equal(h.verdict, PP_VERDICT_UNVERIFIED);
    assert_int_equal(fake_lines(&h.events, "\"recorded_gone\":false",
                                "\"unverified\":[{\"exe\":\"[unread]\",\"expected\":false,"
                                "\"pgid\":0,\"pid\":101,\"start\":0"),
                     1);
    fake_harness_done(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_left_the_group_since_it_was_listed_is_no_member),
        cmocka_unit_test(
            without_the_leader_whoever_may_have_left_the_group_is_named_and_not_killed),
        cmocka_unit_test(whoever_was_confirmed_and_is_not_on_record_is_let_go),
        cmocka_unit_test(a_verdict_names_the_members_that_sigkill_was_needed_for),
        cmocka_unit_test(a_group_signal_that_is_refused_means_recorded_members_one_by_one),
        cmocka_unit_test(whoever_was_listed_and_never_looked_at_is_named_by_its_number),
    };
    return cmocka_run_group_tests_name("teardown_group", tests, NULL, NULL);
}
