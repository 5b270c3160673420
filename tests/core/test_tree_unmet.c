/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of a list that could not be looked at: they may leave every list before a look succeeds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_tree.h"

#define MS INT64_C(1000000)

enum { CHILD = 101, GRANDCHILD, REFUSALS = 2 };

/* A member of the group, that long in the world, of whom the first looks are refused. */
static fake_proc *unreadable_child(fake_tree *f, int64_t age_ns) {
    fake_proc *child = fake_add(&f->fake, CHILD, 1);
    f->fake.t_ns += age_ns;
    fake_rule_add(&f->fake, (fake_rule){ .call = FAKE_IDENTIFY,
                                         .pid = CHILD,
                                         .times = REFUSALS,
                                         .status = PP_E_DENIED });
    return child;
}

static int set_up(void **state) {
    (void)fake_tree_begin(state, false, NULL);
    return 0;
}

static void leave_the_group(fake_proc *child) {
    child->info.pgid = CHILD;
}

/* proves: GRP-2, TRK-2 */
static void whoever_was_listed_is_asked_for_until_a_look_succeeds(void **state) {
    fake_tree *f = *state;
    fake_proc *child = unreadable_child(f, 20 * MS);
    assert_int_equal(fake_tree_discover(f), PP_E_DENIED);
    leave_the_group(child);
    f->fake.t_ns += 20 * MS;
    assert_int_equal(fake_tree_discover(f), PP_E_DENIED);
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_int_equal(f->tree.count, 2);
    assert_int_equal(f->tree.unmet_count, 0);
    assert_int_equal(f->tree.escapes, 1);
}

static void whoever_is_gone_before_a_look_succeeds_is_no_doubt_any_more(void **state) {
    fake_tree *f = *state;
    fake_proc *child = unreadable_child(f, 20 * MS);
    assert_int_equal(fake_tree_discover(f), PP_E_DENIED);
    leave_the_group(child);
    assert_int_equal(fake_tree_discover(f), PP_E_DENIED);
    assert_int_equal(f->tree.unmet_count, 1);
    child->gone = true;
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_int_equal(f->tree.count, 1);
    assert_int_equal(f->tree.unmet_count, 0);
}

static void whoever_was_born_after_the_list_is_a_stranger(void **state) {
    fake_tree *f = *state;
    fake_proc *child = unreadable_child(f, 20 * MS);
    assert_int_equal(fake_tree_discover(f), PP_E_DENIED);
    leave_the_group(child);
    assert_int_equal(fake_tree_discover(f), PP_E_DENIED);
    child->info.start_ns = (uint64_t)(f->fake.t_ns + f->fake.asleep_ns) + 1;
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_int_equal(f->tree.count, 1);
    assert_int_equal(f->tree.unmet_count, 0);
}

/* Starts come in ticks: it may be the one that was listed. It is not signalled, and not forgotten.
 */
static void whoever_was_born_in_that_tick_stays_a_doubt(void **state) {
    fake_tree *f = *state;
    fake_proc *child = unreadable_child(f, 5 * MS);
    assert_int_equal(fake_tree_discover(f), PP_E_DENIED);
    leave_the_group(child);
    f->fake.t_ns += 100 * MS;
    assert_int_equal(fake_tree_discover(f), PP_E_DENIED);
    for (int i = 0; i < 3; i++)
        assert_int_equal(fake_tree_discover(f), PP_E_UNVERIFIED);
    assert_int_equal(f->tree.count, 1);
    assert_int_equal(f->tree.unmet_count, 1);
    child->gone = true;
    assert_int_equal(fake_tree_discover(f), PP_OK);
}

/* It was looked at, and its parent, whose child it would be, was not.
 * proves: GRP-2 */
static void whose_parent_cannot_be_read_now_is_a_doubt_and_no_stranger(void **state) {
    fake_tree *f = *state;
    fake_add(&f->fake, CHILD, 1);
    fake_rule_add(&f->fake, (fake_rule){ .call = FAKE_INSPECT,
                                         .pid = FAKE_LEADER,
                                         .times = 2,
                                         .status = PP_E_MALFORMED });
    assert_int_not_equal(fake_tree_discover(f), PP_OK);
    assert_int_equal(f->tree.count, 1);
    assert_int_equal(f->tree.unmet_count, 1);
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_int_equal(f->tree.count, 2);
    assert_int_equal(f->tree.unmet_count, 0);
}

/* A child whose parent is a member, of a leader that cannot be read in this pass. */
static void discover_under_an_unreadable_leader(fake_tree *f, bool child_listed_first) {
    enum { PARENT = 102 };
    fake_proc *child = child_listed_first ? fake_add(&f->fake, CHILD, PARENT) : NULL;
    fake_add(&f->fake, PARENT, FAKE_LEADER);
    if (!child)
        child = fake_add(&f->fake, CHILD, PARENT);
    child->gone = true;
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_int_equal(f->tree.count, 2);
    child->gone = false;
    f->fake.t_ns += 20 * MS;
    fake_rule_add(&f->fake, (fake_rule){ .call = FAKE_INSPECT,
                                         .pid = FAKE_LEADER,
                                         .times = FAKE_FOREVER,
                                         .status = PP_E_MALFORMED });
    assert_int_not_equal(fake_tree_discover(f), PP_OK);
    f->fake.rule_count = 0;
}

/* With the child listed first, its parent lists it once more in the same pass.
 * proves: TRK-2 */
