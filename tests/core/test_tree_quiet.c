/* SPDX-License-Identifier: Apache-2.0 */
/* While the kernel's notices say that nobody was born or ended, no list of children is read, for at
 * most a second, and never again once they proved wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_tree.h"

#define MS INT64_C(1000000)

enum { CHILD = 101, GRANDCHILD, LATER };

static bool lost;           /* notices, from now on */
static unsigned untold;     /* births of which no notice came so far */
static fake_proc *in_birth; /* on no list yet */

static pp_notices told(void *ctx) {
    const fake_os *fake = ctx;
    pp_notices notices = { .births = pp_known(fake->proc_count - untold) };

    if (lost)
        return (pp_notices){ .births = pp_missing(PP_E_ENUMERATION) };
    for (size_t i = 0; i < fake->proc_count; i++)
        notices.ends += fake->procs[i].gone || fake->procs[i].info.phase == PP_PHASE_ZOMBIE;
    return notices;
}

static int set_up(void **state) {
    fake_tree *f = fake_tree_begin(state, true, NULL);
    f->fake.os.notices = told;
    fake_add(&f->fake, CHILD, FAKE_LEADER);
    lost = false;
    untold = 0;
    return 0;
}

/* How many processes were asked for their children in this pass. */
static unsigned asked(fake_tree *f, int64_t memory_budget_ns) {
    unsigned before = f->fake.calls[FAKE_LIST_CHILDREN];
    f->fake.t_ns += 50 * MS;
    pp_frame_reset(&f->frame);
    pp_tree_sample(&f->tree, memory_budget_ns, &f->frame);
    return f->fake.calls[FAKE_LIST_CHILDREN] - before;
}

/* proves: TRK-2, SMP-2 */
static void nobody_is_asked_again_while_nobody_is_born_or_ends(void **state) {
    fake_tree *f = *state;
    assert_int_equal(asked(f, 0), 2);
    fake_burn(&f->fake, CHILD, 7);
    unsigned used = f->fake.calls[FAKE_USAGE];
    assert_int_equal(asked(f, 0), 0);
    assert_int_equal(f->fake.calls[FAKE_USAGE], used + 2);
    assert_int_equal(f->frame.enumeration, PP_OK);
    assert_int_equal(f->frame.proc_count, 2);
    assert_int_equal(f->frame.procs[1].usage.cpu_ns.value, 7);
    assert_int_equal(f->frame.births.value, 2);
}

static void a_birth_is_looked_for_and_met(void **state) {
    fake_tree *f = *state;
    (void)asked(f, 0);
    fake_add(&f->fake, GRANDCHILD, CHILD);
    f->fake.t_ns += 20 * MS;
    assert_int_equal(asked(f, 0), 3);
    assert_int_equal(f->frame.proc_count, 3);
    assert_int_equal(asked(f, 0), 0);
}

static void an_end_before_a_pass_makes_it_ask(void **state) {
    fake_tree *f = *state;
    fake_add(&f->fake, GRANDCHILD, CHILD);
    f->fake.t_ns += 20 * MS;
    (void)asked(f, 0);
    fake_exit(&f->fake, GRANDCHILD, 0);
    assert_int_equal(asked(f, 0), 2);
    assert_int_equal(asked(f, 0), 0);
}

static void child_exits(fake_os *fake) {
    fake_exit(fake, CHILD, 0);
}

static void leader_forks(fake_os *fake) {
    fake_add(fake, LATER, FAKE_LEADER);
}

/* What it leaves may go to somebody whose children were listed already. */
static void a_pass_in_which_somebody_ends_has_not_met_everybody(void **state) {
    fake_tree *f = *state;
    fake_add(&f->fake, GRANDCHILD, CHILD);
    fake_rule_add(
        &f->fake,
        (fake_rule){ .call = FAKE_USAGE, .pid = FAKE_LEADER, .times = 1, .change = child_exits });
    (void)asked(f, 0);
    assert_int_not_equal(asked(f, 0), 0);
    assert_int_equal(asked(f, 0), 0);
}

static void a_pass_in_which_somebody_is_born_has_not_met_everybody(void **state) {
    fake_tree *f = *state;
    fake_rule_add(
        &f->fake,
        (fake_rule){ .call = FAKE_USAGE, .pid = FAKE_LEADER, .times = 1, .change = leader_forks });
    assert_int_equal(asked(f, 0), 2);
    assert_int_equal(asked(f, 0), 3);
    assert_int_equal(f->frame.proc_count, 3);
}

