/* SPDX-License-Identifier: Apache-2.0 */
/* Ending trees: the stop machine with the supervisor's eyes and hands, on a fake host. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fake_harness.h"
#include "loop.h"

#define MS INT64_C(1000000)
#define S (1000 * MS)
#define CHILD 101
#define HELPER 102
#define STOP_NS (2 * S) /* when the stop is asked for */

static void hook_stop(fake_os *fake) {
    fake_stop(fake_harness_of(fake), true, 30 * S, 5 * S);
}

static void app_stop(fake_os *fake) {
    fake_stop(fake_harness_of(fake), false, 30 * S, 5 * S);
}

/* Spawns with `tree` as its first deed, stops it at STOP_NS; returns how long the stop took. */
static int64_t run(fake_harness *h, fake_change tree, fake_change stop) {
    int64_t stop_ns = h->fake.t_ns + STOP_NS;
    h->fake.on_spawn = tree;
    fake_spawn(h);
    fake_after(&h->fake, STOP_NS, stop);
    assert_int_equal(pp_loop_run(&h->fake.os, FAKE_BUILD, NULL), PP_OK);
    assert_int_equal(h->heard[PP_MSG_VERDICT], 1);
    return h->fake.t_ns - stop_ns;
}

static size_t verdict_says(const fake_harness *h, const char *text) {
    return fake_lines(&h->events, "\"kind\":\"verdict\"", text);
}

static int64_t since_stop(const fake_harness *h, fake_deed_kind kind, int signal_number) {
    size_t at = fake_deed_at(&h->fake, kind, 0, signal_number);
    assert_int_not_equal(at, FAKE_MAX_DEEDS);
    return h->fake.deeds[at].t_ns - (1000 * S + STOP_NS);
}

static void nothing(fake_os *fake) {
    (void)fake;
}

/* sh -c 'sleep 30 & exit 3': the child is an orphan of the group. */
static void leader_left_a_child(fake_os *fake) {
    fake_add(fake, CHILD, FAKE_LEADER);
    fake_exit(fake, FAKE_LEADER, 3);
}

/* proves: GRP-1, GRP-4, HOOK-6 (B14) */
static void a_hooks_group_is_ended_and_seen_empty_before_its_leader_is_reaped(void **state) {
    fake_harness *h = *state;
    (void)run(h, leader_left_a_child, hook_stop);
    size_t term = fake_deed_at(&h->fake, FAKE_GROUP_SIGNALLED, FAKE_LEADER, SIGTERM);
    size_t child = fake_deed_at(&h->fake, FAKE_REAPED, CHILD, 0);
    size_t leader = fake_deed_at(&h->fake, FAKE_REAPED, FAKE_LEADER, 0);
    assert_true(term < child && child < leader);
    assert_int_equal(h->fake.deed_count, 3); /* nothing follows the reap */
    assert_int_equal(h->verdict, PP_VERDICT_ECHILD);
    assert_false(h->forced);
    assert_int_equal(verdict_says(h, "\"leader_exit\":{\"code\":3}"), 1);
    assert_int_equal(verdict_says(h, "\"proofs\":{\"group_empty\":true,\"kernel_childless\":\"ok\","
                                     "\"recorded_gone\":true}"),
                     1);
    assert_int_equal(fake_lines(&h->events, "\"target\":\"group\"", "\"SIGTERM\""), 1);
    assert_int_equal(fake_lines(&h->events, NULL, "\"kind\":\"reaped\""), 1);
}

/* proves: GRP-4, CAN-2 */
static void an_application_is_asked_through_its_leader_and_its_sigterm_is_no_force(void **state) {
    fake_harness *h = *state;
    (void)run(h, nothing, app_stop);
    assert_int_equal(fake_deeds(&h->fake, FAKE_SIGNALLED, FAKE_LEADER, SIGTERM), 1);
    assert_int_equal(fake_deeds(&h->fake, FAKE_GROUP_SIGNALLED, 0, 0), 0);
    assert_true(h->exit.by_signal);
    assert_int_equal(h->exit.signal_number, SIGTERM);
    assert_int_equal(h->verdict, PP_VERDICT_ECHILD);
    assert_false(h->forced);
}

static void leader_left_nobody(fake_os *fake) {
    fake_exit(fake, FAKE_LEADER, 0);
}

