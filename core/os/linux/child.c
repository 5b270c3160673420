/* SPDX-License-Identifier: Apache-2.0 */
/* Between fork and exec: only async-signal-safe calls, no memory, no locks. Whatever fails is
 * written to the report pipe as (step, errno); exec closes that pipe, so an empty pipe means that
 * the command runs. The command starts with default dispositions and an empty mask, and with the
 * limits that we were started with. */
#include "internal.h"

#include <errno.h>
#include <limits.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FIRST_PRIVATE_FD = STDERR_FILENO + 1, EXIT_NOT_STARTED = 127 };

static const char *const step_names[PP_LINUX_STEP_COUNT] = {
    [PP_LINUX_STEP_SETPGID] = "setpgid",
    [PP_LINUX_STEP_PDEATHSIG] = "prctl",
    [PP_LINUX_STEP_GETPPID] = "getppid",
    [PP_LINUX_STEP_TCSETPGRP] = "tcsetpgrp",
    [PP_LINUX_STEP_DUP2] = "dup2",
    [PP_LINUX_STEP_CHDIR] = "chdir",
    [PP_LINUX_STEP_SETRLIMIT] = "setrlimit",
    [PP_LINUX_STEP_CLOSE_RANGE] = "close_range",
    [PP_LINUX_STEP_SIGPROCMASK] = "sigprocmask",
    [PP_LINUX_STEP_LANDLOCK] = "landlock_restrict_self",
    [PP_LINUX_STEP_EXECVE] = "execve",
};

const char *pp__linux_step_name(int step) {
    return step > 0 && step < PP_LINUX_STEP_COUNT ? step_names[step] : "spawn";
}

static _Noreturn void give_up(const pp_linux_child_plan *plan, pp_linux_step step, int sys_errno) {
    pp_linux_child_failure failure = { .step = (int)step, .sys_errno = sys_errno };
    ssize_t wrote = write(plan->report_fd, &failure, sizeof failure);
    (void)wrote; /* nobody is left to be told */
    _exit(EXIT_NOT_STARTED);
}

static void must(const pp_linux_child_plan *plan, pp_linux_step step, long result) {
    if (result < 0)
        give_up(plan, step, errno);
}

/* By the kernel's own call: the C library refuses to touch the two signals that it keeps for
 * itself, and its posix_spawn, which started us, left those ignored. SIGKILL and SIGSTOP are
 * refused; that is fine. */
static void default_dispositions(void) {
    static const unsigned long all_default[8]; /* SIG_DFL, no flag, empty mask */
    enum { MASK_BYTES = 8 };
    for (int number = 1; number < NSIG; number++)
        (void)syscall(SYS_rt_sigaction, number, all_default, NULL, MASK_BYTES);
}

_Noreturn void pp__linux_child(const pp_linux_child_plan *plan) {
    must(plan, PP_LINUX_STEP_SETPGID, setpgid(0, 0));
    must(plan, PP_LINUX_STEP_PDEATHSIG, prctl(PR_SET_PDEATHSIG, SIGKILL, 0UL, 0UL, 0UL));
    if (getppid() != plan->parent) /* it died before the line above */
        give_up(plan, PP_LINUX_STEP_GETPPID, ESRCH);
    if (plan->take_terminal) /* SIGTTOU is still ignored */
        must(plan, PP_LINUX_STEP_TCSETPGRP, tcsetpgrp(STDIN_FILENO, getpid()));
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (plan->stdio[fd] >= 0)
            must(plan, PP_LINUX_STEP_DUP2, dup2(plan->stdio[fd], fd));
    must(plan, PP_LINUX_STEP_CHDIR, chdir(plan->command->cwd));
    must(plan, PP_LINUX_STEP_SETRLIMIT, setrlimit(RLIMIT_NOFILE, &plan->nofile));
    must(plan, PP_LINUX_STEP_CLOSE_RANGE,
         syscall(SYS_close_range, FIRST_PRIVATE_FD, UINT_MAX, CLOSE_RANGE_CLOEXEC));

    sigset_t none;
    sigemptyset(&none);
    default_dispositions();
    must(plan, PP_LINUX_STEP_SIGPROCMASK, sigprocmask(SIG_SETMASK, &none, NULL));
    if (plan->rules_fd >= 0) {
        int result = pp__linux_landlock_enter(plan->rules_fd);
        if (result < 0)
            give_up(plan, PP_LINUX_STEP_LANDLOCK, -result);
    }
    execve(plan->command->path, plan->command->argv, plan->command->envp);
    give_up(plan, PP_LINUX_STEP_EXECVE, errno);
}
