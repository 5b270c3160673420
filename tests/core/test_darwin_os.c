/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a host, waiting, the channel, kept output and facts over a scripted macOS.
 * proves: SMP-9 HOOK-3
 * proves on macOS: SMP-1 CLI-12 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "darwin/darwin_abi.h"
#include "darwin_fixture.h"
#include "memory_of.h"

/* proves on macOS: CLI-12 */
static void B09_translated_process_is_refused(void **state) {
    (void)state;
    kernel.translated = 1;
    assert_int_equal(pp__darwin_init(&darwin, &os, &err), PP_E_REFUSED);
    kernel.translated = 0;
    assert_int_equal(pp__darwin_init(&darwin, &os, &err), PP_OK);
    kernel.translated = -1; /* Intel: the name does not exist */
    assert_int_equal(pp__darwin_init(&darwin, &os, &err), PP_OK);
}

/* proves on macOS: SMP-1 */
static void unreadable_timebase_is_no_one_to_one(void **state) {
    (void)state;
    kernel.numer = kernel.denom = 0;
    assert_int_equal(pp__darwin_init(&darwin, &os, &err), PP_E_MALFORMED);
    kernel.numer = 125;
    assert_int_equal(pp__darwin_init(&darwin, &os, &err), PP_E_MALFORMED);
}

static void clocks_are_told_apart(void **state) {
    (void)state;
    pp_now now;
    assert_int_equal(os.now(os.ctx, &now, &err), PP_OK);
    assert_true(now.t_ns == kernel.uptime_ns);
    assert_true(now.cont_ns == kernel.cont_ns);
    assert_true(now.wall_ns == kernel.wall_ns);
}

static void wait_ends_at_the_deadline(void **state) {
    (void)state;
    int64_t deadline_ns = kernel.uptime_ns + 5000;
    pp_events events;
    assert_int_equal(os.wait(os.ctx, deadline_ns, false, &events, &err), PP_OK);
    assert_true(events.timer);
    assert_false(events.child || events.channel_readable || events.output_readable);
    assert_true(kernel.uptime_ns == deadline_ns);
}

static void wait_tells_what_woke_it(void **state) {
    (void)state;
    kernel.events = PP_DW_EVENT_CHILD | PP_DW_EVENT_WRITABLE;
    pp_events events;
    assert_int_equal(os.wait(os.ctx, kernel.uptime_ns + 5000, true, &events, &err), PP_OK);
    assert_true(events.child);
    assert_true(events.channel_writable);
    assert_false(events.channel_readable);
    assert_false(events.timer);
}

static void interrupted_wait_still_ends_at_the_deadline(void **state) {
    (void)state;
    kernel.interruptions = 3;
    int64_t deadline_ns = kernel.uptime_ns + 5000;
    pp_events events;
    assert_int_equal(os.wait(os.ctx, deadline_ns, false, &events, &err), PP_OK);
    assert_true(events.timer);
    assert_true(kernel.uptime_ns == deadline_ns);
}

static void very_long_wait_is_asked_for_in_days(void **state) {
    (void)state;
    const int64_t day_ns = INT64_C(86400) * 1000000000;
    pp_events events;
    assert_int_equal(os.wait(os.ctx, kernel.uptime_ns + 3 * day_ns, false, &events, &err), PP_OK);
    assert_true(events.timer);
    assert_true(kernel.longest_ns == day_ns);
}

static void passed_deadline_still_looks_once(void **state) {
    (void)state;
    kernel.events = PP_DW_EVENT_READABLE;
    pp_events events;
    assert_int_equal(os.wait(os.ctx, kernel.uptime_ns - 1, false, &events, &err), PP_OK);
    assert_true(events.timer && events.channel_readable);
}

static void memory_figures_are_unsupported(void **state) {
    (void)state;
    pp_memory memory;
    assert_int_equal(memory_of(&os, dk_id(dk_add(&kernel, 700)), 0, &memory, &err),
                     PP_E_UNSUPPORTED);
}

static pp_status fact(const char *wanted) {
    const char *name = NULL, *consequence = NULL;
    pp_status fact_state = PP_E_SYS;
    int failure = 0;
    for (size_t i = 0;
         os.capability(os.ctx, i, &name, &fact_state, &failure, &consequence) == PP_OK; i++) {
        assert_true((fact_state == PP_OK) == (consequence[0] == '\0'));
        if (strcmp(name, wanted) == 0)
            return fact_state;
    }
    fail_msg("no fact %s", wanted);
    return PP_E_VANISHED;
}

