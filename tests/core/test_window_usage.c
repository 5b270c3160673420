/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pairperf/counters.h"
#include "pairperf/window.h"

#define S INT64_C(1000000000)

enum { APP, HELPER, IOREG, COMPONENTS };
enum { CPU, WRITES, COUNTERS };

static const pp_usage_frame three_frames[] = { { 100 * S, 100 * S },
                                               { 110 * S, 110 * S },
                                               { 120 * S, 120 * S } };
static const bool ioreg_excluded[COMPONENTS] = { [IOREG] = true };

static pp_usage_row row(size_t frame, size_t component, int32_t pid, int64_t start_ns,
                        uint64_t cpu_ns, uint64_t write_bytes) {
    return (pp_usage_row){ .frame = frame,
                           .component = component,
                           .id = { pid, (uint64_t)start_ns, 0 },
                           .start_ns = start_ns,
                           .counters = { pp_known(cpu_ns), pp_known(write_bytes) } };
}

static pp_window_usage sum(const pp_usage_row *rows, size_t count, int64_t start_step_ns) {
    pp_usage_input input = { .frames = three_frames,
                             .frame_count = 3,
                             .rows = rows,
                             .row_count = count,
                             .excluded = ioreg_excluded,
                             .component_count = COMPONENTS,
                             .counter_count = COUNTERS,
                             .start_step_ns = start_step_ns };
    pp_window_usage usage;
    pp_error err;
    assert_int_equal(pp_window_usage_sum(&input, &usage, &err), PP_OK);
    return usage;
}

static uint64_t component(const pp_window_usage *usage, size_t which, size_t counter) {
    return usage->components[which * COUNTERS + counter];
}

/* proves: MET-1 SMP-5 (B06) */
static void B06_a_busy_child_is_100_percent_and_the_first_frame_only_a_reference(void **state) {
    (void)state;
    pp_usage_row rows[] = {
        row(0, APP, 1, S, 70 * S, 0),    row(1, APP, 1, S, 70 * S, 0),
        row(2, APP, 1, S, 70 * S, 0),    row(0, HELPER, 2, S, 3 * S, 0),
        row(1, HELPER, 2, S, 13 * S, 0), row(2, HELPER, 2, S, 23 * S, 0),
    };
    pp_window_usage usage = sum(rows, 6, 0);
    assert_int_equal(component(&usage, APP, CPU), 0);
    double percent = 0;
    assert_true(pp_cpu_percent(component(&usage, HELPER, CPU), usage.elapsed_ns, &percent));
    assert_true(percent == 100.0);
    assert_true(usage.counters[CPU].trusted);
    pp_window_usage_done(&usage);
}

/* proves: SMP-4 (B07) */
static void B07_an_exited_child_keeps_its_deltas(void **state) {
    (void)state;
    pp_usage_row rows[] = {
        row(0, APP, 1, S, S, 0),
        row(1, APP, 1, S, 2 * S, 0),
        row(2, APP, 1, S, 3 * S, 0),
        row(0, HELPER, 2, S, S, 0),
        row(1, HELPER, 2, S, 4 * S, 50),
        /* its final reading, in the same frame as a last ordinary one */
        row(1, HELPER, 2, S, 5 * S, 80),
    };
    pp_window_usage usage = sum(rows, 6, 0);
    assert_true(component(&usage, HELPER, CPU) == 4 * (uint64_t)S);
    assert_int_equal(component(&usage, HELPER, WRITES), 80);
    assert_true(usage.counters[CPU].partial == 6 * (uint64_t)S);
    assert_int_equal(usage.flags, 0);
    assert_false(usage.counters[CPU].regressed);
    pp_window_usage_done(&usage);
}

/* proves: TRK-1 */
static void a_reused_pid_is_another_process(void **state) {
    (void)state;
    pp_usage_row rows[] = { row(0, APP, 1, S, 9 * S, 0), row(1, APP, 1, 105 * S, S, 0) };
    pp_window_usage usage = sum(rows, 2, 0);
    assert_true(usage.counters[CPU].partial == (uint64_t)S);
    assert_true(usage.counters[CPU].trusted);
    pp_window_usage_done(&usage);

    /* the same pid and start stamp, another kernel identity */
    pp_usage_row twins[] = { row(0, APP, 1, S, 9 * S, 0), row(1, APP, 1, S, 2 * S, 0) };
    twins[0].id.unique = 11;
    twins[1].id.unique = 12;
    usage = sum(twins, 2, 0);
    assert_false(usage.counters[CPU].regressed);
    assert_int_equal(usage.flags, PP_FLAG_LATE_DISCOVERY);
    pp_window_usage_done(&usage);
}

