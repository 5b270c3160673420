/* SPDX-License-Identifier: Apache-2.0 */
/* What fs_write.c and other modules share, and looking at files. Every call that can fail is
 * checked, close included, because some file systems report a failed write only there. Descriptors
 * are close-on-exec from birth. */
#include "pairperf/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cleanup.h"
#include "fs_internal.h"
#include "platform.h"

pp_status pp__fs_fail(pp_error *reterr, int sys_errno, const char *op, const char *path) {
    pp_status status = sys_errno == EEXIST                         ? PP_E_EXISTS
                       : sys_errno == EACCES || sys_errno == EPERM ? PP_E_DENIED
                                                                   : PP_E_SYS;
    return pp_fail(reterr, status, sys_errno, op, "%s", path);
}

static pp_status no_memory(pp_error *reterr, const char *path) {
    return pp_fail(reterr, PP_E_NOMEM, ENOMEM, "malloc", "%s", path);
}

pp_status pp__fs_write_all(int fd, const void *bytes, size_t size, const char *name,
                           pp_error *reterr) {
    const char *at = bytes;
    while (size > 0) {
        ssize_t written = write(fd, at, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return pp__fs_fail(reterr, errno, "write", name);
        at += written;
        size -= (size_t)written;
    }
    return PP_OK;
}

pp_status pp__fs_read_up_to(int fd, void *bytes, size_t size, const char *name, size_t *ret_size,
                            pp_error *reterr) {
    size_t filled = 0;
    while (filled < size) {
        ssize_t got = read(fd, (char *)bytes + filled, size - filled);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return pp__fs_fail(reterr, errno, "read", name);
        if (got == 0)
            break;
        filled += (size_t)got;
    }
    *ret_size = filled;
    return PP_OK;
}

pp_status pp__fs_sync(int fd, const char *name, pp_error *reterr) {
    while (fsync(fd) != 0)
        if (errno != EINTR)
            return pp__fs_fail(reterr, errno, "fsync", name);
    return PP_OK;
}

pp_status pp__fs_set_mtime(int fd, int64_t mtime_ns, const char *name, pp_error *reterr) {
    const int64_t second = 1000000000;
    int64_t seconds = mtime_ns / second - (mtime_ns % second < 0);
    struct timespec times[2] = {
        { .tv_nsec = UTIME_OMIT },
        { .tv_sec = (time_t)seconds, .tv_nsec = (long)(mtime_ns - seconds * second) },
    };
    if (futimens(fd, times) != 0)
        return pp__fs_fail(reterr, errno, "futimens", name);
    return PP_OK;
}

pp_status pp__fs_close(int *fd, const char *name, pp_error *reterr) {
    /* After EINTR the descriptor is gone on Linux and unspecified elsewhere: never tried again. */
    if (close(pp_take_fd(fd)) != 0 && errno != EINTR)
        return pp__fs_fail(reterr, errno, "close", name);
    return PP_OK;
}

const char *pp__fs_type_name(mode_t mode) {
    switch (mode & S_IFMT) {
    case S_IFREG:
        return "file";
    case S_IFDIR:
        return "directory";
    case S_IFLNK:
        return "symlink";
    case S_IFIFO:
        return "fifo";
    case S_IFSOCK:
        return "socket";
    case S_IFBLK:
        return "block";
    case S_IFCHR:
        return "char";
    default:
        return "unknown";
    }
}

char *pp__fs_join(const char *directory, const char *name) {
    size_t directory_size = strlen(directory), name_size = strlen(name);
    char *joined = malloc(directory_size + name_size + 2);
    if (!joined)
        return NULL;
    memcpy(joined, directory, directory_size + 1);
    joined[directory_size] = '/';
    memcpy(joined + directory_size + 1, name, name_size + 1);
    return joined;
}

char *pp__fs_parent(const char *path) {
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/')
        end--;
    while (end > 0 && path[end - 1] != '/')
        end--;
    if (end == 0)
        return strdup(".");
    while (end > 1 && path[end - 1] == '/')
        end--;
    return strndup(path, end);
}

/* Reads to the end, growing; sizes of special file systems say 0. */
static pp_status read_all(int fd, size_t hint, size_t max_bytes, const char *path, char **ret_bytes,
                          size_t *ret_size, pp_error *reterr) {
    PP_AUTO_FREE char *bytes = NULL;
    size_t size = 0;
    for (size_t capacity = hint < 4096 ? 4096 : hint + 1;; capacity *= 2) {
        char *grown = realloc(bytes, capacity + 1);
        if (!grown)
            return no_memory(reterr, path);
        bytes = grown;
        size_t got;
        pp_status status = pp__fs_read_up_to(fd, bytes + size, capacity - size, path, &got, reterr);
        if (status != PP_OK)
            return status;
        size += got;
        if (size > max_bytes)
            return pp_fail(reterr, PP_E_NOMEM, 0, "read", "%s: more than %zu bytes", path,
                           max_bytes);
        if (size < capacity)
            break;
    }
    bytes[size] = '\0';
    *ret_bytes = bytes;
    *ret_size = size;
    bytes = NULL;
    return PP_OK;
}

pp_status pp_fs_read(const char *path, size_t max_bytes, char **ret_bytes, size_t *ret_size,
                     pp_error *reterr) {
    PP_AUTO_FD fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return pp__fs_fail(reterr, errno, "open", path);
    struct stat st;
    if (fstat(fd, &st) != 0)
        return pp__fs_fail(reterr, errno, "fstat", path);
    if (!S_ISREG(st.st_mode))
        return pp_fail(reterr, PP_E_INVALID, 0, "read", "%s: not a regular file", path);
    size_t hint = (uintmax_t)st.st_size < max_bytes ? (size_t)st.st_size : max_bytes;
    return read_all(fd, hint, max_bytes, path, ret_bytes, ret_size, reterr);
}

pp_status pp_fs_stat(const char *path, bool follow, pp_fs_info *ret_info, pp_error *reterr) {
    struct stat st;
    if (fstatat(AT_FDCWD, path, &st, follow ? 0 : AT_SYMLINK_NOFOLLOW) != 0)
        return pp__fs_fail(reterr, errno, follow ? "stat" : "lstat", path);
    *ret_info = (pp_fs_info){
        .type = pp__fs_type_name(st.st_mode),
        .mode = st.st_mode & 07777,
        .size = (uint64_t)st.st_size,
        .ino = (uint64_t)st.st_ino,
        .dev = (uint64_t)st.st_dev,
        .uid = st.st_uid,
        .gid = st.st_gid,
        .mtime_ns = pp_platform_mtime_ns(&st),
    };
    return PP_OK;
}

void pp_fs_names_done(pp_fs_names *names) {
    if (!names)
        return;
    for (size_t i = 0; i < names->count; i++)
        free(names->names[i]);
    free(names->names);
    *names = (pp_fs_names){ 0 };
}

static bool add_name(pp_fs_names *names, const char *name) {
    if (names->count == names->capacity) {
        size_t capacity = names->capacity ? names->capacity * 2 : 32;
        char **grown = realloc(names->names, capacity * sizeof *grown);
        if (!grown)
            return false;
        names->names = grown;
        names->capacity = capacity;
    }
    char *copy = strdup(name);
    if (!copy)
        return false;
    names->names[names->count++] = copy;
    return true;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b); /* compares as unsigned bytes */
}

