/* SPDX-License-Identifier: Apache-2.0 */
/* Identities and counters over a scripted macOS. proves: TRK-1 GRP-3
 * proves on macOS: SMP-1 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "darwin/darwin_abi.h"
#include "darwin_fixture.h"

static pp_status identify(int32_t pid, pp_proc_info *ret_info) {
    return os.identify(os.ctx, pid, ret_info, &err);
}

static pp_status usage_of(pp_proc_id id, pp_usage *ret_usage) {
    return os.usage(os.ctx, id, true, ret_usage, &err);
}

static void identity_is_pid_and_start_in_microseconds(void **state) {
    (void)state;
    dk_proc *app = dk_add(&kernel, 700);
    app->ppid = 1;
    app->pgid = 650;
    pp_proc_info info;
    assert_int_equal(identify(700, &info), PP_OK);
    assert_int_equal(info.id.pid, 700);
    assert_true(info.id.start == app->start_us);
    assert_true(info.id.unique == 0);
    assert_int_equal(info.ppid, 1);
    assert_int_equal(info.pgid, 650);
    assert_int_equal(info.sid, DK_SELF);
    assert_int_equal(info.phase, PP_PHASE_ALIVE);
    assert_string_equal(info.exe, app->path);
}

/* Started 100 s after the boot by a clock that was 50 s behind the one that counts sleep. */
static void start_is_on_the_clock_that_counts_sleep(void **state) {
    (void)state;
    dk_add(&kernel, 700);
    pp_proc_info info;
    assert_int_equal(identify(700, &info), PP_OK);
    assert_true(info.start_ns == UINT64_C(150000000000));
}

static void B02_wall_clock_stepped_back_gives_no_start_in_the_future(void **state) {
    (void)state;
    dk_proc *app = dk_add(&kernel, 700);
    app->start_ticks = 0; /* the kernel does not say */
    kernel.wall_ns = (int64_t)app->start_us * 1000 - 5000000000;
    pp_proc_info info;
    assert_int_equal(identify(700, &info), PP_OK);
    assert_true(info.id.start == app->start_us);
    assert_true(info.start_ns == (uint64_t)kernel.cont_ns);
}

static void wall_clock_decides_where_ticks_are_denied(void **state) {
    (void)state;
    dk_proc *sudo = dk_add(&kernel, 700);
    sudo->foreign = true;
    kernel.wall_ns = (int64_t)sudo->start_us * 1000 + 4000000000; /* 4 s old */
    pp_proc_info info;
    assert_int_equal(identify(700, &info), PP_OK);
    assert_true(info.start_ns == UINT64_C(246000000000));
}

/* proves: TRK-1 */
static void set_user_id_child_has_an_identity_but_no_counters(void **state) {
    (void)state;
    dk_proc *sudo = dk_add(&kernel, 700);
    sudo->foreign = true;
    pp_proc_info info;
    pp_usage usage;
    assert_int_equal(identify(700, &info), PP_OK);
    assert_true(info.id.start == sudo->start_us);
    assert_int_equal(usage_of(info.id, &usage), PP_E_DENIED);
    assert_int_equal(err.sys_errno, EPERM);
}

static void absent_process_has_vanished(void **state) {
    (void)state;
    pp_proc_info info;
    assert_int_equal(identify(700, &info), PP_E_VANISHED);
    pp_usage usage;
    assert_int_equal(usage_of((pp_proc_id){ .pid = 700, .start = 1 }, &usage), PP_E_VANISHED);
}

static void nobody_has_a_number_below_one(void **state) {
    (void)state;
    pp_proc_info info;
    assert_int_equal(identify(0, &info), PP_E_INVALID);
    assert_int_equal(identify(-700, &info), PP_E_INVALID);
    assert_int_equal(kernel.calls[DK_SYSCTL], 0);
}

static void reuse_number_of_700(dk *k) {
    dk_find(k, 700)->start_us += 1; /* the same second, another microsecond */
}