/* proves: GRP-4, GRP-6 (B15) */
static void no_signal_goes_to_a_group_of_which_only_the_exited_leader_is_left(void **state) {
    fake_harness *h = *state;
    fake_rule_add(&h->fake, (fake_rule){ .call = FAKE_SIGNAL_GROUP,
                                         .times = FAKE_FOREVER,
                                         .status = PP_E_DENIED,
                                         .sys_errno = EPERM });
    assert_true(run(h, leader_left_nobody, hook_stop) == 0);
    assert_int_equal(h->fake.deed_count, 1);
    assert_int_equal(h->verdict, PP_VERDICT_ECHILD);
    assert_int_equal(verdict_says(h, "\"signal_failure\":null"), 1);
}

/* proves: GRP-6 (B15) */
static void without_adoption_the_exited_only_group_is_verified_by_its_list(void **state) {
    fake_harness *h = *state;
    assert_true(run(h, leader_left_nobody, hook_stop) == 0);
    assert_int_equal(h->verdict, PP_VERDICT_GROUP_EMPTY);
    assert_int_equal(verdict_says(h, "\"kernel_childless\":\"unsupported\""), 1);
}

static void child_ends(fake_os *fake) {
    if (fake_find(fake, CHILD))
        fake_exit(fake, CHILD, 0);
}

/* The member dies under our hands and only the zombie answers: no crash, no endless wait.
 * proves: GRP-6 (B15) */
static void eperm_from_a_group_that_ends_meanwhile_is_resolved_by_the_next_list(void **state) {
    fake_harness *h = *state;
    fake_rule_add(&h->fake, (fake_rule){ .call = FAKE_SIGNAL_GROUP,
                                         .times = 1,
                                         .status = PP_E_DENIED,
                                         .sys_errno = EPERM,
                                         .change = child_ends });
    assert_true(run(h, leader_left_a_child, hook_stop) < S);
    assert_int_equal(h->verdict, PP_VERDICT_ECHILD);
    assert_int_equal(verdict_says(h, "\"signal_failure\":\"denied\""), 1);
    assert_int_equal(fake_lines(&h->events, "\"target\":\"group\"", "\"errno\":\"EPERM\""), 1);
}

/* proves: GRP-6, GRP-9 (B15) */
static void eperm_with_a_live_member_escalates_and_ends_unverified(void **state) {
    fake_harness *h = *state;
    fake_rule_add(&h->fake, (fake_rule){ .call = FAKE_SIGNAL_GROUP,
                                         .times = FAKE_FOREVER,
                                         .status = PP_E_DENIED,
                                         .sys_errno = EPERM });
    int64_t took_ns = run(h, leader_left_a_child, hook_stop);
    assert_int_equal(fake_deeds(&h->fake, FAKE_GROUP_SIGNALLED, FAKE_LEADER, SIGTERM), 1);
    assert_int_equal(fake_deeds(&h->fake, FAKE_GROUP_SIGNALLED, FAKE_LEADER, SIGKILL), 1);
    assert_true(took_ns == 35 * S);
    assert_int_equal(h->verdict, PP_VERDICT_UNVERIFIED);
    assert_int_equal(verdict_says(h, "\"signal_failure\":\"denied\""), 1);
    assert_int_equal(verdict_says(h,
                                  "\"survivors\":[{\"exe\":\"/bin/fake\",\"expected\":false,"
                                  "\"pgid\":100,\"phase\":\"alive\",\"pid\":101,\"start\":1002,"),
                     1);
}

static void deaf_grandchild(fake_os *fake) {
    fake_add(fake, CHILD, FAKE_LEADER)->deaf = true;
    fake_exit(fake, FAKE_LEADER, 0);
}

/* proves: GRP-4, HOOK-6 (B16) */
static void a_deaf_orphan_gets_the_full_grace_and_then_sigkill_while_pinned(void **state) {
    fake_change stops[] = { hook_stop, app_stop };
    fake_harness *h = *state;
    for (int i = 0; i < 2; i++) {
        fake_harness_done(h);
        fake_harness_init(h, true);
        fake_hello(h, FAKE_BUILD);
        (void)run(h, deaf_grandchild, stops[i]);
        assert_true(since_stop(h, FAKE_GROUP_SIGNALLED, SIGKILL) == 30 * S);
        assert_true(fake_deed_at(&h->fake, FAKE_GROUP_SIGNALLED, 0, SIGKILL) <
                    fake_deed_at(&h->fake, FAKE_REAPED, FAKE_LEADER, 0));
        assert_int_equal(h->verdict, PP_VERDICT_ECHILD);
        assert_true(h->forced);
    }
}

