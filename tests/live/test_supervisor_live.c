/* SPDX-License-Identifier: Apache-2.0 */
/* Real commands under the built supervisor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#ifdef __linux__
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "supervised.h"

enum { BURNERS = 8, BURN_MS = 20, ODD_FD = 200 };

/* ---- what this program does when it is started again ---- */

/* A daemon that prints its pid and stays; the leader stays, too. */
static int again_daemon(void) {
    pid_t child = fork();
    if (child == 0) {
        (void)setsid();
        if (fork() == 0) {
            char line[32];
            int size = snprintf(line, sizeof line, "%d\n", getpid());
            (void)!write(STDOUT_FILENO, line, (size_t)size);
            pause();
        }
        _exit(0);
    }
    (void)waitpid(child, NULL, 0);
    return pause();
}

/* Its open descriptors, one a line, and its signals. */
static int again_state(void) {
    char line[256], target[128], path[64];
    DIR *dir = opendir("/proc/self/fd");
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        (void)snprintf(path, sizeof path, "/proc/self/fd/%.16s", entry->d_name);
        ssize_t got = readlink(path, target, sizeof target - 1);
        if (got < 0 || atoi(entry->d_name) == dirfd(dir))
            continue;
        target[got] = '\0';
        (void)printf("fd %s %.9s\n", entry->d_name, target);
    }
    (void)closedir(dir);
    FILE *file = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "SigBlk", 6) == 0 || strncmp(line, "SigIgn", 6) == 0)
            (void)fputs(line, stdout);
    (void)fclose(file);
    (void)printf("leads %d\nend\n", getpgrp() == getpid());
    return 0;
}

static long long own_cpu_ns(void) {
    struct timespec used;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return used.tv_sec * SV_S + used.tv_nsec;
}

static void burn_and_tell(int fd) {
    while (own_cpu_ns() < BURN_MS * SV_MS)
        ;
    long long used_ns = own_cpu_ns();
    (void)!write(fd, &used_ns, sizeof used_ns);
    _exit(0);
}

/* Children that burn and are waited for, orphans that burn and are not; prints all that was used.
 * Every one of them is shorter than any interval between frames. */
static int again_burn(void) {
    int told[2];
    long long sum_ns = 0, used_ns;
    if (pipe(told) < 0)
        return 1;
    for (int i = 0; i < BURNERS; i++) {
        pid_t child = fork();
        if (child == 0)
            burn_and_tell(told[1]);
        (void)waitpid(child, NULL, 0);
        child = fork();
        if (child == 0) {
            if (fork() == 0)
                burn_and_tell(told[1]);
            _exit(0);
        }
        (void)waitpid(child, NULL, 0);
    }
    for (int i = 0; i < 2 * BURNERS; i++) {
        if (read(told[0], &used_ns, sizeof used_ns) != sizeof used_ns)
            return 1;
        sum_ns += used_ns;
    }
    (void)printf("%lld\n", sum_ns + own_cpu_ns());
    (void)fflush(stdout);
    return pause();
}

static int again(const char *mode) {
    if (strcmp(mode, "daemon") == 0)
        return again_daemon();
    return strcmp(mode, "burn") == 0 ? again_burn() : again_state();
}

/* ---- helpers ---- */

static bool verdict_says(const supervised *sv, const char *text) {
    return memmem(sv->view.verdict_json, sv->view.verdict_size, text, strlen(text)) != NULL;
}

static size_t count(const char *text, const char *part) {
    size_t found = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        found++;
    return found;
}

