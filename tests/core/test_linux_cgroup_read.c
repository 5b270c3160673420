/* SPDX-License-Identifier: Apache-2.0 */
/* What the leaf of the Linux host tells, over scripted files. */
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
#include <time.h>
#include <unistd.h>

#include "linux/linux_host.h"
#include "linux_cgroup_script.h"
#include "linux_script.h"

static pp_leaf read_leaf(void) {
    pp_leaf leaf;
    assert_int_equal(cg_os.leaf_read(cg_os.ctx, &leaf, &cg_error), PP_OK);
    return leaf;
}

static void assert_reading(pp_reading reading, uint64_t value) {
    assert_true(reading.known);
    assert_true(reading.value == value);
}

/* proves: MET-7, MET-6 */
static void figures_without_a_controller_are_unsupported(void **state) {
    (void)state;
    assert_int_equal(cg_run_command(), PP_OK);
    pp_leaf leaf = read_leaf();
    assert_reading(leaf.cpu_ns, 30000);
    assert_reading(leaf.user_ns, 20000);
    assert_reading(leaf.system_ns, 10000);
    const pp_reading none[] = { leaf.current_bytes, leaf.peak_bytes,  leaf.anon_bytes,
                                leaf.file_bytes,    leaf.shmem_bytes, leaf.kernel_bytes,
                                leaf.swap_bytes,    leaf.read_bytes,  leaf.write_bytes };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_false(none[i].known);
        assert_int_equal(none[i].why, PP_E_UNSUPPORTED);
    }
}

/* proves: MET-3, MET-7 */
static void figures_of_enabled_controllers_are_read(void **state) {
    (void)state;
    script_text("memory.current", "100\n")->open_errno = 0;
    script_text("memory.peak", "200\n")->open_errno = 0;
    script_text("memory.swap.current", "0\n")->open_errno = 0;
    script_text("memory.stat", "anon 1\nfile 2\nkernel 3\nkernel_stack 9\nshmem 4\nanon_thp 8\n")
        ->open_errno = 0;
    script_text("io.stat", "8:0 rbytes=10 wbytes=20 rios=1 wios=1 dbytes=5 dios=1\n"
                           "7:0 \n254:0 rbytes=1 wbytes=2 rios=0 wios=0 dbytes=0 dios=0\n")
        ->open_errno = 0;
    assert_int_equal(cg_run_command(), PP_OK);
    pp_leaf leaf = read_leaf();
    assert_reading(leaf.current_bytes, 100);
    assert_reading(leaf.peak_bytes, 200);
    assert_reading(leaf.swap_bytes, 0);
    assert_reading(leaf.anon_bytes, 1);
    assert_reading(leaf.file_bytes, 2);
    assert_reading(leaf.kernel_bytes, 3);
    assert_reading(leaf.shmem_bytes, 4);
    assert_reading(leaf.read_bytes, 11);
    assert_reading(leaf.write_bytes, 22);
}

/* proves: MET-6 */
static void a_figure_that_cannot_be_read_is_missing_and_the_others_stay(void **state) {
    (void)state;
    script_file *memory = script_text("memory.current", "100\n");
    memory->open_errno = 0;
    script_text("memory.peak", "12x\n")->open_errno = 0;
    script_text("memory.swap.current", "")->open_errno = EACCES;
    script_text("io.stat", "8:0 rbytes=ten wbytes=1\n")->open_errno = 0;
    assert_int_equal(cg_run_command(), PP_OK);
    static const char *const wrong[] = { "user_usec 1\n", "usage_usec -1\n", "usage_usec 1",
                                         "usage_usec 18446744073709551615\n", "" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        (void)script_text("cpu.stat", wrong[i]);
        pp_leaf leaf = read_leaf();
        assert_false(leaf.cpu_ns.known || leaf.user_ns.known || leaf.system_ns.known);
        assert_int_equal(leaf.cpu_ns.why, PP_E_MALFORMED);
        assert_reading(leaf.current_bytes, 100);
    }
    pp_leaf leaf = read_leaf();
    assert_int_equal(leaf.peak_bytes.why, PP_E_MALFORMED);
    assert_int_equal(leaf.swap_bytes.why, PP_E_DENIED);
    assert_int_equal(leaf.read_bytes.why, PP_E_MALFORMED);
    memory->read_errno = ENODEV; /* it was removed under us */
    script_text("cpu.stat", "usage_usec 1\n")->read_errno = ENODEV;
    leaf = read_leaf();
    assert_int_equal(leaf.current_bytes.why, PP_E_SYS);
    assert_int_equal(leaf.cpu_ns.why, PP_E_SYS);
}

static int (*scripted_clock)(clockid_t clock, struct timespec *ret_time);
static long monotonic_ns;