static void immortal_child(fake_os *fake) {
    leader_left_a_child(fake);
    fake_find(fake, CHILD)->immortal = true;
}

/* proves: GRP-4, GRP-9, CAN-3 (B16) */
static void an_immortal_member_ends_the_wait_in_bounded_time_by_name(void **state) {
    fake_harness *h = *state;
    assert_true(run(h, immortal_child, hook_stop) == 35 * S);
    assert_int_equal(h->verdict, PP_VERDICT_UNVERIFIED);
    assert_true(h->forced);
    assert_int_equal(verdict_says(h,
                                  "\"survivors\":[{\"exe\":\"/bin/fake\",\"expected\":false,"
                                  "\"pgid\":100,\"phase\":\"alive\",\"pid\":101,\"start\":1002,"),
                     1);
    assert_int_equal(verdict_says(h, "\"group_empty\":false"), 1);
    assert_int_equal(fake_deeds(&h->fake, FAKE_REAPED, FAKE_LEADER, 0), 1);
}

static void immortal_leader(fake_os *fake) {
    fake_find(fake, FAKE_LEADER)->immortal = true;
}

/* proves: GRP-9 (B16) */
static void an_immortal_leader_is_not_reaped_and_is_unverified(void **state) {
    fake_harness *h = *state;
    assert_true(run(h, immortal_leader, app_stop) == 35 * S);
    assert_int_equal(fake_deeds(&h->fake, FAKE_REAPED, 0, 0), 0);
    assert_int_equal(h->verdict, PP_VERDICT_UNVERIFIED);
    assert_int_equal(verdict_says(h, "\"leader_exit\":null"), 1);
}

/* A member that is listed and cannot be confirmed, by ESRCH or anything else, counts as alive.
 * proves: GRP-2, GRP-3 */
static void a_listed_member_without_a_second_read_counts_as_alive(void **state) {
    static const pp_status reasons[] = { PP_E_VANISHED, PP_E_DENIED, PP_E_STALE, PP_E_BLOCKED };
    fake_harness *h = *state;
    for (size_t i = 0; i < 4; i++) {
        fake_harness_done(h);
        fake_harness_init(h, true);
        fake_hello(h, FAKE_BUILD);
        fake_rule_add(&h->fake, (fake_rule){ .call = FAKE_IDENTIFY,
                                             .pid = CHILD,
                                             .times = FAKE_FOREVER,
                                             .status = reasons[i] });
        fake_rule_add(&h->fake, (fake_rule){ .call = FAKE_REAP_ORPHAN,
                                             .pid = CHILD,
                                             .times = FAKE_FOREVER,
                                             .status = reasons[i] });
        int64_t took_ns = run(h, deaf_grandchild, hook_stop);
        assert_true(since_stop(h, FAKE_GROUP_SIGNALLED, SIGKILL) == 30 * S);
        assert_true(took_ns == 35 * S); /* SIGKILL worked, but nobody could see it */
        assert_int_equal(h->verdict, PP_VERDICT_UNVERIFIED);
        assert_true(h->forced);
    }
}

/* proves: GRP-3, TRK-6 */
static void a_failed_group_list_is_no_empty_group_until_one_succeeds(void **state) {
    fake_harness *h = *state;
    fake_rule_add(&h->fake,
                  (fake_rule){ .call = FAKE_LIST_GROUP, .times = 10, .status = PP_E_ENUMERATION });
    int64_t took_ns = run(h, leader_left_nobody, hook_stop);
    assert_true(took_ns > 0 && took_ns < S);
    assert_int_equal(fake_deeds(&h->fake, FAKE_GROUP_SIGNALLED, 0, SIGTERM), 1);
    assert_int_equal(h->verdict, PP_VERDICT_ECHILD);
    assert_false(h->forced);
}

static void unwaited_zombie(fake_os *fake) {
    fake_add(fake, CHILD, FAKE_LEADER)->info.phase = PP_PHASE_ZOMBIE;
    fake_find(fake, FAKE_LEADER)->deaf = true;
}

