/* SPDX-License-Identifier: Apache-2.0 */
/* One process seen through the Linux host: identity, place, counters, memory, switches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#ifdef __linux__
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "linux/linux_host.h"
#include "linux_script.h"

enum { PID = SCRIPT_FIRST_PID + 7 };
#define PAGE ((uint64_t)sysconf(_SC_PAGESIZE))
#define KIB UINT64_C(1024)

static pp_os os;
static pp_error error;

static void open_host(void) {
    pp_host_options options = { .channel_fd = -1, .run_dir_fd = -1 };
    assert_int_equal(pp_linux_host_open(&scripted.sys, &options, &os, &error), PP_OK);
}

static int open_scripted(void **state) {
    (void)state;
    script_reset();
    memset(&error, 0, sizeof error);
    (void)unsetenv("PP_KERNEL");
    open_host();
    return 0;
}

static int close_scripted(void **state) {
    (void)state;
    pp_host_close(&os);
    (void)unsetenv("PP_KERNEL");
    assert_int_equal(script_open_count(), 0);
    return 0;
}

static pp_proc_id identified(int32_t pid) {
    pp_proc_info info;
    assert_int_equal(os.identify(os.ctx, pid, &info, &error), PP_OK);
    return info.id;
}

static pp_usage used(pp_proc_id id, bool with_switches) {
    pp_usage usage;
    assert_int_equal(os.usage(os.ctx, id, with_switches, &usage, &error), PP_OK);
    return usage;
}

static void assert_known(pp_reading reading, uint64_t value) {
    assert_true(reading.known);
    assert_int_equal(reading.value, value);
}

static void assert_missing(pp_reading reading, pp_status why) {
    assert_false(reading.known);
    assert_int_equal(reading.why, why);
}

static void a_process_is_described_from_its_own_files(void **state) {
    (void)state;
    script_process(PID, 145517, 33);
    pp_proc_info info;
    assert_int_equal(os.identify(os.ctx, PID, &info, &error), PP_OK);
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

/* proves: TRK-1 */
static void a_reaped_process_has_vanished(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    pp_proc_id id = identified(PID);
    proc->gone = true;
    pp_proc_info info;
    pp_usage usage;
    assert_int_equal(os.inspect(os.ctx, id, &info, &error), PP_E_VANISHED);
    assert_int_equal(os.usage(os.ctx, id, false, &usage, &error), PP_E_VANISHED);
    assert_int_equal(os.identify(os.ctx, PID, &info, &error), PP_E_VANISHED);
}

/* proves: TRK-1 */
static void a_reused_number_is_stale_and_the_newcomer_is_somebody_else(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    pp_proc_id old = identified(PID);
    proc->gone = true;
    script_process(PID, 1, 34); /* the same 10 ms tick */

    pp_proc_info info;
    assert_int_equal(os.inspect(os.ctx, old, &info, &error), PP_E_STALE);
    assert_int_equal(os.identify(os.ctx, PID, &info, &error), PP_OK);
    assert_int_equal(info.id.unique, 34);
    assert_int_equal(os.inspect(os.ctx, old, &info, &error), PP_E_STALE);
    assert_int_equal(os.signal(os.ctx, old, 9, &error), PP_E_STALE);
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
    assert_int_equal(os.identify(os.ctx, PID, &info, &error), PP_E_STALE);
    assert_int_equal(script_open_count(), 0);
    assert_int_equal(os.identify(os.ctx, PID, &info, &error), PP_OK);
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
    pp_host_close(&os);
    (void)setenv("PP_KERNEL", "6.1", 1);
    open_host();
    script_proc *proc = script_process(PID, 100, 33);
    pp_proc_id old = identified(PID);
    assert_int_equal(old.unique, 0);
    os.forget(os.ctx, old);
    proc->gone = true;
    script_process(PID, 101, 34);
    pp_proc_info info;
    assert_int_equal(os.inspect(os.ctx, old, &info, &error), PP_E_STALE);
    assert_int_equal(script_open_count(), 0); /* a stranger is not held */
}

