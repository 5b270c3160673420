/* SPDX-License-Identifier: Apache-2.0 */
/* macOS answers to platform.h. Nothing here keeps state. */
#include "platform.h"

#include <crt_externs.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mach-o/dyld.h>
#include <stdlib.h>
#include <string.h>
#include <sys/acl.h>
#include <unistd.h>

#include "adapter.h"

#define NS_PER_S 1000000000

pp_status pp_platform_check(pp_error *reterr) {
    pp_darwin_sys sys;
    pp_darwin_sys_calls(&sys);
    return pp__dw_refuse_translated(&sys, reterr);
}

int64_t pp_platform_mtime_ns(const struct stat *st) {
    return (int64_t)st->st_mtimespec.tv_sec * NS_PER_S + st->st_mtimespec.tv_nsec;
}

int64_t pp_platform_ctime_ns(const struct stat *st) {
    return (int64_t)st->st_ctimespec.tv_sec * NS_PER_S + st->st_ctimespec.tv_nsec;
}

size_t pp_platform_stat_fields(const struct stat *st,
                               pp_stat_field ret_fields[PP_STAT_FIELDS_MAX]) {
    const pp_stat_field fields[] = {
        { "birthtime_ns", (uint64_t)st->st_birthtimespec.tv_sec * NS_PER_S +
                              (uint64_t)st->st_birthtimespec.tv_nsec },
        { "blksize", (uint64_t)st->st_blksize },
        { "blocks", (uint64_t)st->st_blocks },
        { "dev", (uint64_t)st->st_dev },
        { "flags", st->st_flags },
        { "gen", st->st_gen },
        { "gid", st->st_gid },
        { "ino", st->st_ino },
        { "mtime_ns", (uint64_t)pp_platform_mtime_ns(st) },
        { "nlink", st->st_nlink },
        { "rdev", (uint64_t)st->st_rdev },
        { "size", (uint64_t)st->st_size },
        { "uid", st->st_uid },
    };
    size_t count = sizeof fields / sizeof *fields;
    for (size_t i = 0; i < count; i++)
        ret_fields[i] = fields[i];
    return count;
}

pp_status pp_platform_access_list(int fd, const char *name, char **ret_text, pp_error *reterr) {
    acl_t list = acl_get_fd_np(fd, ACL_TYPE_EXTENDED);
    if (!list && errno != ENOENT && errno != ENOTSUP)
        return pp_fail(reterr, PP_E_SYS, errno, "acl_get_fd_np", "%s", name);
    char *text = list ? acl_to_text(list, NULL) : NULL, *copy = text ? strdup(text) : NULL;
    bool told = !list || copy;
    if (text)
        (void)acl_free(text);
    if (list)
        (void)acl_free(list);
    if (!told)
        return pp_fail(reterr, PP_E_NOMEM, ENOMEM, "acl_to_text", "%s", name);
    *ret_text = copy;
    return PP_OK;
}

unsigned pp_platform_cpus(void) {
    long online = sysconf(_SC_NPROCESSORS_ONLN); /* there is no affinity */
    return online > 0 ? (unsigned)online : 1;
}

void *pp_platform_allocate(size_t size) {
    return malloc(size);
}

bool pp_platform_in_memory(int fd) {
    (void)fd;
    return false;
}

bool pp_platform_own_files(void) {
    return false;
}

bool pp_platform_close_range(int first, int last) {
    (void)first;
    (void)last;
    return false;
}

void pp_platform_read_ahead(int fd, uint64_t offset, uint64_t size) {
    struct radvisory advice = {
        .ra_offset = (off_t)offset,
        .ra_count = size > INT_MAX ? INT_MAX : (int)size,
    };
    (void)fcntl(fd, F_RDADVISE, &advice);
}

/* clonefile() makes a new name and takes access lists and attributes along; a home wants neither.
 */
pp_status pp_platform_clone(int in, int out, const char *name, pp_error *reterr) {
    (void)in;
    (void)out;
    return pp_fail(reterr, PP_E_UNSUPPORTED, ENOTSUP, "clone", "%s", name);
}

pp_status pp_platform_copy_range(int in, int out, uint64_t offset, size_t size, size_t *ret_copied,
                                 const char *name, pp_error *reterr) {
    (void)in;
    (void)out;
    (void)offset;
    (void)size;
    (void)ret_copied;
    return pp_fail(reterr, PP_E_UNSUPPORTED, ENOTSUP, "copy", "%s", name);
}

pp_status pp_platform_exe_path(char *ret_path, size_t size, pp_error *reterr) {
    char path[PATH_MAX];
    uint32_t capacity = sizeof path;
    if (_NSGetExecutablePath(path, &capacity) != 0)
        return pp_fail(reterr, PP_E_NOMEM, 0, "executable path", "longer than %zu", sizeof path);
    char resolved[PATH_MAX];
    if (!realpath(path, resolved))
        return pp_fail(reterr, PP_E_SYS, errno, "realpath", "%s", path);
    if (strlen(resolved) >= size)
        return pp_fail(reterr, PP_E_NOMEM, 0, "executable path", "longer than %zu", size);
    memcpy(ret_path, resolved, strlen(resolved) + 1);
    return PP_OK;
}

int pp_platform_open_directory(const char *path) {
    return open(path, O_SEARCH | O_DIRECTORY | O_NOFOLLOW_ANY | O_CLOEXEC);
}

char **pp_platform_environment(void) {
    return *_NSGetEnviron();
}

pp_status pp_platform_confinement(int *ret_abi, pp_error *reterr) {
    (void)ret_abi;
    return pp_fail(reterr, PP_E_UNSUPPORTED, 0, "confine", "writes are not confined on macOS");
}

pp_status pp_platform_confined_writable(const char *directory, const char *path,
                                        const char *const *writable, bool *ret_writable,
                                        pp_error *reterr) {
    (void)directory;
    (void)path;
    (void)writable;
    (void)ret_writable;
    return pp_fail(reterr, PP_E_UNSUPPORTED, 0, "confine", "writes are not confined on macOS");
}