/* Start token as /proc shows it. */
static unsigned long long start_of(pid_t pid) {
    char path[64], bytes[1024];
    (void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = read(fd, bytes, sizeof bytes - 1);
    (void)close(fd);
    assert_true(got > 0);
    bytes[got] = '\0';
    const char *at = strrchr(bytes, ')') + 1; /* field 2 */
    for (int field = 2; field < 21; field++)
        at = strchr(at + 1, ' ');
    return strtoull(at, NULL, 10);
}

static pid_t parent_of(pid_t pid) {
    char path[64], bytes[1024];
    (void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = read(fd, bytes, sizeof bytes - 1);
    (void)close(fd);
    assert_true(got > 0);
    bytes[got] = '\0';
    return (pid_t)strtol(strrchr(bytes, ')') + 4, NULL, 10);
}

/* ---- ending ---- */

/* proves: GRP-1, GRP-4, GRP-12, HOOK-6 (B14, B18) */
static void a_hook_that_left_a_child_is_ended_as_a_group_and_proved_gone(void **state) {
    supervised *sv = *state;
    int64_t start_ns = sv_now();
    sv_shell(sv, "sleep 30 & exit 3"); /* sleep holds the output pipes */
    sv_await(sv, sv_exited);
    assert_false(sv->view.exit.by_signal);
    assert_int_equal(sv->view.exit.code, 3);
    assert_int_equal(sv->view.phase, PP_SUPERVISOR_EXITED);
    assert_int_equal(kill(sv->leader.pid, 0), 0); /* still pinned */
    sv_stop(sv, true, 10 * SV_S);
    assert_true(sv_now() - start_ns < 10 * SV_S);
    assert_int_equal(sv->view.verdict, PP_VERDICT_ECHILD);
    assert_false(sv->view.forced);
    const char *events = sv_file(sv, "events.jsonl");
    const char *signalled = strstr(events, "\"signal\":\"SIGTERM\"");
    const char *reaped = strstr(events, "\"kind\":\"reaped\"");
    assert_true(signalled && reaped && signalled < reaped);
    assert_int_equal(count(events, "\"kind\":\"signal\""), 1);
    assert_true(verdict_says(sv, "\"leader_exit\":{\"code\":3}"));
}

/* proves: GRP-4, HOOK-6 (B16) */
static void a_grandchild_that_ignores_sigterm_is_killed_after_the_grace(void **state) {
    supervised *sv = *state;
    sv_shell(sv, "(trap '' TERM; echo ready; exec sleep 60) & exit 0");
    sv_await(sv, sv_printed);
    sv_await(sv, sv_exited);
    int64_t start_ns = sv_now();
    sv_stop(sv, true, 300 * SV_MS);
    assert_true(sv_now() - start_ns >= 300 * SV_MS);
    assert_int_equal(sv->view.verdict, PP_VERDICT_ECHILD);
    assert_true(sv->view.forced);
}

/* proves: GRP-4, CAN-2 (B16) */
static void an_application_that_ignores_sigterm_is_killed_and_forced(void **state) {
    supervised *sv = *state;
    sv_shell(sv, "trap '' TERM; echo ready; exec sleep 60");
    sv_await(sv, sv_printed);
    sv_stop(sv, false, 300 * SV_MS);
    assert_true(sv->view.exited && sv->view.exit.by_signal);
    assert_int_equal(sv->view.exit.signal_number, SIGKILL);
    assert_true(sv->view.forced);
    assert_int_equal(sv->view.verdict, PP_VERDICT_ECHILD);
}

/* proves: CAN-2 */
static void an_application_that_ends_on_sigterm_is_not_forced(void **state) {
    supervised *sv = *state;
    sv_shell(sv, "trap 'exit 7' TERM; echo ready; while :; do sleep 0.01; done");
    sv_await(sv, sv_printed);
    sv_stop(sv, false, 10 * SV_S);
    assert_int_equal(sv->view.exit.code, 7);
    assert_false(sv->view.forced);
    assert_int_equal(sv->view.verdict, PP_VERDICT_ECHILD);
}

/* proves: CAN-3, GRP-12, TRK-3 (B19) */
static void a_daemon_is_left_running_and_listed_by_pid_and_start(void **state) {
    supervised *sv = *state;
    char wanted[128];
    sv_again(sv, "daemon", NULL);
    sv_await(sv, sv_printed);
    pid_t daemon = atoi(sv_file(sv, "out"));
    assert_true(daemon > 1);
    sv_stop(sv, false, 500 * SV_MS);
    assert_int_equal(sv->view.verdict, PP_VERDICT_LEFT_RUNNING);
    assert_false(sv->view.forced);
    assert_true(sv->view.escapes >= 1);
    (void)snprintf(wanted, sizeof wanted, "\"pid\":%d,\"start\":%llu", daemon, start_of(daemon));
    const char *survivors = strstr(sv->view.verdict_json, "\"survivors\":[{");
    assert_non_null(survivors);
    assert_non_null(strstr(survivors, wanted));
    assert_int_equal(kill(daemon, 0), 0);
    pp_supervisor_free(sv->supervisor);
    sv->supervisor = NULL;
    assert_int_equal(kill(daemon, 0), 0); /* the supervisor's end did not take it along */
    assert_int_equal(parent_of(daemon), getpid());
    assert_int_equal(kill(daemon, SIGKILL), 0);
    assert_true(WIFSIGNALED(sv_reap(daemon)));
}

/* proves: CAN-3, GRP-12 */
static void a_daemon_is_ended_and_proved_gone_when_escapees_are_to_be_reaped(void **state) {
    supervised *sv = *state;
    sv->spawn.reap_escapees = true;
    sv_again(sv, "daemon", NULL);
    sv_await(sv, sv_printed);
    pid_t daemon = atoi(sv_file(sv, "out"));
    sv_stop(sv, false, 10 * SV_S);
    assert_int_equal(sv->view.verdict, PP_VERDICT_ECHILD);
    assert_false(sv->view.forced);
    assert_true(verdict_says(sv, "\"escapees_killed\":true"));
    assert_true(kill(daemon, 0) < 0 && errno == ESRCH);
}

/* proves: CAN-3 */
static void a_declared_helper_is_no_survivor(void **state) {
    supervised *sv = *state;
    static const char *const expected[] = { "/nothing", "*/test_supervisor_live", NULL };
    sv->spawn.expected = expected;
    sv_again(sv, "daemon", NULL);
    sv_await(sv, sv_printed);
    sv_stop(sv, false, 300 * SV_MS);
    assert_int_equal(sv->view.verdict, PP_VERDICT_ECHILD);
    assert_false(sv->view.forced);
    assert_true(verdict_says(sv, "\"survivors\":[]"));
    assert_true(verdict_says(sv, "\"expected\":true"));
}

/* proves: GRP-9, CAN-5 */
static void the_end_of_the_handle_ends_the_tree(void **state) {
    supervised *sv = *state;
    sv_shell(sv, "echo ready; sleep 60 & wait");
    sv_await(sv, sv_printed);
    pp_supervisor_free(sv->supervisor);
    sv->supervisor = NULL;
    assert_true(kill(sv->leader.pid, 0) < 0 && errno == ESRCH);
    assert_true(sv_has_line(sv_file(sv, "events.supervisor.jsonl"), "\"verdict\":\"echild\"",
                            "\"cause\":\"harness_gone\""));
}

/* proves: BOX-6 */
static void latest_end_holds_without_the_harness_doing_anything(void **state) {
    supervised *sv = *state;
    sv->spawn.latest_end_ns = sv_now() + 200 * SV_MS;
    sv_shell(sv, "exec sleep 60");
    sv_await_state(sv->leader.pid, '\0'); /* nobody reads what the supervisor tells meanwhile */
    sv_await(sv, sv_done);
    assert_int_equal(sv->view.verdict, PP_VERDICT_ECHILD);
    assert_true(verdict_says(sv, "\"cause\":\"latest_end\""));
}

/* ---- deaths ---- */

/* Becomes a harness with a deaf application and a daemon, says so, and waits for its death. */
static void be_a_harness(supervised *sv, int ready_fd) {
    char *const argv[] = { "sh", "-c", "trap '' TERM; setsid sleep 60 & echo ready; exec sleep 60",
                           NULL };
    pp_supervisor_options options = { .exe_path = sv_exe_path, .run_dir = sv->dir };
    pp_supervisor_view view = { 0 };
    pp_supervisor *supervisor;
    pp_proc_id leader;
    sv->spawn.path = "/bin/sh";
    sv->spawn.argv = argv;
    if (pp_supervisor_start(&options, &supervisor, NULL) != PP_OK ||
        pp_supervisor_spawn(supervisor, &sv->spawn, &leader, NULL) != PP_OK)
        _exit(1);
    while (view.output_bytes[0] == 0 || view.escapes == 0) {
        (void)pp_supervisors_pump(&supervisor, 1, -1, SV_S, NULL);
        pp_supervisor_look(supervisor, &view);
    }
    pid_t pids[2] = { leader.pid, parent_of(leader.pid) };
    (void)!write(ready_fd, pids, sizeof pids);
    for (;;)
        pause();
}

/* proves: CAN-5 (B17) */
static void a_killed_harness_leaves_no_process_and_a_verdict_on_disk(void **state) {
    supervised *sv = *state;
    int ready[2], status;
    pid_t pids[2];
    assert_int_equal(pipe(ready), 0);
    pid_t harness = fork();
    assert_true(harness >= 0);
    if (harness == 0)
        be_a_harness(sv, ready[1]);
    (void)close(ready[1]);
    assert_int_equal(read(ready[0], pids, sizeof pids), sizeof pids);
    (void)close(ready[0]);
    assert_int_equal(kill(harness, SIGKILL), 0);
    assert_int_equal(waitpid(harness, &status, 0), harness);
    status = sv_reap(pids[1]); /* its supervisor: ours now */
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_true(kill(pids[0], 0) < 0 && errno == ESRCH);
    const char *events = sv_file(sv, "events.supervisor.jsonl");
    assert_true(sv_canonical(events));
    assert_true(sv_has_line(events, "\"verdict\":\"echild\"", "\"cause\":\"harness_gone\""));
    assert_true(sv_has_line(events, "\"kind\":\"verdict\"", "\"forced\":true"));
    assert_true(sv_has_line(events, "\"kind\":\"verdict\"", "\"escapees_killed\":true"));
    const char *samples = sv_file(sv, "samples.supervisor.jsonl");
    assert_true(sv_canonical(samples));
    assert_true(sv_has_line(samples, "\"leader\":true", "\"kind\":\"track\""));
}

static bool is_lost(const pp_supervisor_view *view) {
    return view->phase == PP_SUPERVISOR_LOST;
}

/* proves: CAN-5 */
static void a_killed_supervisor_is_lost_and_its_leader_dies(void **state) {
    supervised *sv = *state;
    sv_shell(sv, "echo ready; exec sleep 60");
    sv_await(sv, sv_printed);
    assert_int_equal(kill(parent_of(sv->leader.pid), SIGKILL), 0); /* our own child */
    sv_await(sv, is_lost);
    assert_int_equal(sv->view.error.status, PP_E_CLOSED);
    assert_int_equal(sv->view.verdict, PP_VERDICT_NONE);
    pp_supervisor_free(sv->supervisor);
    sv->supervisor = NULL;
    int status = sv_reap(sv->leader.pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* ---- output ---- */

static bool printed_a_megabyte(const pp_supervisor_view *view) {
    return view->output_bytes[0] > 1000000;
}

/* proves: BOX-6 (B18) */
static void endless_output_is_read_counted_and_kept_up_to_the_cap(void **state) {
    supervised *sv = *state;
    struct stat info;
    char path[96];
    sv->spawn.output_cap_bytes = 10000;
    sv_shell(sv, "exec yes");
    sv_await(sv, printed_a_megabyte);
    assert_true(sv->view.output_truncated[0]);
    assert_false(sv->view.output_truncated[1]);
    sv_stop(sv, false, 10 * SV_S);
    assert_int_equal(sv->view.verdict, PP_VERDICT_ECHILD);
    (void)snprintf(path, sizeof path, "%s/out", sv->dir);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, 10000);
    assert_int_equal(info.st_mode & 07777, 0600);
}

/* proves: BOX-6 (B18) */
static void what_a_short_command_printed_is_complete_at_the_verdict(void **state) {
    supervised *sv = *state;
    sv_shell(sv, "printf 12345; printf 678 >&2");
    sv_await(sv, sv_exited);
    sv_stop(sv, true, SV_S);
    assert_int_equal(sv->view.output_bytes[0], 5);
    assert_int_equal(sv->view.output_bytes[1], 3);
    assert_false(sv->view.output_truncated[0] || sv->view.output_truncated[1]);
    assert_string_equal(sv_file(sv, "out"), "12345");
    assert_string_equal(sv_file(sv, "err"), "678");
}

/* ---- starting ---- */

/* proves: BOX-7 */
static void a_command_that_cannot_be_started_names_step_errno_and_path(void **state) {
    static const struct {
        const char *path, *cwd, *op, *detail;
        int sys_errno;
    } cases[] = {
        { "/no/such/app", "/", "execve", "/no/such/app", ENOENT },
        { "/bin/sh", "/no/such/dir", "chdir", "/no/such/dir", ENOENT },
        { "/etc/passwd", "/", "execve", "/etc/passwd", EACCES },
    };
    char *const argv[] = { "app", NULL };
    for (size_t i = 0; i < 3; i++) {
        supervised *sv = *state;
        pp_error error = { 0 };
        sv->spawn.path = cases[i].path;
        sv->spawn.cwd = cases[i].cwd;
        assert_int_equal(sv_spawn(sv, argv, &error), PP_E_SYS);
        assert_string_equal(error.op, cases[i].op);
        assert_string_equal(error.detail, cases[i].detail);
        assert_int_equal(error.sys_errno, cases[i].sys_errno);
        assert_int_equal(pp_supervisor_stop(sv->supervisor, true, 0, 0, NULL), PP_E_INVALID);
        assert_true(sv_has_line(sv_file(sv, "events.jsonl"), "\"kind\":\"spawn_failed\"",
                                pp_errno_name(cases[i].sys_errno)));
        assert_int_equal(sv_tear_down(state), 0);
        assert_int_equal(sv_set_up(state), 0);
    }
}

static void make_an_odd_harness(bool odd) {
    sigset_t odd_mask;
    sigemptyset(&odd_mask);
    sigaddset(&odd_mask, SIGUSR1);
    sigaddset(&odd_mask, SIGTERM);
    (void)sigprocmask(odd ? SIG_BLOCK : SIG_UNBLOCK, &odd_mask, NULL);
    (void)signal(SIGHUP, odd ? SIG_IGN : SIG_DFL);
    (void)signal(SIGUSR2, odd ? SIG_IGN : SIG_DFL);
    if (odd)
        (void)dup2(STDERR_FILENO, ODD_FD); /* inheritable */
    else
        (void)close(ODD_FD);
}

/* proves: BOX-6 */
static void a_command_gets_three_descriptors_and_default_signals(void **state) {
    assert_int_equal(sv_tear_down(state), 0);
    make_an_odd_harness(true);
    pp_supervisor_ignore_sigpipe();
    int started = sv_set_up(state);
    make_an_odd_harness(false);
    assert_int_equal(started, 0);
    supervised *sv = *state;
    sv_again(sv, "state", NULL);
    sv_await(sv, sv_exited);
    sv_stop(sv, true, SV_S);
    const char *out = sv_file(sv, "out");
    assert_non_null(strstr(out, "fd 0 /dev/null\n"));
    assert_non_null(strstr(out, "fd 1 pipe:"));
    assert_non_null(strstr(out, "fd 2 pipe:"));
    assert_int_equal(count(out, "fd "), 3);
    assert_non_null(strstr(out, "SigBlk:\t0000000000000000\n"));
    assert_non_null(strstr(out, "SigIgn:\t0000000000000000\n"));
    assert_non_null(strstr(out, "leads 1\nend\n"));
}

/* ---- sampling ---- */

/* proves: SMP-3, SMP-9 */
static void a_window_has_its_frames_on_disk_as_canonical_lines(void **state) {
    supervised *sv = *state;
    sv_shell(sv, "exec sleep 60");
    assert_int_equal(pp_supervisor_sample(sv->supervisor, 400 * SV_MS, 100 * SV_MS, NULL), PP_OK);
    assert_int_equal(pp_supervisor_sample(sv->supervisor, SV_S, SV_S, NULL), PP_E_INVALID);
    sv_await(sv, sv_window_done);
    assert_int_equal(sv->view.window_frames + sv->view.window_missed, 5);
    assert_true(sv->view.window_frames >= 2);
    assert_true(sv->view.live_cpu_ns.known && sv->view.live_rss_bytes.known);
    assert_int_equal(sv->view.live_processes, 1);
    uint64_t frames = sv->view.window_frames;
    sv_stop(sv, false, 10 * SV_S);
    const char *samples = sv_file(sv, "samples.jsonl");
    assert_true(sv_canonical(samples));
    assert_int_equal(count(samples, "\"window\":1}\n"), frames);
    assert_int_equal(count(samples, "\"kind\":\"boundary\""), 1);
    assert_int_equal(count(samples, "\"kind\":\"closing\""), 1);
    assert_int_equal(count(samples, "\n"), sv->view.frames);
    const char *events = sv_file(sv, "events.jsonl");
    assert_true(sv_canonical(events));
    assert_true(sv_has_line(events, "\"kind\":\"window_done\"", "\"window\":1}"));
    assert_true(sv_has_line(events, "\"kind\":\"capability\"", "\"capability\":\"pidfd\""));
    assert_int_equal(sv_file(sv, "events.supervisor.jsonl")[0], '\0');
}

static bool three_window_frames(const pp_supervisor_view *view) {
    return view->frame_json && view->frames >= 3 &&
           memmem(view->frame_json, view->frame_size, "\"kind\":\"tick\"", 13);
}

/* proves: CAN-1 (B20) */
static void a_stopped_window_keeps_the_frames_it_had(void **state) {
    supervised *sv = *state;
    sv_shell(sv, "exec sleep 60");
    assert_int_equal(pp_supervisor_sample(sv->supervisor, 60 * SV_S, 20 * SV_MS, NULL), PP_OK);
    sv_await(sv, three_window_frames);
    sv_stop(sv, false, 10 * SV_S);
    assert_false(sv->view.window_done);
    const char *samples = sv_file(sv, "samples.jsonl");
    assert_true(count(samples, "\"window\":1}\n") >= 2);
    assert_int_equal(count(samples, "\"kind\":\"closing\""), 0);
    assert_int_equal(count(sv_file(sv, "events.jsonl"), "\"kind\":\"window_aborted\""), 1);
}

/* proves: MET-7, SMP-4 */
static void conserved_cpu_holds_what_processes_shorter_than_a_frame_burned(void **state) {
    supervised *sv = *state;
    sv_again(sv, "burn", NULL);
    sv_await(sv, sv_printed);
    long long burned_ns = strtoll(sv_file(sv, "out"), NULL, 10);
    assert_true(burned_ns >= SV_MS * 2 * BURNERS * BURN_MS);
    sv_stop(sv, false, 10 * SV_S);
    long long before_ns = 0, reaped_ns = 0;
    for (const char *at = sv_file(sv, "samples.jsonl"); *at; at = strchr(at, '\n') + 1) {
        long long total_ns = sv_number(strstr(at, "\"conservation\""), "cpu_ns");
        assert_true(total_ns >= before_ns);
        before_ns = total_ns;
        reaped_ns = sv_number(at, "reaped_cpu_ns");
    }
    /* At the end all was reaped, so nothing is in ticks; starting and ending cost a little more
     * than the processes could tell. */
    assert_true(before_ns == reaped_ns);
    assert_true(before_ns >= burned_ns);
    assert_true(before_ns <= burned_ns + burned_ns / 5 + 50 * SV_MS);
    assert_true(sv_has_line(sv_file(sv, "samples.jsonl"), "\"final\":true", "\"code\":0"));
}

static void other_descriptors_wake_the_pump(void **state) {
    supervised *sv = *state;
    int ends[2];
    sv->spawn.track = false; /* so that the supervisor falls silent */
    sv_shell(sv, "exec sleep 60");
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    int64_t start_ns = sv_now();
    for (int i = 0; i < 50; i++)
        assert_int_equal(pp_supervisors_pump(&sv->supervisor, 1, ends[0], 10 * SV_S, NULL), PP_OK);
    assert_true(sv_now() - start_ns < 10 * SV_S);
    (void)close(ends[0]);
    (void)close(ends[1]);
    sv_stop(sv, false, 10 * SV_S);
}

int main(int argc, char **argv) {
    if (argc > 1)
        return again(argv[1]);
    sv_exe_path = PP_TEST_SUPERVISOR;
#define T(name) cmocka_unit_test_setup_teardown(name, sv_set_up, sv_tear_down)
    const struct CMUnitTest tests[] = {
        T(a_hook_that_left_a_child_is_ended_as_a_group_and_proved_gone),
        T(a_grandchild_that_ignores_sigterm_is_killed_after_the_grace),
        T(an_application_that_ignores_sigterm_is_killed_and_forced),
        T(an_application_that_ends_on_sigterm_is_not_forced),
        T(a_daemon_is_left_running_and_listed_by_pid_and_start),
        T(a_daemon_is_ended_and_proved_gone_when_escapees_are_to_be_reaped),
        T(a_declared_helper_is_no_survivor),
        T(the_end_of_the_handle_ends_the_tree),
        T(latest_end_holds_without_the_harness_doing_anything),
        T(a_killed_harness_leaves_no_process_and_a_verdict_on_disk),
        T(a_killed_supervisor_is_lost_and_its_leader_dies),
        T(endless_output_is_read_counted_and_kept_up_to_the_cap),
        T(what_a_short_command_printed_is_complete_at_the_verdict),
        T(a_command_that_cannot_be_started_names_step_errno_and_path),
        T(a_command_gets_three_descriptors_and_default_signals),
        T(a_window_has_its_frames_on_disk_as_canonical_lines),
        T(a_stopped_window_keeps_the_frames_it_had),
        T(conserved_cpu_holds_what_processes_shorter_than_a_frame_burned),
        T(other_descriptors_wake_the_pump),
    };
    return cmocka_run_group_tests_name("supervisor_live", tests, NULL, NULL);
}
#else
int main(void) {
    return 77; /* skipped: Linux only */
}
#endif