/* proves: GRP-5 */
static void only_the_exited_leader_is_exempt_not_another_zombie(void **state) {
    fake_harness *h = *state;
    fake_after(&h->fake, STOP_NS + 5 * S, leader_left_nobody);
    (void)run(h, unwaited_zombie, app_stop);
    /* Its parent's end makes it ours; only then the group is empty. */
    assert_true(fake_deed_at(&h->fake, FAKE_REAPED, CHILD, 0) <
                fake_deed_at(&h->fake, FAKE_REAPED, FAKE_LEADER, 0));
    assert_int_equal(h->verdict, PP_VERDICT_ECHILD);
}

static void leader_is_stolen(fake_os *fake) {
    fake_exit(fake, FAKE_LEADER, 0);
    fake_steal(fake, FAKE_LEADER);
}

static void child_of_a_leader_to_be_stolen(fake_os *fake) {
    fake_add(fake, CHILD, FAKE_LEADER)->deaf = true;
}

static void child_and_escapee(fake_os *fake) {
    child_of_a_leader_to_be_stolen(fake);
    fake_add(fake, HELPER, FAKE_LEADER);
    fake_escape(fake, HELPER);
}

/* proves: GRP-7, GRP-11 (B14) */
static void a_stolen_leader_means_recorded_members_only_one_by_one(void **state) {
    fake_harness *h = *state;
    fake_after(&h->fake, S, leader_is_stolen);
    (void)run(h, child_and_escapee, hook_stop);
    assert_int_equal(fake_deeds(&h->fake, FAKE_GROUP_SIGNALLED, 0, 0), 0);
    assert_int_equal(fake_deeds(&h->fake, FAKE_SIGNALLED, 0, 0), 1);
    assert_int_equal(fake_deeds(&h->fake, FAKE_SIGNALLED, CHILD, SIGKILL), 1);
    assert_true(since_stop(h, FAKE_SIGNALLED, SIGKILL) == 30 * S);
    assert_int_equal(h->verdict, PP_VERDICT_UNVERIFIED);
    assert_int_equal(verdict_says(h, "\"leader_reaped_elsewhere\":true"), 1);
    assert_int_equal(fake_lines(&h->events, "\"target\":\"recorded_member\"", "\"pid\":101"), 1);
}

static void strangers_take_the_number(fake_os *fake) {
    leader_is_stolen(fake);
    fake_find(fake, CHILD)->gone = true;
    fake_add(fake, FAKE_LEADER, 1)->deaf = true;
    fake_add(fake, 300, FAKE_LEADER)->deaf = true;
}

/* proves: GRP-7, GRP-11, TRK-1 (B14) */
static void strangers_under_the_stolen_number_are_never_signalled(void **state) {
    fake_harness *h = *state;
    fake_after(&h->fake, S, strangers_take_the_number);
    (void)run(h, child_of_a_leader_to_be_stolen, hook_stop);
    assert_int_equal(fake_deeds(&h->fake, FAKE_GROUP_SIGNALLED, 0, 0), 0);
    assert_int_equal(fake_deeds(&h->fake, FAKE_SIGNALLED, 0, 0), 0);
    assert_int_equal(h->verdict, PP_VERDICT_UNVERIFIED);
    assert_non_null(fake_find(&h->fake, 300));
}

/* proves: GRP-7 (B14) */
static void a_leader_stolen_between_exit_and_reap_is_unverified(void **state) {
    fake_harness *h = *state;
    fake_rule_add(&h->fake, (fake_rule){ .call = FAKE_REAP,
                                         .pid = FAKE_LEADER,
                                         .times = 1,
                                         .status = PP_E_VANISHED,
                                         .sys_errno = ECHILD });
    (void)run(h, leader_left_nobody, hook_stop);
    assert_int_equal(h->fake.deed_count, 0);
    assert_int_equal(h->verdict, PP_VERDICT_UNVERIFIED);
    assert_int_equal(verdict_says(h, "\"leader_reaped_elsewhere\":true"), 1);
}

static void helper_escapes(fake_os *fake) {
    memcpy(fake_add(fake, HELPER, FAKE_LEADER)->info.exe, "/opt/helper", 12);
    fake_escape(fake, HELPER);
}

