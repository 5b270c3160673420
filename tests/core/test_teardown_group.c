/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor's second look at members of the group, on a fake host. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_left_the_group_since_it_was_listed_is_no_member),
    };
    return cmocka_run_group_tests_name("teardown_group", tests, NULL, NULL);
}
