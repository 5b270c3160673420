/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_tree.h"
#include "tree_private.h"

#define PARENT 101
#define CHILD 102
#define OTHER 103

static int set_up(void **state) {
    fake_tree *f = fake_tree_begin(state, true, NULL);

    fake_add(&f->fake, PARENT, FAKE_LEADER);
    fake_add(&f->fake, CHILD, PARENT);
    return 0;
}

static bool is_lower_bound(fake_tree *f) {
    pp_frame_reset(&f->frame);
    pp_tree_sample(&f->tree, 0, &f->frame);
    return f->frame.conservation.lower_bound;
}

static size_t told(const fake_tree *f, int32_t pid) {
    return fake_tree_events(f, PP_TREE_DISCARDS, pid);
}

static fake_proc *at(fake_tree *f, int32_t pid) {
    return fake_find(&f->fake, pid);
}

static void child_ends(fake_os *fake) {
    fake_exit(fake, CHILD, 0);
}

/* proves: MET-7, TRK-5 */
static void a_parent_that_discards_a_child_makes_the_total_a_lower_bound_for_good(void **state) {
    fake_tree *f = *state;
    at(f, PARENT)->discards = true;
    assert_false(is_lower_bound(f));
    fake_exit(&f->fake, CHILD, 0);
    assert_true(is_lower_bound(f));
    assert_int_equal(told(f, PARENT), 1);
    fake_add(&f->fake, OTHER, PARENT);
    assert_true(is_lower_bound(f));
    fake_exit(&f->fake, OTHER, 0);
    assert_true(is_lower_bound(f));
    assert_int_equal(told(f, PARENT), 1); /* once */
    fake_exit(&f->fake, PARENT, 0);
    assert_true(is_lower_bound(f));
}

/* proves: MET-7 */
static void a_parent_that_waits_for_its_children_is_no_reason(void **state) {
    fake_tree *f = *state;
    for (int32_t pid = 200; pid < 220; pid++) {
        fake_add(&f->fake, pid, PARENT)->usage.faults = pp_known((uint64_t)pid);
        assert_false(is_lower_bound(f));
        at(f, pid)->usage.faults.value += 7; /* after it was read */
        fake_exit(&f->fake, pid, 0);
    }
    assert_false(is_lower_bound(f));
    fake_exit(&f->fake, CHILD, 0);
    fake_exit(&f->fake, PARENT, 0);
    assert_false(is_lower_bound(f));
}

/* The figures of a child that ended in the pass came after its parent was read. */
static void a_child_waited_for_in_the_pass_is_no_reason_and_a_discarded_one_is(void **state) {
    fake_tree *f = *state;
    for (fake_call call = FAKE_INSPECT; call <= FAKE_USAGE; call++) {
        at(f, PARENT)->discards = call == FAKE_USAGE;
        assert_false(is_lower_bound(f));
        fake_rule_add(&f->fake,
                      (fake_rule){ .call = call, .pid = CHILD, .times = 1, .change = child_ends });
        assert_int_equal(is_lower_bound(f), call == FAKE_USAGE);
        (void)fake_add(&f->fake, CHILD, PARENT);
    }
}

/* proves: MET-7 */
static void what_one_child_was_waited_for_does_not_pay_for_another(void **state) {
    fake_tree *f = *state;
    fake_add(&f->fake, OTHER, PARENT);
    assert_false(is_lower_bound(f));
    fake_exit(&f->fake, OTHER, 0);
    at(f, PARENT)->discards = true;
    fake_exit(&f->fake, CHILD, 0);
    assert_true(is_lower_bound(f));
}

/* Its children went to somebody else, who waited for them; or it was not read. */
static void a_parent_that_ends_or_cannot_be_read_proves_nothing(void **state) {
    fake_tree *f = *state;
    static const pp_status why[] = { PP_E_VANISHED, PP_E_UNSUPPORTED, PP_E_DENIED };
    for (size_t i = 0; i < sizeof why / sizeof *why; i++) {
        int32_t pid = 300 + (int32_t)i;
        fake_add(&f->fake, pid, PARENT);
        assert_false(is_lower_bound(f));
        at(f, PARENT)->discards = true;
        at(f, PARENT)->usage.child_faults = pp_missing(why[i]);
        fake_exit(&f->fake, pid, 0);
        assert_false(is_lower_bound(f));
        at(f, PARENT)->usage.child_faults = pp_known(0);
    }
    assert_false(is_lower_bound(f));
}

static void a_child_without_a_fault_or_a_reading_of_them_proves_nothing(void **state) {
    fake_tree *f = *state;
    at(f, PARENT)->discards = true;
    at(f, CHILD)->usage.faults = pp_known(0);
    fake_add(&f->fake, OTHER, PARENT)->usage.faults =
        (pp_reading){ .value = 7, .why = PP_E_UNSUPPORTED };
    assert_false(is_lower_bound(f));
    fake_exit(&f->fake, CHILD, 0);
    fake_exit(&f->fake, OTHER, 0);
    assert_false(is_lower_bound(f));
}

/* Another process has its number, or it is about to be given free: nobody owes for it yet. */
static void a_child_whose_number_is_anothers_proves_nothing(void **state) {
    fake_tree *f = *state;
    at(f, PARENT)->discards = true;
    assert_false(is_lower_bound(f));
    fake_rule_add(
        &f->fake,
        (fake_rule){ .call = FAKE_INSPECT, .pid = CHILD, .times = 1, .status = PP_E_STALE });
    assert_false(is_lower_bound(f));
}

