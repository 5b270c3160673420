/* SPDX-License-Identifier: Apache-2.0 */
/* One process seen through the Linux host: identity, place, counters, memory, switches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#ifdef __linux__
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "linux_fixture.h"

enum { PID = SCRIPT_FIRST_PID + 7 };
#define PAGE ((uint64_t)sysconf(_SC_PAGESIZE))

static void a_process_is_described_from_its_own_files(void **state) {
    (void)state;
    script_process(PID, 145517, 33);
    pp_proc_info info;
    assert_int_equal(host.identify(host.ctx, PID, &info, &host_error), PP_OK);
    assert_int_equal(info.id.pid, PID);
    assert_int_equal(info.id.start, 145517);
    assert_int_equal(info.id.unique, 33);
    assert_int_equal(info.ppid, 1);
    assert_int_equal(info.pgid, PID);
    assert_int_equal(info.phase, PP_PHASE_ALIVE);
    assert_int_equal(info.start_ns, UINT64_C(1455170000000));
    assert_string_equal(info.exe, "/opt/app");
    assert_false(info.sigchld_ignored);
}

static void counters_are_in_ns_and_bytes(void **state) {
    (void)state;
    script_process(PID, 1, 33)->cpu_ns = 1234567890123;
    pp_usage usage = used(identified(PID), false);
    assert_known(usage.cpu_ns, 1234567890123);
    assert_known(usage.child_cpu_ns, 420000000);
    assert_known(usage.rss_bytes, 7 * PAGE);
    assert_known(usage.write_bytes, 8192);
    assert_known(usage.cancelled_write_bytes, 4096);
    assert_known(usage.threads, 1);
    assert_missing(usage.footprint_bytes, PP_E_UNSUPPORTED);
    assert_missing(usage.wakeups_interrupt, PP_E_UNSUPPORTED);
    assert_missing(usage.voluntary_switches, PP_OK);
}

static int has_exited(int id_type, int id, siginfo_t *ret_info, int options, struct rusage *usage) {
    (void)id_type, (void)id, (void)options, (void)usage;
    ret_info->si_pid = PID;
    ret_info->si_code = CLD_EXITED;
    return 0;
}

/* proves: SMP-4, TRK-8 */
static void counters_go_with_the_look_before_them_once_and_never_with_one_before_the_end(void **s) {
    (void)s;
    script_proc *proc = script_process(PID, 1, 33);
    pp_proc_id id = identified(PID);
    pp_exit exit;
    script_of(proc, "stat", "90000007 (app) S 1 7 7 0 -1 0 1 1 1 1 1 1 50 0 20 0 1 0 1 0 0\n");
    assert_known(used(id, false).child_cpu_ns, 420000000);
    assert_known(used(id, false).child_cpu_ns, 500000000);

    (void)identified(PID);
    script_of(proc, "stat", "90000007 (app) Z 1 7 7 0 -1 0 1 1 1 1 1 1 60 0 20 0 1 0 1 0 0\n");
    scripted.sys.wait_id = has_exited;
    assert_int_equal(host.observe_exit(host.ctx, id, &exit, &host_error), PP_OK);
    assert_known(used(id, false).child_cpu_ns, 600000000);
}

/* A child may have gone to somebody else by then. */
static void whoever_may_be_ending_shows_no_faults_of_its_children(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    script_of(proc, "stat", "90000007 (app) S 1 7 7 0 -1 0 9 5 1 1 1 1 50 0 20 0 1 0 1 0 0\n");
    pp_usage usage = used(identified(PID), false);
    assert_known(usage.faults, 14);
    assert_known(usage.child_faults, 5);
    script_of(proc, "stat", "90000007 (app) Z 1 7 7 0 -1 0 9 6 1 1 1 1 50 0 20 0 1 0 1 0 0\n");
    usage = used(identified(PID), false);
    assert_known(usage.faults, 15);
    assert_missing(usage.child_faults, PP_E_VANISHED);
}

/* The kernel says X between the end of a process and the step that gives its figures to its parent.
 */
static void who_is_about_to_be_reaped_has_not_vanished(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    pp_proc_id id = identified(PID);
    pp_proc_info info;
    script_of(proc, "stat", "90000007 (app) X 1 7 7 0 -1 0 9 5 1 1 1 1 50 0 20 0 1 0 1 0 0\n");
    assert_int_equal(host.inspect(host.ctx, id, &info, &host_error), PP_E_STALE);
    proc->gone = true;
    assert_int_equal(host.inspect(host.ctx, id, &info, &host_error), PP_E_VANISHED);
}

