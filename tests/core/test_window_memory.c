/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pairperf/window.h"

enum { APP, WORKER, COMPONENTS };

static pp_window_memory sum(const pp_memory_row *rows, size_t count, size_t frames) {
    pp_window_memory memory;
    pp_error err;
    assert_int_equal(pp_window_memory_sum(rows, count, frames, COMPONENTS, &memory, &err), PP_OK);
    return memory;
}

/* proves: MET-3 */
static void the_maximum_may_sit_at_the_boundary(void **state) {
    (void)state;
    pp_memory_row rows[] = { { 0, APP, pp_known(900) },
                             { 1, APP, pp_known(300) },
                             { 2, APP, pp_known(600) } };
    pp_window_memory memory = sum(rows, 3, 3);
    assert_true(memory.total.known);
    assert_int_equal(memory.total.max_bytes, 900);
    assert_true(memory.total.mean_bytes == 600.0);
    pp_window_memory_done(&memory);
}

/* proves: MET-3 */
static void an_absent_component_is_zero_in_its_mean(void **state) {
    (void)state;
    pp_memory_row rows[] = { { 0, APP, pp_known(100) },
                             { 1, APP, pp_known(100) },
                             { 1, WORKER, pp_known(90) },
                             { 2, APP, pp_known(100) } };
    pp_window_memory memory = sum(rows, 4, 3);
    assert_true(memory.components[WORKER].mean_bytes == 30.0);
    assert_int_equal(memory.components[WORKER].max_bytes, 90);
    assert_int_equal(memory.total.max_bytes, 190);
    pp_window_memory_done(&memory);
}

/* proves: MET-3 MET-6 */
static void an_unreadable_member_is_no_zero(void **state) {
    (void)state;
    pp_memory_row rows[] = { { 0, APP, pp_known(100) }, { 0, WORKER, pp_known(50) },
                             { 1, APP, pp_known(110) }, { 1, WORKER, pp_missing(PP_E_DENIED) },
                             { 2, APP, pp_known(120) }, { 2, WORKER, pp_known(70) } };
    pp_window_memory memory = sum(rows, 6, 3);
    assert_false(memory.total.known);
    assert_int_equal(memory.flags, PP_FLAG_INCOMPLETE);
    assert_int_equal(memory.partial_frames, 2);
    assert_int_equal(memory.partial.max_bytes, 190);
    assert_true(memory.partial.mean_bytes == 170.0);
    assert_true(memory.components[APP].known);
    assert_false(memory.components[WORKER].known);
    pp_window_memory_done(&memory);
}

static void an_overflowing_frame_leaves_no_total(void **state) {
    (void)state;
    pp_memory_row rows[] = { { 0, APP, pp_known(UINT64_MAX) },
                             { 0, WORKER, pp_known(1) },
                             { 1, APP, pp_known(10) },
                             { 1, WORKER, pp_known(1) } };
    pp_window_memory memory = sum(rows, 4, 2);
    assert_int_equal(memory.flags, PP_FLAG_OVERFLOW);
    assert_false(memory.total.known);
    assert_int_equal(memory.partial.max_bytes, 11);
    assert_true(memory.components[APP].max_bytes == UINT64_MAX);
    pp_window_memory_done(&memory);
}

static void a_frame_without_processes_counts_as_zero(void **state) {
    (void)state;
    pp_memory_row rows[] = { { 0, APP, pp_known(100) } };
    pp_window_memory memory = sum(rows, 1, 2);
    assert_true(memory.total.mean_bytes == 50.0);
    pp_window_memory_done(&memory);
}

static void no_frame_has_no_value(void **state) {
    (void)state;
    pp_window_memory memory = sum(NULL, 0, 0);
    assert_false(memory.total.known);
    assert_int_equal(memory.partial_frames, 0);
    pp_window_memory_done(&memory);
}

static void rows_out_of_order_are_refused(void **state) {
    (void)state;
    pp_memory_row rows[] = { { 1, APP, pp_known(1) }, { 0, APP, pp_known(1) } };
    pp_window_memory memory;
    assert_int_equal(pp_window_memory_sum(rows, 2, 2, COMPONENTS, &memory, NULL), PP_E_INVALID);
    rows[0].frame = 2;
    assert_int_equal(pp_window_memory_sum(rows, 1, 2, COMPONENTS, &memory, NULL), PP_E_INVALID);
    pp_window_memory_done(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_maximum_may_sit_at_the_boundary),
        cmocka_unit_test(an_absent_component_is_zero_in_its_mean),
        cmocka_unit_test(an_unreadable_member_is_no_zero),
        cmocka_unit_test(an_overflowing_frame_leaves_no_total),
        cmocka_unit_test(a_frame_without_processes_counts_as_zero),
        cmocka_unit_test(no_frame_has_no_value),
        cmocka_unit_test(rows_out_of_order_are_refused),
    };
    return cmocka_run_group_tests_name("window_memory", tests, NULL, NULL);
}
