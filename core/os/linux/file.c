/* SPDX-License-Identifier: Apache-2.0 */
/* Small files and directories of /proc, read whole or not at all. A failed read is a status; a
 * buffer that came back full is never taken for a whole file, and a directory that could not be
 * read to its end is never a list. */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    DIRECTORY_BYTES = 32 * 1024,
    MAX_DIRECTORY_READS = 4096,           /* 4 million entries; the kernel allows as many pids */
    GROWING_BYTES = 4096,                 /* no more than a page: what the kernel gives at once */
    NUMBER_MAX = 16,                      /* one pid and what separates it from the next */
    MAX_GROWING_BYTES = 64 * 1024 * 1024, /* more than all pids the kernel can number */
};

void pp__linux_close(const pp_linux_sys *sys, int *fd) {
    int old = *fd;
    *fd = -1;
    if (old >= 0)
        (void)sys->close(old);
}

void pp__linux_keep(const pp_linux_host *host, int *fd) {
    if (*fd >= host->kept_fd_max)
        pp__linux_close(host->sys, fd);
}

pp_status pp__linux_fail(pp_error *reterr, ssize_t result, const char *op, const char *path) {
    int sys_errno = (int)-result;
    /* The directory of a process that is gone does not exist. */
    pp_status status = sys_errno == ENOENT ? PP_E_VANISHED : pp_status_from_errno(sys_errno);
    return pp_fail(reterr, status, sys_errno, op, "%s", path);
}

pp_status pp__linux_pread_file(const pp_linux_sys *sys, int fd, const char *name, char *buf,
                               size_t capacity, size_t *ret_size, pp_error *reterr) {
    ssize_t got = sys->pread(fd, buf, capacity, 0);
    if (got < 0)
        return pp__linux_fail(reterr, got, "pread", name);
    if ((size_t)got == capacity)
        return pp_fail(reterr, PP_E_MALFORMED, 0, "pread", "%s: %zu bytes or more", name, capacity);
    *ret_size = (size_t)got;
    return PP_OK;
}

pp_status pp__linux_read_path(const pp_linux_sys *sys, const char *path, char *buf, size_t capacity,
                              size_t *ret_size, pp_error *reterr) {
    int fd = sys->open_at(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return pp__linux_fail(reterr, fd, "open", path);
    pp_status status = pp__linux_pread_file(sys, fd, path, buf, capacity, ret_size, reterr);
    pp__linux_close(sys, &fd);
    return status;
}

/* record_max: see pp__linux_read_list; 0: read until there is no more. */
static pp_status read_whole(const pp_linux_sys *sys, int fd, const char *path, size_t record_max,
                            char **ret_bytes, size_t *ret_size, pp_error *reterr) {
    char *bytes = NULL;
    size_t size = 0;
    for (size_t capacity = GROWING_BYTES; capacity <= MAX_GROWING_BYTES; capacity *= 2) {
        char *larger = realloc(bytes, capacity);
        if (larger == NULL) {
            free(bytes);
            return pp_fail(reterr, PP_E_NOMEM, 0, "read", "%s", path);
        }
        bytes = larger;
        ssize_t got = 1;
        bool left_off = false;
        while (size < capacity && got > 0 && !left_off) {
            size_t room = capacity - size;
            got = sys->pread(fd, bytes + size, room, (off_t)size);
            if (got > 0)
                size += (size_t)got;
            left_off = got > 0 && record_max > 0 && (size_t)got + record_max <= room &&
                       (size_t)got + record_max <= GROWING_BYTES;
        }
        if (got < 0) {
            free(bytes);
            return pp__linux_fail(reterr, got, "read", path);
        }
        if (got == 0 || left_off) {
            *ret_bytes = bytes;
            *ret_size = size;
            return PP_OK;
        }
    }
    free(bytes);
    return pp_fail(reterr, PP_E_ENUMERATION, 0, "read", "%s: no end", path);
}

pp_status pp__linux_read_growing(const pp_linux_sys *sys, int fd, const char *path,
                                 char **ret_bytes, size_t *ret_size, pp_error *reterr) {
    return read_whole(sys, fd, path, 0, ret_bytes, ret_size, reterr);
}

pp_status pp__linux_read_list(const pp_linux_sys *sys, int fd, const char *path, char **ret_bytes,
                              size_t *ret_size, pp_error *reterr) {
    return read_whole(sys, fd, path, NUMBER_MAX, ret_bytes, ret_size, reterr);
}

pp_status pp__linux_list_numbers(const pp_linux_sys *sys, int dir_fd, const char *path,
                                 pp_pid_list *list, pp_error *reterr) {
    _Alignas(uint64_t) char bytes[DIRECTORY_BYTES];
    for (int reads = 0; reads < MAX_DIRECTORY_READS; reads++) {
        ssize_t got = sys->read_dir(dir_fd, bytes, sizeof bytes);
        if (got < 0)
            return pp_fail(reterr, PP_E_ENUMERATION, (int)-got, "getdents64", "%s", path);
        if (got == 0)
            return PP_OK;
        if (pp__linux_decode_numbers(bytes, (size_t)got, list, reterr) != PP_OK)
            return pp_fail(reterr, PP_E_ENUMERATION, 0, "getdents64", "%s: bad entry", path);
    }
    return pp_fail(reterr, PP_E_ENUMERATION, 0, "getdents64", "%s: no end", path);
}

pp_status pp__linux_list_thread_dir(const pp_linux_sys *sys, int dir_fd, const char *path,
                                    pp_pid_list *list, pp_error *reterr) {
    pp_error error;
    if (pp__linux_list_numbers(sys, dir_fd, path, list, &error) == PP_OK)
        return PP_OK;
    if (error.sys_errno == ENOENT || error.sys_errno == ESRCH)
        error.status = PP_E_VANISHED; /* reaped between open and read */
    return pp_fail(reterr, error.status, error.sys_errno, error.op, "%s", error.detail);
}

pp_status pp__linux_list_threads(const pp_linux_sys *sys, int32_t pid, pp_pid_list *list,
                                 pp_error *reterr) {
    char path[PP_LINUX_PATH_MAX];
    (void)snprintf(path, sizeof path, "/proc/%d/task", pid);
    int fd = sys->open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (fd < 0)
        return pp__linux_fail(reterr, fd, "open", path);
    pp_status status = pp__linux_list_thread_dir(sys, fd, path, list, reterr);
    pp__linux_close(sys, &fd);
    return status;
}
