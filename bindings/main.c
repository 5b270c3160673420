/* SPDX-License-Identifier: Apache-2.0 */
/* pairperf-lua: a Lua 5.4 state in which only what was compiled in can be required, unless the
 * first words are `--lua-path DIR`. Nothing of the user's Lua set-up reaches it: LUA_PATH,
 * LUA_CPATH and LUA_INIT are not read. All policy, the command line too, is in the module
 * pairperf.main. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "embedded.h"
#include "pairperf/supervisor.h"
#include "platform.h"

#define EXIT_REFUSED 2
#define EXIT_INTERNAL 70 /* an error inside the harness or a script (EX_SOFTWARE) */

int luaopen_pairperf_core(lua_State *L);

typedef struct command_line {
    int argc;
    char **argv;
} command_line;

static const pp_embedded_file *find_embedded(const char *name) {
    for (size_t i = 0; i < pp_embedded_count; i++) {
        if (strcmp(pp_embedded_files[i].name, name) == 0)
            return &pp_embedded_files[i];
    }
    return NULL;
}

/* get(name) -> the file's bytes, or nil; its name for tracebacks */
static int l_embedded_get(lua_State *L) {
    const pp_embedded_file *file = find_embedded(luaL_checkstring(L, 1));
    if (!file)
        return 0;
    lua_pushlstring(L, file->bytes, file->size);
    lua_pushstring(L, file->chunk);
    return 2;
}

