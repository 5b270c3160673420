/* SPDX-License-Identifier: Apache-2.0 */

/* Loaded before libc into pairperf-lua and, through it, into its supervisors: one call that changes
 * files below a directory fails, once, whichever process makes it. The calls are counted in a file
 * that all of them map. For tests only (tests/faults.sh, tests/cli/disk.sh).
 *
 *   PP_FAULT=POINT,ERRNO,STATE,DIRECTORY    POINT 0: only count; POINT+: that call and all after it
 *
 * STATE must exist and hold a fault_state.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

typedef struct fault_state {
    atomic_uint calls;
    char failed[4092]; /* the call that failed: text, then zeros */
} fault_state;

static fault_state *state;
static unsigned point;
static bool for_good;
static int fault;
static const char *directory;

static const struct {
    const char *name;
    int value;
} faults[] = { { "EDQUOT", EDQUOT }, { "EIO", EIO }, { "ENOSPC", ENOSPC } };

/* NOLINTNEXTLINE(bugprone-macro-parentheses): a name, not an expression */
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void set_up(const char *text) {
    char name[16], path[PATH_MAX], *end;
    int used = 0;

    point = (unsigned)strtoul(text, &end, 10);
    for_good = *end == '+';
    text = end + for_good;
    if (sscanf(text, ",%15[A-Z],%4000[^,],%n", name, path, &used) != 2 || used == 0)
        abort();
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (strcmp(faults[i].name, name) == 0)
            fault = faults[i].value;
    int fd = REAL(open)(path, O_RDWR | O_CLOEXEC);
    if (!fault || fd < 0)
        abort();
    void *map = mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    (void)close(fd);
    if (map == MAP_FAILED)
        abort();
    directory = text + used;
    state = map;
}

__attribute__((constructor)) static void load(void) {
    const char *text = getenv("PP_FAULT");

    if (text)
        set_up(text);
}

static bool below(const char *path) {
    size_t size = strlen(directory);

    return strncmp(path, directory, size) == 0 && (path[size] == '/' || path[size] == '\0');
}

static bool path_of(int fd, char path[PATH_MAX]) {
    char link[64];

    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, path, PATH_MAX - 1);
    path[size > 0 ? size : 0] = '\0';
    return size > 0;
}

/* Whether this call is the one; errno then says why it fails. */
static bool hit(const char *call, const char *path) {
    unsigned number = below(path) ? atomic_fetch_add(&state->calls, 1) + 1 : 0;
    if (number == 0 || (number != point && !(for_good && number > point)))
        return false;
    if (number == point)
        (void)snprintf(state->failed, sizeof state->failed, "%s %s", call, path);
    errno = fault;
    return true;
}

static bool hit_fd(const char *call, int fd) {
    char path[PATH_MAX];
    int before = errno;
    bool is_hit = state && path_of(fd, path) && hit(call, path);

    if (!is_hit)
        errno = before;
    return is_hit;
}

static bool hit_at(const char *call, int dir_fd, const char *name) {
    char path[2 * PATH_MAX], base[PATH_MAX];

    if (!state)
        return false;
    if (name[0] == '/' || dir_fd == AT_FDCWD)
        return hit(call, name);
    if (!path_of(dir_fd, base))
        return false;
    (void)snprintf(path, sizeof path, "%s/%s", base, name);
    return hit(call, path);
}

/* The mode of an open call whose last argument is optional. */
static mode_t mode_of(int flags, va_list list) {
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
}

int open(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    mode_t mode = mode_of(flags, list);
    va_end(list);
    if ((flags & O_CREAT) && hit_at("open", AT_FDCWD, path))
        return -1;
    return REAL(open)(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    mode_t mode = mode_of(flags, list);
    va_end(list);
    if ((flags & O_CREAT) && hit_at("open", AT_FDCWD, path))
        return -1;
    return REAL(open64)(path, flags, mode);
}

int openat(int dir_fd, const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    mode_t mode = mode_of(flags, list);
    va_end(list);
    if ((flags & O_CREAT) && hit_at("open", dir_fd, path))
        return -1;
    return REAL(openat)(dir_fd, path, flags, mode);
}

int openat64(int dir_fd, const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    mode_t mode = mode_of(flags, list);
    va_end(list);
    if ((flags & O_CREAT) && hit_at("open", dir_fd, path))
        return -1;
    return REAL(openat64)(dir_fd, path, flags, mode);
}

int mkostemp(char *name, int flags) {
    return hit_at("mkostemp", AT_FDCWD, name) ? -1 : REAL(mkostemp)(name, flags);
}

int mkostemp64(char *name, int flags) {
    return hit_at("mkostemp", AT_FDCWD, name) ? -1 : REAL(mkostemp64)(name, flags);
}

/* One that is there already needs no room. */
int mkdirat(int dir_fd, const char *path, mode_t mode) {
    bool is_new = faccessat(dir_fd, path, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
    return is_new && hit_at("mkdir", dir_fd, path) ? -1 : REAL(mkdirat)(dir_fd, path, mode);
}

int mkdir(const char *path, mode_t mode) {
    return mkdirat(AT_FDCWD, path, mode);
}

int rename(const char *from, const char *to) {
    return hit_at("rename", AT_FDCWD, to) ? -1 : REAL(rename)(from, to);
}

int renameat(int from_fd, const char *from, int to_fd, const char *to) {
    return hit_at("rename", to_fd, to) ? -1 : REAL(renameat)(from_fd, from, to_fd, to);
}

ssize_t write(int fd, const void *bytes, size_t size) {
    return hit_fd("write", fd) ? -1 : REAL(write)(fd, bytes, size);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) {
    return hit_fd("write", fd) ? -1 : REAL(pwrite)(fd, bytes, size, at);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    return hit_fd("write", fd) ? -1 : REAL(writev)(fd, parts, count);
}

int fsync(int fd) {
    return hit_fd("fsync", fd) ? -1 : REAL(fsync)(fd);
}

int fdatasync(int fd) {
    return hit_fd("fsync", fd) ? -1 : REAL(fdatasync)(fd);
}
