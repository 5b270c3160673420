/* SPDX-License-Identifier: Apache-2.0 */
/* The reader and the canonical writer, as Lua has them: what was read and can be written is read
 * again, and written as the same bytes. */
#include <lauxlib.h>
#include <lua.h>

#include "fuzz.h"
#include "ppl.h"

static lua_State *L;

/* Calls json.NAME with the value on the top; its first result replaces it. */
static void call(const char *name) {
    lua_getfield(L, 1, name);
    lua_insert(L, -2);
    MUST(lua_pcall(L, 1, 1, 0) == LUA_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (L == NULL) {
        L = luaL_newstate();
        MUST(L != NULL);
        (void)ppl_open_error(L);
        lua_settop(L, 0);
        (void)ppl_open_json(L);
    }
    lua_settop(L, 1);
    (void)lua_pushlstring(L, (const char *)bytes, size);
    call("decode");
    if (!lua_isnil(L, -1)) {
        call("encode");
        if (lua_isstring(L, -1)) {
            lua_pushvalue(L, -1);
            call("decode");
            MUST(!lua_isnil(L, -1));
            call("encode");
            MUST(lua_rawequal(L, -1, -2));
        }
    }
    lua_settop(L, 1);
    return 0;
}