/* proves: SMP-9 */
static void facts_are_found_by_trying(void **state) {
    (void)state;
    assert_int_equal(fact("rusage_v6"), PP_OK);
    assert_int_equal(fact("proc_bsdinfo"), PP_OK);
    assert_int_equal(fact("subreaper"), PP_E_UNSUPPORTED);
    kernel.max_rusage_version = 4;
    assert_int_equal(fact("rusage_v6"), PP_E_UNSUPPORTED);
    dk_fail(&kernel, DK_LISTCHILDREN, 0, EPERM);
    assert_int_equal(fact("proc_listchildpids"), PP_E_DENIED);
    kernel.short_by = 8;
    assert_int_equal(fact("proc_bsdinfo"), PP_E_MALFORMED);
}

static void channel_tells_nothing_now_from_closed(void **state) {
    (void)state;
    int ends[2];
    char bytes[16];
    size_t count = 0;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    darwin.channel_fd = ends[0];
    assert_int_equal(os.channel_recv(os.ctx, bytes, sizeof bytes, &count, &err), PP_E_AGAIN);
    assert_int_equal(os.channel_send(os.ctx, "frame", 5, &count, &err), PP_OK);
    assert_int_equal(count, 5);
    assert_int_equal(read(ends[1], bytes, sizeof bytes), 5);
    assert_int_equal(write(ends[1], "ack", 3), 3);
    assert_int_equal(os.channel_recv(os.ctx, bytes, sizeof bytes, &count, &err), PP_OK);
    assert_int_equal(count, 3);
    close(ends[1]);
    pp_events events;
    assert_int_equal(os.wait(os.ctx, 0, false, &events, &err), PP_OK);
    assert_int_equal(kernel.watch.channel, ends[0]);
    assert_int_equal(os.channel_recv(os.ctx, bytes, sizeof bytes, &count, &err), PP_E_CLOSED);
    assert_int_equal(os.wait(os.ctx, 0, false, &events, &err), PP_OK);
    assert_int_equal(kernel.watch.channel, -1); /* its end would wake every wait */
    (void)signal(SIGPIPE, SIG_IGN);             /* as a host does */
    assert_int_equal(os.channel_send(os.ctx, "frame", 5, &count, &err), PP_E_CLOSED);
    close(ends[0]);
    darwin.channel_fd = -1;
    assert_int_equal(os.channel_send(os.ctx, "frame", 5, &count, &err), PP_E_CLOSED);
}

static char run_dir[sizeof "/tmp/pp-darwin-XXXXXX"];

static int boot_with_run_dir(void **state) {
    memcpy(run_dir, "/tmp/pp-darwin-XXXXXX", sizeof run_dir);
    assert_non_null(mkdtemp(run_dir));
    (void)boot(state);
    darwin.run_dir_fd = open(run_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return darwin.run_dir_fd < 0;
}

static int halt_with_run_dir(void **state) {
    char path[64];
    const char *const names[] = { "out", "err", "kept" };
    for (size_t i = 0; i < 3; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", run_dir, names[i]);
        (void)unlink(path);
    }
    close(darwin.run_dir_fd);
    return halt(state) | rmdir(run_dir);
}

static void assert_file(const char *name, const char *content) {
    char bytes[256] = { 0 };
    struct stat st;
    int fd = openat(darwin.run_dir_fd, name, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_true(read(fd, bytes, sizeof bytes - 1) >= 0);
    close(fd);
    assert_string_equal(bytes, content);
}

static void kept_file_is_private_and_appended_to(void **state) {
    (void)state;
    assert_int_equal(os.save(os.ctx, "kept", "one\n", 4, &err), PP_OK);
    assert_int_equal(os.save(os.ctx, "kept", "two\n", 4, &err), PP_OK);
    assert_file("kept", "one\ntwo\n");
    assert_int_equal(os.save(os.ctx, "../kept", "x", 1, &err), PP_E_INVALID);
    assert_int_equal(os.save(os.ctx, "", "x", 1, &err), PP_E_INVALID);
}

static void kept_file_never_gets_a_torn_line_or_anything_after_one(void **state) {
    (void)state;
    struct rlimit whole, little;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &whole), 0);
    assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    assert_int_equal(os.save(os.ctx, "kept", "one\n", 4, &err), PP_OK);
    little = (struct rlimit){ .rlim_cur = 6, .rlim_max = whole.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    pp_status status = os.save(os.ctx, "kept", "second\n", 7, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &whole), 0);
    assert_int_equal(status, PP_E_SYS);
    assert_int_equal(err.sys_errno, EFBIG);
    assert_file("kept", "one\n");
    assert_int_equal(os.save(os.ctx, "kept", "torn", 4, &err), PP_OK);
    assert_int_equal(os.save(os.ctx, "kept", "second\n", 7, &err), PP_E_MALFORMED);
    assert_file("kept", "one\ntorn");
}

static void kept_file_is_never_written_through_a_link(void **state) {
    (void)state;
    assert_int_equal(symlinkat("elsewhere", darwin.run_dir_fd, "kept"), 0);
    assert_int_equal(os.save(os.ctx, "kept", "x", 1, &err), PP_E_SYS);
    assert_int_equal(err.sys_errno, ELOOP);
}

