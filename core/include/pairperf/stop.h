/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_STOP_H
#define PAIRPERF_STOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pairperf/status.h"

/* Stopping one command's tree, as a pure machine: observations in, actions out.
 *
 * The caller observes (pp_stop_view), asks pp_stop_next() what to do, does it, reports how a
 * signal went (pp_stop_signalled), and asks again at once after an action, or after PP_STOP_WAIT
 * when something changed or *ret_deadline_ns passed. All times are t_ns of pp_now.
 */

typedef struct pp_stop_plan {
    bool group_first;   /* hooks: SIGTERM to the group; application: to the leader alone */
    int64_t grace_ns;   /* from SIGTERM to SIGKILL */
    int64_t verify_ns;  /* from SIGKILL to giving up */
    bool reap_escapees; /* SIGKILL owned processes outside the group once the group is gone */
} pp_stop_plan;

typedef enum pp_leader_state {
    PP_LEADER_ALIVE = 0,
    PP_LEADER_EXITED, /* an unreaped zombie: pins its pid and group id */
    PP_LEADER_LOST,   /* somebody else reaped it: the number means nothing any more */
    PP_LEADER_REAPED  /* by us, after the group was verified */
} pp_leader_state;

/* What is known now. */
typedef struct pp_stop_view {
    int64_t now_ns;
    pp_leader_state leader;
    pp_status group;           /* PP_OK: the member list is whole; else why there is none */
    size_t members;            /* confirmed members, zombies too, without the exited leader */
    size_t uncertain;          /* listed, but not confirmed by a second read */
    size_t escapees;           /* owned, alive, outside the group */
    size_t escapees_expected;  /* ... of these: declared helpers */
    size_t escapees_uncertain; /* recorded once, cannot be read now */
    bool childless;            /* after the reap: the kernel says that no descendant is left */
    bool leaf_populated;       /* somebody lives in the tree's own cgroup, known or not */
} pp_stop_view;

typedef enum pp_stop_action {
    PP_STOP_WAIT = 0,
    PP_STOP_TERM_LEADER,
    PP_STOP_TERM_GROUP,
    PP_STOP_KILL_GROUP,
    PP_STOP_KILL_RECORDED, /* recorded members, each re-validated: the leader is lost */
    PP_STOP_KILL_EXPECTED, /* declared helpers that outlived the grace */
    PP_STOP_KILL_ESCAPEES, /* every owned process outside the group */
    PP_STOP_REAP_LEADER,
    PP_STOP_FINISHED
} pp_stop_action;

typedef enum pp_verdict {
    PP_VERDICT_NONE = 0,
    PP_VERDICT_ECHILD,       /* kernel proof: no descendant left, daemons included */
    PP_VERDICT_GROUP_EMPTY,  /* group empty and every recorded process gone by identity */
    PP_VERDICT_LEFT_RUNNING, /* some owned process lives; they are listed */
    PP_VERDICT_UNVERIFIED    /* could not be proven */
} pp_verdict;

typedef enum pp_stop_step {
    PP_STEP_BEGIN = 0,
    PP_STEP_GRACE,    /* waiting for the group to empty */
    PP_STEP_VERIFY,   /* after SIGKILL */
    PP_STEP_REAP,     /* the group is empty; the leader is about to be reaped */
    PP_STEP_ESCAPEES, /* waiting for what left the group */
    PP_STEP_DONE
} pp_stop_step;

typedef struct pp_stop {
    pp_stop_plan plan;
    pp_stop_step step;
    int64_t term_ns;          /* when SIGTERM was sent, or when the stop began */
    int64_t deadline_ns;      /* of the present step */
    int64_t reap_deadline_ns; /* until then reaping the leader is tried again */
    bool asked;               /* SIGTERM was sent */
    bool forced;              /* SIGKILL was needed for the group */
    bool recorded_killed;     /* SIGKILL went to recorded members one by one */
    bool escapees_killed;     /* SIGKILL went to owned processes outside the group */
    bool leader_lost;
    bool signal_failed; /* a signal was refused: failed evidence */
    bool gave_up;       /* the verification time ran out */
    pp_status signal_status;
    pp_verdict verdict;
} pp_stop;

/* Begins a stop at now_ns. */
void pp_stop_init(pp_stop *stop, const pp_stop_plan *plan, int64_t now_ns);

/* Begins it anew, sooner or harder: what signals were refused so far stays known. */
void pp_stop_again(pp_stop *stop, const pp_stop_plan *plan, int64_t now_ns);

/* The next action. *ret_deadline_ns: when to ask again at the latest, after WAIT or when the action
 * changed nothing (a reaping that failed). */
pp_stop_action pp_stop_next(pp_stop *stop, const pp_stop_view *view, int64_t *ret_deadline_ns);

/* How the signal of the last action went, and when. VANISHED is no failure. Success proves nothing.
 */
void pp_stop_signalled(pp_stop *stop, pp_status status, int64_t now_ns);

/* "echild", "group_empty_and_recorded_gone", "left_running", "unverified", "none". */
const char *pp_verdict_name(pp_verdict verdict);

#endif
