/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of one process through the Linux host: their switches, their children. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#ifdef __linux__
#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "linux_fixture.h"

enum { PID = SCRIPT_FIRST_PID + 7 };

static void thread_time(const script_proc *proc, int32_t tid, uint64_t time_ns) {
    char name[64], text[64];
    (void)snprintf(name, sizeof name, "task/%d/schedstat", tid);
    (void)snprintf(text, sizeof text, "%llu 0 1\n", (unsigned long long)time_ns);
    script_of(proc, name, text);
}

/* A thread that has run, with so many switches by now. */
static void thread(const script_proc *proc, int32_t tid, int voluntary, int involuntary) {
    static uint64_t time_ns = 1000000000000;
    char name[64], text[256];
    (void)snprintf(name, sizeof name, "task/%d/status", tid);
    (void)snprintf(text, sizeof text,
                   "SigIgn:\t0000000000010000\nvoluntary_ctxt_switches:\t%d\n"
                   "nonvoluntary_ctxt_switches:\t%d\n",
                   voluntary, involuntary);
    script_of(proc, name, text);
    thread_time(proc, tid, ++time_ns);
}

/* The process has these threads now. */
static script_file *has_threads(const script_proc *proc, const int32_t *tids, size_t count) {
    char text[128];
    (void)snprintf(text, sizeof text,
                   "90000007 (app) S 1 7 7 0 -1 0 1 1 1 1 1 1 0 0 20 0 %zu 0 1 0 0\n", count);
    script_of(proc, "stat", text);
    return script_numbers("/proc/90000007/task", tids, count);
}

static void switches_of_ended_threads_stay_in_the_sum(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    const int32_t three[] = { PID, PID + 1, PID + 2 }, one[] = { PID }, two[] = { PID, PID + 2 };
    has_threads(proc, three, 3);
    thread(proc, PID, 10, 1);
    thread(proc, PID + 1, 20, 2);
    thread(proc, PID + 2, 30, 3);
    pp_proc_id id = identified(PID);
    assert_known(used(id, true).voluntary_switches, 60);
    assert_known(used(id, true).involuntary_switches, 6);
    assert_false(used(id, true).switches_lower_bound);

    has_threads(proc, one, 1);
    thread(proc, PID, 11, 1);
    assert_known(used(id, true).voluntary_switches, 61);
    assert_true(used(id, true).switches_lower_bound);
    has_threads(proc, two, 2); /* a new thread under an old number */
    thread(proc, PID + 2, 34, 3);
    assert_known(used(id, true).voluntary_switches, 95);
    thread(proc, PID + 2, 2, 0); /* and another one between two looks */
    assert_known(used(id, true).voluntary_switches, 97);
    assert_known(used(id, true).involuntary_switches, 9);
    assert_true(used(id, true).switches_lower_bound); /* for good */
}

/* proves: SMP-2 */
static void cpu_that_no_living_thread_used_makes_switches_a_lower_bound(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    const int32_t two[] = { PID, PID + 1 };
    has_threads(proc, two, 2);
    thread(proc, PID, 10, 1);
    thread(proc, PID + 1, 20, 2);
    thread_time(proc, PID, 500);
    thread_time(proc, PID + 1, 501); /* more than the process showed a moment before */
    proc->cpu_ns = 1000;
    pp_proc_id id = identified(PID);
    assert_false(used(id, true).switches_lower_bound);
    proc->cpu_ns = 1002; /* 1 ns is another thread's */
    pp_usage usage = used(id, true);
    assert_true(usage.switches_lower_bound);
    assert_known(usage.voluntary_switches, 30);
}

