/* SPDX-License-Identifier: Apache-2.0 */
#include "ppl.h"

#include "pairperf/manifest.h"

#define MANIFEST_TYPE "pairperf.manifest"

static int l_manifest_close(lua_State *L) {
    pp_manifest_done(luaL_checkudata(L, 1, MANIFEST_TYPE));
    return 0;
}

static int l_manifest_build(lua_State *L) {
    const char *root = ppl_check_text(L, 1);
    pp_manifest *manifest = ppl_new_handle(L, sizeof *manifest, MANIFEST_TYPE);
    pp_error err;
    if (pp_manifest_build(root, manifest, &err) != PP_OK)
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
