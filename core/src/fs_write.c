/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing is written through a link: the directory that holds a name is opened component by
 * component without following one, and the name is used beside that descriptor only. Whoever swaps
 * a directory of the evidence for a link gets a refusal. What a function wrote half is taken back
 * before it reports failure. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "fs_internal.h"
#include "platform.h"

/* Where a name is to be changed. */
typedef struct place {
    int directory_fd;
    char *name; /* last component */
} place;

static void place_done(place *at) {
    pp__auto_close(&at->directory_fd);
    free(at->name);
}
#define AUTO_PLACE __attribute__((cleanup(place_done))) place

static pp_status no_memory(pp_error *reterr, const char *path) {
    return pp_fail(reterr, PP_E_NOMEM, ENOMEM, "malloc", "%s", path);
}

/* The last component without slashes behind it; empty for "/". */
static char *last_name(const char *path) {
    size_t end = strlen(path);
    while (end > 0 && path[end - 1] == '/')
        end--;
    size_t start = end;
    while (start > 0 && path[start - 1] != '/')
        start--;
    return strndup(path + start, end - start);
}

static pp_status open_place(const char *path, place *at, pp_error *reterr) {
    PP_AUTO_FREE char *directory = pp__fs_parent(path);
    at->name = last_name(path);
    if (!directory || !at->name)
        return no_memory(reterr, path);
    at->directory_fd = pp_platform_open_directory(directory);
    if (at->directory_fd < 0)
        return pp__fs_fail(reterr, errno, "open", path);
    return PP_OK;
}

pp_status pp_fs_mkdir_exclusive(const char *path, pp_error *reterr) {
    AUTO_PLACE at = { .directory_fd = -1 };
    pp_status status = open_place(path, &at, reterr);
    if (status == PP_OK && mkdirat(at.directory_fd, at.name, 0700) != 0)
        status = pp__fs_fail(reterr, errno, "mkdir", path);
    return status;
}

/* One step of mkdirs. Somebody else may have made it just now; a link into nowhere is refused. */
static pp_status ensure_directory(const char *path, pp_error *reterr) {
    pp_error error;
    pp_status status = pp_fs_mkdir_exclusive(path, &error);
    if (status == PP_OK)
        return PP_OK;
    PP_AUTO_FD fd = status == PP_E_EXISTS ? pp_platform_open_directory(path) : -1;
    if (fd >= 0)
        return PP_OK;
    if (reterr)
        *reterr = error;
    return status;
}

pp_status pp_fs_mkdirs(const char *path, pp_error *reterr) {
    PP_AUTO_FD fd = pp_platform_open_directory(path);
    if (fd >= 0)
        return PP_OK;
    if (errno != ENOENT)
        return ensure_directory(path, reterr); /* says what is there instead */
    PP_AUTO_FREE char *parent = pp__fs_parent(path);
    if (!parent)
        return no_memory(reterr, path);
    pp_status status = pp_fs_mkdirs(parent, reterr);
    return status == PP_OK ? ensure_directory(path, reterr) : status;
}

static pp_status sync_directory(int directory_fd, const char *path, pp_error *reterr) {
    /* The one we hold may be good for looking up names only. */
    PP_AUTO_FD fd = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return pp__fs_fail(reterr, errno, "open", path);
    pp_status status = pp__fs_sync(fd, path, reterr);
    if (status != PP_OK)
        return status;
    return pp__fs_close(&fd, path, reterr);
}

static pp_status fill_and_close(int *fd, const void *bytes, size_t size, const char *name,
                                pp_error *reterr) {
    pp_status status = pp__fs_write_all(*fd, bytes, size, name, reterr);
    if (status == PP_OK)
        status = pp__fs_sync(*fd, name, reterr);
    if (status == PP_OK)
        status = pp__fs_close(fd, name, reterr);
    return status;
}

enum { NAME_SIZE = 48 };

/* A new file beside the one to be replaced, under a name that nobody has. */
static int create_temporary(int directory_fd, char name[NAME_SIZE]) {
    static atomic_uint counter;
    int fd;

    do {
        (void)snprintf(name, NAME_SIZE, ".tmp-%ld-%u", (long)getpid(),
                       atomic_fetch_add(&counter, 1));
        fd = openat(directory_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    } while (fd < 0 && errno == EEXIST);
    return fd;
}

pp_status pp_fs_write_atomic(const char *path, const void *bytes, size_t size, pp_error *reterr) {
    AUTO_PLACE at = { .directory_fd = -1 };
    char temporary[NAME_SIZE];
    pp_status status = open_place(path, &at, reterr);
    if (status != PP_OK)
        return status;
    PP_AUTO_FD fd = create_temporary(at.directory_fd, temporary);
    if (fd < 0)
        return pp__fs_fail(reterr, errno, "create", path);

    status = fill_and_close(&fd, bytes, size, path, reterr);
    if (status == PP_OK && renameat(at.directory_fd, temporary, at.directory_fd, at.name) != 0)
        status = pp__fs_fail(reterr, errno, "rename", path);
    if (status != PP_OK) {
        (void)unlinkat(at.directory_fd, temporary, 0);
        return status;
    }
    return sync_directory(at.directory_fd, path, reterr);
}

static pp_status append_to(int *fd, const void *bytes, size_t size, bool sync, const char *path,
                           pp_error *reterr) {
    struct stat before;
    if (fstat(*fd, &before) != 0)
        return pp__fs_fail(reterr, errno, "fstat", path);
    if (!S_ISREG(before.st_mode))
        return pp_fail(reterr, PP_E_INVALID, 0, "append", "%s: not a regular file", path);

    pp_status status = pp__fs_write_all(*fd, bytes, size, path, reterr);
    if (status == PP_OK && sync)
        status = pp__fs_sync(*fd, path, reterr);
    if (status != PP_OK) {
        (void)!ftruncate(*fd, before.st_size); /* best effort; the first error is what counts */
        return status;
    }
    return pp__fs_close(fd, path, reterr);
}

pp_status pp_fs_append(const char *path, const void *bytes, size_t size, bool sync,
                       pp_error *reterr) {
    AUTO_PLACE at = { .directory_fd = -1 };
    pp_status status = open_place(path, &at, reterr);
    if (status != PP_OK)
        return status;
    /* O_NONBLOCK: a FIFO without a reader fails instead of waiting; regular files ignore it. */
    PP_AUTO_FD fd =
        openat(at.directory_fd, at.name,
               O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd < 0)
        return pp__fs_fail(reterr, errno, "open", path);
    return append_to(&fd, bytes, size, sync, path, reterr);
}
