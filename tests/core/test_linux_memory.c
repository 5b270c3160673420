/* SPDX-License-Identifier: Apache-2.0 */
/* Memory readings of the Linux host, those that never come included. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#ifdef __linux__
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "linux_fixture.h"
#include "memory_of.h"

enum { PID = SCRIPT_FIRST_PID + 7 };
#define KIB UINT64_C(1024)

#define ROLLUP                                                                                     \
    "Rss: 900 kB\nPss: 100 kB\nPss_Anon: 20 kB\nPss_Shmem: 50 kB\nPrivate_Clean: 4 kB\n"           \
    "Private_Dirty: 8 kB\nSwap: 16 kB\nSwapPss: 32 kB\n"

static void memory_is_combined_from_its_parts(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    script_of(proc, "smaps_rollup", ROLLUP);
    pp_proc_id id = identified(PID);
    pp_memory memory = { 0 };
    assert_int_equal(memory_of(&host, id, INT64_MAX, &memory, &host_error), PP_OK);
    assert_known(memory.pss_bytes, 100 * KIB);
    assert_known(memory.uss_bytes, 12 * KIB);
    assert_known(memory.swap_bytes, 16 * KIB);
    assert_known(memory.footprint_pss_bytes, (20 + 50 + 32 + 8) * KIB);

    script_of(proc, "status", "SigIgn:\t0\n"); /* no VmPTE: one part is missing */
    assert_int_equal(memory_of(&host, id, INT64_MAX, &memory, &host_error), PP_OK);
    assert_missing(memory.footprint_pss_bytes, PP_E_UNSUPPORTED);
    assert_known(memory.pss_bytes, 100 * KIB);
}

/* proves: TRK-1 */
static void denied_memory_and_no_memory_are_told_apart(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    script_file *rollup = script_of(proc, "smaps_rollup", ROLLUP);
    pp_proc_id id = identified(PID);
    pp_memory memory = { 0 };
    rollup->open_errno = EACCES;
    assert_int_equal(memory_of(&host, id, INT64_MAX, &memory, &host_error), PP_E_DENIED);
    assert_int_equal(host_error.sys_errno, EACCES);
    rollup->open_errno = 0;
    rollup->read_errno = ESRCH;
    assert_int_equal(memory_of(&host, id, INT64_MAX, &memory, &host_error), PP_E_VANISHED);
}

/* proves: MET-3 */
static void a_child_in_its_parents_address_space_says_so_until_it_has_its_own(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    pp_proc_id id = identified(PID);
    proc->memory_answer = 0;
    assert_true(used(id, false).shares_memory);
    assert_true(used(id, false).rss_bytes.known);
    proc->memory_answer = -EPERM;
    assert_false(used(id, false).shares_memory); /* not known to */
    proc->memory_answer = 0;
    assert_true(used(id, false).shares_memory);
    proc->memory_answer = 2;
    assert_false(used(id, false).shares_memory);
    int asked = proc->memory_questions;
    assert_false(used(id, false).shares_memory);
    assert_int_equal(proc->memory_questions, asked);
}

static int64_t from_now(int64_t ns) {
    pp_now now;
    assert_int_equal(host.now(host.ctx, &now, &host_error), PP_OK);
    return now.t_ns + ns;
}

#define SECOND INT64_C(1000000000)

/* proves: TRK-1 */
static void a_memory_read_that_hangs_is_blocked_in_time_and_holds_up_nobody(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    script_proc *other = script_process(PID + 1, 1, 34);
    script_file *rollup = script_of(proc, "smaps_rollup", ROLLUP);
    script_of(other, "smaps_rollup", "Pss: 7 kB\n");
    pp_proc_id id = identified(PID), other_id = identified(PID + 1);
    pp_memory memory = { 0 };
    rollup->blocks = true;
    int64_t half_ns = from_now(SECOND / 4);
    assert_int_equal(memory_of(&host, id, half_ns + SECOND / 4, &memory, &host_error),
                     PP_E_BLOCKED);
    assert_true(from_now(0) >= half_ns);
    /* As long as it hangs nobody waits for it again, whatever the deadline. */
    assert_int_equal(memory_of(&host, id, INT64_MAX, &memory, &host_error), PP_E_BLOCKED);
    assert_int_equal(memory_of(&host, other_id, INT64_MAX, &memory, &host_error), PP_OK);
    assert_known(memory.pss_bytes, 7 * KIB);
    assert_true(used(id, false).cpu_ns.known);

    script_unblock(rollup);
    pp_status status = PP_E_BLOCKED;
    int64_t limit_ns = from_now(20 * SECOND);
    while (status == PP_E_BLOCKED && from_now(0) < limit_ns)
        status = memory_of(&host, id, limit_ns, &memory, &host_error);
    assert_int_equal(status, PP_OK);
    assert_known(memory.pss_bytes, 100 * KIB);
    assert_int_equal(memory_of(&host, other_id, limit_ns, &memory, &host_error), PP_OK);
    assert_known(memory.pss_bytes, 7 * KIB); /* its own, no late answer */
}

