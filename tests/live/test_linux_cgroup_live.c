/* SPDX-License-Identifier: Apache-2.0 */
/* A cgroup of its own for real commands: what it counts, whom it ends, who leaves it, and the
 * places where there is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "linux_live.h"

enum { BURNERS = 40, BURN_MS = 10, CHAINS = 32, NOBODY = 65534, CANNOT = 77 };

#define MS INT64_C(1000000)

/* ---- what this program does when it is started again ---- */

static int64_t own_cpu_ns(void) {
    struct timespec used;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return used.tv_sec * INT64_C(1000000000) + used.tv_nsec;
}

static void burn(void) {
    while (own_cpu_ns() < BURN_MS * MS)
        ;
    _exit(0);
}

/* Short lives, every other one an orphan in a session of its own. */
static int again_burn(void) {
    for (int i = 0; i < BURNERS; i++) {
        pid_t child = fork();
        if (child == 0 && i % 2 == 0)
            burn();
        if (child == 0) {
            (void)setsid();
            if (fork() == 0)
                burn();
            _exit(0);
        }
        (void)waitpid(child, NULL, 0);
    }
    return 0;
}

static int64_t now_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Never the same process for long, and never in one session. Not for ever, should all fail. */
static _Noreturn void hop(void) {
    int64_t end_ns = now_ns() + LIVE_LIMIT_S * INT64_C(1000000000);
    while (now_ns() < end_ns) {
        pid_t child = fork();
        if (child > 0)
            _exit(0);
        (void)setsid();
        (void)usleep(500);
    }
    _exit(0);
}

/* Waits for a word before it begins: chains cannot be caught by the group. */
static int again_hop(void) {
    sigset_t go;
    int number;
    sigemptyset(&go);
    sigaddset(&go, SIGUSR1);
    (void)sigprocmask(SIG_BLOCK, &go, NULL);
    (void)puts("ready");
    (void)fflush(stdout);
    (void)sigwait(&go, &number);
    for (int i = 0; i < CHAINS; i++)
        if (fork() == 0)
            hop();
    (void)puts("hopping");
    (void)fflush(stdout);
    return pause();
}

static int again(const char *mode) {
    return strcmp(mode, "burn") == 0 ? again_burn() : again_hop();
}

/* ---- helpers ---- */

static const char *leaf(pp_proc_id leader) {
    const char *path = live_os.leaf_path(live_os.ctx);
    if (path == NULL) {
        print_message("no leaf here\n");
        live_end(leader);
        skip();
    }
    return path;
}

static bool exists(const char *path) {
    return access(path, F_OK) == 0;
}

static bool write_number(const char *dir, const char *name, int number) {
    char path[4200];
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool written = fd >= 0 && dprintf(fd, "%d", number) > 0;
    (void)close(fd);
    return written;
}

static const char *parent_of(const char *path) {
    static char parent[4096];
    (void)snprintf(parent, sizeof parent, "%s", path);
    *strrchr(parent, '/') = '\0';
    return parent;
}

static bool is_inside(pp_proc_id id) {
    bool inside = false;
    assert_int_equal(live_os.leaf_holds(live_os.ctx, id, &inside, &live_error), PP_OK);
    return inside;
}

static pp_status leaf_state(int *ret_errno, const char **ret_consequence) {
    const char *name;
    pp_status state;
    for (size_t i = 0;
         live_os.capability(live_os.ctx, i, &name, &state, ret_errno, ret_consequence) == PP_OK;
         i++)
        if (strcmp(name, "cgroup_leaf") == 0)
            return state;
    return PP_E_INVALID;
}

static bool is_switched_off(void) {
    const char *words = getenv("PP_KERNEL");
    return words != NULL && strstr(words, "no-cgroup") != NULL;
}

/* Reaps everybody; the sum of what they used. */
static uint64_t reap_all(pp_proc_id leader) {
    pp_reading written;
    uint64_t cpu_ns = live_reap(leader, &written).cpu_ns.value;
    int64_t limit = live_now() + LIVE_LIMIT_S * INT64_C(1000000000);
    while (live_os.no_children_left(live_os.ctx, &live_error) != PP_OK) {
        pp_pid_list children = { 0 };
        assert_true(live_now() < limit);
        assert_int_equal(live_os.list_own_children(live_os.ctx, &children, &live_error), PP_OK);
        for (size_t i = 0; i < children.count; i++)
            cpu_ns += live_reap(live_identify(children.pids[i]).id, &written).cpu_ns.value;
        pp_pid_list_done(&children);
    }
    return cpu_ns;
}

/* ---- tests ---- */

