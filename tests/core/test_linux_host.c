/* SPDX-License-Identifier: Apache-2.0 */
/* The Linux host as a whole: opening, lists, exits, signals. */
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
#include <sys/prctl.h>
#include <unistd.h>

#include "linux_fixture.h"
#include "memory_of.h"

enum { PID = SCRIPT_FIRST_PID + 7 };

/* ---- opening ---- */

static pp_status state_of(const char *wanted, int *ret_errno, const char **ret_consequence) {
    const char *name;
    pp_status fact;
    for (size_t i = 0;
         host.capability(host.ctx, i, &name, &fact, ret_errno, ret_consequence) == PP_OK; i++)
        if (strcmp(name, wanted) == 0)
            return fact;
    fail_msg("no capability %s", wanted);
    return PP_E_INVALID;
}

static int (*scripted_signal)(int pidfd, int number, unsigned flags);
static int refuses_flags(int pidfd, int number, unsigned flags) {
    return flags ? -EINVAL : scripted_signal(pidfd, number, flags);
}

static int anonymous_inode(int fd, uint64_t *ret_fs_magic, uint64_t *ret_inode) {
    (void)fd;
    *ret_fs_magic = 0x09041934;
    *ret_inode = 12;
    return 0;
}

/* proves: SMP-9 */
static void an_older_kernel_is_found_by_trying(void **state) {
    (void)state;
    scripted_signal = scripted.sys.pidfd_signal;
    scripted.sys.pidfd_signal = refuses_flags;
    scripted.sys.inode = anonymous_inode;
    script_text("/proc/self/io", "")->open_errno = ENOENT;
    script_text("/proc/self/smaps_rollup", "")->open_errno = EACCES;
    assert_int_equal(open_host(-1, -1), PP_OK);
    int sys_errno;
    const char *consequence;
    assert_int_equal(state_of("pidfd_group_signal", &sys_errno, &consequence), PP_E_UNSUPPORTED);
    assert_int_equal(sys_errno, EINVAL);
    assert_true(strlen(consequence) > 0);
    assert_int_equal(state_of("pidfs_inode", &sys_errno, &consequence), PP_E_UNSUPPORTED);
    assert_int_equal(state_of("io_counters", &sys_errno, &consequence), PP_E_UNSUPPORTED);
    assert_int_equal(state_of("smaps_rollup", &sys_errno, &consequence), PP_E_DENIED);
    assert_int_equal(sys_errno, EACCES);
    assert_int_equal(state_of("exact_rss", &sys_errno, &consequence), PP_E_UNVERIFIED);
    assert_int_equal(state_of("pidfd", &sys_errno, &consequence), PP_OK);
    assert_string_equal(consequence, "");

    pp_memory memory;
    script_process(PID, 1, 0);
    pp_proc_id id = identified(PID);
    assert_int_equal(id.unique, 0);
    assert_int_equal(memory_of(&host, id, INT64_MAX, &memory, &host_error), PP_E_DENIED);
    pp_usage usage;
    assert_int_equal(host.usage(host.ctx, id, false, &usage, &host_error), PP_OK);
    assert_int_equal(usage.write_bytes.why, PP_E_UNSUPPORTED);
}

static void an_estimated_resident_size_is_said_to_be_one(void **state) {
    (void)state;
    script_text("/proc/self/smaps_rollup", "Rss: 3000 kB\n");
    script_text("/proc/self/statm", "9000 40 3 1 0 5 0\n");
    assert_int_equal(open_host(-1, -1), PP_OK);
    int sys_errno;
    const char *consequence;
    assert_int_equal(state_of("exact_rss", &sys_errno, &consequence), PP_E_UNVERIFIED);
}

