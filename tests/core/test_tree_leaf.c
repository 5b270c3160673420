/* SPDX-License-Identifier: Apache-2.0 */
/* The tracker with a cgroup of the tree's own: who is found through it, who left it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_tree.h"

#define CHILD 101
#define STRANGER 300
#define BORN_INSIDE 301
#define MS UINT64_C(1000000)

static int set_up(void **state) {
    fake_tree *f = fake_tree_begin(state, true, NULL);

    fake_give_leaf(&f->fake);
    fake_add(&f->fake, CHILD, FAKE_LEADER);
    return 0;
}

static const pp_frame *sample(fake_tree *f) {
    pp_frame_reset(&f->frame);
    pp_tree_sample(&f->tree, 0, &f->frame);
    return &f->frame;
}

static ptrdiff_t place(const fake_tree *f, int32_t pid) {
    for (size_t i = 0; i < f->frame.proc_count; i++)
        if (f->frame.procs[i].info.id.pid == pid)
            return (ptrdiff_t)i;
    return -1;
}

static void fails(fake_tree *f, fake_call call, int32_t pid, pp_status status) {
    fake_rule_add(
        &f->fake,
        (fake_rule){
            .call = call, .pid = pid, .times = FAKE_FOREVER, .status = status, .sys_errno = EIO });
}

/* Below processes that are none of ours, in groups of their own. */
static void add_inside(fake_tree *f, int32_t pid, int32_t ppid) {
    fake_proc *proc = fake_add(&f->fake, pid, ppid);
    proc->info.pgid = proc->info.sid = pid;
}

/* proves: MET-7 */
static void the_leafs_total_is_in_every_frame(void **state) {
    fake_tree *f = *state;
    fake_burn(&f->fake, FAKE_LEADER, 5 * MS);
    fake_burn(&f->fake, CHILD, 2 * MS);
    const pp_frame *frame = sample(f);
    assert_true(frame->has_leaf);
    assert_true(frame->leaf.cpu_ns.known && frame->leaf.cpu_ns.value == 7 * MS);
    assert_int_equal(frame->strays, 0);
    assert_int_equal(frame->leaf.anon_bytes.why, PP_E_UNSUPPORTED);
}

static void without_a_leaf_the_frame_has_none(void **state) {
    fake_tree *f = *state;
    pp_os_without_leaf(&f->fake.os);
    assert_false(sample(f)->has_leaf);
    assert_int_equal(f->frame.proc_count, 2);
    assert_int_equal(f->frame.enumeration, PP_OK);
}

/* proves: TRK-4, GRP-10 */
static void a_child_of_a_stranger_is_found_inside_parents_first(void **state) {
    fake_tree *f = *state;
    add_inside(f, BORN_INSIDE, STRANGER); /* listed before its parent */
    add_inside(f, STRANGER, 1);
    (void)sample(f);
    assert_int_equal(f->frame.enumeration, PP_OK);
    assert_true(place(f, STRANGER) > 0);
    assert_true(place(f, STRANGER) < place(f, BORN_INSIDE));
    assert_true(f->frame.procs[place(f, BORN_INSIDE)].escaped);
}

/* Neither the leaf says of the child whether it is inside, nor its parent that it is its child.
 * proves: TRK-4 */
static void one_on_the_leafs_list_is_claimed_by_its_parent_on_it(void **state) {
    fake_tree *f = *state;
    add_inside(f, BORN_INSIDE, STRANGER); /* listed before its parent */
    add_inside(f, STRANGER, 1);
    fails(f, FAKE_LEAF_HOLDS, BORN_INSIDE, PP_E_DENIED);
    fails(f, FAKE_LIST_CHILDREN, STRANGER, PP_E_ENUMERATION);
    (void)sample(f);
    assert_true(place(f, STRANGER) > 0);
    assert_true(place(f, STRANGER) < place(f, BORN_INSIDE));
}

