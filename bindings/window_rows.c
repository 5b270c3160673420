/* SPDX-License-Identifier: Apache-2.0 */
/* Rows become arrays in userdata, and component names become indexes, before the core sees them. */
#include "window_rows.h"

#include <string.h>

#include "decimal.h"
#include "pairperf/window.h"
#include "ppl.h"

void *ppl_scratch(lua_State *L, size_t count, size_t size) {
    void *memory = lua_newuserdatauv(L, (count + 1) * size, 0);
    memset(memory, 0, (count + 1) * size);
    return memory;
}

size_t ppl_component_named(lua_State *L, int names) {
    int name = lua_gettop(L);
    lua_pushvalue(L, name);
    if (lua_rawget(L, names) == LUA_TNIL) {
        lua_pop(L, 1);
        lua_Integer next = (lua_Integer)lua_rawlen(L, names) + 1;
        lua_pushvalue(L, -1);
        lua_rawseti(L, names, next);
        lua_pushvalue(L, -1);
        lua_pushinteger(L, next);
        lua_rawset(L, names);
        lua_pushinteger(L, next);
    }
    size_t index = (size_t)lua_tointeger(L, -1) - 1;
    lua_settop(L, name - 1);
    return index;
}

size_t ppl_component_index(lua_State *L, int names) {
    int row = lua_gettop(L);
    lua_pushstring(L, "name");
    if (lua_rawget(L, row) != LUA_TSTRING)
        luaL_error(L, "field 'name': string expected, got %s", luaL_typename(L, -1));
    return ppl_component_named(L, names);
}

ppl_packed ppl_packed_open(lua_State *L) {
    ppl_packed packed = { 0 };
    lua_pushstring(L, "rows");
    if (lua_rawget(L, 1) == LUA_TNIL) {
        lua_pushnil(L);
        return packed;
    }
    packed.samples = luaL_checkudata(L, -1, PPL_SAMPLES_TYPE);
    lua_pop(L, 1); /* the argument holds it */
    lua_pushstring(L, "names");
    if (lua_rawget(L, 1) != LUA_TTABLE)
        luaL_error(L, "field 'names': array expected, got %s", luaL_typename(L, -1));
    packed.names = lua_gettop(L);
    packed.components = ppl_scratch(L, packed.samples->exes.count + 1, sizeof *packed.components);
    return packed;
}

size_t ppl_packed_count(lua_State *L, const ppl_packed *packed, size_t frames) {
    size_t total = 0;
    for (size_t i = 1; packed->samples && i <= frames; i++) {
        size_t count;
        ppl_row_push(L, i);
        (void)ppl_samples_range(L, lua_gettop(L), packed->samples, &count);
        total += count;
        lua_pop(L, 1);
    }
    return total;
}

size_t ppl_packed_component(lua_State *L, ppl_packed *packed, const ppl_sample *row, int names) {
    size_t *known = &packed->components[row->exe];
    if (*known == 0) {
        if (lua_rawgeti(L, packed->names, row->exe) != LUA_TSTRING)
            luaL_error(L, "field 'names': no name for executable %d", (int)row->exe);
        *known = ppl_component_named(L, names) + 1;
    }
    return *known - 1;
}

size_t ppl_count_rows(lua_State *L, size_t frames, const char *field) {
    size_t total = 0;
    for (size_t i = 1; i <= frames; i++) {
        ppl_row_push(L, i);
        if (field) {
            total += ppl_array_push(L, lua_gettop(L), field);
            lua_pop(L, 1);
        } else {
            total += (size_t)lua_rawlen(L, -1);
        }
        lua_pop(L, 1);
    }
    return total;
}

void ppl_flags_set(lua_State *L, const char *field, unsigned flags) {
    lua_newtable(L);
    lua_Integer n = 0;
    for (unsigned i = 0; i < PP_FLAG_COUNT; i++) {
        if (flags & (1u << i)) {
            lua_pushstring(L, pp_flag_name(i));
            lua_rawseti(L, -2, ++n);
        }
    }
    lua_setfield(L, -2, field);
}
