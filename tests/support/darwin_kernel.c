/* SPDX-License-Identifier: Apache-2.0 */
/* What each raw call answers in each phase of a process: docs of the calls and of the kernel's own
 * rules, see core/os/darwin. Calls of the adapter are the only clock. */
#include "darwin_kernel.h"

#include <errno.h>
#include <string.h>

#include "darwin/darwin_abi.h"

static void put(void *bytes, size_t at, const void *value, size_t size) {
    memcpy((uint8_t *)bytes + at, value, size);
}

static void put_i32(void *bytes, size_t at, int32_t value) {
    put(bytes, at, &value, sizeof value);
}

static void put_u64(void *bytes, size_t at, uint64_t value) {
    put(bytes, at, &value, sizeof value);
}

dk_proc *dk_find(dk *kernel, int32_t pid) {
    for (size_t i = 0; i < kernel->count; i++)
        if (kernel->procs[i].pid == pid && kernel->procs[i].phase != DK_REAPED)
            return &kernel->procs[i];
    return NULL;
}

/* Counts the call, lets the script change the world, and returns the errno it asks for. */
static int scripted(dk *kernel, dk_call call) {
    unsigned nth = ++kernel->calls[call];
    int failure = 0;
    for (size_t i = 0; i < kernel->rule_count; i++) {
        const dk_rule *rule = &kernel->rules[i];
        if (rule->call != call || (rule->nth != 0 && rule->nth != nth))
            continue;
        if (rule->change != NULL)
            rule->change(kernel);
        if (rule->fail != 0)
            failure = rule->fail;
    }
    return failure;
}

static int fail(int failure, int result, int *ret_errno) {
    *ret_errno = failure;
    return result;
}

static bool exited(const dk_proc *proc) {
    return proc->phase == DK_EXITING || proc->phase == DK_ZOMBIE;
}

static void write_kinfo(const dk *kernel, const dk_proc *proc, uint8_t *record) {
    memset(record, 0, kernel->record_size);
    put_u64(record, PP_DW_KINFO_START_SEC, proc->start_us / 1000000);
    put_i32(record, PP_DW_KINFO_START_USEC, (int32_t)(proc->start_us % 1000000));
    put_i32(record, PP_DW_KINFO_FLAG, exited(proc) ? PP_DW_P_WEXIT : 0);
    record[PP_DW_KINFO_STAT] = proc->phase == DK_ZOMBIE    ? PP_DW_SZOMB
                               : proc->phase == DK_STOPPED ? PP_DW_SSTOP
                                                           : 2;
    put_i32(record, PP_DW_KINFO_PID, proc->pid);
    put(record, PP_DW_KINFO_COMM, proc->name, 16);
    put_i32(record, PP_DW_KINFO_PPID, proc->ppid);
    put_i32(record, PP_DW_KINFO_PGID, proc->pgid);
}

static int dk_sysctl(void *ctx, const int *mib, unsigned mib_count, void *buffer, size_t *io_bytes,
                     int *ret_errno) {
    dk *kernel = ctx;
    int failure = scripted(kernel, DK_SYSCTL);
    size_t room = *io_bytes, used = 0;
    *io_bytes = 0; /* also when the buffer is short: the caller learns nothing */
    if (failure != 0)
        return fail(failure, -1, ret_errno);
    if (mib_count != 4 || mib[1] != PP_DW_KERN_PROC)
        return fail(EINVAL, -1, ret_errno);

    bool group = mib[2] == PP_DW_KERN_PROC_PGRP;
    for (size_t i = 0; i < kernel->count; i++) {
        dk_proc *proc = &kernel->procs[i];
        if (proc->phase == DK_REAPED || (group ? proc->pgid : proc->pid) != mib[3] ||
            (group && kernel->hide_groups))
            continue;
        if (used + kernel->record_size > room)
            return fail(ENOMEM, -1, ret_errno);
        uint8_t *record = (uint8_t *)buffer + used;
        write_kinfo(kernel, proc, record);
        if (group && kernel->foreign_group != 0) {
            put_i32(record, PP_DW_KINFO_PGID, kernel->foreign_group);
            proc->pgid = kernel->foreign_group;
            kernel->foreign_group = 0;
        }
        used += kernel->record_size;
    }
    *io_bytes = used;
    return 0;
}

static int dk_sysctlbyname(void *ctx, const char *name, void *buffer, size_t *io_bytes,
                           int *ret_errno) {
    const dk *kernel = ctx;
    if (strcmp(name, "sysctl.proc_translated") != 0 || kernel->translated < 0)
        return fail(ENOENT, -1, ret_errno);
    memcpy(buffer, &kernel->translated, sizeof kernel->translated);
    *io_bytes = sizeof kernel->translated;
    return 0;
}