enum { HUNG = 9 }; /* all readers */

static size_t entries_alone; /* with one thread */

/* Readers of an earlier test, whose host closed while they hung, end on their own. */
static size_t threads_alone(void) {
    int64_t limit_ns = from_now(20 * SECOND);
    while (count_entries("/proc/self/task") > entries_alone && from_now(0) < limit_ns)
        (void)sched_yield();
    assert_int_equal(count_entries("/proc/self/task"), entries_alone);
    return entries_alone;
}

/* proves: TRK-1 */
static void as_many_readers_as_may_hang_and_no_more_and_all_come_back(void **state) {
    (void)state;
    pp_proc_id ids[HUNG + 1];
    script_file *files[HUNG + 1];
    pp_memory memory = { 0 };
    for (int i = 0; i <= HUNG; i++) {
        files[i] = script_of(script_process(PID + i, 1, 33), "smaps_rollup", ROLLUP);
        ids[i] = identified(PID + i);
    }
    size_t threads = threads_alone();
    for (int i = 0; i < HUNG; i++) {
        if (i > 0) /* in the same pass */
            assert_int_equal(memory_of(&host, ids[HUNG], INT64_MAX, &memory, &host_error), PP_OK);
        files[i]->blocks = true;
        assert_int_equal(memory_of(&host, ids[i], from_now(SECOND / 50), &memory, &host_error),
                         PP_E_BLOCKED);
    }
    assert_int_equal(memory_of(&host, ids[HUNG], INT64_MAX, &memory, &host_error), PP_E_BLOCKED);
    assert_int_equal(count_entries("/proc/self/task"), threads + HUNG);

    for (int i = 0; i < HUNG; i++)
        script_unblock(files[i]);
    int64_t limit_ns = from_now(20 * SECOND);
    for (int i = 0; i <= HUNG; i++) {
        pp_status status = PP_E_BLOCKED;
        while (status == PP_E_BLOCKED && from_now(0) < limit_ns)
            status = memory_of(&host, ids[i], limit_ns, &memory, &host_error);
        assert_int_equal(status, PP_OK);
    }
    assert_int_equal(count_entries("/proc/self/task"), threads + HUNG); /* the same ones */
}

/* proves: TRK-1 */
static void one_on_the_list_that_hangs_is_blocked_and_those_behind_it_are_read(void **state) {
    (void)state;
    pp_memory_answer items[4] = { 0 };
    script_file *files[4];
    for (int i = 0; i < 4; i++) {
        files[i] = script_of(script_process(PID + i, 1, 33), "smaps_rollup", ROLLUP);
        items[i].id = identified(PID + i);
    }
    files[1]->blocks = true;
    files[3]->open_errno = EACCES;
    size_t threads = threads_alone();
    host.memory(host.ctx, items, 4, from_now(SECOND / 4));
    assert_int_equal(items[0].status, PP_OK);
    assert_known(items[0].memory.pss_bytes, 100 * KIB);
    assert_int_equal(items[1].status, PP_E_BLOCKED);
    assert_string_equal(items[1].op, "smaps_rollup");
    assert_int_equal(items[2].status, PP_OK);
    assert_int_equal(items[3].status, PP_E_DENIED);
    assert_int_equal(items[3].sys_errno, EACCES);
    assert_int_equal(count_entries("/proc/self/task"), threads + 2);

    host.memory(host.ctx, items, 3, from_now(20 * SECOND)); /* the same again */
    assert_int_equal(items[0].status, PP_OK);
    assert_int_equal(items[1].status, PP_E_BLOCKED);
    assert_int_equal(items[2].status, PP_OK);
    assert_int_equal(count_entries("/proc/self/task"), threads + 2);

    script_unblock(files[1]);
    int64_t limit_ns = from_now(20 * SECOND);
    while (items[1].status == PP_E_BLOCKED && from_now(0) < limit_ns)
        host.memory(host.ctx, items, 3, limit_ns);
    assert_int_equal(items[1].status, PP_OK);
}

