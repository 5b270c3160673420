/* SPDX-License-Identifier: Apache-2.0 */
/* A real process whose memory roll-up does not return, beside others that are read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#ifdef __linux__
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "linux_live.h"
#include "memory_of.h"

#define STALL PP_TEST_BUILD_DIR "/bench/bin/ppstall"
#define BUDGET_NS (LIVE_SECOND_NS / INT64_C(4))

/* Starts it; its stuck process, or 0 where that cannot be made (it needs root and FUSE). */
static int32_t start_stalled(pp_proc_id *ret_leader) {
    char *const words[] = { "ppstall", "60", NULL };
    pp_exit exit;
    if (geteuid() != 0 || access(STALL, X_OK) != 0 || access("/dev/fuse", R_OK | W_OK) != 0)
        return 0;
    *ret_leader = live_spawn(STALL, words);
    const char *said = live_await_output("ready");
    if (live_os.observe_exit(live_os.ctx, *ret_leader, &exit, NULL) == PP_OK)
        return 0;
    return (int32_t)strtol(said + strlen("ready"), NULL, 10);
}

/* The proof that it is stuck: a plain reader does not come back either, and holds the lock queue.
 */
static bool is_stuck(int32_t pid) {
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/smaps_rollup", pid);
    pid_t reader = fork();
    if (reader == 0) {
        char bytes[4096];
        FILE *file = fopen(path, "r");
        _exit(file != NULL && fread(bytes, 1, sizeof bytes, file) > 0 ? 0 : 1);
    }
    int64_t limit_ns = live_now() + BUDGET_NS;
    int status;
    pid_t ended = 0;
    while (ended == 0 && live_now() < limit_ns) {
        live_pause();
        ended = waitpid(reader, &status, WNOHANG);
    }
    if (ended == 0) {
        (void)kill(reader, SIGKILL);
        (void)waitpid(reader, &status, 0);
    }
    return ended == 0;
}

/* proves: TRK-1 */
static void a_process_that_holds_its_memory_lock_is_blocked_and_the_others_are_read(void **state) {
    (void)state;
    pp_proc_id leader = { 0 };
    int32_t pid = start_stalled(&leader);
    if (pid == 0)
        skip();
    assert_true(is_stuck(pid));
    pp_proc_id stuck = live_identify(pid).id;
    pp_memory memory = { 0 };
    for (int pass = 0; pass < 3; pass++) {
        int64_t deadline_ns = live_now() + BUDGET_NS;
        assert_int_equal(memory_of(&live_os, stuck, deadline_ns, &memory, &live_error),
                         PP_E_BLOCKED);
        assert_int_equal(memory_of(&live_os, leader, deadline_ns, &memory, &live_error), PP_OK);
        assert_true(live_now() < deadline_ns);
        assert_true(memory.pss_bytes.known && memory.pss_bytes.value > 0);
    }
    pp_usage usage = live_usage(stuck, true); /* nothing else of it hangs */
    assert_true(usage.cpu_ns.known && usage.rss_bytes.known && usage.voluntary_switches.known);
    assert_int_equal(live_os.signal(live_os.ctx, leader, SIGTERM, &live_error), PP_OK);
    (void)live_await_exit(leader);
    live_end(leader);
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(name, live_open, live_close)
    const struct CMUnitTest tests[] = {
        T(a_process_that_holds_its_memory_lock_is_blocked_and_the_others_are_read),
    };
    return cmocka_run_group_tests(tests, live_make_run_dir, live_remove_run_dir);
}
#else
int main(void) {
    return 77; /* skipped: Linux only */
}
#endif
