/* SPDX-License-Identifier: Apache-2.0 */
/* Where the Linux host makes the leaf, and every way in which there is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#ifdef __linux__
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "linux/linux_host.h"
#include "linux_cgroup_script.h"
#include "linux_script.h"

static pp_status state_of_leaf(int *ret_errno, const char **ret_consequence) {
    const char *name;
    pp_status fact;
    for (size_t i = 0;
         cg_os.capability(cg_os.ctx, i, &name, &fact, ret_errno, ret_consequence) == PP_OK; i++)
        if (strcmp(name, "cgroup_leaf") == 0)
            return fact;
    fail_msg("no capability cgroup_leaf");
    return PP_E_INVALID;
}

static void assert_no_leaf(pp_status why, int sys_errno) {
    int told_errno;
    const char *consequence;
    pp_leaf leaf;
    pp_pid_list pids;
    bool inside;
    assert_int_equal(state_of_leaf(&told_errno, &consequence), why);
    assert_int_equal(told_errno, sys_errno);
    assert_true(strlen(consequence) > 0);
    assert_null(cg_os.leaf_path(cg_os.ctx));
    assert_int_equal(cg_os.leaf_read(cg_os.ctx, &leaf, &cg_error), PP_E_UNSUPPORTED);
    assert_int_equal(cg_os.leaf_list(cg_os.ctx, &pids, &cg_error), PP_E_UNSUPPORTED);
    assert_int_equal(
        cg_os.leaf_holds(cg_os.ctx, (pp_proc_id){ .pid = getpid() }, &inside, &cg_error),
        PP_E_UNSUPPORTED);
    assert_int_equal(cg_os.leaf_empty(cg_os.ctx, &cg_error), PP_E_UNSUPPORTED);
    assert_int_equal(cg_os.leaf_kill(cg_os.ctx, &cg_error), PP_E_UNSUPPORTED);
}

/* proves: GRP-10, SMP-9 */
static void the_leaf_is_made_below_our_own_place_and_removed(void **state) {
    (void)state;
    char name[128], path[256];
    int sys_errno;
    const char *consequence;
    assert_int_equal(state_of_leaf(&sys_errno, &consequence), PP_E_UNVERIFIED);
    assert_int_equal(cg_run_command(), PP_OK);
    assert_int_equal(state_of_leaf(&sys_errno, &consequence), PP_OK);
    assert_int_equal(cg.forks_into, 1);
    assert_int_equal(cg.forks, 0);
    int length = snprintf(name, sizeof name, "pairperf-%d-", getpid());
    assert_memory_equal(cg.made[0], name, (size_t)length);
    assert_non_null(strstr(cg.made[0], "-" CG_NAMESPACE));
    (void)snprintf(path, sizeof path, "/cg two/ours/%.100s", cg.made[0]);
    assert_string_equal(cg_os.leaf_path(cg_os.ctx), path);
    assert_int_equal(cg.removes, 0);
    pp_host_close(&cg_os);
    assert_int_equal(cg.removes, 1);
    assert_string_equal(cg.removed[0], cg.made[0]);
}

/* proves: GRP-10 */
static void a_leaf_that_somebody_lives_in_stays(void **state) {
    (void)state;
    assert_int_equal(cg_run_command(), PP_OK);
    cg.remove_errno = EBUSY;
    pp_host_close(&cg_os);
    assert_int_equal(cg.removes, 1);
}

/* proves: SMP-9 */
static void there_is_no_leaf_without_a_mount_that_shows_our_place(void **state) {
    (void)state;
    (void)script_text("/proc/self/mountinfo", CG_V1);
    assert_int_equal(cg_run_command(), PP_OK);
    assert_no_leaf(PP_E_UNSUPPORTED, 0);
    assert_int_equal(cg.makes, 0);
    assert_int_equal(cg.forks, 1);
}

/* proves: SMP-9 */
static void there_is_no_leaf_where_our_place_is_not_told(void **state) {
    (void)state;
    static const struct {
        const char *cgroup;
        pp_status why;
    } cases[] = { { "0::/../elsewhere\n", PP_E_UNSUPPORTED },
                  { "4:memory:/v1\n", PP_E_UNSUPPORTED },
                  { "0::/cut", PP_E_MALFORMED },
                  { "0::relative\n", PP_E_MALFORMED } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        (void)cg_tear_down(state);
        assert_int_equal(cg_set_up(state), 0);
        (void)script_text("/proc/self/cgroup", cases[i].cgroup);
        assert_int_equal(cg_run_command(), PP_OK);
        assert_no_leaf(cases[i].why, 0);
    }
}

/* proves: SMP-9 */
static void unreadable_tables_are_told_with_their_errno(void **state) {
    (void)state;
    script_text("/proc/self/mountinfo", "")->open_errno = EACCES;
    assert_int_equal(cg_run_command(), PP_OK);
    assert_no_leaf(PP_E_DENIED, EACCES);
    (void)cg_tear_down(state);
    assert_int_equal(cg_set_up(state), 0);
    script_text("/proc/self/cgroup", "")->read_errno = EIO;
    assert_int_equal(cg_run_command(), PP_OK);
    assert_no_leaf(PP_E_SYS, EIO);
}

