/* SPDX-License-Identifier: Apache-2.0 */
/* A leader that was returned runs its command, or already ended after doing so. A leader that
 * could not be started is ended with all that it started, and reaped, before the failure is
 * returned, and its descriptors are closed on every path. */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifndef __WALL
#define __WALL 0x40000000
#endif

enum {
    START_TIMEOUT_MS = 10 * 1000,
    END_TIMEOUT_MS = 1000,
    END_PAUSE_MS = 5,
};

enum { READ_END, WRITE_END };

/* What spawn opened; -1 = not open. */
typedef struct channels {
    int null_fd;
    int rules_fd;
    int report[2];
    int out[2][2]; /* stdout, stderr: pipes */
    int file[2];   /* and where they are kept */
} channels;

static void close_all(const pp_linux_sys *sys, channels *fds) {
    pp__linux_close(sys, &fds->null_fd);
    pp__linux_close(sys, &fds->rules_fd);
    for (int i = 0; i < 2; i++) {
        pp__linux_close(sys, &fds->report[i]);
        pp__linux_close(sys, &fds->out[0][i]);
        pp__linux_close(sys, &fds->out[1][i]);
        pp__linux_close(sys, &fds->file[i]);
    }
}

/* Moves a descriptor out of the way of 0, 1 and 2, which the child overwrites. */
static int above_stdio(const pp_linux_sys *sys, int fd) {
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    int moved = sys->dup_above_stdio(fd);
    (void)sys->close(fd);
    return moved;
}

static pp_status open_pipe(const pp_linux_sys *sys, int ret_fds[2], pp_error *reterr) {
    int fds[2];
    int result = sys->pipe(fds);
    if (result < 0)
        return pp_fail(reterr, PP_E_SYS, -result, "pipe2", "%s", "");
    ret_fds[READ_END] = above_stdio(sys, fds[READ_END]);
    ret_fds[WRITE_END] = above_stdio(sys, fds[WRITE_END]);
    int worse = ret_fds[READ_END] < 0 ? ret_fds[READ_END] : ret_fds[WRITE_END];
    return worse < 0 ? pp_fail(reterr, PP_E_SYS, -worse, "fcntl", "pipe") : PP_OK;
}

static pp_status open_capture(pp_linux_host *host, const char *name, int ret_pipe[2], int *ret_file,
                              pp_error *reterr) {
    pp_status status = pp__linux_open_kept_file(host, name, ret_file, reterr);
    if (status == PP_OK)
        status = open_pipe(host->sys, ret_pipe, reterr);
    if (status != PP_OK)
        return status;
    int result = host->sys->set_nonblocking(ret_pipe[READ_END]);
    return result < 0 ? pp_fail(reterr, PP_E_SYS, -result, "fcntl", "%s", name) : PP_OK;
}

static pp_status open_channels(pp_linux_host *host, const pp_command *command, channels *fds,
                               pp_error *reterr) {
    pp_status status = open_pipe(host->sys, fds->report, reterr);
    if (status != PP_OK || host->options.terminal_foreground)
        return status;
    int null_fd = host->sys->open_at(AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC, 0);
    fds->null_fd = above_stdio(host->sys, null_fd);
    if (fds->null_fd < 0)
        return pp_fail(reterr, PP_E_SYS, -fds->null_fd, "open", "/dev/null");
    if (command->output != PP_OUTPUT_CAPTURE)
        return PP_OK;
    status = open_capture(host, command->stdout_name, fds->out[0], &fds->file[0], reterr);
    if (status == PP_OK)
        status = open_capture(host, command->stderr_name, fds->out[1], &fds->file[1], reterr);
    return status;
}

static pp_linux_child_plan plan_of(const pp_linux_host *host, const pp_command *command,
                                   const channels *fds) {
    bool capture = fds->out[0][WRITE_END] >= 0;
    return (pp_linux_child_plan){
        .command = command,
        .parent = getpid(),
        .stdio = { fds->null_fd, capture ? fds->out[0][WRITE_END] : fds->null_fd,
                   capture ? fds->out[1][WRITE_END] : fds->null_fd },
        .report_fd = fds->report[WRITE_END],
        .rules_fd = fds->rules_fd,
        .take_terminal = host->options.terminal_foreground && tcgetpgrp(STDIN_FILENO) == getpgrp(),
        .nofile = host->saved.nofile,
    };
}

/* The child inherits the slack of the thread that forks, also as its own default. */
static pid_t fork_with_slack(pp_linux_host *host, const pp_linux_child_plan *plan) {
    (void)host->sys->prctl(PR_SET_TIMERSLACK, host->saved.slack_ns);
    pid_t pid = pp__linux_leaf_fork(host);
    if (pid == 0)
        pp__linux_child(plan);
    (void)host->sys->prctl(PR_SET_TIMERSLACK, 1);
    return pid;
}

/* Takes what has ended; false: no child is left. */
static bool reap_orphans(const pp_linux_host *host) {
    siginfo_t info;
    struct rusage usage;
    int result;
    do {
        memset(&info, 0, sizeof info);
        result = host->sys->wait_id(P_ALL, 0, &info, WEXITED | WNOHANG | __WALL, &usage);
    } while (result >= 0 && info.si_pid != 0);
    return result != -ECHILD;
}

/* Ends a child that is not to be and all that it started: its group while it is unreaped, so that
 * the number is its own, then what became ours by its end. We have no other children. */