/* proves: SMP-9 */
static void the_switch_for_older_kernels_is_recorded_and_checked(void **state) {
    (void)state;
    int sys_errno;
    const char *consequence;
    (void)setenv("PP_KERNEL", "6.1", 1);
    assert_int_equal(open_host(-1, -1), PP_OK);
    assert_int_equal(state_of("pidfs_inode", &sys_errno, &consequence), PP_E_UNSUPPORTED);
    assert_string_equal(consequence, "switched off by PP_KERNEL");
    assert_int_equal(state_of("pidfd_group_signal", &sys_errno, &consequence), PP_E_UNSUPPORTED);
    pp_host_close(&host);
    (void)setenv("PP_KERNEL", "5.0", 1);
    assert_int_equal(open_host(-1, -1), PP_E_INVALID);
    host.ctx = NULL;
}

static int no_pidfd(pid_t pid) {
    (void)pid;
    return -ENOSYS;
}

static int no_subreaper(int option, unsigned long argument) {
    return option == PR_SET_CHILD_SUBREAPER ? -EINVAL : pp_linux_sys_real.prctl(option, argument);
}

static int no_epoll(int epoll_fd, int operation, int fd, uint32_t events, uint32_t tag) {
    return tag == 2 ? -EPERM : pp_linux_sys_real.epoll_change(epoll_fd, operation, fd, events, tag);
}

static void a_failed_open_leaves_nothing_behind(void **state) {
    (void)state;
    sigset_t child, after;
    struct sigaction pipe_after;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    assert_int_equal(sigprocmask(SIG_UNBLOCK, &child, NULL), 0);
    assert_true(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
    size_t descriptors = count_entries("/proc/self/fd");
    int slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);

    scripted.sys.pidfd_open = no_pidfd;
    assert_int_equal(open_host(-1, -1), PP_E_UNSUPPORTED);
    assert_string_equal(host_error.op, "pidfd");
    assert_int_equal(host_error.sys_errno, ENOSYS);
    script_reset();
    scripted.sys.prctl = no_subreaper;
    assert_int_equal(open_host(-1, -1), PP_E_UNSUPPORTED);
    assert_string_equal(host_error.op, "subreaper");
    script_reset();
    scripted.sys.epoll_change = no_epoll;
    assert_int_equal(open_host(0, -1), PP_E_SYS);
    assert_string_equal(host_error.op, "epoll_ctl");

    assert_int_equal(count_entries("/proc/self/fd"), descriptors);
    assert_int_equal(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0), slack);
    assert_int_equal(sigprocmask(SIG_BLOCK, NULL, &after), 0);
    assert_int_equal(sigismember(&after, SIGCHLD), 0);
    assert_int_equal(sigaction(SIGPIPE, NULL, &pipe_after), 0);
    assert_true(pipe_after.sa_handler == SIG_DFL);
    int subreaper = 1;
    assert_int_equal(prctl(PR_GET_CHILD_SUBREAPER, &subreaper, 0, 0, 0), 0);
    assert_int_equal(subreaper, 0);
}

static void closing_twice_or_nothing_is_harmless(void **state) {
    (void)state;
    assert_int_equal(open_host(-1, -1), PP_OK);
    pp_host_close(&host);
    pp_host_close(&host);
    pp_host_close(NULL);
}

/* ---- lists ---- */

/* proves: GRP-2, GRP-8 */
static void a_group_lists_its_members_and_nobody_else(void **state) {
    (void)state;
    const int32_t all[] = { PID, PID + 1, PID + 2, PID + 3 };
    pp_host_close(&host);
    script_numbers("/proc", all, 4);
    assert_int_equal(open_host(-1, -1), PP_OK);
    script_process(PID, 1, 33);
    script_process(PID + 1, 1, 34)->pgid = PID;
    script_process(PID + 2, 1, 35); /* PID + 3 ended meanwhile */
    pp_pid_list list = { 0 };
    for (int i = 0; i < 2; i++) { /* from the start each time */
        assert_int_equal(host.list_group(host.ctx, PID, &list, &host_error), PP_OK);
        assert_int_equal(list.count, 2);
        assert_int_equal(list.pids[0], PID);
        assert_int_equal(list.pids[1], PID + 1);
        pp_pid_list_done(&list);
    }
}

/* A number that /proc hides, or that came behind the place that was read by then.
 * proves: GRP-2, GRP-3 */
