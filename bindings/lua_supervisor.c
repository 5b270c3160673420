/* SPDX-License-Identifier: Apache-2.0 */
/* core.supervisor: one started command under its own supervisor. Shapes: lua/meta/supervisor.lua */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pairperf/cancel.h"
#include "pairperf/supervisor.h"
#include "ppl.h"
#include "resize.h"

#define TYPE "pairperf.supervisor"

typedef struct handle {
    pp_supervisor *supervisor; /* NULL: closed */
} handle;

/* All open ones, so that one pump serves them whatever the script waits for. */
static pp_supervisor **open_supervisors;
static size_t open_count, open_capacity;

/* Registry key of json.decode. */
static const char decode_key;

static bool enlist(pp_supervisor *supervisor) {
    if (open_count == open_capacity) {
        size_t wanted = open_capacity ? open_capacity * 2 : 8;
        void *bigger = pp_resize(open_supervisors, wanted, sizeof(pp_supervisor *));
        if (!bigger)
            return false;
        open_supervisors = bigger;
        open_capacity = wanted;
    }
    open_supervisors[open_count++] = supervisor;
    return true;
}

static void delist(const pp_supervisor *supervisor) {
    for (size_t i = 0; i < open_count; i++)
        if (open_supervisors[i] == supervisor) {
            open_supervisors[i] = open_supervisors[--open_count];
            return;
        }
}

static handle *check_open(lua_State *L) {
    handle *self = luaL_checkudata(L, 1, TYPE);

    if (!self->supervisor)
        luaL_error(L, "the supervisor is closed");
    return self;
}

static int64_t check_ns(lua_State *L, int arg, const char *field, lua_Number fallback) {
    lua_Number seconds = ppl_opt_number(L, arg, field, fallback);

    if (!isfinite(seconds) || fabs(seconds) > 1e9)
        luaL_error(L, "field '%s': seconds out of range", field);
    return (int64_t)llround(seconds * 1e9);
}

static int l_supervisor_start(lua_State *L) {
    static const char *const names[] = { "run_dir", "samples", "events", "exe", "lock_fd", NULL };

    ppl_check_fields(L, 1, names);
    pp_supervisor_options options = { .run_dir = ppl_need_string(L, 1, "run_dir"),
                                      .samples_path = ppl_opt_string(L, 1, "samples", NULL),
                                      .events_path = ppl_opt_string(L, 1, "events", NULL),
                                      .exe_path = ppl_opt_string(L, 1, "exe", NULL),
                                      .lock_fd = (int)ppl_opt_integer(L, 1, "lock_fd", -1) };
    handle *self = ppl_new_handle(L, sizeof *self, TYPE);

    pp_error err;
    if (pp_supervisor_start(&options, &self->supervisor, &err) != PP_OK)
        return ppl_push_failure(L, &err);
    if (!enlist(self->supervisor)) {
        pp_supervisor_free(self->supervisor);
        self->supervisor = NULL;
        ppl_no_memory(L);
    }
    return 1;
}

static int l_supervisor_spawn(lua_State *L) {
    static const char *const names[] = { "path",          "argv",         "env",
                                         "cwd",           "output",       "stdout",
                                         "stderr",        "cap_bytes",    "track",
                                         "interval_s",    "latest_end_s", "expect_escapees",
                                         "reap_escapees", "writable",     NULL };
    handle *self = check_open(L);
    ppl_check_fields(L, 2, names);
    const char *output = ppl_opt_string(L, 2, "output", "null");
    luaL_argcheck(L, strcmp(output, "null") == 0 || strcmp(output, "capture") == 0, 2,
                  "output is 'null' or 'capture'");
    lua_Integer cap = ppl_opt_integer(L, 2, "cap_bytes", 1 << 20);
    luaL_argcheck(L, cap >= 0, 2, "cap_bytes is not negative");
    pp_spawn_options options = {
        .path = ppl_need_string(L, 2, "path"),
        .cwd = ppl_need_string(L, 2, "cwd"),
        .capture = strcmp(output, "capture") == 0,
        .stdout_name = ppl_opt_string(L, 2, "stdout", "stdout"),
        .stderr_name = ppl_opt_string(L, 2, "stderr", "stderr"),
        .output_cap_bytes = (uint64_t)cap,
        .track = ppl_opt_boolean(L, 2, "track", false),
        .interval_ns = check_ns(L, 2, "interval_s", 1.0),
        .reap_escapees = ppl_opt_boolean(L, 2, "reap_escapees", false),
        .latest_end_ns = check_ns(L, 2, "latest_end_s", 0.0),
        .argv = ppl_string_list(L, 2, "argv", NULL),
        .envp = ppl_string_list(L, 2, "env", NULL),
    };
    options.expected = (const char *const *)ppl_string_list(L, 2, "expect_escapees", NULL);
    if (lua_getfield(L, 2, "writable") != LUA_TNIL)
        options.writable = (const char *const *)ppl_string_list(L, 2, "writable", NULL);

    pp_proc_id leader;
    pp_error err;
    if (pp_supervisor_spawn(self->supervisor, &options, &leader, &err) != PP_OK)
        return ppl_push_failure(L, &err);

    ppl_push_proc_id(L, leader);
    return 1;
}

