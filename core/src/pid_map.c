/* SPDX-License-Identifier: Apache-2.0 */

/* Open addressing, one slot after the other. The invariant: between the slot where a number
 * belongs and the one where it stands no slot is free, and a quarter of them always is.
 */
#include "pid_map.h"

#include <stdlib.h>

#define LEAST 64U

void pp_pid_map_done(pp_pid_map *map) {
    free(map->slots);
    *map = (pp_pid_map){ 0 };
}

static size_t home(const pp_pid_map *map, int32_t pid) {
    return (size_t)((uint32_t)pid * UINT32_C(2654435769)) & (map->capacity - 1);
}

/* The slot of this number, or the free one where it would stand. */
static size_t slot_of(const pp_pid_map *map, int32_t pid) {
    size_t slot = home(map, pid);

    while (map->slots[slot].pid != 0 && map->slots[slot].pid != pid)
        slot = (slot + 1) & (map->capacity - 1);
    return slot;
}

static bool grow(pp_pid_map *map) {
    pp_pid_map bigger = { .capacity = map->capacity ? map->capacity * 2 : LEAST };

    bigger.slots = calloc(bigger.capacity, sizeof *bigger.slots);
    if (!bigger.slots)
        return false;
    bigger.count = map->count;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slots[i].pid != 0)
            bigger.slots[slot_of(&bigger, map->slots[i].pid)] = map->slots[i];
    free(map->slots);
    *map = bigger;
    return true;
}

bool pp_pid_map_put(pp_pid_map *map, int32_t pid, size_t at) {
    if (!pp_pid_map_has(map, pid)) {
        if (map->count >= map->capacity / 4 * 3 && !grow(map))
            return false;
        map->count++;
    }
    map->slots[slot_of(map, pid)] = (pp_pid_map_slot){ pid, (uint32_t)at };
    return true;
}

ptrdiff_t pp_pid_map_at(const pp_pid_map *map, int32_t pid) {
    if (map->count == 0 || pid <= 0)
        return -1;
    const pp_pid_map_slot *slot = &map->slots[slot_of(map, pid)];
    return slot->pid == pid ? (ptrdiff_t)slot->at : -1;
}

void pp_pid_map_remove(pp_pid_map *map, int32_t pid) {
    if (!pp_pid_map_has(map, pid))
        return;
    size_t hole = slot_of(map, pid), mask = map->capacity - 1;
    for (size_t i = (hole + 1) & mask; map->slots[i].pid != 0; i = (i + 1) & mask) {
        size_t wanted = home(map, map->slots[i].pid);
        if (((i - wanted) & mask) < ((i - hole) & mask))
            continue; /* it belongs behind the hole */
        map->slots[hole] = map->slots[i];
        hole = i;
    }
    map->slots[hole].pid = 0;
    map->count--;
}
