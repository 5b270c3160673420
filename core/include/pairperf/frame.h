/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_FRAME_H
#define PAIRPERF_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pairperf/proc.h"

/* One sampling pass over an owned tree, as it goes into samples.jsonl. */

typedef enum pp_frame_kind {
    PP_FRAME_TRACK = 0, /* outside the window's schedule: keeps the tree known */
    PP_FRAME_BOUNDARY,  /* first of a window */
    PP_FRAME_TICK,
    PP_FRAME_CLOSING /* last of a window */
} pp_frame_kind;

typedef struct pp_frame_proc {
    pp_proc_info info;
    bool leader;
    bool in_group;
    bool escaped;    /* outside the leader's group or session, now or once */
    bool waited_for; /* ended after it was read; its parent's later figures hold its own */
    pp_usage usage;
    pp_memory memory; /* filled on memory passes */
} pp_frame_proc;

/* A process that ended since the last frame. */
typedef struct pp_frame_exit {
    pp_proc_info info;
    bool exit_known;
    pp_exit exit;
    bool final; /* usage was read from the zombie before it was reaped; else as last seen */
    pp_usage usage;
} pp_frame_exit;

/* A read that failed in this pass. */
typedef struct pp_frame_failure {
    int32_t pid;
    bool owned; /* a known member, not a stranger */
    pp_status status;
    int sys_errno;
    char op[32];
} pp_frame_failure;

/* The tree's total by conservation: sum over the living (own + waited-for children) plus what the
 * supervisor reaped. An estimate with a stated error: waited-for times come in 10 ms ticks. */
typedef struct pp_conservation {
    pp_reading cpu_ns;      /* never below an earlier frame's */
    uint64_t reaped_cpu_ns; /* part of it: processes that the supervisor reaped */
    uint64_t clamped_ns;    /* how far the raw sum fell below the running maximum */
    uint64_t error_ns;      /* two ticks (20 ms) per process with waited-for time */
    bool lower_bound;       /* some member ignores SIGCHLD or was seen to discard what its children
                               used: these may be missing */
    pp_reading write_bytes; /* never below an earlier frame's */
    uint64_t reaped_write_bytes;
    uint64_t clamped_write_bytes; /* how far its raw sum fell below the running maximum */
    uint64_t unreaped; /* ended members; their I/O is out of sight until they are waited for */
} pp_conservation;

typedef struct pp_frame {
    uint64_t seq;
    uint32_t window; /* 0: outside any window */
    pp_frame_kind kind;
    int64_t scheduled_ns;   /* when it was due */
    int64_t t_ns;           /* just before the first counter is read */
    int64_t end_ns;         /* after the last */
    int64_t used_ns;        /* when it was handed on */
    int64_t cont_ns;        /* at t_ns, on the clock that counts sleep */
    int64_t listed_cont_ns; /* when discovery began: what is older was there to be found */
    int64_t wall_ns;
    uint64_t missed;       /* scheduled passes that were skipped before this one */
    pp_status enumeration; /* PP_OK: discovery was whole */
    bool memory_pass;
    pp_frame_proc *procs;
    size_t proc_count, proc_capacity;
    pp_frame_exit *exits;
    size_t exit_count, exit_capacity;
    uint64_t exits_dropped; /* ended, without a record of their own */
    pp_frame_failure *failures;
    size_t failure_count, failure_capacity;
    uint64_t failures_dropped; /* beyond PP_FRAME_FAILURES_MAX */
    pp_conservation conservation;
    pp_reading births; /* in the tree so far, the leader included, whether met or not */
    bool has_leaf;     /* the tree has a cgroup of its own: */
    pp_leaf leaf;      /* what the kernel counted in it, read when conservation was closed */
    uint64_t strays;   /* members ever found outside it; it does not count them from then on */
} pp_frame;

#define PP_FRAME_FAILURES_MAX 256

/* Empties the lists but keeps their memory; header fields become zero. */
void pp_frame_reset(pp_frame *frame);
/* Frees the lists. NULL is fine. */
void pp_frame_done(pp_frame *frame);

/* Append one zeroed element and return it, or NULL when memory is short. */
pp_frame_proc *pp_frame_add_proc(pp_frame *frame);
pp_frame_exit *pp_frame_add_exit(pp_frame *frame);
void pp_frame_add_failure(pp_frame *frame, int32_t pid, bool owned, const pp_error *error);

const char *pp_frame_kind_name(pp_frame_kind kind);
const char *pp_phase_name(pp_phase phase);

#endif
