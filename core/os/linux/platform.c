/* SPDX-License-Identifier: Apache-2.0 */
/* Linux answers to platform.h. Nothing here keeps state. */
#include "platform.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#define NS_PER_S 1000000000

pp_status pp_platform_check(pp_error *reterr) {
    (void)reterr;
    return PP_OK;
}

int64_t pp_platform_mtime_ns(const struct stat *st) {
    return (int64_t)st->st_mtim.tv_sec * NS_PER_S + st->st_mtim.tv_nsec;
}

pp_status pp_platform_set_mtime(int fd, int64_t mtime_ns, const char *name, pp_error *reterr) {
    int64_t seconds = mtime_ns / NS_PER_S - (mtime_ns % NS_PER_S < 0);
    struct timespec times[2] = {
        { .tv_nsec = UTIME_OMIT },
        { .tv_sec = (time_t)seconds, .tv_nsec = (long)(mtime_ns - seconds * NS_PER_S) },
    };
    if (futimens(fd, times) != 0)
        return pp_fail(reterr, PP_E_SYS, errno, "futimens", "%s", name);
    return PP_OK;
}

size_t pp_platform_stat_fields(const struct stat *st,
                               pp_stat_field ret_fields[PP_STAT_FIELDS_MAX]) {
    const pp_stat_field fields[] = {
        { "blksize", (uint64_t)st->st_blksize },
        { "blocks", (uint64_t)st->st_blocks },
        { "dev", st->st_dev },
        { "gid", st->st_gid },
        { "ino", st->st_ino },
        { "mtime_ns", (uint64_t)pp_platform_mtime_ns(st) },
        { "nlink", st->st_nlink },
        { "rdev", st->st_rdev },
        { "size", (uint64_t)st->st_size },
        { "uid", st->st_uid },
    };
    size_t count = sizeof fields / sizeof *fields;
    for (size_t i = 0; i < count; i++)
        ret_fields[i] = fields[i];
    return count;
}

pp_status pp_platform_exe_path(char *ret_path, size_t size, pp_error *reterr) {
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    if (length < 0)
        return pp_fail(reterr, PP_E_SYS, errno, "readlink", "/proc/self/exe");
    if ((size_t)length >= size || (size_t)length == sizeof path)
        return pp_fail(reterr, PP_E_NOMEM, 0, "readlink", "/proc/self/exe: path too long");
    for (ssize_t i = 0; i < length; i++)
        ret_path[i] = path[i];
    ret_path[length] = '\0';
    return PP_OK;
}

char **pp_platform_environment(void) {
    return environ;
}
