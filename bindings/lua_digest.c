/* SPDX-License-Identifier: Apache-2.0 */
#include "ppl.h"

#include "pairperf/digest.h"

static int l_digest_file(lua_State *L) {
    const char *path = ppl_check_text(L, 1);

    pp_digest *digest;
    char hex[PP_DIGEST_HEX];
    pp_error err;
    pp_status status = pp_digest_new(&digest, &err);
    if (status == PP_OK) {
        status = pp_digest_file(digest, path, hex, &err);
        pp_digest_free(digest);
    }
    if (status != PP_OK)
        return ppl_push_failure(L, &err);

    lua_pushstring(L, hex);
    return 1;
}

static int l_digest_bytes(lua_State *L) {
    size_t size;
    const char *bytes = luaL_checklstring(L, 1, &size);

    pp_digest *digest;
    char hex[PP_DIGEST_HEX];
    pp_error err;
    pp_status status = pp_digest_new(&digest, &err);
    if (status == PP_OK) {
        status = pp_digest_bytes(digest, bytes, size, hex, &err);
        pp_digest_free(digest);
    }
    if (status != PP_OK)
        return ppl_push_failure(L, &err);

    lua_pushstring(L, hex);
    return 1;
}

int ppl_open_digest(lua_State *L) {
    static const luaL_Reg functions[] = {
        { "bytes", l_digest_bytes },
        { "file", l_digest_file },
        { NULL, NULL },
    };
    luaL_newlib(L, functions);
    return 1;
}