static int32_t group_seen(pp_proc_id id) {
    pp_proc_info info;
    assert_int_equal(host.inspect(host.ctx, id, &info, &host_error), PP_OK);
    return info.pgid;
}

/* A stat that only another process can have changed: this one has not run. */
static void moved_in_sleep(script_proc *proc, const char *stat) {
    script_of(proc, "stat", stat);
    proc->cpu_ns--;
}

/* proves: TRK-2, TRK-8 */
static void a_sleeper_is_looked_at_again_when_its_parent_ran_or_ended(void **state) {
    (void)state;
    script_proc *parent = script_process(PID + 1, 1, 34), *proc = script_process(PID, 1, 33);
    script_of(proc, "stat",
              "90000007 (app) S 90000008 7 7 0 -1 0 1 1 1 1 1 1 0 0 20 0 1 0 1 0 0\n");
    pp_proc_id id = identified(PID), above = identified(PID + 1);
    assert_int_equal(group_seen(id), 7);
    (void)used(id, false);
    (void)used(above, false);

    moved_in_sleep(proc, "90000007 (app) S 90000008 8 7 0 -1 0 1 1 1 1 1 1 0 0 20 0 1 0 1 0 0\n");
    assert_int_equal(group_seen(above), PID + 1);
    assert_int_equal(group_seen(id), 7); /* nobody could have changed it, so nobody looked */
    (void)used(id, false);
    (void)used(above, false);
    parent->cpu_ns++;
    (void)group_seen(above);
    assert_int_equal(group_seen(id), 8); /* a parent may do that */
    (void)used(id, false);

    moved_in_sleep(proc, "90000007 (app) S 1 9 7 0 -1 0 1 1 1 1 1 1 0 0 20 0 1 0 1 0 0\n");
    parent->gone = true;
    pp_proc_info info;
    assert_int_equal(host.inspect(host.ctx, above, &info, &host_error), PP_E_VANISHED);
    assert_int_equal(group_seen(id), 9);
}

/* proves: TRK-1, TRK-8 */
static void a_second_look_proves_who_it_is_and_a_clock_at_zero_proves_nothing(void **state) {
    (void)state;
    (void)script_process(PID + 1, 1, 34);
    script_proc *proc = script_process(PID, 1, 33);
    script_of(proc, "stat",
              "90000007 (app) S 90000008 7 7 0 -1 0 1 1 1 1 1 1 0 0 20 0 1 0 1 0 0\n");
    pp_proc_id above = identified(PID + 1), id = identified(PID);
    assert_int_equal(group_seen(id), 7);
    moved_in_sleep(proc, "90000007 (app) S 90000008 8 7 0 -1 0 1 1 1 1 1 1 0 0 20 0 1 0 1 0 0\n");
    assert_int_equal(group_seen(id), 8); /* it was not counted between the two */

    proc->cpu_ns = 0;
    (void)group_seen(above);
    (void)group_seen(id);
    (void)used(id, false);
    script_of(proc, "stat",
              "90000007 (app) S 90000008 9 7 0 -1 0 1 1 1 1 1 1 0 0 20 0 1 0 1 0 0\n");
    proc->cpu_ns = 0;
    assert_int_equal(group_seen(id), 9);
}

/* proves: TRK-1 */
static void a_reaped_process_has_vanished(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    pp_proc_id id = identified(PID);
    proc->gone = true;
    pp_proc_info info;
    pp_usage usage;
    assert_int_equal(host.inspect(host.ctx, id, &info, &host_error), PP_E_VANISHED);
    assert_int_equal(host.usage(host.ctx, id, false, &usage, &host_error), PP_E_VANISHED);
    assert_int_equal(host.identify(host.ctx, PID, &info, &host_error), PP_E_VANISHED);
}

/* proves: TRK-1 */
static void a_reused_number_is_stale_and_the_newcomer_is_somebody_else(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    pp_proc_id old = identified(PID);
    proc->gone = true;
    script_process(PID, 1, 34); /* the same 10 ms tick */

    pp_proc_info info;
    assert_int_equal(host.inspect(host.ctx, old, &info, &host_error), PP_E_STALE);
    assert_int_equal(host.identify(host.ctx, PID, &info, &host_error), PP_OK);
    assert_int_equal(info.id.unique, 34);
    assert_int_equal(host.inspect(host.ctx, old, &info, &host_error), PP_E_STALE);
    assert_int_equal(host.signal(host.ctx, old, 9, &host_error), PP_E_STALE);
    assert_int_equal(scripted.pidfd_signal.calls, 0);
}

