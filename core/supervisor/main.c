/* SPDX-License-Identifier: Apache-2.0 */

/* pairperf-supervisor: started by the harness with the channel on descriptor 3 and the run
 * directory on descriptor 4 (and, if there is one, the session lock on a descriptor that it merely
 * keeps open). Not for people.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host.h"
#include "loop.h"
#include "pairperf/build_id.h"

#define CHANNEL_FD 3
#define RUN_DIR_FD 4

static int fail(const pp_error *error) {
    (void)fprintf(stderr, "pairperf-supervisor: %s: %s: %s%s%s\n", error->op, error->detail,
                  pp_status_name(error->status), error->sys_errno ? " " : "",
                  error->sys_errno ? pp_errno_name(error->sys_errno) : "");
    return 70;
}

int main(int argc, char **argv) {
    pp_host_options options = { .channel_fd = CHANNEL_FD, .run_dir_fd = RUN_DIR_FD };
    pp_error error = { 0 };
    pp_os os = { 0 };

    if (argc == 2 && strcmp(argv[1], "--version") == 0)
        return puts(pp_build_id()) < 0;
    if (setsid() < 0 && getsid(0) != getpid()) {
        (void)fputs("pairperf-supervisor: started by pairperf, not by hand\n", stderr);
        return 2;
    }
    if (pp_host_open(&options, &os, &error) != PP_OK)
        return fail(&error);
    pp_status status = pp_loop_run(&os, pp_build_id(), &error);
    pp_host_close(&os);
    return status == PP_OK ? 0 : fail(&error);
}