static int clock_that_stands(clockid_t clock, struct timespec *ret_time) {
    if (clock != CLOCK_MONOTONIC)
        return scripted_clock(clock, ret_time);
    *ret_time = (struct timespec){ .tv_sec = 1, .tv_nsec = monotonic_ns };
    return 0;
}

/* CPU of a child of ours as one pass finds it, a hundredth of a second after the last. */
static uint64_t pass_over(pp_proc_id id) {
    pp_proc_info info;
    pp_usage usage;
    pp_pid_list pids = { 0 };
    monotonic_ns += 10000000;
    assert_int_equal(cg_os.inspect(cg_os.ctx, id, &info, &cg_error), PP_OK);
    assert_int_equal(cg_os.leaf_list(cg_os.ctx, &pids, &cg_error), PP_OK);
    assert_int_equal(cg_os.usage(cg_os.ctx, id, false, &usage, &cg_error), PP_OK);
    pp_pid_list_done(&pids);
    return usage.cpu_ns.value;
}

/* proves: TRK-2, MET-7 */
static void clocks_are_not_asked_while_the_leaf_shows_that_nobody_in_it_ran(void **state) {
    (void)state;
    char stat[128];
    assert_int_equal(cg_run_command(), PP_OK);
    script_proc *proc = script_process(CG_PID, 1, 33);
    (void)snprintf(stat, sizeof stat, "%d (app) S %d 7 7 0 -1 0 1 1 1 1 1 1 0 0 20 0 1 0 1 0 0\n",
                   CG_PID, getpid());
    script_of(proc, "stat", stat);
    (void)script_text("cgroup.procs", "90000007\n");
    scripted_clock = scripted.sys.clock;
    scripted.sys.clock = clock_that_stands;
    pp_proc_info info;
    assert_int_equal(cg_os.identify(cg_os.ctx, CG_PID, &info, &cg_error), PP_OK);
    proc->cpu_ns = 5000;
    assert_int_equal(pass_over(info.id), 5000); /* makes it known as one in the leaf */
    assert_int_equal(pass_over(info.id), 5000);

    proc->cpu_ns = 6000; /* which the leaf does not confirm */
    assert_int_equal(pass_over(info.id), 5000);
    (void)script_text("cpu.stat", "usage_usec 31\nuser_usec 20\nsystem_usec 10\n");
    assert_int_equal(pass_over(info.id), 6000);
    proc->cpu_ns = 7000;
    assert_int_equal(pass_over(info.id), 6000);
    (void)script_text("cgroup.procs", ""); /* it moved: the leaf says nothing about it now */
    assert_int_equal(pass_over(info.id), 6000);
    assert_int_equal(pass_over(info.id), 7000);
    scripted.sys.clock = scripted_clock;
}

/* proves: TRK-4, TRK-6 */
static void its_list_is_whole_or_no_list(void **state) {
    (void)state;
    pp_pid_list pids = { 0 };
    assert_int_equal(cg_run_command(), PP_OK);
    script_file *procs = script_text("cgroup.procs", "12\n345\n");
    for (int i = 0; i < 1000; i++)
        procs->size += (size_t)snprintf(procs->bytes + procs->size,
                                        sizeof procs->bytes - procs->size, "%d\n", 90000007 + i);
    procs->step = 4090;           /* as the kernel does: a page, as far as whole lines fit */
    for (int i = 0; i < 2; i++) { /* from its beginning each time */
        procs->at = 0;
        assert_int_equal(cg_os.leaf_list(cg_os.ctx, &pids, &cg_error), PP_OK);
        assert_int_equal(pids.count, 1002);
        assert_int_equal(pids.pids[1001], 90001006);
        pp_pid_list_done(&pids);
    }
    static const char *const wrong[] = { "12\n0\n", "12\n34", "12\n-4\n", "a\n", "4294967296\n" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        script_text("cgroup.procs", wrong[i])->at = 0;
        assert_int_equal(cg_os.leaf_list(cg_os.ctx, &pids, &cg_error), PP_E_ENUMERATION);
    }
    procs->read_errno = EOPNOTSUPP;
    assert_int_equal(cg_os.leaf_list(cg_os.ctx, &pids, &cg_error), PP_E_ENUMERATION);
    assert_int_equal(cg_error.sys_errno, EOPNOTSUPP);
}

