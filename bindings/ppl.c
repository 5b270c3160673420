/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing here keeps memory outside Lua, so a raise at any point leaks nothing. Error objects are
 * plain tables; only their metatable tells them apart. */
#include "ppl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ERROR_TYPE "pairperf.Error"

static void set_text(lua_State *L, const char *field, const char *text) {
    lua_pushstring(L, text);
    lua_setfield(L, -2, field);
}

static int l_error_tostring(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    lua_getfield(L, 1, "op");
    lua_getfield(L, 1, "detail");
    lua_getfield(L, 1, "code");
    lua_getfield(L, 1, "errno");
    const char *op = lua_tostring(L, 2);
    const char *detail = lua_tostring(L, 3);
    const char *code = lua_tostring(L, 4);
    const char *name = lua_tostring(L, 5);

    luaL_Buffer text;
    luaL_buffinit(L, &text);
    if (op && *op) {
        luaL_addstring(&text, op);
        luaL_addstring(&text, ": ");
    }
    if (detail && *detail) {
        luaL_addstring(&text, detail);
        luaL_addstring(&text, ": ");
    }
    luaL_addstring(&text, code ? code : "?");
    if (name) {
        luaL_addstring(&text, " (");
        luaL_addstring(&text, name);
        luaL_addstring(&text, ")");
    }
    luaL_pushresult(&text);
    return 1;
}

static int l_error_concat(lua_State *L) {
    lua_settop(L, 2);
    luaL_tolstring(L, 1, NULL);
    luaL_tolstring(L, 2, NULL);
    lua_concat(L, 2);
    return 1;
}

static void push_error_metatable(lua_State *L) {
    if (luaL_newmetatable(L, ERROR_TYPE)) {
        lua_pushcfunction(L, l_error_tostring);
        lua_setfield(L, -2, "__tostring");
        lua_pushcfunction(L, l_error_concat);
        lua_setfield(L, -2, "__concat");
    }
}

void ppl_push_error(lua_State *L, const pp_error *err) {
    luaL_checkstack(L, 3, "error object");
    lua_createtable(L, 0, 4);
    set_text(L, "code", pp_status_name(err->status));
    set_text(L, "op", err->op);
    set_text(L, "detail", err->detail);
    if (err->sys_errno)
        set_text(L, "errno", pp_errno_name(err->sys_errno));
    push_error_metatable(L);
    lua_setmetatable(L, -2);
}

int ppl_push_failure(lua_State *L, const pp_error *err) {
    lua_pushnil(L);
    ppl_push_error(L, err);
    return 2;
}

int ppl_push_result(lua_State *L, pp_status status, const pp_error *err) {
    if (status != PP_OK)
        return ppl_push_failure(L, err);
    lua_pushboolean(L, 1);
    return 1;
}

int ppl_raise(lua_State *L, const pp_error *err) {
    ppl_push_error(L, err);
    return lua_error(L);
}

void ppl_no_memory(lua_State *L) {
    (void)luaL_error(L, "no memory");
    abort();
}

/* error.new{code=, op=, detail=, errno=}: an error object like those of the C modules. */
static int l_error_new(lua_State *L) {
    static const char *const names[] = { "code", "op", "detail", "errno", NULL };
    ppl_check_fields(L, 1, names);
    const char *code = ppl_need_string(L, 1, "code");
    pp_status status = pp_status_parse(code);
    luaL_argcheck(L, status != PP_STATUS_COUNT && status != PP_OK, 1, "unknown code");
    const char *op = ppl_opt_string(L, 1, "op", "");
    const char *detail = ppl_opt_string(L, 1, "detail", "");
    const char *name = ppl_opt_string(L, 1, "errno", NULL);

    lua_createtable(L, 0, 4);
    set_text(L, "code", code);
    set_text(L, "op", op);
    set_text(L, "detail", detail);
    if (name)
        set_text(L, "errno", name);
    push_error_metatable(L);
    lua_setmetatable(L, -2);
    return 1;
}

static int l_error_is(lua_State *L) {
    luaL_checkany(L, 1);
    bool is = false;
    if (lua_istable(L, 1) && lua_getmetatable(L, 1)) {
        push_error_metatable(L);
        is = lua_rawequal(L, -1, -2);
    }
    lua_pushboolean(L, is);
    return 1;
}

int ppl_open_error(lua_State *L) {
    static const luaL_Reg functions[] = {
        { "new", l_error_new },
        { "is", l_error_is },
        { NULL, NULL },
    };
    luaL_newlib(L, functions);
    return 1;
}

const char *ppl_check_text(lua_State *L, int arg) {
    size_t size;
    const char *text = luaL_checklstring(L, arg, &size);
    luaL_argcheck(L, strlen(text) == size, arg, "NUL byte inside");
    return text;
}

void ppl_check_fields(lua_State *L, int arg, const char *const names[]) {
    luaL_checktype(L, arg, LUA_TTABLE);
    lua_pushnil(L);
    while (lua_next(L, arg)) {
        lua_pop(L, 1);
        if (lua_type(L, -1) != LUA_TSTRING)
            luaL_argerror(L, arg, "field names must be strings");
        const char *field = lua_tostring(L, -1);
        size_t i = 0;
        while (names[i] && strcmp(names[i], field) != 0)
            i++;
        if (!names[i])
            luaL_argerror(L, arg, lua_pushfstring(L, "unknown field '%s'", field));
    }
}

