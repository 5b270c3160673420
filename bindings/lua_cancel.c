/* SPDX-License-Identifier: Apache-2.0 */
/* A script stuck in a loop is interrupted by a count hook, never by the signal handler itself: Lua
 * is only entered between two of its instructions. Coroutines inherit the hook when created. The
 * same hook calls what watches a script, which may end it by an error. */
#include "ppl.h"

#include "pairperf/cancel.h"

enum { INSTRUCTIONS = 10000 };

static const char watch_key; /* its address is the registry's key of the watching function */
static bool shielded;        /* cleaning up: the request stays, nobody is interrupted */

static bool requested(pp_error *ret_err) {
    pp_cancel cancel;
    if (!pp_cancel_requested(&cancel))
        return false;
    pp_fail(ret_err, PP_E_CANCELLED, 0, "signal", "%s", pp_signal_name(cancel.signal_number));
    return true;
}

bool ppl_cancelled(pp_error *ret_err) {
    return !shielded && requested(ret_err);
}

bool ppl_go_on(void *ret_err) {
    return !requested(ret_err);
}

static void interrupt(lua_State *L, lua_Debug *debug) {
    (void)debug;
    pp_error err;
    if (ppl_cancelled(&err))
        ppl_raise(L, &err);
    if (!shielded && lua_rawgetp(L, LUA_REGISTRYINDEX, &watch_key) == LUA_TFUNCTION)
        lua_call(L, 0, 0);
}

static int l_cancel_watch(lua_State *L) {
    if (!lua_isnil(L, 1))
        luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_settop(L, 1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &watch_key);
    return 0;
}

static int l_cancel_install(lua_State *L) {
    pp_error err;
    pp_status status = pp_cancel_install(&err);
    if (status == PP_OK)
        lua_sethook(L, interrupt, LUA_MASKCOUNT, INSTRUCTIONS);
    return ppl_push_result(L, status, &err);
}

static int l_cancel_requested(lua_State *L) {
    pp_cancel cancel;
    if (!pp_cancel_requested(&cancel)) {
        lua_pushnil(L);
        return 1;
    }
    lua_createtable(L, 0, 3);
    lua_pushstring(L, pp_signal_name(cancel.signal_number));
    lua_setfield(L, -2, "signal");
    lua_pushinteger(L, cancel.count);
    lua_setfield(L, -2, "count");
    lua_pushinteger(L, cancel.t_ns);
    lua_setfield(L, -2, "t_ns");
    return 1;
}

static int l_cancel_shield(lua_State *L) {
    luaL_checktype(L, 1, LUA_TBOOLEAN);
    shielded = lua_toboolean(L, 1);
    return 0;
}

int ppl_open_cancel(lua_State *L) {
    static const luaL_Reg functions[] = {
        { "install", l_cancel_install },
        { "requested", l_cancel_requested },
        { "shield", l_cancel_shield },
        { "watch", l_cancel_watch },
        { NULL, NULL },
    };
    luaL_newlib(L, functions);
    return 1;
}