/* names() -> array of all names, sorted */
static int l_embedded_names(lua_State *L) {
    lua_createtable(L, (int)pp_embedded_count, 0);
    for (size_t i = 0; i < pp_embedded_count; i++) {
        lua_pushstring(L, pp_embedded_files[i].name);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

static int open_embedded(lua_State *L) {
    static const luaL_Reg functions[] = {
        { "get", l_embedded_get },
        { "names", l_embedded_names },
        { NULL, NULL },
    };
    luaL_newlib(L, functions);
    return 1;
}

/* package.searchers entry: module name -> loader, or why not */
static int search_embedded(lua_State *L) {
    const char *name = luaL_checkstring(L, 1);
    const pp_embedded_file *file = find_embedded(name);
    if (!file) {
        lua_pushfstring(L, "no embedded module '%s'", name);
        return 1;
    }
    if (luaL_loadbufferx(L, file->bytes, file->size, file->chunk, "t") != LUA_OK)
        return lua_error(L);
    lua_pushstring(L, file->chunk + 1);
    return 2;
}

/* Puts search_embedded behind the preload searcher and before the path searchers. */
static void add_searcher(lua_State *L) {
    lua_getglobal(L, "package");
    lua_getfield(L, -1, "searchers");
    for (lua_Integer i = luaL_len(L, -1); i >= 2; i--) {
        lua_rawgeti(L, -1, i);
        lua_rawseti(L, -2, i + 1);
    }
    lua_pushcfunction(L, search_embedded);
    lua_rawseti(L, -2, 2);
    lua_pop(L, 2);
}

static void preload(lua_State *L, const char *name, lua_CFunction opener) {
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, opener);
    lua_setfield(L, -2, name);
    lua_pop(L, 1);
}

#ifdef PP_CJSON_MODULE
/* LuaRocks installs cjson only as a loadable module; its place was found when this was built. */
static int load_cjson(lua_State *L, const char *opener) {
    lua_getglobal(L, "package");
    lua_getfield(L, -1, "loadlib");
    lua_pushstring(L, PP_CJSON_MODULE);
    lua_pushstring(L, opener);
    lua_call(L, 2, 2);
    if (!lua_isfunction(L, -2))
        return luaL_error(L, "%s: %s", PP_CJSON_MODULE, lua_tostring(L, -1));
    lua_pop(L, 1);
    lua_call(L, 0, 1);
    return 1;
}

static int luaopen_cjson(lua_State *L) {
    return load_cjson(L, "luaopen_cjson");
}

static int luaopen_cjson_safe(lua_State *L) {
    return load_cjson(L, "luaopen_cjson_safe");
}
#else
int luaopen_cjson(lua_State *L);
int luaopen_cjson_safe(lua_State *L);
#endif

/* Takes the leading `--lua-path DIR` pairs off the command line into package.path and cpath. */
static void set_paths(lua_State *L, command_line *line) {
    lua_getglobal(L, "package");
    lua_pushliteral(L, "");
    lua_pushliteral(L, "");
    while (line->argc >= 3 && strcmp(line->argv[1], "--lua-path") == 0) {
        const char *dir = line->argv[2];
        const char *separator = *lua_tostring(L, -1) ? ";" : "";
        lua_pushfstring(L, "%s%s%s/?.lua;%s/?/init.lua", lua_tostring(L, -2), separator, dir, dir);
        lua_replace(L, -3);
        lua_pushfstring(L, "%s%s%s/?.so", lua_tostring(L, -1), separator, dir);
        lua_replace(L, -2);
        line->argv[2] = line->argv[0];
        line->argv += 2;
        line->argc -= 2;
    }
    lua_setfield(L, -3, "cpath");
    lua_setfield(L, -2, "path");
    lua_pop(L, 1);
}

static void push_arguments(lua_State *L, const command_line *line) {
    lua_createtable(L, line->argc, 1);
    for (int i = 0; i < line->argc; i++) {
        lua_pushstring(L, line->argv[i]);
        lua_rawseti(L, -2, i);
    }
}

/* Everything that may raise: (command_line *) -> exit status as pairperf.main gave it */
static int run(lua_State *L) {
    command_line *line = lua_touserdata(L, 1);

    lua_pushboolean(L, 1);
    lua_setfield(L, LUA_REGISTRYINDEX, "LUA_NOENV"); /* as lua -E does */
    luaL_openlibs(L);
    set_paths(L, line);
    add_searcher(L);
    preload(L, "cjson", luaopen_cjson);
    preload(L, "cjson.safe", luaopen_cjson_safe);
    preload(L, "pairperf.core", luaopen_pairperf_core);
    preload(L, "pairperf.embedded", open_embedded);

    lua_getglobal(L, "require");
    lua_pushliteral(L, "pairperf.main");
    lua_call(L, 1, 1);
    push_arguments(L, line);
    lua_call(L, 1, 1);
    return 1;
}

/* Message handler: any error value -> its text with a traceback */
static int add_traceback(lua_State *L) {
    luaL_traceback(L, L, luaL_tolstring(L, 1, NULL), 1);
    return 1;
}

static int exit_status(lua_State *L, const char *program, int outcome) {
    if (outcome != LUA_OK) {
        const char *text = lua_tostring(L, -1);
        fprintf(stderr, "%s: %s\n", program, text ? text : "error without text");
        return EXIT_INTERNAL;
    }
    int is_integer;
    lua_Integer status = lua_tointegerx(L, -1, &is_integer);
    if (!is_integer || status < 0 || status > 255) {
        fprintf(stderr, "%s: pairperf.main returned no exit status\n", program);
        return EXIT_INTERNAL;
    }
    return (int)status;
}

int main(int argc, char **argv) {
    const char *program = argc > 0 ? argv[0] : "pairperf-lua";
    pp_error error;
    if (pp_platform_check(&error) != PP_OK) {
        fprintf(stderr, "%s: %s: %s\n", program, error.op, error.detail);
        return EXIT_REFUSED;
    }
    pp_supervisor_ignore_sigpipe();
    lua_State *L = luaL_newstate();
    if (!L) {
        fprintf(stderr, "%s: no memory for a Lua state\n", program);
        return EXIT_INTERNAL;
    }
    command_line line = { argc, argv };
    lua_pushcfunction(L, add_traceback);
    lua_pushcfunction(L, run);
    lua_pushlightuserdata(L, &line);
    int status = exit_status(L, program, lua_pcall(L, 1, 1, 1));
    lua_close(L);
    return status;
}
