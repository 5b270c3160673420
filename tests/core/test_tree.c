/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fake_tree.h"

#define CHILD 101
#define GRANDCHILD 102

static int set_up_without_adoption(void **state) {
    (void)fake_tree_begin(state, false, NULL);
    return 0;
}

static const pp_tree_member *member(const fake_tree *f, int32_t pid) {
    for (size_t i = 0; i < f->tree.count; i++)
        if (f->tree.members[i].info.id.pid == pid)
            return &f->tree.members[i];
    return NULL;
}

static pp_tree_outside outside(const fake_tree *f) {
    pp_tree_outside counts;
    pp_tree_outside_count(&f->tree, &counts);
    return counts;
}

/* proves: TRK-2 */
static void the_leader_is_a_member_from_the_start(void **state) {
    fake_tree *f = *state;
    assert_int_equal(f->tree.count, 1);
    assert_true(f->tree.members[0].leader);
    assert_int_equal(f->tree.sid, FAKE_SELF);
}

/* proves: TRK-2, GRP-3 */
static void a_leader_that_cannot_be_read_at_first_is_a_member_anyway(void **state) {
    fake_tree *f = *state;
    pp_tree tree;
    fake_rule_add(&f->fake, (fake_rule){ .call = FAKE_INSPECT, .times = 1, .status = PP_E_DENIED });
    pp_tree_init(&tree, &f->fake.os, f->tree.leader, NULL);
    assert_int_equal(tree.count, 1);
    assert_true(tree.members[0].leader);
    assert_int_equal(tree.escapes, 0);
    pp_tree_done(&tree);
}

/* proves: TRK-2 */
static void a_whole_chain_is_found_in_one_look(void **state) {
    fake_tree *f = *state;
    for (int32_t pid = 101; pid < 120; pid++)
        fake_add(&f->fake, pid, pid - 1);
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_int_equal(f->tree.count, 20);
    for (int32_t pid = 101; pid < 120; pid++)
        assert_non_null(member(f, pid));
}

/* proves: TRK-2, TRK-3 */
static void an_orphan_stays_owned_and_its_new_parent_is_told(void **state) {
    fake_tree *f = *state;
    fake_add(&f->fake, CHILD, FAKE_LEADER);
    fake_add(&f->fake, GRANDCHILD, CHILD);
    assert_int_equal(fake_tree_discover(f), PP_OK);
    fake_exit(&f->fake, CHILD, 0);
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_null(member(f, CHILD));
    assert_non_null(member(f, GRANDCHILD));
    assert_int_equal(fake_tree_events(f, PP_TREE_REPARENTED, GRANDCHILD), 1);
    assert_int_equal(f->events[0].old_ppid, CHILD);
    assert_int_equal(f->events[0].info.ppid, FAKE_SELF);
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_int_equal(f->event_count, 1);
}

/* proves: TRK-2, GRP-10 */
static void an_orphan_never_seen_before_is_found_by_its_adoption(void **state) {
    fake_tree *f = *state;
    fake_add(&f->fake, CHILD, FAKE_SELF);
    fake_escape(&f->fake, CHILD);
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_true(member(f, CHILD)->escaped);
}

/* proves: TRK-2, TRK-3 */
static void without_adoption_an_orphan_is_found_by_its_group(void **state) {
    fake_tree *f = *state;
    fake_add(&f->fake, CHILD, 1);
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_non_null(member(f, CHILD));
    fake_escape(&f->fake, CHILD); /* and from then on by its identity */
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_true(member(f, CHILD)->escaped);
}

static void becomes_a_stranger(fake_os *fake) {
    fake_proc *proc = fake_find(fake, CHILD);
    proc->info.ppid = 1;
    proc->info.pgid = proc->info.sid = 7;
}

/* proves: GRP-8, TRK-1 */
static void a_listed_number_that_is_a_strangers_by_now_is_no_member(void **state) {
    fake_tree *f = *state;
    fake_add(&f->fake, CHILD, FAKE_LEADER);
    fake_rule_add(&f->fake, (fake_rule){ .call = FAKE_IDENTIFY,
                                         .pid = CHILD,
                                         .times = 1,
                                         .change = becomes_a_stranger });
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_null(member(f, CHILD));
    assert_int_equal(f->event_count + f->frame.failure_count, 0);
}

