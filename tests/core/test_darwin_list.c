/* SPDX-License-Identifier: Apache-2.0 */
/* Group and child lists over a scripted macOS. proves: GRP-2 GRP-3 TRK-6
 * proves on macOS: SMP-1 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "darwin/darwin_abi.h"
#include "darwin_fixture.h"

static pp_pid_list pids;

static pp_status list_group(int32_t pgid) {
    pp_pid_list_done(&pids);
    return os.list_group(os.ctx, pgid, &pids, &err);
}

static pp_status list_children(int32_t pid) {
    pp_pid_list_done(&pids);
    return os.list_children(os.ctx, pid, &pids, &err);
}

static int halt_with_list(void **state) {
    pp_pid_list_done(&pids);
    return halt(state);
}

static void add_members(int32_t first, int count) {
    for (int32_t i = 0; i < count; i++)
        dk_add(&kernel, first + i)->pgid = 700;
}

static void group_is_its_members_zombies_included(void **state) {
    (void)state;
    add_members(700, 3);
    dk_exit(dk_find(&kernel, 701), PP_DW_CLD_EXITED, 0);
    dk_find(&kernel, 702)->foreign = true; /* no privilege is asked */
    dk_add(&kernel, 900);
    assert_int_equal(list_group(700), PP_OK);
    assert_int_equal(pids.count, 3);
    assert_int_equal(pids.pids[0], 700);
    assert_int_equal(pids.pids[2], 702);
}

static void absent_group_is_an_empty_list(void **state) {
    (void)state;
    assert_int_equal(list_group(700), PP_OK);
    assert_int_equal(pids.count, 0);
}

/* A buffer that is too short answers ENOMEM with length 0: that is not an empty group. */
static void short_buffer_is_not_an_empty_group(void **state) {
    (void)state;
    add_members(700, 100);
    assert_int_equal(list_group(700), PP_OK);
    assert_int_equal(pids.count, 100);
    assert_int_equal(kernel.calls[DK_SYSCTL], 3); /* 32, 64, 128 records */
}

static void B03_transient_enomem_is_asked_again(void **state) {
    (void)state;
    add_members(700, 2);
    dk_fail(&kernel, DK_SYSCTL, 1, ENOMEM);
    assert_int_equal(list_group(700), PP_OK);
    assert_int_equal(pids.count, 2);
}

static void B03_enomem_for_ever_is_a_failed_enumeration(void **state) {
    (void)state;
    add_members(700, 2);
    dk_fail(&kernel, DK_SYSCTL, 0, ENOMEM);
    assert_int_equal(list_group(700), PP_E_ENUMERATION);
    assert_int_equal(err.sys_errno, ENOMEM);
    assert_int_equal(kernel.calls[DK_SYSCTL], PP_DW_TRIES);
    assert_int_equal(pids.count, 0);
}

static void denied_group_query_proves_nothing(void **state) {
    (void)state;
    dk_fail(&kernel, DK_SYSCTL, 1, EPERM);
    assert_int_equal(list_group(700), PP_E_DENIED);
    assert_int_equal(err.sys_errno, EPERM);
}

static void interrupted_group_query_is_asked_again_but_not_for_ever(void **state) {
    (void)state;
    add_members(700, 2);
    dk_fail(&kernel, DK_SYSCTL, 1, EINTR);
    assert_int_equal(list_group(700), PP_OK);
    assert_int_equal(pids.count, 2);
    dk_fail(&kernel, DK_SYSCTL, 0, EINTR);
    assert_int_equal(list_group(700), PP_E_SYS);
    assert_int_equal(err.sys_errno, EINTR);
}

static void length_that_is_no_multiple_of_a_record_is_malformed(void **state) {
    (void)state;
    add_members(700, 3);
    kernel.record_size = PP_DW_KINFO_SIZE + 16;
    assert_int_equal(list_group(700), PP_E_MALFORMED);
    kernel.record_size = PP_DW_KINFO_SIZE - 16;
    assert_int_equal(list_group(700), PP_E_MALFORMED);
}

