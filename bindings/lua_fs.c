/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that the core hands out is held by a userdata from before the call until it is pushed. */
#include "ppl.h"

#include <stdlib.h>

#include "pairperf/fs.h"

#define MEMORY_TYPE "pairperf.fs.memory"
#define NAMES_TYPE "pairperf.fs.names"

static int l_memory_close(lua_State *L) {
    char **held = luaL_checkudata(L, 1, MEMORY_TYPE);
    char *memory = *held;
    *held = NULL;
    free(memory);
    return 0;
}

static int l_names_close(lua_State *L) {
    pp_fs_names_done(luaL_checkudata(L, 1, NAMES_TYPE));
    return 0;
}

static int l_fs_mkdir_exclusive(lua_State *L) {
    const char *path = ppl_check_text(L, 1);
    pp_error err;
    pp_status status = pp_fs_mkdir_exclusive(path, &err);
    return ppl_push_result(L, status, &err);
}

static int l_fs_mkdirs(lua_State *L) {
    const char *path = ppl_check_text(L, 1);
    pp_error err;
    pp_status status = pp_fs_mkdirs(path, &err);
    return ppl_push_result(L, status, &err);
}

static int l_fs_write_atomic(lua_State *L) {
    const char *path = ppl_check_text(L, 1);
    size_t size;
    const char *bytes = luaL_checklstring(L, 2, &size);
    pp_error err;
    pp_status status = pp_fs_write_atomic(path, bytes, size, &err);
    return ppl_push_result(L, status, &err);
}

static int l_fs_append(lua_State *L) {
    const char *path = ppl_check_text(L, 1);
    size_t size;
    const char *bytes = luaL_checklstring(L, 2, &size);
    bool sync = lua_toboolean(L, 3);
    pp_error err;
    pp_status status = pp_fs_append(path, bytes, size, sync, &err);
    return ppl_push_result(L, status, &err);
}

static int l_fs_read(lua_State *L) {
    const char *path = ppl_check_text(L, 1);
    lua_Integer max_bytes = luaL_optinteger(L, 2, 1 << 30);
    luaL_argcheck(L, max_bytes >= 0, 2, "negative");
    char **held = ppl_new_handle(L, sizeof *held, MEMORY_TYPE);

    size_t size;
    pp_error err;
    if (pp_fs_read(path, (size_t)max_bytes, held, &size, &err) != PP_OK)
        return ppl_push_failure(L, &err);

    lua_pushlstring(L, *held, size);
    free(*held);
    *held = NULL;
    return 1;
}

static int push_info(lua_State *L, bool follow) {
    const char *path = ppl_check_text(L, 1);
    pp_fs_info info;
    pp_error err;
    if (pp_fs_stat(path, follow, &info, &err) != PP_OK)
        return ppl_push_failure(L, &err);

    lua_createtable(L, 0, 8);
    lua_pushstring(L, info.type);
    lua_setfield(L, -2, "type");
    lua_pushinteger(L, info.mode);
    lua_setfield(L, -2, "mode");
    lua_pushinteger(L, info.uid);
    lua_setfield(L, -2, "uid");
    lua_pushinteger(L, info.gid);
    lua_setfield(L, -2, "gid");
    ppl_push_u64(L, info.size);
    lua_setfield(L, -2, "size");
    ppl_push_u64(L, info.ino);
    lua_setfield(L, -2, "ino");
    ppl_push_u64(L, info.dev);
    lua_setfield(L, -2, "dev");
    lua_pushinteger(L, info.mtime_ns);
    lua_setfield(L, -2, "mtime_ns");
    return 1;
}

static int l_fs_stat(lua_State *L) {
    return push_info(L, true);
}

static int l_fs_lstat(lua_State *L) {
    return push_info(L, false);
}

static int l_fs_list(lua_State *L) {
    const char *path = ppl_check_text(L, 1);
    pp_fs_names *held = ppl_new_handle(L, sizeof *held, NAMES_TYPE);
    pp_error err;
    if (pp_fs_list(path, held, &err) != PP_OK)
        return ppl_push_failure(L, &err);

    lua_newtable(L);
    for (size_t i = 0; i < held->count; i++) {
        lua_pushstring(L, held->names[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    pp_fs_names_done(held);
    return 1;
}

/* Pushes a malloc'd string that a core call has put into the handle at `held`. */
static int push_held(lua_State *L, char **held) {
    lua_pushstring(L, *held);
    free(*held);
    *held = NULL;
    return 1;
}

static int l_fs_realpath(lua_State *L) {
    const char *path = ppl_check_text(L, 1);
    char **held = ppl_new_handle(L, sizeof *held, MEMORY_TYPE);
    pp_error err;
    if (pp_fs_realpath(path, held, &err) != PP_OK)
        return ppl_push_failure(L, &err);
    return push_held(L, held);
}

static int l_fs_readlink(lua_State *L) {
    const char *path = ppl_check_text(L, 1);
    char **held = ppl_new_handle(L, sizeof *held, MEMORY_TYPE);
    pp_error err;
    if (pp_fs_readlink(path, held, &err) != PP_OK)
        return ppl_push_failure(L, &err);
    return push_held(L, held);
}

static int l_fs_getcwd(lua_State *L) {
    char **held = ppl_new_handle(L, sizeof *held, MEMORY_TYPE);
    pp_error err;
    if (pp_fs_getcwd(held, &err) != PP_OK)
        return ppl_push_failure(L, &err);
    return push_held(L, held);
}

static int l_fs_free_bytes(lua_State *L) {
    const char *path = ppl_check_text(L, 1);
    uint64_t bytes;
    pp_error err;
    if (pp_fs_free_bytes(path, &bytes, &err) != PP_OK)
        return ppl_push_failure(L, &err);
    ppl_push_u64(L, bytes);
    return 1;
}

static int l_fs_chmod(lua_State *L) {
    const char *path = ppl_check_text(L, 1);
    lua_Integer mode = luaL_checkinteger(L, 2);
    luaL_argcheck(L, mode >= 0 && mode <= 07777, 2, "not a permission mode");
    pp_error err;
    pp_status status = pp_fs_chmod(path, (uint32_t)mode, &err);
    return ppl_push_result(L, status, &err);
}

static int l_fs_access_exec(lua_State *L) {
    const char *path = ppl_check_text(L, 1);
    pp_error err;
    pp_status status = pp_fs_access_exec(path, &err);
    return ppl_push_result(L, status, &err);
}

int ppl_open_fs(lua_State *L) {
    static const luaL_Reg functions[] = {
        { "access_exec", l_fs_access_exec },
        { "append", l_fs_append },
        { "chmod", l_fs_chmod },
        { "free_bytes", l_fs_free_bytes },
        { "getcwd", l_fs_getcwd },
        { "list", l_fs_list },
        { "lstat", l_fs_lstat },
        { "mkdir_exclusive", l_fs_mkdir_exclusive },
        { "mkdirs", l_fs_mkdirs },
        { "read", l_fs_read },
        { "readlink", l_fs_readlink },
        { "realpath", l_fs_realpath },
        { "stat", l_fs_stat },
        { "write_atomic", l_fs_write_atomic },
        { NULL, NULL },
    };
    static const luaL_Reg no_methods[] = { { NULL, NULL } };
    ppl_handle_type(L, MEMORY_TYPE, no_methods, l_memory_close);
    ppl_handle_type(L, NAMES_TYPE, no_methods, l_names_close);
    luaL_newlib(L, functions);
    return 1;
}
