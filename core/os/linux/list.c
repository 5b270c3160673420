/* SPDX-License-Identifier: Apache-2.0 */
/* Lists are whole or they are failures. Processes that end during a pass are left out, which is
 * true of them; a thread that ends during a pass hands its children to another thread that may
 * have been read already, so that pass does not count and is repeated, within a bound. */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    MAX_PASSES = 16,
};

static pp_status deliver(pp_pid_list *from, pp_status status, pp_pid_list *ret_pids) {
    if (status == PP_OK)
        *ret_pids = *from;
    else
        pp_pid_list_done(from);
    return status;
}

/* Every pid in /proc. */
static pp_status list_all(pp_linux_host *host, pp_pid_list *list, pp_error *reterr) {
    int result = host->sys->rewind(host->proc_fd);
    if (result < 0)
        return pp_fail(reterr, PP_E_ENUMERATION, -result, "lseek", "/proc");
    return pp__linux_list_numbers(host->sys, host->proc_fd, "/proc", list, reterr);
}

static int by_number(const void *a, const void *b) {
    int32_t left = *(const int32_t *)a, right = *(const int32_t *)b;
    return (left > right) - (left < right);
}

/* The order is lost. */
static void drop_duplicates(pp_pid_list *list) {
    if (list->count < 2)
        return;
    qsort(list->pids, list->count, sizeof *list->pids, by_number);
    size_t kept = 1;
    for (size_t i = 1; i < list->count; i++)
        if (list->pids[i] != list->pids[kept - 1])
            list->pids[kept++] = list->pids[i];
    list->count = kept;
}

/* Whom a pass through /proc may not show: one that it hides (hidepid), and one with a number behind
 * the place that was read by the time it was born. If its parent is gone, it is ours by now. */
static pp_status add_known(pp_linux_host *host, pp_pid_list *list, pp_error *reterr) {
    pp_pid_list own = { 0 };
    pp_status status = pp__linux_list_own_children(host, &own, reterr);
    for (size_t i = 0; i < own.count && status == PP_OK; i++)
        status = pp_pid_list_add(list, own.pids[i]);
    for (size_t i = 0; i < host->handles.count && status == PP_OK; i++)
        status = pp_pid_list_add(list, host->handles.items[i]->id.pid);
    pp_pid_list_done(&own);
    return status;
}

/* Whose group it is, the kernel says of those that /proc hides, too. */
pp_status pp__linux_list_group(void *ctx, int32_t pgid, pp_pid_list *ret_pids, pp_error *reterr) {
    pp_linux_host *host = ctx;
    pp_pid_list pids = { 0 };
    pp_status status = list_all(host, &pids, reterr);
    size_t kept = 0;
    if (status == PP_OK)
        status = add_known(host, &pids, reterr);
    for (size_t i = 0; i < pids.count && status == PP_OK; i++)
        if (host->sys->get_pgid(pids.pids[i]) == pgid) /* else another group or gone */
            pids.pids[kept++] = pids.pids[i];
    pids.count = kept;
    drop_duplicates(&pids);
    return deliver(&pids, status, ret_pids);
}

static pp_status open_children(pp_linux_host *host, int32_t pid, pp_linux_thread *thread,
                               pp_error *reterr) {
    char path[PP_LINUX_PATH_MAX];
    if (thread->children_fd >= 0)
        return PP_OK;
    (void)snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, thread->tid);
    thread->children_fd = host->sys->open_at(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    return thread->children_fd < 0 ? pp__linux_fail(reterr, thread->children_fd, "open", path)
                                   : PP_OK;
}

