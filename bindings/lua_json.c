/* SPDX-License-Identifier: Apache-2.0 */
/* The writer's memory lives in a userdata, so that no error raised by Lua loses it. Tables are read
 * raw; nothing of the caller runs while one is written. Jansson only reads. */
#include "ppl.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "pairperf/json_write.h"

#define ARRAY_TYPE "pairperf.json.array"
#define WRITER_TYPE "pairperf.json.writer"
#define ROOT_TYPE "pairperf.json.root"

static bool is_array(lua_State *L, int index) {
    if (!lua_istable(L, index) || !lua_getmetatable(L, index))
        return false;
    luaL_getmetatable(L, ARRAY_TYPE);
    bool is = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
    return is;
}

static bool is_null(lua_State *L, int index) {
    return lua_islightuserdata(L, index) && !lua_touserdata(L, index);
}

/* Writing */

typedef struct member {
    const char *key;
    size_t size;
} member;

static int compare_members(const void *a, const void *b) {
    const member *left = a, *right = b;
    size_t common = left->size < right->size ? left->size : right->size;
    int order = memcmp(left->key, right->key, common);
    return order ? order : (left->size > right->size) - (left->size < right->size);
}

typedef struct shape {
    size_t members;  /* all keys */
    size_t elements; /* integer keys 1..rawlen */
    bool other_key;  /* neither a string nor one of those */
} shape;

static shape table_shape(lua_State *L, int index) {
    shape found = { 0 };
    lua_Unsigned length = lua_rawlen(L, index);
    lua_pushnil(L);
    while (lua_next(L, index)) {
        lua_pop(L, 1);
        found.members++;
        if (lua_isinteger(L, -1) && lua_tointeger(L, -1) >= 1 &&
            (lua_Unsigned)lua_tointeger(L, -1) <= length)
            found.elements++;
        else if (lua_type(L, -1) != LUA_TSTRING)
            found.other_key = true;
    }
    return found;
}

static void fail(pp_json *json, const char *why) {
    if (json->error.status == PP_OK)
        pp_fail(&json->error, PP_E_INVALID, 0, "json", "%s", why);
}

static void write_value(lua_State *L, pp_json *json, int index);

static void write_array(lua_State *L, pp_json *json, int index) {
    pp_json_begin_array(json);
    lua_Integer length = (lua_Integer)lua_rawlen(L, index);
    for (lua_Integer i = 1; i <= length && json->error.status == PP_OK; i++) {
        lua_rawgeti(L, index, i);
        write_value(L, json, lua_gettop(L));
        lua_pop(L, 1);
    }
    pp_json_end_array(json);
}

static void write_object(lua_State *L, pp_json *json, int index, size_t count) {
    member *members = lua_newuserdatauv(L, count * sizeof *members + 1, 0);
    int top = lua_gettop(L);
    size_t n = 0;
    lua_pushnil(L);
    while (n < count && lua_next(L, index)) {
        lua_pop(L, 1);
        members[n].key = lua_tolstring(L, -1, &members[n].size);
        n++;
    }
    lua_settop(L, top);
    qsort(members, n, sizeof *members, compare_members);

    pp_json_begin_object(json);
    for (size_t i = 0; i < n && json->error.status == PP_OK; i++) {
        pp_json_key_bytes(json, members[i].key, members[i].size);
        lua_pushlstring(L, members[i].key, members[i].size);
        lua_rawget(L, index);
        write_value(L, json, lua_gettop(L));
        lua_pop(L, 1);
    }
    pp_json_end_object(json);
    lua_settop(L, top - 1);
}

static void write_table(lua_State *L, pp_json *json, int index) {
    if (json->depth >= PP_JSON_DEPTH) {
        pp_fail(&json->error, PP_E_NOMEM, 0, "json", "nested too deep, or a table inside itself");
        return;
    }
    luaL_checkstack(L, 8, "json");
    shape found = table_shape(L, index);
    bool list = is_array(L, index) || (found.members > 0 && found.elements == found.members);
    if (list && found.elements == found.members)
        write_array(L, json, index);
    else if (list)
        fail(json, "an array with keys that are not 1..n");
    else if (found.elements > 0 || found.other_key)
        fail(json, "an object with keys that are not strings");
    else
        write_object(L, json, index, found.members);
}

static void write_number(lua_State *L, pp_json *json, int index) {
    if (lua_isinteger(L, index))
        pp_json_i64(json, lua_tointeger(L, index));
    else
        pp_json_double(json, lua_tonumber(L, index));
}