/* proves: TRK-8 */
static void a_process_that_is_replaced_during_the_read_gives_no_numbers(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    pp_proc_id id = identified(PID);
    pp_usage usage = { .cpu_ns = pp_known(77) };
    proc->gone_after_clock = true;
    assert_int_equal(os.usage(os.ctx, id, false, &usage, &error), PP_E_VANISHED);
    assert_known(usage.cpu_ns, 77); /* untouched */

    proc = script_process(PID, 2, 34);
    id = identified(PID);
    proc->gone_after_clock = true;
    script_process(PID, 2, 35);
    assert_int_equal(os.usage(os.ctx, id, false, &usage, &error), PP_E_STALE);
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
    assert_known(usage.cpu_ns, 5000);
}

static void an_io_file_that_becomes_unreadable_is_denied_and_may_come_back(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    pp_proc_id id = identified(PID);
    script_file *io = script_of(proc, "io", "write_bytes: 5\ncancelled_write_bytes: 0\n");
    assert_known(used(id, false).write_bytes, 5);
    io->read_errno = EACCES;
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
    assert_int_equal(os.identify(os.ctx, PID, &info, &error), PP_OK);
    assert_int_equal(info.phase, PP_PHASE_ZOMBIE);
    pp_usage usage = used(info.id, false);
    assert_missing(usage.rss_bytes, PP_E_VANISHED);
    assert_known(usage.cpu_ns, 5000);
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
    assert_int_equal(os.identify(os.ctx, PID, &info, &error), PP_OK);
    assert_int_equal(info.phase, PP_PHASE_ALIVE);
    assert_known(used(info.id, false).rss_bytes, 50 * PAGE);
}

static void a_stopped_process_is_neither_running_nor_dead(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    pp_proc_info info;
    script_of(proc, "stat", "90000007 (app) T 1 7 7 0 -1 0 1 1 1 1 1 1 0 0 20 0 1 0 1 0 0\n");
    assert_int_equal(os.identify(os.ctx, PID, &info, &error), PP_OK);
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
    assert_int_equal(os.inspect(os.ctx, id, &info, &error), PP_E_MALFORMED);
    script_of(proc, "stat", "");
    assert_int_equal(os.inspect(os.ctx, id, &info, &error), PP_E_MALFORMED);
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
    assert_int_equal(os.identify(os.ctx, PID, &info, &error), PP_E_DENIED);
    script_of(proc, "stat", "")->vanishing_opens = 0;
    script_of(proc, "stat", "")->open_errno = EPERM; /* hidepid=1 */
    assert_int_equal(os.identify(os.ctx, PID, &info, &error), PP_E_DENIED);
    assert_int_equal(error.sys_errno, EPERM);
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
    assert_int_equal(os.identify(os.ctx, PID, &info, &error), PP_E_SYS);
    assert_int_equal(error.sys_errno, EMFILE);
    assert_string_equal(error.op, "pidfd_open");
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
    assert_int_equal(os.identify(os.ctx, PID, &info, &error), PP_E_VANISHED);
    assert_int_equal(os.identify(os.ctx, 0, &info, &error), PP_E_INVALID);
    assert_int_equal(os.identify(os.ctx, -1, &info, &error), PP_E_INVALID);
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
    assert_int_equal(os.inspect(os.ctx, id, &info, &error), PP_OK);
    assert_string_equal(info.exe, "/opt/helper");
    assert_true(info.sigchld_ignored);

    /* A zombie has no path any more; what is known stays. */
    script_of(proc, "exe", "")->open_errno = ENOENT;
    script_of(proc, "stat", "90000007 (other) Z 1 7 7 0 -1 0 1 1 1 1 1 1 0 0 20 0 1 0 1 0 0\n");
    assert_int_equal(os.inspect(os.ctx, id, &info, &error), PP_OK);
    assert_string_equal(info.exe, "/opt/helper");
}

static void a_process_without_a_path_goes_by_its_name(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    script_of(proc, "exe", "")->open_errno = EACCES;
    pp_proc_info info;
    assert_int_equal(os.identify(os.ctx, PID, &info, &error), PP_OK);
    assert_string_equal(info.exe, "[app]");
}

static void thread(const script_proc *proc, int32_t tid, int voluntary, int involuntary) {
    char name[64], text[256];
    (void)snprintf(name, sizeof name, "task/%d/status", tid);
    (void)snprintf(text, sizeof text,
                   "SigIgn:\t0000000000010000\nvoluntary_ctxt_switches:\t%d\n"
                   "nonvoluntary_ctxt_switches:\t%d\n",
                   voluntary, involuntary);
    script_of(proc, name, text);
}