/* Pushes the field; false (and nothing pushed) when it is nil. */
static bool get_field(lua_State *L, int arg, const char *field) {
    luaL_checktype(L, arg, LUA_TTABLE);
    lua_pushstring(L, field);
    if (lua_rawget(L, arg) != LUA_TNIL)
        return true;
    lua_pop(L, 1);
    return false;
}

static void wrong_field(lua_State *L, int arg, const char *field, const char *wanted) {
    luaL_argerror(
        L, arg,
        lua_pushfstring(L, "field '%s': %s expected, got %s", field, wanted, luaL_typename(L, -1)));
}

const char *ppl_opt_string(lua_State *L, int arg, const char *field, const char *fallback) {
    if (!get_field(L, arg, field))
        return fallback;
    if (lua_type(L, -1) != LUA_TSTRING)
        wrong_field(L, arg, field, "string");
    size_t size;
    const char *text = lua_tolstring(L, -1, &size);
    if (strlen(text) != size)
        luaL_argerror(L, arg, lua_pushfstring(L, "field '%s': NUL byte inside", field));
    lua_pop(L, 1);
    return text;
}

const char *ppl_need_string(lua_State *L, int arg, const char *field) {
    const char *text = ppl_opt_string(L, arg, field, NULL);
    if (!text)
        luaL_argerror(L, arg, lua_pushfstring(L, "field '%s' is missing", field));
    return text;
}

lua_Integer ppl_opt_integer(lua_State *L, int arg, const char *field, lua_Integer fallback) {
    if (!get_field(L, arg, field))
        return fallback;
    int exact = 0;
    lua_Integer value = lua_tointegerx(L, -1, &exact);
    if (!exact || lua_type(L, -1) != LUA_TNUMBER)
        wrong_field(L, arg, field, "integer");
    lua_pop(L, 1);
    return value;
}

lua_Number ppl_opt_number(lua_State *L, int arg, const char *field, lua_Number fallback) {
    if (!get_field(L, arg, field))
        return fallback;
    if (lua_type(L, -1) != LUA_TNUMBER)
        wrong_field(L, arg, field, "number");
    lua_Number value = lua_tonumber(L, -1);
    lua_pop(L, 1);
    return value;
}

bool ppl_opt_boolean(lua_State *L, int arg, const char *field, bool fallback) {
    if (!get_field(L, arg, field))
        return fallback;
    if (!lua_isboolean(L, -1))
        wrong_field(L, arg, field, "boolean");
    bool value = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return value;
}

/* Size of the strings of the array on top of the stack, each with its NUL. */
static size_t list_bytes(lua_State *L, int arg, const char *field, size_t count) {
    size_t total = 0;
    for (size_t i = 1; i <= count; i++) {
        if (lua_rawgeti(L, -1, (lua_Integer)i) != LUA_TSTRING)
            wrong_field(L, arg, field, "array of strings");
        size_t size;
        const char *text = lua_tolstring(L, -1, &size);
        if (strlen(text) != size)
            luaL_argerror(L, arg, lua_pushfstring(L, "field '%s': NUL byte inside", field));
        total += size + 1;
        lua_pop(L, 1);
    }
    return total;
}

char **ppl_string_list(lua_State *L, int arg, const char *field, size_t *ret_count) {
    if (!get_field(L, arg, field))
        lua_newtable(L);
    if (!lua_istable(L, -1))
        wrong_field(L, arg, field, "array of strings");
    size_t count = lua_rawlen(L, -1);
    size_t bytes = list_bytes(L, arg, field, count);

    char **list = lua_newuserdatauv(L, (count + 1) * sizeof *list + bytes, 0);
    char *next = (char *)(list + count + 1);
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, -2, (lua_Integer)i + 1);
        size_t size;
        const char *text = lua_tolstring(L, -1, &size);
        list[i] = memcpy(next, text, size + 1);
        next += size + 1;
        lua_pop(L, 1);
    }
    list[count] = NULL;
    lua_remove(L, -2);
    if (ret_count)
        *ret_count = count;
    return list;
}

void ppl_push_reading(lua_State *L, pp_reading reading) {
    if (reading.known && reading.value <= LUA_MAXINTEGER)
        lua_pushinteger(L, (lua_Integer)reading.value);
    else
        lua_pushnil(L);
}

void ppl_push_u64(lua_State *L, uint64_t value) {
    if (value <= LUA_MAXINTEGER) {
        lua_pushinteger(L, (lua_Integer)value);
        return;
    }
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    lua_pushstring(L, digits);
}

void ppl_push_proc_id(lua_State *L, pp_proc_id id) {
    lua_createtable(L, 0, 3);
    lua_pushinteger(L, id.pid);
    lua_setfield(L, -2, "pid");
    ppl_push_u64(L, id.start);
    lua_setfield(L, -2, "start");
    ppl_push_u64(L, id.unique);
    lua_setfield(L, -2, "unique");
}

void ppl_handle_type(lua_State *L, const char *type, const luaL_Reg methods[],
                     lua_CFunction close) {
    luaL_newmetatable(L, type);
    lua_newtable(L);
    luaL_setfuncs(L, methods, 0);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, close);
    lua_setfield(L, -2, "__gc");
    lua_pushcfunction(L, close);
    lua_setfield(L, -2, "__close");
    lua_pop(L, 1);
}

void *ppl_new_handle(lua_State *L, size_t size, const char *type) {
    void *handle = lua_newuserdatauv(L, size, 0);
    memset(handle, 0, size);
    luaL_setmetatable(L, type);
    return handle;
}
