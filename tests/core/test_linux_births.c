/* SPDX-License-Identifier: Apache-2.0 */
/* The count of births over scripted notices of the kernel. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#ifdef __linux__
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>

#include "linux/internal.h"

enum { OWN = 100, LEADER = 200, CHILD = 300, GRANDCHILD = 400, STRANGER = 900, SOCKET = 77 };
enum { NOTICES_MAX = 64, ENDLESS = 1 << 20 };

static struct {
    struct proc_event queue[NOTICES_MAX];
    int count, next;
    int open_result, end; /* what recv returns behind the last one */
    int short_by;         /* bytes that are missing from each */
    int repeated;         /* so often does the last one come again */
    int open_count;
} kernel;

static pp_linux_host host;

static int fake_open(void) {
    kernel.open_count += kernel.open_result >= 0;
    return kernel.open_result;
}

static int fake_close(int fd) {
    assert_int_equal(fd, SOCKET);
    kernel.open_count--;
    return 0;
}

static ssize_t fake_recv(int fd, void *bytes, size_t capacity) {
    assert_int_equal(fd, SOCKET);
    if (kernel.next == kernel.count && kernel.repeated > 0) {
        kernel.repeated--;
        kernel.next--;
    }
    if (kernel.next == kernel.count)
        return kernel.end;
    const size_t headers = sizeof(struct nlmsghdr) + sizeof(struct cn_msg);
    const struct proc_event *event = &kernel.queue[kernel.next++];
    size_t size = headers + sizeof *event - (size_t)kernel.short_by;
    assert_true(capacity >= headers + sizeof *event);
    memset(bytes, 0, headers);
    memcpy((char *)bytes + headers, event, sizeof *event);
    return (ssize_t)size;
}

static const pp_linux_sys fake = { .notices_open = fake_open,
                                   .close = fake_close,
                                   .recv = fake_recv };

static struct proc_event *notice(unsigned what) {
    struct proc_event *next = &kernel.queue[kernel.count++];
    memset(next, 0, sizeof *next);
    next->what = what;
    return next;
}

static void answer(int sys_errno) {
    notice(PROC_EVENT_NONE)->event_data.ack.err = (__u32)sys_errno;
}

static void born(int parent, int pid) {
    struct proc_event *event = notice(PROC_EVENT_FORK);
    event->event_data.fork.parent_pid = event->event_data.fork.parent_tgid = parent;
    event->event_data.fork.child_pid = event->event_data.fork.child_tgid = pid;
}

static void thread_born(int parent, int pid, int tid) {
    struct proc_event *event = notice(PROC_EVENT_FORK);
    event->event_data.fork.parent_pid = event->event_data.fork.parent_tgid = parent;
    event->event_data.fork.child_pid = tid;
    event->event_data.fork.child_tgid = pid;
}

static void thread_ended(int pid, int tid) {
    struct proc_event *event = notice(PROC_EVENT_EXIT);
    event->event_data.exit.process_pid = tid;
    event->event_data.exit.process_tgid = pid;
}

static void ended(int pid) {
    thread_ended(pid, pid);
}

static int set_up(void **state) {
    (void)state;
    (void)unsetenv("PP_KERNEL");
    memset(&kernel, 0, sizeof kernel);
    kernel.open_result = SOCKET;
    kernel.end = -EAGAIN;
    host = (pp_linux_host){ .sys = &fake, .own_pid = OWN };
    pp__linux_births_init(&host.births);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    pp__linux_births_close(&host);
    assert_int_equal(kernel.open_count, 0);
    return 0;
}

static const pp_linux_capability *fact(void) {
    return &host.facts[PP_LINUX_FACT_BIRTHS];
}

/* The leader is started, and what was noticed of that is taken. */
static void start(void) {
    pp__linux_births_open(&host);
    host.leader.pid = LEADER;
    answer(0);
    born(OWN, LEADER);
    pp__linux_births_settle(&host);
    assert_int_equal(fact()->state, PP_OK);
}

static uint64_t count(void) {
    pp_reading births = pp__linux_notices(&host).births;
    assert_true(births.known);
    return births.value;
}

/* proves: TRK-5 */
static void whoever_descends_from_the_leader_counts_once_and_strangers_never(void **state) {
    (void)state;
    start();
    assert_int_equal(count(), 1);
    born(LEADER, CHILD);
    born(CHILD, GRANDCHILD);
    born(STRANGER, STRANGER + 1);
    ended(STRANGER + 1);
    ended(CHILD);
    born(GRANDCHILD, CHILD + 1); /* its parent has ended: still of the tree */
    assert_int_equal(count(), 4);
    assert_int_equal(count(), 4);
}

static void what_was_noticed_before_the_leader_is_nobody_of_the_tree(void **state) {
    (void)state;
    pp__linux_births_open(&host);
    host.leader.pid = LEADER;
    answer(0);
    born(OWN, STRANGER);
    born(STRANGER, STRANGER + 1);
    born(OWN, LEADER);
    born(OWN, CHILD); /* as a child of ours: CLONE_PARENT by the leader */
    born(STRANGER, CHILD + 1);
    pp__linux_births_settle(&host);
    assert_int_equal(count(), 2);
}