static void switches_of_ended_threads_stay_in_the_sum(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    const int32_t three[] = { PID, PID + 1, PID + 2 }, one[] = { PID }, two[] = { PID, PID + 2 };
    script_numbers("/proc/90000007/task", three, 3);
    thread(proc, PID, 10, 1);
    thread(proc, PID + 1, 20, 2);
    thread(proc, PID + 2, 30, 3);
    pp_proc_id id = identified(PID);
    assert_known(used(id, true).voluntary_switches, 60);
    assert_known(used(id, true).involuntary_switches, 6);

    script_numbers("/proc/90000007/task", one, 1);
    thread(proc, PID, 11, 1);
    assert_known(used(id, true).voluntary_switches, 61);
    script_numbers("/proc/90000007/task", two, 2); /* a new thread under an old number */
    thread(proc, PID + 2, 34, 3);
    assert_known(used(id, true).voluntary_switches, 95);
    thread(proc, PID + 2, 2, 0); /* and another one between two looks */
    assert_known(used(id, true).voluntary_switches, 97);
    assert_known(used(id, true).involuntary_switches, 9);
}

static void a_thread_that_ends_during_the_pass_costs_nothing(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    const int32_t two[] = { PID, PID + 1 };
    script_numbers("/proc/90000007/task", two, 2);
    thread(proc, PID, 10, 1);
    thread(proc, PID + 1, 20, 2);
    pp_proc_id id = identified(PID);
    assert_known(used(id, true).voluntary_switches, 30);
    script_of(proc, "task/90000008/status", "")->vanishing_opens = -1;
    assert_known(used(id, true).voluntary_switches, 30);
}

static void switches_that_cannot_be_read_are_missing_with_the_reason(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    const int32_t two[] = { PID, PID + 1 };
    script_file *threads = script_numbers("/proc/90000007/task", two, 2);
    thread(proc, PID, 10, 1);
    thread(proc, PID + 1, 20, 2);
    pp_proc_id id = identified(PID);
    script_of(proc, "task/90000008/status", "SigIgn:\t0\n");
    assert_missing(used(id, true).voluntary_switches, PP_E_UNSUPPORTED);
    script_of(proc, "task/90000008/status", "")->open_errno = EACCES;
    assert_missing(used(id, true).involuntary_switches, PP_E_DENIED);
    threads->read_errno = EIO;
    assert_missing(used(id, true).voluntary_switches, PP_E_ENUMERATION);
}

static void ignoring_sigchld_is_seen_at_birth_and_with_the_switches(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    const int32_t one[] = { PID };
    script_numbers("/proc/90000007/task", one, 1);
    thread(proc, PID, 10, 1); /* ignores it by now */
    pp_proc_id id = identified(PID);
    pp_proc_info info;
    assert_int_equal(os.inspect(os.ctx, id, &info, &error), PP_OK);
    assert_false(info.sigchld_ignored);
    (void)used(id, true);
    assert_int_equal(os.inspect(os.ctx, id, &info, &error), PP_OK);
    assert_true(info.sigchld_ignored);
}

#define ROLLUP                                                                                     \
    "Rss: 900 kB\nPss: 100 kB\nPss_Anon: 20 kB\nPss_Shmem: 50 kB\nPrivate_Clean: 4 kB\n"           \
    "Private_Dirty: 8 kB\nSwap: 16 kB\nSwapPss: 32 kB\n"

static void memory_is_combined_from_its_parts(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    script_of(proc, "smaps_rollup", ROLLUP);
    pp_proc_id id = identified(PID);
    pp_memory memory;
    assert_int_equal(os.memory(os.ctx, id, INT64_MAX, &memory, &error), PP_OK);
    assert_known(memory.pss_bytes, 100 * KIB);
    assert_known(memory.uss_bytes, 12 * KIB);
    assert_known(memory.swap_bytes, 16 * KIB);
    assert_known(memory.footprint_pss_bytes, (20 + 50 + 32 + 8) * KIB);

    script_of(proc, "status", "SigIgn:\t0\n"); /* no VmPTE: one part is missing */
    assert_int_equal(os.memory(os.ctx, id, INT64_MAX, &memory, &error), PP_OK);
    assert_missing(memory.footprint_pss_bytes, PP_E_UNSUPPORTED);
    assert_known(memory.pss_bytes, 100 * KIB);
}