static void a_member_that_proc_does_not_show_is_listed_if_it_is_ours_or_held(void **state) {
    (void)state;
    const int32_t all[] = { PID };
    char path[64], text[64];
    pp_host_close(&host);
    script_numbers("/proc", all, 1);
    (void)snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
    (void)snprintf(text, sizeof text, "%d %d %d ", PID + 2, PID, PID + 1);
    script_file *children = script_text(path, text);
    assert_int_equal(open_host(-1, -1), PP_OK);
    script_process(PID, 1, 33);
    script_process(PID + 1, 1, 34)->pgid = PID;
    script_process(PID + 2, 1, 35); /* in a group of its own */
    script_process(PID + 3, 1, 36)->pgid = PID;
    (void)identified(PID + 3); /* and held since */
    pp_pid_list list = { 0 };
    assert_int_equal(host.list_group(host.ctx, PID, &list, &host_error), PP_OK);
    assert_int_equal(list.count, 3);
    assert_int_equal(list.pids[0], PID);
    assert_int_equal(list.pids[1], PID + 1);
    assert_int_equal(list.pids[2], PID + 3);
    pp_pid_list_done(&list);
    children->read_errno = EIO; /* who else there is, is not known */
    assert_int_equal(host.list_group(host.ctx, PID, &list, &host_error), PP_E_ENUMERATION);
}

/* proves: TRK-6, GRP-3 */
static void a_list_that_cannot_be_read_to_its_end_is_no_list(void **state) {
    (void)state;
    const int32_t all[] = { PID };
    pp_host_close(&host);
    script_file *proc = script_numbers("/proc", all, 1);
    assert_int_equal(open_host(-1, -1), PP_OK);
    script_process(PID, 1, 33);
    pp_pid_list list = { .count = 99 };
    proc->read_errno = EACCES;
    assert_int_equal(host.list_group(host.ctx, PID, &list, &host_error), PP_E_ENUMERATION);
    assert_int_equal(host_error.sys_errno, EACCES);
    proc->read_errno = 0;
    proc->endless = true;
    assert_int_equal(host.list_group(host.ctx, PID, &list, &host_error), PP_E_ENUMERATION);
    assert_int_equal(list.count, 99); /* untouched */
}

static script_proc *parent_of_threads(void) {
    const int32_t threads[] = { PID, PID + 1 };
    script_proc *proc = script_process(PID, 1, 33);
    script_of(proc, "stat", "90000007 (app) S 1 7 7 0 -1 0 1 1 1 1 1 1 0 0 20 0 2 0 1 0 0\n");
    script_numbers("/proc/90000007/task", threads, 2);
    script_of(proc, "task/90000007/children", "100 102 ");
    script_of(proc, "task/90000008/children", "101 102 ");
    return proc;
}

/* proves: TRK-2 */
static void children_of_all_threads_are_listed_once(void **state) {
    (void)state;
    (void)parent_of_threads();
    pp_pid_list list = { 0 };
    assert_int_equal(host.list_children(host.ctx, PID, &list, &host_error), PP_OK);
    assert_int_equal(list.count, 3);
    assert_int_equal(list.pids[0], 100);
    assert_int_equal(list.pids[2], 102);
    pp_pid_list_done(&list);
}

static void a_thread_that_ends_makes_the_children_be_read_again(void **state) {
    (void)state;
    script_proc *proc = parent_of_threads();
    script_file *second = script_of(proc, "task/90000008/children", "101 102 ");
    pp_pid_list list = { 0 };
    second->vanishing_opens = 2;
    assert_int_equal(host.list_children(host.ctx, PID, &list, &host_error), PP_OK);
    assert_int_equal(second->opens, 3);
    assert_int_equal(list.count, 3);
    pp_pid_list_done(&list);

    second->vanishing_opens = -1; /* for ever: never a short list */
    second->opens = 0;
    assert_int_equal(host.list_children(host.ctx, PID, &list, &host_error), PP_E_ENUMERATION);
    assert_in_range(second->opens, 2, 100);
}

