/* SPDX-License-Identifier: Apache-2.0 */
#include "ppl.h"

#include <stdint.h>

#include "pairperf/manifest.h"

#define MANIFEST_TYPE "pairperf.manifest"

static int l_manifest_close(lua_State *L) {
    pp_manifest_done(luaL_checkudata(L, 1, MANIFEST_TYPE));
    return 0;
}

typedef struct hash_watcher {
    lua_State *L; /* the caller's function is at 2, or nothing */
    bool raised;  /* its error is on the top */
    pp_error cancelled;
} hash_watcher;

static int l_call_progress(lua_State *L) {
    const pp_manifest_progress *progress = lua_touserdata(L, 2);
    lua_createtable(L, 0, 4);
    ppl_push_u64(L, progress->files_done);
    lua_setfield(L, -2, "files_done");
    ppl_push_u64(L, progress->files);
    lua_setfield(L, -2, "files");
    ppl_push_u64(L, progress->bytes_done);
    lua_setfield(L, -2, "bytes_done");
    if (progress->bytes_known) {
        ppl_push_u64(L, progress->bytes);
        lua_setfield(L, -2, "bytes");
    }
    lua_replace(L, 2);
    lua_call(L, 1, 0);
    return 0;
}

/* Threads are at work meanwhile: nothing may be raised through here. */
static bool look(void *ctx, const pp_manifest_progress *progress) {
    hash_watcher *watcher = ctx;
    lua_State *L = watcher->L;
    if (ppl_cancelled(&watcher->cancelled))
        return false;
    if (!lua_isfunction(L, 2))
        return true;
    lua_pushcfunction(L, l_call_progress);
    lua_pushvalue(L, 2);
    lua_pushlightuserdata(L, (void *)(uintptr_t)progress);
    watcher->raised = lua_pcall(L, 2, 0, 0) != LUA_OK;
    return !watcher->raised;
}

static int l_manifest_build(lua_State *L) {
    static const char *const fields[] = { "progress", NULL };
    const char *root = ppl_check_text(L, 1);
    if (!lua_isnoneornil(L, 2)) {
        ppl_check_fields(L, 2, fields);
        if (lua_getfield(L, 2, "progress") != LUA_TNIL)
            luaL_argcheck(L, lua_isfunction(L, -1), 2, "progress is no function");
        lua_replace(L, 2);
    }
    lua_settop(L, 2);
    pp_manifest *manifest = ppl_new_handle(L, sizeof *manifest, MANIFEST_TYPE);
    luaL_checkstack(L, 3, NULL);
    hash_watcher watcher = { .L = L };
    const pp_manifest_options options = { .progress = look, .ctx = &watcher };
    pp_error err;
    pp_status status = pp_manifest_build(root, &options, manifest, &err);
    if (watcher.raised)
        return lua_error(L);
    if (status == PP_E_CANCELLED)
        return ppl_push_failure(L, &watcher.cancelled);
    if (status != PP_OK)
        return ppl_push_failure(L, &err);

    lua_createtable(L, 0, 5);
    lua_pushlstring(L, manifest->json, manifest->size);
    lua_setfield(L, -2, "json");
    lua_pushstring(L, manifest->sha256);
    lua_setfield(L, -2, "sha256");
    ppl_push_u64(L, manifest->entries);
    lua_setfield(L, -2, "entries");
    ppl_push_u64(L, manifest->files);
    lua_setfield(L, -2, "files");
    ppl_push_u64(L, manifest->bytes);
    lua_setfield(L, -2, "bytes");
    pp_manifest_done(manifest);
    return 1;
}

int ppl_open_manifest(lua_State *L) {
    static const luaL_Reg functions[] = { { "build", l_manifest_build }, { NULL, NULL } };
    static const luaL_Reg no_methods[] = { { NULL, NULL } };
    ppl_handle_type(L, MANIFEST_TYPE, no_methods, l_manifest_close);
    luaL_newlib(L, functions);
    return 1;
}