void pp__fs_sort_names(char **names, size_t count) {
    if (count > 0)
        qsort(names, count, sizeof *names, compare_names);
}

static pp_status read_names(DIR *dir, const char *path, pp_fs_names *names, pp_error *reterr) {
    for (;;) {
        errno = 0;
        struct dirent *entry = readdir(dir);
        if (!entry && errno)
            return pp__fs_fail(reterr, errno, "readdir", path);
        if (!entry)
            return PP_OK;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (!add_name(names, entry->d_name))
            return no_memory(reterr, path);
    }
}

pp_status pp_fs_list(const char *path, pp_fs_names *ret_names, pp_error *reterr) {
    PP_AUTO_DIR dir = opendir(path);
    if (!dir)
        return pp__fs_fail(reterr, errno, "opendir", path);
    pp_fs_names names = { 0 };
    pp_status status = read_names(dir, path, &names, reterr);
    if (status != PP_OK) {
        pp_fs_names_done(&names);
        return status;
    }
    pp__fs_sort_names(names.names, names.count);
    *ret_names = names;
    return PP_OK;
}

pp_status pp_fs_realpath(const char *path, char **ret_path, pp_error *reterr) {
    char *resolved = realpath(path, NULL);
    if (!resolved)
        return pp__fs_fail(reterr, errno, "realpath", path);
    *ret_path = resolved;
    return PP_OK;
}

pp_status pp_fs_readlink(const char *path, char **ret_target, pp_error *reterr) {
    char target[PATH_MAX];
    ssize_t size = readlink(path, target, sizeof target);
    if (size < 0)
        return pp__fs_fail(reterr, errno, "readlink", path);
    if ((size_t)size == sizeof target)
        return pp__fs_fail(reterr, ENAMETOOLONG, "readlink", path);
    char *copy = strndup(target, (size_t)size);
    if (!copy)
        return no_memory(reterr, path);
    *ret_target = copy;
    return PP_OK;
}

pp_status pp_fs_free_bytes(const char *path, uint64_t *ret_bytes, pp_error *reterr) {
    struct statvfs fs;
    if (statvfs(path, &fs) != 0)
        return pp__fs_fail(reterr, errno, "statvfs", path);
    uint64_t bytes;
    if (__builtin_mul_overflow((uint64_t)fs.f_bavail, (uint64_t)fs.f_frsize, &bytes))
        return pp_fail(reterr, PP_E_OVERFLOW, 0, "statvfs", "%s", path);
    *ret_bytes = bytes;
    return PP_OK;
}

pp_status pp_fs_getcwd(char **ret_path, pp_error *reterr) {
    char *path = getcwd(NULL, 0);
    if (!path)
        return pp__fs_fail(reterr, errno, "getcwd", ".");
    *ret_path = path;
    return PP_OK;
}

pp_status pp_fs_chmod(const char *path, uint32_t mode, pp_error *reterr) {
    if (chmod(path, (mode_t)mode) != 0)
        return pp__fs_fail(reterr, errno, "chmod", path);
    return PP_OK;
}

pp_status pp_fs_access_exec(const char *path, pp_error *reterr) {
    struct stat st;
    if (stat(path, &st) != 0)
        return pp__fs_fail(reterr, errno, "stat", path);
    if (!S_ISREG(st.st_mode))
        return pp_fail(reterr, PP_E_INVALID, 0, "access", "%s: not a regular file", path);
    if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) != 0)
        return pp__fs_fail(reterr, errno, "access", path);
    return PP_OK;
}