static void write_value(lua_State *L, pp_json *json, int index) {
    size_t size;
    const char *text;
    switch (lua_type(L, index)) {
    case LUA_TBOOLEAN:
        pp_json_bool(json, lua_toboolean(L, index));
        return;
    case LUA_TNUMBER:
        write_number(L, json, index);
        return;
    case LUA_TSTRING:
        text = lua_tolstring(L, index, &size);
        pp_json_string_bytes(json, text, size);
        return;
    case LUA_TTABLE:
        write_table(L, json, index);
        return;
    default:
        if (is_null(L, index))
            pp_json_null(json);
        else
            fail(json, lua_pushfstring(L, "a %s cannot be written", luaL_typename(L, index)));
    }
}

static int l_writer_close(lua_State *L) {
    pp_json_done(luaL_checkudata(L, 1, WRITER_TYPE));
    return 0;
}

static int l_json_encode(lua_State *L) {
    luaL_checkany(L, 1);
    lua_settop(L, 1);
    pp_json *json = ppl_new_handle(L, sizeof *json, WRITER_TYPE);

    write_value(L, json, 1);
    const char *text;
    size_t size;
    pp_error err;
    if (pp_json_finish(json, &text, &size, &err) != PP_OK)
        return ppl_push_failure(L, &err);

    lua_pushlstring(L, text, size);
    pp_json_done(json);
    return 1;
}

/* Reading */

typedef struct root {
    json_t *value;
} root;

static int l_root_close(lua_State *L) {
    root *held = luaL_checkudata(L, 1, ROOT_TYPE);
    json_t *value = held->value;
    held->value = NULL;
    json_decref(value);
    return 0;
}

static void push_value(lua_State *L, const json_t *value);

static void push_array(lua_State *L, const json_t *value) {
    size_t size = json_array_size(value);
    lua_createtable(L, size < 1 << 20 ? (int)size : 0, 0);
    luaL_setmetatable(L, ARRAY_TYPE);
    for (size_t i = 0; i < size; i++) {
        push_value(L, json_array_get(value, i));
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

static void push_object(lua_State *L, json_t *value) {
    lua_createtable(L, 0, 0);
    for (void *at = json_object_iter(value); at; at = json_object_iter_next(value, at)) {
        lua_pushstring(L, json_object_iter_key(at));
        push_value(L, json_object_iter_value(at));
        lua_rawset(L, -3);
    }
}

static void push_value(lua_State *L, const json_t *value) {
    luaL_checkstack(L, 8, "json");
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        push_object(L, (json_t *)(uintptr_t)value); /* its iterators are not const-correct */
        break;
    case JSON_ARRAY:
        push_array(L, value);
        break;
    case JSON_STRING:
        lua_pushlstring(L, json_string_value(value), json_string_length(value));
        break;
    case JSON_INTEGER:
        lua_pushinteger(L, json_integer_value(value));
        break;
    case JSON_REAL:
        lua_pushnumber(L, json_real_value(value));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        lua_pushboolean(L, json_is_true(value));
        break;
    case JSON_NULL:
        lua_pushlightuserdata(L, NULL);
        break;
    }
}

static int l_json_decode(lua_State *L) {
    size_t size;
    const char *text = luaL_checklstring(L, 1, &size);
    root *held = ppl_new_handle(L, sizeof *held, ROOT_TYPE);

    json_error_t problem;
    held->value =
        json_loadb(text, size, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &problem);
    if (!held->value) {
        pp_error err;
        pp_fail(&err, PP_E_MALFORMED, 0, "json", "line %d, column %d: %s", problem.line,
                problem.column, problem.text);
        return ppl_push_failure(L, &err);
    }

    push_value(L, held->value);
    json_decref(held->value);
    held->value = NULL;
    return 1;
}

static int l_json_array(lua_State *L) {
    if (lua_isnoneornil(L, 1)) {
        lua_settop(L, 0);
        lua_newtable(L);
    }
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_argcheck(L, is_array(L, 1) || !lua_getmetatable(L, 1), 1, "it has a metatable");
    lua_settop(L, 1);
    luaL_setmetatable(L, ARRAY_TYPE);
    return 1;
}

static int l_json_is_array(lua_State *L) {
    luaL_checkany(L, 1);
    lua_pushboolean(L, is_array(L, 1));
    return 1;
}

int ppl_open_json(lua_State *L) {
    static const luaL_Reg functions[] = {
        { "encode", l_json_encode },
        { "decode", l_json_decode },
        { "array", l_json_array },
        { "is_array", l_json_is_array },
        { NULL, NULL },
    };
    static const luaL_Reg no_methods[] = { { NULL, NULL } };
    luaL_newmetatable(L, ARRAY_TYPE);
    lua_pop(L, 1);
    ppl_handle_type(L, WRITER_TYPE, no_methods, l_writer_close);
    ppl_handle_type(L, ROOT_TYPE, no_methods, l_root_close);
    luaL_newlib(L, functions);
    lua_pushlightuserdata(L, NULL);
    lua_setfield(L, -2, "null");
    return 1;
}
