/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel frees an abstract name with its last descriptor, so a crash leaves nothing behind. The
 * socket never accepts: connecting is only how its credentials are asked for. */
#include "pairperf/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "cleanup.h"
#include "decode.h"
#include "fs_internal.h"

enum { NAME_MAX_BYTES = 100, BACKLOG = 4096 };

static socklen_t abstract_address(const char *name, struct sockaddr_un *ret_address) {
    *ret_address = (struct sockaddr_un){ .sun_family = AF_UNIX };
    size_t size = strlen(name);
    memcpy(ret_address->sun_path + 1, name, size); /* sun_path[0] stays NUL: abstract */
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + size);
}

static int stream_socket(int flags) {
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
}

/* Process that called listen(), or 0: not told (its queue is full, another PID namespace). */
static pid_t holder(const struct sockaddr_un *address, socklen_t size) {
    PP_AUTO_FD fd = stream_socket(SOCK_NONBLOCK);
    struct ucred peer = { 0 };
    socklen_t peer_size = sizeof peer;
    if (fd < 0 || connect(fd, (const struct sockaddr *)address, size) != 0 ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) != 0)
        return 0;
    return peer.pid;
}

/* The refusal names the holder by pid and start token. One that has ended left supervisors. */
static pp_status held(const char *name, pid_t pid, pp_error *reterr) {
    char path[32], text[1024];
    pp_linux_stat stat;
    size_t size = 0;

    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    PP_AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || pp__fs_read_up_to(fd, text, sizeof text, path, &size, NULL) != PP_OK ||
        pp__linux_decode_stat(text, size, &stat, NULL) != PP_OK)
        return pp_fail(reterr, PP_E_EXISTS, EADDRINUSE, "lock",
                       "@%s: held by process %d, which has ended", name, (int)pid);
    return pp_fail(reterr, PP_E_EXISTS, EADDRINUSE, "lock",
                   "@%s: held by process %d (start %" PRIu64 ")", name, (int)pid, stat.start_ticks);
}

pp_status pp_lock_acquire(const char *name, int *ret_fd, pp_error *reterr) {
    size_t size = strlen(name);
    if (size == 0 || size > NAME_MAX_BYTES)
        return pp_fail(reterr, PP_E_INVALID, 0, "lock", "a name has 1 to %d bytes", NAME_MAX_BYTES);
    struct sockaddr_un address;
    socklen_t address_size = abstract_address(name, &address);
    PP_AUTO_FD fd = stream_socket(0);
    if (fd < 0)
        return pp_fail(reterr, PP_E_SYS, errno, "socket", "@%s", name);
    if (bind(fd, (const struct sockaddr *)&address, address_size) != 0) {
        if (errno != EADDRINUSE)
            return pp_fail(reterr, PP_E_SYS, errno, "bind", "@%s", name);
        pid_t pid = holder(&address, address_size);
        if (pid > 0)
            return held(name, pid, reterr);
        return pp_fail(reterr, PP_E_EXISTS, EADDRINUSE, "lock", "@%s: held by another process",
                       name);
    }
    if (listen(fd, BACKLOG) != 0)
        return pp_fail(reterr, PP_E_SYS, errno, "listen", "@%s", name);
    *ret_fd = pp_take_fd(&fd);
    return PP_OK;
}
