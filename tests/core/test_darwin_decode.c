/* SPDX-License-Identifier: Apache-2.0 */
/* Darwin's raw records, decoded: bytes in, values out. proves: TRK-1
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
#include "darwin/decode.h"

static void put_i32(uint8_t *bytes, size_t at, int32_t value) {
    memcpy(bytes + at, &value, sizeof value);
}

static void put_u64(uint8_t *bytes, size_t at, uint64_t value) {
    memcpy(bytes + at, &value, sizeof value);
}

/* Without a terminator, as the kernel leaves a name that fills its field. */
static void put_name(uint8_t *bytes, size_t at, const char *name, size_t size) {
    memcpy(bytes + at, name, size);
}

static void fill_kinfo(uint8_t record[PP_DW_KINFO_SIZE]) {
    memset(record, 0, PP_DW_KINFO_SIZE);
    put_u64(record, PP_DW_KINFO_START_SEC, 1764444000);
    put_i32(record, PP_DW_KINFO_START_USEC, 123456);
    record[PP_DW_KINFO_STAT] = 2;
    put_i32(record, PP_DW_KINFO_PID, 42);
    put_i32(record, PP_DW_KINFO_PPID, 7);
    put_i32(record, PP_DW_KINFO_PGID, 40);
    put_name(record, PP_DW_KINFO_COMM, "PAIR Helper (GPU)", 17);
}

static void kinfo_gives_identity_and_place(void **state) {
    (void)state;
    uint8_t record[PP_DW_KINFO_SIZE];
    fill_kinfo(record);
    pp_dw_seen seen;
    assert_int_equal(pp__dw_decode_kinfo(record, sizeof record, &seen), PP_OK);
    assert_int_equal(seen.pid, 42);
    assert_int_equal(seen.ppid, 7);
    assert_int_equal(seen.pgid, 40);
    assert_int_equal(seen.start_us, UINT64_C(1764444000123456));
    assert_int_equal(seen.phase, PP_PHASE_ALIVE);
    assert_string_equal(seen.name, "PAIR Helper (GPU)");
}

static void record_of_another_size_is_malformed(void **state) {
    (void)state;
    uint8_t record[PP_DW_KINFO_SIZE + 8];
    fill_kinfo(record);
    pp_dw_seen seen;
    assert_int_equal(pp__dw_decode_kinfo(record, PP_DW_KINFO_SIZE - 1, &seen), PP_E_MALFORMED);
    assert_int_equal(pp__dw_decode_kinfo(record, PP_DW_KINFO_SIZE + 8, &seen), PP_E_MALFORMED);
    assert_int_equal(pp__dw_decode_bsdinfo(record, PP_DW_BSDINFO_SIZE - 4, &seen), PP_E_MALFORMED);
}

static void impossible_fields_are_malformed(void **state) {
    (void)state;
    uint8_t record[PP_DW_KINFO_SIZE];
    pp_dw_seen seen;
    fill_kinfo(record);
    put_i32(record, PP_DW_KINFO_START_USEC, 1000000);
    assert_int_equal(pp__dw_decode_kinfo(record, sizeof record, &seen), PP_E_MALFORMED);
    fill_kinfo(record);
    put_i32(record, PP_DW_KINFO_START_USEC, -1);
    assert_int_equal(pp__dw_decode_kinfo(record, sizeof record, &seen), PP_E_MALFORMED);
    fill_kinfo(record);
    put_u64(record, PP_DW_KINFO_START_SEC, 0); /* no process started at the epoch */
    assert_int_equal(pp__dw_decode_kinfo(record, sizeof record, &seen), PP_E_MALFORMED);
    fill_kinfo(record);
    put_u64(record, PP_DW_KINFO_START_SEC, UINT64_MAX / 1000000);
    assert_int_equal(pp__dw_decode_kinfo(record, sizeof record, &seen), PP_E_MALFORMED);
    fill_kinfo(record);
    put_i32(record, PP_DW_KINFO_PID, 0);
    assert_int_equal(pp__dw_decode_kinfo(record, sizeof record, &seen), PP_E_MALFORMED);
    fill_kinfo(record);
    put_i32(record, PP_DW_KINFO_PGID, -3);
    assert_int_equal(pp__dw_decode_kinfo(record, sizeof record, &seen), PP_E_MALFORMED);
}