static void discard(pp_linux_host *host, pid_t pid) {
    siginfo_t info;
    struct rusage usage;
    size_t left;
    memset(&info, 0, sizeof info);
    (void)host->sys->kill(-pid, SIGKILL);
    (void)host->sys->kill(pid, SIGKILL); /* it may not have made its group yet */
    int pidfd = host->sys->pidfd_open(pid);
    struct pollfd ended = { .fd = pidfd, .events = POLLIN };
    if (pidfd >= 0)
        (void)host->sys->poll(&ended, 1, END_TIMEOUT_MS);
    (void)host->sys->wait_id(P_PID, pid, &info, WEXITED | WNOHANG, &usage);
    pp__linux_close(host->sys, &pidfd);
    for (int ms = 0; ms < END_TIMEOUT_MS && reap_orphans(host); ms += END_PAUSE_MS) {
        (void)pp__linux_kill_children(host, &left, NULL);
        (void)host->sys->poll(NULL, 0, END_PAUSE_MS);
    }
    pp__linux_close(host->sys, &host->own_children_fd);
}

static pp_status child_failed(const pp_command *command, pp_linux_child_failure failure,
                              pp_error *reterr) {
    const char *about = failure.step == PP_LINUX_STEP_CHDIR ? command->cwd : command->path;
    return pp_fail(reterr, PP_E_SYS, failure.sys_errno, pp__linux_step_name(failure.step), "%s",
                   about);
}

/* Waits until exec closed the report pipe, or something came through it. */
static pp_status await_exec(const pp_linux_host *host, const pp_command *command, int report_fd,
                            pp_error *reterr) {
    struct pollfd report = { .fd = report_fd, .events = POLLIN };
    int ready = host->sys->poll(&report, 1, START_TIMEOUT_MS);
    if (ready == 0)
        return pp_fail(reterr, PP_E_TIMEOUT, 0, "execve", "%s", command->path);
    if (ready < 0)
        return pp_fail(reterr, PP_E_SYS, -ready, "poll", "%s", command->path);
    pp_linux_child_failure failure;
    ssize_t got = host->sys->read(report_fd, &failure, sizeof failure);
    if (got < 0)
        return pp_fail(reterr, PP_E_SYS, (int)-got, "read", "%s", command->path);
    if (got == (ssize_t)sizeof failure)
        return child_failed(command, failure, reterr);
    return PP_OK;
}

static pp_status adopt_leader(pp_linux_host *host, pid_t pid, pp_error *reterr) {
    pp_linux_handle *handle;
    pp_status status = pp__linux_handle_get(host, pid, &handle, reterr);
    if (status != PP_OK)
        return status;
    int pidfd = host->sys->pidfd_open(pid);
    if (pidfd < 0)
        return pp_fail(reterr, PP_E_SYS, -pidfd, "pidfd_open", "%d", pid);
    host->leader_pidfd = pidfd;
    host->leader = handle->id;
    return PP_OK;
}

static pp_status keep_streams(pp_linux_host *host, const pp_command *command, channels *fds,
                              pp_error *reterr) {
    host->output_cap_bytes = command->output_cap_bytes;
    pp_status status = PP_OK;
    for (size_t i = 0; i < 2 && status == PP_OK && fds->out[i][READ_END] >= 0; i++) {
        host->streams[i] =
            (pp_linux_stream){ .pipe_fd = fds->out[i][READ_END], .file_fd = fds->file[i] };
        fds->out[i][READ_END] = fds->file[i] = -1; /* the stream owns them now */
        status = pp__linux_watch_stream(host, i, reterr);
    }
    return status;
}

static pp_status start(pp_linux_host *host, const pp_command *command, channels *fds,
                       pp_error *reterr) {
    pp_linux_child_plan plan = plan_of(host, command, fds);
    pp__linux_leaf_open(host);
    if (command->count_births)
        pp__linux_births_open(host);
    pid_t pid = fork_with_slack(host, &plan);
    if (pid < 0) {
        (void)pp__linux_leaf_close(host, NULL);
        return pp_fail(reterr, PP_E_SYS, -pid, "fork", "%s", command->path);
    }

    host->lent_terminal = plan.take_terminal;
    pp__linux_close(host->sys, &fds->report[WRITE_END]);
    pp_status status = await_exec(host, command, fds->report[READ_END], reterr);
    if (status == PP_OK)
        status = adopt_leader(host, pid, reterr);
    if (status == PP_OK)
        status = keep_streams(host, command, fds, reterr);
    pp__linux_births_settle(host);
    if (status == PP_OK)
        return PP_OK;

    pp__linux_births_close(host);
    discard(host, pid);
    pp__linux_handle_drop(host, pid);
    pp__linux_close(host->sys, &host->leader_pidfd);
    pp__linux_streams_close(host);
    pp__linux_terminal_back(host);
    (void)pp__linux_leaf_close(host, NULL); /* the next one gets a fresh one */
    return status;
}

pp_status pp__linux_spawn(void *ctx, const pp_command *command, pp_proc_id *ret_id,
                          pp_error *reterr) {
    pp_linux_host *host = ctx;
    if (host->spawned)
        return pp_fail(reterr, PP_E_EXISTS, 0, "spawn", "a command was started already");

    channels fds = { -1, -1, { -1, -1 }, { { -1, -1 }, { -1, -1 } }, { -1, -1 } };
    pp_status status = open_channels(host, command, &fds, reterr);
    if (status == PP_OK && command->writable != NULL)
        status = pp__linux_landlock_open(host->sys, command->writable, &fds.rules_fd, reterr);
    if (status == PP_OK)
        status = start(host, command, &fds, reterr);
    close_all(host->sys, &fds);
    if (status != PP_OK)
        return status;
    host->spawned = true;
    *ret_id = host->leader;
    return PP_OK;
}

void pp__linux_terminal_back(pp_linux_host *host) {
    if (!host->lent_terminal)
        return;
    host->lent_terminal = false;
    (void)tcsetpgrp(STDIN_FILENO, getpgrp()); /* SIGTTOU is ignored */
}