static void children_come_in_pieces_and_in_any_number(void **state) {
    (void)state;
    script_proc *proc = parent_of_threads();
    script_file *file = script_of(proc, "task/90000007/children", "");
    for (int i = 1; i <= 2000; i++)
        file->size += (size_t)snprintf(file->bytes + file->size, sizeof file->bytes - file->size,
                                       "%d ", 100000 + i);
    file->step = 4090; /* a page, as far as whole numbers fit */
    pp_pid_list list = { 0 };
    assert_int_equal(host.list_children(host.ctx, PID, &list, &host_error), PP_OK);
    assert_int_equal(list.count, 2002);
    pp_pid_list_done(&list);
}

/* proves: TRK-1 */
static void children_of_the_dead_and_unreadable_children_are_told_apart(void **state) {
    (void)state;
    script_proc *proc = parent_of_threads();
    script_file *file = script_of(proc, "task/90000008/children", "");
    pp_pid_list list = { 0 };
    file->open_errno = EACCES;
    assert_int_equal(host.list_children(host.ctx, PID, &list, &host_error), PP_E_ENUMERATION);
    assert_int_equal(host_error.sys_errno, EACCES);
    file->open_errno = 0;
    file->read_errno = EIO;
    assert_int_equal(host.list_children(host.ctx, PID, &list, &host_error), PP_E_ENUMERATION);
    proc->gone = true;
    assert_int_equal(host.list_children(host.ctx, PID, &list, &host_error), PP_E_VANISHED);
}

/* proves: SMP-9 */
static void without_children_files_everybody_is_asked_for_the_parent(void **state) {
    (void)state;
    const int32_t all[] = { PID, PID + 1, PID + 2, PID + 3, PID + 4 };
    char path[96];
    pp_host_close(&host);
    script_numbers("/proc", all, 5);
    (void)snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
    script_text(path, "")->open_errno = ENOENT;
    assert_int_equal(open_host(-1, -1), PP_OK);
    script_process(PID, 1, 33);
    script_of(script_process(PID + 1, 1, 34), "stat",
              "90000008 (a) S 90000007 1 1 0 -1 0 1 1 1 1 1 1 0 0 20 0 1 0 1 0 0\n");
    script_of(script_process(PID + 2, 1, 35), "stat", "")->open_errno = EPERM; /* a stranger */
    script_file *third = script_of(script_process(PID + 4, 1, 37), "stat",
                                   "90000011 (a) Z 90000007 1 1 0 -1 0 1 1 1 1 1 1 0 0 20 0 1 0 1 "
                                   "0 0\n");
    pp_pid_list list = { 0 };
    assert_int_equal(host.list_children(host.ctx, PID, &list, &host_error), PP_OK);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.pids[1], PID + 4);
    pp_pid_list_done(&list);
    third->read_errno = EIO;
    assert_int_equal(host.list_children(host.ctx, PID, &list, &host_error), PP_E_ENUMERATION);
}

/* ---- exits ---- */

static struct {
    int result;
    siginfo_t info;
    struct rusage usage;
    int id_type, id, options;
    script_file *io; /* grows when a child is reaped */
} waited;

static int fake_wait_id(int id_type, int id, siginfo_t *ret_info, int options,
                        struct rusage *ret_usage) {
    waited.id_type = id_type;
    waited.id = id;
    waited.options = options;
    if (waited.io != NULL && !(options & WNOWAIT))
        (void)script_text("/proc/self/io", "write_bytes: 7341056\ncancelled_write_bytes: 0\n");
    *ret_info = waited.info;
    *ret_usage = waited.usage;
    return waited.result;
}

static pp_proc_id child_that(int code, int status_value) {
    script_process(PID, 1, 33);
    memset(&waited, 0, sizeof waited);
    waited.info.si_pid = PID;
    waited.info.si_code = code;
    waited.info.si_status = status_value;
    waited.usage.ru_utime = (struct timeval){ 2, 5 };
    waited.usage.ru_stime = (struct timeval){ 0, 7 };
    scripted.sys.wait_id = fake_wait_id;
    return identified(PID);
}

