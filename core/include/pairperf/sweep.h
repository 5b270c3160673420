/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_SWEEP_H
#define PAIRPERF_SWEEP_H

#include <stddef.h>
#include <stdint.h>

#include "pairperf/proc.h"
#include "pairperf/status.h"

/* The net below the supervisors (Linux). A supervisor that is killed cannot end its tree; what it
 * had adopted or started then becomes a child of the nearest subreaper, which is the harness. A
 * sweep ends those of them that are known to be of that tree. It proves nothing: what nobody can
 * attribute is listed and left alone, and so is every child of the caller's own.
 */

/* From now on orphans below this process become its children. Again is harmless.
 * PP_E_UNSUPPORTED: not on this system. */
pp_status pp_sweep_prepare(pp_error *reterr);

/* What is of the lost tree: any one of these is enough. */
typedef struct pp_sweep_order {
    const pp_proc_id *members; /* seen before */
    size_t member_count;
    const int32_t *groups; /* its process groups; the caller's own is never one */
    size_t group_count;
    const char *assignment; /* "NAME=value" that it was started with; NULL: unknown */
    const char *leaf;       /* directory of its own cgroup; NULL: none. All in it are of the tree */
    int64_t limit_ns;       /* for the whole sweep */
} pp_sweep_order;

typedef enum pp_swept_how {
    PP_SWEPT_GONE = 0,  /* ended and reaped */
    PP_SWEPT_ALIVE,     /* signalled, still there when the time was over */
    PP_SWEPT_STRANGER,  /* an adopted process that cannot be attributed: left alone */
    PP_SWEPT_UNVERIFIED /* a child that could not be looked at: start 0, exe "[unread]" */
} pp_swept_how;

typedef struct pp_swept {
    pp_proc_info info; /* as first seen */
    pp_swept_how how;
} pp_swept;

typedef struct pp_sweep {
    pp_swept *items;
    size_t count, capacity;
    pp_error unread; /* why the first of the unverified could not be looked at */
} pp_sweep;

/* Sends SIGKILL to all in the leaf at once and to the adopted children that the order names, by
 * validated identity, reaps them, and goes on until a second look finds none or the time is over.
 * Then it removes the leaf.
 *
 * ret_sweep  who was met, in order of sight; free it with pp_sweep_done(), also after a failure
 * Errors     PP_E_UNSUPPORTED  not on this system
 *            PP_E_ENUMERATION  own children cannot be listed
 *            PP_E_TIMEOUT      some are still there
 *            others            of the first that could not be looked at (op "sweep")
 *            PP_E_INVALID      `leaf` is none
 *            PP_E_NOMEM, PP_E_SYS, PP_E_DENIED (op "rmdir": the leaf stays)
 */
pp_status pp_sweep_run(const pp_sweep_order *order, pp_sweep *ret_sweep, pp_error *reterr);
void pp_sweep_done(pp_sweep *sweep);

/* "gone", "alive", "stranger", "unverified". */
const char *pp_swept_name(pp_swept_how how);

#endif
