/* SPDX-License-Identifier: Apache-2.0 */
/* A window or a sum is usable only when no reason against it was found; every reason that applies
 * is named. Times are compared as exact integers; differences are taken in 128 bits, so that no
 * clock value, however wrong, overflows here. */
#include "pairperf/window.h"

#define SUSPEND_NS 100000000
#define STALE_NS 1000000000

typedef __int128 wide;

static const char *const flag_names[PP_FLAG_COUNT] = {
    "clock_reversed", "frame_too_long", "gap_exceeded",  "incomplete", "late_discovery",
    "overflow",       "partial_window", "pass_too_long", "stale",      "suspended",
    "too_few_frames", "unreadable",     "zero_duration",
};

const char *pp_flag_name(unsigned index) {
    return index < PP_FLAG_COUNT ? flag_names[index] : "flag?";
}

static wide span(int64_t from, int64_t to) {
    return (wide)to - from;
}

static void judge_frame(const pp_frame_times *frame, int64_t interval_ns, pp_window_verdict *v) {
    if (frame->end_ns < frame->t_ns || frame->used_ns < frame->end_ns) {
        v->reasons |= PP_FLAG_CLOCK_REVERSED;
        return;
    }
    if (span(frame->t_ns, frame->end_ns) * 10 > interval_ns)
        v->warnings |= PP_FLAG_FRAME_TOO_LONG;
    if (span(frame->end_ns, frame->used_ns) > STALE_NS)
        v->warnings |= PP_FLAG_STALE;
}

static void judge_interval(const pp_frame_times *a, const pp_frame_times *b, int64_t interval_ns,
                           pp_window_verdict *v) {
    wide step = span(a->t_ns, b->t_ns);
    if (step < 0)
        v->reasons |= PP_FLAG_CLOCK_REVERSED;
    else if (step == 0)
        v->reasons |= PP_FLAG_ZERO_DURATION;
    else if (step > (wide)2 * interval_ns)
        v->reasons |= PP_FLAG_GAP_EXCEEDED;
    if (span(a->cont_ns, b->cont_ns) - step > SUSPEND_NS)
        v->reasons |= PP_FLAG_SUSPENDED;
}

pp_window_verdict pp_window_validity(const pp_frame_times *frames, size_t count,
                                     int64_t interval_ns, int64_t duration_ns) {
    pp_window_verdict v = { 0 };
    if (count < 2) {
        v.reasons = PP_FLAG_TOO_FEW_FRAMES;
        return v;
    }
    for (size_t i = 0; i < count; i++)
        judge_frame(&frames[i], interval_ns, &v);
    for (size_t i = 1; i < count; i++)
        judge_interval(&frames[i - 1], &frames[i], interval_ns, &v);
    if (v.reasons & PP_FLAG_CLOCK_REVERSED)
        return v;
    wide elapsed = span(frames[0].t_ns, frames[count - 1].t_ns);
    if (elapsed * 100 < (wide)duration_ns * 95)
        v.reasons |= PP_FLAG_PARTIAL_WINDOW;
    if (elapsed <= INT64_MAX) {
        v.has_elapsed = true;
        v.elapsed_ns = (int64_t)elapsed;
    }
    return v;
}

static unsigned judge_pass(const pp_policy_pass *pass) {
    if (pass->end_ns < pass->begin_ns || pass->used_ns < pass->end_ns)
        return PP_FLAG_CLOCK_REVERSED;
    if (pass->end_ns == pass->begin_ns)
        return PP_FLAG_ZERO_DURATION;
    unsigned reasons = 0;
    if (span(pass->begin_ns, pass->end_ns) > pass->max_pass_ns)
        reasons |= PP_FLAG_PASS_TOO_LONG;
    if (span(pass->end_ns, pass->used_ns) > pass->max_age_ns)
        reasons |= PP_FLAG_STALE;
    return reasons;
}

pp_policy_sum pp_policy_aggregate(const pp_policy_member *members, size_t count,
                                  const pp_policy_pass *pass) {
    pp_sum sum = { 0 };
    for (size_t i = 0; i < count; i++) {
        if (!members[i].escaped)
            pp_sum_add(&sum, members[i].bytes);
    }
    pp_policy_sum result = { .reasons = judge_pass(pass), .missing = sum.missing };
    if (sum.missing > 0)
        result.reasons |= PP_FLAG_INCOMPLETE;
    if (sum.overflow) {
        result.reasons |= PP_FLAG_OVERFLOW;
    } else {
        result.has_known = true;
        result.known_bytes = sum.known;
    }
    return result;
}
