/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PP_LOOP_PRIVATE_H
#define PP_LOOP_PRIVATE_H

#include "loop.h"
#include "outbox.h"
#include "pairperf/stop.h"
#include "pairperf/tree.h"
#include "records.h"
#include "request.h"

#define PP_SECOND_NS 1000000000LL

/* The steady window, on absolute deadlines. */
typedef struct pp_window_plan {
    bool open;
    uint32_t id;
    int64_t start_ns, end_ns, interval_ns;
    uint64_t next;         /* index of the next scheduled frame; 0 is the boundary */
    uint64_t memory_every; /* dear memory figures every n-th frame, at start and end */
    uint64_t memory_due;   /* index of the frame that has them next; a stall only delays it */
    uint64_t frames, missed;
    uint64_t untold; /* missed ones that no frame has told of yet */
} pp_window_plan;

typedef struct pp_loop {
    pp_os *os;
    const char *build_id;
    pp_buffer in;
    pp_outbox out;
    bool greeted;
    bool harness_gone;
    bool blind;         /* wait() failed */
    bool output_untold; /* `output` was read since it was last told */

    pp_spawn_request request;
    bool spawned;
    pp_proc_id leader;
    pp_leader_state leader_state;
    bool exited; /* leader_exit is known */
    pp_exit leader_exit;
    pp_tree tree;
    pp_frame frame;   /* the one being taken */
    pp_frame scratch; /* failures of discoveries between frames */
    pp_json record;   /* of the frame */
    pp_record_memo worded;

    pp_pid_list adopted; /* children of ours, as last listed */
    size_t adopted_next; /* the first of them that was not looked at */
    bool child_changed;  /* one may have ended since they were asked for */
    int64_t observed_ns;

    pp_output_state output;

    int64_t spawned_ns;
    int64_t next_track_ns;
    pp_window_plan window;
    uint64_t frames, frames_dropped;
    uint64_t tree_events; /* seen; the first ones are told */

    pp_stop stop;
    pp_outlasted outlasted;
    const char *cause;
    int64_t stop_requested_ns;
    int64_t next_sweep_ns, sweep_pause_ns, next_look_ns;
    uint64_t swept_reaped; /* how many were reaped before the last sweep */
    bool stopping;
    bool group_empty;
    bool childless;       /* the kernel said so at the last look */
    bool children_killed; /* and told of */
    bool leaf_killed;     /* cgroup.kill was tried */
    pp_status leaf_empty; /* at the last look */
    bool finished;        /* the verdict is queued */
    uint64_t verdict_seq;
} pp_loop;

/* loop.c */
void pp__loop_done(pp_loop *loop);

/* tell.c: what the loop tells */
/* Queues the record in `json`; `head` goes before the line, or NULL. */
pp_status pp__loop_queue(pp_loop *loop, pp_message_type type, uint64_t seq, const pp_buffer *head,
                         pp_json *json);
/* Queues an event; fields of `event` besides seq and now are the caller's. */
void pp__loop_event(pp_loop *loop, pp_event event);
/* Saves what nobody acknowledged; what cannot be saved is named as lost where there is room. */
pp_status pp__loop_save(pp_loop *loop, pp_error *reterr);
/* Reads what captured pipes hold. */
void pp__loop_drain(pp_loop *loop);
/* Queues the state of captured output when it was read since it was last told. */
void pp__loop_tell_output(pp_loop *loop);

static inline int64_t pp__earlier(int64_t a_ns, int64_t b_ns) {
    return a_ns < b_ns ? a_ns : b_ns;
}

/* serve.c: what the harness asks */
pp_status pp__loop_serve(pp_loop *loop, pp_error *reterr);

/* watch.c: exits, adopted children, frames */
/* Somebody else reaped the leader. */
void pp__loop_lose_leader(pp_loop *loop, const pp_error *error);
bool pp__loop_has_to_observe(const pp_loop *loop, int64_t now_ns);
void pp__loop_observe(pp_loop *loop);
/* Reaps adopted children that ended, for a limited time. */
void pp__loop_reap_adopted(pp_loop *loop);
/* Takes the frames that are due; returns when the next one is. */
int64_t pp__loop_sample(pp_loop *loop, int64_t now_ns);
/* One more tracking frame before the verdict, so that every exit has its record. */
void pp__loop_last_frame(pp_loop *loop);

/* teardown.c: the stop machine's eyes and hands */
void pp__loop_begin_stop(pp_loop *loop, const pp_stop_plan *plan, const char *cause);
/* Does what is due; returns when to come again. */
int64_t pp__loop_stop(pp_loop *loop, int64_t now_ns);

static inline int64_t pp__loop_now(pp_loop *loop) {
    pp_now now = { 0 };

    (void)loop->os->now(loop->os->ctx, &now, NULL);
    return now.t_ns;
}

#endif
