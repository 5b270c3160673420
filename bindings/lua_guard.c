/* SPDX-License-Identifier: Apache-2.0 */
/* A snapshot crosses into Lua as a flat table of facts and comes back from one, so that a stored
 * one can be compared; the comparison itself is the core's. */
#include "ppl.h"

#include <stdlib.h>
#include <string.h>

#include "pairperf/guard.h"

#define SNAPSHOT_TYPE "pairperf.guard.snapshot"
#define DIRECTORY_TYPE "pairperf.guard.directory"

static int l_snapshot_close(lua_State *L) {
    pp_guard_done(luaL_checkudata(L, 1, SNAPSHOT_TYPE));
    return 0;
}

static int l_directory_close(lua_State *L) {
    char **held = luaL_checkudata(L, 1, DIRECTORY_TYPE);
    char *directory = *held;
    *held = NULL;
    free(directory);
    return 0;
}

static int l_guard_snapshot(lua_State *L) {
    const char *path = ppl_check_text(L, 1);
    pp_guard_snapshot *snapshot = ppl_new_handle(L, sizeof *snapshot, SNAPSHOT_TYPE);
    pp_error err;
    if (pp_guard_snapshot_take(path, snapshot, &err) != PP_OK)
        return ppl_push_failure(L, &err);

    lua_createtable(L, 0, (int)snapshot->count);
    for (size_t i = 0; i < snapshot->count; i++) {
        const pp_guard_field *field = &snapshot->fields[i];
        if (field->text)
            lua_pushstring(L, field->text);
        else
            ppl_push_u64(L, field->number);
        lua_setfield(L, -2, field->name);
    }
    pp_guard_done(snapshot);
    return 1;
}

static int compare_fields(const void *a, const void *b) {
    return strcmp(((const pp_guard_field *)a)->name, ((const pp_guard_field *)b)->name);
}

/* Pushes a snapshot made of the table at `arg`; texts and numbers alike become texts. */
static pp_guard_snapshot *check_snapshot(lua_State *L, int arg) {
    luaL_checktype(L, arg, LUA_TTABLE);
    pp_guard_snapshot *snapshot = ppl_new_handle(L, sizeof *snapshot, SNAPSHOT_TYPE);
    lua_pushnil(L);
    while (lua_next(L, arg)) {
        luaL_argcheck(L, lua_type(L, -2) == LUA_TSTRING, arg, "not a snapshot");
        luaL_argcheck(L, snapshot->count < PP_GUARD_FIELDS_MAX, arg, "too many fields");
        size_t size;
        const char *name = lua_tolstring(L, -2, &size);
        pp_guard_field *field = &snapshot->fields[snapshot->count];
        luaL_argcheck(L, size < sizeof field->name, arg, "not a snapshot");
        memcpy(field->name, name, size + 1);
        field->text = strdup(luaL_tolstring(L, -1, NULL));
        luaL_argcheck(L, field->text, arg, "no memory");
        snapshot->count++;
        lua_pop(L, 2);
    }
    qsort(snapshot->fields, snapshot->count, sizeof *snapshot->fields, compare_fields);
    return snapshot;
}

static int l_guard_differences(lua_State *L) {
    const pp_guard_snapshot *before = check_snapshot(L, 1);
    const pp_guard_snapshot *after = check_snapshot(L, 2);

    const char *names[2 * PP_GUARD_FIELDS_MAX];
    size_t count = pp_guard_differences(before, after, names);

    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        lua_pushstring(L, names[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

static int l_guard_writable(lua_State *L) {
    static const char *const fields[] = { "confined_to", NULL };
    const char *path = ppl_check_text(L, 1);
    const char *const *confined_to = NULL;
    if (!lua_isnoneornil(L, 2)) {
        ppl_check_fields(L, 2, fields);
        confined_to = (const char *const *)ppl_string_list(L, 2, "confined_to", NULL);
    }
    char **directory = ppl_new_handle(L, sizeof *directory, DIRECTORY_TYPE);
    bool writable;
    pp_error err;
    pp_status status =
        confined_to ? pp_guard_writable_confined(path, confined_to, &writable, directory, &err)
                    : pp_guard_writable(path, &writable, directory, &err);
    if (status != PP_OK)
        return ppl_push_failure(L, &err);

    lua_createtable(L, 0, 2);
    lua_pushboolean(L, writable);
    lua_setfield(L, -2, "writable");
    lua_pushstring(L, *directory);
    lua_setfield(L, -2, "directory");
    return 1;
}

static int l_guard_confinement(lua_State *L) {
    int abi;
    pp_error err;
    if (pp_guard_confinement(&abi, &err) != PP_OK)
        return ppl_push_failure(L, &err);

    lua_createtable(L, 0, 1);
    lua_pushinteger(L, abi);
    lua_setfield(L, -2, "abi");
    return 1;
}

int ppl_open_guard(lua_State *L) {
    static const luaL_Reg functions[] = {
        { "confinement", l_guard_confinement },
        { "differences", l_guard_differences },
        { "snapshot", l_guard_snapshot },
        { "writable", l_guard_writable },
        { NULL, NULL },
    };
    static const luaL_Reg no_methods[] = { { NULL, NULL } };
    ppl_handle_type(L, SNAPSHOT_TYPE, no_methods, l_snapshot_close);
    ppl_handle_type(L, DIRECTORY_TYPE, no_methods, l_directory_close);
    luaL_newlib(L, functions);
    return 1;
}