static void whoever_comes_twice_in_a_pass_is_no_surer_for_it(void **state) {
    fake_tree *f = *state;
    discover_under_an_unreadable_leader(f, true);
    assert_int_equal(f->tree.count, 2);
    assert_int_equal(f->tree.unmet_count, 1);
    f->fake.t_ns += 20 * MS;
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_int_equal(f->tree.count, 3);
}

static void whoever_comes_once_in_a_pass_is_as_sure(void **state) {
    fake_tree *f = *state;
    discover_under_an_unreadable_leader(f, false);
    assert_int_equal(f->tree.count, 2);
    assert_int_equal(f->tree.unmet_count, 1);
}

/* The number of a member that ended belongs to a child of one that is met only after it. */
static void a_number_that_was_taken_again_is_met_in_the_pass_that_meets_its_parent(void **state) {
    fake_tree *f = *state;
    enum { OTHER = 102 };
    fake_add(&f->fake, CHILD, FAKE_LEADER);
    assert_int_equal(fake_tree_discover(f), PP_OK);
    fake_find(&f->fake, CHILD)->gone = true;
    fake_add(&f->fake, OTHER, FAKE_LEADER)->info.pgid = OTHER;
    leave_the_group(fake_add(&f->fake, CHILD, OTHER));
    pp_frame_reset(&f->frame);
    pp_tree_sample(&f->tree, 0, &f->frame);
    assert_int_equal(f->frame.enumeration, PP_OK);
    assert_int_equal(f->tree.count, 3);
    assert_int_equal(f->frame.proc_count, 3);
}

/* The one that is asked for first is no child of a member yet. */
static void a_doubt_is_settled_by_a_parent_that_is_met_after_it(void **state) {
    fake_tree *f = *state;
    fake_proc *grandchild = fake_add(&f->fake, GRANDCHILD, CHILD); /* listed before its parent */
    (void)fake_add(&f->fake, CHILD, FAKE_LEADER);
    f->fake.t_ns += 5 * MS;
    fake_rule_add(
        &f->fake,
        (fake_rule){ .call = FAKE_INSPECT, .pid = FAKE_LEADER, .times = 3, .status = PP_E_DENIED });
    assert_int_not_equal(fake_tree_discover(f), PP_OK);
    assert_int_equal(f->tree.unmet_count, 2);
    grandchild->info.pgid = GRANDCHILD;
    f->fake.t_ns += 20 * MS;
    fake_rule_add(
        &f->fake,
        (fake_rule){ .call = FAKE_LIST_GROUP, .times = FAKE_FOREVER, .status = PP_E_ENUMERATION });
    fake_rule_add(&f->fake, (fake_rule){ .call = FAKE_LIST_CHILDREN,
                                         .times = FAKE_FOREVER,
                                         .status = PP_E_ENUMERATION });
    assert_int_equal(fake_tree_discover(f), PP_E_ENUMERATION);
    assert_int_equal(f->tree.unmet_count, 0);
    assert_int_equal(f->tree.count, 3);
}

/* Its list was read by a number that may be a stranger's by then. It is not signalled for it.
 * proves: TRK-1 */
static void a_child_of_whoever_has_a_members_number_is_a_doubt_for_good(void **state) {
    fake_tree *f = *state;
    (void)fake_add(&f->fake, CHILD, FAKE_LEADER);
    assert_int_equal(fake_tree_discover(f), PP_OK);
    fake_exit(&f->fake, CHILD, 0);
    fake_proc *stranger = fake_add(&f->fake, CHILD, 1);
    fake_proc *its_child = fake_add(&f->fake, GRANDCHILD, CHILD);
    stranger->info.pgid = stranger->info.sid = CHILD;
    its_child->info.pgid = its_child->info.sid = CHILD;
    f->fake.t_ns += 20 * MS;
    fake_rule_add(
        &f->fake,
        (fake_rule){ .call = FAKE_INSPECT, .pid = CHILD, .times = 2, .status = PP_E_DENIED });
    assert_int_equal(fake_tree_discover(f), PP_E_UNVERIFIED);
    for (int pass = 0; pass < 2; pass++) {
        f->fake.t_ns += 20 * MS;
        assert_int_equal(fake_tree_discover(f), PP_E_UNVERIFIED);
        assert_int_equal(f->tree.count, 1);
        assert_int_equal(f->tree.unmet_count, 1);
    }
    fake_exit(&f->fake, GRANDCHILD, 0);
    assert_int_equal(fake_tree_discover(f), PP_OK);
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, fake_tree_tear_down)
    const struct CMUnitTest tests[] = {
        T(whoever_was_listed_is_asked_for_until_a_look_succeeds),
        T(whoever_is_gone_before_a_look_succeeds_is_no_doubt_any_more),
        T(whoever_was_born_after_the_list_is_a_stranger),
        T(whoever_was_born_in_that_tick_stays_a_doubt),
        T(whose_parent_cannot_be_read_now_is_a_doubt_and_no_stranger),
        T(whoever_comes_twice_in_a_pass_is_no_surer_for_it),
        T(whoever_comes_once_in_a_pass_is_as_sure),
        T(a_number_that_was_taken_again_is_met_in_the_pass_that_meets_its_parent),
        T(a_doubt_is_settled_by_a_parent_that_is_met_after_it),
        T(a_child_of_whoever_has_a_members_number_is_a_doubt_for_good),
    };
#undef T
    return cmocka_run_group_tests_name("tree_unmet", tests, NULL, NULL);
}
