/* SPDX-License-Identifier: Apache-2.0 */
/* No counter passes through a double: digits become 64-bit integers and 64-bit integers digits. */
#include "decimal.h"

#include <inttypes.h>
#include <stdio.h>

#include "ppl.h"

bool ppl_decimal_parse(const char *text, size_t size, uint64_t *ret_value) {
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value))
            return false;
    }
    *ret_value = value;
    return size > 0;
}

static int push_raw(lua_State *L, int table, const char *field) {
    lua_pushstring(L, field);
    return lua_rawget(L, table);
}

static bool absent(lua_State *L) {
    return lua_isnil(L, -1) || (lua_islightuserdata(L, -1) && !lua_touserdata(L, -1));
}

pp_reading ppl_decimal_field(lua_State *L, int table, const char *field) {
    push_raw(L, table, field);
    pp_reading reading = pp_missing(PP_OK);
    bool fine = absent(L);
    if (lua_type(L, -1) == LUA_TSTRING) {
        size_t size;
        const char *text = lua_tolstring(L, -1, &size);
        fine = reading.known = ppl_decimal_parse(text, size, &reading.value);
    } else if (lua_isinteger(L, -1) && lua_tointeger(L, -1) >= 0) {
        reading = pp_known((uint64_t)lua_tointeger(L, -1));
        fine = true;
    }
    if (!fine)
        luaL_error(L, "field '%s': no unsigned 64-bit integer", field);
    lua_pop(L, 1);
    return reading;
}

uint64_t ppl_decimal_need(lua_State *L, int table, const char *field) {
    pp_reading reading = ppl_decimal_field(L, table, field);
    if (!reading.known)
        luaL_error(L, "field '%s' is missing", field);
    return reading.value;
}

int64_t ppl_integer_need(lua_State *L, int table, const char *field) {
    push_raw(L, table, field);
    int exact = 0;
    lua_Integer value = lua_tointegerx(L, -1, &exact);
    if (!exact || lua_type(L, -1) != LUA_TNUMBER)
        luaL_error(L, "field '%s': integer expected, got %s", field, luaL_typename(L, -1));
    lua_pop(L, 1);
    return value;
}

void ppl_decimal_set(lua_State *L, const char *field, pp_reading reading) {
    if (!reading.known)
        return;
    char digits[24];
    (void)snprintf(digits, sizeof digits, "%" PRIu64, reading.value);
    lua_pushstring(L, digits);
    lua_setfield(L, -2, field);
}

void ppl_number_set(lua_State *L, const char *field, double value) {
    lua_pushnumber(L, value);
    lua_setfield(L, -2, field);
}

size_t ppl_array_push(lua_State *L, int table, const char *field) {
    if (push_raw(L, table, field) != LUA_TTABLE)
        luaL_error(L, "field '%s': array expected, got %s", field, luaL_typename(L, -1));
    return (size_t)lua_rawlen(L, -1);
}

void ppl_row_push(lua_State *L, size_t i) {
    luaL_checkstack(L, 8, "nested rows");
    if (lua_rawgeti(L, -1, (lua_Integer)i) != LUA_TTABLE)
        luaL_error(L, "entry %d: table expected, got %s", (int)i, luaL_typename(L, -1));
}
