/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of one process. The list is read anew when the process has run since the last time,
 * because nothing but its own running makes or ends a thread. An entry stays as long as its thread
 * is listed, and what its switches were stays in the sum of the ended ones. */
#include "internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

void pp__linux_thread_close(const pp_linux_sys *sys, pp_linux_thread *thread) {
    pp__linux_close(sys, &thread->status_fd);
    pp__linux_close(sys, &thread->children_fd);
    pp__linux_close(sys, &thread->schedstat_fd);
}

pp_reading pp__linux_thread_time(pp_linux_host *host, int32_t pid, pp_linux_thread *thread) {
    char path[PP_LINUX_PATH_MAX] = "schedstat", bytes[PP_LINUX_PATH_MAX * 2];
    size_t size;
    uint64_t time_ns;
    if (!pp__linux_has(host, PP_LINUX_FACT_THREAD_TIMES))
        return pp_missing(PP_E_UNSUPPORTED);
    if (thread->schedstat_fd < 0) {
        (void)snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", pid, thread->tid);
        thread->schedstat_fd = host->sys->open_at(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    }
    if (thread->schedstat_fd < 0)
        return pp_missing(pp__linux_fail(NULL, thread->schedstat_fd, "open", path));
    pp_status status = pp__linux_pread_file(host->sys, thread->schedstat_fd, path, bytes,
                                            sizeof bytes, &size, NULL);
    if (status == PP_OK)
        status = pp__linux_decode_schedstat(bytes, size, &time_ns, NULL);
    pp__linux_keep(host, &thread->schedstat_fd);
    return status == PP_OK ? pp_known(time_ns) : pp_missing(status);
}

void pp__linux_threads_done(const pp_linux_sys *sys, pp_linux_threads *threads) {
    for (size_t i = 0; i < threads->count; i++)
        pp__linux_thread_close(sys, &threads->items[i]);
    pp__linux_close(sys, &threads->task_fd);
    free(threads->items);
    *threads = (pp_linux_threads){ .task_fd = -1 };
}

/* The remembered thread, or a new one; NULL when memory is short. Threads come in the same order
 * in every pass, so the place to look first is behind the one seen last. */
static pp_linux_thread *remember(pp_linux_threads *threads, int32_t tid, size_t *hint) {
    for (size_t i = 0; i < threads->count; i++) {
        size_t at = (*hint + i) % threads->count;
        if (threads->items[at].tid == tid) {
            *hint = at + 1;
            return &threads->items[at];
        }
    }
    if (threads->count == threads->capacity) {
        size_t capacity = threads->capacity ? threads->capacity * 2 : 1;
        pp_linux_thread *items = reallocarray(threads->items, capacity, sizeof *items);
        if (items == NULL)
            return NULL;
        threads->items = items;
        threads->capacity = capacity;
    }
    pp_linux_thread *thread = &threads->items[threads->count++];
    *thread =
        (pp_linux_thread){ .tid = tid, .status_fd = -1, .children_fd = -1, .schedstat_fd = -1 };
    return thread;
}

/* Threads that were not seen in a whole listing have ended. */
static void retire_unseen(const pp_linux_sys *sys, pp_linux_threads *threads) {
    size_t kept = 0;
    for (size_t i = 0; i < threads->count; i++) {
        pp_linux_thread *thread = &threads->items[i];
        if (thread->seen) {
            threads->items[kept++] = *thread;
            continue;
        }
        threads->ended_voluntary += thread->voluntary;
        threads->ended_involuntary += thread->involuntary;
        threads->some_ended = true;
        pp__linux_thread_close(sys, thread);
    }
    threads->count = kept;
}

static pp_status list_held(pp_linux_host *host, pp_linux_handle *handle, pp_pid_list *list,
                           pp_error *reterr) {
    int *fd = &handle->threads.task_fd;
    char path[PP_LINUX_PATH_MAX];
    (void)snprintf(path, sizeof path, "/proc/%d/task", handle->id.pid);
    if (*fd < 0)
        *fd = host->sys->open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    else
        (void)host->sys->rewind(*fd);
    if (*fd < 0)
        return pp__linux_fail(reterr, *fd, "open", path);
    pp_status status = pp__linux_list_thread_dir(host->sys, *fd, path, list, reterr);
    pp__linux_keep(host, fd);
    return status;
}

static pp_status take_list(pp_linux_host *host, pp_linux_threads *threads, const pp_pid_list *tids,
                           pp_error *reterr) {
    size_t hint = 0;
    for (size_t i = 0; i < threads->count; i++)
        threads->items[i].seen = false;
    for (size_t i = 0; i < tids->count; i++) {
        pp_linux_thread *thread = remember(threads, tids->pids[i], &hint);
        if (thread == NULL)
            return pp_fail(reterr, PP_E_NOMEM, 0, "threads", "no memory");
        thread->seen = true;
    }
    retire_unseen(host->sys, threads);
    return PP_OK;
}

pp_status pp__linux_threads_list(pp_linux_host *host, pp_linux_handle *handle, pp_reading cpu,
                                 pp_error *reterr) {
    pp_linux_threads *threads = &handle->threads;
    if (threads->count > 0 && pp__linux_stood_still(threads->listed_cpu, cpu))
        return PP_OK;
    threads->listed_cpu = pp_missing(PP_OK);

    int32_t only = handle->id.pid;
    pp_pid_list tids = { .pids = &only, .count = 1 };
    if (handle->stat.threads == 1 && pp__linux_stood_still(handle->stat_cpu, cpu)) {
        threads->listed_cpu = cpu;
        return take_list(host, threads, &tids, reterr);
    }
    tids = (pp_pid_list){ 0 };
    pp_status status = list_held(host, handle, &tids, reterr);
    if (status == PP_OK)
        status = take_list(host, threads, &tids, reterr);
    if (status == PP_OK)
        threads->listed_cpu = cpu;
    pp_pid_list_done(&tids);
    return status;
}
