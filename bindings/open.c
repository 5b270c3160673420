/* SPDX-License-Identifier: Apache-2.0 */
/* The one list of submodules. Built twice: into pairperf-lua and as pairperf/core.so. */
#include "ppl.h"

int luaopen_pairperf_core(lua_State *L) {
    static const luaL_Reg modules[] = {
        { "argv", ppl_open_argv },       { "cancel", ppl_open_cancel },
        { "clock", ppl_open_clock },     { "counters", ppl_open_counters },
        { "digest", ppl_open_digest },   { "error", ppl_open_error },
        { "fs", ppl_open_fs },           { "guard", ppl_open_guard },
        { "http", ppl_open_http },       { "json", ppl_open_json },
        { "lock", ppl_open_lock },       { "manifest", ppl_open_manifest },
        { "process", ppl_open_process }, { "samples", ppl_open_samples },
        { "sandbox", ppl_open_sandbox }, { "supervisor", ppl_open_supervisor },
        { "sweep", ppl_open_sweep },     { "template", ppl_open_template },
        { "window", ppl_open_window },   { NULL, NULL },
    };
    lua_newtable(L);
    for (const luaL_Reg *module = modules; module->name; module++) {
        lua_pushcfunction(L, module->func);
        lua_call(L, 0, 1);
        lua_setfield(L, -2, module->name);
    }
    return 1;
}