/* proves: SMP-2 */
static void what_has_not_run_is_not_read_again_and_what_has_run_is(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    const int32_t two[] = { PID, PID + 1 };
    script_file *dir = has_threads(proc, two, 2);
    thread(proc, PID, 10, 1);
    thread(proc, PID + 1, 20, 2);
    pp_proc_id id = identified(PID);
    (void)used(id, true);
    script_file *io = script_of(proc, "io", "write_bytes: 7\ncancelled_write_bytes: 0\n");
    script_file *second = script_of(proc, "task/90000008/status", "");
    proc->cpu_ns -= 2; /* nothing of it by running */
    dir->read_errno = io->read_errno = second->open_errno = EIO;
    pp_usage usage = used(id, true);
    assert_known(usage.voluntary_switches, 30);
    assert_known(usage.write_bytes, 8192);
    proc->cpu_ns++;
    usage = used(id, true);
    assert_missing(usage.write_bytes, PP_E_SYS);
    assert_missing(usage.voluntary_switches, PP_E_ENUMERATION);
    dir->read_errno = 0;
    proc->cpu_ns++;
    assert_known(used(id, true).voluntary_switches, 30); /* that thread slept */
    thread_time(proc, PID + 1, 77);
    assert_missing(used(id, true).voluntary_switches, PP_E_SYS);
}

static void a_thread_that_ends_during_the_pass_costs_nothing(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    const int32_t two[] = { PID, PID + 1 };
    has_threads(proc, two, 2);
    thread(proc, PID, 10, 1);
    thread(proc, PID + 1, 20, 2);
    pp_proc_id id = identified(PID);
    assert_known(used(id, true).voluntary_switches, 30);
    assert_false(used(id, true).switches_lower_bound);
    script_of(proc, "task/90000008/schedstat", "")->vanishing_opens = -1;
    assert_known(used(id, true).voluntary_switches, 30);
    assert_true(used(id, true).switches_lower_bound);
}

/* proves: SMP-9 */
static void without_thread_times_every_thread_is_read(void **state) {
    (void)state;
    char path[96];
    pp_host_close(&host);
    (void)snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", getpid());
    script_text(path, "0 0 0\n");
    assert_int_equal(open_host(-1, -1), PP_OK);
    script_proc *proc = script_process(PID, 1, 33);
    thread(proc, PID, 10, 1);
    proc->cpu_ns = INT64_MAX / 2; /* more than the thread, which is not known */
    pp_proc_id id = identified(PID);
    assert_known(used(id, true).voluntary_switches, 10);
    thread(proc, PID, 11, 1);
    thread_time(proc, PID, 1);
    proc->cpu_ns = 5;
    pp_usage usage = used(id, true);
    assert_known(usage.voluntary_switches, 11);
    assert_false(usage.switches_lower_bound);
}

static void descriptors_that_save_time_are_not_kept_when_they_are_scarce(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    script_file *children = script_of(proc, "task/90000007/children", "");
    pp_proc_id id = identified(PID);
    pp_pid_list list;
    thread(proc, PID, 10, 1); /* scripted descriptors are above any limit */
    assert_int_equal(host.list_children(host.ctx, PID, &list, &host_error), PP_OK);
    for (int i = 0; i < 3; i++, thread(proc, PID, 10, 1))
        assert_known(used(id, true).voluntary_switches, 10);
    assert_int_equal(children->held, 0);
    assert_int_equal(script_of(proc, "task/90000007/status", "")->held, 0);
}

static void switches_that_cannot_be_read_are_missing_with_the_reason(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    const int32_t two[] = { PID, PID + 1 };
    script_file *threads = has_threads(proc, two, 2);
    thread(proc, PID, 10, 1);
    thread(proc, PID + 1, 20, 2);
    pp_proc_id id = identified(PID);
    script_of(proc, "task/90000008/status", "SigIgn:\t0\n");
    assert_missing(used(id, true).voluntary_switches, PP_E_UNSUPPORTED);
    script_of(proc, "task/90000008/status", "")->open_errno = EACCES;
    assert_missing(used(id, true).involuntary_switches, PP_E_DENIED);
    threads->read_errno = EIO;
    proc->cpu_ns++;
    assert_missing(used(id, true).voluntary_switches, PP_E_ENUMERATION);
}