/* proves: GRP-10, SMP-9 */
static void the_leader_is_born_in_its_leaf_which_goes_with_the_host(void **state) {
    char path[4096];
    pp_proc_id id = live_shell("exec sleep 60");
    (void)snprintf(path, sizeof path, "%s", leaf(id));
    assert_true(exists(path));
    assert_true(is_inside(id));
    assert_int_equal(live_os.leaf_empty(live_os.ctx, &live_error), PP_E_AGAIN);
    pp_pid_list pids = { 0 };
    assert_int_equal(live_os.leaf_list(live_os.ctx, &pids, &live_error), PP_OK);
    assert_int_equal(pids.count, 1);
    assert_int_equal(pids.pids[0], id.pid);
    pp_pid_list_done(&pids);
    (void)live_os.signal(live_os.ctx, id, SIGKILL, &live_error);
    (void)live_await_exit(id);
    assert_int_equal(live_os.leaf_empty(live_os.ctx, &live_error), PP_OK); /* a zombie is nobody */
    assert_true(is_inside(id)); /* and was in it when it ended */
    live_end(id);
    (void)live_close(state);
    assert_false(exists(path));
}

/* proves: MET-7 */
static void its_cpu_is_that_of_every_short_life_daemons_included(void **state) {
    (void)state;
    pp_leaf figures;
    pp_proc_id id = live_again("burn");
    (void)leaf(id);
    (void)live_await_exit(id);
    uint64_t reaped_ns = reap_all(id);
    assert_int_equal(live_os.leaf_read(live_os.ctx, &figures, &live_error), PP_OK);
    assert_true(figures.cpu_ns.known && figures.user_ns.known && figures.system_ns.known);
    uint64_t counted_ns = figures.cpu_ns.value;
    assert_true(reaped_ns >= (uint64_t)BURNERS * BURN_MS * MS);
    /* Birth and death belong to nobody's own clock, but to the cgroup's. */
    assert_true(counted_ns + counted_ns / 100 + 2 * MS >= reaped_ns);
    assert_true(counted_ns <= reaped_ns + reaped_ns / 20 + 20 * MS);
}

/* proves: CAN-3, GRP-10 */
static void one_write_ends_chains_that_hop_from_session_to_session(void **state) {
    (void)state;
    pp_proc_id id = live_again("hop");
    (void)leaf(id);
    (void)live_await_output("ready\n");
    assert_int_equal(live_os.signal(live_os.ctx, id, SIGUSR1, &live_error), PP_OK);
    (void)live_await_output("hopping\n");
    assert_int_equal(live_os.leaf_empty(live_os.ctx, &live_error), PP_E_AGAIN);
    int64_t start = live_now();
    assert_int_equal(live_os.leaf_kill(live_os.ctx, &live_error), PP_OK);
    while (live_os.leaf_empty(live_os.ctx, &live_error) == PP_E_AGAIN)
        assert_true(live_now() < start + 10 * INT64_C(1000000000));
    (void)live_await_exit(id);
    (void)reap_all(id); /* zombies alone were left */
}

/* proves: TRK-3 */
static void a_process_that_moved_out_is_outside_and_one_that_moved_down_is_not(void **state) {
    (void)state;
    char below[4200];
    pp_proc_id id = live_shell("exec sleep 60");
    const char *path = leaf(id);
    (void)snprintf(below, sizeof below, "%s/below", path);
    assert_int_equal(mkdir(below, 0755), 0);
    assert_true(write_number(below, "cgroup.procs", id.pid));
    assert_true(is_inside(id));
    assert_int_equal(live_os.leaf_empty(live_os.ctx, &live_error), PP_E_AGAIN);
    assert_true(write_number(parent_of(path), "cgroup.procs", id.pid));
    assert_false(is_inside(id));
    assert_int_equal(live_os.leaf_empty(live_os.ctx, &live_error), PP_OK);
    live_end(id);
    assert_int_equal(rmdir(below), 0);
}

