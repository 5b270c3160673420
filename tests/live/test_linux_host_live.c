/* SPDX-License-Identifier: Apache-2.0 */
/* Starting, ending, listing and signalling real children. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#ifdef __linux__
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "linux_live.h"

enum { ODD_SLACK_NS = 77777, ODD_NOFILE = 512, ODD_UMASK = 027, ODD_FD = 200 };

/* ---- what this program does when it is started again ---- */

static void print_status_lines(void) {
    char line[256];
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "SigBlk", 6) == 0 || strncmp(line, "SigIgn", 6) == 0 ||
            strncmp(line, "Cpus_allowed:", 13) == 0)
            (void)fputs(line, stdout);
    if (file != NULL)
        (void)fclose(file);
}

/* As the host asked for in its own process, if the kernel does such things at all. */
static int takes_short_turns(void) {
    uint64_t words[8] = { 0 }; /* struct sched_attr; the fourth: sched_runtime */
    long result = syscall(SYS_sched_getattr, 0, words, sizeof words, 0);
    return result == 0 && words[3] == 100000;
}

/* Prints what it was started with. */
static int again_state(void) {
    struct rlimit nofile;
    char target[64] = { 0 };
    int fds = 0;
    for (int fd = 0; fd < 1024; fd++)
        fds += fcntl(fd, F_GETFD) >= 0;
    (void)getrlimit(RLIMIT_NOFILE, &nofile);
    if (readlink("/proc/self/fd/0", target, sizeof target - 1) < 0)
        return 1;
    (void)printf("fds=%d nofile=%lu slack=%d short=%d umask=%o leads=%d stdin=%s parent=%d\n", fds,
                 (unsigned long)nofile.rlim_cur, prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0),
                 takes_short_turns(), (unsigned)umask(0), getpgrp() == getpid(), target, getppid());
    print_status_lines();
    (void)puts("end");
    return 0;
}

/* ---- starting ---- */

static void set_odd_state(bool odd) {
    static struct rlimit nofile;
    static cpu_set_t cpus;
    static mode_t mask;
    sigset_t usr2;
    sigemptyset(&usr2);
    sigaddset(&usr2, SIGUSR2);
    if (odd) {
        cpu_set_t first;
        CPU_ZERO(&first);
        (void)sched_getaffinity(0, sizeof cpus, &cpus);
        for (size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&first) == 0; cpu++)
            if (CPU_ISSET(cpu, &cpus))
                CPU_SET(cpu, &first);
        assert_int_equal(sched_setaffinity(0, sizeof first, &first), 0);
        (void)getrlimit(RLIMIT_NOFILE, &nofile);
        mask = umask(ODD_UMASK);
        assert_int_equal(dup2(2, ODD_FD), ODD_FD); /* inheritable */
    } else {
        (void)sched_setaffinity(0, sizeof cpus, &cpus);
        (void)umask(mask);
        (void)close(ODD_FD);
    }
    struct rlimit limit = { .rlim_cur = odd ? ODD_NOFILE : nofile.rlim_cur,
                            .rlim_max = nofile.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    (void)signal(SIGHUP, odd ? SIG_IGN : SIG_DFL);
    (void)signal(SIGUSR1, odd ? SIG_IGN : SIG_DFL);
    (void)sigprocmask(odd ? SIG_BLOCK : SIG_UNBLOCK, &usr2, NULL);
    (void)prctl(PR_SET_TIMERSLACK, odd ? ODD_SLACK_NS : 0, 0, 0, 0);
}

/* proves: BOX-6 */
static void a_command_finds_what_the_harness_found_and_nothing_of_ours(void **state) {
    char expected[256];
    (void)live_close(state);
    struct rlimit nofile;
    set_odd_state(true);
    assert_int_equal(live_open(state), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &nofile), 0);
    assert_int_equal(nofile.rlim_cur, nofile.rlim_max);
    pp_proc_id id = live_again("state");
    const char *output = live_await_output("end\n");
    (void)snprintf(expected, sizeof expected,
                   "fds=3 nofile=%d slack=%d short=0 umask=%o leads=1 stdin=/dev/null parent=%d\n",
                   ODD_NOFILE, ODD_SLACK_NS, ODD_UMASK, getpid());
    assert_memory_equal(output, expected, strlen(expected));
    assert_non_null(strstr(output, "SigBlk:\t0000000000000000\n"));
    assert_non_null(strstr(output, "SigIgn:\t0000000000000000\n"));
    unsigned long cpus = strtoul(strstr(output, "Cpus_allowed:\t") + 14, NULL, 16);
    assert_int_equal(__builtin_popcountl(cpus), 1);
    live_end(id);

    /* And closing gives back what was ours. */
    (void)live_close(state);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &nofile), 0);
    assert_int_equal(nofile.rlim_cur, ODD_NOFILE);
    assert_int_equal(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0), ODD_SLACK_NS);
    set_odd_state(false);
    assert_int_equal(live_open(state), 0);
}