static void a_pass_with_a_list_that_failed_has_not_met_everybody(void **state) {
    fake_tree *f = *state;
    fake_add(&f->fake, GRANDCHILD, CHILD);
    f->fake.t_ns += 20 * MS;
    fake_rule_add(&f->fake, (fake_rule){ .call = FAKE_LIST_CHILDREN,
                                         .pid = CHILD,
                                         .times = 1,
                                         .status = PP_E_ENUMERATION });
    assert_int_equal(asked(f, 0), 2);
    assert_int_equal(f->frame.enumeration, PP_E_ENUMERATION);
    assert_int_equal(asked(f, 0), 3);
    assert_int_equal(f->frame.proc_count, 3);
}

static void a_pass_that_leaves_a_doubt_has_not_met_everybody(void **state) {
    fake_tree *f = *state;
    fake_add(&f->fake, GRANDCHILD, CHILD);
    f->fake.t_ns += 20 * MS;
    fake_rule_add(
        &f->fake,
        (fake_rule){ .call = FAKE_IDENTIFY, .pid = GRANDCHILD, .times = 1, .status = PP_E_DENIED });
    (void)asked(f, 0);
    assert_int_equal(f->tree.unmet_count, 1);
    assert_int_equal(asked(f, 0), 3);
    assert_int_equal(asked(f, 0), 0);
}

static void a_memory_pass_believes_no_notice(void **state) {
    fake_tree *f = *state;
    (void)asked(f, 0);
    assert_int_equal(asked(f, 0), 0);
    assert_int_equal(asked(f, 100 * MS), 2);
    assert_int_equal(asked(f, 0), 0);
}

/* One whose birth was noticed by nobody. */
static fake_proc *born_in_silence(fake_tree *f, int32_t pid, int32_t ppid) {
    fake_proc *proc = fake_add(&f->fake, pid, ppid);
    proc->hidden = true;
    return proc;
}

static void notices_are_believed_for_a_second(void **state) {
    fake_tree *f = *state;
    fake_proc *orphan = born_in_silence(f, GRANDCHILD, FAKE_SELF);
    (void)asked(f, 0);
    orphan->hidden = false;
    unsigned own = f->fake.calls[FAKE_LIST_OWN];
    for (int pass = 1; pass < 20; pass++)
        assert_int_equal(asked(f, 0), 0);
    assert_int_equal(f->fake.calls[FAKE_LIST_OWN], own);
    assert_int_equal(f->frame.proc_count, 2);
    assert_true(f->frame.births.known);
    assert_int_equal(asked(f, 0), 3);
    assert_int_equal(f->frame.proc_count, 3);
    assert_false(f->frame.births.known);
    assert_int_equal(f->frame.births.why, PP_E_ENUMERATION);
    assert_int_equal(asked(f, 0), 3);
    assert_int_equal(asked(f, 0), 3);
}

static void a_look_without_counters_asks_everybody(void **state) {
    fake_tree *f = *state;
    (void)asked(f, 0);
    unsigned before = f->fake.calls[FAKE_LIST_CHILDREN];
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_int_equal(f->fake.calls[FAKE_LIST_CHILDREN], before + 2);
}

static void without_notices_everybody_is_asked(void **state) {
    fake_tree *f = *state;
    (void)asked(f, 0);
    lost = true;
    assert_int_equal(asked(f, 0), 2);
    assert_int_equal(asked(f, 0), 2);
    assert_false(f->frame.births.known);
    assert_int_equal(f->frame.births.why, PP_E_ENUMERATION);
}

/* It is noticed after the pass began and stands on the leaf's list, which is read always. */
static void a_birth_during_a_quiet_pass_is_counted_when_it_is_met(void **state) {
    fake_tree *f = *state;
    fake_give_leaf(&f->fake);
    (void)asked(f, 0);
    assert_int_equal(asked(f, 0), 0);
    fake_rule_add(&f->fake,
                  (fake_rule){ .call = FAKE_LEAF_LIST, .times = 1, .change = leader_forks });
    (void)asked(f, 0);
    assert_int_equal(f->frame.proc_count, 3);
    assert_true(f->frame.births.known);
    assert_int_equal(f->frame.births.value, 3);
    assert_int_equal(asked(f, 0), 3);
    assert_int_equal(asked(f, 0), 0);
}

