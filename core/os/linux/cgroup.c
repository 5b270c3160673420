/* SPDX-License-Identifier: Apache-2.0 */
/* The life of the leaf: a fresh cgroup below our own place, for one leader, never used again. No
 * controller is ever enabled for it. What cannot be made or used is given back at once, and the
 * capability says why. Only names of supervisors that are gone are cleared away, and only by rmdir,
 * which the kernel refuses while anybody lives in it. */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CGROUP2_MAGIC UINT64_C(0x63677270)

enum { DIRECTORY_BYTES = 16 * 1024, MAX_DIRECTORY_READS = 256, NAMESPACE_AT = 5 };

static const char *const file_names[PP_LINUX_LEAF_FILES] = {
    [PP_LINUX_LEAF_CPU] = "cpu.stat",
    [PP_LINUX_LEAF_PROCS] = "cgroup.procs",
    [PP_LINUX_LEAF_EVENTS] = "cgroup.events",
    [PP_LINUX_LEAF_KILL] = "cgroup.kill",
    [PP_LINUX_LEAF_MEMORY] = "memory.current",
    [PP_LINUX_LEAF_MEMORY_PEAK] = "memory.peak",
    [PP_LINUX_LEAF_MEMORY_STAT] = "memory.stat",
    [PP_LINUX_LEAF_SWAP] = "memory.swap.current",
    [PP_LINUX_LEAF_IO] = "io.stat",
};

void pp__linux_leaf_init(pp_linux_leaf *leaf) {
    *leaf = (pp_linux_leaf){ .parent_fd = -1, .dir_fd = -1 };
    for (size_t i = 0; i < PP_LINUX_LEAF_FILES; i++)
        leaf->fds[i] = -ENOENT;
}

/* What is missing or refused here is a property of the system. */
static pp_status leaf_fail(pp_error *reterr, int result, const char *op, const char *about) {
    int sys_errno = -result;
    pp_status status = pp_status_from_errno(sys_errno);
    if (sys_errno == ENOENT || sys_errno == EINVAL)
        status = PP_E_UNSUPPORTED;
    else if (sys_errno == EROFS)
        status = PP_E_DENIED;
    return pp_fail(reterr, status, sys_errno, op, "%s", about);
}