static void begun_exit_counts_as_zombie(void **state) {
    (void)state;
    uint8_t record[PP_DW_KINFO_SIZE];
    pp_dw_seen seen;
    fill_kinfo(record);
    put_i32(record, PP_DW_KINFO_FLAG, 0x4000 | PP_DW_P_WEXIT); /* still "running" in p_stat */
    assert_int_equal(pp__dw_decode_kinfo(record, sizeof record, &seen), PP_OK);
    assert_int_equal(seen.phase, PP_PHASE_ZOMBIE);
    fill_kinfo(record);
    record[PP_DW_KINFO_STAT] = PP_DW_SZOMB;
    assert_int_equal(pp__dw_decode_kinfo(record, sizeof record, &seen), PP_OK);
    assert_int_equal(seen.phase, PP_PHASE_ZOMBIE);
    fill_kinfo(record);
    record[PP_DW_KINFO_STAT] = PP_DW_SSTOP;
    assert_int_equal(pp__dw_decode_kinfo(record, sizeof record, &seen), PP_OK);
    assert_int_equal(seen.phase, PP_PHASE_STOPPED);
}

static void bsdinfo_agrees_with_kinfo(void **state) {
    (void)state;
    uint8_t record[PP_DW_BSDINFO_SIZE] = { 0 };
    put_i32(record, PP_DW_BSDINFO_FLAGS, 0x10 | PP_DW_PROC_FLAG_INEXIT);
    put_i32(record, PP_DW_BSDINFO_STATUS, 2);
    put_i32(record, PP_DW_BSDINFO_PID, 42);
    put_i32(record, PP_DW_BSDINFO_PPID, 7);
    put_i32(record, PP_DW_BSDINFO_PGID, 40);
    put_u64(record, PP_DW_BSDINFO_START_SEC, 1764444000);
    put_u64(record, PP_DW_BSDINFO_START_USEC, 123456);
    put_name(record, PP_DW_BSDINFO_COMM, "short", 5);
    pp_dw_seen seen;
    assert_int_equal(pp__dw_decode_bsdinfo(record, sizeof record, &seen), PP_OK);
    assert_int_equal(seen.pid, 42);
    assert_int_equal(seen.ppid, 7);
    assert_int_equal(seen.pgid, 40);
    assert_int_equal(seen.start_us, UINT64_C(1764444000123456));
    assert_int_equal(seen.phase, PP_PHASE_ZOMBIE);
    assert_string_equal(seen.name, "short");
    put_name(record, PP_DW_BSDINFO_NAME, "the longer name", 15);
    assert_int_equal(pp__dw_decode_bsdinfo(record, sizeof record, &seen), PP_OK);
    assert_string_equal(seen.name, "the longer name");
}

static const pp_dw_timebase apple_silicon = { 125, 3 };

static void fill_rusage(uint8_t record[PP_DW_RUSAGE_V6_SIZE]) {
    memset(record, 0, PP_DW_RUSAGE_V6_SIZE);
    put_u64(record, PP_DW_RUSAGE_USER, 24000000);
    put_u64(record, PP_DW_RUSAGE_SYSTEM, 48000000);
    put_u64(record, PP_DW_RUSAGE_PKG_IDLE, 11);
    put_u64(record, PP_DW_RUSAGE_INTERRUPT, 12);
    put_u64(record, PP_DW_RUSAGE_RESIDENT, 13);
    put_u64(record, PP_DW_RUSAGE_FOOTPRINT, 14);
    put_u64(record, PP_DW_RUSAGE_START_ABS, 15);
    put_u64(record, PP_DW_RUSAGE_CHILD_USER, 3);
    put_u64(record, PP_DW_RUSAGE_CHILD_SYSTEM, 6);
    put_u64(record, PP_DW_RUSAGE_DISK_WRITTEN, 16);
    put_u64(record, PP_DW_RUSAGE_LOGICAL_WRITES, 17);
    put_u64(record, PP_DW_RUSAGE_BILLED_ENERGY, 18);
}

static void assert_known(pp_reading reading, uint64_t value) {
    assert_true(reading.known);
    assert_true(reading.value == value);
}

static void assert_missing(pp_reading reading, pp_status why) {
    assert_false(reading.known);
    assert_int_equal(reading.why, why);
}

static void rusage_gives_every_field_in_ns_and_bytes(void **state) {
    (void)state;
    uint8_t record[PP_DW_RUSAGE_V6_SIZE];
    fill_rusage(record);
    pp_usage usage;
    pp__dw_decode_rusage(record, 6, apple_silicon, &usage);
    assert_known(usage.cpu_ns, UINT64_C(3000000000)); /* ticks of 125/3 ns, not ns */
    assert_known(usage.child_cpu_ns, 375);
    assert_known(usage.wakeups_pkg_idle, 11);
    assert_known(usage.wakeups_interrupt, 12);
    assert_known(usage.rss_bytes, 13);
    assert_known(usage.footprint_bytes, 14);
    assert_known(usage.write_bytes, 16);
    assert_known(usage.logical_write_bytes, 17);
    assert_known(usage.billed_energy, 18);
    assert_int_equal(pp__dw_rusage_start_ticks(record), 15);
}