/* A member that moves between the kernel's filter and its record makes the query inconsistent. */
static void record_of_a_foreign_group_is_asked_again(void **state) {
    (void)state;
    add_members(700, 3);
    kernel.foreign_group = 900;
    assert_int_equal(list_group(700), PP_OK);
    assert_int_equal(pids.count, 2);
    assert_int_equal(pids.pids[0], 701);
}

static void keep_moving(dk *k) {
    k->foreign_group = 900;
}

static void record_of_a_foreign_group_every_time_is_a_failed_enumeration(void **state) {
    (void)state;
    add_members(700, 30);
    dk_before(&kernel, DK_SYSCTL, 0, keep_moving);
    assert_int_equal(list_group(700), PP_E_ENUMERATION);
}

static void fork_nine(dk *k) {
    for (int32_t i = 0; i < 9; i++)
        dk_add(k, 800 + i)->pgid = 700;
}

static void nine_forks_between_two_tries_are_all_listed(void **state) {
    (void)state;
    add_members(700, 30);
    dk_before(&kernel, DK_SYSCTL, 1, fork_nine);
    assert_int_equal(list_group(700), PP_OK);
    assert_int_equal(pids.count, 39);
}

static void vanish_701(dk *k) {
    dk_find(k, 701)->phase = DK_REAPED;
}

static void member_gone_between_two_tries_is_not_listed(void **state) {
    (void)state;
    add_members(700, 40);
    dk_before(&kernel, DK_SYSCTL, 2, vanish_701);
    assert_int_equal(list_group(700), PP_OK);
    assert_int_equal(pids.count, 39);
}

/* proves: GRP-3 */
static void empty_group_with_its_leader_in_it_is_unverified(void **state) {
    (void)state;
    add_members(700, 1);
    dk_exit(dk_find(&kernel, 700), PP_DW_CLD_EXITED, 0);
    kernel.hide_groups = true;
    assert_int_equal(list_group(700), PP_E_UNVERIFIED);
    dk_fail(&kernel, DK_SYSCTL, 2, EPERM); /* the second look fails */
    assert_int_equal(list_group(700), PP_E_UNVERIFIED);
}

static void empty_group_whose_leader_moved_away_is_empty(void **state) {
    (void)state;
    dk_add(&kernel, 700)->pgid = 900;
    assert_int_equal(list_group(700), PP_OK);
    assert_int_equal(pids.count, 0);
}

static void no_list_of_group_one_and_below(void **state) {
    (void)state;
    assert_int_equal(list_group(1), PP_E_INVALID);
    assert_int_equal(list_group(0), PP_E_INVALID);
    assert_int_equal(list_group(-700), PP_E_INVALID);
}

static void children_are_counted_not_measured_in_bytes(void **state) {
    (void)state;
    dk_add(&kernel, 701)->ppid = 700;
    dk_add(&kernel, 702)->ppid = 700;
    dk_exit(dk_add(&kernel, 703), PP_DW_CLD_EXITED, 0);
    dk_find(&kernel, 703)->ppid = 700;
    assert_int_equal(list_children(700), PP_OK);
    assert_int_equal(pids.count, 3);
    assert_int_equal(pids.pids[2], 703);
}

static void no_children_is_an_empty_list(void **state) {
    (void)state;
    assert_int_equal(list_children(700), PP_OK);
    assert_int_equal(pids.count, 0);
}

static void full_child_buffer_is_grown(void **state) {
    (void)state;
    for (int32_t i = 0; i < 300; i++)
        dk_add(&kernel, 1000 + i)->ppid = 700;
    assert_int_equal(list_children(700), PP_OK);
    assert_int_equal(pids.count, 300);
    assert_int_equal(kernel.calls[DK_LISTCHILDREN], 3); /* 128, 256, 512 */
}

