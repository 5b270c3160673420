/* SPDX-License-Identifier: Apache-2.0 */
/* What the Linux host waits for, sends, starts and writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "linux_fixture.h"

static char run_dir[] = "/tmp/pairperf-host-XXXXXX";
static int run_dir_fd = -1;
static int peer_fd = -1, channel_fd = -1;

static int open_with_channel(void **state) {
    int pair[2];
    (void)reset_script(state);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return -1;
    channel_fd = pair[0];
    peer_fd = pair[1];
    assert_int_equal(open_host(channel_fd, run_dir_fd), PP_OK);
    return 0;
}

static int close_with_channel(void **state) {
    (void)state;
    pp_host_close(&host);
    (void)close(channel_fd); /* still ours */
    if (peer_fd >= 0)
        (void)close(peer_fd);
    (void)unlinkat(run_dir_fd, "kept", 0);
    (void)unlinkat(run_dir_fd, "err", 0);
    assert_int_equal(script_open_count(), 0);
    return 0;
}

static int make_run_dir(void **state) {
    (void)state;
    if (mkdtemp(run_dir) == NULL)
        return -1;
    run_dir_fd = open(run_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return run_dir_fd < 0 ? -1 : 0;
}

static int remove_run_dir(void **state) {
    (void)state;
    (void)close(run_dir_fd);
    return rmdir(run_dir);
}

/* For tests that really start a command; valgrind before 3.20 does not know pidfds. */
static void skip_without_pidfds(void) {
    int fd = pp_linux_sys_real.pidfd_open(getpid());
    if (fd < 0) {
        print_message("pidfd_open: %s\n", strerror(-fd));
        skip();
    }
    (void)close(fd);
}

static int64_t now_ns(void) {
    pp_now now;
    assert_int_equal(host.now(host.ctx, &now, &host_error), PP_OK);
    return now.t_ns;
}

static pp_events wait_until(int64_t deadline_ns, bool want_writable) {
    pp_events events;
    assert_int_equal(host.wait(host.ctx, deadline_ns, want_writable, &events, &host_error), PP_OK);
    return events;
}

enum { SECOND = 1000000000 };

/* ---- waiting ---- */

static void a_deadline_ends_the_wait_and_not_before(void **state) {
    (void)state;
    int64_t deadline = now_ns() + SECOND / 50;
    pp_events events = wait_until(deadline, false);
    assert_true(events.timer);
    assert_false(events.child || events.channel_readable || events.channel_writable);
    assert_true(now_ns() >= deadline);
    assert_true(wait_until(deadline, false).timer); /* still past */
    assert_true(wait_until(0, false).timer);
    assert_true(wait_until(-5, false).timer);
}

static int interruptions;
static int interrupted_wait(int epoll_fd, struct epoll_event *ret_events, int capacity) {
    if (interruptions-- > 0)
        return -EINTR;
    return pp_linux_sys_real.epoll_wait(epoll_fd, ret_events, capacity);
}

static int broken_wait(int epoll_fd, struct epoll_event *ret_events, int capacity) {
    (void)epoll_fd, (void)ret_events, (void)capacity;
    return -EBADF;
}

static void an_interrupted_wait_goes_on_and_a_failed_one_says_so(void **state) {
    (void)state;
    pp_events events;
    interruptions = 3;
    scripted.sys.epoll_wait = interrupted_wait;
    assert_true(wait_until(now_ns() + SECOND / 100, false).timer);
    assert_true(interruptions < 0);
    scripted.sys.epoll_wait = broken_wait;
    assert_int_equal(host.wait(host.ctx, 0, false, &events, &host_error), PP_E_SYS);
    assert_int_equal(host_error.sys_errno, EBADF);
}

static void the_channel_wakes_for_what_was_asked(void **state) {
    (void)state;
    assert_true(wait_until(now_ns() + 60LL * SECOND, true).channel_writable);
    assert_false(wait_until(0, false).channel_writable);
    assert_int_equal(write(peer_fd, "x", 1), 1);
    pp_events events = wait_until(now_ns() + 60LL * SECOND, false);
    assert_true(events.channel_readable);
    assert_false(events.timer || events.channel_writable);
}

/* proves: CAN-5 */
static void a_closed_channel_says_so_once_and_wakes_nobody_for_ever(void **state) {
    (void)state;
    char bytes[8];
    size_t got;
    assert_int_equal(write(peer_fd, "abc", 3), 3);
    (void)close(peer_fd);
    peer_fd = -1;
    assert_true(wait_until(now_ns() + 60LL * SECOND, false).channel_readable);
    assert_int_equal(host.channel_recv(host.ctx, bytes, sizeof bytes, &got, &host_error), PP_OK);
    assert_int_equal(got, 3); /* what was under way still arrives */
    assert_true(wait_until(now_ns() + 60LL * SECOND, false).channel_readable);
    assert_int_equal(host.channel_recv(host.ctx, bytes, sizeof bytes, &got, &host_error),
                     PP_E_CLOSED);
    pp_events events = wait_until(now_ns() + SECOND / 100, true);
    assert_true(events.timer);
    assert_false(events.channel_readable || events.channel_writable);
    assert_int_equal(host.channel_send(host.ctx, "x", 1, &got, &host_error), PP_E_CLOSED);
}

static void an_empty_channel_is_not_a_closed_one(void **state) {
    (void)state;
    char bytes[8];
    size_t got;
    assert_int_equal(host.channel_recv(host.ctx, bytes, sizeof bytes, &got, &host_error),
                     PP_E_AGAIN);
}

static void a_full_channel_takes_a_part_and_then_nothing(void **state) {
    (void)state;
    static char bytes[8 * 1024 * 1024];
    size_t sent = 0, all = 0;
    pp_status status;
    while ((status = host.channel_send(host.ctx, bytes, sizeof bytes, &sent, &host_error)) ==
           PP_OK) {
        assert_in_range(sent, 1, 4096); /* larger ones cost the kernel twice as much */
        all += sent;
    }
    assert_int_equal(status, PP_E_AGAIN);
    assert_in_range(all, 65536, sizeof bytes - 1);
}

static int channel_errno;
static ssize_t failing_send(int fd, const void *bytes, size_t size) {
    (void)fd, (void)bytes, (void)size;
    return -channel_errno;
}
static ssize_t failing_recv(int fd, void *bytes, size_t capacity) {
    (void)fd, (void)bytes, (void)capacity;
    return -channel_errno;
}

static void every_kind_of_hang_up_is_closed_and_nothing_else_is(void **state) {
    (void)state;
    char byte = 0;
    size_t count;
    scripted.sys.send = failing_send;
    scripted.sys.recv = failing_recv;
    const struct {
        int sys_errno;
        pp_status status;
    } cases[] = { { EAGAIN, PP_E_AGAIN },
                  { ENOBUFS, PP_E_SYS },
                  { EPIPE, PP_E_CLOSED },
                  { ECONNRESET, PP_E_CLOSED } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        channel_errno = cases[i].sys_errno;
        assert_int_equal(host.channel_send(host.ctx, &byte, 1, &count, &host_error),
                         cases[i].status);
        assert_int_equal(host.channel_recv(host.ctx, &byte, 1, &count, &host_error),
                         cases[i].status);
        assert_int_equal(host_error.sys_errno, cases[i].sys_errno);
    }
}

/* ---- starting ---- */

static char *const no_words[] = { "true", NULL };
static char *const no_env[] = { NULL };
static const pp_command captured = {
    .path = "/bin/true",
    .argv = no_words,
    .envp = no_env,
    .cwd = "/",
    .output = PP_OUTPUT_CAPTURE,
    .stdout_name = "kept",
    .stderr_name = "err",
    .output_cap_bytes = 10,
};

static pid_t no_fork(void) {
    return -EAGAIN;
}

static pid_t no_fork_into(int cgroup_fd) {
    (void)cgroup_fd;
    return -EAGAIN;
}

static int pipes_left;
static int few_pipes(int ret_fds[2]) {
    return pipes_left-- > 0 ? pp_linux_sys_real.pipe(ret_fds) : -EMFILE;
}

static int no_handle(pid_t pid) {
    (void)pid;
    return -EMFILE;
}

static int unwatchable(int epoll_fd, int operation, int fd, uint32_t events, uint32_t tag) {
    return operation == EPOLL_CTL_ADD
               ? -ENOSPC
               : pp_linux_sys_real.epoll_change(epoll_fd, operation, fd, events, tag);
}

/* proves: BOX-7 */
static void a_start_that_fails_names_its_step_and_leaves_nothing(void **state) {
    (void)state;
    skip_without_pidfds();
    pp_proc_id id;
    size_t before = count_entries("/proc/self/fd");
    scripted.sys.fork = no_fork;
    scripted.sys.fork_into = no_fork_into;
    assert_int_equal(host.spawn(host.ctx, &captured, &id, &host_error), PP_E_SYS);
    assert_string_equal(host_error.op, "fork");
    assert_int_equal(host_error.sys_errno, EAGAIN);
    assert_int_equal(count_entries("/proc/self/fd"), before);

    scripted.sys.fork = pp_linux_sys_real.fork;
    scripted.sys.fork_into = pp_linux_sys_real.fork_into;
    scripted.sys.pipe = few_pipes;
    for (int pipes = 0; pipes < 3; pipes++) {
        pipes_left = pipes;
        assert_int_equal(host.spawn(host.ctx, &captured, &id, &host_error), PP_E_SYS);
        assert_string_equal(host_error.op, "pipe2");
        assert_int_equal(count_entries("/proc/self/fd"), before);
    }

    scripted.sys.pipe = pp_linux_sys_real.pipe;
    scripted.sys.pidfd_open = no_handle; /* it runs, but cannot be held */
    scripted.sys.kill = pp_linux_sys_real.kill;
    assert_int_equal(host.spawn(host.ctx, &captured, &id, &host_error), PP_E_SYS);
    assert_string_equal(host_error.op, "pidfd_open");
    assert_int_equal(count_entries("/proc/self/fd"), before);
    assert_int_equal(host.no_children_left(host.ctx, &host_error), PP_OK);

    scripted.sys.pidfd_open = pp_linux_sys_real.pidfd_open;
    scripted.sys.epoll_change = unwatchable; /* it runs, but cannot be listened to */
    assert_int_equal(host.spawn(host.ctx, &captured, &id, &host_error), PP_E_SYS);
    assert_string_equal(host_error.op, "epoll_ctl");
    assert_int_equal(count_entries("/proc/self/fd"), before);
    assert_int_equal(host.no_children_left(host.ctx, &host_error), PP_OK);
}

/* proves: GRP-7 */
static void only_one_command_is_started_and_only_its_group_is_signalled(void **state) {
    (void)state;
    skip_without_pidfds();
    pp_proc_id id, second;
    assert_int_equal(host.spawn(host.ctx, &captured, &id, &host_error), PP_OK);
    second = id;
    second.start++;
    assert_int_equal(host.signal_group(host.ctx, second, SIGKILL, &host_error), PP_E_REFUSED);
    assert_int_equal(scripted.pidfd_signal.calls + scripted.kill.calls, 0);
    assert_int_equal(host.spawn(host.ctx, &captured, &second, &host_error), PP_E_EXISTS);
    pp_exit exit;
    pp_reading written;
    while (host.reap(host.ctx, id, &exit, &written, &host_error) == PP_E_AGAIN)
        (void)wait_until(now_ns() + SECOND / 10, false);
}

static void closing_gives_back_every_descriptor_and_signals_nobody(void **state) {
    (void)state;
    skip_without_pidfds();
    char *const words[] = { "sleep", "60", NULL };
    pp_command command = captured;
    pp_proc_id id;
    pp_proc_info info;
    pp_host_options options = { .channel_fd = channel_fd, .run_dir_fd = run_dir_fd };
    pp_host_close(&host);
    size_t before = count_entries("/proc/self/fd");
    assert_int_equal(pp_host_open(&options, &host, &host_error), PP_OK);
    command.path = "/bin/sleep";
    command.argv = words;
    assert_int_equal(host.spawn(host.ctx, &command, &id, &host_error), PP_OK);
    assert_int_equal(host.identify(host.ctx, getpid(), &info, &host_error), PP_OK);
    pp_host_close(&host);
    assert_int_equal(count_entries("/proc/self/fd"), before);
    assert_int_equal(waitpid(id.pid, NULL, WNOHANG), 0);
    assert_int_equal(kill(id.pid, SIGKILL), 0);
    assert_int_equal(waitpid(id.pid, NULL, 0), id.pid);
}

static pid_t pid_in(const char *name) {
    char bytes[32] = { 0 };
    int fd = openat(run_dir_fd, name, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, bytes, sizeof bytes - 1) : 0;
    if (fd >= 0)
        (void)close(fd);
    return got > 1 && bytes[got - 1] == '\n' ? atoi(bytes) : 0;
}

/* No descriptor is left for the leader, once what it starts is there. */
static int no_statm(int dir_fd, const char *path, int flags, mode_t mode) {
    if (strncmp(path, "/proc/", 6) != 0 || strstr(path, "/statm") == NULL)
        return pp_linux_sys_real.open_at(dir_fd, path, flags, mode);
    for (int ms = 0; ms < 5000 && (pid_in("kept") == 0 || pid_in("err") == 0); ms++)
        (void)usleep(1000);
    return -EMFILE;
}

/* proves: BOX-7, GRP-1 */
static void a_leader_that_cannot_be_adopted_goes_with_all_that_it_started(void **state) {
    (void)state;
    skip_without_pidfds();
    char text[] = "sleep 600 & echo $! >kept; setsid sh -c 'echo $$ >err; exec sleep 600' & wait";
    char *const words[] = { "sh", "-c", text, NULL };
    pp_command command = captured;
    pp_proc_id id;
    command.path = "/bin/sh";
    command.argv = words;
    command.cwd = run_dir;
    command.output = PP_OUTPUT_NULL;
    scripted.sys.open_at = no_statm;
    scripted.sys.kill = pp_linux_sys_real.kill;
    assert_int_equal(host.spawn(host.ctx, &command, &id, &host_error), PP_E_SYS);
    assert_int_equal(host_error.sys_errno, EMFILE);
    assert_true(pid_in("kept") > 1 && pid_in("err") > 1);
    assert_int_equal(kill(pid_in("kept"), 0), -1);
    assert_int_equal(kill(pid_in("err"), 0), -1); /* a daemon, too */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

/* ---- files ---- */

static size_t content_of(const char *name, char *bytes, size_t capacity) {
    int fd = openat(run_dir_fd, name, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    ssize_t got = read(fd, bytes, capacity);
    (void)close(fd);
    assert_true(got >= 0);
    return (size_t)got;
}

static ssize_t a_byte_at_a_time(int fd, const void *bytes, size_t size) {
    return pp_linux_sys_real.write(fd, bytes, size ? 1 : 0);
}

/* proves: CAN-5 */
static void what_is_saved_is_whole_private_and_appended(void **state) {
    (void)state;
    char bytes[64];
    scripted.sys.write = a_byte_at_a_time;
    assert_int_equal(host.save(host.ctx, "kept", "one\n", 4, &host_error), PP_OK);
    assert_int_equal(host.save(host.ctx, "kept", "two\n", 4, &host_error), PP_OK);
    assert_int_equal(content_of("kept", bytes, sizeof bytes), 8);
    assert_memory_equal(bytes, "one\ntwo\n", 8);
    struct stat file;
    assert_int_equal(fstatat(run_dir_fd, "kept", &file, 0), 0);
    assert_int_equal(file.st_mode & 0777, 0600);
}

static ssize_t full_disk(int fd, const void *bytes, size_t size) {
    (void)fd, (void)bytes, (void)size;
    return -ENOSPC;
}

static int failing_fsync(int fd) {
    (void)fd;
    return -EIO;
}

static void a_save_that_is_not_on_disk_failed(void **state) {
    (void)state;
    scripted.sys.fsync = failing_fsync;
    assert_int_equal(host.save(host.ctx, "kept", "one\n", 4, &host_error), PP_E_SYS);
    assert_string_equal(host_error.op, "fsync");
    assert_int_equal(host_error.sys_errno, EIO);
    scripted.sys.write = full_disk;
    assert_int_equal(host.save(host.ctx, "kept", "one\n", 4, &host_error), PP_E_SYS);
    assert_int_equal(host_error.sys_errno, ENOSPC);
}

static bool filling;

static ssize_t three_bytes_of_room(int fd, const void *bytes, size_t size) {
    if (filling)
        return -ENOSPC;
    filling = true;
    return pp_linux_sys_real.write(fd, bytes, size < 3 ? size : 3);
}

static void there_is_room_again(void) {
    scripted.sys.write = pp_linux_sys_real.write;
    scripted.sys.fsync = pp_linux_sys_real.fsync;
}

/* proves: CAN-5 */
static void a_line_that_did_not_get_to_disk_whole_is_cut_off_again(void **state) {
    (void)state;
    char bytes[64];
    assert_int_equal(host.save(host.ctx, "kept", "one\n", 4, &host_error), PP_OK);
    filling = false;
    scripted.sys.write = three_bytes_of_room;
    assert_int_equal(host.save(host.ctx, "kept", "second\n", 7, &host_error), PP_E_SYS);
    assert_int_equal(host_error.sys_errno, ENOSPC);
    assert_string_equal(host_error.detail, "kept");
    there_is_room_again();
    scripted.sys.fsync = failing_fsync;
    assert_int_equal(host.save(host.ctx, "kept", "second\n", 7, &host_error), PP_E_SYS);
    there_is_room_again();
    assert_int_equal(host.save(host.ctx, "kept", "second\n", 7, &host_error), PP_OK);
    assert_int_equal(content_of("kept", bytes, sizeof bytes), 11);
    assert_memory_equal(bytes, "one\nsecond\n", 11);
}

static int failing_truncate(int fd, off_t size) {
    (void)fd, (void)size;
    return -EIO;
}

/* proves: CAN-5 */
static void after_a_torn_line_that_stays_nothing_is_written(void **state) {
    (void)state;
    char bytes[64];
    filling = false;
    scripted.sys.write = three_bytes_of_room;
    scripted.sys.truncate = failing_truncate;
    assert_int_equal(host.save(host.ctx, "kept", "first\n", 6, &host_error), PP_E_SYS);
    assert_string_equal(host_error.detail, "kept: a torn line stays");
    there_is_room_again();
    assert_int_equal(host.save(host.ctx, "kept", "second\n", 7, &host_error), PP_E_MALFORMED);
    assert_int_equal(content_of("kept", bytes, sizeof bytes), 3);
}

static void a_save_stays_in_the_run_directory(void **state) {
    (void)state;
    assert_int_equal(host.save(host.ctx, "../kept", "x", 1, &host_error), PP_E_INVALID);
    assert_int_equal(host.save(host.ctx, "/tmp/kept", "x", 1, &host_error), PP_E_INVALID);
    assert_int_equal(host.save(host.ctx, "", "x", 1, &host_error), PP_E_INVALID);
    assert_int_equal(symlinkat("/dev/null", run_dir_fd, "kept"), 0);
    assert_int_equal(host.save(host.ctx, "kept", "x", 1, &host_error), PP_E_SYS);
    assert_int_equal(host_error.sys_errno, ELOOP);
}

static ssize_t full_for_captures(int fd, const void *bytes, size_t size) {
    (void)bytes, (void)size;
    struct stat file;
    assert_int_equal(fstat(fd, &file), 0);
    return S_ISREG(file.st_mode) ? -ENOSPC : pp_linux_sys_real.write(fd, bytes, size);
}

static void output_that_cannot_be_kept_is_still_read_and_counted(void **state) {
    (void)state;
    skip_without_pidfds();
    char *const words[] = { "sh", "-c", "echo 12345", NULL };
    pp_command command = captured;
    pp_proc_id id;
    pp_output_state output = { 0 };
    command.path = "/bin/sh";
    command.argv = words;
    scripted.sys.write = full_for_captures;
    assert_int_equal(host.spawn(host.ctx, &command, &id, &host_error), PP_OK);
    while (output.stdout_bytes < 6) {
        (void)wait_until(now_ns() + SECOND / 10, false);
        assert_int_equal(host.drain_output(host.ctx, &output, &host_error), PP_OK);
    }
    assert_int_equal(output.stdout_bytes, 6);
    assert_int_equal(output.failure, PP_E_SYS);
    assert_int_equal(output.failure_errno, ENOSPC);
    pp_exit exit;
    pp_reading written;
    while (host.reap(host.ctx, id, &exit, &written, &host_error) == PP_E_AGAIN)
        (void)wait_until(now_ns() + SECOND / 10, false);
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(name, open_with_channel, close_with_channel)
    const struct CMUnitTest tests[] = {
        T(a_deadline_ends_the_wait_and_not_before),
        T(an_interrupted_wait_goes_on_and_a_failed_one_says_so),
        T(the_channel_wakes_for_what_was_asked),
        T(a_closed_channel_says_so_once_and_wakes_nobody_for_ever),
        T(an_empty_channel_is_not_a_closed_one),
        T(a_full_channel_takes_a_part_and_then_nothing),
        T(every_kind_of_hang_up_is_closed_and_nothing_else_is),
        T(a_start_that_fails_names_its_step_and_leaves_nothing),
        T(only_one_command_is_started_and_only_its_group_is_signalled),
        T(closing_gives_back_every_descriptor_and_signals_nobody),
        T(a_leader_that_cannot_be_adopted_goes_with_all_that_it_started),
        T(what_is_saved_is_whole_private_and_appended),
        T(a_save_that_is_not_on_disk_failed),
        T(a_line_that_did_not_get_to_disk_whole_is_cut_off_again),
        T(after_a_torn_line_that_stays_nothing_is_written),
        T(a_save_stays_in_the_run_directory),
        T(output_that_cannot_be_kept_is_still_read_and_counted),
    };
    return cmocka_run_group_tests(tests, make_run_dir, remove_run_dir);
}
#else
int main(void) {
    return 77; /* skipped: Linux only */
}
#endif
