/* SPDX-License-Identifier: Apache-2.0 */

/* Starting the supervisor's process. The invariant: it inherits exactly the channel, the run
 * directory and the session lock; every other descriptor of ours is close-on-exec.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cleanup.h"
#include "host.h"
#include "supervisor_private.h"

extern char **environ;

#define LOW_FD 16 /* our copies live above the numbers that the child gets */

static bool sigpipe_was_default;

void pp_supervisor_ignore_sigpipe(void) {
    struct sigaction ignore = { .sa_handler = SIG_IGN }, old;

    if (sigaction(SIGPIPE, &ignore, &old) == 0 && old.sa_handler == SIG_DFL)
        sigpipe_was_default = true;
}

static pp_status find_exe(const pp_supervisor_options *options, char path[PATH_MAX],
                          pp_error *reterr) {
    char dir[PATH_MAX];

    if (options->exe_path) {
        (void)snprintf(path, PATH_MAX, "%s", options->exe_path);
        return PP_OK;
    }
    pp_status status = pp_host_self_exe_dir(dir, sizeof dir, reterr);
    if (status != PP_OK)
        return status;
    int length = snprintf(path, PATH_MAX, "%s/pairperf-supervisor", dir);
    if (length > 0 && length < PATH_MAX && access(path, X_OK) == 0)
        return PP_OK;
    (void)snprintf(path, PATH_MAX, "%s/pairperf-supervisor", PP_SUPERVISOR_DIR);
    return PP_OK;
}

/* A copy above LOW_FD, so that dup2 in the child cannot hit a source. */
static int high_copy(int fd) {
    return fcntl(fd, F_DUPFD_CLOEXEC, LOW_FD);
}

typedef struct child_fds {
    int channel, run_dir, lock;
} child_fds;

static int add_files(posix_spawn_file_actions_t *actions, const child_fds *fds) {
    int failed = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);

    if (!failed)
        failed = posix_spawn_file_actions_addopen(actions, 1, "/dev/null", O_WRONLY, 0);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(actions, fds->channel, 3);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(actions, fds->run_dir, 4);
    if (!failed && fds->lock >= 0)
        failed = posix_spawn_file_actions_adddup2(actions, fds->lock, 5);
    return failed;
}

static int set_signals(posix_spawnattr_t *attributes) {
    sigset_t defaults;

    sigemptyset(&defaults);
    if (sigpipe_was_default)
        sigaddset(&defaults, SIGPIPE);
    int failed = posix_spawnattr_setsigdefault(attributes, &defaults);
    return failed ? failed : posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF);
}

static pp_status spawn_process(const char *path, const child_fds *fds, pid_t *ret_pid,
                               pp_error *reterr) {
    char name[] = "pairperf-supervisor";
    char *argv[] = { name, NULL };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int failed = posix_spawn_file_actions_init(&actions);

    if (failed)
        return pp_fail(reterr, PP_E_SYS, failed, "posix_spawn", "%s", path);
    failed = posix_spawnattr_init(&attributes);
    if (!failed) {
        failed = add_files(&actions, fds);
        if (!failed)
            failed = set_signals(&attributes);
        if (!failed)
            failed = posix_spawn(ret_pid, path, &actions, &attributes, argv, environ);
        (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return failed ? pp_fail(reterr, PP_E_SYS, failed, "posix_spawn", "%s", path) : PP_OK;
}

static pp_status set_nonblocking(int fd, pp_error *reterr) {
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
        return pp_fail(reterr, PP_E_SYS, errno, "fcntl", "channel");
    return PP_OK;
}

static pp_status make_channel(int ends[2], pp_error *reterr) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
        return pp_fail(reterr, PP_E_SYS, errno, "socketpair", "channel");
    for (int i = 0; i < 2; i++) {
        (void)fcntl(ends[i], F_SETFD, FD_CLOEXEC);
        pp_status status = set_nonblocking(ends[i], reterr);
        if (status != PP_OK) {
            (void)close(ends[0]);
            (void)close(ends[1]);
            return status;
        }
    }
    return PP_OK;
}

pp_status pp__supervisor_launch(pp_supervisor *supervisor, const pp_supervisor_options *options,
                                pp_error *reterr) {
    char path[PATH_MAX];
    int ends[2];
    pp_status status = find_exe(options, path, reterr);

    if (status != PP_OK)
        return status;
    PP_AUTO_FD run_dir = open(options->run_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (run_dir < 0)
        return pp_fail(reterr, PP_E_SYS, errno, "open", "%s", options->run_dir);
    status = make_channel(ends, reterr);
    if (status != PP_OK)
        return status;
    supervisor->fd = ends[0];
    PP_AUTO_FD theirs = ends[1];
    PP_AUTO_FD channel_copy = high_copy(theirs);
    PP_AUTO_FD run_dir_copy = high_copy(run_dir);
    PP_AUTO_FD lock_copy = options->lock_fd > 0 ? high_copy(options->lock_fd) : -1;
    if (channel_copy < 0 || run_dir_copy < 0 || (options->lock_fd > 0 && lock_copy < 0))
        return pp_fail(reterr, PP_E_SYS, errno, "fcntl", "F_DUPFD_CLOEXEC");
    child_fds fds = { .channel = channel_copy, .run_dir = run_dir_copy, .lock = lock_copy };
    return spawn_process(path, &fds, &supervisor->pid, reterr);
}
