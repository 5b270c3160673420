/* SPDX-License-Identifier: Apache-2.0 */
/* One observation of one process. Place and token come from a single read of a file that is bound
 * to the process. Numbers that are asked for by pid (CPU clock, thread files) are given out only
 * if the process proves to be unreaped after the last of them was read. */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "pairperf/counters.h"

pp_reading pp__linux_process_clock(const pp_linux_host *host, int32_t pid) {
    struct timespec time;
    int result = host->sys->clock((clockid_t)(~(uint32_t)pid << 3 | 2U), &time);
    if (result < 0) /* EINVAL: no such process */
        return pp_missing(result == -EINVAL ? PP_E_VANISHED : pp_status_from_errno(-result));
    return pp_known((uint64_t)time.tv_sec * (uint64_t)PP_LINUX_NS_PER_SECOND +
                    (uint64_t)time.tv_nsec);
}

static bool is_zombie(const pp_linux_stat *stat) {
    return stat->state == 'Z' && stat->threads <= 1;
}

static pp_phase phase_of(const pp_linux_stat *stat) {
    if (is_zombie(stat))
        return PP_PHASE_ZOMBIE;
    return stat->state == 'T' || stat->state == 't' ? PP_PHASE_STOPPED : PP_PHASE_ALIVE;
}

static void read_exe(pp_linux_host *host, pp_linux_handle *handle) {
    char path[PP_LINUX_PATH_MAX], bytes[sizeof handle->exe];
    (void)snprintf(path, sizeof path, "/proc/%d/exe", handle->id.pid);
    ssize_t got = host->sys->read_link(path, bytes, sizeof bytes - 1);
    if (got > 0) {
        memcpy(handle->exe, bytes, (size_t)got);
        handle->exe[got] = '\0';
    } else if (handle->exe[0] == '\0' || handle->exe[0] == '[') {
        (void)snprintf(handle->exe, sizeof handle->exe, "[%s]", handle->comm);
    }
}

/* At first sight and whenever the name changed (exec, mostly): the path of the executable and
 * what it does about SIGCHLD. Keeps the old path where there is none any more. All this is asked by
 * number, so it counts only if the process proves to be unreaped. */
static pp_status look_closer(pp_linux_host *host, pp_linux_handle *handle, pp_error *reterr) {
    if (handle->exe[0] != '\0' && strcmp(handle->comm, handle->stat.comm) == 0)
        return PP_OK;
    memcpy(handle->comm, handle->stat.comm, sizeof handle->comm);
    read_exe(host, handle);

    char path[PP_LINUX_PATH_MAX], bytes[PP_LINUX_FILE_MAX];
    size_t size;
    pp_linux_status status;
    (void)snprintf(path, sizeof path, "/proc/%d/status", handle->id.pid);
    if (pp__linux_read_path(host->sys, path, bytes, sizeof bytes, &size, NULL) == PP_OK &&
        pp__linux_decode_status(bytes, size, &status, NULL) == PP_OK)
        handle->sigchld_ignored = status.sigchld_ignored;
    return pp__linux_handle_validate(host, handle, reterr);
}

static pp_reading ticks_to_ns(const pp_linux_host *host, uint64_t ticks) {
    return pp_ticks_to_ns(ticks, PP_LINUX_NS_PER_SECOND, (uint32_t)host->ticks_per_second);
}