/* proves: TRK-1, TRK-4 */
static void a_listed_number_that_is_not_inside_any_more_is_a_strangers(void **state) {
    fake_tree *f = *state;
    add_inside(f, STRANGER, 1);
    fails(f, FAKE_LEAF_HOLDS, STRANGER, PP_E_STALE);
    (void)sample(f);
    assert_int_equal(place(f, STRANGER), -1);
    assert_int_equal(f->frame.proc_count, 2);
}

/* proves: TRK-4 */
static void who_is_outside_is_not_found_through_the_leaf(void **state) {
    fake_tree *f = *state;
    add_inside(f, STRANGER, 1);
    fake_find(&f->fake, STRANGER)->outside = true;
    (void)sample(f);
    assert_int_equal(place(f, STRANGER), -1);
}

/* proves: TRK-3, MET-7 */
static void a_member_that_moved_out_is_a_stray_and_counted_once_for_good(void **state) {
    fake_tree *f = *state;
    assert_int_equal(sample(f)->strays, 0);
    fake_find(&f->fake, CHILD)->outside = true;
    assert_int_equal(sample(f)->strays, 1);
    assert_int_equal(sample(f)->strays, 1);
    assert_true(place(f, CHILD) > 0); /* still owned */
    fake_exit(&f->fake, CHILD, 0);
    assert_int_equal(sample(f)->strays, 1);
}

/* proves: TRK-3 */
static void a_stray_that_ends_unseen_is_known_by_its_zombie(void **state) {
    fake_tree *f = *state;
    pp_exit exit;
    fake_proc *orphan = fake_add(&f->fake, BORN_INSIDE, FAKE_SELF);
    pp_proc_id id = orphan->info.id;
    orphan->outside = true;
    fake_exit(&f->fake, BORN_INSIDE, 0);
    assert_int_equal(pp_tree_reap(&f->tree, id, &exit, NULL), PP_OK);
    assert_int_equal(sample(f)->strays, 1);
}

/* proves: TRK-3, TRK-6 */
static void who_cannot_be_looked_at_is_no_stray_and_is_asked_again(void **state) {
    fake_tree *f = *state;
    fake_find(&f->fake, CHILD)->outside = true;
    fake_rule_add(&f->fake, (fake_rule){ .call = FAKE_LEAF_HOLDS,
                                         .pid = CHILD,
                                         .times = 1,
                                         .status = PP_E_DENIED,
                                         .sys_errno = EACCES });
    assert_int_equal(sample(f)->strays, 0);
    assert_int_equal(sample(f)->strays, 1);
}

/* proves: TRK-6, MET-6 */
static void without_the_leafs_list_its_total_is_not_known(void **state) {
    fake_tree *f = *state;
    fails(f, FAKE_LEAF_LIST, 0, PP_E_ENUMERATION);
    const pp_frame *frame = sample(f);
    assert_true(frame->has_leaf);
    assert_false(frame->leaf.cpu_ns.known);
    assert_int_equal(frame->leaf.cpu_ns.why, PP_E_ENUMERATION);
    assert_false(frame->leaf.user_ns.known || frame->leaf.system_ns.known);
    assert_int_equal(frame->enumeration, PP_OK); /* the walk was whole */
    assert_true(frame->conservation.cpu_ns.known);
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, fake_tree_tear_down)
    const struct CMUnitTest tests[] = {
        T(the_leafs_total_is_in_every_frame),
        T(without_a_leaf_the_frame_has_none),
        T(a_child_of_a_stranger_is_found_inside_parents_first),
        T(one_on_the_leafs_list_is_claimed_by_its_parent_on_it),
        T(a_listed_number_that_is_not_inside_any_more_is_a_strangers),
        T(who_is_outside_is_not_found_through_the_leaf),
        T(a_member_that_moved_out_is_a_stray_and_counted_once_for_good),
        T(a_stray_that_ends_unseen_is_known_by_its_zombie),
        T(who_cannot_be_looked_at_is_no_stray_and_is_asked_again),
        T(without_the_leafs_list_its_total_is_not_known),
    };
    return cmocka_run_group_tests_name("tree_leaf", tests, NULL, NULL);
}