static void a_child_that_went_to_another_parent_is_owed_by_that_one(void **state) {
    fake_tree *f = *state;
    fake_add(&f->fake, OTHER, FAKE_LEADER);
    assert_false(is_lower_bound(f));
    at(f, CHILD)->info.ppid = OTHER;
    at(f, CHILD)->info.start_ns++;
    assert_false(is_lower_bound(f));
    fake_exit(&f->fake, CHILD, 0);
    assert_false(is_lower_bound(f));
    assert_int_equal(told(f, PARENT), 0);
}

static void nobody_owes_to_who_is_older(void **state) {
    fake_tree *f = *state;
    at(f, PARENT)->discards = true;
    assert_false(is_lower_bound(f));
    at(f, PARENT)->info.start_ns = at(f, CHILD)->info.start_ns + 1;
    assert_false(is_lower_bound(f));
    fake_exit(&f->fake, CHILD, 0);
    assert_false(is_lower_bound(f));
}

/* proves: GRP-4 */
static void what_we_reap_ourselves_is_nobodys_debt(void **state) {
    fake_tree *f = *state;
    pp_exit exit;
    assert_false(is_lower_bound(f));
    fake_exit(&f->fake, PARENT, 0);
    fake_exit(&f->fake, CHILD, 0);
    assert_int_equal(pp_tree_reap(&f->tree, at(f, CHILD)->info.id, &exit, NULL), PP_OK);
    assert_false(is_lower_bound(f));
    assert_int_equal(f->event_count, 0);
}

/* ---- the sums alone ---- */

static pp_tree_member ended(int32_t parent, uint64_t faults, uint64_t before) {
    return (pp_tree_member){ .parent = { .pid = parent, .start = 5 },
                             .parent_child_faults = pp_known(before),
                             .usage.faults = pp_known(faults) };
}

static void all_children_together_are_owed_since_the_earliest_look(void **state) {
    (void)state;
    pp_debts debts = { 0 };
    pp_tree_member members[] = { ended(7, 10, 1000), ended(7, 5, 990), ended(8, 1, 0) };
    pp_proc_id seven = { .pid = 7, .start = 5 }, other_seven = { .pid = 7, .start = 6 };
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(pp__debts_add(&debts, &members[i]), PP_OK);
    members[0].parent.pid = 9;
    members[0].parent_child_faults = (pp_reading){ .value = 7, .why = PP_E_DENIED };
    assert_int_equal(pp__debts_add(&debts, &members[0]), PP_OK);
    assert_int_equal(debts.count, 2);
    assert_true(pp__debts_unpaid(&debts, seven, pp_known(990)));
    assert_true(pp__debts_unpaid(&debts, seven, pp_known(1004)));
    assert_false(pp__debts_unpaid(&debts, seven, pp_known(1005)));
    assert_false(pp__debts_unpaid(&debts, seven, pp_known(989))); /* it fell: no counter of that */
    assert_false(pp__debts_unpaid(&debts, seven, pp_missing(PP_E_DENIED)));
    assert_false(pp__debts_unpaid(&debts, other_seven, pp_known(990)));
    pp__debts_done(&debts);
    assert_false(pp__debts_unpaid(&debts, seven, pp_known(990)));
}

static void more_parents_than_there_was_room_for_are_kept_apart(void **state) {
    (void)state;
    pp_debts debts = { 0 };
    for (int32_t pid = 1; pid <= 100; pid++) {
        pp_tree_member member = ended(pid, (uint64_t)pid, 50);
        assert_int_equal(pp__debts_add(&debts, &member), PP_OK);
    }
    for (int32_t pid = 1; pid <= 100; pid++) {
        pp_proc_id id = { .pid = pid, .start = 5 };
        assert_true(pp__debts_unpaid(&debts, id, pp_known(49 + (uint64_t)pid)));
        assert_false(pp__debts_unpaid(&debts, id, pp_known(50 + (uint64_t)pid)));
    }
    pp__debts_done(&debts);
}

#define T(test) cmocka_unit_test_setup_teardown(test, set_up, fake_tree_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(a_parent_that_discards_a_child_makes_the_total_a_lower_bound_for_good),
        T(a_parent_that_waits_for_its_children_is_no_reason),
        T(a_child_waited_for_in_the_pass_is_no_reason_and_a_discarded_one_is),
        T(what_one_child_was_waited_for_does_not_pay_for_another),
        T(a_parent_that_ends_or_cannot_be_read_proves_nothing),
        T(a_child_without_a_fault_or_a_reading_of_them_proves_nothing),
        T(a_child_whose_number_is_anothers_proves_nothing),
        T(a_child_that_went_to_another_parent_is_owed_by_that_one),
        T(nobody_owes_to_who_is_older),
        T(what_we_reap_ourselves_is_nobodys_debt),
        cmocka_unit_test(all_children_together_are_owed_since_the_earliest_look),
        cmocka_unit_test(more_parents_than_there_was_room_for_are_kept_apart),
    };
    return cmocka_run_group_tests_name("tree_discards", tests, NULL, NULL);
}
