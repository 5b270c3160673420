/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pairperf/frame.h"

static void appended_elements_are_zero_and_earlier_ones_stay(void **state) {
    (void)state;
    pp_frame frame = { 0 };
    for (int32_t i = 1; i <= 100; i++) {
        pp_frame_proc *proc = pp_frame_add_proc(&frame);
        pp_frame_exit *ended = pp_frame_add_exit(&frame);
        assert_int_equal(proc->info.id.pid, 0);
        assert_false(proc->usage.cpu_ns.known);
        assert_int_equal(ended->info.id.pid, 0);
        proc->info.id.pid = i;
        ended->info.id.pid = -i;
    }
    assert_int_equal(frame.proc_count, 100);
    assert_int_equal(frame.exit_count, 100);
    for (int32_t i = 1; i <= 100; i++) {
        assert_int_equal(frame.procs[i - 1].info.id.pid, i);
        assert_int_equal(frame.exits[i - 1].info.id.pid, -i);
    }
    pp_frame_done(&frame);
}

static void a_reset_frame_is_empty_and_reads_as_not_measured(void **state) {
    (void)state;
    pp_frame frame = { .seq = 7, .t_ns = 8, .missed = 9, .enumeration = PP_E_ENUMERATION };
    pp_error error = { .status = PP_E_DENIED };
    pp_frame_add_proc(&frame)->usage.cpu_ns = pp_known(5);
    pp_frame_add_exit(&frame)->final = true;
    pp_frame_add_failure(&frame, 1, true, &error);
    frame.conservation.cpu_ns = pp_known(1);
    const void *kept = frame.procs;

    pp_frame_reset(&frame);
    assert_int_equal(frame.proc_count + frame.exit_count + frame.failure_count, 0);
    assert_true(frame.seq == 0 && frame.t_ns == 0 && frame.missed == 0);
    assert_int_equal(frame.enumeration, PP_OK);
    assert_false(frame.conservation.cpu_ns.known);
    assert_ptr_equal(frame.procs, kept); /* the memory is used again */
    assert_false(pp_frame_add_proc(&frame)->usage.cpu_ns.known);
    assert_false(pp_frame_add_exit(&frame)->final);
    pp_frame_done(&frame);
    assert_null(frame.procs);
    pp_frame_done(&frame);
    pp_frame_done(NULL);
}

/* proves: TRK-6 */
static void failures_keep_their_reason_and_the_surplus_is_counted(void **state) {
    (void)state;
    pp_frame frame = { 0 };
    pp_error error = { .status = PP_E_DENIED, .sys_errno = 13, .op = "open" };
    for (int32_t i = 0; i < PP_FRAME_FAILURES_MAX + 3; i++)
        pp_frame_add_failure(&frame, i, i == 0, &error);
    assert_int_equal(frame.failure_count, PP_FRAME_FAILURES_MAX);
    assert_int_equal(frame.failures_dropped, 3);
    assert_true(frame.failures[0].owned);
    assert_false(frame.failures[1].owned);
    assert_int_equal(frame.failures[1].pid, 1);
    assert_int_equal(frame.failures[1].status, PP_E_DENIED);
    assert_int_equal(frame.failures[1].sys_errno, 13);
    assert_string_equal(frame.failures[1].op, "open");
    pp_frame_done(&frame);
}

static void a_list_that_cannot_grow_says_so_and_stays_as_it_was(void **state) {
    (void)state;
    pp_frame_proc one = { .leader = true };
    pp_frame frame = { .procs = &one, .proc_count = SIZE_MAX / 2, .proc_capacity = SIZE_MAX / 2 };
    pp_error error = { .status = PP_E_SYS };
    assert_null(pp_frame_add_proc(&frame));
    assert_int_equal(frame.proc_count, SIZE_MAX / 2);
    assert_ptr_equal(frame.procs, &one);
    frame.failures = NULL;
    frame.failure_count = PP_FRAME_FAILURES_MAX;
    pp_frame_add_failure(&frame, 1, true, &error);
    assert_int_equal(frame.failures_dropped, 1);
}

static void kinds_and_phases_have_their_names(void **state) {
    (void)state;
    assert_string_equal(pp_frame_kind_name(PP_FRAME_TRACK), "track");
    assert_string_equal(pp_frame_kind_name(PP_FRAME_BOUNDARY), "boundary");
    assert_string_equal(pp_frame_kind_name(PP_FRAME_TICK), "tick");
    assert_string_equal(pp_frame_kind_name(PP_FRAME_CLOSING), "closing");
    assert_string_equal(pp_phase_name(PP_PHASE_ALIVE), "alive");
    assert_string_equal(pp_phase_name(PP_PHASE_STOPPED), "stopped");
    assert_string_equal(pp_phase_name(PP_PHASE_ZOMBIE), "zombie");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appended_elements_are_zero_and_earlier_ones_stay),
        cmocka_unit_test(a_reset_frame_is_empty_and_reads_as_not_measured),
        cmocka_unit_test(failures_keep_their_reason_and_the_surplus_is_counted),
        cmocka_unit_test(a_list_that_cannot_grow_says_so_and_stays_as_it_was),
        cmocka_unit_test(kinds_and_phases_have_their_names),
    };
    return cmocka_run_group_tests_name("frame", tests, NULL, NULL);
}