static void joins_the_strangers(fake_os *fake) {
    fake_find(fake, 301)->info.ppid = 1;
}

/* proves: GRP-7, GRP-11, TRK-1 */
static void after_the_leader_is_gone_its_number_makes_nobody_a_member(void **state) {
    fake_tree *f = *state;
    fake_add(&f->fake, CHILD, FAKE_LEADER);
    assert_int_equal(fake_tree_discover(f), PP_OK);
    fake_steal(&f->fake, FAKE_LEADER);
    fake_find(&f->fake, CHILD)->info.ppid = 1;
    assert_int_equal(fake_tree_discover(f), PP_OK);
    fake_add(&f->fake, 300, 1); /* a stranger in a new group of that number */
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_non_null(member(f, CHILD));
    assert_null(member(f, 300));
    fake_add(&f->fake, 301, CHILD); /* listed as a child, then the number changes hands */
    fake_rule_add(&f->fake, (fake_rule){ .call = FAKE_IDENTIFY,
                                         .pid = 301,
                                         .times = 1,
                                         .change = joins_the_strangers });
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_null(member(f, 301));
}

/* proves: TRK-3, TRK-4 */
static void an_escape_is_told_once_and_stays_evidence_after_the_return(void **state) {
    fake_tree *f = *state;
    fake_add(&f->fake, CHILD, FAKE_LEADER);
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_false(member(f, CHILD)->escaped);
    fake_escape(&f->fake, CHILD);
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_int_equal(fake_tree_discover(f), PP_OK);
    fake_find(&f->fake, CHILD)->info.pgid = FAKE_LEADER;
    fake_find(&f->fake, CHILD)->info.sid = FAKE_SELF;
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_true(member(f, CHILD)->escaped);
    assert_int_equal(fake_tree_events(f, PP_TREE_ESCAPED, CHILD), 1);
    fake_exit(&f->fake, CHILD, 0);
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_int_equal(f->tree.escapes, 1);
    assert_int_equal(f->tree.escape_records[0].info.id.pid, CHILD);
}

/* proves: TRK-3 */
static void a_group_whose_leader_is_gone_covers_nobody(void **state) {
    fake_tree *f = *state;
    fake_add(&f->fake, CHILD, FAKE_LEADER);
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_int_equal(outside(f).alive, 0);
    f->tree.leader_gone = true;
    assert_int_equal(outside(f).alive, 1);
}

/* proves: TRK-3, HOOK-6 */
static void leaving_only_the_session_or_only_the_group_is_an_escape(void **state) {
    fake_tree *f = *state;
    fake_add(&f->fake, CHILD, FAKE_LEADER)->info.pgid = CHILD;
    fake_add(&f->fake, GRANDCHILD, FAKE_LEADER)->info.sid = GRANDCHILD;
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_true(member(f, CHILD)->escaped && member(f, GRANDCHILD)->escaped);
    assert_int_equal(f->tree.escapes, 2);
}

/* proves: TRK-4 */
static void escape_evidence_is_capped_but_counted_and_no_member_is_dropped(void **state) {
    fake_tree *f = *state;
    for (int32_t pid = 101; pid <= 170; pid++) {
        fake_add(&f->fake, pid, FAKE_LEADER);
        fake_escape(&f->fake, pid);
    }
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_int_equal(f->tree.escapes, 70);
    assert_int_equal(f->tree.escape_records[PP_TREE_ESCAPES_MAX - 1].info.id.pid, 164);
    assert_int_equal(outside(f).alive, 70);
}

/* proves: CAN-3 */
static void a_declared_helper_is_known_by_the_path_of_its_executable(void **state) {
    fake_tree *f = *state;
    static const char *const expected[] = { "/nothing", "/opt/*/help?r", NULL };
    f->tree.expected = expected;
    memcpy(fake_add(&f->fake, CHILD, FAKE_LEADER)->info.exe, "/opt/x/helper", 14);
    fake_add(&f->fake, GRANDCHILD, FAKE_LEADER);
    fake_escape(&f->fake, CHILD);
    fake_escape(&f->fake, GRANDCHILD);
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_true(member(f, CHILD)->expected);
    assert_false(member(f, GRANDCHILD)->expected);
    assert_int_equal(outside(f).alive, 2);
    assert_int_equal(outside(f).expected, 1);
    assert_true(f->tree.escape_records[0].expected);
}