/* proves: TRK-1 TRK-8 */
static void number_reused_between_two_reads_is_stale(void **state) {
    (void)state;
    dk_add(&kernel, 700);
    dk_before(&kernel, DK_PIDINFO, 1, reuse_number_of_700);
    pp_proc_info info;
    assert_int_equal(identify(700, &info), PP_E_STALE);
}

static void number_reused_since_last_seen_is_stale(void **state) {
    (void)state;
    pp_proc_id old = dk_id(dk_add(&kernel, 700));
    reuse_number_of_700(&kernel);
    pp_proc_info info;
    assert_int_equal(os.inspect(os.ctx, old, &info, &err), PP_E_STALE);
    assert_int_equal(os.inspect(os.ctx, dk_id(dk_find(&kernel, 700)), &info, &err), PP_OK);
}

/* proves: TRK-8 SMP-6 */
static void counters_of_the_numbers_next_owner_are_not_given(void **state) {
    (void)state;
    dk_proc *app = dk_add(&kernel, 700);
    app->user_ticks = 77;
    pp_proc_id old = dk_id(app);
    dk_before(&kernel, DK_RUSAGE, 1, reuse_number_of_700);
    pp_usage usage = { 0 };
    assert_int_equal(usage_of(old, &usage), PP_E_STALE);
    assert_false(usage.cpu_ns.known);
}

static void deny_700(dk *k) {
    dk_find(k, 700)->foreign = true;
    reuse_number_of_700(k);
}

static void refusal_by_the_numbers_next_owner_is_stale_not_denied(void **state) {
    (void)state;
    pp_proc_id old = dk_id(dk_add(&kernel, 700));
    dk_before(&kernel, DK_RUSAGE, 1, deny_700);
    pp_usage usage;
    assert_int_equal(usage_of(old, &usage), PP_E_STALE);
}

static void reap_700(dk *k) {
    dk_proc *app = dk_find(k, 700);
    if (app != NULL)
        app->phase = DK_REAPED;
}

static void process_gone_after_its_counters_gives_none(void **state) {
    (void)state;
    pp_proc_id id = dk_id(dk_add(&kernel, 700));
    dk_before(&kernel, DK_SYSCTL, 1, reap_700);
    pp_usage usage;
    assert_int_equal(usage_of(id, &usage), PP_E_VANISHED);
}

/* proves: TRK-7 GRP-1 */
static void zombie_keeps_identity_group_and_path(void **state) {
    (void)state;
    dk_proc *app = dk_add(&kernel, 700);
    pp_proc_info info;
    assert_int_equal(identify(700, &info), PP_OK);
    dk_exit(app, PP_DW_CLD_EXITED, 0);
    assert_int_equal(os.inspect(os.ctx, info.id, &info, &err), PP_OK);
    assert_int_equal(info.phase, PP_PHASE_ZOMBIE);
    assert_int_equal(info.pgid, 700);
    assert_int_equal(info.sid, DK_SELF); /* as last readable */
    assert_string_equal(info.exe, app->path);
}

static void zombie_never_seen_alive_has_a_name_in_brackets(void **state) {
    (void)state;
    dk_exit(dk_add(&kernel, 700), PP_DW_CLD_EXITED, 0);
    pp_proc_info info;
    assert_int_equal(identify(700, &info), PP_OK);
    assert_int_equal(info.phase, PP_PHASE_ZOMBIE);
    assert_string_equal(info.exe, "[PAIR]");
}

static void exiting_process_counts_as_zombie(void **state) {
    (void)state;
    dk_add(&kernel, 700)->phase = DK_EXITING;
    pp_proc_info info;
    assert_int_equal(identify(700, &info), PP_OK);
    assert_int_equal(info.phase, PP_PHASE_ZOMBIE);
}