/* proves: SMP-9, GRP-10 */
static void a_place_that_refuses_us_is_told_with_its_errno(void **state) {
    (void)state;
    static const struct {
        int sys_errno;
        pp_status why;
    } cases[] = { { EACCES, PP_E_DENIED },
                  { EROFS, PP_E_DENIED },
                  { EPERM, PP_E_DENIED },
                  { ENOSPC, PP_E_SYS },
                  { ENOENT, PP_E_UNSUPPORTED } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        (void)cg_tear_down(state);
        assert_int_equal(cg_set_up(state), 0);
        cg.make_errno[0] = cases[i].sys_errno;
        assert_int_equal(cg_run_command(), PP_OK);
        assert_no_leaf(cases[i].why, cases[i].sys_errno);
        assert_int_equal(cg.removes, 0);
    }
}

/* proves: GRP-10 */
static void another_mount_is_tried_when_the_first_refuses(void **state) {
    (void)state;
    (void)script_text("/proc/self/mountinfo",
                      CG_V2 "41 30 0:37 /ours /second rw - cgroup2 cgroup2 rw\n"
                            "42 30 0:37 /our /third rw - cgroup2 cgroup2 rw\n");
    (void)script_numbers("/second", NULL, 0);
    cg.make_errno[0] = EROFS;
    assert_int_equal(cg_run_command(), PP_OK);
    assert_int_equal(cg.makes, 2);
    assert_memory_equal(cg_os.leaf_path(cg_os.ctx), "/second/pairperf-", 17);
    (void)cg_tear_down(state);
    assert_int_equal(cg_set_up(state), 0);
    cg.make_errno[0] = EROFS;
    cg.make_errno[1] = EACCES;
    (void)script_text("/proc/self/mountinfo",
                      CG_V2 "41 30 0:37 /ours /second rw - cgroup2 cgroup2 rw\n");
    (void)script_numbers("/second", NULL, 0);
    assert_int_equal(cg_run_command(), PP_OK);
    assert_no_leaf(PP_E_DENIED, EACCES); /* the last one's word */
}

/* proves: SMP-9, GRP-10 */
static void a_leaf_that_takes_nobody_is_removed_and_the_command_runs(void **state) {
    (void)state;
    static const int refusals[] = { EACCES, ENOSYS, EBUSY, EOPNOTSUPP };
    static const pp_status words[] = { PP_E_DENIED, PP_E_UNSUPPORTED, PP_E_SYS, PP_E_UNSUPPORTED };
    for (size_t i = 0; i < 4; i++) {
        (void)cg_tear_down(state);
        assert_int_equal(cg_set_up(state), 0);
        cg.fork_errno = refusals[i];
        assert_int_equal(cg_run_command(), PP_OK);
        assert_no_leaf(words[i], refusals[i]);
        assert_int_equal(cg.forks, 1);
        assert_int_equal(cg.removes, 1);
        assert_string_equal(cg.removed[0], cg.made[0]);
    }
}

/* proves: SMP-9 */
static void a_leaf_without_its_files_is_removed_at_once(void **state) {
    (void)state;
    static const char *const needed[] = { "cpu.stat", "cgroup.procs", "cgroup.events" };
    for (size_t i = 0; i < 3; i++) {
        (void)cg_tear_down(state);
        assert_int_equal(cg_set_up(state), 0);
        cg_absent(needed[i]);
        assert_int_equal(cg_run_command(), PP_OK);
        assert_no_leaf(PP_E_UNSUPPORTED, ENOENT);
        assert_int_equal(cg.removes, 1);
        assert_int_equal(cg.forks_into, 0);
    }
    (void)cg_tear_down(state);
    assert_int_equal(cg_set_up(state), 0);
    cg.not_cgroup2 = true;
    assert_int_equal(cg_run_command(), PP_OK);
    assert_no_leaf(PP_E_UNSUPPORTED, 0);
    assert_int_equal(cg.removes, 1);
}

static pid_t no_fork(void) {
    return -EAGAIN;
}

/* proves: GRP-10 */
static void a_start_that_fails_gives_its_leaf_back_and_the_next_gets_another(void **state) {
    (void)state;
    cg.fork_errno = EAGAIN;
    scripted.sys.fork = no_fork;
    assert_int_equal(cg_run_command(), PP_E_SYS);
    assert_int_equal(cg.removes, 1);
    cg.fork_errno = 0;
    assert_int_equal(cg_run_command(), PP_OK);
    assert_int_equal(cg.makes, 2);
    assert_non_null(cg_os.leaf_path(cg_os.ctx));
}