static void what_macos_does_not_count_is_unsupported(void **state) {
    (void)state;
    uint8_t record[PP_DW_RUSAGE_V6_SIZE];
    fill_rusage(record);
    pp_usage usage;
    pp__dw_decode_rusage(record, 6, apple_silicon, &usage);
    assert_missing(usage.voluntary_switches, PP_E_UNSUPPORTED);
    assert_missing(usage.involuntary_switches, PP_E_UNSUPPORTED);
    assert_missing(usage.cancelled_write_bytes, PP_E_UNSUPPORTED);
}

/* proves: TRK-7 */
static void memory_of_an_exit_record_is_no_reading(void **state) {
    (void)state;
    uint8_t record[PP_DW_RUSAGE_V6_SIZE];
    fill_rusage(record);
    put_u64(record, PP_DW_RUSAGE_FOOTPRINT, 0);
    put_u64(record, PP_DW_RUSAGE_EXIT_ABS, 99);
    pp_usage usage;
    pp__dw_decode_rusage(record, 6, apple_silicon, &usage);
    assert_missing(usage.footprint_bytes, PP_E_VANISHED);
    assert_missing(usage.rss_bytes, PP_E_VANISHED);
    assert_known(usage.cpu_ns, UINT64_C(3000000000)); /* the final reading */
    assert_known(usage.write_bytes, 16);
}

static void zero_footprint_of_a_living_process_is_a_reading(void **state) {
    (void)state;
    uint8_t record[PP_DW_RUSAGE_V6_SIZE];
    fill_rusage(record);
    put_u64(record, PP_DW_RUSAGE_FOOTPRINT, 0); /* right after exec */
    pp_usage usage;
    pp__dw_decode_rusage(record, 6, apple_silicon, &usage);
    assert_known(usage.footprint_bytes, 0);
}

static void oldest_record_leaves_the_rest_unsupported(void **state) {
    (void)state;
    uint8_t record[PP_DW_RUSAGE_V6_SIZE];
    fill_rusage(record);
    pp_usage usage;
    pp__dw_decode_rusage(record, 0, apple_silicon, &usage);
    assert_known(usage.cpu_ns, UINT64_C(3000000000));
    assert_missing(usage.child_cpu_ns, PP_E_UNSUPPORTED);
    assert_missing(usage.write_bytes, PP_E_UNSUPPORTED);
    assert_missing(usage.logical_write_bytes, PP_E_UNSUPPORTED);
    assert_missing(usage.billed_energy, PP_E_UNSUPPORTED);
}

static void odd_timebases_do_not_overflow_early(void **state) {
    (void)state;
    uint8_t record[PP_DW_RUSAGE_V6_SIZE];
    pp_usage usage;
    fill_rusage(record);
    put_u64(record, PP_DW_RUSAGE_USER, 1000);
    put_u64(record, PP_DW_RUSAGE_SYSTEM, 1);
    pp__dw_decode_rusage(record, 6, (pp_dw_timebase){ 1000, 24 }, &usage);
    assert_known(usage.cpu_ns, 41708);                    /* 1001 * 1000 / 24, rounded down once */
    put_u64(record, PP_DW_RUSAGE_USER, UINT64_MAX / 125); /* times 125 would just not fit */
    put_u64(record, PP_DW_RUSAGE_SYSTEM, 7);
    pp__dw_decode_rusage(record, 6, apple_silicon, &usage);
    assert_known(usage.cpu_ns, UINT64_C(6148914691236517458));
}

static void ticks_beyond_64_bits_are_an_overflow(void **state) {
    (void)state;
    uint8_t record[PP_DW_RUSAGE_V6_SIZE];
    pp_usage usage;
    fill_rusage(record);
    put_u64(record, PP_DW_RUSAGE_USER, UINT64_MAX / 2);
    pp__dw_decode_rusage(record, 6, apple_silicon, &usage);
    assert_missing(usage.cpu_ns, PP_E_OVERFLOW);
    put_u64(record, PP_DW_RUSAGE_USER, UINT64_MAX);
    pp__dw_decode_rusage(record, 6, (pp_dw_timebase){ 1, 1 }, &usage);
    assert_missing(usage.cpu_ns, PP_E_OVERFLOW); /* the sum of both alone */
}

