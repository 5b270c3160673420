/* SPDX-License-Identifier: Apache-2.0 */
/* Context switches exist per thread and are lost when a thread ends. What each thread showed last
 * is remembered, so the sum of a process never falls while its handle lives; once a thread has
 * ended it is a lower bound, because what that thread did after its last reading is missing.
 * Threads that have not run since are not read again: only running adds a switch. */
#include "internal.h"

#include <fcntl.h>
#include <stdio.h>

/* Another thread got its number. */
static void replace(const pp_linux_sys *sys, pp_linux_threads *threads, pp_linux_thread *thread) {
    threads->ended_voluntary += thread->voluntary;
    threads->ended_involuntary += thread->involuntary;
    threads->some_ended = true;
    pp__linux_thread_close(sys, thread);
}

/* Held from the second reading on: most threads sleep for ever. */
static pp_status read_status(pp_linux_host *host, pp_linux_handle *handle, pp_linux_thread *thread,
                             pp_linux_status *ret_status) {
    char path[PP_LINUX_PATH_MAX] = "status", bytes[PP_LINUX_FILE_MAX];
    size_t size;
    bool held = thread->status_fd >= 0;
    if (thread->status_fd < 0) {
        (void)snprintf(path, sizeof path, "/proc/%d/task/%d/status", handle->id.pid, thread->tid);
        thread->status_fd = host->sys->open_at(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    }
    if (thread->status_fd < 0)
        return pp__linux_fail(NULL, thread->status_fd, "open", path);
    pp_status status =
        pp__linux_pread_file(host->sys, thread->status_fd, path, bytes, sizeof bytes, &size, NULL);
    if (thread->counted)
        pp__linux_keep(host, &thread->status_fd);
    else
        pp__linux_close(host->sys, &thread->status_fd);
    if (status == PP_OK)
        status = pp__linux_decode_status(bytes, size, ret_status, NULL);
    if (status == PP_OK && held && handle->threads.count == 1)
        handle->status_rss = ret_status->rss_bytes; /* bound to the process as its statm is */
    return status;
}

static pp_status read_thread(pp_linux_host *host, pp_linux_handle *handle,
                             pp_linux_thread *thread) {
    pp_linux_threads *threads = &handle->threads;
    pp_reading cpu = pp__linux_thread_time(host, handle->id.pid, thread);
    if (thread->counted && pp__linux_stood_still(thread->cpu_ns, cpu))
        return PP_OK;
    if (!cpu.known && cpu.why == PP_E_VANISHED)
        return PP_E_VANISHED;

    pp_linux_status decoded = { 0 };
    pp_status status = read_status(host, handle, thread, &decoded);
    if (status == PP_OK && !decoded.voluntary_switches.known)
        status = decoded.voluntary_switches.why;
    if (status == PP_OK && !decoded.involuntary_switches.known)
        status = decoded.involuntary_switches.why;
    if (status != PP_OK)
        return status;
    handle->sigchld_ignored = decoded.sigchld_ignored;
    if (decoded.voluntary_switches.value < thread->voluntary ||
        decoded.involuntary_switches.value < thread->involuntary)
        replace(host->sys, threads, thread);
    thread->voluntary = decoded.voluntary_switches.value;
    thread->involuntary = decoded.involuntary_switches.value;
    thread->cpu_ns = cpu;
    thread->counted = true;
    return PP_OK;
}

/* What the living threads show in all, and whether the process used more than they did: then some
 * thread has ended that perhaps was never seen. cpu was read before theirs. */
static void add_up(pp_linux_threads *threads, pp_reading cpu) {
    pp_sum lived = { 0 };
    threads->voluntary = threads->ended_voluntary;
    threads->involuntary = threads->ended_involuntary;
    for (size_t i = 0; i < threads->count; i++) {
        const pp_linux_thread *thread = &threads->items[i];
        threads->voluntary += thread->voluntary;
        threads->involuntary += thread->involuntary;
        pp_sum_add(&lived, thread->cpu_ns);
    }
    pp_reading lived_ns = pp_sum_total(&lived);
    threads->some_ended |= cpu.known && lived_ns.known && cpu.value > lived_ns.value;
}

static pp_status count(pp_linux_host *host, pp_linux_handle *handle, pp_reading cpu) {
    pp_linux_threads *threads = &handle->threads;
    if (pp__linux_stood_still(threads->counted_cpu, cpu))
        return PP_OK;
    threads->counted_cpu = pp_missing(PP_OK);
    pp_status status = pp__linux_threads_list(host, handle, cpu, NULL);
    for (size_t i = 0; i < threads->count && status == PP_OK; i++) {
        status = read_thread(host, handle, &threads->items[i]);
        if (status == PP_E_VANISHED) { /* the thread ended; what it showed before stays */
            threads->some_ended = true;
            status = PP_OK;
        }
    }
    if (status != PP_OK)
        return status;
    add_up(threads, cpu);
    threads->counted_cpu = cpu;
    return PP_OK;
}

/* Its parent, and that we are, is told the whole count of an exited process, ended threads
 * included, but together with that of the children it waited for. That there were none is seen by
 * their page faults: a process that lived had some. */
static bool count_exited(pp_linux_host *host, const pp_linux_handle *handle, pp_usage *ret_usage) {
    const pp_linux_stat *stat = &handle->stat;
    siginfo_t info = { 0 };
    struct rusage whole = { 0 };
    if (stat->state != 'Z' || stat->threads > 1 || stat->child_faults > 0 ||
        host->sys->wait_id(P_PIDFD, handle->pidfd, &info, WEXITED | WNOHANG | WNOWAIT, &whole) <
            0 ||
        info.si_pid == 0)
        return false;
    ret_usage->voluntary_switches = pp_known((uint64_t)whole.ru_nvcsw);
    ret_usage->involuntary_switches = pp_known((uint64_t)whole.ru_nivcsw);
    return true;
}

void pp__linux_read_switches(pp_linux_host *host, pp_linux_handle *handle, pp_reading cpu,
                             pp_usage *ret_usage) {
    const pp_linux_threads *threads = &handle->threads;
    if (count_exited(host, handle, ret_usage))
        return;
    pp_status status = count(host, handle, cpu);
    if (status != PP_OK) {
        ret_usage->voluntary_switches = ret_usage->involuntary_switches = pp_missing(status);
        return;
    }
    ret_usage->voluntary_switches = pp_known(threads->voluntary);
    ret_usage->involuntary_switches = pp_known(threads->involuntary);
    ret_usage->switches_lower_bound = threads->some_ended;
}