static void B03_exactly_full_child_buffer_is_not_believed(void **state) {
    (void)state;
    for (int32_t i = 0; i < 128; i++)
        dk_add(&kernel, 1000 + i)->ppid = 700;
    assert_int_equal(list_children(700), PP_OK);
    assert_int_equal(pids.count, 128);
    assert_int_equal(kernel.calls[DK_LISTCHILDREN], 2);
}

static int always_full(void *ctx, int32_t ppid, void *buffer, int buffer_bytes, int *ret_errno) {
    (void)ctx;
    (void)ppid;
    memset(buffer, 1, (size_t)buffer_bytes);
    *ret_errno = 0;
    return buffer_bytes / (int)sizeof(int32_t);
}

static void B03_child_list_that_never_fits_is_a_failed_enumeration(void **state) {
    (void)state;
    darwin.sys.listchildpids = always_full;
    assert_int_equal(list_children(700), PP_E_ENUMERATION);
    assert_int_equal(pids.count, 0);
}

static void failed_child_list_is_not_an_empty_one(void **state) {
    (void)state;
    dk_add(&kernel, 701)->ppid = 700;
    dk_fail(&kernel, DK_LISTCHILDREN, 1, EPERM);
    assert_int_equal(list_children(700), PP_E_DENIED);
    assert_int_equal(err.sys_errno, EPERM);
    dk_fail(&kernel, DK_LISTCHILDREN, 1, ENOMEM);
    assert_int_equal(list_children(700), PP_E_SYS);
    dk_fail(&kernel, DK_LISTCHILDREN, 1, EINTR);
    assert_int_equal(list_children(700), PP_OK);
    assert_int_equal(pids.count, 1);
}

static int zero_and_twins(void *ctx, int32_t ppid, void *buffer, int buffer_bytes, int *ret_errno) {
    static const int32_t listed[] = { 0, 701, 702, 701 };
    (void)ctx;
    (void)ppid;
    (void)buffer_bytes;
    memcpy(buffer, listed, sizeof listed);
    *ret_errno = 0;
    return 4;
}

static void pid_zero_and_duplicates_are_left_out(void **state) {
    (void)state;
    darwin.sys.listchildpids = zero_and_twins;
    assert_int_equal(list_children(700), PP_OK);
    assert_int_equal(pids.count, 2);
    assert_int_equal(pids.pids[0], 701);
    assert_int_equal(pids.pids[1], 702);
}

static void own_children_are_those_of_this_process(void **state) {
    (void)state;
    dk_add(&kernel, 700);
    dk_add(&kernel, 701)->ppid = 700;
    assert_int_equal(os.list_own_children(os.ctx, &pids, &err), PP_OK);
    assert_int_equal(pids.count, 1);
    assert_int_equal(pids.pids[0], 700);
}

#define T(name) cmocka_unit_test_setup_teardown(name, boot, halt_with_list)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(group_is_its_members_zombies_included),
        T(absent_group_is_an_empty_list),
        T(short_buffer_is_not_an_empty_group),
        T(B03_transient_enomem_is_asked_again),
        T(B03_enomem_for_ever_is_a_failed_enumeration),
        T(denied_group_query_proves_nothing),
        T(interrupted_group_query_is_asked_again_but_not_for_ever),
        T(length_that_is_no_multiple_of_a_record_is_malformed),
        T(record_of_a_foreign_group_is_asked_again),
        T(record_of_a_foreign_group_every_time_is_a_failed_enumeration),
        T(nine_forks_between_two_tries_are_all_listed),
        T(member_gone_between_two_tries_is_not_listed),
        T(empty_group_with_its_leader_in_it_is_unverified),
        T(empty_group_whose_leader_moved_away_is_empty),
        T(no_list_of_group_one_and_below),
        T(children_are_counted_not_measured_in_bytes),
        T(no_children_is_an_empty_list),
        T(full_child_buffer_is_grown),
        T(B03_exactly_full_child_buffer_is_not_believed),
        T(B03_child_list_that_never_fits_is_a_failed_enumeration),
        T(failed_child_list_is_not_an_empty_one),
        T(pid_zero_and_duplicates_are_left_out),
        T(own_children_are_those_of_this_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
