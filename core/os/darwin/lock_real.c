/* SPDX-License-Identifier: Apache-2.0 */
/* flock needs no write permission and belongs to the open file, so whoever inherits the descriptor
 * holds the lock and a crash leaves nothing behind. The system does not tell who holds it. */
#include "pairperf/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

#include "cleanup.h"

enum { NAME_MAX_BYTES = 100 };

pp_status pp_lock_acquire(const char *name, int *ret_fd, pp_error *reterr) {
    size_t size = strlen(name);
    if (size == 0 || size > NAME_MAX_BYTES)
        return pp_fail(reterr, PP_E_INVALID, 0, "lock", "a name has 1 to %d bytes", NAME_MAX_BYTES);
    const char *path = name[0] == '/' ? name : "/";
    PP_AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return pp_fail(reterr, PP_E_SYS, errno, "open", "%s", path);
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK)
            return pp_fail(reterr, PP_E_EXISTS, EWOULDBLOCK, "lock", "%s: held by another process",
                           name);
        if (errno != EINTR)
            return pp_fail(reterr, PP_E_SYS, errno, "flock", "%s", path);
    }
    *ret_fd = pp_take_fd(&fd);
    return PP_OK;
}