/* proves: CAN-3, GRP-12 (B19) */
static void an_escapee_is_awaited_never_signalled_and_then_listed(void **state) {
    fake_harness *h = *state;
    assert_true(run(h, helper_escapes, app_stop) == 30 * S);
    assert_int_equal(fake_deeds(&h->fake, FAKE_SIGNALLED, HELPER, 0), 0);
    assert_int_equal(h->verdict, PP_VERDICT_LEFT_RUNNING);
    assert_false(h->forced);
    assert_int_equal(
        verdict_says(h,
                     "\"survivors\":[{\"exe\":\"/opt/helper\",\"expected\":false,"
                     "\"pgid\":102,\"phase\":\"alive\",\"pid\":102,\"start\":1002,\"unique\":0}]"),
        1);
    assert_non_null(fake_find(&h->fake, HELPER));
}

static void helper_ends(fake_os *fake) {
    fake_exit(fake, HELPER, 0);
}

/* proves: CAN-3, GRP-12 */
static void an_escapee_that_ends_in_time_leaves_the_kernels_proof(void **state) {
    fake_harness *h = *state;
    fake_after(&h->fake, STOP_NS + 10 * S, helper_ends);
    int64_t took_ns = run(h, helper_escapes, app_stop);
    assert_true(took_ns == 10 * S);
    assert_int_equal(h->verdict, PP_VERDICT_ECHILD);
    assert_int_equal(verdict_says(h, "\"escapees_total\":1"), 1); /* it stays evidence */
}

/* It ends after the look for exits and before the look at the tree: still ours to reap.
 * proves: GRP-12, GRP-10 */
static void an_escapee_that_ends_between_two_looks_is_reaped_before_the_verdict(void **state) {
    fake_harness *h = *state;
    for (unsigned skip = 0; skip < 30; skip++) {
        fake_harness_done(h);
        fake_harness_init(h, true);
        fake_hello(h, FAKE_BUILD);
        fake_rule_add(&h->fake, (fake_rule){ .call = FAKE_INSPECT,
                                             .pid = HELPER,
                                             .skip = 60 + skip,
                                             .times = 1,
                                             .change = helper_ends });
        assert_true(run(h, helper_escapes, app_stop) < S);
        assert_int_equal(h->verdict, PP_VERDICT_ECHILD);
        assert_int_equal(verdict_says(h, "\"recorded_gone\":true"), 1);
    }
}

static void helper_ends_at_the_last_moment(fake_os *fake) {
    if (fake->t_ns >= 1000 * S + STOP_NS + 30 * S &&
        fake_find(fake, HELPER)->info.phase == PP_PHASE_ALIVE)
        helper_ends(fake);
}

/* proves: GRP-12, GRP-10 */
static void an_escapee_that_ends_in_the_very_last_look_is_not_left_in_doubt(void **state) {
    fake_harness *h = *state;
    fake_rule_add(&h->fake, (fake_rule){ .call = FAKE_INSPECT,
                                         .pid = HELPER,
                                         .times = FAKE_FOREVER,
                                         .change = helper_ends_at_the_last_moment });
    assert_true(run(h, helper_escapes, app_stop) == 30 * S);
    assert_int_equal(h->verdict, PP_VERDICT_ECHILD);
}

static void hidden_child(fake_os *fake) {
    fake_add(fake, HELPER, FAKE_SELF)->hidden = true;
}

/* proves: GRP-3, GRP-12 */
static void a_child_that_only_the_kernel_knows_of_is_unverified(void **state) {
    fake_harness *h = *state;
    assert_true(run(h, hidden_child, app_stop) == 30 * S);
    assert_int_equal(h->verdict, PP_VERDICT_UNVERIFIED);
}

/* proves: TRK-6, GRP-3 */
static void without_adoption_looks_that_fail_to_the_end_prove_nothing(void **state) {
    fake_harness *h = *state;
    fake_rule_add(
        &h->fake,
        (fake_rule){ .call = FAKE_LIST_OWN, .times = FAKE_FOREVER, .status = PP_E_ENUMERATION });
    assert_true(run(h, nothing, app_stop) == 30 * S);
    assert_int_equal(h->verdict, PP_VERDICT_UNVERIFIED);
}

/* proves: TRK-6, GRP-3 */
static void group_lists_that_fail_to_the_end_are_no_empty_group(void **state) {
    fake_harness *h = *state;
    fake_rule_add(
        &h->fake,
        (fake_rule){ .call = FAKE_LIST_GROUP, .times = FAKE_FOREVER, .status = PP_E_DENIED });
    assert_true(run(h, leader_left_nobody, hook_stop) == 35 * S);
    assert_int_equal(h->verdict, PP_VERDICT_UNVERIFIED);
    assert_int_equal(verdict_says(h, "\"group_empty\":false"), 1);
}

