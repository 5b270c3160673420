/* SPDX-License-Identifier: Apache-2.0 */
/* Trees that change faster than they are looked at: what is kept of many escapes, in which order
 * members stand, and where a pass ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_tree.h"

#define MS INT64_C(1000000)

enum { FIRST = 200, LAST = PP_TREE_ESCAPES_MAX - 1 };

static void escape(fake_tree *f, int32_t from, int32_t to) {
    for (int32_t pid = from; pid <= to; pid++) {
        fake_add(&f->fake, pid, FAKE_SELF);
        fake_escape(&f->fake, pid);
    }
}

static int32_t recorded(const fake_tree *f, size_t index) {
    return f->tree.escape_records[index].info.id.pid;
}

/* proves: TRK-4 */
static void one_that_lives_takes_the_place_of_the_latest_that_ended(void **state) {
    fake_tree *f = *state;
    escape(f, FIRST, FIRST + PP_TREE_ESCAPES_MAX - 1);
    assert_int_equal(fake_tree_discover(f), PP_OK);
    fake_exit(&f->fake, FIRST, 0);
    fake_exit(&f->fake, FIRST + 10, 0);
    pp_pid_list own = { 0 };
    size_t at = 0;
    assert_int_equal(f->fake.os.list_own_children(&f->fake, &own, NULL), PP_OK);
    pp_tree_reap_adopted(&f->tree, &own, &at, INT64_MAX);
    pp_pid_list_done(&own);
    assert_int_equal(recorded(f, LAST), FIRST); /* who came last was looked at first */
    assert_true(f->tree.escape_records[LAST].over && f->tree.escape_records[LAST - 10].over);

    escape(f, 300, 300);
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_int_equal(recorded(f, LAST), 300);
    assert_int_equal(recorded(f, LAST - 10), FIRST + 10);
    escape(f, 301, 302);
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_int_equal(recorded(f, LAST - 10), 302);
    assert_int_equal(f->tree.escapes, PP_TREE_ESCAPES_MAX + 3);
    for (size_t i = 0; i < PP_TREE_ESCAPES_MAX; i++) /* who lives gives way to nobody */
        assert_false(f->tree.escape_records[i].over);
}

/* proves: TRK-4 */
static void one_that_ended_takes_nobodys_place(void **state) {
    fake_tree *f = *state;
    escape(f, FIRST, FIRST + 9);
    for (int32_t pid = FIRST; pid < FIRST + 10; pid++)
        fake_exit(&f->fake, pid, 0);
    assert_int_equal(fake_tree_discover(f), PP_OK); /* reaped, never met */
    assert_true(f->tree.escape_records[9].over);
    escape(f, 300, 300 + PP_TREE_ESCAPES_MAX - 11);
    assert_int_equal(fake_tree_discover(f), PP_OK);
    escape(f, 400, 400);
    fake_exit(&f->fake, 400, 0);
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_int_equal(f->tree.escapes, PP_TREE_ESCAPES_MAX + 1);
    for (size_t i = 0; i < PP_TREE_ESCAPES_MAX; i++)
        assert_int_not_equal(recorded(f, i), 400);
}

static void orphans_end(fake_tree *f, int count) {
    for (int i = 0; i < count; i++) {
        fake_add(&f->fake, FIRST, FAKE_SELF);
        fake_escape(&f->fake, FIRST);
        fake_burn(&f->fake, FIRST, 7);
        fake_exit(&f->fake, FIRST, 0);
        assert_int_equal(fake_tree_discover(f), PP_OK);
        f->fake.proc_count--; /* room for the next */
    }
}

/* proves: TRK-4, TRK-5 */
static void of_a_crowd_of_orphans_the_first_are_told_of_and_all_are_booked(void **state) {
    fake_tree *f = *state;
    f->fake.forgets_deeds = true;
    orphans_end(f, PP_TREE_ORPHANS_MAX);
    assert_false(f->tree.lower_bound);
    assert_int_equal(f->tree.exits_dropped, 0);
    orphans_end(f, 10);
    assert_int_equal(f->tree.exit_count, PP_TREE_ORPHANS_MAX);
    assert_int_equal(f->tree.exits_dropped, 10);
    assert_int_equal(f->tree.reaped_cpu_ns, 7 * (PP_TREE_ORPHANS_MAX + 10));
    assert_int_equal(f->tree.escapes, PP_TREE_ORPHANS_MAX + 10);
    assert_true(f->tree.lower_bound);
    pp_frame_reset(&f->frame);
    pp_tree_sample(&f->tree, 0, &f->frame);
    orphans_end(f, 1); /* a new frame, new records */
    assert_int_equal(f->tree.exit_count, 1);
}

/* Ends in the middle of a pass leave the others where they stood. proves: TRK-2 */
static void members_keep_their_order_when_others_end(void **state) {
    fake_tree *f = *state;
    for (int32_t pid = FIRST; pid < FIRST + 40; pid++)
        fake_add(&f->fake, pid, FAKE_LEADER);
    assert_int_equal(fake_tree_discover(f), PP_OK);
    for (int32_t pid = FIRST; pid < FIRST + 40; pid++)
        if (pid % 3 > 0)
            fake_find(&f->fake, pid)->gone = true;
    pp_frame_reset(&f->frame);
    pp_tree_sample(&f->tree, 0, &f->frame);
    assert_int_equal(f->tree.over, 0);
    assert_int_equal(f->frame.exit_count, 27);
    assert_int_equal(f->tree.count, 14);
    assert_int_equal(f->frame.proc_count, 14);
    for (size_t i = 0; i < 14; i++) {
        int32_t pid = f->tree.members[i].info.id.pid;
        assert_int_equal(f->frame.procs[i].info.id.pid, pid);
        assert_true(i == 0 ? pid == FAKE_LEADER : pid % 3 == 0);
        assert_true(i < 2 || pid > f->tree.members[i - 1].info.id.pid);
    }
    int32_t eighth = f->tree.members[7].info.id.pid;
    fake_exit(&f->fake, eighth, 0); /* found by number, still */
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_int_equal(f->tree.count, 13);
    for (size_t i = 0; i < 13; i++)
        assert_int_not_equal(f->tree.members[i].info.id.pid, eighth);
}

/* The youngest forks; an identity is read slower than that. */
static void somebody_forks(fake_os *fake) {
    int32_t youngest = fake->procs[fake->proc_count - 1].info.id.pid;
    if (fake->proc_count < 100)
        fake_add(fake, youngest + 1, youngest);
}

/* proves: TRK-2 */
static void a_chain_that_forks_faster_than_we_look_is_not_followed_for_ever(void **state) {
    fake_tree *f = *state;
    f->fake.call_ns = MS;
    fake_add(&f->fake, FIRST, FAKE_LEADER);
    fake_rule_add(
        &f->fake,
        (fake_rule){ .call = FAKE_IDENTIFY, .times = FAKE_FOREVER, .change = somebody_forks });
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_true(f->tree.count >= 2 && f->tree.count <= 4);
    size_t found = f->tree.count;
    assert_int_equal(fake_tree_discover(f), PP_OK); /* those that are old enough by now */
    assert_true(f->tree.count > found);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fake_tree_set_up, fake_tree_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(one_that_lives_takes_the_place_of_the_latest_that_ended),
        T(one_that_ended_takes_nobodys_place),
        T(of_a_crowd_of_orphans_the_first_are_told_of_and_all_are_booked),
        T(members_keep_their_order_when_others_end),
        T(a_chain_that_forks_faster_than_we_look_is_not_followed_for_ever),
    };
    return cmocka_run_group_tests_name("tree_crowd", tests, NULL, NULL);
}