/* proves: GRP-10 */
static void a_leaf_of_a_supervisor_that_is_gone_is_cleared_away(void **state) {
    char stale[4200], foreign[4200], link[64] = { 0 };
    pp_proc_id id = live_shell("exit 0");
    const char *path = leaf(id);
    pid_t dead = fork();
    if (dead == 0)
        _exit(0);
    assert_int_equal(waitpid(dead, NULL, 0), dead);
    assert_true(readlink("/proc/self/ns/pid", link, sizeof link - 1) > 5);
    unsigned long long space = strtoull(link + 5, NULL, 10);
    (void)snprintf(stale, sizeof stale, "%s/pairperf-%d-1-%llu", parent_of(path), dead, space);
    (void)snprintf(foreign, sizeof foreign, "%s/pairperf-%d-1-%llu", parent_of(path), dead,
                   space + 1);
    live_end(id);
    (void)live_close(state);
    assert_int_equal(mkdir(stale, 0755), 0);
    assert_int_equal(mkdir(foreign, 0755), 0);
    int owner = open(foreign, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(flock(owner, LOCK_EX), 0);
    assert_int_equal(live_open(state), 0);
    id = live_shell("exec sleep 60");
    assert_non_null(live_os.leaf_path(live_os.ctx));
    assert_false(exists(stale));
    assert_true(exists(foreign)); /* of another namespace: its owner lives */
    int ours = open(live_os.leaf_path(live_os.ctx), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(flock(ours, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK);
    (void)close(ours);
    (void)close(owner);
    live_end(id);
    (void)live_close(state);
    assert_int_equal(live_open(state), 0);
    id = live_shell("exit 0");
    assert_false(exists(foreign));
    live_end(id);
}

/* A host in this very process, one command; 0 when there is no leaf for this reason. */
static int refused_with(pp_status wanted, int wanted_errno) {
    static char name[] = "true";
    static char *const words[] = { name, NULL };
    static char *const nothing[] = { NULL };
    const pp_command command = { .path = "/bin/true", .argv = words, .envp = nothing, .cwd = "/" };
    pp_host_options options = { .channel_fd = -1, .run_dir_fd = -1 };
    pp_proc_id id;
    pp_reading written;
    int sys_errno = 0;
    const char *consequence = "";
    if (pp_host_open(&options, &live_os, &live_error) != PP_OK)
        return 1;
    if (live_os.spawn(live_os.ctx, &command, &id, &live_error) != PP_OK)
        return 2;
    pp_status why = leaf_state(&sys_errno, &consequence);
    bool none = live_os.leaf_path(live_os.ctx) == NULL;
    bool ended = live_reap(id, &written).code == 0;
    pp_host_close(&live_os);
    if (why != wanted || (wanted_errno != 0 && sys_errno != wanted_errno) || !consequence[0])
        return 3;
    return none && ended ? 0 : 4;
}

static int as_nobody(void) {
    if (setgid(NOBODY) < 0 || setuid(NOBODY) < 0)
        return CANNOT;
    return is_switched_off() ? refused_with(PP_E_UNSUPPORTED, 0)
                             : refused_with(PP_E_DENIED, EACCES);
}

static int in_own_mounts(void) {
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static int without_sys(void) {
    if (!in_own_mounts() || umount2("/sys", MNT_DETACH) < 0)
        return CANNOT;
    return refused_with(PP_E_UNSUPPORTED, 0);
}

static char mount_point[4096];

static int with_a_read_only_mount(void) {
    if (!in_own_mounts() ||
        mount(mount_point, mount_point, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) < 0)
        return CANNOT;
    return is_switched_off() ? refused_with(PP_E_UNSUPPORTED, 0) : refused_with(PP_E_DENIED, EROFS);
}

static void expect_refusal(void **state, int (*body)(void)) {
    (void)live_close(state); /* one host per process, and children inherit */
    int result = live_forked(body);
    assert_int_equal(live_open(state), 0);
    if (result == CANNOT)
        skip();
    assert_int_equal(result, 0);
}

/* proves: SMP-9, GRP-10 */
static void an_unprivileged_user_has_no_leaf_and_is_told_why(void **state) {
    expect_refusal(state, as_nobody);
}

/* proves: SMP-9 */
static void without_a_cgroup_mount_there_is_no_leaf(void **state) {
    expect_refusal(state, without_sys);
}

/* proves: SMP-9 */
static void a_read_only_mount_gives_no_leaf(void **state) {
    pp_proc_id id = live_shell("exit 0");
    char path[4096];
    struct stat here, above;
    (void)snprintf(path, sizeof path, "%s", leaf(id));
    live_end(id);
    for (;;) { /* up to where the file system begins */
        (void)snprintf(mount_point, sizeof mount_point, "%s", parent_of(path));
        assert_int_equal(stat(mount_point, &here), 0);
        assert_int_equal(stat(parent_of(mount_point), &above), 0);
        if (here.st_dev != above.st_dev)
            break;
        (void)snprintf(path, sizeof path, "%s", mount_point);
    }
    expect_refusal(state, with_a_read_only_mount);
}

/* proves: SMP-9 */
static void the_switch_is_told_as_a_capability(void **state) {
    (void)state;
    int sys_errno;
    const char *consequence;
    pp_proc_id id = live_shell("exit 0");
    pp_status why = leaf_state(&sys_errno, &consequence);
    assert_int_equal(why == PP_OK, live_os.leaf_path(live_os.ctx) != NULL);
    if (is_switched_off()) {
        assert_int_equal(why, PP_E_UNSUPPORTED);
        assert_string_equal(consequence, "switched off by PP_KERNEL");
    }
    live_end(id);
}

int main(int argc, char **argv) {
    if (argc > 1)
        return again(argv[1]);
#define T(name) cmocka_unit_test_setup_teardown(name, live_open, live_close)
    const struct CMUnitTest tests[] = {
        T(the_leader_is_born_in_its_leaf_which_goes_with_the_host),
        T(its_cpu_is_that_of_every_short_life_daemons_included),
        T(one_write_ends_chains_that_hop_from_session_to_session),
        T(a_process_that_moved_out_is_outside_and_one_that_moved_down_is_not),
        T(a_leaf_of_a_supervisor_that_is_gone_is_cleared_away),
        T(an_unprivileged_user_has_no_leaf_and_is_told_why),
        T(without_a_cgroup_mount_there_is_no_leaf),
        T(a_read_only_mount_gives_no_leaf),
        T(the_switch_is_told_as_a_capability),
    };
    return cmocka_run_group_tests(tests, live_make_run_dir, live_remove_run_dir);
}
#else
int main(void) {
    return 77; /* skipped: Linux only */
}
#endif