/* proves: SMP-5 */
static void late_discovery_voids_every_total_and_keeps_later_deltas(void **state) {
    (void)state;
    pp_usage_row rows[] = { row(0, APP, 1, S, 0, 0), row(1, HELPER, 9, 50 * S, 80 * S, 100),
                            row(2, HELPER, 9, 50 * S, 81 * S, 100) };
    pp_window_usage usage = sum(rows, 3, 0);
    assert_int_equal(usage.flags, PP_FLAG_LATE_DISCOVERY);
    assert_false(usage.counters[CPU].trusted);
    assert_false(usage.counters[WRITES].trusted);
    assert_true(usage.counters[CPU].partial == (uint64_t)S);
    pp_window_usage_done(&usage);
}

static void a_start_stamp_rounded_down_still_counts_as_born_in_the_interval(void **state) {
    (void)state;
    int64_t step = S / 100;
    pp_usage_row rows[] = { row(1, APP, 9, 100 * S - step, 2 * S, 0) };
    pp_window_usage exact = sum(rows, 1, 0);
    assert_int_equal(exact.flags, PP_FLAG_LATE_DISCOVERY);
    pp_window_usage_done(&exact);
    pp_window_usage stepped = sum(rows, 1, step);
    assert_int_equal(stepped.flags, 0);
    assert_true(stepped.counters[CPU].partial == 2 * (uint64_t)S);
    pp_window_usage_done(&stepped);
}

/* proves: SMP-5 (B12) */
static void B12_a_fallen_counter_loses_only_its_own_total(void **state) {
    (void)state;
    pp_usage_row rows[] = { row(0, APP, 1, S, S, 8388608), row(1, APP, 1, S, 2 * S, 0),
                            row(2, APP, 1, S, 3 * S, 4096) };
    pp_window_usage usage = sum(rows, 3, 0);
    assert_true(usage.counters[WRITES].regressed);
    assert_false(usage.counters[WRITES].trusted);
    assert_int_equal(usage.counters[WRITES].partial, 4096); /* the new value is the reference */
    assert_true(usage.counters[CPU].trusted);
    pp_window_usage_done(&usage);
}

/* proves: MET-6 */
static void an_unreadable_process_voids_all_and_a_missing_field_only_its_own(void **state) {
    (void)state;
    pp_usage_row rows[] = { row(0, APP, 1, S, S, 0), row(1, APP, 1, S, 2 * S, 0),
                            row(2, APP, 1, S, 3 * S, 0) };
    rows[1].counters[WRITES] = pp_missing(PP_E_DENIED);
    pp_window_usage usage = sum(rows, 3, 0);
    assert_int_equal(usage.flags, 0);
    assert_true(usage.counters[WRITES].unreadable);
    assert_false(usage.counters[WRITES].trusted);
    assert_true(usage.counters[CPU].trusted);
    pp_window_usage_done(&usage);

    rows[1].counters[CPU] = pp_missing(PP_E_DENIED);
    usage = sum(rows, 3, 0);
    assert_int_equal(usage.flags, PP_FLAG_UNREADABLE);
    assert_false(usage.counters[CPU].trusted);
    assert_true(usage.counters[CPU].partial == 2 * (uint64_t)S);
    pp_window_usage_done(&usage);
}

/* proves: TRK-1 */
static void a_process_that_ended_while_it_was_read_spoils_nothing(void **state) {
    (void)state;
    pp_usage_row rows[] = { row(0, APP, 1, S, S, 0), row(1, APP, 1, S, 2 * S, 7),
                            row(2, APP, 1, S, 0, 0), row(2, HELPER, 2, 50 * S, 0, 0) };
    rows[2].counters[CPU] = pp_missing(PP_E_VANISHED);
    rows[2].counters[WRITES] = pp_missing(PP_E_STALE);
    rows[3].counters[CPU] = rows[3].counters[WRITES] = pp_missing(PP_E_VANISHED);
    pp_window_usage usage = sum(rows, 4, 0);
    assert_int_equal(usage.flags, 0);
    assert_true(usage.counters[CPU].trusted && usage.counters[WRITES].trusted);
    assert_int_equal(usage.counters[WRITES].partial, 7);
    pp_window_usage_done(&usage);
}

