/* SPDX-License-Identifier: Apache-2.0 */
#include "ppl.h"

#include <unistd.h>

#include "pairperf/lock.h"

#define LOCK_TYPE "pairperf.lock"

typedef struct lock {
    bool held;
    int fd;
} lock;

static int l_lock_close(lua_State *L) {
    lock *handle = luaL_checkudata(L, 1, LOCK_TYPE);
    if (handle->held) {
        handle->held = false;
        close(handle->fd);
    }
    return 0;
}

static int l_lock_fd(lua_State *L) {
    const lock *handle = luaL_checkudata(L, 1, LOCK_TYPE);
    luaL_argcheck(L, handle->held, 1, "the lock is closed");
    lua_pushinteger(L, handle->fd);
    return 1;
}

static int l_lock_acquire(lua_State *L) {
    const char *name = lua_isnoneornil(L, 1) ? PP_LOCK_SESSION : ppl_check_text(L, 1);
    lock *handle = ppl_new_handle(L, sizeof *handle, LOCK_TYPE);
    pp_error err;
    if (pp_lock_acquire(name, &handle->fd, &err) != PP_OK)
        return ppl_push_failure(L, &err);
    handle->held = true;
    return 1;
}

int ppl_open_lock(lua_State *L) {
    static const luaL_Reg functions[] = { { "acquire", l_lock_acquire }, { NULL, NULL } };
    static const luaL_Reg methods[] = {
        { "close", l_lock_close },
        { "fd", l_lock_fd },
        { NULL, NULL },
    };
    ppl_handle_type(L, LOCK_TYPE, methods, l_lock_close);
    luaL_newlib(L, functions);
    return 1;
}