static void write_bsdinfo(const dk_proc *proc, uint8_t *record) {
    memset(record, 0, PP_DW_BSDINFO_SIZE);
    put_i32(record, PP_DW_BSDINFO_FLAGS, exited(proc) ? PP_DW_PROC_FLAG_INEXIT : 0);
    put_i32(record, PP_DW_BSDINFO_STATUS,
            proc->phase == DK_ZOMBIE    ? PP_DW_SZOMB
            : proc->phase == DK_STOPPED ? PP_DW_SSTOP
                                        : 2);
    put_i32(record, PP_DW_BSDINFO_PID, proc->pid);
    put_i32(record, PP_DW_BSDINFO_PPID, proc->ppid);
    put(record, PP_DW_BSDINFO_COMM, proc->name, 15);
    put(record, PP_DW_BSDINFO_NAME, proc->name, 31);
    put_i32(record, PP_DW_BSDINFO_PGID, proc->pgid);
    put_u64(record, PP_DW_BSDINFO_START_SEC, proc->start_us / 1000000);
    put_u64(record, PP_DW_BSDINFO_START_USEC, proc->start_us % 1000000);
}

static int dk_pidinfo(void *ctx, int32_t pid, int flavor, uint64_t arg, void *buffer,
                      int buffer_bytes, int *ret_errno) {
    dk *kernel = ctx;
    int failure = scripted(kernel, DK_PIDINFO);
    const dk_proc *proc = dk_find(kernel, pid);
    if (failure != 0)
        return fail(failure, 0, ret_errno);
    bool zombies_too = flavor == PP_DW_TBSDINFO && arg != 0;
    if (proc == NULL || (exited(proc) && !zombies_too))
        return fail(ESRCH, 0, ret_errno);
    if (proc->foreign)
        return fail(EPERM, 0, ret_errno);
    int size = flavor == PP_DW_TBSDINFO ? PP_DW_BSDINFO_SIZE : PP_DW_TASKINFO_SIZE;
    if (buffer_bytes < size)
        return fail(ENOMEM, 0, ret_errno);
    if (flavor == PP_DW_TBSDINFO) {
        write_bsdinfo(proc, buffer);
    } else {
        memset(buffer, 0, PP_DW_TASKINFO_SIZE);
        put_i32(buffer, PP_DW_TASKINFO_THREADS, proc->threads);
    }
    return size - kernel->short_by;
}

static int dk_pidpath(void *ctx, int32_t pid, void *buffer, uint32_t buffer_bytes, int *ret_errno) {
    dk *kernel = ctx;
    int failure = scripted(kernel, DK_PIDPATH);
    const dk_proc *proc = dk_find(kernel, pid);
    if (failure != 0)
        return fail(failure, 0, ret_errno);
    if (buffer_bytes < 1024 || buffer_bytes > 4096)
        return fail(ENOMEM, 0, ret_errno);
    if (proc == NULL || exited(proc))
        return fail(ESRCH, 0, ret_errno);
    if (proc->path == NULL) /* its executable was unlinked */
        return fail(ENOENT, 0, ret_errno);
    memcpy(buffer, proc->path, strlen(proc->path) + 1);
    return (int)strlen(proc->path);
}

static int dk_pid_rusage(void *ctx, int32_t pid, int version, void *buffer, int *ret_errno) {
    dk *kernel = ctx;
    int failure = scripted(kernel, DK_RUSAGE);
    const dk_proc *proc = dk_find(kernel, pid);
    if (failure != 0)
        return fail(failure, -1, ret_errno);
    if (proc == NULL)
        return fail(ESRCH, -1, ret_errno);
    if (version > kernel->max_rusage_version)
        return fail(EINVAL, -1, ret_errno);
    if (proc->foreign)
        return fail(EPERM, -1, ret_errno);

    uint8_t record[PP_DW_RUSAGE_V6_SIZE] = { 0 };
    bool frozen = exited(proc) || proc->exit_stamp_early;
    put_u64(record, PP_DW_RUSAGE_USER, proc->user_ticks);
    put_u64(record, PP_DW_RUSAGE_SYSTEM, proc->system_ticks);
    put_u64(record, PP_DW_RUSAGE_PKG_IDLE, proc->pkg_idle);
    put_u64(record, PP_DW_RUSAGE_INTERRUPT, proc->interrupt);
    put_u64(record, PP_DW_RUSAGE_RESIDENT, proc->resident);
    put_u64(record, PP_DW_RUSAGE_FOOTPRINT, frozen ? 0 : proc->footprint);
    put_u64(record, PP_DW_RUSAGE_START_ABS, proc->start_ticks);
    put_u64(record, PP_DW_RUSAGE_EXIT_ABS, frozen ? proc->start_ticks + 9 : 0);
    put_u64(record, PP_DW_RUSAGE_CHILD_USER, proc->child_user_ticks);
    put_u64(record, PP_DW_RUSAGE_CHILD_SYSTEM, proc->child_system_ticks);
    put_u64(record, PP_DW_RUSAGE_DISK_WRITTEN, proc->disk_written);
    put_u64(record, PP_DW_RUSAGE_LOGICAL_WRITES, proc->logical_writes);
    put_u64(record, PP_DW_RUSAGE_BILLED_ENERGY, proc->billed_energy);
    size_t size = version >= 6   ? PP_DW_RUSAGE_V6_SIZE
                  : version >= 4 ? PP_DW_RUSAGE_V4_SIZE
                                 : PP_DW_RUSAGE_V0_SIZE;
    memcpy(buffer, record, size);
    return 0;
}