/* proves: TRK-1 */
static void once_the_deadline_is_over_nobody_is_asked(void **state) {
    (void)state;
    pp_memory_answer items[2] = { 0 };
    for (int i = 0; i < 2; i++) {
        script_of(script_process(PID + i, 1, 33), "smaps_rollup", ROLLUP);
        items[i].id = identified(PID + i);
    }
    size_t threads = threads_alone();
    host.memory(host.ctx, items, 2, from_now(0));
    assert_int_equal(items[0].status, PP_E_BLOCKED);
    assert_int_equal(items[1].status, PP_E_BLOCKED);
    assert_int_equal(count_entries("/proc/self/task"), threads);
}

/* proves: TRK-1 */
static void closing_the_host_waits_for_no_hung_reader(void **state) {
    (void)state;
    script_file *rollup = script_of(script_process(PID, 1, 33), "smaps_rollup", ROLLUP);
    pp_proc_id id = identified(PID);
    pp_memory memory = { 0 };
    size_t threads = threads_alone() + 1;
    rollup->blocks = true;
    assert_int_equal(memory_of(&host, id, from_now(SECOND / 50), &memory, &host_error),
                     PP_E_BLOCKED);
    pp_host_close(&host); /* this test ends */
    assert_int_equal(count_entries("/proc/self/task"), threads);
    script_unblock(rollup);
    int64_t limit = time(NULL) + 20;
    while (count_entries("/proc/self/task") == threads && time(NULL) < limit)
        (void)sched_yield();
    assert_int_equal(count_entries("/proc/self/task"), threads - 1); /* it ended by itself */
    assert_int_equal(open_host(-1, -1), PP_OK);
}

static void *unblock_later(void *file) {
    (void)nanosleep(&(struct timespec){ .tv_nsec = 300000000 }, NULL);
    script_unblock(file);
    return NULL;
}

/* proves: MET-3 */
static void a_slow_memory_read_within_the_deadline_is_a_reading_and_so_is_the_next(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    script_proc *other = script_process(PID + 1, 1, 34);
    script_file *rollup = script_of(proc, "smaps_rollup", ROLLUP);
    script_of(other, "smaps_rollup", "Pss: 7 kB\n");
    pp_proc_id id = identified(PID), other_id = identified(PID + 1);
    pp_memory memory = { 0 };
    pthread_t helper;
    rollup->blocks = true;
    assert_int_equal(pthread_create(&helper, NULL, unblock_later, rollup), 0);
    int64_t deadline_ns = from_now(20 * SECOND);
    assert_int_equal(memory_of(&host, id, deadline_ns, &memory, &host_error), PP_OK);
    assert_known(memory.pss_bytes, 100 * KIB);
    assert_int_equal(memory_of(&host, other_id, deadline_ns, &memory, &host_error), PP_OK);
    assert_known(memory.pss_bytes, 7 * KIB);
    assert_int_equal(pthread_join(helper, NULL), 0);
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(name, open_scripted, close_scripted)
    const struct CMUnitTest tests[] = {
        T(memory_is_combined_from_its_parts),
        T(denied_memory_and_no_memory_are_told_apart),
        T(a_memory_read_that_hangs_is_blocked_in_time_and_holds_up_nobody),
        T(a_child_in_its_parents_address_space_says_so_until_it_has_its_own),
        T(as_many_readers_as_may_hang_and_no_more_and_all_come_back),
        T(one_on_the_list_that_hangs_is_blocked_and_those_behind_it_are_read),
        T(once_the_deadline_is_over_nobody_is_asked),
        T(closing_the_host_waits_for_no_hung_reader),
        T(a_slow_memory_read_within_the_deadline_is_a_reading_and_so_is_the_next),
    };
    entries_alone = count_entries("/proc/self/task");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void) {
    return 77; /* skipped: Linux only */
}
#endif