/* The leaf, which is listed always, shows two, and no notice tells of them. */
static void whoever_is_met_without_a_notice_ends_the_belief_in_them(void **state) {
    fake_tree *f = *state;
    fake_give_leaf(&f->fake);
    fake_proc *orphan = born_in_silence(f, GRANDCHILD, FAKE_SELF);
    fake_proc *its_child = born_in_silence(f, LATER, GRANDCHILD);
    f->fake.t_ns += 20 * MS; /* they are no newborns */
    (void)asked(f, 0);
    orphan->hidden = its_child->hidden = false;
    assert_int_equal(asked(f, 0), 2); /* the orphan and its child */
    assert_int_equal(f->frame.proc_count, 4);
    assert_false(f->frame.births.known);
    assert_int_equal(asked(f, 0), 4);
    assert_int_equal(asked(f, 0), 4);
}

static void birth_is_over(fake_os *fake) {
    (void)fake;
    in_birth->hidden = false;
    untold = 0;
}

/* A machine that is busy may stop a birth half way: its time is told, and nothing else yet. */
static void a_notice_that_comes_during_the_pass_is_not_lost(void **state) {
    fake_tree *f = *state;
    (void)asked(f, 0);
    in_birth = born_in_silence(f, GRANDCHILD, CHILD);
    untold = 1;
    (void)asked(f, 0);
    fake_rule_add(&f->fake,
                  (fake_rule){ .call = FAKE_LIST_OWN, .times = 1, .change = birth_is_over });
    (void)asked(f, 100 * MS);
    assert_int_equal(f->frame.proc_count, 3);
    assert_int_equal(fake_tree_events(f, PP_TREE_LATE, GRANDCHILD), 1);
    assert_true(f->frame.births.known);
    assert_int_equal(f->frame.births.value, 3);
}

/* One is found late, and after it one of whom nobody can say so. */
static void one_of_two_that_came_without_a_notice_is_enough(void **state) {
    fake_tree *f = *state;
    fake_proc *late = born_in_silence(f, GRANDCHILD, CHILD);
    (void)asked(f, 0);
    f->fake.t_ns += 45 * MS;
    (void)fake_add(&f->fake, LATER, GRANDCHILD);
    untold = 1;
    late->hidden = false;
    (void)asked(f, 100 * MS);
    assert_int_equal(f->frame.proc_count, 4);
    assert_int_equal(fake_tree_events(f, PP_TREE_LATE, LATER), 0);
    assert_false(f->frame.births.known);
}

/* What it starts is noticed as little. */
static void one_that_was_moved_into_the_leaf_came_without_a_notice(void **state) {
    fake_tree *f = *state;
    fake_give_leaf(&f->fake);
    fake_proc *moved = fake_add(&f->fake, GRANDCHILD, 1);
    moved->info.pgid = moved->info.sid = GRANDCHILD;
    moved->outside = true;
    (void)asked(f, 0);
    moved->outside = false;
    moved->info.start_ns = (uint64_t)(f->fake.t_ns + 45 * MS); /* since the last pass */
    (void)asked(f, 0);
    assert_int_equal(f->frame.proc_count, 3);
    assert_false(f->frame.births.known);
    assert_int_equal(asked(f, 0), 3);
    assert_int_equal(asked(f, 0), 3);
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, fake_tree_tear_down)
    const struct CMUnitTest tests[] = {
        T(nobody_is_asked_again_while_nobody_is_born_or_ends),
        T(a_birth_is_looked_for_and_met),
        T(an_end_before_a_pass_makes_it_ask),
        T(a_pass_in_which_somebody_ends_has_not_met_everybody),
        T(a_pass_in_which_somebody_is_born_has_not_met_everybody),
        T(a_pass_with_a_list_that_failed_has_not_met_everybody),
        T(a_pass_that_leaves_a_doubt_has_not_met_everybody),
        T(a_memory_pass_believes_no_notice),
        T(notices_are_believed_for_a_second),
        T(a_look_without_counters_asks_everybody),
        T(without_notices_everybody_is_asked),
        T(a_birth_during_a_quiet_pass_is_counted_when_it_is_met),
        T(whoever_is_met_without_a_notice_ends_the_belief_in_them),
        T(one_that_was_moved_into_the_leaf_came_without_a_notice),
        T(a_notice_that_comes_during_the_pass_is_not_lost),
        T(one_of_two_that_came_without_a_notice_is_enough),
    };
#undef T
    return cmocka_run_group_tests_name("tree_quiet", tests, NULL, NULL);
}
