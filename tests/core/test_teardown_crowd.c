/* SPDX-License-Identifier: Apache-2.0 */
/* Ending crowds on a fake host: nobody is killed twice for nothing, and looks do not take all of
 * the time. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_harness.h"
#include "loop.h"

#define MS INT64_C(1000000)
#define S (1000 * MS)

enum { HELPER = 102 };

static int begin(void **state, bool adopts) {
    fake_harness_begin(state, adopts)->spawn.reap_escapees = true;
    return 0;
}

static int set_up(void **state) {
    return begin(state, true);
}

static int set_up_without_adoption(void **state) {
    return begin(state, false);
}

static unsigned waits_before; /* the stop was asked for */

static void stop(fake_os *fake) {
    waits_before = fake->calls[FAKE_WAIT];
    fake_stop(fake_harness_of(fake), false, 2 * S, 5 * S);
}

static void helper_escapes(fake_os *fake) {
    fake_add(fake, HELPER, FAKE_LEADER);
    fake_escape(fake, HELPER);
}

static void immortal_helper(fake_os *fake) {
    helper_escapes(fake);
    fake_find(fake, HELPER)->immortal = true;
}

static void run(fake_harness *h, fake_change tree) {
    h->fake.on_spawn = tree;
    fake_spawn(h);
    fake_after(&h->fake, S, stop);
    assert_int_equal(pp_loop_run(&h->fake.os, FAKE_BUILD, NULL), PP_OK);
    assert_int_equal(h->heard[PP_MSG_VERDICT], 1);
}

/* proves: CAN-3 */
static void one_that_was_sent_sigkill_is_not_sent_it_again(void **state) {
    fake_harness *h = *state;
    run(h, immortal_helper);
    assert_int_equal(fake_deeds(&h->fake, FAKE_SIGNALLED, HELPER, SIGKILL), 1);
    assert_int_equal(h->verdict, PP_VERDICT_LEFT_RUNNING);
}

/* proves: CAN-3 */
static void a_refused_sigkill_is_tried_again_and_told_of_once(void **state) {
    fake_harness *h = *state;
    fake_rule_add(&h->fake, (fake_rule){ .call = FAKE_SIGNAL,
                                         .pid = HELPER,
                                         .times = 3,
                                         .status = PP_E_DENIED,
                                         .sys_errno = EPERM });
    run(h, helper_escapes);
    assert_int_equal(fake_deeds(&h->fake, FAKE_SIGNALLED, HELPER, SIGKILL), 4);
    assert_int_equal(h->verdict, PP_VERDICT_GROUP_EMPTY);
    assert_int_equal(fake_lines(&h->events, "\"target\":\"escapee\"", "\"errno\":\"EPERM\""), 1);
    assert_int_equal(fake_lines(&h->events, NULL, "\"target\":\"escapee\""), 1);
}

/* Whoever hangs in the kernel is not hurried: 5 s of verification, 1 to 100 ms apart. */
static void sweeps_get_rare_while_nobody_ends(void **state) {
    fake_harness *h = *state;
    run(h, immortal_helper);
    assert_int_equal(h->verdict, PP_VERDICT_LEFT_RUNNING);
    assert_in_range(h->fake.calls[FAKE_KILL_CHILDREN], 100, 400);
}

static void deaf_leader(fake_os *fake) {
    fake_find(fake, FAKE_LEADER)->deaf = true;
}

static void something_is_printed(fake_os *fake) {
    fake_harness_of(fake)->output_changed = true; /* wakes the loop at once */
}

/* proves: SMP-8 */
static void looks_that_take_long_leave_time_for_other_things(void **state) {
    fake_harness *h = *state;
    h->fake.forgets_deeds = true;
    h->spawn.track = false;
    h->fake.call_ns = 2 * MS;
    fake_rule_add(
        &h->fake,
        (fake_rule){ .call = FAKE_WAIT, .times = FAKE_FOREVER, .change = something_is_printed });
    run(h, deaf_leader);
    assert_int_equal(h->verdict, PP_VERDICT_ECHILD);
    assert_true(h->fake.calls[FAKE_LIST_GROUP] > 10);
    unsigned lists = h->fake.calls[FAKE_LIST_GROUP];
    unsigned waits = h->fake.calls[FAKE_WAIT] - waits_before;
    assert_true(waits > 2 * lists);
}

#define T(test) cmocka_unit_test_setup_teardown(test, set_up, fake_harness_tear_down)
#define T_MAC(test)                                                                                \
    cmocka_unit_test_setup_teardown(test, set_up_without_adoption, fake_harness_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        T_MAC(one_that_was_sent_sigkill_is_not_sent_it_again),
        T_MAC(a_refused_sigkill_is_tried_again_and_told_of_once),
        T(sweeps_get_rare_while_nobody_ends),
        T(looks_that_take_long_leave_time_for_other_things),
    };
    return cmocka_run_group_tests_name("teardown_crowd", tests, NULL, NULL);
}
