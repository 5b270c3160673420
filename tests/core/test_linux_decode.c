/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "linux/decode.h"

/* A copy that ends where the input ends, so that a sanitizer sees a read beyond it. */
static char *exact(const char *text, size_t size) {
    char *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, text, size);
    return copy;
}

#define DECODE(kind, text, ret) decode_exact_##kind((text), strlen(text), (ret))
#define DEFINE_EXACT(kind)                                                                         \
    static pp_status decode_exact_##kind(const char *text, size_t size, void *ret) {               \
        char *bytes = exact(text, size);                                                           \
        pp_error error = { 0 };                                                                    \
        pp_status status = pp__linux_decode_##kind(bytes, size, ret, &error);                      \
        assert_int_equal(error.status, status);                                                    \
        free(bytes);                                                                               \
        return status;                                                                             \
    }
DEFINE_EXACT(stat)
DEFINE_EXACT(statm)
DEFINE_EXACT(io)
DEFINE_EXACT(status)
DEFINE_EXACT(rollup)
DEFINE_EXACT(children)
DEFINE_EXACT(numbers)

#define STAT_TAIL                                                                                  \
    " S 41 40 39 34816 42 4194304 1 2 3 4 500 600 70 80 20 0 3 0 145517 2748416 409 "              \
    "18446744073709551615 1 1 0 0 0 0 0 0 65536 0 0 0 17 1 0 0 0 0 0\n"

static void stat_fields_are_taken_from_their_places(void **state) {
    (void)state;
    pp_linux_stat stat;
    assert_int_equal(DECODE(stat, "42 (cat)" STAT_TAIL, &stat), PP_OK);
    assert_int_equal(stat.pid, 42);
    assert_string_equal(stat.comm, "cat");
    assert_int_equal(stat.state, 'S');
    assert_int_equal(stat.ppid, 41);
    assert_int_equal(stat.pgid, 40);
    assert_int_equal(stat.sid, 39);
    assert_int_equal(stat.own_faults, 1);
    assert_int_equal(stat.child_faults, 2);
    assert_int_equal(stat.child_user_ticks, 70);
    assert_int_equal(stat.child_system_ticks, 80);
    assert_int_equal(stat.threads, 3);
    assert_int_equal(stat.start_ticks, 145517);
}

/* proves: TRK-1 */
static void B01_a_hostile_name_moves_no_field(void **state) {
    (void)state;
    static const char *const names[] = { "x) S 1 (y", ") R 1 1 1", "((", "))",
                                         "a b",       "",          " ",  "x) Z 1 2 3\\n" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char line[512];
        pp_linux_stat stat;
        (void)snprintf(line, sizeof line, "42 (%s)" STAT_TAIL, names[i]);
        assert_int_equal(DECODE(stat, line, &stat), PP_OK);
        assert_string_equal(stat.comm, names[i]);
        assert_int_equal(stat.ppid, 41);
        assert_int_equal(stat.pgid, 40);
        assert_int_equal(stat.start_ticks, 145517);
    }
}

static void a_name_longer_than_any_is_cut_and_terminated(void **state) {
    (void)state;
    char line[512];
    pp_linux_stat stat;
    (void)snprintf(line, sizeof line, "42 (%0200d)" STAT_TAIL, 0);
    assert_int_equal(DECODE(stat, line, &stat), PP_OK);
    assert_int_equal(strlen(stat.comm), PP_LINUX_COMM_MAX - 1);
    assert_int_equal(stat.ppid, 41);
}

static void a_session_of_nobody_and_a_parentless_process_are_zero(void **state) {
    (void)state;
    pp_linux_stat stat;
    assert_int_equal(
        DECODE(stat, "2 (kthreadd) S 0 0 0 0 -1 1 1 2 3 4 5 6 7 8 20 0 1 0 9 0\n", &stat), PP_OK);
    assert_int_equal(stat.ppid, 0);
    assert_int_equal(stat.start_ticks, 9);
}

/* proves: TRK-1 */
static void a_stat_line_cut_anywhere_is_malformed_or_whole(void **state) {
    (void)state;
    static const char line[] = "42 (cat)" STAT_TAIL;
    const char *start = strstr(line, "145517");
    size_t whole = (size_t)(start - line) + 6;
    for (size_t size = 0; size < sizeof line - 1; size++) {
        pp_linux_stat stat = { .pid = -5 };
        pp_status status = decode_exact_stat(line, size, &stat);
        /* A cut inside the last wanted number cannot be seen; the reader never cuts. */
        if (size <= whole - 6)
            assert_int_equal(status, PP_E_MALFORMED);
        if (size >= whole)
            assert_int_equal(stat.start_ticks, 145517);
        if (status != PP_OK)
            assert_int_equal(stat.pid, -5);
    }
}