static int dk_listchildpids(void *ctx, int32_t ppid, void *buffer, int buffer_bytes,
                            int *ret_errno) {
    dk *kernel = ctx;
    int failure = scripted(kernel, DK_LISTCHILDREN);
    int32_t *pids = buffer;
    int room = buffer_bytes / (int)sizeof *pids, count = 0;
    *ret_errno = failure;
    if (failure != 0)
        return 0;
    for (size_t i = 0; i < kernel->count && count < room; i++)
        if (kernel->procs[i].phase != DK_REAPED && kernel->procs[i].ppid == ppid)
            pids[count++] = kernel->procs[i].pid;
    return count;
}

static int dk_getsid(void *ctx, int32_t pid, int32_t *ret_sid, int *ret_errno) {
    dk *kernel = ctx;
    int failure = scripted(kernel, DK_GETSID);
    const dk_proc *proc = dk_find(kernel, pid);
    if (failure != 0 || proc == NULL || exited(proc))
        return fail(failure != 0 ? failure : ESRCH, -1, ret_errno);
    *ret_sid = proc->sid;
    return 0;
}

static int dk_waitid(void *ctx, int32_t pid, void *siginfo, int options, int *ret_errno) {
    dk *kernel = ctx;
    int failure = scripted(kernel, DK_WAITID);
    dk_proc *proc = dk_find(kernel, pid);
    if (failure != 0)
        return fail(failure, -1, ret_errno);
    if (proc == NULL || proc->ppid != DK_SELF || proc->borrowed)
        return fail(ECHILD, -1, ret_errno);
    if (proc->phase != DK_ZOMBIE && proc->phase != DK_STOPPED)
        return 0; /* the siginfo stays as it was */

    bool zombie = proc->phase == DK_ZOMBIE;
    put_i32(siginfo, PP_DW_SIGINFO_PID, kernel->wrong_child ? kernel->wrong_child : pid);
    put_i32(siginfo, PP_DW_SIGINFO_CODE, zombie ? proc->exit_code : PP_DW_CLD_STOPPED);
    put_i32(siginfo, PP_DW_SIGINFO_STATUS, zombie ? proc->exit_status : 17);
    if (zombie && (options & PP_DW_WNOWAIT) == 0)
        proc->phase = DK_REAPED;
    return 0;
}

static int dk_kill(void *ctx, int32_t target, int signal_number, int *ret_errno) {
    dk *kernel = ctx;
    int failure = scripted(kernel, DK_KILL);
    if (kernel->kill_count < DK_MAX_KILLS) {
        kernel->kills[kernel->kill_count].target = target;
        kernel->kills[kernel->kill_count++].signal_number = signal_number;
    }
    if (failure != 0)
        return fail(failure, -1, ret_errno);

    bool known = false;
    for (size_t i = 0; i < kernel->count; i++) {
        dk_proc *proc = &kernel->procs[i];
        if (proc->phase == DK_REAPED || (target < 0 ? proc->pgid != -target : proc->pid != target))
            continue;
        known = true;
        if (!proc->foreign && (target > 0 || !exited(proc)))
            return 0;
    }
    return fail(known ? EPERM : ESRCH, -1, ret_errno);
}

static int dk_spawn(void *ctx, const pp_dw_spawn *request, int32_t *ret_pid, const char **ret_step,
                    int *ret_errno) {
    dk *kernel = ctx;
    int failure = scripted(kernel, DK_SPAWN);
    (void)request;
    *ret_step = kernel->spawn_step;
    if (failure != 0)
        return fail(failure, -1, ret_errno);
    *ret_pid = kernel->spawn_pid;
    return 0;
}