/* Scripted descriptors are kept as far as the limit goes. */
static struct rlimit limit;

static int get_limit(struct rlimit *ret_limit) {
    *ret_limit = limit;
    return 0;
}

static int set_limit(const struct rlimit *changed) {
    limit = *changed;
    return 0;
}

static void reopen_with_many_descriptors(void) {
    pp_host_close(&host);
    limit = (struct rlimit){ 1024, 8000000 };
    scripted.sys.get_nofile = get_limit;
    scripted.sys.set_nofile = set_limit;
    assert_int_equal(open_host(-1, -1), PP_OK);
}

/* proves: SMP-2 */
static void the_resident_size_goes_with_a_held_status_and_else_with_statm(void **state) {
    (void)state;
    reopen_with_many_descriptors();
    script_proc *proc = script_process(PID, 1, 33);
    const int32_t one[] = { PID };
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    has_threads(proc, one, 1);
    pp_proc_id id = identified(PID);
    for (int looks = 0; looks < 4; looks++) { /* opened by number, twice; then held */
        thread(proc, PID, 10 + looks, 1);
        script_of(proc, "task/90000007/status",
                  "VmRSS:\t5 kB\nSigIgn:\t0\nvoluntary_ctxt_switches:\t1\n"
                  "nonvoluntary_ctxt_switches:\t1\n");
        assert_known(used(id, true).rss_bytes, looks < 2 ? 7 * page : UINT64_C(5120));
    }
    proc->gone = true; /* its files may answer no more */
    pp_usage usage;
    assert_int_equal(host.usage(host.ctx, id, true, &usage, &host_error), PP_E_VANISHED);
}

static void kept_descriptors_are_not_opened_again(void **state) {
    (void)state;
    reopen_with_many_descriptors();
    script_proc *proc = script_process(PID, 1, 33);
    script_file *children = script_of(proc, "task/90000007/children", "");
    pp_pid_list list;
    thread(proc, PID, 10, 1);
    script_file *status = script_of(proc, "task/90000007/status", "");
    thread(proc, PID, 10, 1);
    pp_proc_id id = identified(PID);
    for (int i = 0; i < 4; i++, thread(proc, PID, 10, 1)) {
        assert_known(used(id, true).voluntary_switches, 10);
        assert_int_equal(host.list_children(host.ctx, PID, &list, &host_error), PP_OK);
    }
    assert_int_equal(children->opens, 1);
    assert_int_equal(status->opens, 2); /* a thread that runs once is not held */
    assert_int_equal(status->held, 1);
}

/* proves: TRK-2 */
static void a_held_children_file_of_an_ended_thread_makes_the_list_be_read_anew(void **state) {
    (void)state; /* which is empty then, and no failure */
    reopen_with_many_descriptors();
    script_proc *proc = script_process(PID, 1, 33);
    const int32_t two[] = { PID, PID + 1 }, other[] = { PID, PID + 2 };
    has_threads(proc, two, 2);
    script_of(proc, "task/90000007/children", "100 ");
    script_of(proc, "task/90000008/children", "101 ");
    (void)identified(PID);
    pp_pid_list list = { 0 };
    assert_int_equal(host.list_children(host.ctx, PID, &list, &host_error), PP_OK);
    assert_int_equal(list.count, 2);
    pp_pid_list_done(&list);

    has_threads(proc, other, 2);
    script_of(proc, "task/90000008/children", "");
    script_of(proc, "task/90000009/children", "102 ");
    assert_int_equal(host.list_children(host.ctx, PID, &list, &host_error), PP_OK);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.pids[1], 102);
    pp_pid_list_done(&list);
}