/* proves: CAN-3, GRP-12 */
static void without_adoption_an_escapee_that_ended_is_gone_by_identity(void **state) {
    fake_harness *h = *state;
    fake_after(&h->fake, STOP_NS + 10 * S, helper_ends);
    (void)run(h, helper_escapes, app_stop);
    assert_int_equal(h->verdict, PP_VERDICT_GROUP_EMPTY);
}

/* proves: CAN-3, GRP-3 */
static void an_escapee_that_cannot_be_read_at_the_end_is_unverified_by_name(void **state) {
    fake_harness *h = *state;
    fake_rule_add(&h->fake, (fake_rule){ .call = FAKE_INSPECT,
                                         .pid = HELPER,
                                         .skip = 10,
                                         .times = FAKE_FOREVER,
                                         .status = PP_E_DENIED });
    assert_true(run(h, helper_escapes, app_stop) == 30 * S);
    assert_int_equal(h->verdict, PP_VERDICT_UNVERIFIED);
    assert_int_equal(verdict_says(h, "\"unverified\":[{\"exe\":\"/opt/helper\""), 1);
    assert_int_equal(verdict_says(h, "\"survivors\":[]"), 1);
}

static const char *const declared[] = { "*/helper", NULL };

/* proves: CAN-3 */
static void a_declared_helper_is_awaited_then_ended_and_no_survivor(void **state) {
    fake_harness *h = *state;
    h->spawn.expected = declared;
    (void)run(h, helper_escapes, app_stop);
    assert_int_equal(fake_deeds(&h->fake, FAKE_SIGNALLED, HELPER, SIGKILL), 1);
    assert_true(since_stop(h, FAKE_SIGNALLED, SIGKILL) == 30 * S);
    assert_int_equal(h->verdict, PP_VERDICT_ECHILD);
    assert_false(h->forced);
    assert_int_equal(verdict_says(h, "\"survivors\":[]"), 1);
    assert_int_equal(verdict_says(h, "\"exe\":\"/opt/helper\",\"expected\":true"), 1);
}

static void two_escape(fake_os *fake) {
    helper_escapes(fake);
    fake_add(fake, CHILD, FAKE_LEADER);
    fake_escape(fake, CHILD);
}

/* proves: CAN-3 */
static void beside_a_declared_helper_an_undeclared_one_is_left_alone(void **state) {
    fake_harness *h = *state;
    h->spawn.expected = declared;
    (void)run(h, two_escape, app_stop);
    assert_int_equal(fake_deeds(&h->fake, FAKE_SIGNALLED, HELPER, SIGKILL), 1);
    assert_int_equal(fake_deeds(&h->fake, FAKE_SIGNALLED, CHILD, 0), 0);
    assert_int_equal(h->verdict, PP_VERDICT_LEFT_RUNNING);
}

static void helper_hops(fake_os *fake) {
    fake_add(fake, 200, HELPER);
    fake_escape(fake, 200);
}

/* proves: CAN-3, GRP-12 */
static void reaped_escapees_cannot_hop_away(void **state) {
    fake_harness *h = *state;
    h->spawn.reap_escapees = true;
    fake_rule_add(
        &h->fake,
        (fake_rule){ .call = FAKE_SIGNAL, .pid = HELPER, .times = 1, .change = helper_hops });
    assert_true(run(h, helper_escapes, app_stop) < S);
    assert_int_equal(fake_deeds(&h->fake, FAKE_SIGNALLED, 200, SIGKILL), 1);
    assert_int_equal(h->verdict, PP_VERDICT_ECHILD);
    assert_int_equal(verdict_says(h, "\"escapees_killed\":true"), 1);
    assert_int_equal(verdict_says(h, "\"escapees_total\":2"), 1);
    assert_false(h->forced);
}

static void immortal_helper(fake_os *fake) {
    helper_escapes(fake);
    fake_find(fake, HELPER)->immortal = true;
}

static void something_is_printed(fake_os *fake) {
    fake_harness_of(fake)->output_changed = true; /* wakes the loop at once */
}

