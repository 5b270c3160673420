/* SPDX-License-Identifier: Apache-2.0 */
/* An identity is a pid and its start time in microseconds. It is accepted only when two independent
 * kernel interfaces (KERN_PROC, then TBSDINFO) show the same start; what the process is and where
 * it stands comes from the second record alone, so its fields belong together. A set-user-id child
 * refuses TBSDINFO; KERN_PROC, which asks no privilege, is then read a second time. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter.h"
#include "darwin_abi.h"
#include "pairperf/counters.h"

#define NS_PER_USEC INT64_C(1000)

pp_status pp__dw_kinfo(pp_darwin *darwin, int32_t pid, pp_dw_seen *ret_seen, pp_error *reterr) {
    const int mib[] = { PP_DW_CTL_KERN, PP_DW_KERN_PROC, PP_DW_KERN_PROC_PID, pid };
    uint8_t record[PP_DW_KINFO_SIZE];
    size_t size;
    int failure = 0, result;

    for (int i = 0; i < PP_DW_TRIES; i++) {
        size = sizeof record;
        result = darwin->sys.sysctl(darwin->sys.ctx, mib, 4, record, &size, &failure);
        if (result == 0 || failure != EINTR)
            break;
    }
    if (result != 0 && failure == ENOMEM)
        return pp_fail(reterr, PP_E_MALFORMED, failure, "KERN_PROC_PID",
                       "pid %d: a record of more than %zu bytes", pid, sizeof record);
    if (result != 0)
        return pp_fail(reterr, pp_status_from_errno(failure), failure, "KERN_PROC_PID", "pid %d",
                       pid);
    if (size == 0)
        return pp_fail(reterr, PP_E_VANISHED, 0, "KERN_PROC_PID", "pid %d", pid);

    pp_dw_seen seen;
    if (pp__dw_decode_kinfo(record, size, &seen) != PP_OK || seen.pid != pid)
        return pp_fail(reterr, PP_E_MALFORMED, 0, "KERN_PROC_PID", "pid %d: %zu bytes", pid, size);
    *ret_seen = seen;
    return PP_OK;
}

pp_status pp__dw_bsdinfo(pp_darwin *darwin, int32_t pid, pp_dw_seen *ret_seen, pp_error *reterr) {
    uint8_t record[PP_DW_BSDINFO_SIZE];
    int failure = 0, bytes = 0;

    for (int i = 0; i < PP_DW_TRIES; i++) {
        /* With argument 0 the call stops answering as soon as an exit has begun. */
        bytes = darwin->sys.pidinfo(darwin->sys.ctx, pid, PP_DW_TBSDINFO, 1, record,
                                    (int)sizeof record, &failure);
        if (bytes > 0 || failure != EINTR)
            break;
    }
    if (bytes <= 0)
        return pp_fail(reterr, pp_status_from_errno(failure), failure, "PROC_PIDTBSDINFO", "pid %d",
                       pid);

    pp_dw_seen seen;
    if (pp__dw_decode_bsdinfo(record, (size_t)bytes, &seen) != PP_OK || seen.pid != pid)
        return pp_fail(reterr, PP_E_MALFORMED, 0, "PROC_PIDTBSDINFO", "pid %d: %d bytes", pid,
                       bytes);
    *ret_seen = seen;
    return PP_OK;
}

pp_status pp__dw_check(pp_darwin *darwin, pp_proc_id id, pp_dw_seen *ret_seen, pp_error *reterr) {
    if (id.pid <= 0)
        return pp_fail(reterr, PP_E_INVALID, 0, "KERN_PROC_PID", "pid %d", id.pid);
    pp_dw_seen seen;
    pp_status status = pp__dw_kinfo(darwin, id.pid, &seen, reterr);
    if (status != PP_OK)
        return status;
    if (seen.start_us != id.start)
        return pp_fail(reterr, PP_E_STALE, 0, "KERN_PROC_PID", "pid %d is another process", id.pid);
    *ret_seen = seen;
    return PP_OK;
}

/* The second record, from the other interface when it may be asked. */
static pp_status confirm(pp_darwin *darwin, const pp_dw_seen *first, pp_dw_seen *ret_seen,
                         pp_error *reterr) {
    pp_dw_seen second = { 0 };
    pp_status status = pp__dw_bsdinfo(darwin, first->pid, &second, reterr);
    if (status == PP_E_DENIED)
        status = pp__dw_kinfo(darwin, first->pid, &second, reterr);
    if (status != PP_OK)
        return status;
    if (second.start_us != first->start_us)
        return pp_fail(reterr, PP_E_STALE, 0, "identify", "pid %d changed while it was read",
                       first->pid);
    *ret_seen = second;
    return PP_OK;
}

/* Appends the entry of a pid seen for the first time. NULL: no memory. */
static pp_dw_known *add_known(pp_darwin *darwin) {
    if (darwin->known_count == darwin->known_capacity) {
        size_t capacity = darwin->known_capacity ? darwin->known_capacity * 2 : 32;
        pp_dw_known *known = realloc(darwin->known, capacity * sizeof *known);
        if (known == NULL)
            return NULL;
        darwin->known = known;
        darwin->known_capacity = capacity;
    }
    return &darwin->known[darwin->known_count++];
}

static pp_dw_known *find_known(pp_darwin *darwin, int32_t pid) {
    for (size_t i = 0; i < darwin->known_count; i++)
        if (darwin->known[i].id.pid == pid)
            return &darwin->known[i];
    return NULL;
}