static pp_status read_whole(const pp_linux_sys *sys, const char *path, char **ret_bytes,
                            size_t *ret_size, pp_error *reterr) {
    int fd = sys->open_at(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return leaf_fail(reterr, fd, "open", path);
    pp_status status = pp__linux_read_growing(sys, fd, path, ret_bytes, ret_size, reterr);
    pp__linux_close(sys, &fd);
    return status;
}

static pp_status read_own_place(pp_linux_host *host, char *ret_place, pp_error *reterr) {
    char *bytes = NULL;
    size_t size = 0;
    pp_status status = read_whole(host->sys, "/proc/self/cgroup", &bytes, &size, reterr);
    if (status != PP_OK)
        return status;
    status = pp__linux_decode_own_cgroup(bytes, size, ret_place, PP_LINUX_CGROUP_PATH_MAX, reterr);
    free(bytes);
    return status;
}

/* The pid namespace's number, 0 when it is not told. */
static uint64_t own_namespace(const pp_linux_sys *sys) {
    char link[64];
    ssize_t size = sys->read_link("/proc/self/ns/pid", link, sizeof link - 1);
    if (size <= NAMESPACE_AT)
        return 0;
    link[size] = '\0';
    return strtoull(link + NAMESPACE_AT, NULL, 10); /* "pid:[4026531836]" */
}

static pp_status read_start(const pp_linux_sys *sys, int32_t pid, uint64_t *ret_ticks,
                            pp_error *reterr) {
    char path[PP_LINUX_PATH_MAX], bytes[PP_LINUX_FILE_MAX];
    size_t size;
    pp_linux_stat stat;
    (void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
    pp_status status = pp__linux_read_path(sys, path, bytes, sizeof bytes, &size, reterr);
    if (status == PP_OK)
        status = pp__linux_decode_stat(bytes, size, &stat, reterr);
    if (status == PP_OK)
        *ret_ticks = stat.start_ticks;
    return status;
}

/* Its number is free, or another process's. What cannot be told is not gone. */
static bool is_gone(const pp_linux_sys *sys, const pp_linux_leaf_owner *owner) {
    int pidfd = sys->pidfd_open(owner->pid);
    if (pidfd < 0) /* the last two: the number is a thread's */
        return pidfd == -ESRCH || pidfd == -EINVAL || pidfd == -ENOENT;
    uint64_t start;
    bool other = read_start(sys, owner->pid, &start, NULL) == PP_OK && start != owner->start_ticks;
    pp__linux_close(sys, &pidfd);
    return other;
}

static int open_dir(const pp_linux_sys *sys, int at, const char *path) {
    return sys->open_at(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
}

/* A pid of another namespace says nothing here, but every owner holds a lock while it lives. */
static bool is_unlocked(const pp_linux_sys *sys, int parent_fd, const char *name) {
    int fd = open_dir(sys, parent_fd, name);
    bool unlocked = fd >= 0 && sys->try_lock(fd) >= 0;
    pp__linux_close(sys, &fd);
    return unlocked;
}

static void clear_away(const pp_linux_host *host, int parent_fd, uint64_t namespace,
                       const char *name) {
    pp_linux_leaf_owner owner;
    if (!pp__linux_decode_leaf_name(name, &owner))
        return;
    if (owner.namespace == namespace ? is_gone(host->sys, &owner)
                                     : is_unlocked(host->sys, parent_fd, name))
        (void)host->sys->remove_dir(parent_fd, name);
}

/* Leaves of supervisors that were killed. */
static void clear_stale(const pp_linux_host *host, int parent_fd, uint64_t namespace) {
    _Alignas(uint64_t) char bytes[DIRECTORY_BYTES];
    for (int reads = 0; reads < MAX_DIRECTORY_READS; reads++) {
        ssize_t got = host->sys->read_dir(parent_fd, bytes, sizeof bytes);
        if (got <= 0)
            return;
        const char *name;
        for (size_t at = 0; pp__linux_next_name(bytes, (size_t)got, &at, &name);)
            clear_away(host, parent_fd, namespace, name);
    }
}

static pp_status hold_files(pp_linux_host *host, pp_linux_leaf *leaf, pp_error *reterr) {
    uint64_t magic;
    leaf->dir_fd = open_dir(host->sys, leaf->parent_fd, leaf->name);
    if (leaf->dir_fd < 0)
        return leaf_fail(reterr, leaf->dir_fd, "open", leaf->dir);
    int result = host->sys->inode(leaf->dir_fd, &magic, &leaf->id);
    if (result < 0)
        return leaf_fail(reterr, result, "fstat", leaf->dir);
    if (magic != CGROUP2_MAGIC)
        return pp_fail(reterr, PP_E_UNSUPPORTED, 0, "fstatfs", "%s: no cgroup2", leaf->dir);
    for (size_t i = 0; i < PP_LINUX_LEAF_FILES; i++) {
        int flags = i == PP_LINUX_LEAF_KILL ? O_WRONLY : O_RDONLY;
        leaf->fds[i] = host->sys->open_at(leaf->dir_fd, file_names[i], flags | O_CLOEXEC, 0);
        if (i < PP_LINUX_LEAF_NEEDED && leaf->fds[i] < 0)
            return leaf_fail(reterr, leaf->fds[i], "open", file_names[i]);
    }
    return PP_OK;
}

static pp_status let_go(pp_linux_host *host, pp_error *reterr) {
    pp_linux_leaf *leaf = &host->leaf;
    int result = 0;
    for (size_t i = 0; i < PP_LINUX_LEAF_FILES; i++)
        pp__linux_close(host->sys, &leaf->fds[i]);
    pp__linux_close(host->sys, &leaf->dir_fd);
    if (leaf->parent_fd >= 0)
        result = host->sys->remove_dir(leaf->parent_fd, leaf->name);
    pp__linux_close(host->sys, &leaf->parent_fd);
    pp_status status =
        result < 0 && result != -ENOENT ? leaf_fail(reterr, result, "rmdir", leaf->dir) : PP_OK;
    pp__linux_leaf_init(leaf);
    return status;
}

/* Makes the directory `leaf->name` below `parent`. */
static pp_status make_in(pp_linux_host *host, const char *parent, uint64_t namespace,
                         pp_error *reterr) {
    pp_linux_leaf *leaf = &host->leaf;
    int length = snprintf(leaf->dir, sizeof leaf->dir, "%s/%s", parent, leaf->name);
    if (length < 0 || (size_t)length >= sizeof leaf->dir)
        return pp_fail(reterr, PP_E_NOMEM, 0, "mkdir", "%s: path too long", leaf->name);
    int fd = open_dir(host->sys, AT_FDCWD, parent);
    if (fd < 0)
        return leaf_fail(reterr, fd, "open", parent);
    clear_stale(host, fd, namespace);
    int result = host->sys->make_dir(fd, leaf->name);
    if (result < 0) {
        pp__linux_close(host->sys, &fd);
        return leaf_fail(reterr, result, "mkdir", leaf->dir);
    }
    leaf->parent_fd = fd;
    pp_status status = hold_files(host, leaf, reterr);
    if (status == PP_OK)
        (void)host->sys->try_lock(leaf->dir_fd);
    else
        (void)let_go(host, NULL);
    return status;
}

/* As our own cgroup's children are shown. */
static pp_status name_it(pp_linux_host *host, const char *own_place, uint64_t namespace,
                         pp_error *reterr) {
    pp_linux_leaf *leaf = &host->leaf;
    uint64_t start;
    pp_status status = read_start(host->sys, (int32_t)getpid(), &start, reterr);
    if (status != PP_OK)
        return status;
    (void)snprintf(leaf->name, sizeof leaf->name, "pairperf-%d-%llu-%llu", (int)getpid(),
                   (unsigned long long)start, (unsigned long long)namespace);
    const char *above = strcmp(own_place, "/") == 0 ? "" : own_place;
    int length = snprintf(leaf->place, sizeof leaf->place, "%s/%s", above, leaf->name);
    if (length < 0 || (size_t)length >= sizeof leaf->place)
        return pp_fail(reterr, PP_E_NOMEM, 0, "cgroup", "%s: path too long", own_place);
    return PP_OK;
}

/* In the first mount that allows it. */
static pp_status make(pp_linux_host *host, pp_error *reterr) {
    char own_place[PP_LINUX_CGROUP_PATH_MAX], parent[PP_LINUX_CGROUP_PATH_MAX];
    char *mounts = NULL;
    size_t size = 0;
    uint64_t namespace = own_namespace(host->sys);
    pp_error ignored;
    pp_status status = read_own_place(host, own_place, reterr);
    if (status == PP_OK)
        status = name_it(host, own_place, namespace, reterr);
    if (status == PP_OK)
        status = read_whole(host->sys, "/proc/self/mountinfo", &mounts, &size, reterr);
    if (status != PP_OK)
        return status;
    status = PP_E_AGAIN;
    for (size_t skip = 0; status != PP_OK; skip++) {
        pp_status found = pp__linux_decode_cgroup_dir(mounts, size, own_place, skip, parent,
                                                      sizeof parent, skip ? &ignored : reterr);
        if (found != PP_OK) { /* what the last mount said tells more */
            status = skip ? status : found;
            break;
        }
        const pp_linux_leaf named = host->leaf;
        status = make_in(host, parent, namespace, reterr);
        if (status != PP_OK)
            host->leaf = named;
    }
    free(mounts);
    return status;
}

void pp__linux_leaf_open(pp_linux_host *host) {
    pp_error error = { 0 };
    if (host->wants_no_leaf)
        return;
    if (make(host, &error) == PP_OK) {
        host->leaf.by_path = !pp__linux_has(host, PP_LINUX_FACT_INODE);
        pp__linux_record(host, PP_LINUX_FACT_LEAF, 0);
        return;
    }
    pp__linux_leaf_init(&host->leaf);
    pp__linux_record_error(host, PP_LINUX_FACT_LEAF, &error);
}

pid_t pp__linux_leaf_fork(pp_linux_host *host) {
    if (host->leaf.dir_fd < 0)
        return host->sys->fork();
    pid_t pid = host->sys->fork_into(host->leaf.dir_fd);
    if (pid >= 0)
        return pid;
    pp_error error;
    (void)leaf_fail(&error, pid, "clone3", host->leaf.dir);
    pp__linux_record_error(host, PP_LINUX_FACT_LEAF, &error);
    (void)let_go(host, NULL);
    return host->sys->fork();
}

pp_status pp__linux_leaf_take_over(pp_linux_host *host, const char *dir, pp_error *reterr) {
    pp_linux_leaf *leaf = &host->leaf;
    pp_linux_leaf_owner owner;
    const char *slash = strrchr(dir, '/');
    size_t above = slash ? (size_t)(slash - dir) : 0;
    if (slash == NULL || above == 0 || strlen(dir) >= sizeof leaf->dir ||
        strlen(slash + 1) >= sizeof leaf->name || !pp__linux_decode_leaf_name(slash + 1, &owner))
        return pp_fail(reterr, PP_E_INVALID, 0, "cgroup", "%s: not a leaf's name", dir);
    memcpy(leaf->name, slash + 1, strlen(slash + 1) + 1);
    memcpy(leaf->dir, dir, above);
    leaf->dir[above] = '\0';
    leaf->parent_fd = open_dir(host->sys, AT_FDCWD, leaf->dir);
    if (leaf->parent_fd < 0)
        return leaf_fail(reterr, leaf->parent_fd, "open", leaf->dir);
    memcpy(leaf->dir, dir, strlen(dir) + 1);
    pp_status status = hold_files(host, leaf, reterr);
    if (status == PP_OK)
        return PP_OK;
    for (size_t i = 0; i < PP_LINUX_LEAF_FILES; i++)
        pp__linux_close(host->sys, &leaf->fds[i]);
    pp__linux_close(host->sys, &leaf->dir_fd);
    pp__linux_close(host->sys, &leaf->parent_fd);
    pp__linux_leaf_init(leaf);
    return status;
}

pp_status pp__linux_leaf_close(pp_linux_host *host, pp_error *reterr) {
    return let_go(host, reterr);
}