/* proves: TRK-2 */
static void a_process_that_sleeps_may_get_children_by_adoption(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    const int32_t three[] = { PID, PID + 1, PID + 2 };
    has_threads(proc, three, 3);
    script_of(proc, "task/90000007/children", "");
    script_file *second = script_of(proc, "task/90000008/children", "101 ");
    script_file *third = script_of(proc, "task/90000009/children", "");
    (void)identified(PID);
    pp_pid_list list = { 0 };
    for (int adopted = 0; adopted < 3; adopted++) {
        assert_int_equal(host.list_children(host.ctx, PID, &list, &host_error), PP_OK);
        assert_int_equal(list.count, adopted + 1);
        pp_pid_list_done(&list);
        script_of(proc, "task/90000007/children", adopted == 0 ? "102 " : "102 103 ");
        proc->cpu_ns--; /* it slept */
    }
    assert_int_equal(second->opens, 3); /* this one has a child that may be gone */
    assert_int_equal(third->opens, 1);  /* and this one none, for good */
}

/* The supervisor's orphans: who came last lives most likely, and numbers start anew some time. */
static void children_of_one_thread_are_listed_as_they_came(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    const int32_t one[] = { PID };
    has_threads(proc, one, 1);
    script_of(proc, "task/90000007/children", "300 100 200 ");
    (void)identified(PID);
    pp_pid_list list = { 0 };
    assert_int_equal(host.list_children(host.ctx, PID, &list, &host_error), PP_OK);
    assert_int_equal(list.count, 3);
    assert_int_equal(list.pids[0], 300);
    assert_int_equal(list.pids[1], 100);
    assert_int_equal(list.pids[2], 200);
    pp_pid_list_done(&list);
}

static void a_child_that_two_threads_show_is_listed_once(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    const int32_t two[] = { PID, PID + 1 };
    has_threads(proc, two, 2);
    script_of(proc, "task/90000007/children", "300 100 ");
    script_of(proc, "task/90000008/children", "200 300 ");
    (void)identified(PID);
    pp_pid_list list = { 0 };
    assert_int_equal(host.list_children(host.ctx, PID, &list, &host_error), PP_OK);
    assert_int_equal(list.count, 3);
    pp_pid_list_done(&list);
}

static void ignoring_sigchld_is_seen_at_birth_and_with_the_switches(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    const int32_t one[] = { PID };
    script_numbers("/proc/90000007/task", one, 1);
    thread(proc, PID, 10, 1); /* ignores it by now */
    pp_proc_id id = identified(PID);
    pp_proc_info info;
    assert_int_equal(host.inspect(host.ctx, id, &info, &host_error), PP_OK);
    assert_false(info.sigchld_ignored);
    (void)used(id, true);
    assert_int_equal(host.inspect(host.ctx, id, &info, &host_error), PP_OK);
    assert_true(info.sigchld_ignored);
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(name, open_scripted, close_scripted)
    const struct CMUnitTest tests[] = {
        T(the_resident_size_goes_with_a_held_status_and_else_with_statm),
        T(switches_of_ended_threads_stay_in_the_sum),
        T(cpu_that_no_living_thread_used_makes_switches_a_lower_bound),
        T(what_has_not_run_is_not_read_again_and_what_has_run_is),
        T(a_thread_that_ends_during_the_pass_costs_nothing),
        T(without_thread_times_every_thread_is_read),
        T(descriptors_that_save_time_are_not_kept_when_they_are_scarce),
        T(switches_that_cannot_be_read_are_missing_with_the_reason),
        T(kept_descriptors_are_not_opened_again),
        T(a_held_children_file_of_an_ended_thread_makes_the_list_be_read_anew),
        T(a_process_that_sleeps_may_get_children_by_adoption),
        T(children_of_one_thread_are_listed_as_they_came),
        T(a_child_that_two_threads_show_is_listed_once),
        T(ignoring_sigchld_is_seen_at_birth_and_with_the_switches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void) {
    return 77; /* skipped: Linux only */
}
#endif
