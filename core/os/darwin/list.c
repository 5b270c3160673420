/* SPDX-License-Identifier: Apache-2.0 */
/* A list is whole or the call fails. Group members come from KERN_PROC_PGRP, children from
 * proc_listchildpids; both walk live and exited processes under one lock and need no privilege. A
 * short buffer answers ENOMEM with length 0 (group) or is silently cut (children): a full buffer is
 * therefore never believed. An empty group whose leader is still in it is a contradiction. */
#include <errno.h>
#include <stdlib.h>

#include "adapter.h"
#include "darwin_abi.h"

enum { FIRST_RECORDS = 32, FIRST_PIDS = 128 };

/* One query into a buffer of `capacity` records. *ret_bytes may be 0. */
static int query_group(pp_darwin *darwin, int32_t pgid, size_t capacity, uint8_t **ret_records,
                       size_t *ret_bytes, int *ret_errno) {
    const int mib[] = { PP_DW_CTL_KERN, PP_DW_KERN_PROC, PP_DW_KERN_PROC_PGRP, pgid };
    size_t bytes = capacity * PP_DW_KINFO_SIZE;
    uint8_t *records = malloc(bytes);
    if (records == NULL) {
        *ret_errno = 0;
        return -1;
    }
    if (darwin->sys.sysctl(darwin->sys.ctx, mib, 4, records, &bytes, ret_errno) != 0) {
        free(records);
        return -1;
    }
    *ret_records = records;
    *ret_bytes = bytes;
    return 0;
}

/* PP_E_AGAIN: a member moved to another group between the kernel's filter and its record. */
static pp_status decode_group(const uint8_t *records, size_t bytes, int32_t pgid,
                              pp_dw_seen *seen) {
    for (size_t at = 0; at < bytes; at += PP_DW_KINFO_SIZE, seen++) {
        pp_status status = pp__dw_decode_kinfo(records + at, PP_DW_KINFO_SIZE, seen);
        if (status != PP_OK)
            return status;
        if (seen->pgid != pgid)
            return PP_E_AGAIN;
    }
    return PP_OK;
}

/* One whole query, decoded. */
static pp_status group_once(pp_darwin *darwin, int32_t pgid, size_t capacity, pp_dw_seen **ret_seen,
                            size_t *ret_count, int *ret_errno) {
    uint8_t *records;
    size_t bytes;
    if (query_group(darwin, pgid, capacity, &records, &bytes, ret_errno) != 0)
        return *ret_errno == 0 ? PP_E_NOMEM : PP_E_SYS;

    size_t count = bytes / PP_DW_KINFO_SIZE;
    pp_status status = PP_E_MALFORMED;
    pp_dw_seen *seen = calloc(count + 1, sizeof *seen);
    if (seen == NULL)
        status = PP_E_NOMEM;
    else if (bytes % PP_DW_KINFO_SIZE == 0 && count <= capacity)
        status = decode_group(records, bytes, pgid, seen);
    free(records);
    if (status != PP_OK) {
        free(seen);
        return status;
    }
    *ret_seen = seen;
    *ret_count = count;
    return PP_OK;
}

/* A group that reads as empty while a process of its number stands in it was not read. */
static pp_status check_empty(pp_darwin *darwin, int32_t pgid, pp_error *reterr) {
    pp_dw_seen leader;
    pp_error failure;
    pp_status status = pp__dw_kinfo(darwin, pgid, &leader, &failure);
    if (status == PP_E_VANISHED || (status == PP_OK && leader.pgid != pgid))
        return PP_OK;
    return pp_fail(reterr, PP_E_UNVERIFIED, 0, "KERN_PROC_PGRP",
                   "group %d reads as empty, its leader %s", pgid,
                   status == PP_OK ? "is in it" : "cannot be read");
}

pp_status pp__dw_group(pp_darwin *darwin, int32_t pgid, pp_dw_seen **ret_seen, size_t *ret_count,
                       pp_error *reterr) {
    if (pgid <= 1)
        return pp_fail(reterr, PP_E_INVALID, 0, "KERN_PROC_PGRP", "group %d", pgid);

    size_t capacity = FIRST_RECORDS, count = 0;
    pp_dw_seen *seen = NULL;
    pp_status status = PP_E_SYS;
    int failure = 0;
    for (int i = 0; i < PP_DW_TRIES; i++) {
        failure = 0;
        status = group_once(darwin, pgid, capacity, &seen, &count, &failure);
        if (status == PP_E_SYS && failure == ENOMEM)
            capacity *= 2;
        else if (status != PP_E_AGAIN && !(status == PP_E_SYS && failure == EINTR))
            break;
    }
    if (status == PP_E_AGAIN || (status == PP_E_SYS && failure == ENOMEM))
        return pp_fail(reterr, PP_E_ENUMERATION, failure, "KERN_PROC_PGRP",
                       "group %d: no whole list in %d tries", pgid, PP_DW_TRIES);
    if (status == PP_E_SYS)
        return pp_fail(reterr, pp_status_from_errno(failure), failure, "KERN_PROC_PGRP", "group %d",
                       pgid);
    if (status != PP_OK)
        return pp_fail(reterr, status, 0, "KERN_PROC_PGRP", "group %d", pgid);

    if (count == 0)
        status = check_empty(darwin, pgid, reterr);
    if (status != PP_OK) {
        free(seen);
        return status;
    }
    *ret_seen = seen;
    *ret_count = count;
    return PP_OK;
}