pp_status pp__linux_glance(const pp_linux_host *host, int32_t pid, pp_proc_info *ret_info,
                           pp_error *reterr) {
    char path[PP_LINUX_PATH_MAX], bytes[PP_LINUX_FILE_MAX];
    size_t size;
    pp_linux_stat stat;
    (void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
    pp_status status = pp__linux_read_path(host->sys, path, bytes, sizeof bytes, &size, reterr);
    if (status == PP_OK)
        status = pp__linux_decode_stat(bytes, size, &stat, reterr);
    if (status != PP_OK)
        return status;
    pp_reading start = ticks_to_ns(host, stat.start_ticks);
    if (!start.known)
        return pp_fail(reterr, PP_E_MALFORMED, 0, "stat", "start of pid %d", pid);
    *ret_info = (pp_proc_info){ .id = { .pid = pid, .start = stat.start_ticks },
                                .ppid = stat.ppid,
                                .pgid = stat.pgid,
                                .sid = stat.sid,
                                .phase = phase_of(&stat),
                                .start_ns = start.value,
                                .sigchld_ignored = stat.sigchld_ignored };
    (void)snprintf(ret_info->exe, sizeof ret_info->exe, "[%s]", stat.comm);
    return PP_OK;
}

static pp_status describe(pp_linux_host *host, pp_linux_handle *handle, pp_proc_info *ret_info,
                          pp_error *reterr) {
    const pp_linux_stat *stat = &handle->stat;
    pp_reading start = ticks_to_ns(host, stat->start_ticks);
    if (!start.known)
        return pp_fail(reterr, PP_E_MALFORMED, 0, "stat", "start of pid %d", stat->pid);
    pp_status status = look_closer(host, handle, reterr);
    if (status != PP_OK)
        return status;
    *ret_info = (pp_proc_info){
        .id = handle->id,
        .ppid = stat->ppid,
        .pgid = stat->pgid,
        .sid = stat->sid,
        .phase = phase_of(stat),
        .start_ns = start.value,
        .sigchld_ignored = handle->sigchld_ignored,
    };
    memcpy(ret_info->exe, handle->exe, sizeof ret_info->exe);
    handle->fresh_for_usage = handle->fresh_for_children = true;
    handle->counted_since = false;
    return PP_OK;
}

pp_status pp__linux_identify(void *ctx, int32_t pid, pp_proc_info *ret_info, pp_error *reterr) {
    pp_linux_host *host = ctx;
    pp_linux_handle *handle;
    pp_status status = pp__linux_handle_get(host, pid, &handle, reterr);
    if (status != PP_OK)
        return status;
    handle->looked_ns = 0; /* not known */
    return describe(host, handle, ret_info, reterr);
}

static int64_t now_ns(const pp_linux_host *host) {
    struct timespec now = { 0 };
    (void)host->sys->clock(CLOCK_MONOTONIC, &now);
    return now.tv_sec * PP_LINUX_NS_PER_SECOND + now.tv_nsec;
}

/* One that has been counted since the last look, and stood still, is not read again: its clock is
 * asked by its number, but the counters that are asked for next prove whose it was. Its clock is
 * not asked either if nobody in the leaf ran for a whole microsecond. */
static pp_status look_again(pp_linux_host *host, pp_linux_handle *handle, pp_error *reterr) {
    int64_t looked_ns = now_ns(host);
    pp_reading used = pp_missing(PP_OK), cpu = handle->stat_cpu;
    pp_status status = PP_OK;
    if (handle->in_leaf)
        used = pp__linux_leaf_used(host, looked_ns);
    if (handle->counted_since && pp__linux_stood_still(handle->leaf_used, used))
        looked_ns = host->leaf.used_at_ns;
    else
        cpu = pp__linux_process_clock(host, handle->id.pid);
    if (!handle->counted_since || !pp__linux_handle_stands(host, handle, cpu))
        status = pp__linux_handle_stat(host, handle, cpu, reterr);
    if (status != PP_OK)
        return status;
    handle->looked_ns = looked_ns;
    handle->leaf_used = used;
    return PP_OK;
}

pp_status pp__linux_inspect(void *ctx, pp_proc_id id, pp_proc_info *ret_info, pp_error *reterr) {
    pp_linux_host *host = ctx;
    pp_linux_handle *handle;
    pp_status status = pp__linux_handle_find(host, id, &handle, reterr);
    if (status == PP_OK)
        status = look_again(host, handle, reterr);
    return status == PP_OK ? describe(host, handle, ret_info, reterr) : status;
}

static pp_reading child_cpu(const pp_linux_host *host, const pp_linux_stat *stat) {
    uint64_t ticks;
    if (__builtin_add_overflow(stat->child_user_ticks, stat->child_system_ticks, &ticks))
        return pp_missing(PP_E_OVERFLOW);
    return ticks_to_ns(host, ticks);
}

static pp_reading all_faults(const pp_linux_stat *stat) {
    uint64_t faults;
    if (__builtin_add_overflow(stat->own_faults, stat->child_faults, &faults))
        return pp_missing(PP_E_OVERFLOW);
    return pp_known(faults);
}

/* Of one whose main thread has ended nobody can tell whether it still has its children. */
static pp_reading child_faults(const pp_linux_stat *stat) {
    return stat->state == 'Z' ? pp_missing(PP_E_VANISHED) : pp_known(stat->child_faults);
}

/* No pages at all: there is no address space (any more), and 0 would not be a reading. */
static pp_reading resident(const pp_linux_host *host, const char *bytes, size_t size) {
    pp_linux_statm statm;
    uint64_t rss_bytes;
    if (pp__linux_decode_statm(bytes, size, &statm, NULL) != PP_OK)
        return pp_missing(PP_E_MALFORMED);
    if (statm.total_pages == 0)
        return pp_missing(PP_E_VANISHED);
    if (__builtin_mul_overflow(statm.resident_pages, host->page_bytes, &rss_bytes))
        return pp_missing(PP_E_OVERFLOW);
    return pp_known(rss_bytes);
}

/* The main thread ended, others run: any of them shows the address space. */
static pp_reading resident_of_threads(const pp_linux_host *host, int32_t pid) {
    pp_pid_list threads = { 0 };
    pp_reading reading = pp_missing(PP_E_VANISHED);
    pp_status status = pp__linux_list_threads(host->sys, pid, &threads, NULL);
    if (status != PP_OK)
        reading = pp_missing(status);
    for (size_t i = 0; i < threads.count && !reading.known; i++) {
        char path[PP_LINUX_PATH_MAX], bytes[PP_LINUX_FILE_MAX];
        size_t size;
        (void)snprintf(path, sizeof path, "/proc/%d/task/%d/statm", pid, threads.pids[i]);
        if (pp__linux_read_path(host->sys, path, bytes, sizeof bytes, &size, NULL) == PP_OK)
            reading = resident(host, bytes, size);
    }
    pp_pid_list_done(&threads);
    return reading;
}

static bool is_headless(const pp_linux_stat *stat) {
    return stat->state == 'Z' && !is_zombie(stat);
}

/* The last thing that is read of a process. An answer from the held file proves that the process
 * was unreaped until then, and so that everything asked by its number before was its own. */
static pp_status read_rss(pp_linux_host *host, pp_linux_handle *handle, pp_reading *ret_rss,
                          pp_error *reterr) {
    if (is_headless(&handle->stat)) {
        *ret_rss = resident_of_threads(host, handle->id.pid);
        return pp__linux_handle_validate(host, handle, reterr);
    }
    char bytes[PP_LINUX_FILE_MAX];
    size_t size;
    pp_status status = pp__linux_pread_file(host->sys, handle->statm_fd, "statm", bytes,
                                            sizeof bytes, &size, NULL);
    *ret_rss = status == PP_OK ? resident(host, bytes, size) : pp_missing(status);
    return status == PP_OK ? PP_OK : pp__linux_handle_validate(host, handle, reterr);
}

static pp_linux_io read_io(const pp_linux_host *host, pp_linux_handle *handle) {
    char path[PP_LINUX_PATH_MAX], bytes[PP_LINUX_FILE_MAX];
    size_t size;
    pp_linux_io io;
    pp_status status = host->facts[PP_LINUX_FACT_IO].state;
    if (status == PP_OK && handle->io_fd < 0) {
        (void)snprintf(path, sizeof path, "/proc/%d/io", handle->id.pid);
        handle->io_fd = host->sys->open_at(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
        if (handle->io_fd < 0)
            status = pp__linux_fail(NULL, handle->io_fd, "open", path);
    }
    if (status == PP_OK)
        status =
            pp__linux_pread_file(host->sys, handle->io_fd, "io", bytes, sizeof bytes, &size, NULL);
    if (status == PP_OK)
        status = pp__linux_decode_io(bytes, size, &io, NULL);
    if (status != PP_OK)
        io = (pp_linux_io){ pp_missing(status), pp_missing(status) };
    return io;
}

/* What has not run has neither read nor written. */
static pp_linux_io current_io(const pp_linux_host *host, pp_linux_handle *handle, pp_reading cpu) {
    bool fresh = pp__linux_stood_still(handle->io_cpu, cpu) && handle->io.write_bytes.known;
    if (!fresh) {
        handle->io = read_io(host, handle);
        handle->io_cpu = cpu;
    }
    return handle->io;
}

/* Kernels refuse an ended process's I/O counters to an unprivileged reader, even to its own parent:
 * they are gone until the parent has waited for it, and that is no refusal of a living process. */
static pp_status explain_refusal(pp_linux_host *host, pp_linux_handle *handle, pp_usage *usage,
                                 pp_error *reterr) {
    if (usage->write_bytes.why != PP_E_DENIED || usage->rss_bytes.why != PP_E_VANISHED)
        return PP_OK;
    pp_status status = pp__linux_handle_stat(host, handle, pp_missing(PP_OK), reterr);
    if (status == PP_OK && !is_headless(&handle->stat))
        usage->write_bytes = usage->cancelled_write_bytes = pp_missing(PP_E_VANISHED);
    return status;
}

/* Until it executes a program, a vfork child runs in its parent's address space; nobody ever moves
 * into one later. Where the kernel does not say, it counts as its own. */
static bool shares_memory(const pp_linux_host *host, pp_linux_handle *handle) {
    const pp_linux_stat *stat = &handle->stat;
    if (handle->own_memory || stat->state == 'Z' || stat->ppid <= 0 ||
        !pp__linux_has(host, PP_LINUX_FACT_SHARED_MEMORY))
        return false;
    int order = host->sys->compare_memory(handle->id.pid, stat->ppid);
    handle->own_memory = order > 0;
    return order == 0;
}

/* The look just before is as good: the kernel's own figure may be a tick old. */
static pp_reading current_cpu(const pp_linux_host *host, const pp_linux_handle *handle) {
    if (handle->fresh_for_usage && handle->stat_cpu.known &&
        now_ns(host) - handle->looked_ns <= PP_LINUX_LOOK_NS)
        return handle->stat_cpu;
    return pp__linux_process_clock(host, handle->id.pid);
}

pp_status pp__linux_usage(void *ctx, pp_proc_id id, bool with_switches, pp_usage *ret_usage,
                          pp_error *reterr) {
    pp_linux_host *host = ctx;
    pp_linux_handle *handle;
    pp_status status = pp__linux_handle_find(host, id, &handle, reterr);
    if (status != PP_OK)
        return status;
    pp_reading cpu = current_cpu(host, handle);
    if (!handle->fresh_for_usage)
        status = pp__linux_handle_stat(host, handle, cpu, reterr);
    if (status != PP_OK)
        return status;
    handle->fresh_for_usage = false;
    handle->status_rss = pp_missing(PP_OK);

    pp_linux_io io = current_io(host, handle, cpu);
    pp_usage usage = {
        .cpu_ns = cpu,
        .child_cpu_ns = child_cpu(host, &handle->stat),
        .footprint_bytes = pp_missing(PP_E_UNSUPPORTED),
        .wakeups_pkg_idle = pp_missing(PP_E_UNSUPPORTED),
        .wakeups_interrupt = pp_missing(PP_E_UNSUPPORTED),
        .write_bytes = io.write_bytes,
        .cancelled_write_bytes = io.cancelled_write_bytes,
        .logical_write_bytes = pp_missing(PP_E_UNSUPPORTED),
        .billed_energy = pp_missing(PP_E_UNSUPPORTED),
        .threads = pp_known(handle->stat.threads),
        .faults = all_faults(&handle->stat),
        .child_faults = child_faults(&handle->stat),
        .shares_memory = shares_memory(host, handle),
    };
    if (with_switches)
        pp__linux_read_switches(host, handle, cpu, &usage);
    if (handle->status_rss.known)
        usage.rss_bytes = handle->status_rss;
    else
        status = read_rss(host, handle, &usage.rss_bytes, reterr);
    if (status == PP_OK)
        status = explain_refusal(host, handle, &usage, reterr);
    if (status != PP_OK)
        return status;
    handle->counted_since = true;
    *ret_usage = usage;
    return PP_OK;
}