static void numbers_that_are_none_are_malformed(void **state) {
    (void)state;
    static const char *const lines[] = {
        "0 (a) S 1 1 1 0 -1 1 1 2 3 4 5 6 7 8 20 0 1 0 9 0\n",
        "-3 (a) S 1 1 1 0 -1 1 1 2 3 4 5 6 7 8 20 0 1 0 9 0\n",
        "x (a) S 1 1 1 0 -1 1 1 2 3 4 5 6 7 8 20 0 1 0 9 0\n",
        "4 (a) S 1x 1 1 0 -1 1 1 2 3 4 5 6 7 8 20 0 1 0 9 0\n",
        "4 (a) S 1 2147483648 1 0 -1 1 1 2 3 4 5 6 7 8 20 0 1 0 9 0\n",
        "4 (a) SS 1 1 1 0 -1 1 1 2 3 4 5 6 7 8 20 0 1 0 9 0\n",
        "4 (a) 1 1 1 1 0 -1 1 1 2 3 4 5 6 7 8 20 0 1 0 9 0\n",
        "4 (a) S 1 1 1 0 -1 1 1 2 3 4 5 6 -7 8 20 0 1 0 9 0\n",
        "4 (a) S 1 1 1 0 -1 1 1 2 3 4 5 6 7 8 20 0 1 0 18446744073709551616 0\n",
        "4 (a) S 1 1 1 0 -1 1 1 2 3 4 5 6 7 8 20 0 1 0 -9 0\n",
        "4 (a) S 1 1 1 0 -1 1 x 2 3 4 5 6 7 8 20 0 1 0 9 0\n",
        "4 (a) S 1 1 1 0 -1 1 1 -2 3 4 5 6 7 8 20 0 1 0 9 0\n",
        "4 )a( S 1 1 1 0 -1 1 1 2 3 4 5 6 7 8 20 0 1 0 9 0\n",
        "4 a S 1 1 1\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        pp_linux_stat stat;
        assert_int_equal(DECODE(stat, lines[i], &stat), PP_E_MALFORMED);
    }
}

static void statm_gives_total_and_resident_pages(void **state) {
    (void)state;
    pp_linux_statm statm;
    assert_int_equal(DECODE(statm, "670 409 384 24 0 86 0\n", &statm), PP_OK);
    assert_int_equal(statm.total_pages, 670);
    assert_int_equal(statm.resident_pages, 409);
    assert_int_equal(DECODE(statm, "670", &statm), PP_E_MALFORMED);
    assert_int_equal(DECODE(statm, "", &statm), PP_E_MALFORMED);
    assert_int_equal(DECODE(statm, "670 -4 384\n", &statm), PP_E_MALFORMED);
}

static void io_tells_written_from_cancelled_and_from_characters(void **state) {
    (void)state;
    pp_linux_io io;
    assert_int_equal(DECODE(io,
                            "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\n"
                            "write_bytes: 18446744073709551615\ncancelled_write_bytes: 7\n",
                            &io),
                     PP_OK);
    assert_true(io.write_bytes.known && io.write_bytes.value == UINT64_MAX);
    assert_true(io.cancelled_write_bytes.known && io.cancelled_write_bytes.value == 7);
}

/* proves: TRK-1 */
static void an_absent_counter_is_unsupported_and_not_zero(void **state) {
    (void)state;
    pp_linux_io io;
    assert_int_equal(DECODE(io, "rchar: 1\nwrite_bytes: 6\n", &io), PP_OK);
    assert_true(io.write_bytes.known);
    assert_false(io.cancelled_write_bytes.known);
    assert_int_equal(io.cancelled_write_bytes.why, PP_E_UNSUPPORTED);
    assert_int_equal(DECODE(io, "write_bytes: 6", &io), PP_E_MALFORMED);
    assert_int_equal(DECODE(io, "write_bytes: six\n", &io), PP_E_MALFORMED);
    assert_int_equal(DECODE(io, "write_bytes:\n", &io), PP_E_MALFORMED);
}

#define STATUS_HEAD "Name:\tvoluntary_ctxt_switches: 9\\nSigIgn:\nUmask:\t0022\n"

static void status_shows_whether_sigchld_is_ignored(void **state) {
    (void)state;
    pp_linux_status status;
    assert_int_equal(DECODE(status, STATUS_HEAD "SigIgn:\t0000000000010000\n", &status), PP_OK);
    assert_true(status.sigchld_ignored);
    assert_int_equal(DECODE(status, STATUS_HEAD "SigIgn:\tfffffffffffeffff\n", &status), PP_OK);
    assert_false(status.sigchld_ignored);
    assert_int_equal(DECODE(status, STATUS_HEAD, &status), PP_E_MALFORMED);
    assert_int_equal(DECODE(status, "SigIgn:\t10000000000000000\n", &status), PP_E_MALFORMED);
    assert_int_equal(DECODE(status, "SigIgn:\t00g0\n", &status), PP_E_MALFORMED);
    assert_int_equal(DECODE(status, "SigIgn:\t\n", &status), PP_E_MALFORMED);
}

