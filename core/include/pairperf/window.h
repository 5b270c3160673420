/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_WINDOW_H
#define PAIRPERF_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pairperf/proc.h"
#include "pairperf/reading.h"
#include "pairperf/status.h"

/* From the frames of one measurement window to its numbers. Pure: no system call, no clock.
 *
 * A window is the frames from the boundary to the closing one, both included. Units are in the
 * field names; counters and byte sums are exact unsigned 64-bit integers. A number that cannot be
 * trusted is absent with a flag; what was added up all the same is kept beside it as `partial`.
 *
 * Source   statistics: "Is the window valid?", "Counters", "Memory", "Sums a policy may act on"
 */

/* Flags as bits, in the order of their names. */
typedef enum pp_flag {
    PP_FLAG_CLOCK_REVERSED = 1 << 0,
    PP_FLAG_FRAME_TOO_LONG = 1 << 1,
    PP_FLAG_GAP_EXCEEDED = 1 << 2,
    PP_FLAG_INCOMPLETE = 1 << 3,
    PP_FLAG_LATE_DISCOVERY = 1 << 4,
    PP_FLAG_OVERFLOW = 1 << 5,
    PP_FLAG_PARTIAL_WINDOW = 1 << 6,
    PP_FLAG_PASS_TOO_LONG = 1 << 7,
    PP_FLAG_STALE = 1 << 8,
    PP_FLAG_SUSPENDED = 1 << 9,
    PP_FLAG_TOO_FEW_FRAMES = 1 << 10,
    PP_FLAG_UNREADABLE = 1 << 11,
    PP_FLAG_ZERO_DURATION = 1 << 12
} pp_flag;
#define PP_FLAG_COUNT 13

/* Name of bit `index` (0 .. PP_FLAG_COUNT - 1), for example "clock_reversed". */
const char *pp_flag_name(unsigned index);

/* ---- validity ---- */

typedef struct pp_frame_times {
    int64_t t_ns;    /* just before the first counter was read; stops while the machine sleeps */
    int64_t end_ns;  /* after the last one; same clock */
    int64_t used_ns; /* when the frame was handed on; same clock */
    int64_t cont_ns; /* at t_ns, on the clock that keeps counting in sleep */
} pp_frame_times;

typedef struct pp_window_verdict {
    unsigned reasons;  /* pp_flag bits that void the window; 0: it is valid */
    unsigned warnings; /* pp_flag bits kept beside its numbers */
    bool has_elapsed;  /* false: too few frames, or the clock ran backwards */
    int64_t elapsed_ns;
} pp_window_verdict;

/* All reasons and warnings that apply; a gap is more than 2 x interval, a suspension more than
 * 100 ms, `partial_window` below 95 % of duration, `frame_too_long` above a tenth of the interval,
 * `stale` above 1 s. interval_ns and duration_ns are the planned ones, above 0. */
pp_window_verdict pp_window_validity(const pp_frame_times *frames, size_t count,
                                     int64_t interval_ns, int64_t duration_ns);

/* ---- counters over a window: the `observed` tier ---- */

#define PP_USAGE_COUNTERS_MAX 8

typedef struct pp_usage_frame {
    int64_t t_ns;
    int64_t start_clock_ns; /* when discovery began, on the clock that stamps process starts */
} pp_usage_frame;

/* One reading of one process in one frame. All counters missing: it could not be read at all.
 * PP_E_VANISHED and PP_E_STALE mean that it had ended: it keeps what it has, and no total suffers.
 */
typedef struct pp_usage_row {
    size_t frame;     /* index of the frame */
    size_t component; /* index of its executable component */
    pp_proc_id id;
    int64_t start_ns;                           /* on the clock of start_clock_ns */
    pp_reading counters[PP_USAGE_COUNTERS_MAX]; /* the first one is CPU in ns */
} pp_usage_row;

typedef struct pp_usage_input {
    const pp_usage_frame *frames;
    size_t frame_count;
    const pp_usage_row *rows; /* in any order; of two in one frame the later one is later */
    size_t row_count;
    const bool *excluded; /* per component: is it one of those reported on their own? */
    size_t component_count;
    size_t counter_count;  /* 1 .. PP_USAGE_COUNTERS_MAX */
    int64_t start_step_ns; /* start stamps are rounded down to multiples of this; 0: exact */
} pp_usage_input;

typedef struct pp_usage_counter {
    uint64_t partial; /* sum of the deltas that could be taken; meaningless after overflow */
    bool trusted;     /* `partial` is the total */
    bool regressed, unreadable, overflow;
} pp_usage_counter;

