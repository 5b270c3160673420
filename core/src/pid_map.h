/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PP_PID_MAP_H
#define PP_PID_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers of processes, each with a position: found in one step, however many there are. A map
 * that is all zeros is empty. */
typedef struct pp_pid_map_slot {
    int32_t pid; /* 0: free */
    uint32_t at;
} pp_pid_map_slot;

typedef struct pp_pid_map {
    pp_pid_map_slot *slots;
    size_t count;
    size_t capacity; /* 0 or a power of two */
} pp_pid_map;

void pp_pid_map_done(pp_pid_map *map);
/* Adds, or replaces, which needs no memory; pid > 0. False: no memory. */
bool pp_pid_map_put(pp_pid_map *map, int32_t pid, size_t at);
/* -1: not in it. */
ptrdiff_t pp_pid_map_at(const pp_pid_map *map, int32_t pid);
void pp_pid_map_remove(pp_pid_map *map, int32_t pid);

static inline bool pp_pid_map_has(const pp_pid_map *map, int32_t pid) {
    return pp_pid_map_at(map, pid) >= 0;
}

#endif