static int dk_clock_ns(void *ctx, pp_dw_clock clock, int64_t *ret_ns, int *ret_errno) {
    const dk *kernel = ctx;
    (void)ret_errno;
    *ret_ns = clock == PP_DW_UPTIME_RAW      ? kernel->uptime_ns
              : clock == PP_DW_MONOTONIC_RAW ? kernel->cont_ns
                                             : kernel->wall_ns;
    return 0;
}

static int dk_timebase(void *ctx, uint32_t *ret_numer, uint32_t *ret_denom, int *ret_errno) {
    const dk *kernel = ctx;
    (void)ret_errno;
    *ret_numer = kernel->numer;
    *ret_denom = kernel->denom;
    return 0;
}

static int dk_events(void *ctx, const pp_dw_watch *watch, int64_t timeout_ns, unsigned *ret_events,
                     int *ret_errno) {
    dk *kernel = ctx;
    kernel->watch = *watch;
    if (timeout_ns > kernel->longest_ns)
        kernel->longest_ns = timeout_ns;
    if (kernel->interruptions > 0) {
        kernel->interruptions--;
        return fail(EINTR, -1, ret_errno);
    }
    if (kernel->events == 0) {
        kernel->uptime_ns += timeout_ns;
        kernel->cont_ns += timeout_ns;
        kernel->wall_ns += timeout_ns;
    }
    *ret_events = kernel->events;
    return 0;
}

dk_proc *dk_add(dk *kernel, int32_t pid) {
    dk_proc *proc = &kernel->procs[kernel->count++];
    *proc = (dk_proc){
        .pid = pid,
        .ppid = DK_SELF,
        .pgid = pid,
        .sid = DK_SELF,
        .start_us = UINT64_C(1764444000000000) + (uint64_t)pid,
        .start_ticks = UINT64_C(24000000) * 100, /* 100 s after the boot */
        .path = "/Applications/PAIR.app/Contents/MacOS/PAIR",
        .name = "PAIR",
        .threads = 3,
    };
    return proc;
}

void dk_exit(dk_proc *proc, int32_t exit_code, int32_t exit_status) {
    proc->phase = DK_ZOMBIE;
    proc->exit_code = exit_code;
    proc->exit_status = exit_status;
}

pp_proc_id dk_id(const dk_proc *proc) {
    return (pp_proc_id){ .pid = proc->pid, .start = proc->start_us };
}

static void add_rule(dk *kernel, dk_rule rule) {
    if (rule.nth != 0)
        rule.nth += kernel->calls[rule.call];
    kernel->rules[kernel->rule_count++] = rule;
}

void dk_fail(dk *kernel, dk_call call, unsigned nth, int failure) {
    add_rule(kernel, (dk_rule){ .call = call, .nth = nth, .fail = failure });
}

void dk_before(dk *kernel, dk_call call, unsigned nth, dk_change change) {
    add_rule(kernel, (dk_rule){ .call = call, .nth = nth, .change = change });
}

void dk_init(dk *kernel) {
    *kernel = (dk){
        .max_rusage_version = 6,
        .record_size = PP_DW_KINFO_SIZE,
        .numer = 125,
        .denom = 3,
        .uptime_ns = INT64_C(200000000000),
        .cont_ns = INT64_C(250000000000), /* 50 s asleep since the boot */
        .wall_ns = INT64_C(1764444100000000000),
        .spawn_pid = 700,
        .spawn_step = "posix_spawn",
    };
    dk_proc *self = dk_add(kernel, DK_SELF);
    self->ppid = 400;
    self->footprint = 4096;
}

void dk_open(dk *kernel, pp_darwin *ret_darwin, pp_os *ret_os) {
    *ret_darwin = (pp_darwin){
        .sys = {
            .ctx = kernel,
            .listchildpids = dk_listchildpids,
            .pidinfo = dk_pidinfo,
            .pidpath = dk_pidpath,
            .pid_rusage = dk_pid_rusage,
            .sysctl = dk_sysctl,
            .sysctlbyname = dk_sysctlbyname,
            .getsid = dk_getsid,
            .waitid = dk_waitid,
            .kill = dk_kill,
            .spawn = dk_spawn,
            .clock_ns = dk_clock_ns,
            .timebase = dk_timebase,
            .events = dk_events,
        },
        .self_pid = DK_SELF,
        .channel_fd = -1,
        .run_dir_fd = -1,
    };
    (void)pp__darwin_init(ret_darwin, ret_os, NULL);
}