/* proves: TRK-1 */
static void identify_notices_a_number_that_was_reused_between_two_calls(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    (void)identified(PID);
    proc->gone = true;
    script_process(PID, 9, 34);
    assert_int_equal(identified(PID).unique, 34);
}

/* proves: TRK-8 */
static void a_number_handed_over_during_the_first_look_gives_no_mixture(void **state) {
    (void)state;
    pp_proc_info info;
    script_proc *first = script_process(PID, 1, 33);
    first->gone = true; /* so that the files of both exist */
    script_process(PID, 9, 34);
    first->gone = false;
    first->handed_over = true;
    assert_int_equal(host.identify(host.ctx, PID, &info, &host_error), PP_E_STALE);
    assert_int_equal(script_open_count(), 0);
    assert_int_equal(host.identify(host.ctx, PID, &info, &host_error), PP_OK);
    assert_int_equal(info.id.unique, 34);
    assert_int_equal(info.id.start, 9);
}

static void a_foreign_process_is_read_although_it_may_not_be_signalled(void **state) {
    (void)state;
    script_process(PID, 1, 33)->foreign = true;
    assert_known(used(identified(PID), false).cpu_ns, 5000);
}

/* proves: GRP-10 */
static void without_pidfs_the_start_token_tells_strangers(void **state) {
    (void)state;
    pp_host_close(&host);
    (void)setenv("PP_KERNEL", "6.1", 1);
    assert_int_equal(open_host(-1, -1), PP_OK);
    script_proc *proc = script_process(PID, 100, 33);
    pp_proc_id old = identified(PID);
    assert_int_equal(old.unique, 0);
    host.forget(host.ctx, old);
    proc->gone = true;
    script_process(PID, 101, 34);
    pp_proc_info info;
    assert_int_equal(host.inspect(host.ctx, old, &info, &host_error), PP_E_STALE);
    assert_int_equal(script_open_count(), 0); /* a stranger is not held */
}

/* proves: TRK-8 */
static void a_process_that_is_replaced_during_the_read_gives_no_numbers(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    pp_proc_id id = identified(PID);
    pp_usage usage = { .cpu_ns = pp_known(77) };
    proc->gone_after_clock = true;
    assert_int_equal(host.usage(host.ctx, id, false, &usage, &host_error), PP_E_VANISHED);
    assert_known(usage.cpu_ns, 77); /* untouched */

    proc = script_process(PID, 2, 34);
    id = identified(PID);
    proc->gone_after_clock = true;
    script_process(PID, 2, 35);
    assert_int_equal(host.usage(host.ctx, id, false, &usage, &host_error), PP_E_STALE);
    assert_known(usage.cpu_ns, 77);
}

/* proves: TRK-1 */
static void a_denied_io_file_leaves_the_other_counters(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    script_file *io = script_of(proc, "io", "");
    io->open_errno = EACCES;
    pp_usage usage = used(identified(PID), false);
    assert_missing(usage.write_bytes, PP_E_DENIED);
    assert_missing(usage.cancelled_write_bytes, PP_E_DENIED);
    assert_known(usage.rss_bytes, 7 * PAGE);
    assert_true(usage.cpu_ns.known);
}

static void an_io_file_that_becomes_unreadable_is_denied_and_may_come_back(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    pp_proc_id id = identified(PID);
    script_file *io = script_of(proc, "io", "write_bytes: 5\ncancelled_write_bytes: 0\n");
    assert_known(used(id, false).write_bytes, 5);
    io->read_errno = EACCES;
    proc->cpu_ns++;
    assert_missing(used(id, false).write_bytes, PP_E_DENIED);
    io->read_errno = 0;
    assert_known(used(id, false).write_bytes, 5);
}