/* proves: GRP-1 */
static void an_exit_is_observed_without_reaping(void **state) {
    (void)state;
    pp_proc_id id = child_that(CLD_EXITED, 3);
    pp_exit exit;
    assert_int_equal(host.observe_exit(host.ctx, id, &exit, &host_error), PP_OK);
    assert_false(exit.by_signal);
    assert_int_equal(exit.code, 3);
    assert_int_equal(exit.cpu_ns.value, 2000012000);
    assert_int_equal(waited.id_type, P_PIDFD);
    assert_int_equal(waited.options, WEXITED | WNOWAIT | WNOHANG);

    id = child_that(CLD_DUMPED, SIGABRT);
    assert_int_equal(host.observe_exit(host.ctx, id, &exit, &host_error), PP_OK);
    assert_true(exit.by_signal && exit.core_dumped);
    assert_int_equal(exit.signal_number, SIGABRT);
}

/* proves: GRP-7 */
static void a_child_that_somebody_else_reaped_has_vanished(void **state) {
    (void)state;
    pp_proc_id id = child_that(CLD_EXITED, 0);
    pp_exit exit;
    pp_reading written;
    waited.result = -ECHILD;
    assert_int_equal(host.observe_exit(host.ctx, id, &exit, &host_error), PP_E_VANISHED);
    assert_int_equal(host.reap(host.ctx, id, &exit, &written, &host_error), PP_E_VANISHED);
    scripted.procs[0].gone = true;
    host.forget(host.ctx, id);
    assert_int_equal(host.observe_exit(host.ctx, id, &exit, &host_error), PP_E_VANISHED);
    script_process(PID, 2, 34);
    assert_int_equal(host.observe_exit(host.ctx, id, &exit, &host_error), PP_E_VANISHED);
    waited.result = -EINVAL;
    assert_int_equal(host.observe_exit(host.ctx, identified(PID), &exit, &host_error), PP_E_SYS);
}

static void a_living_child_is_not_reaped(void **state) {
    (void)state;
    pp_proc_id id = child_that(CLD_EXITED, 0);
    pp_exit exit;
    pp_reading written;
    waited.info.si_pid = 0;
    assert_int_equal(host.observe_exit(host.ctx, id, &exit, &host_error), PP_E_AGAIN);
    assert_int_equal(host.reap(host.ctx, id, &exit, &written, &host_error), PP_E_AGAIN);
    assert_true((waited.options & WNOHANG) != 0);
}

static void reaping_tells_what_the_child_wrote_in_its_life(void **state) {
    (void)state;
    pp_host_close(&host);
    script_file *io = script_text("/proc/self/io", "write_bytes: 1056\n");
    assert_int_equal(open_host(-1, -1), PP_OK);
    pp_proc_id id = child_that(CLD_KILLED, SIGKILL);
    pp_exit exit;
    pp_reading written;
    waited.io = io;
    assert_int_equal(host.reap(host.ctx, id, &exit, &written, &host_error), PP_OK);
    assert_true(written.known);
    assert_int_equal(written.value, 7340000);
    assert_int_equal(exit.signal_number, SIGKILL);

    script_text("/proc/self/io", "write_bytes: 9000000\n"); /* falls to 7341056 */
    id = child_that(CLD_EXITED, 0);
    waited.io = io;
    assert_int_equal(host.reap(host.ctx, id, &exit, &written, &host_error), PP_OK);
    assert_int_equal(written.why, PP_E_REGRESSED);

    io->read_errno = EACCES;
    id = child_that(CLD_EXITED, 0);
    assert_int_equal(host.reap(host.ctx, id, &exit, &written, &host_error), PP_OK);
    assert_false(written.known);
    assert_int_equal(written.why, PP_E_DENIED);
}

