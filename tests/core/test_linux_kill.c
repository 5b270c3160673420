/* SPDX-License-Identifier: Apache-2.0 */
/* SIGKILL to whoever is a child of ours at this moment, on scripted lists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#ifdef __linux__
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "linux/linux_host.h"
#include "linux_script.h"

static pp_os os;
static pp_error error;
static script_file *children;

static struct {
    int count, numbers[8];
    int32_t pids[8];
    int32_t refused, gone;
} killed;

static int record_kill(pid_t pid, int number) {
    assert_in_range(killed.count, 0, 7);
    killed.numbers[killed.count] = number;
    killed.pids[killed.count++] = pid;
    return pid == killed.refused ? -EPERM : pid == killed.gone ? -ESRCH : 0;
}

static void have_children(const char *list) {
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
    children = script_text(path, list);
}

static int set_up(void **state) {
    (void)state;
    const pp_host_options options = { .channel_fd = -1, .run_dir_fd = -1 };
    script_reset();
    memset(&killed, 0, sizeof killed);
    scripted.sys.kill = record_kill;
    have_children("");
    assert_int_equal(pp_linux_host_open(&scripted.sys, &options, &os, &error), PP_OK);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    pp_host_close(&os);
    return 0;
}

/* proves: GRP-10, CAN-3 */
static void every_child_is_sent_sigkill_the_latest_first(void **state) {
    (void)state;
    size_t count = 0;
    have_children("90000300 90000100 90000200 ");
    assert_int_equal(os.kill_children(os.ctx, &count, &error), PP_OK);
    assert_int_equal(count, 3);
    assert_int_equal(killed.count, 3);
    static const int32_t expected[] = { 90000200, 90000100, 90000300 };
    for (int i = 0; i < 3; i++) {
        assert_int_equal(killed.pids[i], expected[i]);
        assert_int_equal(killed.numbers[i], SIGKILL);
    }
}

/* proves: GRP-11 */
static void no_number_that_addresses_many_is_signalled(void **state) {
    (void)state;
    size_t count = 0;
    have_children("1 90000100 ");
    assert_int_equal(os.kill_children(os.ctx, &count, &error), PP_OK);
    assert_int_equal(killed.count, 1);
    assert_int_equal(killed.pids[0], 90000100);
}

/* proves: GRP-6 */
static void a_refusal_is_told_and_keeps_nobody_else_alive(void **state) {
    (void)state;
    size_t count = 0;
    have_children("90000100 90000200 90000300 ");
    killed.refused = 90000200;
    killed.gone = 90000300; /* no failure */
    assert_int_equal(os.kill_children(os.ctx, &count, &error), PP_E_DENIED);
    assert_int_equal(error.sys_errno, EPERM);
    assert_int_equal(count, 3);
    assert_int_equal(killed.count, 3);
}

static void without_children_nobody_is_signalled(void **state) {
    (void)state;
    size_t count = 1;
    assert_int_equal(os.kill_children(os.ctx, &count, &error), PP_OK);
    assert_int_equal(count, 0);
    assert_int_equal(killed.count, 0);
}

/* proves: GRP-3 */
static void a_list_that_cannot_be_read_signals_nobody(void **state) {
    (void)state;
    size_t count = 0;
    have_children("90000100 ");
    children->read_errno = EIO;
    assert_int_equal(os.kill_children(os.ctx, &count, &error), PP_E_ENUMERATION);
    assert_int_equal(killed.count, 0);
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(every_child_is_sent_sigkill_the_latest_first),
        T(no_number_that_addresses_many_is_signalled),
        T(a_refusal_is_told_and_keeps_nobody_else_alive),
        T(without_children_nobody_is_signalled),
        T(a_list_that_cannot_be_read_signals_nobody),
    };
    return cmocka_run_group_tests_name("linux_kill", tests, NULL, NULL);
}
#else
int main(void) {
    return 77; /* skipped: Linux only */
}
#endif