static void a_number_that_is_free_again_is_a_stranger_s(void **state) {
    (void)state;
    start();
    born(LEADER, CHILD);
    ended(CHILD);
    born(STRANGER, CHILD);
    born(CHILD, GRANDCHILD);
    assert_int_equal(count(), 2);
}

static void a_process_lives_as_long_as_any_of_its_threads(void **state) {
    (void)state;
    start();
    thread_born(OWN, LEADER, LEADER + 1);
    thread_born(OWN, LEADER, LEADER + 2);
    thread_ended(LEADER, LEADER);
    born(LEADER, CHILD);
    assert_int_equal(count(), 2);
    thread_ended(LEADER, LEADER + 2);
    assert_int_equal(pp__linux_notices(&host).ends, 0);
    thread_ended(LEADER, LEADER + 1);
    assert_int_equal(pp__linux_notices(&host).ends, 1);
    ended(STRANGER);
    assert_int_equal(pp__linux_notices(&host).ends, 1);
    born(LEADER, CHILD + 1); /* whoever has the number now */
    assert_int_equal(count(), 2);
}

static void missing_for_good(pp_status why) {
    for (int i = 0; i < 2; i++) {
        pp_reading births = pp__linux_notices(&host).births;
        assert_false(births.known);
        assert_int_equal(births.why, why);
    }
    assert_int_equal(kernel.open_count, 0);
}

/* proves: SMP-9 */
static void a_lost_notice_ends_the_count_for_good(void **state) {
    (void)state;
    start();
    kernel.end = -ENOBUFS;
    pp_reading births = pp__linux_notices(&host).births;
    assert_false(births.known);
    kernel.end = -EAGAIN;
    born(LEADER, CHILD);
    missing_for_good(PP_E_ENUMERATION);
    assert_int_equal(fact()->state, PP_OK); /* it was told at the start */
}

static void more_notices_than_can_be_read_are_lost_ones(void **state) {
    (void)state;
    start();
    born(STRANGER, STRANGER + 1);
    kernel.repeated = ENDLESS;
    missing_for_good(PP_E_ENUMERATION);
}

static void a_notice_that_is_cut_off_ends_the_count(void **state) {
    (void)state;
    start();
    born(LEADER, CHILD);
    kernel.short_by = 1;
    missing_for_good(PP_E_MALFORMED);
}

/* proves: SMP-9 */
static void without_the_leaders_birth_they_are_somebody_elses_notices(void **state) {
    (void)state;
    pp__linux_births_open(&host);
    host.leader.pid = LEADER;
    answer(0);
    born(OWN + 5000, LEADER + 5000); /* as a namespace of pids shows them */
    pp__linux_births_settle(&host);
    assert_int_equal(fact()->state, PP_E_UNSUPPORTED);
    missing_for_good(PP_E_UNSUPPORTED);
}

static void a_refusal_is_told_with_its_reason(void **state) {
    (void)state;
    kernel.open_result = -EPERM;
    pp__linux_births_open(&host);
    pp__linux_births_settle(&host);
    assert_int_equal(fact()->state, PP_E_DENIED);
    assert_int_equal(fact()->sys_errno, EPERM);
    missing_for_good(PP_E_DENIED);
}

static void a_refusal_that_comes_later_is_the_same(void **state) {
    (void)state;
    pp__linux_births_open(&host);
    host.leader.pid = LEADER;
    answer(EPERM);
    pp__linux_births_settle(&host);
    assert_int_equal(fact()->state, PP_E_DENIED);
    assert_int_equal(fact()->sys_errno, EPERM);
    missing_for_good(PP_E_DENIED);
}

static void what_was_not_asked_for_is_not_there(void **state) {
    (void)state;
    setenv("PP_KERNEL", "6.1", 1);
    pp__linux_births_open(&host);
    pp__linux_births_settle(&host);
    assert_null(fact()->name); /* the switch has said it */
    missing_for_good(PP_E_UNSUPPORTED);
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(whoever_descends_from_the_leader_counts_once_and_strangers_never),
        T(what_was_noticed_before_the_leader_is_nobody_of_the_tree),
        T(a_number_that_is_free_again_is_a_stranger_s),
        T(a_process_lives_as_long_as_any_of_its_threads),
        T(a_lost_notice_ends_the_count_for_good),
        T(more_notices_than_can_be_read_are_lost_ones),
        T(a_notice_that_is_cut_off_ends_the_count),
        T(without_the_leaders_birth_they_are_somebody_elses_notices),
        T(a_refusal_is_told_with_its_reason),
        T(a_refusal_that_comes_later_is_the_same),
        T(what_was_not_asked_for_is_not_there),
    };
#undef T
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void) {
    return 77; /* tests the Linux host */
}
#endif
