/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_DECIMAL_H
#define PAIRPERF_DECIMAL_H

#include <lua.h>

#include "pairperf/reading.h"

/* Counters as the evidence carries them: Lua integers or strings of decimal digits. Tables are read
 * raw; `table` is an absolute stack index. All raise on a value of another kind, naming the field.
 */

/* False: not decimal digits only, or beyond 64 bits. */
bool ppl_decimal_parse(const char *text, size_t size, uint64_t *ret_value);

/* nil and json.null are missing. */
pp_reading ppl_decimal_field(lua_State *L, int table, const char *field);
uint64_t ppl_decimal_need(lua_State *L, int table, const char *field);
/* A signed integer that must be there. */
int64_t ppl_integer_need(lua_State *L, int table, const char *field);
/* Sets `field` of the table on top to the digits, or leaves it nil when missing. */
void ppl_decimal_set(lua_State *L, const char *field, pp_reading reading);
/* Sets `field` of the table on top to a float. */
void ppl_number_set(lua_State *L, const char *field, double value);
/* Pushes the array in `field` of `table` and returns its length. */
size_t ppl_array_push(lua_State *L, int table, const char *field);
/* Pushes the table at position `i` (from 1) of the array on top. */
void ppl_row_push(lua_State *L, size_t i);

#endif
