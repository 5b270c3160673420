/* SPDX-License-Identifier: Apache-2.0 */
/* This process as the host of one tree on macOS. Signal dispositions are the only thing that
 * opening changes, and closing or failing gives them back. SIGCHLD is set to its default
 * explicitly: an inherited ignore would make the kernel reap children at once, and no exit could be
 * pinned. */
#include "host.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "adapter.h"
#include "darwin_abi.h"
#include "platform.h"

static const int changed_signals[] = {
    SIGINT, SIGQUIT, SIGTSTP, SIGHUP, SIGPIPE, SIGTTOU, SIGCHLD
};

enum { CHANGED = sizeof changed_signals / sizeof changed_signals[0] };

static struct {
    pp_darwin darwin;
    struct sigaction saved[CHANGED];
} host;

static void restore_signals(size_t count) {
    for (size_t i = 0; i < count; i++)
        (void)sigaction(changed_signals[i], &host.saved[i], NULL);
}

static pp_status change_signals(pp_error *reterr) {
    for (size_t i = 0; i < CHANGED; i++) {
        struct sigaction action = {
            .sa_handler = changed_signals[i] == SIGCHLD ? SIG_DFL : SIG_IGN,
        };
        sigemptyset(&action.sa_mask);
        if (sigaction(changed_signals[i], &action, &host.saved[i]) != 0) {
            int failure = errno;
            restore_signals(i);
            return pp_fail(reterr, PP_E_SYS, failure, "sigaction", "%s",
                           pp_signal_name(changed_signals[i]));
        }
    }
    return PP_OK;
}

pp_status pp_host_open(const pp_host_options *options, pp_os *ret_os, pp_error *reterr) {
    int failure = 0;
    if (options->terminal_foreground)
        return pp_fail(reterr, PP_E_UNSUPPORTED, 0, "terminal",
                       "lending the terminal is not built for macOS");
    pp_status status = change_signals(reterr);
    if (status != PP_OK)
        return status;

    host.darwin = (pp_darwin){
        .self_pid = getpid(),
        .channel_fd = options->channel_fd,
        .run_dir_fd = options->run_dir_fd,
    };
    if (pp_darwin_sys_open(&host.darwin.sys, &failure) != 0) {
        status = pp_fail(reterr, PP_E_SYS, failure, "kqueue", "events");
    } else {
        status = pp__darwin_init(&host.darwin, ret_os, reterr);
        if (status != PP_OK)
            pp_darwin_sys_done(&host.darwin.sys);
    }
    if (status != PP_OK)
        restore_signals(CHANGED);
    return status;
}

void pp_host_close(pp_os *os) {
    if (os == NULL || os->ctx != &host.darwin)
        return;
    os->ctx = NULL;
    pp__darwin_done(&host.darwin);
    pp_darwin_sys_done(&host.darwin.sys);
    restore_signals(CHANGED);
}

pp_status pp_host_now(pp_now *ret_now, pp_error *reterr) {
    pp_darwin clocks = { 0 };
    pp_darwin_sys_calls(&clocks.sys);
    return pp__dw_now(&clocks, ret_now, reterr);
}

pp_status pp_host_self_exe_dir(char *buf, size_t size, pp_error *reterr) {
    char path[PP_DW_PATH_SIZE];
    pp_status status = pp_platform_exe_path(path, sizeof path, reterr);
    if (status != PP_OK)
        return status;
    char *slash = strrchr(path, '/');
    size_t length = slash == path ? 1 : (size_t)(slash - path);
    if (length >= size)
        return pp_fail(reterr, PP_E_NOMEM, 0, "executable path", "longer than %zu", size);
    memcpy(buf, path, length);
    buf[length] = '\0';
    return PP_OK;
}