static pp_status add_all(const int32_t *pids, size_t count, pp_pid_list *list) {
    for (size_t i = 0; i < count; i++) {
        bool known = pids[i] <= 0;
        for (size_t k = 0; k < list->count && !known; k++)
            known = list->pids[k] == pids[i];
        if (!known && pp_pid_list_add(list, pids[i]) != PP_OK)
            return PP_E_NOMEM;
    }
    return PP_OK;
}

static pp_status deliver(const int32_t *pids, size_t count, pp_pid_list *ret_pids,
                         pp_error *reterr) {
    pp_pid_list list = { 0 };
    if (add_all(pids, count, &list) != PP_OK) {
        pp_pid_list_done(&list);
        return pp_fail(reterr, PP_E_NOMEM, 0, "list", "%zu processes", count);
    }
    *ret_pids = list;
    return PP_OK;
}

pp_status pp__dw_list_group(void *ctx, int32_t pgid, pp_pid_list *ret_pids, pp_error *reterr) {
    pp_dw_seen *seen = NULL;
    size_t count = 0;
    pp_status status = pp__dw_group(ctx, pgid, &seen, &count, reterr);
    if (status != PP_OK)
        return status;

    int32_t *pids = malloc((count + 1) * sizeof *pids);
    if (pids == NULL) {
        free(seen);
        return pp_fail(reterr, PP_E_NOMEM, 0, "list", "%zu processes", count);
    }
    for (size_t i = 0; i < count; i++)
        pids[i] = seen[i].pid;
    status = deliver(pids, count, ret_pids, reterr);
    free(pids);
    free(seen);
    return status;
}

/* PP_E_ENUMERATION: the buffer came back full. PP_E_SYS: *ret_errno. */
static pp_status children_once(pp_darwin *darwin, int32_t pid, size_t capacity,
                               pp_pid_list *ret_pids, int *ret_errno, pp_error *reterr) {
    int32_t *pids = calloc(capacity, sizeof *pids);
    if (pids == NULL)
        return pp_fail(reterr, PP_E_NOMEM, 0, "list", "%zu processes", capacity);

    int bytes = (int)(capacity * sizeof *pids);
    int count = darwin->sys.listchildpids(darwin->sys.ctx, pid, pids, bytes, ret_errno);
    pp_status status;
    if (count < 0 || (count == 0 && *ret_errno != 0))
        status = PP_E_SYS;
    else if ((size_t)count >= capacity)
        status = PP_E_ENUMERATION;
    else
        status = deliver(pids, (size_t)count, ret_pids, reterr);
    free(pids);
    return status;
}

pp_status pp__dw_list_children(void *ctx, int32_t pid, pp_pid_list *ret_pids, pp_error *reterr) {
    size_t capacity = FIRST_PIDS;
    pp_status status = PP_E_SYS;
    int failure = 0;
    if (pid <= 0)
        return pp_fail(reterr, PP_E_INVALID, 0, "proc_listchildpids", "pid %d", pid);

    for (int i = 0; i < PP_DW_TRIES; i++) {
        failure = 0;
        status = children_once(ctx, pid, capacity, ret_pids, &failure, reterr);
        if (status == PP_E_ENUMERATION)
            capacity *= 2;
        else if (!(status == PP_E_SYS && failure == EINTR))
            break;
    }
    if (status == PP_E_SYS)
        return pp_fail(reterr, pp_status_from_errno(failure), failure, "proc_listchildpids",
                       "pid %d", pid);
    if (status == PP_E_ENUMERATION)
        return pp_fail(reterr, status, 0, "proc_listchildpids",
                       "children of %d: no whole list in %d tries", pid, PP_DW_TRIES);
    return status;
}

pp_status pp__dw_list_own_children(void *ctx, pp_pid_list *ret_pids, pp_error *reterr) {
    pp_darwin *darwin = ctx;
    return pp__dw_list_children(ctx, darwin->self_pid, ret_pids, reterr);
}