/* proves: GRP-12 */
static void emptiness_is_read_and_never_assumed(void **state) {
    (void)state;
    assert_int_equal(cg_run_command(), PP_OK);
    assert_int_equal(cg_os.leaf_empty(cg_os.ctx, &cg_error), PP_E_AGAIN);
    script_file *events = script_text("cgroup.events", "populated 0\nfrozen 0\n");
    assert_int_equal(cg_os.leaf_empty(cg_os.ctx, &cg_error), PP_OK);
    static const char *const wrong[] = { "frozen 0\n", "populated 2\n", "populated 0", "" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        (void)script_text("cgroup.events", wrong[i]);
        assert_int_equal(cg_os.leaf_empty(cg_os.ctx, &cg_error), PP_E_MALFORMED);
    }
    events->read_errno = ENODEV;
    assert_int_equal(cg_os.leaf_empty(cg_os.ctx, &cg_error), PP_E_SYS);
}

/* proves: CAN-3 */
static void a_kill_is_one_byte_and_its_failure_is_told(void **state) {
    (void)state;
    assert_int_equal(cg_run_command(), PP_OK);
    assert_int_equal(cg_os.leaf_kill(cg_os.ctx, &cg_error), PP_OK);
    assert_string_equal(cg.written, "1");
    cg.write_result = -EACCES;
    assert_int_equal(cg_os.leaf_kill(cg_os.ctx, &cg_error), PP_E_DENIED);
    assert_int_equal(cg_error.sys_errno, EACCES);
    cg.write_result = 0;
    assert_int_equal(cg_os.leaf_kill(cg_os.ctx, &cg_error), PP_E_SYS);
}

static void an_older_kernel_has_no_kill(void **state) {
    (void)state;
    cg_absent("cgroup.kill");
    assert_int_equal(cg_run_command(), PP_OK);
    assert_non_null(cg_os.leaf_path(cg_os.ctx));
    assert_int_equal(cg_os.leaf_kill(cg_os.ctx, &cg_error), PP_E_UNSUPPORTED);
}

static pp_proc_id identified(void) {
    pp_proc_info info;
    assert_int_equal(cg_os.identify(cg_os.ctx, CG_PID, &info, &cg_error), PP_OK);
    return info.id;
}

static bool holds(pp_proc_id id) {
    bool inside = false;
    assert_int_equal(cg_os.leaf_holds(cg_os.ctx, id, &inside, &cg_error), PP_OK);
    return inside;
}

/* proves: TRK-3, TRK-1 */
static void who_is_inside_is_told_by_number_or_else_by_path(void **state) {
    (void)state;
    char path[256];
    assert_int_equal(cg_run_command(), PP_OK);
    script_proc *proc = script_process(CG_PID, 1, 5);
    pp_proc_id id = identified();
    script_file *file = script_of(proc, "cgroup", "0::/elsewhere\n");
    assert_true(holds(id)); /* the number says so */
    assert_int_equal(file->opens, 0);
    cg.cgroup_id = 9;
    assert_false(holds(id));
    (void)snprintf(path, sizeof path, "0::/ours/%.100s/below\n", cg.made[0]);
    (void)script_of(proc, "cgroup", path);
    assert_true(holds(id)); /* another number, but below the leaf */
    (void)snprintf(path, sizeof path, "0::/ours/%.100sX\n", cg.made[0]);
    (void)script_of(proc, "cgroup", path);
    assert_false(holds(id)); /* a longer name */

    cg.cgroup_errno = ENOTTY;
    assert_false(holds(id));
    cg.cgroup_errno = 0;
    cg.cgroup_id = CG_LEAF_ID;
    assert_false(holds(id)); /* what is not there is not asked again */
    (void)snprintf(path, sizeof path, "0::/ours/%.100s\n", cg.made[0]);
    (void)script_of(proc, "cgroup", path);
    assert_true(holds(id));

    bool inside;
    proc->gone = true;
    assert_int_equal(cg_os.leaf_holds(cg_os.ctx, id, &inside, &cg_error), PP_E_VANISHED);
    script_proc *newcomer = script_process(CG_PID, 2, 6);
    (void)script_of(newcomer, "cgroup", path);
    assert_int_equal(cg_os.leaf_holds(cg_os.ctx, id, &inside, &cg_error), PP_E_STALE);
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(name, cg_set_up, cg_tear_down)
    const struct CMUnitTest tests[] = {
        T(figures_without_a_controller_are_unsupported),
        T(figures_of_enabled_controllers_are_read),
        T(a_figure_that_cannot_be_read_is_missing_and_the_others_stay),
        T(clocks_are_not_asked_while_the_leaf_shows_that_nobody_in_it_ran),
        T(its_list_is_whole_or_no_list),
        T(emptiness_is_read_and_never_assumed),
        T(a_kill_is_one_byte_and_its_failure_is_told),
        T(an_older_kernel_has_no_kill),
        T(who_is_inside_is_told_by_number_or_else_by_path),
    };
    return cmocka_run_group_tests_name("linux_cgroup_read", tests, NULL, NULL);
}
#else
int main(void) {
    return 77; /* skipped: Linux only */
}
#endif
