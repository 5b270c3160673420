/* SPDX-License-Identifier: Apache-2.0 */
/* Starts, exits, reaping and signals over a scripted macOS. proves: GRP-1 GRP-6 GRP-7 GRP-11 */
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

static pp_status observe(pp_proc_id id, pp_exit *ret_exit) {
    return os.observe_exit(os.ctx, id, ret_exit, &err);
}

static void living_child_has_not_exited(void **state) {
    (void)state;
    pp_proc_id id = dk_id(dk_add(&kernel, 700));
    pp_exit how;
    assert_int_equal(observe(id, &how), PP_E_AGAIN);
}

/* proves: GRP-1 */
static void observing_an_exit_does_not_reap(void **state) {
    (void)state;
    dk_proc *app = dk_add(&kernel, 700);
    app->user_ticks = 24;
    app->child_user_ticks = 48;
    dk_exit(app, PP_DW_CLD_EXITED, 3);
    pp_exit how;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(observe(dk_id(app), &how), PP_OK);
        assert_int_equal(how.code, 3);
        assert_true(how.cpu_ns.known && how.cpu_ns.value == 3000); /* own and waited-for */
    }
    assert_int_equal(app->phase, DK_ZOMBIE);
}

static void exit_whose_usage_is_denied_has_no_cpu_figure(void **state) {
    (void)state;
    dk_proc *sudo = dk_add(&kernel, 700);
    sudo->foreign = true;
    dk_exit(sudo, PP_DW_CLD_EXITED, 0);
    pp_exit how;
    assert_int_equal(observe(dk_id(sudo), &how), PP_OK);
    assert_false(how.cpu_ns.known);
    assert_int_equal(how.cpu_ns.why, PP_E_DENIED);
}

static void stop_reported_again_and_again_is_no_exit(void **state) {
    (void)state;
    dk_proc *app = dk_add(&kernel, 700);
    app->phase = DK_STOPPED;
    pp_exit how;
    for (int i = 0; i < 5; i++)
        assert_int_equal(observe(dk_id(app), &how), PP_E_AGAIN);
    dk_exit(app, PP_DW_CLD_KILLED, SIGKILL);
    assert_int_equal(observe(dk_id(app), &how), PP_OK);
    assert_true(how.by_signal);
    assert_int_equal(how.signal_number, SIGKILL);
}

static void interrupted_wait_is_repeated(void **state) {
    (void)state;
    dk_proc *app = dk_add(&kernel, 700);
    dk_exit(app, PP_DW_CLD_EXITED, 0);
    dk_fail(&kernel, DK_WAITID, 1, EINTR);
    pp_exit how;
    assert_int_equal(observe(dk_id(app), &how), PP_OK);
    dk_fail(&kernel, DK_WAITID, 0, EINTR);
    assert_int_equal(observe(dk_id(app), &how), PP_E_SYS);
}

/* ECHILD while a debugger borrows the child is no proof of an exit. */
static void child_borrowed_by_a_debugger_lives(void **state) {
    (void)state;
    dk_proc *app = dk_add(&kernel, 700);
    app->borrowed = true;
    pp_exit how;
    assert_int_equal(observe(dk_id(app), &how), PP_E_AGAIN);
    assert_int_equal(err.sys_errno, ECHILD);
    app->borrowed = false;
    dk_exit(app, PP_DW_CLD_EXITED, 0);
    assert_int_equal(observe(dk_id(app), &how), PP_OK);
}

/* proves: GRP-7 */
static void child_reaped_by_somebody_else_has_vanished(void **state) {
    (void)state;
    dk_proc *app = dk_add(&kernel, 700);
    pp_proc_id id = dk_id(app);
    app->phase = DK_REAPED;
    pp_exit how;
    assert_int_equal(observe(id, &how), PP_E_VANISHED);
    dk_add(&kernel, 700)->start_us += 5; /* the number is another child's now */
    assert_int_equal(observe(id, &how), PP_E_VANISHED);
    dk_exit(dk_find(&kernel, 700), PP_DW_CLD_EXITED, 9);
    assert_int_equal(observe(id, &how), PP_E_VANISHED);
}