static void fill_siginfo(uint8_t record[PP_DW_SIGINFO_SIZE], int32_t code, int32_t status) {
    memset(record, 0, PP_DW_SIGINFO_SIZE);
    put_i32(record, PP_DW_SIGINFO_PID, 42);
    put_i32(record, PP_DW_SIGINFO_CODE, code);
    put_i32(record, PP_DW_SIGINFO_STATUS, status);
}

/* proves: GRP-1 */
static void untouched_siginfo_is_no_exit(void **state) {
    (void)state;
    uint8_t record[PP_DW_SIGINFO_SIZE] = { 0 };
    pp_exit how;
    assert_int_equal(pp__dw_decode_siginfo(record, 42, &how), PP_E_AGAIN);
}

static void exit_code_has_eight_bits(void **state) {
    (void)state;
    uint8_t record[PP_DW_SIGINFO_SIZE];
    pp_exit how;
    fill_siginfo(record, PP_DW_CLD_EXITED, 0x12345603);
    assert_int_equal(pp__dw_decode_siginfo(record, 42, &how), PP_OK);
    assert_false(how.by_signal);
    assert_int_equal(how.code, 3);
    assert_false(how.cpu_ns.known);
}

static void signal_death_names_the_signal_and_the_core(void **state) {
    (void)state;
    uint8_t record[PP_DW_SIGINFO_SIZE];
    pp_exit how;
    fill_siginfo(record, PP_DW_CLD_KILLED, 9);
    assert_int_equal(pp__dw_decode_siginfo(record, 42, &how), PP_OK);
    assert_true(how.by_signal);
    assert_int_equal(how.signal_number, 9);
    assert_false(how.core_dumped);
    fill_siginfo(record, PP_DW_CLD_KILLED, 0x80 | 11);
    assert_int_equal(pp__dw_decode_siginfo(record, 42, &how), PP_OK);
    assert_int_equal(how.signal_number, 11);
    assert_true(how.core_dumped);
    fill_siginfo(record, PP_DW_CLD_DUMPED, 11);
    assert_int_equal(pp__dw_decode_siginfo(record, 42, &how), PP_OK);
    assert_true(how.core_dumped);
}

static void stop_and_continue_are_no_exits(void **state) {
    (void)state;
    const int32_t codes[] = { PP_DW_CLD_STOPPED, PP_DW_CLD_TRAPPED, PP_DW_CLD_CONTINUED };
    uint8_t record[PP_DW_SIGINFO_SIZE];
    pp_exit how;
    for (size_t i = 0; i < 3; i++) {
        fill_siginfo(record, codes[i], 17);
        assert_int_equal(pp__dw_decode_siginfo(record, 42, &how), PP_E_AGAIN);
    }
}

static void answer_about_another_child_is_malformed(void **state) {
    (void)state;
    uint8_t record[PP_DW_SIGINFO_SIZE];
    pp_exit how;
    fill_siginfo(record, PP_DW_CLD_EXITED, 0);
    assert_int_equal(pp__dw_decode_siginfo(record, 43, &how), PP_E_MALFORMED);
    fill_siginfo(record, 0, 0);
    assert_int_equal(pp__dw_decode_siginfo(record, 42, &how), PP_E_MALFORMED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinfo_gives_identity_and_place),
        cmocka_unit_test(record_of_another_size_is_malformed),
        cmocka_unit_test(impossible_fields_are_malformed),
        cmocka_unit_test(begun_exit_counts_as_zombie),
        cmocka_unit_test(bsdinfo_agrees_with_kinfo),
        cmocka_unit_test(rusage_gives_every_field_in_ns_and_bytes),
        cmocka_unit_test(what_macos_does_not_count_is_unsupported),
        cmocka_unit_test(memory_of_an_exit_record_is_no_reading),
        cmocka_unit_test(zero_footprint_of_a_living_process_is_a_reading),
        cmocka_unit_test(oldest_record_leaves_the_rest_unsupported),
        cmocka_unit_test(odd_timebases_do_not_overflow_early),
        cmocka_unit_test(ticks_beyond_64_bits_are_an_overflow),
        cmocka_unit_test(untouched_siginfo_is_no_exit),
        cmocka_unit_test(exit_code_has_eight_bits),
        cmocka_unit_test(signal_death_names_the_signal_and_the_core),
        cmocka_unit_test(stop_and_continue_are_no_exits),
        cmocka_unit_test(answer_about_another_child_is_malformed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
