/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_TREE_H
#define PAIRPERF_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pairperf/frame.h"

struct pp_os;
struct pp_pid_list;
struct pp_pid_map;

/* The owned tree of one command: leader, its group, its descendants, and everything once seen as
 * such. Sees the world only through pp_os.
 */

/* What a look found beside the plain ends, which are exit records of the frames. */
typedef enum pp_tree_event_kind {
    PP_TREE_REUSED = 0, /* its number belongs to another process now */
    PP_TREE_REPARENTED, /* old_ppid -> info.ppid */
    PP_TREE_ESCAPED,    /* left the leader's group or session */
    PP_TREE_LATE,       /* first seen although older than the previous look */
    PP_TREE_DENIED,     /* a known member's usage is unreadable */
    PP_TREE_DISCARDS    /* what its children used is lost when they end */
} pp_tree_event_kind;

typedef struct pp_tree_event {
    pp_tree_event_kind kind;
    pp_proc_info info;
    int32_t old_ppid;
} pp_tree_event;

typedef struct pp_tree_member {
    pp_proc_info info;
    bool leader;
    bool escaped;      /* once outside, always so */
    bool expected;     /* a declared helper (--expect-escapee) */
    bool seen;         /* in the present pass */
    bool counted;      /* in the present pass: its counters were read, or it was tried */
    bool after_leader; /* recorded only after the leader was gone: no fallback target */
    bool killed;       /* SIGKILL was sent to it alone */
    bool kill_told;    /* that, or that it failed */
    bool stray;        /* was found outside the leaf */
    bool over;         /* its end is recorded: no member any more, dropped after the pass */
    size_t escape;     /* number of its escape record, from 1 on; 0: none */
    bool discards;     /* what its children used was lost when they ended */
    pp_usage usage;    /* as last read */
    pp_proc_id parent; /* when that was read; all 0: no member */
    pp_reading parent_child_faults; /* of that one, as last read then */
} pp_tree_member;

#define PP_TREE_ESCAPES_MAX 64

/* Children that are looked at in any case, whatever the clock says: a machine that is too busy to
 * run us lets every portion of time pass at once. */
#define PP_TREE_PORTION_MIN 256

/* Exit records kept from one frame to the next; and up to how many of them orphans that nobody met
 * are looked at, which then are reaped without a look. */
#define PP_TREE_EXITS_MAX 4096
#define PP_TREE_ORPHANS_MAX 256

/* A number that a list of ours showed, and that could not be looked at so far. */
typedef struct pp_tree_unmet {
    int32_t pid;
    int64_t listed_cont_ns; /* when that list was read, or before */
    bool surely;            /* it was ours; else that of whoever has a member's number */
} pp_tree_unmet;

#define PP_TREE_UNMET_MAX 4096 /* with more of them no look is a whole one */

/* Evidence of one escape, as first seen outside. */
typedef struct pp_tree_escape {
    pp_proc_info info;
    bool expected;
    bool over; /* its end is recorded */
} pp_tree_escape;

typedef struct pp_tree {
    struct pp_os *os;
    pp_proc_id leader;
    int32_t sid;
    bool leader_gone;        /* reaped: its number proves no ownership any more */
    int32_t own_pid;         /* the supervisor, as its children show it; 0: not known */
    int64_t last_listed_ns;  /* listed_cont_ns of the previous pass, for the late test */
    pp_tree_member *members; /* in the order in which they were met */
    size_t count, capacity;
    size_t over;                 /* of these: no members any more; 0 between two calls */
    struct pp_pid_map *by_pid;   /* positions in `members` */
    const char *const *expected; /* fnmatch globs on the executable path; NULL-terminated */
    uint64_t escapes;            /* ever seen */
    /* The first ones; then those that live take the place of the latest that ended. */
    pp_tree_escape escape_records[PP_TREE_ESCAPES_MAX];
    /* Since they told this nobody was born or ended before everybody was met; births missing: there
     * was no such pass. While they still tell it, there is nobody to be met. */
    pp_notices quiet;
    int64_t asked_cont_ns; /* when lists of children were last read */
    bool misled;           /* one was met without its notice: none is believed any more */
    pp_tree_unmet *unmet;
    size_t unmet_count, unmet_capacity;
    pp_frame_exit *exits; /* since the last frame */
    size_t exit_count, exit_capacity;
    uint64_t exits_dropped; /* ends without a record; their figures are booked */
    uint64_t reaped;        /* how many */
    uint64_t reaped_cpu_ns, reaped_write_bytes;
    bool reaping_orphans;           /* what they wrote is booked when the last of them is done */
    pp_reading own_written;         /* before the first of them */
    pp_status reaped_missing;       /* some reaping gave no CPU figure */
    pp_status reaped_write_missing; /* some reaping gave no I/O figure */
    uint64_t cpu_floor_ns;          /* running maximum of the conservation total */
    uint64_t write_floor_bytes;     /* likewise */
    uint64_t strays;                /* members ever found outside the leaf */
    bool lower_bound;
    bool incomplete; /* memory ran out: some member could not be recorded */
    void (*on_event)(void *ctx, const pp_tree_event *event); /* may be NULL */
    void *event_ctx;
} pp_tree;

/* leader: as spawned. expected: may be NULL; borrowed. Event callbacks may be set afterwards. */
void pp_tree_init(pp_tree *tree, struct pp_os *os, pp_proc_id leader, const char *const *expected);
/* Frees; NULL is fine. */
void pp_tree_done(pp_tree *tree);

/* One pass: rediscovers the tree and fills the frame's lists, t_ns ... conservation.
 * memory_budget_ns  > 0: also reads the dear memory figures, after everything else, and gives up
 *                   those that are not there so long after the frame's t_ns (PP_E_BLOCKED)
 * Never fails: what went wrong is in the frame. */
void pp_tree_sample(pp_tree *tree, int64_t memory_budget_ns, pp_frame *frame);

/* Rediscovers without reading counters. PP_OK: the discovery was whole. */
pp_status pp_tree_discover(pp_tree *tree, pp_frame *frame);

/* Reads an exited, unreaped child's own last counters, reaps it, and books both. The leader
 * included. PP_E_AGAIN: it has not exited. */
pp_status pp_tree_reap(pp_tree *tree, pp_proc_id id, pp_exit *ret_exit, pp_error *reterr);

/* Reaps those of our own children, from number *at of the list on, that have ended, members or not,
 * but never a pinned leader. *at: the first that was not looked at when the clock reached end_ns
 * and PP_TREE_PORTION_MIN were looked at.
 */
void pp_tree_reap_adopted(pp_tree *tree, const struct pp_pid_list *own, size_t *at, int64_t end_ns);

/* Is this process on record, so that its end is looked for? */
bool pp_tree_has(const pp_tree *tree, pp_proc_id id);

/* Owned members that still live outside the group, zombies not counted. */
typedef struct pp_tree_outside {
    size_t alive, expected, uncertain;
} pp_tree_outside;
void pp_tree_outside_count(const pp_tree *tree, pp_tree_outside *ret_outside);

const char *pp_tree_event_name(pp_tree_event_kind kind);

#endif