static void echild_with_an_unreadable_process_proves_nothing(void **state) {
    (void)state;
    dk_proc *app = dk_add(&kernel, 700);
    app->borrowed = true;
    dk_fail(&kernel, DK_SYSCTL, 1, EPERM);
    pp_exit how;
    assert_int_equal(observe(dk_id(app), &how), PP_E_DENIED);
}

static void wait_that_answers_about_another_child_is_malformed(void **state) {
    (void)state;
    dk_proc *app = dk_add(&kernel, 700);
    dk_exit(app, PP_DW_CLD_EXITED, 0);
    kernel.wrong_child = 701;
    pp_exit how;
    assert_int_equal(observe(dk_id(app), &how), PP_E_MALFORMED);
}

static void reaping_takes_exactly_the_exited_child(void **state) {
    (void)state;
    dk_proc *app = dk_add(&kernel, 700);
    app->user_ticks = 24;
    dk_exit(app, PP_DW_CLD_EXITED, 4);
    pp_exit how;
    pp_reading written;
    assert_int_equal(os.reap(os.ctx, dk_id(app), &how, &written, &err), PP_OK);
    assert_int_equal(how.code, 4);
    assert_true(how.cpu_ns.known && how.cpu_ns.value == 1000); /* read before the reap */
    assert_false(written.known);
    assert_int_equal(written.why, PP_E_UNSUPPORTED);
    assert_int_equal(app->phase, DK_REAPED);
}

static void reaping_does_not_touch_a_living_or_stopped_child(void **state) {
    (void)state;
    dk_proc *app = dk_add(&kernel, 700);
    pp_exit how;
    pp_reading written;
    assert_int_equal(os.reap(os.ctx, dk_id(app), &how, &written, &err), PP_E_AGAIN);
    app->phase = DK_STOPPED;
    assert_int_equal(os.reap(os.ctx, dk_id(app), &how, &written, &err), PP_E_AGAIN);
    assert_int_equal(kernel.calls[DK_WAITID], 2); /* both only looked */
}

static void reaping_refuses_the_numbers_next_owner(void **state) {
    (void)state;
    dk_proc *other = dk_add(&kernel, 700);
    dk_exit(other, PP_DW_CLD_EXITED, 0);
    pp_proc_id old = { .pid = 700, .start = other->start_us - 1 };
    pp_exit how;
    pp_reading written;
    assert_int_equal(os.reap(os.ctx, old, &how, &written, &err), PP_E_VANISHED);
    assert_int_equal(other->phase, DK_ZOMBIE);
}

static void childlessness_proves_nothing_here(void **state) {
    (void)state;
    assert_int_equal(os.no_children_left(os.ctx, &err), PP_E_UNSUPPORTED);
    assert_false(os.adopts);
}

/* proves: GRP-11 */
static void signal_goes_to_the_validated_process_alone(void **state) {
    (void)state;
    pp_proc_id id = dk_id(dk_add(&kernel, 700));
    assert_int_equal(os.signal(os.ctx, id, SIGTERM, &err), PP_OK);
    assert_int_equal(kernel.kill_count, 1);
    assert_int_equal(kernel.kills[0].target, 700);
    assert_int_equal(kernel.kills[0].signal_number, SIGTERM);
}

static void reused_or_unreadable_number_is_not_signalled(void **state) {
    (void)state;
    dk_proc *app = dk_add(&kernel, 700);
    pp_proc_id old = dk_id(app);
    app->start_us++;
    assert_int_equal(os.signal(os.ctx, old, SIGKILL, &err), PP_E_STALE);
    assert_int_equal(os.signal_group(os.ctx, old, SIGKILL, &err), PP_E_STALE);
    dk_fail(&kernel, DK_SYSCTL, 1, EPERM);
    assert_int_equal(os.signal(os.ctx, dk_id(app), SIGKILL, &err), PP_E_DENIED);
    assert_int_equal(kernel.kill_count, 0);
}

static void nothing_is_sent_to_one_and_below(void **state) {
    (void)state;
    const int32_t pids[] = { 1, 0, -1, -700 };
    for (size_t i = 0; i < 4; i++) {
        pp_proc_id id = { .pid = pids[i], .start = 1 };
        assert_int_equal(os.signal(os.ctx, id, SIGKILL, &err), PP_E_INVALID);
        assert_int_equal(os.signal_group(os.ctx, id, SIGKILL, &err), PP_E_INVALID);
    }
    assert_int_equal(kernel.kill_count, 0);
}

