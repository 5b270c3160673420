/* SPDX-License-Identifier: Apache-2.0 */
#include "ppl.h"

#include "pairperf/template.h"

#define REJECTS_TYPE "pairperf.template_rejects"

static int l_rejects_close(lua_State *L) {
    pp_template_rejects_done(luaL_checkudata(L, 1, REJECTS_TYPE));
    return 0;
}

void ppl_push_template(lua_State *L, const pp_template *found) {
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
    pp_error err, cancelled;
    const pp_template_watch watch = { ppl_go_on, &cancelled };
    pp_status status = pp_template_check(directory, &watch, &found, &err);
    if (status != PP_OK)
        return ppl_push_failure(L, status == PP_E_CANCELLED ? &cancelled : &err);

    ppl_push_template(L, &found);
    return 1;
}

static int l_template_rejects(lua_State *L) {
    const char *directory = ppl_check_text(L, 1);
    pp_template_rejects *rejects = ppl_new_handle(L, sizeof *rejects, REJECTS_TYPE);

    pp_error err;
    if (pp_template_rejects_list(directory, rejects, &err) != PP_OK)
        return ppl_push_failure(L, &err);

    lua_createtable(L, (int)rejects->count, 0);
    for (size_t i = 0; i < rejects->count; i++) {
        lua_createtable(L, 0, 2);
        lua_pushstring(L, rejects->items[i].path);
        lua_setfield(L, -2, "path");
        lua_pushstring(L, rejects->items[i].type);
        lua_setfield(L, -2, "type");
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    pp_template_rejects_done(rejects);
    return 1;
}

static int l_template_copy(lua_State *L) {
    const char *directory = ppl_check_text(L, 1);
    const char *home = ppl_check_text(L, 2);

    pp_template copied;
    pp_error err, cancelled;
    const pp_template_watch watch = { ppl_go_on, &cancelled };
    pp_status status = pp_template_copy(directory, home, &watch, &copied, &err);
    if (status != PP_OK)
        return ppl_push_failure(L, status == PP_E_CANCELLED ? &cancelled : &err);

    ppl_push_template(L, &copied);
    return 1;
}

int ppl_open_template(lua_State *L) {
    static const luaL_Reg functions[] = {
        { "check", l_template_check },
        { "copy", l_template_copy },
        { "rejects", l_template_rejects },
        { NULL, NULL },
    };
    static const luaL_Reg no_methods[] = { { NULL, NULL } };
    ppl_handle_type(L, REJECTS_TYPE, no_methods, l_rejects_close);
    luaL_newlib(L, functions);
    return 1;
}
