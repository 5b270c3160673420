/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_WINDOW_ROWS_H
#define PAIRPERF_WINDOW_ROWS_H

#include <stddef.h>

#include <lua.h>

#include "samples.h"

/* What the parts of lua_window share. All may raise; nothing is held but userdata. */

/* Pushes zeroed memory for `count` things that lives as long as its stack slot; never of size 0. */
void *ppl_scratch(lua_State *L, size_t count, size_t size);

/* Component names by index and back, in one Lua table at `names`: the index (from 0) of the string
 * in the field "name" of the row on top. A new name gets the next index. */
size_t ppl_component_index(lua_State *L, int names);

/* The same for the string on top, which it pops. */
size_t ppl_component_named(lua_State *L, int names);

/* Rows of all frames together: frames are tables with the rows in `field`, or the rows themselves
 * when field is NULL. The array of frames is on top. */
size_t ppl_count_rows(lua_State *L, size_t frames, const char *field);

/* Packed rows beside the others: fields `rows` (core.samples) and `names` (component by executable)
 * of the argument at 1. `samples` is NULL when there are none. */
typedef struct ppl_packed {
    const ppl_samples *samples;
    int names;          /* stack index of the field */
    size_t *components; /* by executable, 0 for none: index + 1; 0: not asked yet */
} ppl_packed;

/* Pushes two values, always. */
ppl_packed ppl_packed_open(lua_State *L);
/* How many there are in all frames of the array on top. */
size_t ppl_packed_count(lua_State *L, const ppl_packed *packed, size_t frames);
/* Component of a row; `names` as for ppl_component_index. */
size_t ppl_packed_component(lua_State *L, ppl_packed *packed, const ppl_sample *row, int names);

/* Sets `field` of the table on top to the names of the pp_flag bits. */
void ppl_flags_set(lua_State *L, const char *field, unsigned flags);

/* In lua_window_usage.c */
void ppl_window_usage_type(lua_State *L);
int ppl_window_usage(lua_State *L);

#endif
