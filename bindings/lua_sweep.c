/* SPDX-License-Identifier: Apache-2.0 */
/* core.sweep: the net under the supervisors. Shapes: lua/meta/sweep.lua */
#include <math.h>

#include "pairperf/sweep.h"
#include "ppl.h"

#define TYPE "pairperf.sweep"

static int l_sweep_prepare(lua_State *L) {
    pp_error err;
    return ppl_push_result(L, pp_sweep_prepare(&err), &err);
}

static lua_Integer integer_field(lua_State *L, const char *field) {
    lua_getfield(L, -1, field);
    lua_Integer value = lua_tointeger(L, -1);
    lua_pop(L, 1);
    return value;
}

/* Pushes a userdata with the array in `field`: `size` bytes per element, read by `read`. */
static void *read_list(lua_State *L, const char *field, size_t size,
                       void (*read)(lua_State *L, void *element), size_t *ret_count) {
    lua_getfield(L, 1, field);
    if (lua_isnil(L, -1))
        lua_newtable(L);
    else
        luaL_checktype(L, -1, LUA_TTABLE);
    int list = lua_gettop(L);
    size_t count = lua_rawlen(L, list);
    char *elements = lua_newuserdatauv(L, count * size + 1, 0);
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, list, (lua_Integer)i + 1);
        read(L, elements + i * size);
        lua_pop(L, 1);
    }
    lua_remove(L, list);
    *ret_count = count;
    return elements;
}

static void read_member(lua_State *L, void *element) {
    luaL_checktype(L, -1, LUA_TTABLE);
    *(pp_proc_id *)element = (pp_proc_id){ .pid = (int32_t)integer_field(L, "pid"),
                                           .start = (uint64_t)integer_field(L, "start"),
                                           .unique = (uint64_t)integer_field(L, "unique") };
}

static void read_group(lua_State *L, void *element) {
    *(int32_t *)element = (int32_t)luaL_checkinteger(L, -1);
}

static int l_gc(lua_State *L) {
    pp_sweep_done(luaL_checkudata(L, 1, TYPE));
    return 0;
}

static void push_process(lua_State *L, const pp_proc_info *info) {
    ppl_push_proc_id(L, info->id);
    lua_pushstring(L, info->exe);
    lua_setfield(L, -2, "exe");
    lua_pushinteger(L, info->pgid);
    lua_setfield(L, -2, "pgid");
}

static void push_met(lua_State *L, const pp_sweep *sweep) {
    lua_createtable(L, (int)sweep->count, 0);
    for (size_t i = 0; i < sweep->count; i++) {
        const pp_swept *one = &sweep->items[i];
        push_process(L, &one->info);
        lua_pushstring(L, pp_swept_name(one->how));
        lua_setfield(L, -2, "outcome");
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

static int l_sweep_run(lua_State *L) {
    static const char *const names[] = {
        "members", "groups", "assignment", "leaf", "limit_s", NULL
    };
    ppl_check_fields(L, 1, names);
    lua_Number limit_s = ppl_opt_number(L, 1, "limit_s", 2.0);
    luaL_argcheck(L, limit_s > 0 && limit_s <= 60, 1, "limit_s is in (0, 60]");
    pp_sweep_order order = { .assignment = ppl_opt_string(L, 1, "assignment", NULL),
                             .leaf = ppl_opt_string(L, 1, "leaf", NULL),
                             .limit_ns = (int64_t)llround(limit_s * 1e9) };
    order.members = read_list(L, "members", sizeof(pp_proc_id), read_member, &order.member_count);
    order.groups = read_list(L, "groups", sizeof(int32_t), read_group, &order.group_count);
    pp_sweep *sweep = ppl_new_handle(L, sizeof *sweep, TYPE);

    pp_error err = { 0 };
    pp_status status = pp_sweep_run(&order, sweep, &err);

    push_met(L, sweep);
    if (status == PP_OK)
        return 1;
    ppl_push_error(L, &err);
    return 2;
}

int ppl_open_sweep(lua_State *L) {
    static const luaL_Reg functions[] = {
        { "prepare", l_sweep_prepare },
        { "run", l_sweep_run },
        { NULL, NULL },
    };
    static const luaL_Reg methods[] = { { NULL, NULL } };

    ppl_handle_type(L, TYPE, methods, l_gc);
    luaL_newlib(L, functions);
    return 1;
}
