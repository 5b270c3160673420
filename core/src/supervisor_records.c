/* SPDX-License-Identifier: Apache-2.0 */

/* Append-only evidence files. The invariant: a line that could not be written whole is cut off
 * again, and only what reached the disk is acknowledged; the supervisor keeps the rest.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fs_internal.h"
#include "host.h"
#include "supervisor_private.h"

#define SYNC_EVERY_NS 1000000000LL

pp_status pp__record_open(pp_record_file *file, const char *what, const char *path,
                          pp_error *reterr) {
    *file = (pp_record_file){ .fd = -1, .what = what };
    if (!path)
        return PP_OK;
    file->fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file->fd < 0)
        return pp_fail(reterr, PP_E_SYS, errno, "open", "%s", path);
    return PP_OK;
}

void pp__record_close(pp_record_file *file) {
    if (file->fd >= 0)
        (void)close(file->fd);
    file->fd = -1;
}

pp_status pp__record_append(pp_record_file *file, uint64_t seq, const void *line, size_t size,
                            pp_error *reterr) {
    struct stat before;
    pp_error failed;

    if (file->fd < 0) {
        file->unsynced = seq;
        return PP_OK;
    }
    if (fstat(file->fd, &before) < 0)
        return pp_fail(reterr, PP_E_SYS, errno, "fstat", "%s", file->what);
    pp_status status = pp__fs_write_all(file->fd, line, size, file->what, &failed);
    if (status != PP_OK) {
        bool torn = ftruncate(file->fd, before.st_size) < 0;
        return pp_fail(reterr, status, failed.sys_errno, "write", "%s%s", file->what,
                       torn ? ": a torn line stays" : "");
    }
    file->unsynced = seq;
    return PP_OK;
}

pp_status pp__record_sync(pp_record_file *file, bool now, uint64_t *ret_acked, pp_error *reterr) {
    pp_now clock = { 0 };

    *ret_acked = 0;
    if (file->unsynced == 0)
        return PP_OK;
    (void)pp_host_now(&clock, NULL);
    if (!now && clock.t_ns - file->synced_ns < SYNC_EVERY_NS)
        return PP_OK;
    if (file->fd >= 0 && fsync(file->fd) < 0)
        return pp_fail(reterr, PP_E_SYS, errno, "fsync", "%s", file->what);
    file->synced_ns = clock.t_ns;
    *ret_acked = file->unsynced;
    file->unsynced = 0;
    return PP_OK;
}