static void group_of_a_pinned_zombie_is_signalled(void **state) {
    (void)state;
    dk_proc *app = dk_add(&kernel, 700);
    dk_add(&kernel, 701)->pgid = 700;
    dk_exit(app, PP_DW_CLD_EXITED, 0);
    assert_int_equal(os.signal_group(os.ctx, dk_id(app), SIGKILL, &err), PP_OK);
    assert_int_equal(kernel.kill_count, 1);
    assert_int_equal(kernel.kills[0].target, -700);
}

/* proves: GRP-4 GRP-6 */
static void group_of_exited_members_is_asked_first_and_not_signalled(void **state) {
    (void)state;
    dk_proc *app = dk_add(&kernel, 700);
    dk_exit(app, PP_DW_CLD_EXITED, 0);
    assert_int_equal(os.signal_group(os.ctx, dk_id(app), SIGKILL, &err), PP_E_VANISHED);
    dk_add(&kernel, 701)->pgid = 700;
    dk_find(&kernel, 701)->phase = DK_EXITING; /* listed without SZOMB, yet past signals */
    assert_int_equal(os.signal_group(os.ctx, dk_id(app), SIGKILL, &err), PP_E_VANISHED);
    assert_int_equal(kernel.kill_count, 0);
}

static void begin_exit_701(dk *k) {
    dk_find(k, 701)->phase = DK_EXITING;
}

static void refusal_after_the_question_is_denied_never_success(void **state) {
    (void)state;
    dk_proc *app = dk_add(&kernel, 700);
    dk_add(&kernel, 701)->pgid = 700;
    dk_exit(app, PP_DW_CLD_EXITED, 0);
    dk_before(&kernel, DK_KILL, 1, begin_exit_701);
    assert_int_equal(os.signal_group(os.ctx, dk_id(app), SIGKILL, &err), PP_E_DENIED);
    assert_int_equal(err.sys_errno, EPERM);
}

static void group_with_one_foreign_live_member_is_denied(void **state) {
    (void)state;
    dk_proc *app = dk_add(&kernel, 700);
    dk_add(&kernel, 701)->pgid = 700;
    dk_find(&kernel, 701)->foreign = true;
    dk_exit(app, PP_DW_CLD_EXITED, 0);
    assert_int_equal(os.signal_group(os.ctx, dk_id(app), SIGKILL, &err), PP_E_DENIED);
}

static void unreadable_membership_does_not_hold_the_signal_back(void **state) {
    (void)state;
    dk_proc *app = dk_add(&kernel, 700);
    dk_fail(&kernel, DK_SYSCTL, 1, EPERM);
    assert_int_equal(os.signal_group(os.ctx, dk_id(app), SIGKILL, &err), PP_OK);
    assert_int_equal(kernel.kills[0].target, -700);
}

/* proves: GRP-7 */
static void group_of_a_reaped_leader_is_never_signalled(void **state) {
    (void)state;
    dk_proc *app = dk_add(&kernel, 700);
    dk_add(&kernel, 701)->pgid = 700;
    app->phase = DK_REAPED;
    assert_int_equal(os.signal_group(os.ctx, dk_id(app), SIGKILL, &err), PP_E_VANISHED);
    assert_int_equal(kernel.kill_count, 0);
}

static void process_gone_before_the_signal_has_vanished(void **state) {
    (void)state;
    pp_proc_id id = dk_id(dk_add(&kernel, 700));
    dk_fail(&kernel, DK_KILL, 1, ESRCH);
    assert_int_equal(os.signal(os.ctx, id, SIGTERM, &err), PP_E_VANISHED);
}

static char *const no_strings[] = { NULL };

static pp_command command(void) {
    return (pp_command){
        .path = "/bin/app",
        .argv = no_strings,
        .envp = no_strings,
        .cwd = "/home/run",
    };
}

static pp_status spawn(pp_proc_id *ret_id) {
    const pp_command what = command();
    return os.spawn(os.ctx, &what, ret_id, &err);
}

static void add_700(dk *k) {
    dk_add(k, 700);
}

static void start_yields_an_identity(void **state) {
    (void)state;
    dk_before(&kernel, DK_SPAWN, 1, add_700);
    pp_proc_id id;
    assert_int_equal(spawn(&id), PP_OK);
    assert_int_equal(id.pid, 700);
    assert_true(id.start == dk_find(&kernel, 700)->start_us);
}