static void replaced_executable_keeps_its_first_path(void **state) {
    (void)state;
    dk_proc *app = dk_add(&kernel, 700);
    const char *first = app->path;
    pp_proc_info info;
    assert_int_equal(identify(700, &info), PP_OK);
    app->path = NULL; /* unlinked: ENOENT for a living process */
    assert_int_equal(identify(700, &info), PP_OK);
    assert_int_equal(info.phase, PP_PHASE_ALIVE);
    assert_string_equal(info.exe, first);
    app->path = "/tmp/update/PAIR"; /* moved by its updater, under the same name */
    assert_int_equal(identify(700, &info), PP_OK);
    assert_string_equal(info.exe, first);
}

static void exec_of_another_program_is_seen(void **state) {
    (void)state;
    dk_proc *app = dk_add(&kernel, 700);
    pp_proc_info info;
    assert_int_equal(identify(700, &info), PP_OK);
    app->path = "/usr/sbin/ioreg";
    memcpy(app->name, "ioreg", sizeof "ioreg");
    assert_int_equal(identify(700, &info), PP_OK);
    assert_string_equal(info.exe, "/usr/sbin/ioreg");
}

static void old_path_is_not_kept_for_another_program(void **state) {
    (void)state;
    dk_proc *app = dk_add(&kernel, 700);
    pp_proc_info info;
    assert_int_equal(identify(700, &info), PP_OK);
    app->path = NULL;
    memcpy(app->name, "ioreg", sizeof "ioreg");
    assert_int_equal(identify(700, &info), PP_OK);
    assert_string_equal(info.exe, "[ioreg]");
}

static void living_process_without_a_path_is_asked_again(void **state) {
    (void)state;
    dk_proc *app = dk_add(&kernel, 700);
    dk_fail(&kernel, DK_PIDPATH, 1, ESRCH);
    pp_proc_info info;
    assert_int_equal(identify(700, &info), PP_OK);
    assert_string_equal(info.exe, "[PAIR]");
    assert_int_equal(identify(700, &info), PP_OK);
    assert_string_equal(info.exe, app->path);
}

static void nothing_is_remembered_for_the_numbers_next_owner(void **state) {
    (void)state;
    dk_proc *app = dk_add(&kernel, 700);
    pp_proc_info info;
    assert_int_equal(identify(700, &info), PP_OK);
    reuse_number_of_700(&kernel);
    app->path = NULL;
    assert_int_equal(identify(700, &info), PP_OK);
    assert_string_equal(info.exe, "[PAIR]");
}

static void forgotten_identity_leaves_no_path_behind(void **state) {
    (void)state;
    dk_proc *app = dk_add(&kernel, 700);
    pp_proc_info info;
    assert_int_equal(identify(700, &info), PP_OK);
    os.forget(os.ctx, (pp_proc_id){ .pid = 700, .start = 1 }); /* somebody else: no effect */
    app->path = NULL;
    assert_int_equal(identify(700, &info), PP_OK);
    assert_string_equal(info.exe, "/Applications/PAIR.app/Contents/MacOS/PAIR");
    os.forget(os.ctx, info.id);
    assert_int_equal(identify(700, &info), PP_OK);
    assert_string_equal(info.exe, "[PAIR]");
}

/* With argument 0 TBSDINFO answers ESRCH from the moment an exit begins. */
static void bsdinfo_is_asked_in_the_form_that_sees_zombies(void **state) {
    (void)state;
    dk_exit(dk_add(&kernel, 700), PP_DW_CLD_EXITED, 0);
    pp_dw_seen seen;
    assert_int_equal(pp__dw_bsdinfo(&darwin, 700, &seen, &err), PP_OK);
    assert_int_equal(seen.phase, PP_PHASE_ZOMBIE);
}

static void short_bsdinfo_is_malformed(void **state) {
    (void)state;
    dk_add(&kernel, 700);
    kernel.short_by = 4;
    pp_proc_info info;
    assert_int_equal(identify(700, &info), PP_E_MALFORMED);
}