/* proves: TRK-1, TRK-3 */
static void a_number_used_again_outside_the_tree_ends_the_old_member(void **state) {
    fake_tree *f = *state;
    fake_add(&f->fake, CHILD, FAKE_LEADER);
    assert_int_equal(fake_tree_discover(f), PP_OK);
    fake_exit(&f->fake, CHILD, 0);
    fake_add(&f->fake, CHILD, 1)->info.pgid = 1;
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_null(member(f, CHILD));
    assert_int_equal(fake_tree_events(f, PP_TREE_REUSED, CHILD), 1);
    assert_int_equal(f->tree.exit_count, 1);
    assert_int_equal(f->tree.exits[0].info.id.pid, CHILD);
}

static void child_exits(fake_os *fake) {
    fake_exit(fake, CHILD, 0);
}

/* The kernel is just releasing it (state X): at the first look its number is still its own.
 * proves: TRK-3 */
static void a_number_that_nobody_has_any_more_is_not_told_as_used_again(void **state) {
    fake_tree *f = *state;
    fake_add(&f->fake, CHILD, FAKE_LEADER);
    assert_int_equal(fake_tree_discover(f), PP_OK);
    fake_rule_add(&f->fake, (fake_rule){ .call = FAKE_INSPECT,
                                         .pid = CHILD,
                                         .times = 1,
                                         .status = PP_E_STALE,
                                         .change = child_exits });
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_null(member(f, CHILD));
    assert_int_equal(fake_tree_events(f, PP_TREE_REUSED, CHILD), 0);
    assert_int_equal(f->tree.exit_count, 1);
}

/* proves: TRK-1, TRK-3 */
static void a_number_used_again_inside_the_tree_is_another_member(void **state) {
    fake_tree *f = *state;
    uint64_t old = fake_add(&f->fake, CHILD, FAKE_LEADER)->info.id.start;
    assert_int_equal(fake_tree_discover(f), PP_OK);
    fake_exit(&f->fake, CHILD, 0);
    uint64_t new = fake_add(&f->fake, CHILD, FAKE_LEADER)->info.id.start;
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_int_equal(f->tree.count, 2);
    assert_true(member(f, CHILD)->info.id.start == new);
    assert_true(f->tree.exits[0].info.id.start == old);
}

/* proves: TRK-1, TRK-3 */
static void a_member_gone_between_looks_has_one_exit_record_without_an_exit(void **state) {
    fake_tree *f = *state;
    fake_add(&f->fake, CHILD, FAKE_LEADER);
    assert_int_equal(fake_tree_discover(f), PP_OK);
    fake_exit(&f->fake, CHILD, 3);
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_int_equal(f->tree.exit_count, 1);
    assert_false(f->tree.exits[0].exit_known || f->tree.exits[0].final);
}

/* proves: TRK-1, GRP-3 */
static void a_member_that_cannot_be_read_stays_and_is_uncertain(void **state) {
    static const pp_status reasons[] = { PP_E_DENIED, PP_E_BLOCKED, PP_E_MALFORMED, PP_E_SYS };
    fake_tree *f = *state;
    fake_add(&f->fake, CHILD, FAKE_LEADER);
    fake_escape(&f->fake, CHILD);
    assert_int_equal(fake_tree_discover(f), PP_OK);
    for (size_t i = 0; i < 4; i++) {
        fake_rule_add(
            &f->fake,
            (fake_rule){ .call = FAKE_INSPECT, .pid = CHILD, .times = 1, .status = reasons[i] });
        (void)fake_tree_discover(f);
        assert_false(member(f, CHILD)->seen);
        assert_int_equal(outside(f).alive, 0);
        assert_int_equal(outside(f).uncertain, 1);
        assert_int_equal(f->frame.failures[0].status, reasons[i]);
        assert_true(f->frame.failures[0].owned);
    }
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_int_equal(outside(f).uncertain, 0);
    assert_int_equal(f->tree.exit_count, 0);
}