/* proves: TRK-1, TRK-7 */
static void no_address_space_is_no_resident_size_of_zero(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    script_of(proc, "stat", "90000007 (app) Z 1 7 7 0 -1 0 1 1 1 1 1 1 0 0 20 0 1 0 1 0 0\n");
    script_of(proc, "statm", "0 0 0 0 0 0 0\n");
    pp_proc_info info;
    assert_int_equal(host.identify(host.ctx, PID, &info, &host_error), PP_OK);
    assert_int_equal(info.phase, PP_PHASE_ZOMBIE);
    pp_usage usage = used(info.id, false);
    assert_missing(usage.rss_bytes, PP_E_VANISHED);
    assert_true(usage.cpu_ns.known);
    assert_known(usage.write_bytes, 8192);
}

/* proves: GRP-5 */
static void a_process_whose_main_thread_ended_lives_and_has_memory(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    const int32_t threads[] = { PID, PID + 1 };
    script_of(proc, "stat", "90000007 (app) Z 1 7 7 0 -1 0 1 1 1 1 1 1 0 0 20 0 2 0 1 0 0\n");
    script_of(proc, "statm", "0 0 0 0 0 0 0\n");
    script_numbers("/proc/90000007/task", threads, 2);
    script_of(proc, "task/90000007/statm", "0 0 0 0 0 0 0\n");
    script_of(proc, "task/90000008/statm", "900 50 3 1 0 5 0\n");
    pp_proc_info info;
    assert_int_equal(host.identify(host.ctx, PID, &info, &host_error), PP_OK);
    assert_int_equal(info.phase, PP_PHASE_ALIVE);
    assert_known(used(info.id, false).rss_bytes, 50 * PAGE);
}

static void a_stopped_process_is_neither_running_nor_dead(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    pp_proc_info info;
    script_of(proc, "stat", "90000007 (app) T 1 7 7 0 -1 0 1 1 1 1 1 1 0 0 20 0 1 0 1 0 0\n");
    assert_int_equal(host.identify(host.ctx, PID, &info, &host_error), PP_OK);
    assert_int_equal(info.phase, PP_PHASE_STOPPED);
}

/* proves: TRK-1 */
static void a_cpu_clock_that_fails_is_missing(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    pp_proc_id id = identified(PID);
    proc->cpu_errno = EINVAL;
    assert_missing(used(id, false).cpu_ns, PP_E_VANISHED);
    proc->cpu_errno = EPERM;
    assert_missing(used(id, false).cpu_ns, PP_E_DENIED);
}

/* proves: TRK-1 */
static void bytes_that_do_not_parse_are_malformed(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    pp_proc_id id = identified(PID);
    pp_proc_info info;
    script_of(proc, "statm", "many pages\n");
    script_of(proc, "io", "write_bytes: -3\n");
    assert_missing(used(id, false).rss_bytes, PP_E_MALFORMED);
    assert_missing(used(id, false).write_bytes, PP_E_MALFORMED);
    script_of(proc, "stat", "90000007 (app) S\n");
    assert_int_equal(host.inspect(host.ctx, id, &info, &host_error), PP_E_MALFORMED);
    script_of(proc, "stat", "");
    assert_int_equal(host.inspect(host.ctx, id, &info, &host_error), PP_E_MALFORMED);
}

static void a_file_that_fills_the_buffer_is_not_taken_for_whole(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    pp_proc_id id = identified(PID);
    script_file *io = script_of(proc, "io", "write_bytes: 1\n");
    memset(io->bytes + io->size, '\n', sizeof io->bytes - io->size);
    io->size = sizeof io->bytes;
    assert_missing(used(id, false).write_bytes, PP_E_MALFORMED);
}

/* proves: GRP-3 */
static void B04_a_hidden_process_is_denied_and_not_gone(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    pp_proc_info info;
    script_of(proc, "stat", "")->vanishing_opens = -1;
    assert_int_equal(host.identify(host.ctx, PID, &info, &host_error), PP_E_DENIED);
    script_of(proc, "stat", "")->vanishing_opens = 0;
    script_of(proc, "stat", "")->open_errno = EPERM; /* hidepid=1 */
    assert_int_equal(host.identify(host.ctx, PID, &info, &host_error), PP_E_DENIED);
    assert_int_equal(host_error.sys_errno, EPERM);
    assert_int_equal(script_open_count(), 0);
}

static int no_descriptor(pid_t pid) {
    (void)pid;
    return -EMFILE;
}