/* proves: CAN-3, GRP-9 */
static void an_immortal_escapee_is_listed_after_the_verification_time(void **state) {
    fake_harness *h = *state;
    h->spawn.reap_escapees = true;
    /* Killed every millisecond for five seconds: too many deeds to keep, so keep none. */
    h->fake.forgets_deeds = true;
    fake_rule_add(&h->fake, (fake_rule){ .call = FAKE_SIGNAL,
                                         .pid = HELPER,
                                         .times = FAKE_FOREVER,
                                         .change = something_is_printed });
    assert_true(run(h, immortal_helper, app_stop) == 5 * S);
    assert_int_equal(h->verdict, PP_VERDICT_LEFT_RUNNING);
    assert_int_equal(fake_lines(&h->events, "\"target\":\"escapee\"", "\"SIGKILL\""), 1);
}

/* proves: SMP-4, TRK-7 */
static void the_last_frame_holds_the_exits_of_the_end(void **state) {
    fake_harness *h = *state;
    (void)run(h, leader_left_a_child, hook_stop);
    assert_int_equal(fake_lines(&h->frames, NULL, "\"exit\":{\"code\":3},\"final\":true"), 1);
    assert_int_equal(fake_lines(&h->frames, NULL, "\"signal\":\"SIGTERM\"},\"final\":true"), 1);
}

static void output_at_the_end(fake_os *fake) {
    fake_harness_of(fake)->output = (pp_output_state){ .stderr_bytes = 9 };
    leader_left_nobody(fake);
}

static void what_was_printed_last_is_told_before_the_verdict(void **state) {
    fake_harness *h = *state;
    fake_after(&h->fake, S, output_at_the_end);
    (void)run(h, nothing, hook_stop);
    assert_int_equal(h->told_output.stderr_bytes, 9);
}

#define T(test) cmocka_unit_test_setup_teardown(test, fake_harness_set_up, fake_harness_tear_down)
#define T_MAC(test)                                                                                \
    cmocka_unit_test_setup_teardown(test, fake_harness_set_up_without_adoption,                    \
                                    fake_harness_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(a_hooks_group_is_ended_and_seen_empty_before_its_leader_is_reaped),
        T(an_application_is_asked_through_its_leader_and_its_sigterm_is_no_force),
        T(no_signal_goes_to_a_group_of_which_only_the_exited_leader_is_left),
        T_MAC(without_adoption_the_exited_only_group_is_verified_by_its_list),
        T(eperm_from_a_group_that_ends_meanwhile_is_resolved_by_the_next_list),
        T(eperm_with_a_live_member_escalates_and_ends_unverified),
        T(a_deaf_orphan_gets_the_full_grace_and_then_sigkill_while_pinned),
        T(an_immortal_member_ends_the_wait_in_bounded_time_by_name),
        T(an_immortal_leader_is_not_reaped_and_is_unverified),
        T(a_listed_member_without_a_second_read_counts_as_alive),
        T(a_failed_group_list_is_no_empty_group_until_one_succeeds),
        T(only_the_exited_leader_is_exempt_not_another_zombie),
        T(a_stolen_leader_means_recorded_members_only_one_by_one),
        T_MAC(strangers_under_the_stolen_number_are_never_signalled),
        T(a_leader_stolen_between_exit_and_reap_is_unverified),
        T(an_escapee_is_awaited_never_signalled_and_then_listed),
        T(an_escapee_that_ends_in_time_leaves_the_kernels_proof),
        T(an_escapee_that_ends_between_two_looks_is_reaped_before_the_verdict),
        T(an_escapee_that_ends_in_the_very_last_look_is_not_left_in_doubt),
        T(a_child_that_only_the_kernel_knows_of_is_unverified),
        T_MAC(without_adoption_looks_that_fail_to_the_end_prove_nothing),
        T(group_lists_that_fail_to_the_end_are_no_empty_group),
        T_MAC(without_adoption_an_escapee_that_ended_is_gone_by_identity),
        T(an_escapee_that_cannot_be_read_at_the_end_is_unverified_by_name),
        T_MAC(an_escapee_that_cannot_be_read_at_the_end_is_unverified_by_name),
        T(a_declared_helper_is_awaited_then_ended_and_no_survivor),
        T(beside_a_declared_helper_an_undeclared_one_is_left_alone),
        T(reaped_escapees_cannot_hop_away),
        T(an_immortal_escapee_is_listed_after_the_verification_time),
        T(the_last_frame_holds_the_exits_of_the_end),
        T(what_was_printed_last_is_told_before_the_verdict),
    };
    return cmocka_run_group_tests_name("teardown", tests, NULL, NULL);
}