static pp_status add_children_of_thread(pp_linux_host *host, int32_t pid, pp_linux_thread *thread,
                                        pp_pid_list *list, pp_error *reterr) {
    char *bytes = NULL;
    size_t size = 0;
    pp_status status = open_children(host, pid, thread, reterr);
    if (status != PP_OK)
        return status;
    status = pp__linux_read_list(host->sys, thread->children_fd, "children", &bytes, &size, reterr);
    thread->has_children = size > 0;
    if (status == PP_OK)
        status = pp__linux_decode_children(bytes, size, list, reterr);
    free(bytes);
    if (pp__linux_has(host, PP_LINUX_FACT_THREAD_TIMES)) /* some_thread_ended */
        pp__linux_keep(host, &thread->children_fd);
    else
        pp__linux_close(host->sys, &thread->children_fd);
    return status;
}

/* The held children file of a thread that has ended is empty; its other files are no more. */
static bool some_thread_ended(pp_linux_host *host, const pp_linux_handle *handle) {
    const pp_linux_threads *threads = &handle->threads;
    for (size_t i = 0; i < threads->count; i++) {
        pp_reading time = pp__linux_thread_time(host, handle->id.pid, &threads->items[i]);
        if (!time.known && time.why == PP_E_VANISHED)
            return true;
    }
    return false;
}

/* A process that has not run since got no child but one that it adopted, and that came from a child
 * it had. */
static bool has_still_none(const pp_linux_handle *handle, pp_reading cpu) {
    const pp_linux_threads *threads = &handle->threads;
    return pp__linux_stood_still(threads->children_cpu, cpu) && !threads->had_children;
}

/* The kernel gives those that it adopts to the first living thread. Which one that is can only be
 * told while it is the main thread. */
static bool may_skip(const pp_linux_handle *handle, const pp_linux_thread *thread, pp_reading cpu) {
    return pp__linux_stood_still(handle->threads.children_cpu, cpu) && handle->stat.state != 'Z' &&
           thread->tid != handle->id.pid && !thread->has_children;
}

/* PP_E_AGAIN: a thread ended meanwhile. */
static pp_status add_children(pp_linux_host *host, pp_linux_handle *handle, pp_pid_list *list,
                              pp_error *reterr) {
    pp_linux_threads *threads = &handle->threads;
    int32_t pid = handle->id.pid;
    pp_reading cpu =
        handle->fresh_for_children ? handle->stat_cpu : pp__linux_process_clock(host, pid);
    handle->fresh_for_children = false;
    if (has_still_none(handle, cpu))
        return PP_OK;
    size_t before = list->count;
    bool still = pp__linux_stood_still(threads->children_cpu, cpu);
    pp_status status = pp__linux_threads_list(host, handle, cpu, reterr);
    bool listed = status == PP_OK;
    size_t parents = 0;
    for (size_t i = 0; i < threads->count && status == PP_OK; i++) {
        size_t so_far = list->count;
        if (!may_skip(handle, &threads->items[i], cpu))
            status = add_children_of_thread(host, pid, &threads->items[i], list, reterr);
        parents += list->count > so_far;
    }
    if (parents > 1) /* one handed from thread to thread may have been read twice */
        drop_duplicates(list);
    if (listed && status == PP_E_VANISHED)
        status = PP_E_AGAIN;
    if (status == PP_OK && threads->count > 1 && !still &&
        !pp__linux_stood_still(cpu, pp__linux_process_clock(host, pid)) &&
        some_thread_ended(host, handle))
        status = PP_E_AGAIN;
    threads->children_cpu = status == PP_OK ? cpu : pp_missing(status);
    threads->had_children = list->count > before;
    if (status != PP_OK)
        threads->listed_cpu = pp_missing(status);
    return status;
}

