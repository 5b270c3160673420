/* SPDX-License-Identifier: Apache-2.0 */
/* Linux answers to platform.h. Nothing here keeps state. */
#include "platform.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cleanup.h"
#include "decode.h"

#define NS_PER_S 1000000000

pp_status pp_platform_check(pp_error *reterr) {
    (void)reterr;
    return PP_OK;
}

int64_t pp_platform_mtime_ns(const struct stat *st) {
    return (int64_t)st->st_mtim.tv_sec * NS_PER_S + st->st_mtim.tv_nsec;
}

int64_t pp_platform_ctime_ns(const struct stat *st) {
    return (int64_t)st->st_ctim.tv_sec * NS_PER_S + st->st_ctim.tv_nsec;
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

pp_status pp_platform_access_list(int fd, const char *name, char **ret_text, pp_error *reterr) {
    PP_AUTO_FREE char *bytes = malloc(XATTR_SIZE_MAX);
    if (!bytes)
        return pp_fail(reterr, PP_E_NOMEM, ENOMEM, "malloc", "%s", name);
    ssize_t size = fgetxattr(fd, "system.posix_acl_access", bytes, XATTR_SIZE_MAX);
    if (size >= 0)
        return pp__linux_decode_acl(bytes, (size_t)size, ret_text, reterr);
    if (errno != ENODATA && errno != EOPNOTSUPP)
        return pp_fail(reterr, PP_E_SYS, errno, "fgetxattr", "%s", name);
    *ret_text = NULL;
    return PP_OK;
}

unsigned pp_platform_cpus(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (unsigned)CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN); /* more CPUs than a cpu_set_t holds */
    return online > 0 ? (unsigned)online : 1;
}

/* Of x86-64, and of arm64 with small pages of 4 KiB; elsewhere the advice is for nothing. */
#define LARGE_PAGE ((size_t)2 << 20)

void *pp_platform_allocate(size_t size) {
    if (size < LARGE_PAGE / 4 || size > SIZE_MAX - LARGE_PAGE)
        return malloc(size);
    size_t whole = (size + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
    void *memory = aligned_alloc(LARGE_PAGE, whole);
    if (memory)
        (void)madvise(memory, whole, MADV_HUGEPAGE);
    return memory;
}

bool pp_platform_in_memory(int fd) {
    char byte;
    struct iovec into = { .iov_base = &byte, .iov_len = 1 };
    return preadv2(fd, &into, 1, 0, RWF_NOWAIT) >= 0;
}

bool pp_platform_own_files(void) {
    return unshare(CLONE_FILES) == 0;
}

bool pp_platform_close_range(int first, int last) {
    return syscall(SYS_close_range, (unsigned)first, (unsigned)last, 0) == 0;
}

void pp_platform_read_ahead(int fd, uint64_t offset, uint64_t size) {
    (void)posix_fadvise(fd, (off_t)offset, (off_t)size, POSIX_FADV_WILLNEED);
}

pp_status pp_platform_clone(int in, int out, const char *name, pp_error *reterr) {
    if (ioctl(out, FICLONE, in) != 0)
        return pp_fail(reterr, PP_E_UNSUPPORTED, errno, "ficlone", "%s", name);
    return PP_OK;
}

/* What the kernel says when the pair of files, not the copying, is the matter. */
static bool cannot_copy(int sys_errno) {
    return sys_errno == EXDEV || sys_errno == EINVAL || sys_errno == EOPNOTSUPP ||
           sys_errno == ENOSYS || sys_errno == EPERM;
}

pp_status pp_platform_copy_range(int in, int out, uint64_t offset, size_t size, size_t *ret_copied,
                                 const char *name, pp_error *reterr) {
    for (;;) {
        off64_t from = (off64_t)offset, to = (off64_t)offset;
        ssize_t copied = copy_file_range(in, &from, out, &to, size, 0);
        if (copied >= 0) {
            *ret_copied = (size_t)copied;
            return PP_OK;
        }
        if (errno != EINTR)
            return pp_fail(reterr, cannot_copy(errno) ? PP_E_UNSUPPORTED : PP_E_SYS, errno,
                           "copy_file_range", "%s", name);
    }
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

static bool is_link(int fd, const char *name) {
    struct stat st;
    return fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
}

/* The directory `name` in the one that is open, which is closed. */
static int enter(int fd, const char *name) {
    int inner = openat(fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int failed = inner < 0 && errno == ENOTDIR && is_link(fd, name) ? ELOOP : errno;
    (void)close(fd);
    errno = failed;
    return inner;
}

/* Step by step: openat2 could do it at once, but not on every kernel. */
int pp_platform_open_directory(const char *path) {
    int fd = open(path[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    while (fd >= 0) {
        char name[NAME_MAX + 1];
        path += strspn(path, "/");
        size_t size = strcspn(path, "/");
        if (size == 0)
            break;
        bool fits = size < sizeof name;
        memcpy(name, path, fits ? size : 0);
        name[fits ? size : 0] = '\0';
        path += size;
        if (fits) {
            fd = enter(fd, name);
        } else {
            (void)close(fd);
            fd = -1;
            errno = ENAMETOOLONG;
        }
    }
    return fd;
}

char **pp_platform_environment(void) {
    return environ;
}