static void bsdinfo_errors_are_typed(void **state) {
    (void)state;
    dk_add(&kernel, 700);
    pp_proc_info info;
    dk_fail(&kernel, DK_PIDINFO, 1, ENOMEM);
    assert_int_equal(identify(700, &info), PP_E_SYS);
    assert_int_equal(err.sys_errno, ENOMEM);
    dk_fail(&kernel, DK_PIDINFO, 1, ESRCH);
    assert_int_equal(identify(700, &info), PP_E_VANISHED);
    dk_fail(&kernel, DK_PIDINFO, 1, EINTR);
    assert_int_equal(identify(700, &info), PP_OK); /* asked again */
}

static void kern_proc_errors_are_typed(void **state) {
    (void)state;
    dk_add(&kernel, 700);
    pp_proc_info info;
    dk_fail(&kernel, DK_SYSCTL, 1, EPERM);
    assert_int_equal(identify(700, &info), PP_E_DENIED);
    dk_fail(&kernel, DK_SYSCTL, 1, EINTR);
    assert_int_equal(identify(700, &info), PP_OK); /* asked again */
    dk_fail(&kernel, DK_SYSCTL, 0, EINTR);
    assert_int_equal(identify(700, &info), PP_E_SYS); /* but not for ever */
    assert_int_equal(err.sys_errno, EINTR);
}

static void kinfo_record_of_another_size_is_malformed(void **state) {
    (void)state;
    dk_add(&kernel, 700);
    pp_proc_info info;
    kernel.record_size = PP_DW_KINFO_SIZE + 8; /* does not fit: ENOMEM, length 0 */
    assert_int_equal(identify(700, &info), PP_E_MALFORMED);
    kernel.record_size = PP_DW_KINFO_SIZE - 8;
    assert_int_equal(identify(700, &info), PP_E_MALFORMED);
}

static void usage_of_a_living_process_is_complete(void **state) {
    (void)state;
    dk_proc *app = dk_add(&kernel, 700);
    app->user_ticks = 24000000;
    app->footprint = 5000;
    app->disk_written = 600;
    pp_usage usage;
    assert_int_equal(usage_of(dk_id(app), &usage), PP_OK);
    assert_true(usage.cpu_ns.known && usage.cpu_ns.value == 1000000000);
    assert_true(usage.footprint_bytes.known && usage.footprint_bytes.value == 5000);
    assert_true(usage.write_bytes.known && usage.write_bytes.value == 600);
    assert_true(usage.threads.known && usage.threads.value == 3);
}

/* proves: TRK-7 */
static void usage_of_a_zombie_is_final_but_has_no_memory(void **state) {
    (void)state;
    dk_proc *app = dk_add(&kernel, 700);
    app->user_ticks = 24000000;
    app->footprint = 5000;
    dk_exit(app, PP_DW_CLD_EXITED, 0);
    pp_usage usage;
    assert_int_equal(usage_of(dk_id(app), &usage), PP_OK);
    assert_true(usage.cpu_ns.known && usage.cpu_ns.value == 1000000000);
    assert_false(usage.footprint_bytes.known);
    assert_int_equal(usage.footprint_bytes.why, PP_E_VANISHED);
    assert_false(usage.threads.known);
    assert_int_equal(usage.threads.why, PP_E_VANISHED);
}

static void exit_stamp_on_a_listed_process_hides_its_footprint(void **state) {
    (void)state;
    dk_proc *app = dk_add(&kernel, 700);
    app->footprint = 5000;
    app->exit_stamp_early = true;
    pp_usage usage;
    assert_int_equal(usage_of(dk_id(app), &usage), PP_OK);
    assert_false(usage.footprint_bytes.known);
}

static void old_kernel_gets_the_v4_record_and_is_not_asked_again(void **state) {
    (void)state;
    dk_proc *app = dk_add(&kernel, 700);
    app->logical_writes = 9;
    kernel.max_rusage_version = 4;
    pp_usage usage;
    assert_int_equal(usage_of(dk_id(app), &usage), PP_OK);
    assert_true(usage.logical_write_bytes.known && usage.logical_write_bytes.value == 9);
    assert_int_equal(kernel.calls[DK_RUSAGE], 2);
    assert_int_equal(usage_of(dk_id(app), &usage), PP_OK);
    assert_int_equal(kernel.calls[DK_RUSAGE], 3);
}

