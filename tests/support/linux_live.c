/* SPDX-License-Identifier: Apache-2.0 */
#ifdef __linux__
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "linux_live.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

pp_os live_os;
pp_error live_error;
int live_run_dir_fd = -1;

static char run_dir[] = "/tmp/pairperf-live-XXXXXX";
static char *const environment[] = { "PATH=/usr/bin:/bin", "LC_ALL=C", NULL };

int live_make_run_dir(void **state) {
    (void)state;
    if (mkdtemp(run_dir) == NULL)
        return -1;
    live_run_dir_fd = open(run_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return live_run_dir_fd < 0 ? -1 : 0;
}

int live_remove_run_dir(void **state) {
    (void)state;
    (void)close(live_run_dir_fd);
    return rmdir(run_dir);
}

int live_open(void **state) {
    (void)state;
    pp_host_options options = { .channel_fd = -1, .run_dir_fd = live_run_dir_fd };
    memset(&live_error, 0, sizeof live_error);
    return pp_host_open(&options, &live_os, &live_error) == PP_OK ? 0 : -1;
}

int live_close(void **state) {
    (void)state;
    static const char *const names[] = { "out", "err", "blob", "app" };
    pp_host_close(&live_os);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        (void)unlinkat(live_run_dir_fd, names[i], 0);
    return 0;
}

int64_t live_now(void) {
    pp_now now;
    assert_int_equal(live_os.now(live_os.ctx, &now, &live_error), PP_OK);
    return now.t_ns;
}

void live_pause(void) {
    pp_events events;
    pp_output_state output;
    assert_int_equal(
        live_os.wait(live_os.ctx, live_now() + LIVE_SECOND_NS / 20, false, &events, &live_error),
        PP_OK);
    if (events.output_readable)
        assert_int_equal(live_os.drain_output(live_os.ctx, &output, &live_error), PP_OK);
}

pp_proc_id live_spawn(const char *path, char *const words[]) {
    pp_command command = {
        .path = path,
        .argv = words,
        .envp = environment,
        .cwd = run_dir,
        .output = PP_OUTPUT_CAPTURE,
        .stdout_name = "out",
        .stderr_name = "err",
        .output_cap_bytes = 4096,
        .count_births = true,
    };
    pp_proc_id id;
    if (live_os.spawn(live_os.ctx, &command, &id, &live_error) != PP_OK)
        fail_msg("spawn: %s: %s (%s)", live_error.op, live_error.detail,
                 pp_errno_name(live_error.sys_errno));
    return id;
}

pp_proc_id live_shell(const char *script) {
    char *const words[] = { "sh", "-c", (char *)(uintptr_t)script, NULL };
    return live_spawn("/bin/sh", words);
}

pp_proc_id live_again(const char *mode) {
    char *const words[] = { "again", (char *)(uintptr_t)mode, NULL };
    char path[4096];
    ssize_t got = readlink("/proc/self/exe", path, sizeof path - 1);
    assert_true(got > 0);
    path[got] = '\0';
    return live_spawn(path, words);
}

pp_exit live_await_exit(pp_proc_id id) {
    pp_exit exit;
    int64_t limit = live_now() + LIVE_LIMIT_S * INT64_C(1000000000);
    pp_status status;
    while ((status = live_os.observe_exit(live_os.ctx, id, &exit, &live_error)) == PP_E_AGAIN) {
        assert_true(live_now() < limit);
        live_pause();
    }
    assert_int_equal(status, PP_OK);
    return exit;
}

pp_exit live_reap(pp_proc_id id, pp_reading *ret_written) {
    pp_exit exit;
    (void)live_await_exit(id);
    assert_int_equal(live_os.reap(live_os.ctx, id, &exit, ret_written, &live_error), PP_OK);
    return exit;
}

void live_end(pp_proc_id leader) {
    pp_reading written;
    (void)live_os.signal_group(live_os.ctx, leader, SIGKILL, &live_error);
    int64_t limit = live_now() + LIVE_LIMIT_S * INT64_C(1000000000);
    (void)live_reap(leader, &written);
    while (live_os.no_children_left(live_os.ctx, &live_error) != PP_OK) {
        pp_pid_list children = { 0 };
        assert_true(live_now() < limit);
        assert_int_equal(live_os.list_own_children(live_os.ctx, &children, &live_error), PP_OK);
        for (size_t i = 0; i < children.count; i++) {
            pp_proc_id id = live_identify(children.pids[i]).id;
            (void)live_os.signal(live_os.ctx, id, SIGKILL, &live_error);
            (void)live_reap(id, &written);
        }
        pp_pid_list_done(&children);
    }
}

const char *live_await_output(const char *wanted) {
    static char bytes[8192];
    int64_t limit = live_now() + LIVE_LIMIT_S * INT64_C(1000000000);
    for (;;) {
        int fd = openat(live_run_dir_fd, "out", O_RDONLY | O_CLOEXEC);
        ssize_t got = fd < 0 ? 0 : read(fd, bytes, sizeof bytes - 1);
        (void)close(fd);
        bytes[got > 0 ? got : 0] = '\0';
        if (strstr(bytes, wanted) != NULL)
            return bytes;
        if (live_now() >= limit)
            fail_msg("\"%s\" is not in \"%s\"", wanted, bytes);
        live_pause();
    }
}

pp_proc_info live_identify(int32_t pid) {
    pp_proc_info info;
    assert_int_equal(live_os.identify(live_os.ctx, pid, &info, &live_error), PP_OK);
    return info;
}

pp_proc_info live_inspect(pp_proc_id id) {
    pp_proc_info info;
    assert_int_equal(live_os.inspect(live_os.ctx, id, &info, &live_error), PP_OK);
    return info;
}

pp_usage live_usage(pp_proc_id id, bool with_switches) {
    pp_usage usage;
    assert_int_equal(live_os.usage(live_os.ctx, id, with_switches, &usage, &live_error), PP_OK);
    return usage;
}

bool live_old_kernel(void) {
    const char *kernel = getenv("PP_KERNEL");
    return kernel != NULL && strstr(kernel, "6.1") != NULL;
}

int live_forked(int (*body)(void)) {
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(body());
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
#else
typedef int pp_linux_only; /* no empty translation unit */
#endif