void pp__dw_forget(void *ctx, pp_proc_id id) {
    pp_darwin *darwin = ctx;
    pp_dw_known *known = find_known(darwin, id.pid);
    if (known != NULL && known->id.start == id.start)
        *known = darwin->known[--darwin->known_count];
}

/* The path as first read under this name. There is none to read in a process that exits, nor in a
 * living one whose executable was replaced: the earlier path stays as long as the name does, else
 * it is the name in brackets. */
static void read_exe(pp_darwin *darwin, const pp_dw_seen *seen, pp_dw_known *known) {
    if (known->exe[0] == '/' && strcmp(known->name, seen->name) == 0)
        return;

    char path[PP_DW_PATH_SIZE];
    int failure = 0;
    int length = darwin->sys.pidpath(darwin->sys.ctx, seen->pid, path, sizeof path, &failure);
    if (length > 0 && (size_t)length < sizeof path) {
        size_t kept = (size_t)length < PP_EXE_MAX ? (size_t)length : PP_EXE_MAX - 1;
        memcpy(known->exe, path, kept);
        known->exe[kept] = '\0';
        memcpy(known->name, seen->name, sizeof known->name);
    } else {
        (void)snprintf(known->exe, sizeof known->exe, "[%s]", seen->name);
    }
}

/* The start on the clock that counts sleep. Ticks are taken from a clock that does not: a process
 * started before the last sleep looks younger than it is by that sleep, never older. Where they
 * cannot be read the wall clock decides, which a clock step shifts. */
static uint64_t start_on_cont(pp_darwin *darwin, const pp_dw_seen *seen, const pp_now *now) {
    uint8_t record[PP_DW_RUSAGE_V6_SIZE];
    if (pp__dw_rusage(darwin, seen->pid, record, NULL) == PP_OK) {
        uint64_t ticks = pp__dw_rusage_start_ticks(record);
        pp_reading start = pp_ticks_to_ns(ticks, darwin->timebase.numer, darwin->timebase.denom);
        if (ticks != 0 && start.known)
            return start.value + (uint64_t)(now->cont_ns - now->t_ns);
    }
    int64_t age_ns = now->wall_ns - (int64_t)seen->start_us * NS_PER_USEC;
    if (age_ns < 0)
        age_ns = 0;
    return age_ns < now->cont_ns ? (uint64_t)(now->cont_ns - age_ns) : 0;
}

/* Everything that one look cannot give, from now or from an earlier look at the same process. */
static pp_status look_closer(pp_darwin *darwin, const pp_dw_seen *seen, pp_dw_known *ret_known,
                             pp_error *reterr) {
    pp_dw_known known = { .id = { .pid = seen->pid, .start = seen->start_us } };
    pp_dw_known *earlier = find_known(darwin, seen->pid);
    if (earlier != NULL && earlier->id.start == seen->start_us) {
        known = *earlier;
    } else {
        pp_now now = { 0 };
        pp_status status = pp__dw_now(darwin, &now, reterr);
        if (status != PP_OK)
            return status;
        known.start_ns = start_on_cont(darwin, seen, &now);
    }
    int32_t sid;
    int failure = 0;
    if (darwin->sys.getsid(darwin->sys.ctx, seen->pid, &sid, &failure) == 0)
        known.sid = sid; /* fails once an exit has begun */
    read_exe(darwin, seen, &known);
    *ret_known = known;
    return PP_OK;
}

static pp_status remember(pp_darwin *darwin, const pp_dw_known *known, pp_error *reterr) {
    pp_dw_known *entry = find_known(darwin, known->id.pid);
    if (entry == NULL)
        entry = add_known(darwin);
    if (entry == NULL)
        return pp_fail(reterr, PP_E_NOMEM, 0, "identify", "pid %d", known->id.pid);
    *entry = *known;
    return PP_OK;
}

pp_status pp__dw_identify(void *ctx, int32_t pid, pp_proc_info *ret_info, pp_error *reterr) {
    pp_darwin *darwin = ctx;
    if (pid <= 0)
        return pp_fail(reterr, PP_E_INVALID, 0, "identify", "pid %d", pid);

    pp_dw_seen first = { 0 }, seen = { 0 };
    pp_dw_known known;
    pp_status status = pp__dw_kinfo(darwin, pid, &first, reterr);
    if (status == PP_OK)
        status = look_closer(darwin, &first, &known, reterr);
    if (status == PP_OK)
        status = confirm(darwin, &first, &seen, reterr);
    if (status == PP_OK)
        status = remember(darwin, &known, reterr);
    if (status != PP_OK)
        return status;

    pp_proc_info info = {
        .id = known.id,
        .ppid = seen.ppid,
        .pgid = seen.pgid,
        .sid = known.sid,
        .phase = seen.phase,
        .start_ns = known.start_ns,
    };
    memcpy(info.exe, known.exe, sizeof info.exe);
    *ret_info = info;
    return PP_OK;
}

pp_status pp__dw_inspect(void *ctx, pp_proc_id id, pp_proc_info *ret_info, pp_error *reterr) {
    pp_proc_info info;
    pp_status status = pp__dw_identify(ctx, id.pid, &info, reterr);
    if (status != PP_OK)
        return status;
    if (!pp_proc_id_equal(info.id, id))
        return pp_fail(reterr, PP_E_STALE, 0, "inspect", "pid %d is another process", id.pid);
    *ret_info = info;
    return PP_OK;
}
