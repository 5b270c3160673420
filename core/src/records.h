/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PP_RECORDS_H
#define PP_RECORDS_H

#include "os.h"
#include "pairperf/frame.h"
#include "pairperf/json_write.h"
#include "pairperf/message.h"
#include "pairperf/stop.h"
#include "pairperf/tree.h"

/* The lines of samples.jsonl and events.jsonl, as the supervisor writes them. Each function writes
 * one whole JSON object without the line end; the caller finishes the document. */

/* How the first processes of a frame were worded; who is found the same, byte for byte, in the next
 * one is not worded again. Zero-initialised is empty; a copy of its own for each tree. */
enum { PP_WORDED_MAX = 64 };
typedef struct pp_worded {
    pp_frame_proc proc;
    bool memory_pass;
    pp_buffer text; /* empty: none yet */
} pp_worded;
typedef struct pp_record_memo {
    pp_worded *procs; /* so many, or NULL */
    pp_json json;
} pp_record_memo;
void pp__record_memo_done(pp_record_memo *memo);

/* `memo` is of the frame before, or NULL. */
void pp__record_frame(pp_json *json, const pp_frame *frame, pp_record_memo *memo);

/* An event about one process; detail keys are written by kind. */
typedef struct pp_event {
    const char *kind;
    uint64_t seq;
    pp_now now;
    const pp_proc_info *info;             /* NULL: about no process */
    int32_t old_ppid;                     /* reparented */
    const pp_exit *exit;                  /* leader_exited, reaped */
    const char *leaf;                     /* spawned: its cgroup's directory; NULL: none */
    const char *signal;                   /* signal: its name */
    const char *target;                   /* signal: "leader", "group", ... */
    const pp_error *error;                /* what failed; NULL or PP_OK: nothing */
    uint32_t window;                      /* window_started, window_done */
    uint64_t frames, missed;              /* window_done */
    int64_t duration_ns, interval_ns;     /* window_started */
    const char *capability, *consequence; /* capability */
    pp_status state;                      /* capability */
} pp_event;

void pp__record_event(pp_json *json, const pp_event *event);

#define PP_OUTLASTED_MAX 64

/* Members of the group that SIGKILL was sent to, as last looked at before. */
typedef struct pp_outlasted {
    pp_proc_info infos[PP_OUTLASTED_MAX]; /* the first ones */
    uint64_t total;
} pp_outlasted;

/* All that the verdict rests on. */
typedef struct pp_verdict_record {
    uint64_t seq;
    pp_now now;
    const pp_stop *stop;
    const char *cause; /* "requested", "harness_gone", "latest_end", "wait_failed" */
    bool adopts;
    bool exited;
    pp_exit exit;
    bool group_empty;     /* a whole list without members was seen */
    pp_status leaf_empty; /* PP_OK, PP_E_AGAIN: somebody lives in it; others: not known */
    bool childless;
    const pp_tree *tree;           /* who is left */
    const pp_outlasted *outlasted; /* who had not ended in the grace */
    uint64_t frames, frames_dropped;
    uint64_t tree_events; /* seen, told or not */
    pp_reading own_cpu_ns, own_rss_bytes;
    int64_t verified_ns; /* from the request to the verdict */
} pp_verdict_record;

void pp__record_verdict(pp_json *json, const pp_verdict_record *record);

#endif