typedef struct pp_window_usage {
    int64_t elapsed_ns; /* may be 0 or negative: then there is no rate */
    unsigned flags;     /* PP_FLAG_LATE_DISCOVERY, PP_FLAG_UNREADABLE */
    pp_usage_counter counters[PP_USAGE_COUNTERS_MAX];
    uint64_t excluded_cpu_ns;         /* deltas of the excluded components */
    uint64_t without_excluded_cpu_ns; /* sum of all others, not a subtraction */
    uint64_t *components;             /* [component * counter_count + counter] */
} pp_window_usage;

/* Sums of deltas per process identity: first frame = reference only; born since the previous frame
 * = whole counter; older and first seen later = nothing, and no total is trusted; gone = keeps what
 * it has. A counter that fell loses its total and continues from the new value.
 *
 * Errors   PP_E_INVALID  no frame, or an index out of range
 *          PP_E_NOMEM
 * Owns     ret_usage->components; release with pp_window_usage_done
 */
pp_status pp_window_usage_sum(const pp_usage_input *input, pp_window_usage *ret_usage,
                              pp_error *reterr);
void pp_window_usage_done(pp_window_usage *usage);

/* ---- memory over a window ---- */

typedef struct pp_memory_row {
    size_t frame;
    size_t component;
    pp_reading bytes;
} pp_memory_row;

typedef struct pp_memory_stat {
    bool known;
    uint64_t max_bytes;
    double mean_bytes; /* unweighted over the frames */
} pp_memory_stat;

typedef struct pp_window_memory {
    pp_memory_stat total;   /* unknown with a flag */
    pp_memory_stat partial; /* over the complete frames */
    size_t partial_frames;
    unsigned flags;             /* PP_FLAG_INCOMPLETE, PP_FLAG_OVERFLOW */
    pp_memory_stat *components; /* a component absent from a frame is 0 there */
} pp_window_memory;

/* Per frame the sum over the processes present; maximum and mean over all frames. One unreadable
 * process makes its frame incomplete. Rows must be ordered by frame.
 *
 * Errors   PP_E_INVALID  rows not ordered, or an index out of range
 *          PP_E_NOMEM
 * Owns     ret_memory->components; release with pp_window_memory_done
 */
pp_status pp_window_memory_sum(const pp_memory_row *rows, size_t row_count, size_t frame_count,
                               size_t component_count, pp_window_memory *ret_memory,
                               pp_error *reterr);
void pp_window_memory_done(pp_window_memory *memory);

/* ---- may a policy act on this sum? ---- */

typedef struct pp_policy_member {
    pp_reading bytes;
    bool escaped; /* outside the sum; neither adds to it nor makes it incomplete */
} pp_policy_member;

typedef struct pp_policy_pass {
    int64_t begin_ns, end_ns; /* of the sampling pass */
    int64_t used_ns;          /* when the sum is compared with the limit */
    int64_t max_pass_ns, max_age_ns;
} pp_policy_pass;

typedef struct pp_policy_sum {
    unsigned reasons;     /* pp_flag bits; 0: `known` is the total and may be compared */
    size_t missing;       /* owned members without a reading */
    bool has_known;       /* false after overflow */
    uint64_t known_bytes; /* sum of the readings that exist */
} pp_policy_sum;

pp_policy_sum pp_policy_aggregate(const pp_policy_member *members, size_t count,
                                  const pp_policy_pass *pass);

/* ---- when did a condition end? ---- */

typedef enum pp_until_outcome {
    PP_UNTIL_UNOBSERVED = 0, /* nothing was watched */
    PP_UNTIL_OBSERVED,       /* between low_ms and high_ms */
    PP_UNTIL_RIGHT_CENSORED  /* it still held at low_ms, the last sample */
} pp_until_outcome;

/* "observed", "right_censored" or "unobserved". */
const char *pp_until_outcome_name(pp_until_outcome outcome);

typedef struct pp_until {
    pp_until_outcome outcome;
    double low_ms;  /* unless unobserved */
    double high_ms; /* infinite unless observed */
} pp_until;

typedef struct pp_until_sample {
    double t_ms; /* since the event */
    bool holds;
} pp_until_sample;

pp_until pp_time_until(const pp_until_sample *samples, size_t count);

/* Bounds over several results, unobserved ones left out. An infinite upper bound says that the
 * value is "at least" the lower one. With count 0 the bounds mean nothing. */
typedef struct pp_censored_summary {
    size_t count;
    size_t right_censored;
    double median_low_ms, median_high_ms;
    double max_low_ms, max_high_ms;
} pp_censored_summary;

/* Errors   PP_E_NOMEM */
pp_status pp_censored_summarize(const pp_until *results, size_t count,
                                pp_censored_summary *ret_summary, pp_error *reterr);

#endif
