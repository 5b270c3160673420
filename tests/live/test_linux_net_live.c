/* SPDX-License-Identifier: Apache-2.0 */
/* The net below the supervisors over real orphans: whom it sees, ends and reaps, and that it leaves
 * the process as it was. */
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
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host.h"
#include "linux/linux_sys.h"

#define MARK "PAIRPERF_NET_TEST=1"

enum { PIDFS = 0x50494446 };

static pp_os os;
static pp_error error;

static int open_net(void **state) {
    (void)state;
    memset(&error, 0, sizeof error);
    return pp_host_adopt(&error) == PP_OK && pp_host_net_open(NULL, &os, &error) == PP_OK ? 0 : -1;
}

static int close_net(void **state) {
    (void)state;
    if (os.ctx != NULL && pp_host_net_close(&os, &error) != PP_OK)
        return -1;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
    return errno == ECHILD ? 0 : -1;
}

static size_t open_descriptors(void) {
    DIR *dir = opendir("/proc/self/fd");
    assert_non_null(dir);
    size_t count = 0;
    while (readdir(dir) != NULL)
        count++;
    (void)closedir(dir);
    return count;
}

/* A program that is being started has closed its descriptors before its environment is in place. */
static void await_environment(pid_t pid) {
    char path[64], byte;
    ssize_t got = 0;
    time_t limit = time(NULL) + 20;
    (void)snprintf(path, sizeof path, "/proc/%d/environ", pid);
    while (got == 0) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        assert_true(fd >= 0 && time(NULL) < limit);
        got = read(fd, &byte, 1);
        (void)close(fd);
    }
    assert_int_equal(got, 1);
}

/* A process in a group of its own whose parent has ended; started with MARK. */
static pid_t orphan(void) {
    static char name[] = "sleep", seconds[] = "60", mark[] = MARK;
    static char *const argv[] = { name, seconds, NULL };
    static char *const envp[] = { mark, NULL };
    int told[2];
    pid_t pid = 0;
    assert_int_equal(pipe2(told, O_CLOEXEC), 0);
    pid_t parent = fork();
    if (parent == 0) {
        pid = fork();
        if (pid == 0) {
            pid = getpid();
            (void)setsid();
            (void)!write(told[1], &pid, sizeof pid);
            (void)execve("/bin/sleep", argv, envp);
            _exit(127);
        }
        _exit(0);
    }
    assert_int_equal(waitpid(parent, NULL, 0), parent);
    (void)close(told[1]);
    assert_int_equal(read(told[0], &pid, sizeof pid), sizeof pid);
    assert_int_equal(read(told[0], &parent, 1), 0); /* exec closed it */
    (void)close(told[0]);
    await_environment(pid);
    return pid;
}

static bool is_own_child(pid_t pid) {
    pp_pid_list children = { 0 };
    bool found = false;
    assert_int_equal(os.list_own_children(os.ctx, &children, &error), PP_OK);
    for (size_t i = 0; i < children.count; i++)
        found |= children.pids[i] == pid;
    pp_pid_list_done(&children);
    return found;
}

/* proves: GRP-10, CAN-5 */
static void an_orphan_is_adopted_seen_ended_and_reaped_by_its_identity(void **state) {
    (void)state;
    pid_t pid = orphan();
    pp_proc_info info, again;
    pp_exit exit;
    pp_reading written;
    assert_true(is_own_child(pid));
    assert_int_equal(os.identify(os.ctx, pid, &info, &error), PP_OK);
    assert_int_equal(info.ppid, getpid());
    assert_int_equal(info.pgid, pid);
    assert_int_equal(os.inspect(os.ctx, info.id, &again, &error), PP_OK);
    pp_proc_id another = info.id;
    another.start++;
    another.unique = 0;
    assert_int_equal(os.signal(os.ctx, another, SIGKILL, &error), PP_E_STALE);
    assert_int_equal(os.reap(os.ctx, info.id, &exit, &written, &error), PP_E_AGAIN); /* lives */
    assert_int_equal(os.signal(os.ctx, info.id, SIGKILL, &error), PP_OK);
    pp_status status;
    time_t limit = time(NULL) + 20;
    while ((status = os.reap(os.ctx, info.id, &exit, &written, &error)) == PP_E_AGAIN)
        assert_true(time(NULL) < limit);
    assert_int_equal(status, PP_OK);
    assert_true(exit.by_signal);
    assert_int_equal(exit.signal_number, SIGKILL);
    assert_false(written.known); /* not asked for */
    assert_false(is_own_child(pid));
    assert_int_equal(os.inspect(os.ctx, info.id, &again, &error), PP_E_VANISHED);
}

/* A kernel without pidfs has one inode for all pidfds: it tells nobody apart.
 * proves: TRK-1, GRP-10 */