/* proves: GRP-10 */
static void an_orphan_is_reaped_by_number_with_one_look(void **state) {
    (void)state;
    (void)child_that(CLD_KILLED, SIGKILL);
    pp_orphan orphan;
    assert_int_equal(host.reap_orphan(host.ctx, PID, false, &orphan, &host_error), PP_OK);
    assert_int_equal(orphan.info.id.pid, PID);
    assert_int_equal(orphan.info.id.start, 1);
    assert_int_equal(orphan.exit.signal_number, SIGKILL);
    assert_int_equal(orphan.exit.cpu_ns.value, 2000012000);
    assert_int_equal(waited.id_type, P_PID);
    assert_int_equal(waited.id, PID);
    assert_int_equal(waited.options, WEXITED | WNOHANG); /* taken at last */

    waited.info.si_pid = 0;
    assert_int_equal(host.reap_orphan(host.ctx, PID, false, &orphan, &host_error), PP_E_AGAIN);
    assert_int_equal(waited.options, WEXITED | WNOHANG | WNOWAIT);
    waited.result = -ECHILD;
    assert_int_equal(host.reap_orphan(host.ctx, PID, false, &orphan, &host_error), PP_E_VANISHED);
}

/* Of another user, where /proc hides it: nobody else can take it, and it would be there for ever.
 * proves: GRP-12 */
static void an_orphan_that_cannot_be_looked_at_is_reaped_all_the_same(void **state) {
    (void)state;
    (void)child_that(CLD_KILLED, SIGKILL);
    script_file *stat = script_of(&scripted.procs[0], "stat", "");
    for (int refusal = 0; refusal < 2; refusal++) { /* hidepid 1 and 2 */
        pp_orphan orphan = { 0 };
        stat->open_errno = refusal == 0 ? EPERM : ENOENT;
        assert_int_equal(host.reap_orphan(host.ctx, PID, false, &orphan, &host_error), PP_OK);
        assert_true(orphan.unseen);
        assert_int_equal(orphan.info.id.pid, PID);
        assert_int_equal(orphan.info.pgid, PID);
        assert_string_equal(orphan.info.exe, "[unread]");
        assert_int_equal(orphan.exit.signal_number, SIGKILL);
        assert_int_equal(waited.options, WEXITED | WNOHANG);
    }
}

static void an_orphan_of_a_crowd_is_taken_in_one_question(void **state) {
    (void)state;
    (void)child_that(CLD_KILLED, SIGKILL);
    pp_orphan orphan;
    scripted.procs[0].gone = true; /* no look at it succeeds */
    assert_int_equal(host.reap_orphan(host.ctx, PID, true, &orphan, &host_error), PP_OK);
    assert_int_equal(orphan.info.id.pid, PID);
    assert_int_equal(orphan.exit.signal_number, SIGKILL);
    assert_int_equal(waited.options, WEXITED | WNOHANG);
    waited.info.si_pid = 0;
    assert_int_equal(host.reap_orphan(host.ctx, PID, true, &orphan, &host_error), PP_E_AGAIN);
}

static void whether_an_orphan_ended_is_one_question_that_reaps_nothing(void **state) {
    (void)state;
    (void)child_that(CLD_EXITED, 0);
    assert_int_equal(host.orphan_ended(host.ctx, PID, &host_error), PP_OK);
    assert_int_equal(waited.id_type, P_PID);
    assert_int_equal(waited.id, PID);
    assert_int_equal(waited.options, WEXITED | WNOHANG | WNOWAIT);
    waited.info.si_pid = 0;
    assert_int_equal(host.orphan_ended(host.ctx, PID, &host_error), PP_E_AGAIN);
    waited.result = -ECHILD;
    assert_int_equal(host.orphan_ended(host.ctx, PID, &host_error), PP_E_VANISHED);
}

/* proves: GRP-12 */
static void only_echild_proves_that_no_child_is_left(void **state) {
    (void)state;
    (void)child_that(CLD_EXITED, 0);
    waited.result = 0;
    assert_int_equal(host.no_children_left(host.ctx, &host_error), PP_E_AGAIN);
    assert_int_equal(waited.id_type, P_ALL);
    assert_true((waited.options & (WNOWAIT | WNOHANG)) == (WNOWAIT | WNOHANG));
    waited.result = -EINVAL;
    assert_int_equal(host.no_children_left(host.ctx, &host_error), PP_E_SYS);
    waited.result = -ECHILD;
    assert_int_equal(host.no_children_left(host.ctx, &host_error), PP_OK);
}