static void assert_not_started(const char *path, const char *cwd, const char *op, int sys_errno,
                               const char *detail) {
    char *const words[] = { "x", NULL };
    pp_command command = { .path = path, .argv = words, .envp = words + 1, .cwd = cwd };
    pp_proc_id id;
    assert_int_equal(live_os.spawn(live_os.ctx, &command, &id, &live_error), PP_E_SYS);
    assert_string_equal(live_error.op, op);
    assert_int_equal(live_error.sys_errno, sys_errno);
    assert_string_equal(live_error.detail, detail);
    assert_int_equal(live_os.no_children_left(live_os.ctx, &live_error), PP_OK);
}

/* proves: BOX-7 */
static void a_failed_start_names_its_step_and_leaves_no_child(void **state) {
    (void)state;
    int fd = openat(live_run_dir_fd, "blob", O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
    assert_int_equal(write(fd, "\177ELF", 4), 4);
    (void)close(fd);
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/fd/%d/blob", getpid(), live_run_dir_fd);
    assert_not_started("/nonexistent/x", "/", "execve", ENOENT, "/nonexistent/x");
    assert_not_started("/etc/passwd", "/", "execve", EACCES, "/etc/passwd");
    assert_not_started(path, "/", "execve", ENOEXEC, path);
    assert_not_started("/bin/true", "/nonexistent", "chdir", ENOENT, "/nonexistent");
    assert_not_started("/bin/true", "/etc/passwd", "chdir", ENOTDIR, "/etc/passwd");
}

/* proves: GRP-1 */
static void an_exited_leader_stays_pinned_until_it_is_reaped(void **state) {
    (void)state;
    pp_reading written;
    pp_proc_id id = live_shell("exit 3");
    for (int i = 0; i < 3; i++) { /* looking does not reap */
        pp_exit exit = live_await_exit(id);
        assert_false(exit.by_signal);
        assert_int_equal(exit.code, 3);
        assert_true(exit.cpu_ns.known);
    }
    assert_int_equal(live_inspect(id).phase, PP_PHASE_ZOMBIE);
    assert_int_equal(live_os.no_children_left(live_os.ctx, &live_error), PP_E_AGAIN);
    assert_int_equal(live_os.signal_group(live_os.ctx, id, 0, &live_error), PP_OK);
    assert_int_equal(live_reap(id, &written).code, 3);
    assert_int_equal(live_os.no_children_left(live_os.ctx, &live_error), PP_OK);
    pp_exit exit;
    assert_int_equal(live_os.observe_exit(live_os.ctx, id, &exit, &live_error), PP_E_VANISHED);
    /* Without the group flag the free number is not even asked for. */
    assert_int_equal(live_os.signal_group(live_os.ctx, id, SIGKILL, &live_error),
                     live_old_kernel() ? PP_E_REFUSED : PP_E_VANISHED);
}

static void the_signal_that_ended_a_process_is_told(void **state) {
    (void)state;
    pp_reading written;
    pp_proc_id id = live_shell("kill -SEGV $$");
    pp_exit exit = live_reap(id, &written);
    assert_true(exit.by_signal);
    assert_int_equal(exit.signal_number, SIGSEGV);
}

/* proves: GRP-2 */
static void B03_every_member_of_a_group_is_listed(void **state) {
    (void)state;
    pp_pid_list list = { 0 };
    pp_proc_id id = live_shell("i=0; while [ $i -lt 300 ]; do sleep 60 & i=$((i+1)); done; "
                               "setsid sleep 61 & echo ready; wait");
    (void)live_await_output("ready");
    int64_t limit = live_now() + LIVE_LIMIT_S * INT64_C(1000000000);
    do { /* until the last one has left the group */
        assert_true(live_now() < limit);
        pp_pid_list_done(&list);
        live_pause();
        assert_int_equal(live_os.list_group(live_os.ctx, id.pid, &list, &live_error), PP_OK);
    } while (list.count > 301);
    assert_int_equal(list.count, 301);
    for (size_t i = 0; i < list.count; i++)
        assert_int_equal(live_identify(list.pids[i]).pgid, id.pid);
    pp_pid_list_done(&list);
    assert_int_equal(live_os.list_children(live_os.ctx, id.pid, &list, &live_error), PP_OK);
    assert_int_equal(list.count, 301); /* without the leader, with the one that left */
    pp_pid_list_done(&list);
    live_end(id);
}

/* proves: GRP-10, GRP-12 */
static void a_daemon_is_adopted_and_only_its_end_ends_the_tree(void **state) {
    (void)state;
    pp_pid_list list = { 0 };
    pp_reading written;
    pp_proc_id id = live_shell("(setsid sleep 60 &) ; echo ready; exit 0");
    (void)live_await_output("ready");
    (void)live_reap(id, &written);
    assert_int_equal(live_os.no_children_left(live_os.ctx, &live_error), PP_E_AGAIN);
    assert_int_equal(live_os.list_own_children(live_os.ctx, &list, &live_error), PP_OK);
    assert_int_equal(list.count, 1);
    pp_proc_info daemon = live_identify(list.pids[0]);
    pp_pid_list_done(&list);
    assert_int_equal(daemon.ppid, getpid());
    assert_int_equal(live_os.signal(live_os.ctx, daemon.id, SIGTERM, &live_error), PP_OK);
    pp_exit exit = live_reap(daemon.id, &written);
    assert_true(exit.by_signal && exit.signal_number == SIGTERM);
    assert_int_equal(live_os.no_children_left(live_os.ctx, &live_error), PP_OK);
}

/* proves: GRP-10 */
static void a_group_is_signalled_while_its_leader_is_dead_but_unreaped(void **state) {
    (void)state;
    pp_pid_list list = { 0 };
    pp_proc_id id = live_shell("sleep 60 & echo ready; exit 0");
    (void)live_await_output("ready");
    (void)live_await_exit(id);
    assert_int_equal(live_os.list_group(live_os.ctx, id.pid, &list, &live_error), PP_OK);
    assert_int_equal(list.count, 2);
    int32_t member = list.pids[list.pids[0] == id.pid];
    pp_proc_id sleeper = live_identify(member).id;
    pp_pid_list_done(&list);
    assert_int_equal(live_os.signal_group(live_os.ctx, id, SIGTERM, &live_error), PP_OK);
    assert_int_equal(live_await_exit(sleeper).signal_number, SIGTERM);
    live_end(id);
}

/* proves: GRP-10 */
static void a_stopped_process_has_not_exited(void **state) {
    (void)state;
    pp_exit exit;
    pp_proc_id id = live_shell("echo ready; kill -STOP $$; exit 5");
    int64_t limit = live_now() + LIVE_LIMIT_S * INT64_C(1000000000);
    while (live_inspect(id).phase != PP_PHASE_STOPPED) {
        assert_true(live_now() < limit);
        live_pause();
    }
    assert_int_equal(live_os.observe_exit(live_os.ctx, id, &exit, &live_error), PP_E_AGAIN);
    assert_int_equal(live_os.signal(live_os.ctx, id, SIGCONT, &live_error), PP_OK);
    assert_int_equal(live_await_exit(id).code, 5);
    live_end(id);
}

/* ---- output ---- */

static void output_beyond_the_cap_is_counted_and_dropped(void **state) {
    (void)state;
    pp_output_state output = { 0 };
    struct stat file;
    pp_proc_id id = live_shell("head -c 300000 /dev/zero; echo oops >&2");
    (void)live_await_exit(id);
    int64_t limit = live_now() + LIVE_LIMIT_S * INT64_C(1000000000);
    while (output.stdout_bytes < 300000 || output.stderr_bytes < 5) {
        assert_true(live_now() < limit);
        live_pause();
        assert_int_equal(live_os.drain_output(live_os.ctx, &output, &live_error), PP_OK);
    }
    assert_int_equal(output.stdout_bytes, 300000);
    assert_true(output.stdout_truncated);
    assert_false(output.stderr_truncated);
    assert_int_equal(output.failure, PP_OK);
    assert_int_equal(fstatat(live_run_dir_fd, "out", &file, 0), 0);
    assert_int_equal(file.st_size, 4096);
    assert_int_equal(file.st_mode & 0777, 0600);
    live_end(id);
    /* Both ends are at their end: nothing wakes us any more. */
    pp_events events;
    assert_int_equal(live_os.wait(live_os.ctx, 0, false, &events, &live_error), PP_OK);
    (void)live_os.drain_output(live_os.ctx, &output, &live_error);
    assert_int_equal(live_os.wait(live_os.ctx, 0, false, &events, &live_error), PP_OK);
    assert_false(events.output_readable);
}

/* ---- the host's own death, and the terminal ---- */

static int host_and_pid_pipe[2];

static int host_that_is_killed(void) {
    char *const words[] = { "sleep", "60", NULL };
    pp_command command = { .path = "/bin/sleep", .argv = words, .envp = words + 2, .cwd = "/" };
    pp_proc_id id;
    if (live_open(NULL) != 0 || live_os.spawn(live_os.ctx, &command, &id, &live_error) != PP_OK)
        return 1;
    if (write(host_and_pid_pipe[1], &id.pid, sizeof id.pid) != (ssize_t)sizeof id.pid)
        return 1;
    (void)kill(getpid(), SIGKILL);
    return 1;
}

/* proves: CAN-5 */
static void a_leader_does_not_outlive_a_killed_host(void **state) {
    (void)state;
    int32_t leader;
    assert_int_equal(pipe2(host_and_pid_pipe, O_CLOEXEC), 0);
    assert_int_equal(live_forked(host_that_is_killed), 128 + SIGKILL);
    assert_int_equal(read(host_and_pid_pipe[0], &leader, sizeof leader), sizeof leader);
    (void)close(host_and_pid_pipe[0]);
    (void)close(host_and_pid_pipe[1]);
    /* We are a subreaper, so the orphan is ours now. */
    pp_proc_id id = live_identify(leader).id;
    pp_reading written;
    assert_int_equal(live_reap(id, &written).signal_number, SIGKILL);
}

/* Prints nothing but tells by its exit status whether the terminal is its own. */
static int again_terminal(void) {
    return isatty(0) && tcgetpgrp(0) == getpgrp() && getpgrp() == getpid() ? 9 : 1;
}

static int host_with_a_terminal(void) {
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        return 77;
    (void)setsid();
    int terminal = open(ptsname(master), O_RDWR); /* becomes the controlling one */
    if (terminal < 0 || tcgetpgrp(terminal) != getpgrp())
        return 77;
    (void)dup2(terminal, 0);
    pp_host_options options = { .channel_fd = -1, .run_dir_fd = -1, .terminal_foreground = true };
    if (pp_host_open(&options, &live_os, &live_error) != PP_OK)
        return 1;
    pp_proc_id id = live_again("terminal");
    pp_reading written;
    pp_exit exit = live_reap(id, &written);
    if (exit.by_signal || exit.code != 9)
        return 2;
    if (tcgetpgrp(0) != getpgrp())
        return 3;
    pp_host_close(&live_os);
    return 0;
}

/* proves: BOX-6 */
static void a_terminal_is_lent_to_the_leader_and_taken_back(void **state) {
    (void)state;
    int result = live_forked(host_with_a_terminal);
    if (result == 77)
        skip();
    assert_int_equal(result, 0);
}

int main(int argc, char **argv) {
    if (argc > 1)
        return strcmp(argv[1], "state") == 0 ? again_state() : again_terminal();
#define T(name) cmocka_unit_test_setup_teardown(name, live_open, live_close)
    const struct CMUnitTest tests[] = {
        T(a_command_finds_what_the_harness_found_and_nothing_of_ours),
        T(a_failed_start_names_its_step_and_leaves_no_child),
        T(an_exited_leader_stays_pinned_until_it_is_reaped),
        T(the_signal_that_ended_a_process_is_told),
        T(B03_every_member_of_a_group_is_listed),
        T(a_daemon_is_adopted_and_only_its_end_ends_the_tree),
        T(a_group_is_signalled_while_its_leader_is_dead_but_unreaped),
        T(a_stopped_process_has_not_exited),
        T(output_beyond_the_cap_is_counted_and_dropped),
        T(a_leader_does_not_outlive_a_killed_host),
        T(a_terminal_is_lent_to_the_leader_and_taken_back),
    };
    return cmocka_run_group_tests(tests, live_make_run_dir, live_remove_run_dir);
}
#else
int main(void) {
    return 77; /* skipped: Linux only */
}
#endif
