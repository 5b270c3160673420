/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_os.h"
#include "sweep.h"

#define OWN_GROUP 50
#define GROUP 200
#define ADOPTED 201
#define OTHER 301
#define MARKED "HOME=/run/home"

static int32_t marked_pid;

static bool started_with(int32_t pid, const char *assignment) {
    return pid == marked_pid && strcmp(assignment, MARKED) == 0;
}

static int set_up(void **state) {
    fake_os *fake = calloc(1, sizeof *fake);
    fake_init(fake, true);
    marked_pid = 0;
    *state = fake;
    return 0;
}

static int tear_down(void **state) {
    free(*state);
    return 0;
}

static fake_proc *adopted(fake_os *fake, int32_t pid, int32_t pgid) {
    fake_proc *proc = fake_add(fake, pid, FAKE_SELF);
    proc->info.pgid = pgid;
    return proc;
}

static bool pass(fake_os *fake, const pp_sweep_order *order, pp_sweep *sweep) {
    bool busy;
    pp_error error = { 0 };
    assert_int_equal(
        pp__sweep_pass(&fake->os, order, OWN_GROUP, started_with, sweep, &busy, &error), PP_OK);
    return busy;
}

/* proves: CAN-5, GRP-10 */
static void a_member_seen_before_is_killed_then_reaped(void **state) {
    fake_os *fake = *state;
    pp_proc_id id = adopted(fake, ADOPTED, ADOPTED)->info.id;
    pp_sweep_order order = { .members = &id, .member_count = 1 };
    pp_sweep sweep = { 0 };

    assert_true(pass(fake, &order, &sweep));
    assert_int_equal(fake_deeds(fake, FAKE_SIGNALLED, ADOPTED, SIGKILL), 1);
    assert_int_equal(sweep.items[0].how, PP_SWEPT_ALIVE);
    assert_true(pass(fake, &order, &sweep));
    assert_int_equal(fake_deeds(fake, FAKE_REAPED, ADOPTED, 0), 1);
    assert_int_equal(sweep.count, 1);
    assert_int_equal(sweep.items[0].how, PP_SWEPT_GONE);
    assert_false(pass(fake, &order, &sweep));
    pp_sweep_done(&sweep);
}

/* proves: CAN-5, TRK-1 */
static void a_reused_number_is_a_stranger(void **state) {
    fake_os *fake = *state;
    pp_proc_id id = adopted(fake, ADOPTED, ADOPTED)->info.id;
    id.start++;
    id.unique = 0;
    pp_sweep_order order = { .members = &id, .member_count = 1 };
    pp_sweep sweep = { 0 };

    assert_false(pass(fake, &order, &sweep));
    assert_int_equal(fake->deed_count, 0);
    assert_int_equal(sweep.items[0].how, PP_SWEPT_STRANGER);
    pp_sweep_done(&sweep);
}

/* proves: CAN-5 */
static void the_group_and_the_mark_tell_the_tree_from_others(void **state) {
    fake_os *fake = *state;
    int32_t group = GROUP;
    adopted(fake, ADOPTED, GROUP);
    adopted(fake, ADOPTED + 1, ADOPTED + 1);
    adopted(fake, OTHER, OTHER);
    marked_pid = ADOPTED + 1;
    pp_sweep_order order = { .groups = &group, .group_count = 1, .assignment = MARKED };
    pp_sweep sweep = { 0 };

    assert_true(pass(fake, &order, &sweep));
    assert_int_equal(fake_deeds(fake, FAKE_SIGNALLED, ADOPTED, SIGKILL), 1);
    assert_int_equal(fake_deeds(fake, FAKE_SIGNALLED, ADOPTED + 1, SIGKILL), 1);
    assert_int_equal(fake_deeds(fake, FAKE_SIGNALLED, OTHER, 0), 0);
    assert_int_equal(sweep.count, 3);
    pp_sweep_done(&sweep);
}

/* proves: CAN-5 */
static void a_child_in_our_own_group_is_never_touched(void **state) {
    fake_os *fake = *state;
    int32_t group = OWN_GROUP;
    pp_proc_id id = adopted(fake, ADOPTED, OWN_GROUP)->info.id;
    marked_pid = ADOPTED;
    pp_sweep_order order = {
        .members = &id, .member_count = 1, .groups = &group, .group_count = 1, .assignment = MARKED
    };
    pp_sweep sweep = { 0 };

    assert_false(pass(fake, &order, &sweep));
    assert_int_equal(fake->deed_count, 0);
    assert_int_equal(sweep.count, 0);
    pp_sweep_done(&sweep);
}

