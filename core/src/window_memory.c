/* SPDX-License-Identifier: Apache-2.0 */
/* A frame counts only when every process in it gave its reading and the sum fits 64 bits; the
 * window's total exists only when every frame counts. Absent is 0, unreadable is unknown. Sums over
 * frames are kept in 128 bits, so the mean is rounded once, at the end. */
#include <stdlib.h>

#include "pairperf/window.h"

typedef struct accumulator {
    unsigned __int128 sum;
    uint64_t max;
    size_t frames;
} accumulator;

static void take(accumulator *acc, uint64_t bytes) {
    acc->sum += bytes;
    if (bytes > acc->max)
        acc->max = bytes;
    acc->frames++;
}

static pp_memory_stat stat_of(const accumulator *acc) {
    if (acc->frames == 0)
        return (pp_memory_stat){ 0 };
    return (pp_memory_stat){ .known = true,
                             .max_bytes = acc->max,
                             .mean_bytes = (double)acc->sum / (double)acc->frames };
}

typedef struct component {
    accumulator acc;
    pp_sum frame; /* of the frame being walked */
    bool broken;  /* unreadable or too large in some frame */
} component;

static void close_frame(component *components, size_t count, accumulator *whole, unsigned *flags,
                        pp_sum *frame) {
    if (frame->missing > 0)
        *flags |= PP_FLAG_INCOMPLETE;
    else if (frame->overflow)
        *flags |= PP_FLAG_OVERFLOW;
    else
        take(whole, frame->known);
    *frame = (pp_sum){ 0 };
    for (size_t i = 0; i < count; i++) {
        if (components[i].frame.missing > 0 || components[i].frame.overflow)
            components[i].broken = true;
        else
            take(&components[i].acc, components[i].frame.known);
        components[i].frame = (pp_sum){ 0 };
    }
}

static pp_status check(const pp_memory_row *rows, size_t row_count, size_t frame_count,
                       size_t component_count, pp_error *reterr) {
    for (size_t i = 0; i < row_count; i++) {
        if (rows[i].frame >= frame_count || rows[i].component >= component_count ||
            (i > 0 && rows[i].frame < rows[i - 1].frame))
            return pp_fail(reterr, PP_E_INVALID, 0, "window_memory", "row %zu", i);
    }
    return PP_OK;
}

pp_status pp_window_memory_sum(const pp_memory_row *rows, size_t row_count, size_t frame_count,
                               size_t component_count, pp_window_memory *ret_memory,
                               pp_error *reterr) {
    pp_status status = check(rows, row_count, frame_count, component_count, reterr);
    if (status != PP_OK)
        return status;
    component *components = calloc(component_count + 1, sizeof *components);
    pp_memory_stat *stats = calloc(component_count + 1, sizeof *stats);
    if (components == NULL || stats == NULL) {
        free(components);
        free(stats);
        return pp_fail(reterr, PP_E_NOMEM, 0, "window_memory", "%zu components", component_count);
    }
    accumulator whole = { 0 };
    pp_window_memory memory = { 0 };
    pp_sum frame = { 0 };
    size_t next = 0;
    for (size_t f = 0; f < frame_count; f++) {
        for (; next < row_count && rows[next].frame == f; next++) {
            pp_sum_add(&frame, rows[next].bytes);
            pp_sum_add(&components[rows[next].component].frame, rows[next].bytes);
        }
        close_frame(components, component_count, &whole, &memory.flags, &frame);
    }
    for (size_t i = 0; i < component_count; i++) {
        if (!components[i].broken)
            stats[i] = stat_of(&components[i].acc);
    }
    free(components);
    memory.partial = stat_of(&whole);
    memory.partial_frames = whole.frames;
    if (memory.flags == 0)
        memory.total = memory.partial;
    memory.components = stats;
    *ret_memory = memory;
    return PP_OK;
}

void pp_window_memory_done(pp_window_memory *memory) {
    if (memory == NULL)
        return;
    free(memory->components);
    *memory = (pp_window_memory){ 0 };
}
