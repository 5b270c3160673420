/* SPDX-License-Identifier: Apache-2.0 */
#include "ppl.h"

#include "pairperf/template.h"

static void push_template(lua_State *L, const pp_template *found) {
    lua_createtable(L, 0, 3);
    ppl_push_u64(L, found->entries);
    lua_setfield(L, -2, "entries");
    ppl_push_u64(L, found->bytes);
    lua_setfield(L, -2, "bytes");
    lua_pushstring(L, found->sha256);
    lua_setfield(L, -2, "sha256");
}

static int l_template_check(lua_State *L) {
    const char *directory = ppl_check_text(L, 1);

    pp_template found;
    pp_error err;
    if (pp_template_check(directory, &found, &err) != PP_OK)
        return ppl_push_failure(L, &err);

    push_template(L, &found);
    return 1;
}

static int l_template_copy(lua_State *L) {
    const char *directory = ppl_check_text(L, 1);
    const char *home = ppl_check_text(L, 2);

    pp_template copied;
    pp_error err;
    if (pp_template_copy(directory, home, &copied, &err) != PP_OK)
        return ppl_push_failure(L, &err);

    push_template(L, &copied);
    return 1;
}

int ppl_open_template(lua_State *L) {
    static const luaL_Reg functions[] = {
        { "check", l_template_check },
        { "copy", l_template_copy },
        { NULL, NULL },
    };
    luaL_newlib(L, functions);
    return 1;
}