static int l_supervisor_sample(lua_State *L) {
    static const char *const names[] = { "duration_s", "interval_s", NULL };
    handle *self = check_open(L);
    ppl_check_fields(L, 2, names);
    int64_t duration_ns = check_ns(L, 2, "duration_s", 0);
    int64_t interval_ns = check_ns(L, 2, "interval_s", 0);

    pp_error err = { 0 };
    pp_status status = pp_supervisor_sample(self->supervisor, duration_ns, interval_ns, &err);
    return ppl_push_result(L, status, &err);
}

static int l_supervisor_stop(lua_State *L) {
    static const char *const names[] = { "first", "grace_s", "verify_s", NULL };
    static const char *const firsts[] = { "leader", "group", NULL };
    handle *self = check_open(L);
    ppl_check_fields(L, 2, names);
    lua_getfield(L, 2, "first");
    bool group_first = luaL_checkoption(L, -1, "leader", firsts) == 1;
    int64_t grace_ns = check_ns(L, 2, "grace_s", 30);
    int64_t verify_ns = check_ns(L, 2, "verify_s", 5);

    pp_error err = { 0 };
    pp_status status = pp_supervisor_stop(self->supervisor, group_first, grace_ns, verify_ns, &err);
    return ppl_push_result(L, status, &err);
}

static void push_exit(lua_State *L, const pp_exit *exit) {
    lua_createtable(L, 0, 2);
    if (exit->by_signal) {
        lua_pushstring(L, pp_signal_name(exit->signal_number));
        lua_setfield(L, -2, "signal");
        lua_pushboolean(L, exit->core_dumped);
        lua_setfield(L, -2, "core");
    } else {
        lua_pushinteger(L, exit->code);
        lua_setfield(L, -2, "code");
    }
}

static void set_u64(lua_State *L, const char *field, uint64_t value) {
    ppl_push_u64(L, value);
    lua_setfield(L, -2, field);
}

static void push_window(lua_State *L, const pp_supervisor_view *view) {
    lua_createtable(L, 0, 4);
    set_u64(L, "id", view->window);
    lua_pushboolean(L, view->window_done);
    lua_setfield(L, -2, "done");
    set_u64(L, "frames", view->window_frames);
    set_u64(L, "missed", view->window_missed);
}

static void push_live(lua_State *L, const pp_supervisor_view *view) {
    lua_createtable(L, 0, 4);
    set_u64(L, "processes", view->live_processes);
    ppl_push_reading(L, view->live_rss_bytes);
    lua_setfield(L, -2, "rss_bytes");
    ppl_push_reading(L, view->live_cpu_ns);
    lua_setfield(L, -2, "cpu_ns");
    lua_pushinteger(L, view->live_t_ns);
    lua_setfield(L, -2, "t_ns");
}

static void push_output(lua_State *L, const pp_supervisor_view *view) {
    lua_createtable(L, 0, 5);
    set_u64(L, "stdout_bytes", view->output_bytes[0]);
    set_u64(L, "stderr_bytes", view->output_bytes[1]);
    lua_pushboolean(L, view->output_truncated[0]);
    lua_setfield(L, -2, "stdout_truncated");
    lua_pushboolean(L, view->output_truncated[1]);
    lua_setfield(L, -2, "stderr_truncated");
    if (view->output_failure != PP_OK) {
        lua_pushstring(L, view->output_errno ? pp_errno_name(view->output_errno)
                                             : pp_status_name(view->output_failure));
        lua_setfield(L, -2, "failure");
    }
}