/* The group's list covers a member that was read in the group, not one that may have left it.
 * proves: GRP-3, CAN-3 */
static void an_unreadable_member_is_uncertain_even_if_it_was_last_seen_in_the_group(void **state) {
    fake_tree *f = *state;
    fake_add(&f->fake, CHILD, FAKE_LEADER);
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_int_equal(outside(f).alive + outside(f).uncertain, 0);
    fake_escape(&f->fake, CHILD);
    fake_rule_add(
        &f->fake,
        (fake_rule){ .call = FAKE_INSPECT, .pid = CHILD, .times = 1, .status = PP_E_DENIED });
    (void)fake_tree_discover(f);
    assert_int_equal(outside(f).uncertain, 1);
}

/* proves: TRK-7 */
static void zombies_and_the_leader_do_not_count_as_living_outside(void **state) {
    fake_tree *f = *state;
    fake_add(&f->fake, CHILD, FAKE_SELF);
    fake_escape(&f->fake, CHILD);
    fake_escape(&f->fake, FAKE_LEADER);
    assert_int_equal(fake_tree_discover(f), PP_OK);
    fake_exit(&f->fake, CHILD, 0);
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_non_null(member(f, CHILD));
    assert_int_equal(outside(f).alive + outside(f).uncertain, 0);
    fake_rule_add(
        &f->fake,
        (fake_rule){ .call = FAKE_INSPECT, .pid = FAKE_LEADER, .times = 1, .status = PP_E_DENIED });
    (void)fake_tree_discover(f);
    assert_int_equal(outside(f).uncertain, 0); /* its exit is observed, not read */
}

/* proves: TRK-6 */
static void a_list_that_fails_makes_the_look_incomplete(void **state) {
    static const fake_call calls[] = { FAKE_LIST_OWN, FAKE_LIST_CHILDREN };
    fake_tree *f = *state;
    for (size_t i = 0; i < 2; i++) {
        fake_rule_add(&f->fake,
                      (fake_rule){ .call = calls[i], .times = 1, .status = PP_E_ENUMERATION });
        assert_int_equal(fake_tree_discover(f), PP_E_ENUMERATION);
        assert_int_equal(fake_tree_discover(f), PP_OK);
    }
    fake_rule_add(&f->fake,
                  (fake_rule){ .call = FAKE_LIST_CHILDREN, .times = 1, .status = PP_E_VANISHED });
    assert_int_equal(fake_tree_discover(f), PP_OK); /* it ended: no gap */
}

/* proves: TRK-6 */
static void without_adoption_a_failed_group_list_makes_the_look_incomplete(void **state) {
    fake_tree *f = *state;
    fake_rule_add(&f->fake,
                  (fake_rule){ .call = FAKE_LIST_GROUP, .times = 1, .status = PP_E_ENUMERATION });
    assert_int_equal(fake_tree_discover(f), PP_E_ENUMERATION);
}

/* proves: TRK-6, GRP-3 */
static void a_newcomer_that_cannot_be_identified_makes_the_look_incomplete(void **state) {
    fake_tree *f = *state;
    fake_add(&f->fake, CHILD, FAKE_LEADER);
    fake_rule_add(&f->fake,
                  (fake_rule){ .call = FAKE_IDENTIFY, .times = 1, .status = PP_E_DENIED });
    assert_int_equal(fake_tree_discover(f), PP_E_DENIED);
    assert_int_equal(f->frame.failure_count, 1);
    assert_int_equal(f->frame.failures[0].pid, CHILD);
}