static void status_keeps_the_two_kinds_of_switches_apart(void **state) {
    (void)state;
    pp_linux_status status;
    assert_int_equal(DECODE(status,
                            STATUS_HEAD "VmPTE:\t      40 kB\nSigIgn:\t0000000000001000\n"
                                        "voluntary_ctxt_switches:\t12\n"
                                        "nonvoluntary_ctxt_switches:\t3\n",
                            &status),
                     PP_OK);
    assert_int_equal(status.voluntary_switches.value, 12);
    assert_int_equal(status.involuntary_switches.value, 3);
    assert_int_equal(status.page_table_bytes.value, 40960);
    assert_int_equal(DECODE(status, "SigIgn:\t0\nVmPTE:\t40\n", &status), PP_E_MALFORMED);
    assert_int_equal(DECODE(status, "SigIgn:\t0\n", &status), PP_OK);
    assert_false(status.voluntary_switches.known);
    assert_false(status.page_table_bytes.known);
}

static void the_rollup_tells_similar_names_apart(void **state) {
    (void)state;
    pp_linux_rollup rollup;
    assert_int_equal(DECODE(rollup,
                            "55d0-7ffd ---p 00000000 00:00 0                    [rollup]\n"
                            "Rss:        900 kB\nPss:        100 kB\nPss_Dirty:   1 kB\n"
                            "Pss_Anon:    20 kB\nPss_File:    30 kB\nPss_Shmem:   50 kB\n"
                            "Private_Clean: 4 kB\nPrivate_Dirty: 8 kB\nSwap:  16 kB\n"
                            "SwapPss:  32 kB\n",
                            &rollup),
                     PP_OK);
    assert_int_equal(rollup.rss_bytes.value, 900 * 1024);
    assert_int_equal(rollup.pss_bytes.value, 100 * 1024);
    assert_int_equal(rollup.pss_anon_bytes.value, 20 * 1024);
    assert_int_equal(rollup.pss_shmem_bytes.value, 50 * 1024);
    assert_int_equal(rollup.private_clean_bytes.value, 4 * 1024);
    assert_int_equal(rollup.private_dirty_bytes.value, 8 * 1024);
    assert_int_equal(rollup.swap_bytes.value, 16 * 1024);
    assert_int_equal(rollup.swap_pss_bytes.value, 32 * 1024);
    assert_int_equal(DECODE(rollup, "Pss: 18446744073709551615 kB\n", &rollup), PP_E_MALFORMED);
}

static void children_are_listed_to_the_last_one(void **state) {
    (void)state;
    pp_pid_list list = { 0 };
    assert_int_equal(DECODE(children, "", &list), PP_OK);
    assert_int_equal(list.count, 0);
    assert_int_equal(DECODE(children, "12 345 6 ", &list), PP_OK);
    assert_int_equal(list.count, 3);
    assert_int_equal(list.pids[2], 6);
    assert_int_equal(DECODE(children, "7", &list), PP_OK);
    assert_int_equal(list.pids[3], 7);
    assert_int_equal(DECODE(children, "12 x ", &list), PP_E_MALFORMED);
    assert_int_equal(DECODE(children, "0 ", &list), PP_E_MALFORMED);
    assert_int_equal(DECODE(children, "-4 ", &list), PP_E_MALFORMED);
    pp_pid_list_done(&list);
}

static size_t put_entry(char *at, const char *name, uint16_t length) {
    memset(at, 0, length);
    memcpy(at + 16, &length, sizeof length);
    for (size_t i = 0; name[i] != '\0'; i++)
        at[19 + i] = name[i];
    return length;
}

static void only_numbers_of_a_directory_are_listed(void **state) {
    (void)state;
    char bytes[256];
    size_t size = 0;
    size += put_entry(bytes + size, ".", 24);
    size += put_entry(bytes + size, "self", 24);
    size += put_entry(bytes + size, "1", 24);
    size += put_entry(bytes + size, "12a", 24);
    size += put_entry(bytes + size, "4194304", 32);
    size += put_entry(bytes + size, "9999999999", 32);
    size += put_entry(bytes + size, "0", 24);
    pp_pid_list list = { 0 };
    assert_int_equal(decode_exact_numbers(bytes, size, &list), PP_OK);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.pids[0], 1);
    assert_int_equal(list.pids[1], 4194304);
    pp_pid_list_done(&list);
}