static void a_command_that_is_to_be_confined_is_not_started(void **state) {
    (void)state;
    dk_before(&kernel, DK_SPAWN, 1, add_700);
    const char *const nowhere[] = { NULL };
    pp_command what = command();
    pp_proc_id id;
    what.writable = nowhere;
    assert_int_equal(os.spawn(os.ctx, &what, &id, &err), PP_E_UNSUPPORTED);
    assert_null(dk_find(&kernel, 700));
}

static void add_zombie_700(dk *k) {
    dk_exit(dk_add(k, 700), PP_DW_CLD_EXITED, 1);
}

static void child_gone_before_its_first_read_still_has_an_identity(void **state) {
    (void)state;
    dk_before(&kernel, DK_SPAWN, 1, add_zombie_700);
    pp_proc_id id;
    pp_exit how;
    assert_int_equal(spawn(&id), PP_OK);
    assert_int_equal(observe(id, &how), PP_OK);
    assert_int_equal(how.code, 1);
}

/* proves: BOX-7 */
static void failed_start_names_step_errno_and_path(void **state) {
    (void)state;
    pp_proc_id id;
    kernel.spawn_step = "execve";
    dk_fail(&kernel, DK_SPAWN, 1, ENOENT);
    assert_int_equal(spawn(&id), PP_E_SYS);
    assert_string_equal(err.op, "execve");
    assert_int_equal(err.sys_errno, ENOENT);
    assert_string_equal(err.detail, "/bin/app");
    kernel.spawn_step = "chdir";
    dk_fail(&kernel, DK_SPAWN, 1, EACCES);
    assert_int_equal(spawn(&id), PP_E_SYS);
    assert_string_equal(err.op, "chdir");
    assert_string_equal(err.detail, "/home/run");
}

static void die_700(dk *k) {
    dk_exit(dk_find(k, 700), PP_DW_CLD_KILLED, SIGKILL);
}

static void child_without_a_readable_identity_is_killed_and_reaped(void **state) {
    (void)state;
    dk_before(&kernel, DK_SPAWN, 1, add_700);
    dk_before(&kernel, DK_KILL, 1, die_700);
    dk_fail(&kernel, DK_SYSCTL, 1, EPERM);
    pp_proc_id id;
    assert_int_equal(spawn(&id), PP_E_DENIED);
    assert_int_equal(kernel.kill_count, 1);
    assert_int_equal(kernel.kills[0].signal_number, SIGKILL);
    assert_null(dk_find(&kernel, 700));
}

#define T(name) cmocka_unit_test_setup_teardown(name, boot, halt)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(living_child_has_not_exited),
        T(observing_an_exit_does_not_reap),
        T(exit_whose_usage_is_denied_has_no_cpu_figure),
        T(stop_reported_again_and_again_is_no_exit),
        T(interrupted_wait_is_repeated),
        T(child_borrowed_by_a_debugger_lives),
        T(child_reaped_by_somebody_else_has_vanished),
        T(echild_with_an_unreadable_process_proves_nothing),
        T(wait_that_answers_about_another_child_is_malformed),
        T(reaping_takes_exactly_the_exited_child),
        T(reaping_does_not_touch_a_living_or_stopped_child),
        T(reaping_refuses_the_numbers_next_owner),
        T(childlessness_proves_nothing_here),
        T(signal_goes_to_the_validated_process_alone),
        T(reused_or_unreadable_number_is_not_signalled),
        T(nothing_is_sent_to_one_and_below),
        T(group_of_a_pinned_zombie_is_signalled),
        T(group_of_exited_members_is_asked_first_and_not_signalled),
        T(refusal_after_the_question_is_denied_never_success),
        T(group_with_one_foreign_live_member_is_denied),
        T(unreadable_membership_does_not_hold_the_signal_back),
        T(group_of_a_reaped_leader_is_never_signalled),
        T(process_gone_before_the_signal_has_vanished),
        T(start_yields_an_identity),
        T(a_command_that_is_to_be_confined_is_not_started),
        T(child_gone_before_its_first_read_still_has_an_identity),
        T(failed_start_names_step_errno_and_path),
        T(child_without_a_readable_identity_is_killed_and_reaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
