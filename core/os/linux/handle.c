/* SPDX-License-Identifier: Apache-2.0 */
/* One handle per pid, and it answers for one process only. A pidfd is opened first; whatever is
 * opened by number after it belongs to the same process if the pidfd is still unreaped at the end,
 * because a number is not given away before its process is reaped. From then on the held
 * descriptors alone are asked, and ESRCH from them ends the handle. */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pp_status no_memory(pp_error *reterr) {
    return pp_fail(reterr, PP_E_NOMEM, 0, "handle", "no memory");
}

/* Where pid is, or would have to be. */
static size_t position(const pp_linux_handles *handles, int32_t pid) {
    size_t low = 0, high = handles->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (handles->items[middle]->id.pid < pid)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

pp_linux_handle *pp__linux_handle_held(pp_linux_host *host, int32_t pid) {
    pp_linux_handles *handles = &host->handles;
    size_t at = position(handles, pid);
    return at < handles->count && handles->items[at]->id.pid == pid ? handles->items[at] : NULL;
}

static void handle_free(const pp_linux_sys *sys, pp_linux_handle *handle) {
    pp__linux_close(sys, &handle->pidfd);
    pp__linux_close(sys, &handle->stat_fd);
    pp__linux_close(sys, &handle->statm_fd);
    pp__linux_close(sys, &handle->io_fd);
    pp__linux_threads_done(sys, &handle->threads);
    free(handle);
}

static pp_status insert(pp_linux_handles *handles, pp_linux_handle *handle, pp_error *reterr) {
    if (handles->count == handles->capacity) {
        size_t capacity = handles->capacity ? handles->capacity * 2 : 32;
        pp_linux_handle **items = reallocarray(handles->items, capacity, sizeof *items);
        if (items == NULL)
            return no_memory(reterr);
        handles->items = items;
        handles->capacity = capacity;
    }
    size_t at = position(handles, handle->id.pid);
    memmove(handles->items + at + 1, handles->items + at,
            (handles->count - at) * sizeof *handles->items);
    handles->items[at] = handle;
    handles->count++;
    return PP_OK;
}

void pp__linux_handle_drop(pp_linux_host *host, int32_t pid) {
    pp_linux_handles *handles = &host->handles;
    size_t at = position(handles, pid);
    if (at == handles->count || handles->items[at]->id.pid != pid)
        return;
    handle_free(host->sys, handles->items[at]);
    handles->count--;
    memmove(handles->items + at, handles->items + at + 1,
            (handles->count - at) * sizeof *handles->items);
}

void pp__linux_handles_done(pp_linux_host *host) {
    for (size_t i = 0; i < host->handles.count; i++)
        handle_free(host->sys, host->handles.items[i]);
    free(host->handles.items);
    host->handles = (pp_linux_handles){ 0 };
}

static int open_pidfd(const pp_linux_host *host, int32_t pid) {
    int fd = host->sys->pidfd_open(pid);
    /* The number is a thread's of some other process by now. */
    return fd == -EINVAL || fd == -ENOENT ? -ESRCH : fd;
}

/* The process is unreaped: 0, or -ESRCH and the like. EPERM is an answer about a process, too. */
static int check_pidfd(const pp_linux_host *host, int pidfd) {
    int result = host->sys->pidfd_signal(pidfd, 0, 0);
    return result == -EPERM ? 0 : result;
}

static int open_proc_file(const pp_linux_host *host, int32_t pid, const char *name) {
    char path[PP_LINUX_PATH_MAX];
    (void)snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    return host->sys->open_at(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
}

/* /proc hides it (hidepid) if the pidfd says that it lives. */
static pp_status open_failed(const pp_linux_host *host, const pp_linux_handle *handle, int result,
                             const char *name, pp_error *reterr) {
    if (result == -ENOENT && check_pidfd(host, handle->pidfd) == 0)
        return pp_fail(reterr, PP_E_DENIED, ENOENT, "open", "/proc/%d/%s is hidden", handle->id.pid,
                       name);
    return pp__linux_fail(reterr, result, "open", name);
}

static void note_parent(pp_linux_host *host, pp_linux_handle *handle) {
    const pp_linux_handle *parent = pp__linux_handle_held(host, handle->stat.ppid);
    handle->parent = parent != NULL ? parent->id : (pp_proc_id){ 0 };
    handle->parent_cpu = parent != NULL ? parent->stat_cpu : pp_missing(PP_OK);
}

static pp_status read_stat(pp_linux_host *host, pp_linux_handle *handle, pp_reading cpu,
                           pp_error *reterr) {
    char bytes[PP_LINUX_FILE_MAX];
    size_t size;
    pp_linux_stat stat;
    pp_status status = pp__linux_pread_file(host->sys, handle->stat_fd, "stat", bytes, sizeof bytes,
                                            &size, reterr);
    if (status == PP_OK)
        status = pp__linux_decode_stat(bytes, size, &stat, reterr);
    if (status != PP_OK)
        return status;
    if (stat.state == 'X' || stat.state == 'x')
        return pp_fail(reterr, PP_E_VANISHED, 0, "stat", "%d is being released", stat.pid);
    handle->stat = stat;
    handle->stat_cpu = cpu;
    note_parent(host, handle);
    return PP_OK;
}

/* State, threads and waited-for children change when the process runs; its parent's number when
 * that one ends; its group also when its parent runs, before it executes a program. We are a parent
 * that does none of this. A clock at 0 is that of anybody who was just born. */
bool pp__linux_handle_stands(pp_linux_host *host, const pp_linux_handle *handle, pp_reading cpu) {
    if (!pp__linux_stood_still(handle->stat_cpu, cpu) || cpu.value == 0)
        return false;
    if (handle->stat.ppid == host->own_pid)
        return true;
    const pp_linux_handle *parent = pp__linux_handle_held(host, handle->stat.ppid);
    return parent != NULL && pp_proc_id_equal(parent->id, handle->parent) &&
           pp__linux_stood_still(handle->parent_cpu, parent->stat_cpu);
}

/* VANISHED: it is reaped. One that is only about to be (state X) still has its number. */
pp_status pp__linux_handle_gone(pp_linux_host *host, int32_t pid, pp_error *reterr) {
    pp__linux_handle_drop(host, pid);
    int fd = open_pidfd(host, pid);
    pp_status status = fd >= 0 ? PP_E_STALE : PP_E_VANISHED;
    pp__linux_close(host->sys, &fd);
    return pp_fail(reterr, status, ESRCH, "validate", "pid %d", pid);
}

static pp_status fill(pp_linux_host *host, pp_linux_handle *handle, pp_error *reterr) {
    int32_t pid = handle->id.pid;
    handle->pidfd = open_pidfd(host, pid);
    if (handle->pidfd < 0)
        return pp__linux_fail(reterr, handle->pidfd, "pidfd_open", "");
    uint64_t magic;
    if (pp__linux_has(host, PP_LINUX_FACT_INODE)) {
        int result = host->sys->inode(handle->pidfd, &magic, &handle->id.unique);
        if (result < 0)
            return pp__linux_fail(reterr, result, "fstat", "pidfd");
    }
    handle->stat_fd = open_proc_file(host, pid, "stat");
    if (handle->stat_fd < 0)
        return open_failed(host, handle, handle->stat_fd, "stat", reterr);
    handle->statm_fd = open_proc_file(host, pid, "statm");
    if (handle->statm_fd < 0)
        return open_failed(host, handle, handle->statm_fd, "statm", reterr);
    if (pp__linux_has(host, PP_LINUX_FACT_IO))
        handle->io_fd = open_proc_file(host, pid, "io");

    pp_status status = read_stat(host, handle, pp__linux_process_clock(host, pid), reterr);
    if (status != PP_OK)
        return status;
    int result = check_pidfd(host, handle->pidfd);
    if (result == -ESRCH)
        return pp__linux_handle_gone(host, pid, reterr);
    if (result < 0)
        return pp__linux_fail(reterr, result, "pidfd_send_signal", "0");
    handle->id.start = handle->stat.start_ticks;
    return PP_OK;
}

static pp_status open_handle(pp_linux_host *host, int32_t pid, pp_linux_handle **ret_handle,
                             pp_error *reterr) {
    pp_linux_handle *handle = calloc(1, sizeof *handle);
    if (handle == NULL)
        return no_memory(reterr);
    handle->id.pid = pid;
    handle->pidfd = handle->stat_fd = handle->statm_fd = handle->io_fd = -1;
    handle->threads.task_fd = -1;

    pp_status status = fill(host, handle, reterr);
    if (status == PP_OK)
        status = insert(&host->handles, handle, reterr);
    if (status != PP_OK) {
        handle_free(host->sys, handle);
        return status;
    }
    *ret_handle = handle;
    return PP_OK;
}

pp_status pp__linux_handle_stat(pp_linux_host *host, pp_linux_handle *handle, pp_reading cpu,
                                pp_error *reterr) {
    pp_status status = read_stat(host, handle, cpu, reterr);
    return status == PP_E_VANISHED ? pp__linux_handle_gone(host, handle->id.pid, reterr) : status;
}

pp_status pp__linux_handle_validate(pp_linux_host *host, pp_linux_handle *handle,
                                    pp_error *reterr) {
    int result = check_pidfd(host, handle->pidfd);
    if (result == -ESRCH)
        return pp__linux_handle_gone(host, handle->id.pid, reterr);
    if (result < 0)
        return pp__linux_fail(reterr, result, "pidfd_send_signal", "0");
    return PP_OK;
}

pp_status pp__linux_handle_get(pp_linux_host *host, int32_t pid, pp_linux_handle **ret_handle,
                               pp_error *reterr) {
    if (pid <= 0)
        return pp_fail(reterr, PP_E_INVALID, 0, "handle", "pid %d", pid);
    pp_linux_handle *handle = pp__linux_handle_held(host, pid);
    if (handle != NULL) {
        pp_reading cpu = pp__linux_process_clock(host, pid);
        pp_status status = pp__linux_handle_stat(host, handle, cpu, reterr);
        if (status == PP_OK)
            *ret_handle = handle;
        if (status != PP_E_STALE)
            return status;
    }
    return open_handle(host, pid, ret_handle, reterr);
}

pp_status pp__linux_handle_find(pp_linux_host *host, pp_proc_id id, pp_linux_handle **ret_handle,
                                pp_error *reterr) {
    if (id.pid <= 0)
        return pp_fail(reterr, PP_E_INVALID, 0, "handle", "pid %d", id.pid);
    pp_linux_handle *handle = pp__linux_handle_held(host, id.pid);
    bool opened = handle == NULL;
    if (opened) {
        pp_status status = open_handle(host, id.pid, &handle, reterr);
        if (status != PP_OK)
            return status;
    }
    if (!pp_proc_id_equal(handle->id, id)) {
        if (opened) /* nobody asked for this one */
            pp__linux_handle_drop(host, id.pid);
        return pp_fail(reterr, PP_E_STALE, 0, "handle", "pid %d is another process", id.pid);
    }
    *ret_handle = handle;
    return PP_OK;
}

void pp__linux_forget(void *ctx, pp_proc_id id) {
    pp_linux_host *host = ctx;
    pp_linux_handle *handle = pp__linux_handle_held(host, id.pid);
    if (handle != NULL && pp_proc_id_equal(handle->id, id))
        pp__linux_handle_drop(host, id.pid);
}
