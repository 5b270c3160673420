/* SPDX-License-Identifier: Apache-2.0 */
#include "ppl.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "host.h"
#include "pairperf/build_id.h"
#include "platform.h"

static int l_process_signal_ignored(lua_State *L) {
    int number = pp_signal_number(ppl_check_text(L, 1));
    luaL_argcheck(L, number > 0, 1, "unknown signal");
    struct sigaction action;
    if (sigaction(number, NULL, &action) != 0) {
        pp_error err;
        pp_fail(&err, PP_E_SYS, errno, "sigaction", "%s", pp_signal_name(number));
        return ppl_push_failure(L, &err);
    }
    lua_pushboolean(L, action.sa_handler == SIG_IGN);
    return 1;
}

static int l_process_getpid(lua_State *L) {
    lua_pushinteger(L, getpid());
    return 1;
}

static int l_process_geteuid(lua_State *L) {
    lua_pushinteger(L, geteuid());
    return 1;
}

static int l_process_exe_path(lua_State *L) {
    char path[PATH_MAX];
    pp_error err;
    if (pp_platform_exe_path(path, sizeof path, &err) != PP_OK)
        return ppl_push_failure(L, &err);
    lua_pushstring(L, path);
    return 1;
}

static int l_process_exe_dir(lua_State *L) {
    char path[PATH_MAX];
    pp_error err;
    if (pp_host_self_exe_dir(path, sizeof path, &err) != PP_OK)
        return ppl_push_failure(L, &err);
    lua_pushstring(L, path);
    return 1;
}

/* "Linux", "Darwin": the kernel's own name */
static int l_process_system(lua_State *L) {
    struct utsname name;
    if (uname(&name) != 0) {
        pp_error err;
        pp_fail(&err, PP_E_SYS, errno, "uname", "%s", "system");
        return ppl_push_failure(L, &err);
    }
    lua_pushstring(L, name.sysname);
    return 1;
}

static int l_process_is_terminal(lua_State *L) {
    lua_Integer fd = luaL_checkinteger(L, 1);
    luaL_argcheck(L, fd >= 0 && fd <= INT_MAX, 1, "no file descriptor");
    lua_pushboolean(L, isatty((int)fd));
    return 1;
}

/* Array of "K=V" */
static int l_process_environment(lua_State *L) {
    lua_newtable(L);
    char **environment = pp_platform_environment();
    for (lua_Integer i = 0; environment[i]; i++) {
        lua_pushstring(L, environment[i]);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

static int l_process_signal_number(lua_State *L) {
    int number = pp_signal_number(ppl_check_text(L, 1));
    luaL_argcheck(L, number > 0, 1, "unknown signal");
    lua_pushinteger(L, number);
    return 1;
}

static int l_process_build(lua_State *L) {
    lua_createtable(L, 0, 4);
    lua_pushstring(L, pp_build_version());
    lua_setfield(L, -2, "version");
    lua_pushstring(L, pp_build_commit());
    lua_setfield(L, -2, "commit");
    lua_pushboolean(L, pp_build_dirty());
    lua_setfield(L, -2, "dirty");
    lua_pushstring(L, pp_build_id());
    lua_setfield(L, -2, "id");
    return 1;
}

int ppl_open_process(lua_State *L) {
    static const luaL_Reg functions[] = {
        { "build", l_process_build },
        { "environment", l_process_environment },
        { "exe_dir", l_process_exe_dir },
        { "exe_path", l_process_exe_path },
        { "geteuid", l_process_geteuid },
        { "getpid", l_process_getpid },
        { "is_terminal", l_process_is_terminal },
        { "signal_ignored", l_process_signal_ignored },
        { "signal_number", l_process_signal_number },
        { "system", l_process_system },
        { NULL, NULL },
    };
    luaL_newlib(L, functions);
    return 1;
}
