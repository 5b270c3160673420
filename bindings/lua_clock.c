/* SPDX-License-Identifier: Apache-2.0 */
#include "ppl.h"

#include "host.h"
#include "pairperf/clock.h"

static int l_clock_now(lua_State *L) {
    pp_now now;
    pp_error err;
    if (pp_host_now(&now, &err) != PP_OK)
        return ppl_push_failure(L, &err);

    lua_pushinteger(L, now.t_ns);
    lua_pushinteger(L, now.cont_ns);
    lua_pushinteger(L, now.wall_ns);
    return 3;
}

static int l_clock_utc(lua_State *L) {
    char text[PP_CLOCK_TEXT];
    pp_clock_utc(luaL_checkinteger(L, 1), text);
    lua_pushstring(L, text);
    return 1;
}

static int l_clock_compact_utc(lua_State *L) {
    char text[PP_CLOCK_TEXT];
    pp_clock_compact_utc(luaL_checkinteger(L, 1), text);
    lua_pushstring(L, text);
    return 1;
}

int ppl_open_clock(lua_State *L) {
    static const luaL_Reg functions[] = {
        { "compact_utc", l_clock_compact_utc },
        { "now", l_clock_now },
        { "utc", l_clock_utc },
        { NULL, NULL },
    };
    luaL_newlib(L, functions);
    return 1;
}