/* proves: SMP-9 */
static void the_switch_for_no_leaf_is_one_word_of_a_list(void **state) {
    (void)state;
    static const char *const lists[] = { "no-cgroup", "6.1,no-cgroup", "no-cgroup,6.1" };
    pp_host_options options = { .channel_fd = -1, .run_dir_fd = -1 };
    int sys_errno;
    const char *consequence;
    for (size_t i = 0; i < 3; i++) {
        pp_host_close(&cg_os);
        (void)setenv("PP_KERNEL", lists[i], 1);
        assert_int_equal(pp_linux_host_open(&scripted.sys, &options, &cg_os, &cg_error), PP_OK);
        assert_int_equal(cg_run_command(), PP_OK);
        assert_int_equal(cg.makes, 0);
        assert_no_leaf(PP_E_UNSUPPORTED, 0);
        (void)state_of_leaf(&sys_errno, &consequence);
        assert_string_equal(consequence, "switched off by PP_KERNEL");
    }
    pp_host_close(&cg_os);
    static const char *const wrong[] = { "cgroup", "6.1,", "no-cgroup,x", ",6.1" };
    for (size_t i = 0; i < 4; i++) {
        (void)setenv("PP_KERNEL", wrong[i], 1);
        pp_status expected = i == 1 ? PP_OK : PP_E_INVALID; /* a comma may end the list */
        assert_int_equal(pp_linux_host_open(&scripted.sys, &options, &cg_os, &cg_error), expected);
        if (expected == PP_OK)
            pp_host_close(&cg_os);
    }
    cg_os.ctx = NULL;
}

/* proves: GRP-10 */
static void only_leaves_whose_owner_is_gone_are_cleared_away(void **state) {
    (void)state;
    script_proc *alive = script_process(CG_PID, 500, 77);
    (void)alive;
    static const char *const names[] = {
        "pairperf-%d-500-" CG_NAMESPACE,     /* lives */
        "pairperf-%d-499-" CG_NAMESPACE,     /* its number is another's */
        "pairperf-90000001-5-" CG_NAMESPACE, /* no such number */
        "pairperf-90000001-5-1",             /* of another namespace */
        "pairperf-90000001-5",
        "pairperf-x-5-" CG_NAMESPACE,
        "user.slice",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        (void)snprintf(cg.listed[cg.listed_count++], sizeof cg.listed[0], names[i], CG_PID);
    cg.remove_errno = EBUSY; /* whatever the kernel says */
    assert_int_equal(cg_run_command(), PP_OK);
    assert_int_equal(cg.removes, 2);
    char reused[64];
    (void)snprintf(reused, sizeof reused, names[1], CG_PID);
    assert_string_equal(cg.removed[0], reused);
    assert_string_equal(cg.removed[1], names[2]);
    assert_non_null(cg_os.leaf_path(cg_os.ctx));
}

/* proves: GRP-10 */
static void a_leaf_of_another_namespace_is_cleared_away_when_nobody_holds_its_lock(void **state) {
    (void)state;
    static const char name[] = "pairperf-90000001-5-1";
    memcpy(cg.listed[0], name, sizeof name);
    cg.listed_count = 1;
    (void)script_numbers(name, NULL, 0);
    cg.lock_errno = EWOULDBLOCK;
    assert_int_equal(cg_run_command(), PP_OK);
    assert_int_equal(cg.removes, 0);
    assert_non_null(cg_os.leaf_path(cg_os.ctx)); /* an own lock that fails costs nothing */
    (void)cg_tear_down(state);
    assert_int_equal(cg_set_up(state), 0);
    memcpy(cg.listed[0], name, sizeof name);
    cg.listed_count = 1;
    (void)script_numbers(name, NULL, 0);
    assert_int_equal(cg_run_command(), PP_OK);
    assert_int_equal(cg.removes, 1);
    assert_string_equal(cg.removed[0], name);
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(name, cg_set_up, cg_tear_down)
    const struct CMUnitTest tests[] = {
        T(the_leaf_is_made_below_our_own_place_and_removed),
        T(a_leaf_that_somebody_lives_in_stays),
        T(there_is_no_leaf_without_a_mount_that_shows_our_place),
        T(there_is_no_leaf_where_our_place_is_not_told),
        T(unreadable_tables_are_told_with_their_errno),
        T(a_place_that_refuses_us_is_told_with_its_errno),
        T(another_mount_is_tried_when_the_first_refuses),
        T(a_leaf_that_takes_nobody_is_removed_and_the_command_runs),
        T(a_leaf_without_its_files_is_removed_at_once),
        T(a_start_that_fails_gives_its_leaf_back_and_the_next_gets_another),
        T(the_switch_for_no_leaf_is_one_word_of_a_list),
        T(only_leaves_whose_owner_is_gone_are_cleared_away),
        T(a_leaf_of_another_namespace_is_cleared_away_when_nobody_holds_its_lock),
    };
    return cmocka_run_group_tests_name("linux_cgroup", tests, NULL, NULL);
}
#else
int main(void) {
    return 77; /* skipped: Linux only */
}
#endif
