/* SPDX-License-Identifier: Apache-2.0 */
/* What the leaf tells and the one thing that can be done to it. Each figure stands for itself: one
 * that cannot be read is missing with its own reason. */
#include "internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pp_status need(const pp_linux_host *host, pp_error *reterr) {
    return host->leaf.dir_fd >= 0 ? PP_OK
                                  : pp_fail(reterr, PP_E_UNSUPPORTED, 0, "cgroup", "no leaf");
}

/* A file without its controller does not exist. */
static pp_status read_file(const pp_linux_host *host, pp_linux_leaf_file file, char *bytes,
                           size_t *ret_size, pp_error *reterr) {
    int fd = host->leaf.fds[file];
    if (fd == -ENOENT)
        return pp_fail(reterr, PP_E_UNSUPPORTED, ENOENT, "open", "%s", host->leaf.dir);
    if (fd < 0)
        return pp_fail(reterr, pp_status_from_errno(-fd), -fd, "open", "%s", host->leaf.dir);
    return pp__linux_pread_file(host->sys, fd, host->leaf.dir, bytes, PP_LINUX_FILE_MAX, ret_size,
                                reterr);
}

static pp_reading read_figure(const pp_linux_host *host, pp_linux_leaf_file file) {
    char bytes[PP_LINUX_FILE_MAX];
    size_t size = 0;
    uint64_t value;
    pp_status status = read_file(host, file, bytes, &size, NULL);
    if (status == PP_OK)
        status = pp__linux_decode_figure(bytes, size, &value, NULL);
    return status == PP_OK ? pp_known(value) : pp_missing(status);
}

static void read_cpu(const pp_linux_host *host, pp_leaf *leaf) {
    char bytes[PP_LINUX_FILE_MAX];
    size_t size = 0;
    pp_linux_cpu_stat stat;
    pp_status status = read_file(host, PP_LINUX_LEAF_CPU, bytes, &size, NULL);
    if (status == PP_OK)
        status = pp__linux_decode_cpu_stat(bytes, size, &stat, NULL);
    if (status != PP_OK)
        stat = (pp_linux_cpu_stat){ pp_missing(status), pp_missing(status), pp_missing(status) };
    leaf->cpu_ns = stat.cpu_ns;
    leaf->user_ns = stat.user_ns;
    leaf->system_ns = stat.system_ns;
}

static void read_memory(const pp_linux_host *host, pp_leaf *leaf) {
    char bytes[PP_LINUX_FILE_MAX];
    size_t size = 0;
    pp_linux_memory_stat stat;
    pp_status status = read_file(host, PP_LINUX_LEAF_MEMORY_STAT, bytes, &size, NULL);
    if (status == PP_OK)
        status = pp__linux_decode_memory_stat(bytes, size, &stat, NULL);
    if (status != PP_OK)
        stat = (pp_linux_memory_stat){ pp_missing(status), pp_missing(status), pp_missing(status),
                                       pp_missing(status) };
    leaf->anon_bytes = stat.anon_bytes;
    leaf->file_bytes = stat.file_bytes;
    leaf->kernel_bytes = stat.kernel_bytes;
    leaf->shmem_bytes = stat.shmem_bytes;
    leaf->current_bytes = read_figure(host, PP_LINUX_LEAF_MEMORY);
    leaf->peak_bytes = read_figure(host, PP_LINUX_LEAF_MEMORY_PEAK);
    leaf->swap_bytes = read_figure(host, PP_LINUX_LEAF_SWAP);
}

static void read_io(const pp_linux_host *host, pp_leaf *leaf) {
    char bytes[PP_LINUX_FILE_MAX];
    size_t size = 0;
    uint64_t read_bytes, write_bytes;
    pp_status status = read_file(host, PP_LINUX_LEAF_IO, bytes, &size, NULL);
    if (status == PP_OK)
        status = pp__linux_decode_io_stat(bytes, size, &read_bytes, &write_bytes, NULL);
    leaf->read_bytes = status == PP_OK ? pp_known(read_bytes) : pp_missing(status);
    leaf->write_bytes = status == PP_OK ? pp_known(write_bytes) : pp_missing(status);
}

pp_status pp__linux_leaf_read(void *ctx, pp_leaf *ret_leaf, pp_error *reterr) {
    const pp_linux_host *host = ctx;
    pp_status status = need(host, reterr);
    if (status != PP_OK)
        return status;
    read_cpu(host, ret_leaf);
    read_memory(host, ret_leaf);
    read_io(host, ret_leaf);
    return PP_OK;
}

pp_reading pp__linux_leaf_used(pp_linux_host *host, int64_t now_ns) {
    pp_linux_leaf *leaf = &host->leaf;
    pp_leaf figures;
    if (leaf->dir_fd < 0)
        return pp_missing(PP_E_UNSUPPORTED);
    if (leaf->used_at_ns == 0 || now_ns - leaf->used_at_ns > PP_LINUX_LOOK_NS) {
        read_cpu(host, &figures);
        leaf->used_ns = figures.cpu_ns;
        leaf->used_at_ns = now_ns;
    }
    return leaf->used_ns;
}

static void note_who_is_in(pp_linux_host *host, const pp_pid_list *list) {
    for (size_t i = 0; i < host->handles.count; i++)
        host->handles.items[i]->in_leaf = false;
    for (size_t i = 0; i < list->count; i++) {
        pp_linux_handle *handle = pp__linux_handle_held(host, list->pids[i]);
        if (handle != NULL)
            handle->in_leaf = true;
    }
}