/* ---- signals ---- */

/* proves: GRP-11 */
static void low_numbers_are_never_signalled(void **state) {
    (void)state;
    for (int32_t pid = -2; pid <= 1; pid++) {
        pp_proc_id id = { .pid = pid, .start = 1 };
        assert_int_equal(host.signal(host.ctx, id, SIGTERM, &host_error), PP_E_REFUSED);
        assert_int_equal(host.signal_group(host.ctx, id, SIGTERM, &host_error), PP_E_REFUSED);
    }
    assert_int_equal(scripted.pidfd_signal.calls + scripted.kill.calls, 0);
}

/* proves: GRP-6 */
static void a_signal_reaches_the_process_itself_or_fails_with_the_reason(void **state) {
    (void)state;
    script_proc *proc = script_process(PID, 1, 33);
    pp_proc_id id = identified(PID);
    assert_int_equal(host.signal(host.ctx, id, SIGTERM, &host_error), PP_OK);
    assert_int_equal(scripted.pidfd_signal.number, SIGTERM);
    assert_int_equal(scripted.pidfd_signal.flags, 0);
    proc->signal_errno = EPERM;
    assert_int_equal(host.signal(host.ctx, id, SIGTERM, &host_error), PP_E_DENIED);
    assert_string_equal(host_error.detail, "SIGTERM to 90000007");
    proc->gone = true;
    assert_int_equal(host.signal(host.ctx, id, SIGTERM, &host_error), PP_E_VANISHED);
    assert_int_equal(scripted.kill.calls, 0);
}

/* proves: GRP-7 */
static void a_group_that_is_not_ours_is_never_signalled(void **state) {
    (void)state;
    script_process(PID, 1, 33);
    assert_int_equal(host.signal_group(host.ctx, identified(PID), SIGTERM, &host_error),
                     PP_E_REFUSED);
    assert_int_equal(scripted.pidfd_signal.calls + scripted.kill.calls, 0);
}

int main(void) {
#define UNOPENED(name) cmocka_unit_test_setup_teardown(name, reset_script, close_scripted)
#define T(name) cmocka_unit_test_setup_teardown(name, open_scripted, close_scripted)
    const struct CMUnitTest tests[] = {
        UNOPENED(an_older_kernel_is_found_by_trying),
        UNOPENED(an_estimated_resident_size_is_said_to_be_one),
        UNOPENED(the_switch_for_older_kernels_is_recorded_and_checked),
        UNOPENED(a_failed_open_leaves_nothing_behind),
        UNOPENED(closing_twice_or_nothing_is_harmless),
        T(a_group_lists_its_members_and_nobody_else),
        T(a_member_that_proc_does_not_show_is_listed_if_it_is_ours_or_held),
        T(a_list_that_cannot_be_read_to_its_end_is_no_list),
        T(children_of_all_threads_are_listed_once),
        T(a_thread_that_ends_makes_the_children_be_read_again),
        T(children_come_in_pieces_and_in_any_number),
        T(children_of_the_dead_and_unreadable_children_are_told_apart),
        T(without_children_files_everybody_is_asked_for_the_parent),
        T(an_exit_is_observed_without_reaping),
        T(a_child_that_somebody_else_reaped_has_vanished),
        T(a_living_child_is_not_reaped),
        T(reaping_tells_what_the_child_wrote_in_its_life),
        T(an_orphan_is_reaped_by_number_with_one_look),
        T(an_orphan_that_cannot_be_looked_at_is_reaped_all_the_same),
        T(an_orphan_of_a_crowd_is_taken_in_one_question),
        T(whether_an_orphan_ended_is_one_question_that_reaps_nothing),
        T(only_echild_proves_that_no_child_is_left),
        T(low_numbers_are_never_signalled),
        T(a_signal_reaches_the_process_itself_or_fails_with_the_reason),
        T(a_group_that_is_not_ours_is_never_signalled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void) {
    return 77; /* skipped: Linux only */
}
#endif