/* proves: TRK-6 */
static void a_broken_directory_entry_is_no_end_of_the_list(void **state) {
    (void)state;
    char bytes[64];
    pp_pid_list list = { 0 };
    size_t size = put_entry(bytes, "123", 24);
    assert_int_equal(decode_exact_numbers(bytes, size - 1, &list), PP_E_MALFORMED);
    assert_int_equal(decode_exact_numbers(bytes, 10, &list), PP_E_MALFORMED);
    uint16_t zero = 0;
    memcpy(bytes + 16, &zero, sizeof zero);
    assert_int_equal(decode_exact_numbers(bytes, size, &list), PP_E_MALFORMED);
    size = put_entry(bytes, "12345", 24);
    assert_int_equal(decode_exact_numbers(bytes, size, &list), PP_E_MALFORMED); /* no NUL */
    pp_pid_list_done(&list);
}

static void the_time_of_a_thread_is_its_first_number(void **state) {
    (void)state;
    uint64_t time_ns = 3;
    assert_int_equal(pp__linux_decode_schedstat("123456 7 8\n", 11, &time_ns, NULL), PP_OK);
    assert_int_equal(time_ns, 123456);
    assert_int_equal(pp__linux_decode_schedstat("-1 7 8\n", 7, &time_ns, NULL), PP_E_MALFORMED);
    assert_int_equal(pp__linux_decode_schedstat("", 0, &time_ns, NULL), PP_E_MALFORMED);
    assert_int_equal(time_ns, 123456);
}

/* An access list: version 2, then tag, permissions and id of each entry, little-endian. */
#define ACL_HEAD "\2\0\0\0"
#define ACL_NOBODY "\xff\xff\xff\xff"
#define ACL_OWNER "\1\0\6\0" ACL_NOBODY
#define ACL_USER "\2\0\7\0\xe8\3\0\0"
#define ACL_REST                                                                                   \
    "\4\0\4\0" ACL_NOBODY "\10\0\5\0\xfe\xff\xff\xff"                                              \
    "\20\0\6\0" ACL_NOBODY "\40\0\0\0" ACL_NOBODY

typedef struct acl_row {
    const char *bytes;
    size_t size;
    const char *text; /* NULL: malformed */
} acl_row;

#define ACL(bytes, text)                                                                           \
    { (bytes), sizeof(bytes) - 1, (text) }

/* proves: GUARD-5 */
static void an_access_list_is_whole_or_malformed(void **state) {
    (void)state;
    static const acl_row rows[] = {
        ACL(ACL_HEAD ACL_OWNER ACL_USER ACL_REST,
            "user::rw-,user:1000:rwx,group::r--,group:4294967294:r-x,mask::rw-,other::---"),
        ACL(ACL_HEAD, ""),
        ACL(ACL_HEAD ACL_OWNER "\2\0\7\0\xe8\3\0", NULL), /* cut */
        ACL("\2\0\0", NULL),
        ACL("", NULL),
        ACL("\3\0\0\0" ACL_OWNER, NULL),            /* another version */
        ACL(ACL_HEAD "\3\0\6\0" ACL_NOBODY, NULL),  /* no such tag */
        ACL(ACL_HEAD "\1\0\10\0" ACL_NOBODY, NULL), /* no such permission */
        ACL(ACL_HEAD "\1\0\6\1" ACL_NOBODY, NULL),
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *bytes = exact(rows[i].bytes, rows[i].size), *text = NULL;
        pp_status status = pp__linux_decode_acl(bytes, rows[i].size, &text, NULL);
        free(bytes);
        assert_int_equal(status, rows[i].text ? PP_OK : PP_E_MALFORMED);
        if (rows[i].text)
            assert_string_equal(text, rows[i].text);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stat_fields_are_taken_from_their_places),
        cmocka_unit_test(B01_a_hostile_name_moves_no_field),
        cmocka_unit_test(a_name_longer_than_any_is_cut_and_terminated),
        cmocka_unit_test(a_session_of_nobody_and_a_parentless_process_are_zero),
        cmocka_unit_test(a_stat_line_cut_anywhere_is_malformed_or_whole),
        cmocka_unit_test(numbers_that_are_none_are_malformed),
        cmocka_unit_test(statm_gives_total_and_resident_pages),
        cmocka_unit_test(the_time_of_a_thread_is_its_first_number),
        cmocka_unit_test(io_tells_written_from_cancelled_and_from_characters),
        cmocka_unit_test(an_absent_counter_is_unsupported_and_not_zero),
        cmocka_unit_test(status_shows_whether_sigchld_is_ignored),
        cmocka_unit_test(status_keeps_the_two_kinds_of_switches_apart),
        cmocka_unit_test(the_rollup_tells_similar_names_apart),
        cmocka_unit_test(children_are_listed_to_the_last_one),
        cmocka_unit_test(only_numbers_of_a_directory_are_listed),
        cmocka_unit_test(a_broken_directory_entry_is_no_end_of_the_list),
        cmocka_unit_test(an_access_list_is_whole_or_malformed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