static void an_inode_is_in_the_identity_only_where_the_supervisor_would_have_it(void **state) {
    (void)state;
    const char *words = getenv("PP_KERNEL");
    char *before = words ? strdup(words) : NULL;
    pp_proc_info info;
    int pidfd = pp_linux_sys_real.pidfd_open(getpid());
    uint64_t magic = 0, inode = 0;
    assert_int_equal(pp_linux_sys_real.inode(pidfd, &magic, &inode), 0);
    (void)close(pidfd);
    for (int old = 0; old < 2; old++) {
        assert_int_equal(pp_host_net_close(&os, &error), PP_OK);
        assert_int_equal(old ? setenv("PP_KERNEL", "6.1", 1) : unsetenv("PP_KERNEL"), 0);
        assert_int_equal(pp_host_net_open(NULL, &os, &error), PP_OK);
        assert_int_equal(os.identify(os.ctx, getpid(), &info, &error), PP_OK);
        assert_true(info.id.unique == (magic == PIDFS && !old ? inode : 0));
    }
    assert_int_equal(before ? setenv("PP_KERNEL", before, 1) : unsetenv("PP_KERNEL"), 0);
    free(before);
}

/* proves: CAN-5 */
static void a_mark_is_a_whole_assignment_of_its_own_environment(void **state) {
    (void)state;
    pid_t pid = orphan();
    assert_true(pp_host_started_with(pid, MARK));
    assert_false(pp_host_started_with(pid, MARK "2"));
    assert_false(pp_host_started_with(pid, "NET_TEST=1"));
    assert_false(pp_host_started_with(getpid(), MARK));
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_false(pp_host_started_with(pid, MARK));
}

/* proves: BOX-6 */
static void the_net_changes_nothing_but_who_adopts(void **state) {
    (void)state;
    struct sigaction before, after;
    sigset_t mask_before, mask_after;
    int subreaper = 0;
    assert_int_equal(pp_host_net_close(&os, &error), PP_OK);
    size_t descriptors = open_descriptors();
    (void)sigaction(SIGCHLD, NULL, &before);
    (void)sigprocmask(SIG_BLOCK, NULL, &mask_before);
    assert_int_equal(pp_host_net_open(NULL, &os, &error), PP_OK);
    pid_t pid = orphan();
    pp_proc_info info;
    assert_int_equal(os.identify(os.ctx, pid, &info, &error), PP_OK);
    assert_int_equal(os.leaf_empty(os.ctx, &error), PP_E_UNSUPPORTED);
    assert_int_equal(pp_host_net_close(&os, &error), PP_OK);
    assert_int_equal(open_descriptors(), descriptors);
    (void)sigaction(SIGCHLD, NULL, &after);
    (void)sigprocmask(SIG_BLOCK, NULL, &mask_after);
    assert_ptr_equal(after.sa_handler, before.sa_handler);
    assert_int_equal(sigismember(&mask_after, SIGCHLD), sigismember(&mask_before, SIGCHLD));
    assert_int_equal(prctl(PR_GET_CHILD_SUBREAPER, &subreaper, 0, 0, 0), 0);
    assert_int_equal(subreaper, 1);
    assert_int_equal(kill(pid, 0), 0); /* closing signals nobody */
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* proves: GRP-10 */
static void a_leaf_that_is_gone_is_none_and_no_other_directory_is_one(void **state) {
    (void)state;
    assert_int_equal(pp_host_net_close(&os, &error), PP_OK);
    assert_int_equal(pp_host_net_open("/nowhere/pairperf-1-2-3", &os, &error), PP_OK);
    assert_null(os.leaf_path(os.ctx));
    assert_int_equal(pp_host_net_close(&os, &error), PP_OK);
    assert_int_equal(pp_host_net_open("/tmp", &os, &error), PP_E_INVALID);
    char dir[] = "/tmp/pairperf-1-2-3";
    if (mkdir(dir, 0700) == 0) { /* the right name in the wrong place */
        assert_int_equal(pp_host_net_open(dir, &os, &error), PP_E_UNSUPPORTED);
        assert_int_equal(rmdir(dir), 0);
    }
    os.ctx = NULL;
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(name, open_net, close_net)
    const struct CMUnitTest tests[] = {
        T(an_orphan_is_adopted_seen_ended_and_reaped_by_its_identity),
        T(a_mark_is_a_whole_assignment_of_its_own_environment),
        T(an_inode_is_in_the_identity_only_where_the_supervisor_would_have_it),
        T(the_net_changes_nothing_but_who_adopts),
        T(a_leaf_that_is_gone_is_none_and_no_other_directory_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void) {
    return 77; /* skipped: Linux only */
}
#endif
