/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_PPL_H
#define PAIRPERF_PPL_H

#include <stdbool.h>
#include <stddef.h>

#include <lauxlib.h>
#include <lua.h>

#include "pairperf/proc.h"
#include "pairperf/reading.h"
#include "pairperf/status.h"
#include "pairperf/template.h"

/* What every binding shares. A binding checks its arguments (may raise, holds nothing), calls the
 * core (never raises), then pushes (may raise, holds nothing but userdata).
 *
 * Option tables are read raw: metamethods of the caller are not asked, so that a string returned
 * here stays alive as long as the caller's table is unchanged.
 */

/* One per lua_<module>.c: pushes the module's table and returns 1. */
int ppl_open_argv(lua_State *L);
int ppl_open_cancel(lua_State *L);
int ppl_open_clock(lua_State *L);
int ppl_open_counters(lua_State *L);
int ppl_open_digest(lua_State *L);
int ppl_open_error(lua_State *L);
int ppl_open_fs(lua_State *L);
int ppl_open_guard(lua_State *L);
int ppl_open_http(lua_State *L);
int ppl_open_json(lua_State *L);
int ppl_open_lock(lua_State *L);
int ppl_open_manifest(lua_State *L);
int ppl_open_process(lua_State *L);
int ppl_open_samples(lua_State *L);
int ppl_open_sandbox(lua_State *L);
int ppl_open_supervisor(lua_State *L);
int ppl_open_sweep(lua_State *L);
int ppl_open_template(lua_State *L);
int ppl_open_window(lua_State *L);

/* The C module `pairperf.core`. */
int luaopen_pairperf_core(lua_State *L);

/* Errors: a table {code, op, detail, errno|nil} with metatable "pairperf.Error". */
void ppl_push_error(lua_State *L, const pp_error *err);
/* Pushes nil and the error object; returns 2. */
int ppl_push_failure(lua_State *L, const pp_error *err);
/* Pushes true, or nil and the error object, and returns their number. */
int ppl_push_result(lua_State *L, pp_status status, const pp_error *err);
/* Raises the error object itself. */
int ppl_raise(lua_State *L, const pp_error *err);
/* Raises "no memory"; unlike luaL_error(), declared never to return. */
_Noreturn void ppl_no_memory(lua_State *L);

/* Arguments. All raise with the argument's number. */

/* A string without a NUL inside, for anything that becomes a C string. */
const char *ppl_check_text(lua_State *L, int arg);
/* The table at `arg` has no fields but `names` (NULL-terminated). */
void ppl_check_fields(lua_State *L, int arg, const char *const names[]);

/* Fields of the option table at `arg`; the default when the field is nil. Wrong types raise. */
const char *ppl_opt_string(lua_State *L, int arg, const char *field, const char *fallback);
lua_Integer ppl_opt_integer(lua_State *L, int arg, const char *field, lua_Integer fallback);
lua_Number ppl_opt_number(lua_State *L, int arg, const char *field, lua_Number fallback);
bool ppl_opt_boolean(lua_State *L, int arg, const char *field, bool fallback);
/* The same for a field that must be there. */
const char *ppl_need_string(lua_State *L, int arg, const char *field);

/* Pushes a userdata that holds a NULL-terminated copy of the Lua array of strings in `field`
 * (empty when the field is nil), which lives as long as that stack slot. ret_count may be NULL. */
char **ppl_string_list(lua_State *L, int arg, const char *field, size_t *ret_count);

/* Values */

/* An integer; nil when missing or above LUA_MAXINTEGER. */
void ppl_push_reading(lua_State *L, pp_reading reading);
/* An integer; above LUA_MAXINTEGER the decimal digits as a string. */
void ppl_push_u64(lua_State *L, uint64_t value);
/* {pid=, start=, unique=} */
void ppl_push_proc_id(lua_State *L, pp_proc_id id);

/* In lua_template.c: {entries, bytes, sha256}. */
void ppl_push_template(lua_State *L, const pp_template *found);

/* Handles: userdata that are born closed. */

/* Creates the metatable `type`: `methods` in __index, `close` as __gc and __close. `close` must be
 * idempotent. */
void ppl_handle_type(lua_State *L, const char *type, const luaL_Reg methods[], lua_CFunction close);
/* Pushes a zeroed userdata of that type. */
void *ppl_new_handle(lua_State *L, size_t size, const char *type);

/* In lua_cancel.c: did a signal ask to stop, and is that not shielded? Fills *ret_err
 * (PP_E_CANCELLED) when so. */
bool ppl_cancelled(pp_error *ret_err);

/* For core functions that ask whether to go on, shielded or not, as they end where they are;
 * ret_err: a pp_error. */
bool ppl_go_on(void *ret_err);

#endif