/* proves: TRK-1 */
static void denied_memory_and_no_memory_are_told_apart(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    script_file *rollup = script_of(proc, "smaps_rollup", ROLLUP);
    pp_proc_id id = identified(PID);
    pp_memory memory;
    rollup->open_errno = EACCES;
    assert_int_equal(os.memory(os.ctx, id, INT64_MAX, &memory, &error), PP_E_DENIED);
    assert_int_equal(error.sys_errno, EACCES);
    rollup->open_errno = 0;
    rollup->read_errno = ESRCH;
    assert_int_equal(os.memory(os.ctx, id, INT64_MAX, &memory, &error), PP_E_VANISHED);
}

static int64_t from_now(int64_t ns) {
    pp_now now;
    assert_int_equal(os.now(os.ctx, &now, &error), PP_OK);
    return now.t_ns + ns;
}

#define SECOND INT64_C(1000000000)

/* proves: TRK-1 */
static void a_memory_read_that_hangs_is_blocked_at_the_deadline_and_holds_up_nobody(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    script_proc *other = script_process(PID + 1, 1, 34);
    script_file *rollup = script_of(proc, "smaps_rollup", ROLLUP);
    script_of(other, "smaps_rollup", "Pss: 7 kB\n");
    pp_proc_id id = identified(PID), other_id = identified(PID + 1);
    pp_memory memory;
    rollup->blocks = true;
    int64_t deadline_ns = from_now(SECOND / 4);
    assert_int_equal(os.memory(os.ctx, id, deadline_ns, &memory, &error), PP_E_BLOCKED);
    assert_true(from_now(0) >= deadline_ns);
    /* As long as it hangs nobody waits again, whatever the deadline. */
    assert_int_equal(os.memory(os.ctx, other_id, INT64_MAX, &memory, &error), PP_E_BLOCKED);
    assert_int_equal(os.memory(os.ctx, id, INT64_MAX, &memory, &error), PP_E_BLOCKED);
    assert_known(used(id, false).cpu_ns, 5000);

    script_unblock(rollup);
    pp_status status = PP_E_BLOCKED;
    int64_t limit_ns = from_now(20 * SECOND);
    while (status == PP_E_BLOCKED && from_now(0) < limit_ns)
        status = os.memory(os.ctx, other_id, limit_ns, &memory, &error);
    assert_int_equal(status, PP_OK);
    assert_known(memory.pss_bytes, 7 * KIB); /* its own, not the late answer */
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
    pp_memory memory;
    pthread_t helper;
    rollup->blocks = true;
    assert_int_equal(pthread_create(&helper, NULL, unblock_later, rollup), 0);
    int64_t deadline_ns = from_now(20 * SECOND);
    assert_int_equal(os.memory(os.ctx, id, deadline_ns, &memory, &error), PP_OK);
    assert_known(memory.pss_bytes, 100 * KIB);
    assert_int_equal(os.memory(os.ctx, other_id, deadline_ns, &memory, &error), PP_OK);
    assert_known(memory.pss_bytes, 7 * KIB);
    assert_int_equal(pthread_join(helper, NULL), 0);
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(name, open_scripted, close_scripted)
    const struct CMUnitTest tests[] = {
        T(a_process_is_described_from_its_own_files),
        T(counters_are_in_ns_and_bytes),
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
        T(switches_of_ended_threads_stay_in_the_sum),
        T(a_thread_that_ends_during_the_pass_costs_nothing),
        T(switches_that_cannot_be_read_are_missing_with_the_reason),
        T(ignoring_sigchld_is_seen_at_birth_and_with_the_switches),
        T(memory_is_combined_from_its_parts),
        T(denied_memory_and_no_memory_are_told_apart),
        T(a_memory_read_that_hangs_is_blocked_at_the_deadline_and_holds_up_nobody),
        T(a_slow_memory_read_within_the_deadline_is_a_reading_and_so_is_the_next),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void) {
    return 77; /* skipped: Linux only */
}
#endif
