/* SPDX-License-Identifier: Apache-2.0 */
#include "ppl.h"

#include <string.h>

#include "pairperf/artifact.h"
#include "pairperf/sandbox.h"

#define ARTIFACT_TYPE "pairperf.artifact"
#define ENVIRONMENT_TYPE "pairperf.environment"

static int l_artifact_close(lua_State *L) {
    pp_artifact_done(luaL_checkudata(L, 1, ARTIFACT_TYPE));
    return 0;
}

static int l_environment_close(lua_State *L) {
    pp_environment_done(luaL_checkudata(L, 1, ENVIRONMENT_TYPE));
    return 0;
}

static int l_sandbox_executable(lua_State *L) {
    static const char *const names[] = { "executable", NULL };
    const char *path = ppl_check_text(L, 1);
    const char *executable = NULL;
    if (!lua_isnoneornil(L, 2)) {
        ppl_check_fields(L, 2, names);
        executable = ppl_opt_string(L, 2, "executable", NULL);
    }
    pp_artifact *artifact = ppl_new_handle(L, sizeof *artifact, ARTIFACT_TYPE);
    pp_error err;
    if (pp_artifact_find(path, executable, artifact, &err) != PP_OK)
        return ppl_push_failure(L, &err);

    lua_createtable(L, 0, 6);
    lua_pushstring(L, artifact->path);
    lua_setfield(L, -2, "path");
    lua_pushstring(L, artifact->kind);
    lua_setfield(L, -2, "kind");
    lua_pushstring(L, artifact->name);
    lua_setfield(L, -2, "name");
    lua_pushstring(L, artifact->version); /* NULL pushes nil */
    lua_setfield(L, -2, "version");
    lua_pushstring(L, artifact->identifier);
    lua_setfield(L, -2, "identifier");
    lua_pushstring(L, artifact->manifest);
    lua_setfield(L, -2, "manifest");
    pp_artifact_done(artifact);
    return 1;
}

static int l_sandbox_prepare(lua_State *L) {
    static const char *const names[] = { "home", "template", "link_dotdirs", "real_home", NULL };
    ppl_check_fields(L, 1, names);
    pp_sandbox sandbox = {
        .home = ppl_need_string(L, 1, "home"),
        .template_dir = ppl_opt_string(L, 1, "template", NULL),
        .real_home = ppl_opt_string(L, 1, "real_home", NULL),
    };
    sandbox.link_dotdirs = (const char *const *)ppl_string_list(L, 1, "link_dotdirs", NULL);

    pp_error err, cancelled;
    const pp_template_watch watch = { ppl_go_on, &cancelled };
    sandbox.watch = &watch;
    pp_template copied;
    pp_status status = pp_sandbox_prepare(&sandbox, &copied, &err);
    if (status != PP_OK)
        return ppl_push_failure(L, status == PP_E_CANCELLED ? &cancelled : &err);

    lua_pushboolean(L, true);
    if (!sandbox.template_dir)
        return 1;
    ppl_push_template(L, &copied);
    return 2;
}

/* Checks one K, V pair on top of the stack. */
static void check_pair(lua_State *L, int arg, const char *field) {
    bool texts = lua_type(L, -2) == LUA_TSTRING && lua_type(L, -1) == LUA_TSTRING;
    if (!texts || strchr(lua_tostring(L, -2), '=') ||
        strlen(lua_tostring(L, -2)) != lua_rawlen(L, -2) ||
        strlen(lua_tostring(L, -1)) != lua_rawlen(L, -1))
        luaL_argerror(L, arg,
                      lua_pushfstring(L, "field '%s': pairs of name and text expected", field));
}

/* Replaces the table {K=V} on top of the stack by the list {"K=V", ...}. */
static void pairs_to_list(lua_State *L, int arg, const char *field) {
    int pairs = lua_gettop(L);
    lua_newtable(L);
    lua_Integer count = 0;
    lua_pushnil(L);
    while (lua_next(L, pairs)) {
        check_pair(L, arg, field);
        lua_pushfstring(L, "%s=%s", lua_tostring(L, -2), lua_tostring(L, -1));
        lua_rawseti(L, pairs + 1, ++count);
        lua_pop(L, 1);
    }
    lua_remove(L, pairs);
}

/* Puts lists in place of the pairs of `set` and `extra` in a copy of the options, at index 1. */
static void normalize_request(lua_State *L) {
    static const char *const names[] = { "home", "set", "pass", "extra", NULL };
    ppl_check_fields(L, 1, names);
    lua_settop(L, 1);
    lua_newtable(L);
    for (size_t i = 0; names[i]; i++) {
        lua_pushstring(L, names[i]);
        lua_rawget(L, 1);
        bool pairs = strcmp(names[i], "set") == 0 || strcmp(names[i], "extra") == 0;
        if (pairs && !lua_isnil(L, -1)) {
            if (!lua_istable(L, -1))
                luaL_argerror(L, 1, lua_pushfstring(L, "field '%s': table expected", names[i]));
            pairs_to_list(L, 1, names[i]);
        }
        lua_setfield(L, 2, names[i]);
    }
    lua_replace(L, 1);
}

static void push_environment(lua_State *L, const pp_environment *environment) {
    lua_createtable(L, 0, 2);
    lua_createtable(L, (int)environment->count, 0);
    lua_createtable(L, (int)environment->count, 0);
    for (size_t i = 0; i < environment->count; i++) {
        const char *entry = environment->entries[i];
        lua_pushstring(L, entry);
        lua_rawseti(L, -3, (lua_Integer)i + 1);
        lua_pushlstring(L, entry, strcspn(entry, "="));
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -3, "names");
    lua_setfield(L, -2, "env");
}

static int l_sandbox_environment(lua_State *L) {
    normalize_request(L);
    pp_environment_request request = { .home = ppl_need_string(L, 1, "home") };
    request.pass = (const char *const *)ppl_string_list(L, 1, "pass", NULL);
    request.set = (const char *const *)ppl_string_list(L, 1, "set", NULL);
    request.extra = (const char *const *)ppl_string_list(L, 1, "extra", NULL);
    pp_environment *environment = ppl_new_handle(L, sizeof *environment, ENVIRONMENT_TYPE);

    pp_error err;
    if (pp_sandbox_environment(&request, environment, &err) != PP_OK)
        return ppl_push_failure(L, &err);

    push_environment(L, environment);
    pp_environment_done(environment);
    return 1;
}

static int l_sandbox_socket_room(lua_State *L) {
    const char *home = ppl_check_text(L, 1);
    size_t limit;
    long room = pp_sandbox_socket_room(home, &limit);
    lua_pushinteger(L, room);
    lua_pushinteger(L, (lua_Integer)limit);
    return 2;
}

int ppl_open_sandbox(lua_State *L) {
    static const luaL_Reg functions[] = {
        { "environment", l_sandbox_environment },
        { "executable", l_sandbox_executable },
        { "prepare", l_sandbox_prepare },
        { "socket_room", l_sandbox_socket_room },
        { NULL, NULL },
    };
    static const luaL_Reg no_methods[] = { { NULL, NULL } };
    ppl_handle_type(L, ARTIFACT_TYPE, no_methods, l_artifact_close);
    ppl_handle_type(L, ENVIRONMENT_TYPE, no_methods, l_environment_close);
    luaL_newlib(L, functions);
    return 1;
}