static void no_descriptor_left_is_a_failure_of_its_own(void **state) {
    (void)state;
    script_process(PID, 1, 33);
    pp_proc_info info;
    scripted.sys.pidfd_open = no_descriptor;
    assert_int_equal(host.identify(host.ctx, PID, &info, &host_error), PP_E_SYS);
    assert_int_equal(host_error.sys_errno, EMFILE);
    assert_string_equal(host_error.op, "pidfd_open");
}

static int a_thread(pid_t pid) {
    (void)pid;
    return -EINVAL; /* 6.9 and later: ENOENT */
}

static void a_number_that_now_is_a_thread_belongs_to_no_process(void **state) {
    (void)state;
    script_process(PID, 1, 33);
    pp_proc_info info;
    scripted.sys.pidfd_open = a_thread;
    assert_int_equal(host.identify(host.ctx, PID, &info, &host_error), PP_E_VANISHED);
    assert_int_equal(host.identify(host.ctx, 0, &info, &host_error), PP_E_INVALID);
    assert_int_equal(host.identify(host.ctx, -1, &info, &host_error), PP_E_INVALID);
}

static void an_exec_is_noticed_by_the_new_name(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    script_of(proc, "exe", "/bin/sh");
    pp_proc_id id = identified(PID);
    pp_proc_info info;
    script_of(proc, "exe", "/opt/helper");
    script_of(proc, "status", "SigIgn:\t0000000000010000\n");
    script_of(proc, "stat", "90000007 (helper) S 1 7 7 0 -1 0 1 1 1 1 1 1 0 0 20 0 1 0 1 0 0\n");
    assert_int_equal(host.inspect(host.ctx, id, &info, &host_error), PP_OK);
    assert_string_equal(info.exe, "/opt/helper");
    assert_true(info.sigchld_ignored);

    /* A zombie has no path any more; what is known stays. */
    script_of(proc, "exe", "")->open_errno = ENOENT;
    script_of(proc, "stat", "90000007 (other) Z 1 7 7 0 -1 0 1 1 1 1 1 1 0 0 20 0 1 0 1 0 0\n");
    assert_int_equal(host.inspect(host.ctx, id, &info, &host_error), PP_OK);
    assert_string_equal(info.exe, "/opt/helper");
}

static void a_process_without_a_path_goes_by_its_name(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    script_of(proc, "exe", "")->open_errno = EACCES;
    pp_proc_info info;
    assert_int_equal(host.identify(host.ctx, PID, &info, &host_error), PP_OK);
    assert_string_equal(info.exe, "[app]");
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(name, open_scripted, close_scripted)
    const struct CMUnitTest tests[] = {
        T(a_process_is_described_from_its_own_files),
        T(counters_are_in_ns_and_bytes),
        T(counters_go_with_the_look_before_them_once_and_never_with_one_before_the_end),
        T(whoever_may_be_ending_shows_no_faults_of_its_children),
        T(who_is_about_to_be_reaped_has_not_vanished),
        T(a_sleeper_is_looked_at_again_when_its_parent_ran_or_ended),
        T(a_second_look_proves_who_it_is_and_a_clock_at_zero_proves_nothing),
        T(a_reaped_process_has_vanished),
        T(a_reused_number_is_stale_and_the_newcomer_is_somebody_else),
        T(identify_notices_a_number_that_was_reused_between_two_calls),
        T(a_number_handed_over_during_the_first_look_gives_no_mixture),
        T(a_foreign_process_is_read_although_it_may_not_be_signalled),
        T(without_pidfs_the_start_token_tells_strangers),
        T(a_process_that_is_replaced_during_the_read_gives_no_numbers),
        T(a_denied_io_file_leaves_the_other_counters),
        T(an_io_file_that_becomes_unreadable_is_denied_and_may_come_back),
        T(no_address_space_is_no_resident_size_of_zero),
        T(a_process_whose_main_thread_ended_lives_and_has_memory),
        T(a_stopped_process_is_neither_running_nor_dead),
        T(a_cpu_clock_that_fails_is_missing),
        T(bytes_that_do_not_parse_are_malformed),
        T(a_file_that_fills_the_buffer_is_not_taken_for_whole),
        T(B04_a_hidden_process_is_denied_and_not_gone),
        T(no_descriptor_left_is_a_failure_of_its_own),
        T(a_number_that_now_is_a_thread_belongs_to_no_process),
        T(an_exec_is_noticed_by_the_new_name),
        T(a_process_without_a_path_goes_by_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void) {
    return 77; /* skipped: Linux only */
}
#endif
