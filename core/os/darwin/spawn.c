/* SPDX-License-Identifier: Apache-2.0 */
/* A start either yields an identity or leaves nothing: a child whose identity cannot be read is
 * killed and reaped, which is safe while it is our unreaped child. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "adapter.h"
#include "darwin_abi.h"
#include "output.h"

/* Waits for the end of a child that was just killed. */
static void undo(pp_darwin *darwin, int32_t pid) {
    uint8_t info[PP_DW_SIGINFO_SIZE];
    pp_exit how;
    int failure = 0;
    (void)darwin->sys.kill(darwin->sys.ctx, pid, SIGKILL, &failure);
    for (int i = 0; i < PP_DW_TRIES; i++) {
        memset(info, 0, sizeof info);
        int result = darwin->sys.waitid(darwin->sys.ctx, pid, info, PP_DW_WEXITED, &failure);
        if (result != 0 && failure != EINTR)
            return;
        if (result == 0 && pp__dw_decode_siginfo(info, pid, &how) != PP_E_AGAIN)
            return;
    }
}

pp_status pp__dw_spawn(void *ctx, const pp_command *command, pp_proc_id *ret_id, pp_error *reterr) {
    pp_darwin *darwin = ctx;
    if (command->writable != NULL)
        return pp_fail(reterr, PP_E_UNSUPPORTED, 0, "confine", "writes are not confined on macOS");
    pp_dw_spawn request = {
        .path = command->path,
        .argv = command->argv,
        .envp = command->envp,
        .cwd = command->cwd,
    };
    pp_status status = pp__dw_output_open(darwin, command, request.stdio, reterr);
    if (status != PP_OK)
        return status;

    int32_t pid = 0;
    int failure = 0;
    const char *step = "posix_spawn";
    int result = darwin->sys.spawn(darwin->sys.ctx, &request, &pid, &step, &failure);
    for (size_t i = 0; i < 3; i++)
        (void)close(request.stdio[i]);
    if (result != 0) {
        pp__dw_output_done(darwin);
        return pp_fail(reterr, PP_E_SYS, failure, step, "%s",
                       strcmp(step, "chdir") == 0 ? command->cwd : command->path);
    }

    pp_dw_seen seen;
    status = pid > 1 ? pp__dw_kinfo(darwin, pid, &seen, reterr)
                     : pp_fail(reterr, PP_E_MALFORMED, 0, "posix_spawn", "pid %d", pid);
    if (status != PP_OK) {
        if (pid > 1)
            undo(darwin, pid);
        pp__dw_output_done(darwin);
        return status;
    }
    *ret_id = (pp_proc_id){ .pid = pid, .start = seen.start_us };
    return PP_OK;
}
