/* SPDX-License-Identifier: Apache-2.0 */
#include "ppl.h"

#include "pairperf/argv.h"

#define ARGV_TYPE "pairperf.argv"

static int l_argv_close(lua_State *L) {
    pp_argv_done(luaL_checkudata(L, 1, ARGV_TYPE));
    return 0;
}

static int l_argv_split(lua_State *L) {
    const char *text = ppl_check_text(L, 1);
    pp_argv *argv = ppl_new_handle(L, sizeof *argv, ARGV_TYPE);
    pp_error err;
    if (pp_argv_split(text, argv, &err) != PP_OK)
        return ppl_push_failure(L, &err);

    lua_newtable(L);
    for (size_t i = 0; i < argv->count; i++) {
        lua_pushstring(L, argv->words[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    pp_argv_done(argv);
    return 1;
}

int ppl_open_argv(lua_State *L) {
    static const luaL_Reg functions[] = { { "split", l_argv_split }, { NULL, NULL } };
    static const luaL_Reg no_methods[] = { { NULL, NULL } };
    ppl_handle_type(L, ARGV_TYPE, no_methods, l_argv_close);
    luaL_newlib(L, functions);
    return 1;
}