/* Pushes what json.decode makes of a record. */
static void push_record(lua_State *L, const char *json, size_t size) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &decode_key);
    lua_pushlstring(L, json, size);
    lua_call(L, 1, 1);
}

static int l_supervisor_state(lua_State *L) {
    handle *self = check_open(L);
    pp_supervisor_view view;
    pp_supervisor_look(self->supervisor, &view);

    lua_createtable(L, 0, 10);
    lua_pushstring(L, pp_supervisor_phase_name(view.phase));
    lua_setfield(L, -2, "phase");
    if (view.leader.pid > 0) {
        ppl_push_proc_id(L, view.leader);
        lua_setfield(L, -2, "leader");
    }
    if (view.leaf) {
        lua_pushstring(L, view.leaf);
        lua_setfield(L, -2, "leaf");
    }
    if (view.exited) {
        push_exit(L, &view.exit);
        lua_setfield(L, -2, "exit");
    }
    if (view.window > 0) {
        push_window(L, &view);
        lua_setfield(L, -2, "window");
    }
    if (view.live_t_ns > 0) {
        push_live(L, &view);
        lua_setfield(L, -2, "live");
    }
    set_u64(L, "frames", view.frames);
    set_u64(L, "escapees", view.escapes);
    push_output(L, &view);
    lua_setfield(L, -2, "output");
    if (view.verdict_json) {
        push_record(L, view.verdict_json, view.verdict_size);
        lua_setfield(L, -2, "verdict");
    }
    if (view.error.status != PP_OK) {
        ppl_push_error(L, &view.error);
        lua_setfield(L, -2, "error");
    }
    return 1;
}

static int l_supervisor_members(lua_State *L) {
    handle *self = check_open(L);
    pp_supervisor_view view;
    pp_supervisor_look(self->supervisor, &view);

    if (!view.frame_json) {
        lua_newtable(L);
        return 1;
    }
    push_record(L, view.frame_json, view.frame_size);
    lua_getfield(L, -1, "procs");
    return 1;
}

static int l_supervisor_close(lua_State *L) {
    handle *self = luaL_checkudata(L, 1, TYPE);
    pp_supervisor *supervisor = self->supervisor;

    pp_error err;
    pp_status status = PP_OK;
    self->supervisor = NULL;
    if (supervisor) {
        delist(supervisor);
        status = pp_supervisor_close(supervisor, &err);
        pp_supervisor_free(supervisor);
    }
    if (status != PP_OK)
        return ppl_push_failure(L, &err);

    lua_pushboolean(L, 1);
    return 1;
}

static int l_supervisor_pump(lua_State *L) {
    lua_Number seconds = luaL_checknumber(L, 1);
    luaL_argcheck(L, seconds >= 0 && seconds <= 1e9, 1, "seconds out of range");

    pp_error err;
    if (ppl_cancelled(&err))
        return ppl_push_failure(L, &err);
    int cancel_fd = pp_cancel_requested(NULL) ? -1 : pp_cancel_fd();
    if (pp_supervisors_pump(open_supervisors, open_count, cancel_fd, (int64_t)(seconds * 1e9),
                            &err) != PP_OK ||
        ppl_cancelled(&err))
        return ppl_push_failure(L, &err);

    lua_pushboolean(L, 1);
    return 1;
}

static void keep_decode(lua_State *L) {
    ppl_open_json(L);
    lua_getfield(L, -1, "decode");
    lua_rawsetp(L, LUA_REGISTRYINDEX, &decode_key);
    lua_pop(L, 1);
}

int ppl_open_supervisor(lua_State *L) {
    static const luaL_Reg methods[] = {
        { "spawn", l_supervisor_spawn },
        { "sample", l_supervisor_sample },
        { "stop", l_supervisor_stop },
        { "state", l_supervisor_state },
        { "members", l_supervisor_members },
        { "close", l_supervisor_close },
        { NULL, NULL },
    };
    static const luaL_Reg functions[] = {
        { "start", l_supervisor_start },
        { "pump", l_supervisor_pump },
        { NULL, NULL },
    };

    keep_decode(L);
    ppl_handle_type(L, TYPE, methods, l_supervisor_close);
    luaL_newlib(L, functions);
    return 1;
}
