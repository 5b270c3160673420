/* SPDX-License-Identifier: Apache-2.0 */
/* Context switches exist per thread and are lost when a thread ends. What each thread showed last
 * is remembered, so the sum of a process never falls while its handle lives; it is a lower bound,
 * because what a thread did between its last reading and its end is missing. */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>

static void retire(pp_linux_threads *threads, const pp_linux_thread *thread) {
    threads->ended_voluntary += thread->voluntary;
    threads->ended_involuntary += thread->involuntary;
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
        size_t capacity = threads->capacity ? threads->capacity * 2 : 8;
        pp_linux_thread *items = reallocarray(threads->items, capacity, sizeof *items);
        if (items == NULL)
            return NULL;
        threads->items = items;
        threads->capacity = capacity;
    }
    pp_linux_thread *thread = &threads->items[threads->count++];
    *thread = (pp_linux_thread){ .tid = tid };
    return thread;
}

static pp_status read_thread(pp_linux_host *host, pp_linux_handle *handle, int32_t tid,
                             size_t *hint) {
    char path[PP_LINUX_PATH_MAX], bytes[PP_LINUX_FILE_MAX];
    size_t size;
    pp_linux_status decoded = { 0 };
    (void)snprintf(path, sizeof path, "/proc/%d/task/%d/status", handle->id.pid, tid);
    pp_status status = pp__linux_read_path(host->sys, path, bytes, sizeof bytes, &size, NULL);
    if (status == PP_OK)
        status = pp__linux_decode_status(bytes, size, &decoded, NULL);
    if (status == PP_OK && !decoded.voluntary_switches.known)
        status = decoded.voluntary_switches.why;
    if (status == PP_OK && !decoded.involuntary_switches.known)
        status = decoded.involuntary_switches.why;
    if (status != PP_OK)
        return status;

    if (tid == handle->id.pid)
        handle->sigchld_ignored = decoded.sigchld_ignored;
    pp_linux_thread *thread = remember(&handle->threads, tid, hint);
    if (thread == NULL)
        return PP_E_NOMEM;
    if (decoded.voluntary_switches.value < thread->voluntary ||
        decoded.involuntary_switches.value < thread->involuntary)
        retire(&handle->threads, thread); /* another thread under the same number */
    thread->voluntary = decoded.voluntary_switches.value;
    thread->involuntary = decoded.involuntary_switches.value;
    thread->seen = true;
    return PP_OK;
}

/* Threads that were not seen in a whole pass have ended. */
static void retire_unseen(pp_linux_threads *threads) {
    size_t kept = 0;
    for (size_t i = 0; i < threads->count; i++) {
        if (threads->items[i].seen)
            threads->items[kept++] = threads->items[i];
        else
            retire(threads, &threads->items[i]);
    }
    threads->count = kept;
}

void pp__linux_read_switches(pp_linux_host *host, pp_linux_handle *handle, pp_usage *ret_usage) {
    pp_linux_threads *threads = &handle->threads;
    pp_pid_list tids = { 0 };
    size_t hint = 0;
    for (size_t i = 0; i < threads->count; i++)
        threads->items[i].seen = false;

    pp_status status = pp__linux_list_threads(host->sys, handle->id.pid, &tids, NULL);
    for (size_t i = 0; i < tids.count && status == PP_OK; i++) {
        status = read_thread(host, handle, tids.pids[i], &hint);
        if (status == PP_E_VANISHED)
            status = PP_OK; /* the thread ended; what it showed before stays */
    }
    pp_pid_list_done(&tids);
    if (status != PP_OK) {
        ret_usage->voluntary_switches = ret_usage->involuntary_switches = pp_missing(status);
        return;
    }

    retire_unseen(threads);
    uint64_t voluntary = threads->ended_voluntary, involuntary = threads->ended_involuntary;
    for (size_t i = 0; i < threads->count; i++) {
        voluntary += threads->items[i].voluntary;
        involuntary += threads->items[i].involuntary;
    }
    ret_usage->voluntary_switches = pp_known(voluntary);
    ret_usage->involuntary_switches = pp_known(involuntary);
}
