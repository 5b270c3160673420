/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_WINDOW_ROWS_H
#define PAIRPERF_WINDOW_ROWS_H

#include <stddef.h>

#include <lua.h>

/* What the parts of lua_window share. All may raise; nothing is held but userdata. */

/* Pushes zeroed memory for `count` things that lives as long as its stack slot; never of size 0. */
void *ppl_scratch(lua_State *L, size_t count, size_t size);

/* Component names by index and back, in one Lua table at `names`: the index (from 0) of the string
 * in the field "name" of the row on top. A new name gets the next index. */
size_t ppl_component_index(lua_State *L, int names);

/* Rows of all frames together: frames are tables with the rows in `field`, or the rows themselves
 * when field is NULL. The array of frames is on top. */
size_t ppl_count_rows(lua_State *L, size_t frames, const char *field);

/* Sets `field` of the table on top to the names of the pp_flag bits. */
void ppl_flags_set(lua_State *L, const char *field, unsigned flags);

/* In lua_window_usage.c */
void ppl_window_usage_type(lua_State *L);
int ppl_window_usage(lua_State *L);

#endif