/* proves: TRK-3, SMP-5 */
static void an_old_process_seen_for_the_first_time_is_late(void **state) {
    fake_tree *f = *state;
    pp_tree_sample(&f->tree, 0, &f->frame);
    fake_add(&f->fake, CHILD, FAKE_LEADER); /* as old as the first look */
    f->fake.t_ns += 1000000000;
    fake_add(&f->fake, GRANDCHILD, FAKE_LEADER);
    pp_tree_sample(&f->tree, 0, &f->frame);
    assert_int_equal(f->event_count, 0);
    f->fake.t_ns += 1000000000;
    fake_add(&f->fake, 103, FAKE_LEADER)->info.start_ns -= 1500000000;
    pp_tree_sample(&f->tree, 0, &f->frame);
    assert_int_equal(fake_tree_events(f, PP_TREE_LATE, 103), 1);
    assert_int_equal(f->event_count, 1);
}

static void a_child_is_born_in_a_long_pass(fake_os *fake) {
    fake->t_ns += 1000000000;
    fake_add(fake, 103, FAKE_LEADER);
    fake->t_ns += 1000000000;
}

/* proves: TRK-3, SMP-5 */
static void a_process_born_while_others_are_listed_is_not_late(void **state) {
    fake_tree *f = *state;
    fake_add(&f->fake, CHILD, FAKE_LEADER);
    fake_rule_add(&f->fake, (fake_rule){ .call = FAKE_LIST_CHILDREN,
                                         .pid = CHILD,
                                         .times = 1,
                                         .change = a_child_is_born_in_a_long_pass });
    int64_t began_ns = f->fake.t_ns;
    pp_tree_sample(&f->tree, 0, &f->frame);
    assert_null(member(f, 103));
    assert_true(f->frame.listed_cont_ns == began_ns);
    assert_true(f->frame.cont_ns == began_ns + 2000000000);
    pp_tree_sample(&f->tree, 0, &f->frame);
    assert_non_null(member(f, 103));
    assert_int_equal(f->event_count, 0);
}

/* proves: SMP-4, TRK-7 */
static void reaping_keeps_the_zombies_own_last_counters_and_its_exit(void **state) {
    fake_tree *f = *state;
    pp_exit exit;
    pp_proc_id id = fake_add(&f->fake, CHILD, FAKE_SELF)->info.id;
    assert_int_equal(fake_tree_discover(f), PP_OK);
    assert_int_equal(pp_tree_reap(&f->tree, id, &exit, NULL), PP_E_AGAIN);
    fake_burn(&f->fake, CHILD, 5);
    fake_exit(&f->fake, CHILD, 3);
    assert_int_equal(pp_tree_reap(&f->tree, id, &exit, NULL), PP_OK);
    assert_int_equal(exit.code, 3);
    assert_null(member(f, CHILD));
    const pp_frame_exit *record = &f->tree.exits[0];
    assert_true(record->exit_known && record->final && record->usage.cpu_ns.known);
    assert_int_equal(record->usage.cpu_ns.value, 5);
    assert_int_equal(record->exit.code, 3);
    assert_int_equal(pp_tree_reap(&f->tree, id, &exit, NULL), PP_E_VANISHED);
    assert_int_equal(f->tree.exit_count, 1);
}

/* proves: TRK-7 */
static void a_child_first_seen_as_a_zombie_is_recorded_with_what_is_known(void **state) {
    fake_tree *f = *state;
    pp_exit exit;
    pp_proc_id id = fake_add(&f->fake, CHILD, FAKE_SELF)->info.id;
    fake_escape(&f->fake, CHILD);
    fake_exit(&f->fake, CHILD, 1);
    assert_int_equal(pp_tree_reap(&f->tree, id, &exit, NULL), PP_OK);
    assert_int_equal(f->tree.exits[0].info.pgid, CHILD);
    assert_int_equal(f->tree.escapes, 1);
}

/* proves: TRK-7 */
static void a_zombie_whose_place_is_unknown_is_no_escape(void **state) {
    fake_tree *f = *state;
    pp_exit exit;
    pp_proc_id id = fake_add(&f->fake, CHILD, FAKE_SELF)->info.id;
    fake_exit(&f->fake, CHILD, 1);
    fake_rule_add(&f->fake, (fake_rule){ .call = FAKE_INSPECT, .times = 1, .status = PP_E_DENIED });
    assert_int_equal(pp_tree_reap(&f->tree, id, &exit, NULL), PP_OK);
    assert_int_equal(f->tree.exit_count, 1);
    assert_int_equal(f->tree.escapes, 0);
}

