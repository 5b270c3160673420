/* SPDX-License-Identifier: Apache-2.0 */
/* Orphans that ended before anybody met them, and children by the dozen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_tree.h"

#define MS INT64_C(1000000)

enum { FIRST = 200, ORPHANS = 60, CROWD = 600 };

static int set_up(void **state) {
    fake_tree_begin(state, true, NULL)->fake.forgets_deeds = true;
    return 0;
}

static void orphans_end(fake_tree *f, int count) {
    f->fake.forgets_deeds = true;
    for (int32_t pid = FIRST; pid < FIRST + count; pid++) {
        fake_add(&f->fake, pid, FAKE_SELF)->usage.write_bytes = pp_known(10);
        fake_escape(&f->fake, pid);
        fake_burn(&f->fake, pid, 7);
        fake_exit(&f->fake, pid, 0);
    }
}

/* proves: TRK-2, SMP-4 */
static void an_orphan_that_nobody_met_is_booked_in_one_question(void **state) {
    fake_tree *f = *state;
    orphans_end(f, ORPHANS);
    unsigned identified = f->fake.calls[FAKE_IDENTIFY], used = f->fake.calls[FAKE_USAGE];
    unsigned inspected = f->fake.calls[FAKE_INSPECT];
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_int_equal(f->fake.calls[FAKE_REAP_ORPHAN], ORPHANS);
    assert_int_equal(f->fake.calls[FAKE_OWN_WRITTEN], 2);
    assert_int_equal(f->fake.calls[FAKE_IDENTIFY], identified);
    assert_int_equal(f->fake.calls[FAKE_USAGE], used);
    assert_int_equal(f->fake.calls[FAKE_OBSERVE] + f->fake.calls[FAKE_REAP], 0);
    assert_int_equal(f->fake.calls[FAKE_INSPECT], inspected + 1); /* the leader */
    assert_int_equal(f->tree.count, 1);
    assert_int_equal(f->tree.reaped_cpu_ns, 7 * ORPHANS);
    assert_int_equal(f->tree.reaped_write_bytes, 10 * ORPHANS);
    assert_int_equal(f->tree.escapes, ORPHANS);
    assert_int_equal(f->tree.exit_count, ORPHANS);
    assert_true(f->tree.exits[0].exit_known);
    assert_false(f->tree.exits[0].usage.cpu_ns.known);
}

/* Its end is counted and its use is booked; it is told by its number alone.
 * proves: GRP-12 */
static void an_orphan_that_cannot_be_looked_at_is_counted_without_a_record(void **state) {
    fake_tree *f = *state;
    orphans_end(f, 2);
    fake_find(&f->fake, FIRST + 1)->unreadable = true;
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_int_equal(f->tree.reaped_cpu_ns, 14);
    assert_int_equal(f->tree.escapes, 2);
    assert_int_equal(f->tree.escape_records[0].info.id.pid, FIRST + 1);
    assert_int_equal(f->tree.exits_dropped, 1);
    assert_int_equal(f->tree.exit_count, 1);
    assert_int_equal(f->tree.exits[0].info.id.pid, FIRST);
    assert_true(f->tree.lower_bound);
}

/* What a member wrote is booked once, beside orphans before and after it. */
static void writes_of_members_and_orphans_are_booked_once(void **state) {
    fake_tree *f = *state;
    pp_pid_list own = { 0 };
    size_t at = 0;
    fake_add(&f->fake, FIRST + 30, FAKE_SELF)->usage.write_bytes = pp_known(1000);
    assert_int_equal(fake_tree_discover(f), PP_OK);
    fake_exit(&f->fake, FIRST + 30, 0);
    for (int32_t pid = FIRST; pid < FIRST + ORPHANS; pid += 20) {
        fake_add(&f->fake, pid, FAKE_SELF)->usage.write_bytes = pp_known(10);
        fake_exit(&f->fake, pid, 0);
    }
    static int32_t pids[] = { FIRST, FIRST + 30, FIRST + 20, FIRST + 40 };
    own = (pp_pid_list){ .pids = pids, .count = 4 };
    pp_tree_reap_adopted(&f->tree, &own, &at, INT64_MAX);
    assert_int_equal(at, 4);
    assert_int_equal(f->tree.reaped_write_bytes, 1030);
}

/* proves: SMP-8 */
static void a_portion_ends_and_the_next_goes_on(void **state) {
    fake_tree *f = *state;
    pp_pid_list own = { 0 };
    size_t at = 0;
    orphans_end(f, CROWD);
    assert_int_equal(f->fake.os.list_own_children(&f->fake, &own, NULL), PP_OK);
    f->fake.call_ns = MS;
    for (size_t last = 0; at < own.count; last = at) {
        int64_t start_ns = f->fake.t_ns;
        pp_tree_reap_adopted(&f->tree, &own, &at, start_ns + 5 * MS);
        assert_true(f->fake.t_ns - start_ns <= (PP_TREE_PORTION_MIN + 2) * MS);
        assert_true(at - last >= PP_TREE_PORTION_MIN || at == own.count);
    }
    assert_int_equal(f->tree.reaped_cpu_ns, 7 * CROWD);
    pp_pid_list_done(&own);
}

/* proves: TRK-6 */
static void a_pass_without_time_for_all_says_so_and_the_next_ones_find_them(void **state) {
    fake_tree *f = *state;
    fake_add(&f->fake, FIRST - 1, FAKE_SELF); /* lives, and is looked at last */
    orphans_end(f, CROWD);
    f->fake.call_ns = MS;
    assert_int_equal(fake_tree_discover(f), PP_E_BLOCKED);
    assert_true(f->fake.calls[FAKE_REAP_ORPHAN] < CROWD / 3);
    assert_int_equal(f->tree.count, 2); /* who lives is found nevertheless */
    int passes = 1;
    while (fake_tree_discover(f) != PP_OK)
        assert_true(++passes < 10);
    assert_int_equal(f->tree.reaped_cpu_ns, 7 * CROWD);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, fake_tree_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(an_orphan_that_nobody_met_is_booked_in_one_question),
        T(an_orphan_that_cannot_be_looked_at_is_counted_without_a_record),
        T(writes_of_members_and_orphans_are_booked_once),
        T(a_portion_ends_and_the_next_goes_on),
        T(a_pass_without_time_for_all_says_so_and_the_next_ones_find_them),
    };
    return cmocka_run_group_tests_name("tree_orphans", tests, NULL, NULL);
}
