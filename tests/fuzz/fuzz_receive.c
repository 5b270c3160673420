/* SPDX-License-Identifier: Apache-2.0 */
/* What the harness reads from its supervisor, through the socket it reads from. */
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "pairperf/build_id.h"
#include "request.h"
#include "supervisor_private.h"

enum { MOST = 60000 }; /* what a socket takes without a reader */

static void greet(int fd) {
    pp_buffer hello = { 0 };
    size_t start = pp_message_begin(&hello, PP_MSG_HELLO, 0);
    pp_put_text(&hello, pp_build_id());
    pp_message_end(&hello, start);
    MUST(send(fd, hello.bytes, hello.size, 0) == (ssize_t)hello.size);
    pp_buffer_done(&hello);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    pp_supervisor supervisor = { .samples.fd = -1, .events.fd = -1 };
    pp_supervisor_view view;
    int ends[2];
    if (size == 0 || size > MOST)
        return 0;
    MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    supervisor.fd = ends[0];
    if (bytes[0] & 1)
        greet(ends[1]);
    /* In two parts: a message may end anywhere. */
    size_t first = (size - 1) * bytes[0] / 255;
    MUST(send(ends[1], bytes + 1, first, 0) == (ssize_t)first);
    pp__supervisor_receive(&supervisor);
    MUST(send(ends[1], bytes + 1 + first, size - 1 - first, MSG_NOSIGNAL) >= 0 ||
         supervisor.view.phase == PP_SUPERVISOR_LOST);
    if (supervisor.fd >= 0)
        pp__supervisor_receive(&supervisor);
    pp_supervisor_look(&supervisor, &view);
    MUST(pp_supervisor_phase_name(view.phase) != NULL);
    MUST(view.frame_json != NULL || view.frame_size == 0);
    (void)close(ends[1]);
    if (supervisor.fd >= 0)
        (void)close(supervisor.fd);
    pp_buffer_done(&supervisor.in);
    pp_buffer_done(&supervisor.out);
    pp_buffer_done(&supervisor.frame_line);
    pp_buffer_done(&supervisor.verdict_line);
    pp_buffer_done(&supervisor.leaf);
    return 0;
}