pp_status pp__linux_leaf_list(void *ctx, pp_pid_list *ret_pids, pp_error *reterr) {
    pp_linux_host *host = ctx;
    pp_status status = need(host, reterr);
    if (status != PP_OK)
        return status;
    int fd = host->leaf.fds[PP_LINUX_LEAF_PROCS];
    pp_pid_list list = { 0 };
    char *bytes = NULL;
    size_t size = 0;
    pp_error error = { 0 };
    status = pp__linux_read_list(host->sys, fd, host->leaf.dir, &bytes, &size, &error);
    if (status == PP_OK)
        status = pp__linux_decode_procs(bytes, size, &list, &error);
    free(bytes);
    if (status != PP_OK)
        list.count = 0;
    note_who_is_in(host, &list);
    if (status == PP_OK) {
        *ret_pids = list;
        return PP_OK;
    }
    pp_pid_list_done(&list);
    return pp_fail(reterr, PP_E_ENUMERATION, error.sys_errno, error.op, "%s", error.detail);
}

static bool is_at_or_below(const char *path, const char *place) {
    size_t size = strlen(place);
    return strncmp(path, place, size) == 0 &&
           (path[size] == '\0' || path[size] == '/' || path[size] == ' '); /* " (deleted)" */
}

static pp_status look_at_path(const pp_linux_host *host, int32_t pid, bool *ret_inside,
                              pp_error *reterr) {
    char file[PP_LINUX_PATH_MAX], bytes[PP_LINUX_FILE_MAX], place[PP_LINUX_CGROUP_PATH_MAX];
    size_t size = 0;
    (void)snprintf(file, sizeof file, "/proc/%d/cgroup", pid);
    pp_status status = pp__linux_read_path(host->sys, file, bytes, sizeof bytes, &size, reterr);
    if (status == PP_OK)
        status = pp__linux_decode_own_cgroup(bytes, size, place, sizeof place, reterr);
    if (status == PP_OK)
        *ret_inside = is_at_or_below(place, host->leaf.place);
    return status;
}

/* False: the number of the cgroup does not decide, for another one may still lie below the leaf. */
static bool has_its_number(pp_linux_host *host, int pidfd) {
    uint64_t cgroup = 0;
    int result = host->leaf.by_path ? -ENOTTY : host->sys->cgroup_of(pidfd, &cgroup);
    if (result < 0 && result != -ESRCH)
        host->leaf.by_path = true;
    return result == 0 && cgroup == host->leaf.id;
}

pp_status pp__linux_leaf_holds_number(pp_linux_host *host, int32_t pid, bool *ret_inside) {
    pp_status status = need(host, NULL);
    if (status != PP_OK)
        return status;
    int pidfd = host->leaf.by_path ? -1 : host->sys->pidfd_open(pid);
    *ret_inside = pidfd >= 0 && has_its_number(host, pidfd);
    pp__linux_close(host->sys, &pidfd);
    return *ret_inside ? PP_OK : look_at_path(host, pid, ret_inside, NULL);
}

pp_status pp__linux_leaf_holds(void *ctx, pp_proc_id id, bool *ret_inside, pp_error *reterr) {
    pp_linux_host *host = ctx;
    pp_linux_handle *handle;
    pp_status status = need(host, reterr);
    if (status == PP_OK)
        status = pp__linux_handle_find(host, id, &handle, reterr);
    if (status != PP_OK)
        return status;
    if (has_its_number(host, handle->pidfd)) {
        *ret_inside = true;
        return PP_OK;
    }
    bool inside = false;
    status = look_at_path(host, id.pid, &inside, reterr);
    if (status == PP_OK)
        status = pp__linux_handle_validate(host, handle, reterr);
    if (status == PP_OK)
        *ret_inside = inside;
    return status;
}

pp_status pp__linux_leaf_empty(void *ctx, pp_error *reterr) {
    const pp_linux_host *host = ctx;
    char bytes[PP_LINUX_FILE_MAX];
    size_t size = 0;
    bool populated;
    pp_status status = need(host, reterr);
    if (status == PP_OK)
        status = read_file(host, PP_LINUX_LEAF_EVENTS, bytes, &size, reterr);
    if (status == PP_OK)
        status = pp__linux_decode_populated(bytes, size, &populated, reterr);
    if (status == PP_OK && populated)
        return pp_fail(reterr, PP_E_AGAIN, 0, "cgroup.events", "%s", host->leaf.dir);
    return status;
}

pp_status pp__linux_leaf_kill(void *ctx, pp_error *reterr) {
    const pp_linux_host *host = ctx;
    pp_status status = need(host, reterr);
    if (status != PP_OK)
        return status;
    int fd = host->leaf.fds[PP_LINUX_LEAF_KILL];
    ssize_t wrote = fd < 0 ? fd : host->sys->write(fd, "1", 1);
    if (wrote == 1)
        return PP_OK;
    int sys_errno = wrote < 0 ? (int)-wrote : EIO;
    status = sys_errno == ENOENT ? PP_E_UNSUPPORTED : pp_status_from_errno(sys_errno);
    return pp_fail(reterr, status, sys_errno, "cgroup.kill", "%s", host->leaf.dir);
}

const char *pp__linux_leaf_path(void *ctx) {
    const pp_linux_host *host = ctx;
    return host->leaf.dir_fd >= 0 ? host->leaf.dir : NULL;
}