static char *const no_strings[] = { NULL };

/* A "child" that writes while it is being started. */
static int spawn_writer(void *ctx, const pp_dw_spawn *request, int32_t *ret_pid,
                        const char **ret_step, int *ret_errno) {
    (void)ret_step;
    (void)ret_errno;
    for (int i = 0; i < 3; i++)
        assert_true(request->stdio[i] > 2);
    assert_int_equal(write(request->stdio[1], "0123456789", 10), 10);
    assert_int_equal(write(request->stdio[2], "oops", 4), 4);
    dk_add(ctx, 700);
    *ret_pid = 700;
    return 0;
}

static pp_status spawn_captured(uint64_t cap_bytes) {
    const pp_command command = {
        .path = "/bin/app",
        .argv = no_strings,
        .envp = no_strings,
        .cwd = "/",
        .output = PP_OUTPUT_CAPTURE,
        .stdout_name = "out",
        .stderr_name = "err",
        .output_cap_bytes = cap_bytes,
    };
    pp_proc_id id;
    return os.spawn(os.ctx, &command, &id, &err);
}

/* proves: HOOK-3 */
static void output_beyond_the_cap_is_counted_and_dropped(void **state) {
    (void)state;
    darwin.sys.spawn = spawn_writer;
    assert_int_equal(spawn_captured(6), PP_OK);
    pp_output_state output;
    assert_int_equal(os.drain_output(os.ctx, &output, &err), PP_OK);
    assert_int_equal(output.stdout_bytes, 10);
    assert_true(output.stdout_truncated);
    assert_int_equal(output.stderr_bytes, 4);
    assert_false(output.stderr_truncated);
    assert_int_equal(output.failure, PP_OK);
    assert_file("out", "012345");
    assert_file("err", "oops");
}

static void unwritable_kept_file_is_a_stated_failure_and_the_stream_is_still_read(void **state) {
    (void)state;
    darwin.sys.spawn = spawn_writer;
    assert_int_equal(spawn_captured(100), PP_OK);
    close(darwin.streams[0].file_fd);
    darwin.streams[0].file_fd = open("/dev/null", O_RDONLY | O_CLOEXEC); /* EBADF on write */
    pp_output_state output;
    assert_int_equal(os.drain_output(os.ctx, &output, &err), PP_OK);
    assert_int_equal(output.failure, PP_E_SYS);
    assert_int_equal(output.stdout_bytes, 10);
    assert_file("err", "oops");
}

static void failed_start_leaves_no_pipe_open(void **state) {
    (void)state;
    dk_fail(&kernel, DK_SPAWN, 1, ENOENT);
    assert_int_equal(spawn_captured(100), PP_E_SYS);
    assert_int_equal(darwin.streams[0].pipe_fd, -1);
    assert_int_equal(darwin.streams[1].file_fd, -1);
}

static void capture_without_a_file_name_is_refused_before_the_start(void **state) {
    (void)state;
    const pp_command command = {
        .path = "/bin/app",
        .argv = no_strings,
        .envp = no_strings,
        .cwd = "/",
        .output = PP_OUTPUT_CAPTURE,
        .stdout_name = "out",
    };
    pp_proc_id id;
    assert_int_equal(os.spawn(os.ctx, &command, &id, &err), PP_E_INVALID);
    assert_int_equal(kernel.calls[DK_SPAWN], 0);
    assert_int_equal(darwin.streams[0].pipe_fd, -1);
}

#define T(name) cmocka_unit_test_setup_teardown(name, boot, halt)
#define T_DIR(name) cmocka_unit_test_setup_teardown(name, boot_with_run_dir, halt_with_run_dir)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(B09_translated_process_is_refused),
        T(unreadable_timebase_is_no_one_to_one),
        T(clocks_are_told_apart),
        T(wait_ends_at_the_deadline),
        T(wait_tells_what_woke_it),
        T(interrupted_wait_still_ends_at_the_deadline),
        T(very_long_wait_is_asked_for_in_days),
        T(passed_deadline_still_looks_once),
        T(memory_figures_are_unsupported),
        T(facts_are_found_by_trying),
        T(channel_tells_nothing_now_from_closed),
        T_DIR(kept_file_is_private_and_appended_to),
        T_DIR(kept_file_never_gets_a_torn_line_or_anything_after_one),
        T_DIR(kept_file_is_never_written_through_a_link),
        T_DIR(output_beyond_the_cap_is_counted_and_dropped),
        T_DIR(unwritable_kept_file_is_a_stated_failure_and_the_stream_is_still_read),
        T_DIR(failed_start_leaves_no_pipe_open),
        T_DIR(capture_without_a_file_name_is_refused_before_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