/* Where the kernel has no children files: everybody whose parent this is. */
static pp_status scan_children(pp_linux_host *host, int32_t pid, pp_pid_list *list,
                               pp_error *reterr) {
    pp_pid_list all = { 0 };
    pp_status status = list_all(host, &all, reterr);
    for (size_t i = 0; i < all.count && status == PP_OK; i++) {
        char path[PP_LINUX_PATH_MAX], bytes[PP_LINUX_FILE_MAX];
        size_t size;
        pp_linux_stat stat;
        (void)snprintf(path, sizeof path, "/proc/%d/stat", all.pids[i]);
        status = pp__linux_read_path(host->sys, path, bytes, sizeof bytes, &size, reterr);
        if (status == PP_OK)
            status = pp__linux_decode_stat(bytes, size, &stat, reterr);
        if (status == PP_OK && stat.ppid == pid)
            status = pp_pid_list_add(list, all.pids[i]);
        if (status == PP_E_VANISHED || status == PP_E_DENIED)
            status = PP_OK; /* ended, or a stranger that is hidden from us */
    }
    pp_pid_list_done(&all);
    return status;
}

static pp_status not_whole(pp_status status, const pp_error *error, pp_error *reterr) {
    if (status != PP_E_VANISHED)
        status = PP_E_ENUMERATION;
    return pp_fail(reterr, status, error->sys_errno, error->op, "%s", error->detail);
}

static pp_status list_of(pp_linux_host *host, pp_linux_handle *handle, pp_pid_list *list,
                         pp_error *reterr) {
    bool has_files = pp__linux_has(host, PP_LINUX_FACT_CHILDREN);
    pp_status status = PP_E_AGAIN;
    for (int pass = 0; pass < MAX_PASSES && status == PP_E_AGAIN; pass++) {
        list->count = 0;
        status = has_files ? add_children(host, handle, list, reterr)
                           : scan_children(host, handle->id.pid, list, reterr);
    }
    return status;
}

pp_status pp__linux_list_children(void *ctx, int32_t pid, pp_pid_list *ret_pids, pp_error *reterr) {
    pp_linux_host *host = ctx;
    pp_linux_handle *handle = pp__linux_handle_held(host, pid);
    bool held = handle != NULL || pid == host->own_pid;
    pp_pid_list list = { 0 };
    pp_error error = { 0 };
    pp_status status = handle != NULL ? PP_OK : pp__linux_handle_get(host, pid, &handle, &error);
    if (status == PP_OK)
        status = list_of(host, handle, &list, &error);
    if (!held) /* nobody asked for this one */
        pp__linux_handle_drop(host, pid);
    if (status != PP_OK)
        status = not_whole(status, &error, reterr);
    return deliver(&list, status, ret_pids);
}

/* Only the main thread starts children, and it gets the orphans, being the first and never ended.
 */
static pp_status list_of_main_thread(pp_linux_host *host, pp_pid_list *list, pp_error *reterr) {
    char path[PP_LINUX_PATH_MAX], *bytes = NULL;
    size_t size = 0;
    int *fd = &host->own_children_fd;
    (void)snprintf(path, sizeof path, "/proc/self/task/%d/children", host->own_pid);
    if (*fd < 0)
        *fd = host->sys->open_at(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (*fd < 0)
        return pp__linux_fail(reterr, *fd, "open", path);
    pp_status status = pp__linux_read_list(host->sys, *fd, path, &bytes, &size, reterr);
    if (status == PP_OK)
        status = pp__linux_decode_children(bytes, size, list, reterr);
    free(bytes);
    return status;
}

pp_status pp__linux_list_own_children(void *ctx, pp_pid_list *ret_pids, pp_error *reterr) {
    pp_linux_host *host = ctx;
    pp_status status;
    if (pp__linux_has(host, PP_LINUX_FACT_CHILDREN) &&
        (host->own_children_fd >= 0 || gettid() == host->own_pid)) {
        pp_pid_list list = { 0 };
        pp_error error = { 0 };
        status = list_of_main_thread(host, &list, &error);
        if (status != PP_OK)
            status = not_whole(status, &error, reterr);
        status = deliver(&list, status, ret_pids);
    } else {
        status = pp__linux_list_children(host, host->own_pid, ret_pids, reterr);
    }
    if (status != PP_E_VANISHED) /* we are not gone: /proc is not ours */
        return status;
    if (reterr != NULL)
        reterr->status = PP_E_ENUMERATION;
    return PP_E_ENUMERATION;
}