static void exit_records_beyond_the_limit_are_counted(void **state) {
    fake_tree *f = *state;
    for (int i = 0; i < PP_TREE_EXITS_MAX + 2; i++) {
        fake_add(&f->fake, CHILD, FAKE_LEADER);
        (void)fake_tree_discover(f);
        f->fake.proc_count = 1;
        (void)fake_tree_discover(f);
    }
    assert_int_equal(f->tree.exit_count, PP_TREE_EXITS_MAX);
    assert_int_equal(f->tree.exits_dropped, 2);
    assert_int_equal(f->tree.count, 1);
    pp_tree_sample(&f->tree, 0, &f->frame);
    assert_int_equal(f->frame.exit_count, PP_TREE_EXITS_MAX);
    assert_int_equal(f->frame.exits_dropped, 2);
    assert_int_equal(f->tree.exits_dropped + f->tree.exit_count, 0);
}

static void events_have_their_names(void **state) {
    (void)state;
    assert_string_equal(pp_tree_event_name(PP_TREE_REUSED), "reused");
    assert_string_equal(pp_tree_event_name(PP_TREE_REPARENTED), "reparented");
    assert_string_equal(pp_tree_event_name(PP_TREE_ESCAPED), "escaped");
    assert_string_equal(pp_tree_event_name(PP_TREE_LATE), "late");
    assert_string_equal(pp_tree_event_name(PP_TREE_DENIED), "denied");
    assert_string_equal(pp_tree_event_name(PP_TREE_DISCARDS), "discards_children");
}

#define T(test) cmocka_unit_test_setup_teardown(test, fake_tree_set_up, fake_tree_tear_down)
#define T_MAC(test)                                                                                \
    cmocka_unit_test_setup_teardown(test, set_up_without_adoption, fake_tree_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(the_leader_is_a_member_from_the_start),
        T(a_leader_that_cannot_be_read_at_first_is_a_member_anyway),
        T(a_whole_chain_is_found_in_one_look),
        T(an_orphan_stays_owned_and_its_new_parent_is_told),
        T(an_orphan_never_seen_before_is_found_by_its_adoption),
        T_MAC(without_adoption_an_orphan_is_found_by_its_group),
        T(a_listed_number_that_is_a_strangers_by_now_is_no_member),
        T_MAC(after_the_leader_is_gone_its_number_makes_nobody_a_member),
        T(a_group_whose_leader_is_gone_covers_nobody),
        T(an_escape_is_told_once_and_stays_evidence_after_the_return),
        T(leaving_only_the_session_or_only_the_group_is_an_escape),
        T(escape_evidence_is_capped_but_counted_and_no_member_is_dropped),
        T(a_declared_helper_is_known_by_the_path_of_its_executable),
        T(a_number_used_again_outside_the_tree_ends_the_old_member),
        T(a_number_that_nobody_has_any_more_is_not_told_as_used_again),
        T(a_number_used_again_inside_the_tree_is_another_member),
        T(a_member_gone_between_looks_has_one_exit_record_without_an_exit),
        T(a_member_that_cannot_be_read_stays_and_is_uncertain),
        T(an_unreadable_member_is_uncertain_even_if_it_was_last_seen_in_the_group),
        T(zombies_and_the_leader_do_not_count_as_living_outside),
        T(a_list_that_fails_makes_the_look_incomplete),
        T_MAC(without_adoption_a_failed_group_list_makes_the_look_incomplete),
        T(a_newcomer_that_cannot_be_identified_makes_the_look_incomplete),
        T(an_old_process_seen_for_the_first_time_is_late),
        T(a_process_born_while_others_are_listed_is_not_late),
        T(reaping_keeps_the_zombies_own_last_counters_and_its_exit),
        T(a_child_first_seen_as_a_zombie_is_recorded_with_what_is_known),
        T(a_zombie_whose_place_is_unknown_is_no_escape),
        T(exit_records_beyond_the_limit_are_counted),
        cmocka_unit_test(events_have_their_names),
    };
    return cmocka_run_group_tests_name("tree", tests, NULL, NULL);
}