/* proves: MET-1 */
static void without_excluded_is_the_sum_of_the_others(void **state) {
    (void)state;
    pp_usage_row rows[] = { row(0, APP, 1, S, 0, 0), row(2, APP, 1, S, 10 * S, 0),
                            row(0, IOREG, 2, S, 0, 0), row(2, IOREG, 2, S, 3 * S, 0) };
    pp_window_usage usage = sum(rows, 4, 0);
    assert_true(usage.without_excluded_cpu_ns == 10 * (uint64_t)S);
    assert_true(usage.excluded_cpu_ns == 3 * (uint64_t)S);
    pp_window_usage_done(&usage);
}

static void a_sum_of_deltas_past_64_bits_is_overflow(void **state) {
    (void)state;
    pp_usage_row rows[] = { row(0, APP, 1, S, 0, 0), row(1, APP, 1, S, UINT64_MAX, 0),
                            row(0, HELPER, 2, S, 0, 0), row(1, HELPER, 2, S, 2, 0) };
    pp_window_usage usage = sum(rows, 4, 0);
    assert_true(usage.counters[CPU].overflow);
    assert_false(usage.counters[CPU].trusted);
    assert_true(usage.counters[WRITES].trusted);
    pp_window_usage_done(&usage);
}

static void rows_may_come_in_any_order(void **state) {
    (void)state;
    pp_usage_row rows[] = { row(2, APP, 1, S, 9 * S, 3), row(0, APP, 1, S, 4 * S, 1),
                            row(1, APP, 1, S, 5 * S, 2) };
    pp_window_usage usage = sum(rows, 3, 0);
    assert_true(usage.counters[CPU].partial == 5 * (uint64_t)S);
    assert_false(usage.counters[CPU].regressed);
    pp_window_usage_done(&usage);
}

static void bad_indexes_are_refused(void **state) {
    (void)state;
    pp_usage_row rows[] = { row(3, APP, 1, S, 0, 0) };
    pp_usage_input input = { .frames = three_frames,
                             .frame_count = 3,
                             .rows = rows,
                             .row_count = 1,
                             .excluded = ioreg_excluded,
                             .component_count = COMPONENTS,
                             .counter_count = COUNTERS };
    pp_window_usage usage;
    assert_int_equal(pp_window_usage_sum(&input, &usage, NULL), PP_E_INVALID);
    rows[0] = row(0, COMPONENTS, 1, S, 0, 0);
    assert_int_equal(pp_window_usage_sum(&input, &usage, NULL), PP_E_INVALID);
    input.frame_count = 0;
    input.row_count = 0;
    assert_int_equal(pp_window_usage_sum(&input, &usage, NULL), PP_E_INVALID);
    pp_window_usage_done(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(B06_a_busy_child_is_100_percent_and_the_first_frame_only_a_reference),
        cmocka_unit_test(B07_an_exited_child_keeps_its_deltas),
        cmocka_unit_test(a_reused_pid_is_another_process),
        cmocka_unit_test(late_discovery_voids_every_total_and_keeps_later_deltas),
        cmocka_unit_test(a_start_stamp_rounded_down_still_counts_as_born_in_the_interval),
        cmocka_unit_test(B12_a_fallen_counter_loses_only_its_own_total),
        cmocka_unit_test(an_unreadable_process_voids_all_and_a_missing_field_only_its_own),
        cmocka_unit_test(a_process_that_ended_while_it_was_read_spoils_nothing),
        cmocka_unit_test(without_excluded_is_the_sum_of_the_others),
        cmocka_unit_test(a_sum_of_deltas_past_64_bits_is_overflow),
        cmocka_unit_test(rows_may_come_in_any_order),
        cmocka_unit_test(bad_indexes_are_refused),
    };
    return cmocka_run_group_tests_name("window_usage", tests, NULL, NULL);
}