static void oldest_kernel_still_gives_cpu(void **state) {
    (void)state;
    dk_proc *app = dk_add(&kernel, 700);
    app->user_ticks = 24;
    kernel.max_rusage_version = 0;
    pp_usage usage;
    assert_int_equal(usage_of(dk_id(app), &usage), PP_OK);
    assert_true(usage.cpu_ns.known && usage.cpu_ns.value == 1000);
    assert_int_equal(usage.write_bytes.why, PP_E_UNSUPPORTED);
}

static void rusage_that_no_version_answers_is_unsupported(void **state) {
    (void)state;
    pp_proc_id id = dk_id(dk_add(&kernel, 700));
    dk_fail(&kernel, DK_RUSAGE, 0, EINVAL);
    pp_usage usage;
    assert_int_equal(usage_of(id, &usage), PP_E_UNSUPPORTED);
}

static void denied_threads_leave_the_other_counters(void **state) {
    (void)state;
    pp_proc_id id = dk_id(dk_add(&kernel, 700));
    dk_fail(&kernel, DK_PIDINFO, 1, EPERM);
    pp_usage usage;
    assert_int_equal(usage_of(id, &usage), PP_OK);
    assert_true(usage.cpu_ns.known);
    assert_false(usage.threads.known);
    assert_int_equal(usage.threads.why, PP_E_DENIED);
}

/* proves: SMP-8 */
static void own_cost_is_our_own_process(void **state) {
    (void)state;
    dk_find(&kernel, DK_SELF)->system_ticks = 24;
    dk_find(&kernel, DK_SELF)->resident = 8192;
    pp_reading cpu_ns, rss_bytes;
    assert_int_equal(os.own_cost(os.ctx, &cpu_ns, &rss_bytes, &err), PP_OK);
    assert_true(cpu_ns.known && cpu_ns.value == 1000);
    assert_true(rss_bytes.known && rss_bytes.value == 8192);
}

#define T(name) cmocka_unit_test_setup_teardown(name, boot, halt)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(identity_is_pid_and_start_in_microseconds),
        T(start_is_on_the_clock_that_counts_sleep),
        T(B02_wall_clock_stepped_back_gives_no_start_in_the_future),
        T(wall_clock_decides_where_ticks_are_denied),
        T(set_user_id_child_has_an_identity_but_no_counters),
        T(absent_process_has_vanished),
        T(nobody_has_a_number_below_one),
        T(number_reused_between_two_reads_is_stale),
        T(number_reused_since_last_seen_is_stale),
        T(counters_of_the_numbers_next_owner_are_not_given),
        T(refusal_by_the_numbers_next_owner_is_stale_not_denied),
        T(process_gone_after_its_counters_gives_none),
        T(zombie_keeps_identity_group_and_path),
        T(zombie_never_seen_alive_has_a_name_in_brackets),
        T(exiting_process_counts_as_zombie),
        T(replaced_executable_keeps_its_first_path),
        T(exec_of_another_program_is_seen),
        T(old_path_is_not_kept_for_another_program),
        T(living_process_without_a_path_is_asked_again),
        T(nothing_is_remembered_for_the_numbers_next_owner),
        T(forgotten_identity_leaves_no_path_behind),
        T(bsdinfo_is_asked_in_the_form_that_sees_zombies),
        T(short_bsdinfo_is_malformed),
        T(bsdinfo_errors_are_typed),
        T(kern_proc_errors_are_typed),
        T(kinfo_record_of_another_size_is_malformed),
        T(usage_of_a_living_process_is_complete),
        T(usage_of_a_zombie_is_final_but_has_no_memory),
        T(exit_stamp_on_a_listed_process_hides_its_footprint),
        T(old_kernel_gets_the_v4_record_and_is_not_asked_again),
        T(oldest_kernel_still_gives_cpu),
        T(rusage_that_no_version_answers_is_unsupported),
        T(denied_threads_leave_the_other_counters),
        T(own_cost_is_our_own_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