/* proves: CAN-5 */
static void a_list_that_failed_is_no_empty_list(void **state) {
    fake_os *fake = *state;
    pp_sweep_order order = { 0 };
    pp_sweep sweep = { 0 };
    bool busy;
    pp_error error = { 0 };

    fake_rule_add(fake,
                  (fake_rule){ .call = FAKE_LIST_OWN, .times = 1, .status = PP_E_ENUMERATION });
    assert_int_equal(
        pp__sweep_pass(&fake->os, &order, OWN_GROUP, started_with, &sweep, &busy, &error),
        PP_E_ENUMERATION);
    pp_sweep_done(&sweep);
}

/* proves: CAN-5, GRP-3 */
static void
a_child_that_cannot_be_looked_at_is_named_and_keeps_the_sweep_from_an_end(void **state) {
    fake_os *fake = *state;
    pp_proc_id id = adopted(fake, ADOPTED, ADOPTED)->info.id;
    pp_sweep_order order = { .members = &id, .member_count = 1 };
    pp_sweep sweep = { 0 };
    adopted(fake, OTHER, OTHER);
    fake_rule_add(fake, (fake_rule){ .call = FAKE_IDENTIFY,
                                     .pid = ADOPTED,
                                     .times = 2,
                                     .status = PP_E_DENIED,
                                     .sys_errno = EACCES });
    for (int i = 0; i < 2; i++) {
        assert_true(pass(fake, &order, &sweep));
        assert_int_equal(sweep.count, 2); /* once, and the other is met all the same */
        assert_int_equal(sweep.unread.status, PP_E_DENIED);
        assert_int_equal(sweep.unread.sys_errno, EACCES);
        assert_non_null(strstr(sweep.unread.detail, "child 201"));
        size_t at = sweep.items[0].info.id.pid == ADOPTED ? 0 : 1;
        assert_int_equal(sweep.items[at].how, PP_SWEPT_UNVERIFIED);
        assert_string_equal(sweep.items[at].info.exe, "[unread]"); /* as in a verdict */
        assert_int_equal(sweep.items[at].info.id.start, 0);
        assert_string_equal(pp_swept_name(sweep.items[at].how), "unverified");
        assert_int_equal(sweep.items[1 - at].how, PP_SWEPT_STRANGER);
    }
    assert_true(pass(fake, &order, &sweep)); /* now it can be */
    assert_int_equal(fake_deeds(fake, FAKE_SIGNALLED, ADOPTED, SIGKILL), 1);
    assert_int_equal(sweep.unread.status, PP_OK);
    assert_int_equal(sweep.count, 2);
    pp_sweep_done(&sweep);
}

/* proves: CAN-5 */
static void a_child_that_vanished_before_it_was_looked_at_is_over(void **state) {
    fake_os *fake = *state;
    pp_sweep_order order = { 0 };
    pp_sweep sweep = { 0 };
    adopted(fake, ADOPTED, ADOPTED);
    fake_rule_add(fake, (fake_rule){ .call = FAKE_IDENTIFY, .times = 1, .status = PP_E_VANISHED });
    assert_false(pass(fake, &order, &sweep));
    assert_int_equal(sweep.count, 0);
    pp_sweep_done(&sweep);
}

/* proves: CAN-5, GRP-10 */
static void all_in_the_leaf_are_named_and_killed_at_once(void **state) {
    fake_os *fake = *state;
    pp_sweep_order order = { 0 };
    pp_sweep sweep = { 0 };
    fake_give_leaf(fake);
    adopted(fake, ADOPTED, ADOPTED);
    adopted(fake, OTHER, OTHER)->outside = true;
    assert_int_equal(pp__sweep_leaf(&fake->os, &sweep, NULL), PP_OK);
    assert_int_equal(fake_deeds(fake, FAKE_LEAF_KILLED, 0, 0), 1);
    assert_int_equal(sweep.count, 1);
    assert_int_equal(sweep.items[0].info.id.pid, ADOPTED);
    assert_int_equal(sweep.items[0].how, PP_SWEPT_ALIVE);
    assert_true(pass(fake, &order, &sweep)); /* the order names nobody */
    assert_int_equal(sweep.items[0].how, PP_SWEPT_GONE);
    assert_int_equal(fake_deeds(fake, FAKE_REAPED, ADOPTED, 0), 1);
    assert_int_equal(fake_deeds(fake, FAKE_SIGNALLED, 0, 0), 0);
    pp_sweep_done(&sweep);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_member_seen_before_is_killed_then_reaped, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_reused_number_is_a_stranger, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_group_and_the_mark_tell_the_tree_from_others, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_child_in_our_own_group_is_never_touched, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_list_that_failed_is_no_empty_list, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_child_that_cannot_be_looked_at_is_named_and_keeps_the_sweep_from_an_end, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(a_child_that_vanished_before_it_was_looked_at_is_over,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_in_the_leaf_are_named_and_killed_at_once, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
