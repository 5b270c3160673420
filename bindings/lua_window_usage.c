/* SPDX-License-Identifier: Apache-2.0 */
/* window_usage: the table with the rows of all frames, as one flat array for the core. */
#include "decimal.h"
#include "pairperf/counters.h"
#include "pairperf/window.h"
#include "ppl.h"
#include "window_rows.h"

#include <string.h>

#define USAGE_TYPE "pairperf.window.usage"

static int l_usage_close(lua_State *L) {
    pp_window_usage_done(luaL_checkudata(L, 1, USAGE_TYPE));
    return 0;
}

enum { USAGE_COUNTERS = 2, USAGE_NAMES, USAGE_EXCLUDED, USAGE_CLOSED }; /* stack slots of tables */

static const char *counter_name(lua_State *L, size_t c) {
    lua_rawgeti(L, USAGE_COUNTERS, (lua_Integer)c + 1);
    const char *name = lua_tostring(L, -1); /* stays alive in that table */
    lua_pop(L, 1);
    return name;
}

typedef struct usage_columns {
    ppl_column of[PP_USAGE_COUNTERS_MAX];
    size_t count;
} usage_columns;

/* The columns of packed rows that hold the counters. */
static usage_columns counter_columns(lua_State *L, size_t count) {
    usage_columns columns = { .count = count };
    for (size_t c = 0; c < count; c++) {
        columns.of[c] = ppl_samples_column(counter_name(L, c));
        luaL_argcheck(L, columns.of[c] != PPL_COLUMNS, 1, "a counter that packed rows lack");
    }
    return columns;
}

static size_t push_counter_names(lua_State *L) {
    lua_pushstring(L, "counters");
    if (lua_rawget(L, 1) == LUA_TNIL) {
        static const char *const names[] = { "cpu_ns", "wakeups", "write_bytes" };
        lua_pop(L, 1);
        lua_newtable(L);
        for (lua_Integer i = 0; i < 3; i++) {
            lua_pushstring(L, names[i]);
            lua_rawseti(L, -2, i + 1);
        }
    }
    luaL_argcheck(L, lua_istable(L, -1), 1, "field 'counters': array expected");
    size_t count = (size_t)lua_rawlen(L, -1);
    luaL_argcheck(L, count >= 1 && count <= PP_USAGE_COUNTERS_MAX, 1, "1 to 8 counters");
    for (size_t c = 0; c < count; c++) {
        lua_rawgeti(L, -1, (lua_Integer)c + 1);
        bool fine =
            lua_type(L, -1) == LUA_TSTRING && (c > 0 || strcmp(lua_tostring(L, -1), "cpu_ns") == 0);
        luaL_argcheck(L, fine, 1, "counters are names, the first one is 'cpu_ns'");
        lua_pop(L, 1);
    }
    return count;
}

/* The status named for a counter in the row's table "missing". */
static pp_status missing_reason(lua_State *L, int row, const char *counter) {
    pp_status why = PP_STATUS_COUNT;
    lua_pushstring(L, "missing");
    if (lua_rawget(L, row) == LUA_TTABLE) {
        lua_pushstring(L, counter);
        if (lua_rawget(L, -2) == LUA_TSTRING)
            why = pp_status_parse(lua_tostring(L, -1));
    }
    lua_settop(L, row);
    return why == PP_STATUS_COUNT ? PP_OK : why;
}

static void fill_usage_row(lua_State *L, size_t counters, pp_usage_row *row) {
    int at = lua_gettop(L);
    row->component = ppl_component_index(L, USAGE_NAMES);
    row->start_ns = ppl_integer_need(L, at, "start_ns");
    pp_reading start = ppl_decimal_field(L, at, "start");
    row->id.pid = (int32_t)ppl_integer_need(L, at, "pid");
    row->id.start = start.known ? start.value : (uint64_t)row->start_ns;
    row->id.unique = ppl_decimal_field(L, at, "unique").value;
    if (ppl_opt_boolean(L, at, "unreadable", false))
        return;
    for (size_t c = 0; c < counters; c++) {
        row->counters[c] = ppl_decimal_field(L, at, counter_name(L, c));
        if (!row->counters[c].known)
            row->counters[c].why = missing_reason(L, at, counter_name(L, c));
    }
}

/* What the exit record of its identity has, a row was only too late to read. */
static void close_by_exit(lua_State *L, size_t counters, uint32_t identity, pp_usage_row *row) {
    if (lua_rawgeti(L, USAGE_CLOSED, identity) == LUA_TTABLE) {
        int exit = lua_gettop(L);
        for (size_t c = 0; c < counters; c++)
            if (!row->counters[c].known && ppl_decimal_field(L, exit, counter_name(L, c)).known)
                row->counters[c].why = PP_E_VANISHED;
    }
    lua_pop(L, 1);
}

/* The rows of the frame at `at` that lie packed; returns the place after them. */
static pp_usage_row *fill_packed(lua_State *L, int at, ppl_packed *packed, size_t frame,
                                 pp_usage_row *rows, const usage_columns *columns) {
    size_t count;
    if (!packed->samples)
        return rows;
    const ppl_sample *sample = ppl_samples_range(L, at, packed->samples, &count);
    for (size_t i = 0; i < count; i++, sample++, rows++) {
        rows->frame = frame;
        rows->component = ppl_packed_component(L, packed, sample, USAGE_NAMES);
        rows->start_ns = sample->start_ns;
        rows->id = sample->id;
        for (size_t c = 0; c < columns->count; c++)
            rows->counters[c] = ppl_samples_reading(packed->samples, sample, columns->of[c]);
        close_by_exit(L, columns->count, sample->identity, rows);
    }
    return rows;
}

/* The array of frames is on top. */
static void fill_usage(lua_State *L, pp_usage_frame *frames, pp_usage_row *rows,
                       const pp_usage_input *input, ppl_packed *packed) {
    usage_columns columns = { 0 };
    if (packed->samples)
        columns = counter_columns(L, input->counter_count);
    for (size_t i = 0; i < input->frame_count; i++) {
        ppl_row_push(L, i + 1);
        int at = lua_gettop(L);
        frames[i].t_ns = ppl_integer_need(L, at, "t_ns");
        frames[i].start_clock_ns = ppl_opt_integer(L, at, "start_clock_ns", frames[i].t_ns);
        rows = fill_packed(L, at, packed, i, rows, &columns);
        size_t procs = ppl_array_push(L, at, "procs");
        for (size_t p = 1; p <= procs; p++, rows++) {
            ppl_row_push(L, p);
            rows->frame = i;
            fill_usage_row(L, input->counter_count, rows);
            lua_pop(L, 1);
        }
        lua_settop(L, at - 1);
    }
}

/* Reads the argument; everything it allocates stays on the stack. */
static void read_usage(lua_State *L, pp_usage_input *input) {
    static const char *const fields[] = { "frames", "excluded", "counters", "start_step_ns",
                                          "rows",   "names",    "closed",   NULL };
    ppl_check_fields(L, 1, fields);
    lua_settop(L, 1);
    input->start_step_ns = ppl_opt_integer(L, 1, "start_step_ns", 0);
    input->counter_count = push_counter_names(L);
    lua_newtable(L); /* USAGE_NAMES */
    size_t excluded_count = ppl_array_push(L, 1, "excluded");

    lua_pushstring(L, "closed");
    if (lua_rawget(L, 1) != LUA_TTABLE) {
        lua_pop(L, 1);
        lua_newtable(L);
    }
    ppl_packed packed = ppl_packed_open(L);

    input->frame_count = ppl_array_push(L, 1, "frames");
    luaL_argcheck(L, input->frame_count > 0, 1, "no frame");
    input->row_count = ppl_count_rows(L, input->frame_count, "procs") +
                       ppl_packed_count(L, &packed, input->frame_count);
    pp_usage_frame *frames = ppl_scratch(L, input->frame_count, sizeof *frames);
    pp_usage_row *rows = ppl_scratch(L, input->row_count, sizeof *rows);
    lua_pushvalue(L, -3);
    fill_usage(L, frames, rows, input, &packed);
    lua_pop(L, 1);

    input->component_count = (size_t)lua_rawlen(L, USAGE_NAMES);
    bool *excluded = ppl_scratch(L, input->component_count, sizeof *excluded);
    for (size_t i = 1; i <= excluded_count; i++) {
        lua_rawgeti(L, USAGE_EXCLUDED, (lua_Integer)i);
        if (lua_rawget(L, USAGE_NAMES) == LUA_TNUMBER)
            excluded[lua_tointeger(L, -1) - 1] = true;
        lua_pop(L, 1);
    }
    input->frames = frames;
    input->rows = rows;
    input->excluded = excluded;
}

static void set_percent(lua_State *L, const char *field, uint64_t cpu_ns, int64_t elapsed_ns) {
    double percent;
    if (pp_cpu_percent(cpu_ns, elapsed_ns, &percent))
        ppl_number_set(L, field, percent);
}

/* The rates of every counter; only those of trusted totals when `trusted` is set. */
static void set_rates(lua_State *L, const char *field, const pp_window_usage *usage,
                      size_t counters, bool trusted) {
    lua_newtable(L);
    for (size_t c = 0; c < counters; c++) {
        const pp_usage_counter *counter = &usage->counters[c];
        double rate;
        if (counter->overflow || (trusted && !counter->trusted))
            continue;
        if (c == 0) {
            set_percent(L, "cpu_percent_total", counter->partial, usage->elapsed_ns);
            set_percent(L, "cpu_percent_excluded", usage->excluded_cpu_ns, usage->elapsed_ns);
            set_percent(L, "cpu_percent_without_excluded", usage->without_excluded_cpu_ns,
                        usage->elapsed_ns);
        } else if (pp_rate_per_second(counter->partial, usage->elapsed_ns, &rate)) {
            lua_pushfstring(L, "%s_per_second", counter_name(L, c));
            lua_pushnumber(L, rate);
            lua_rawset(L, -3);
        }
    }
    lua_setfield(L, -2, field);
}

/* Flags without a counter first, then "flag:counter"; the caller's language sorts them. */
static void set_usage_flags(lua_State *L, const pp_window_usage *usage, size_t counters) {
    ppl_flags_set(L, "flags", usage->flags);
    lua_getfield(L, -1, "flags");
    lua_Integer n = (lua_Integer)lua_rawlen(L, -1);
    for (size_t c = 0; c < counters; c++) {
        const pp_usage_counter *counter = &usage->counters[c];
        const bool set[] = { counter->regressed, counter->overflow, counter->unreadable };
        const char *const flag[] = { "counter_regressed", "overflow", "unreadable" };
        for (size_t i = 0; i < sizeof set / sizeof *set; i++) {
            if (set[i]) {
                lua_pushfstring(L, "%s:%s", flag[i], counter_name(L, c));
                lua_rawseti(L, -2, ++n);
            }
        }
    }
    lua_pop(L, 1);
}

static void push_usage(lua_State *L, const pp_window_usage *usage, const pp_usage_input *input) {
    lua_newtable(L);
    set_usage_flags(L, usage, input->counter_count);
    set_rates(L, "value", usage, input->counter_count, true);
    set_rates(L, "partial", usage, input->counter_count, false);
    lua_pushinteger(L, usage->elapsed_ns);
    lua_setfield(L, -2, "elapsed_ns");
    lua_newtable(L);
    for (size_t c = 0; c < input->counter_count; c++) {
        if (!usage->counters[c].overflow)
            ppl_decimal_set(L, counter_name(L, c), pp_known(usage->counters[c].partial));
    }
    lua_setfield(L, -2, "partial_totals");
    lua_newtable(L);
    for (size_t i = 0; i < input->component_count; i++) {
        double percent;
        if (!pp_cpu_percent(usage->components[i * input->counter_count], usage->elapsed_ns,
                            &percent))
            continue;
        lua_rawgeti(L, USAGE_NAMES, (lua_Integer)i + 1);
        lua_pushnumber(L, percent);
        lua_rawset(L, -3);
    }
    lua_setfield(L, -2, "components_cpu_percent");
}

int ppl_window_usage(lua_State *L) {
    pp_usage_input input = { 0 };
    read_usage(L, &input);
    pp_window_usage *usage = ppl_new_handle(L, sizeof *usage, USAGE_TYPE);

    pp_error err;
    if (pp_window_usage_sum(&input, usage, &err) != PP_OK)
        return ppl_push_failure(L, &err);

    push_usage(L, usage, &input);
    pp_window_usage_done(usage);
    return 1;
}

void ppl_window_usage_type(lua_State *L) {
    static const luaL_Reg no_methods[] = { { NULL, NULL } };
    ppl_handle_type(L, USAGE_TYPE, no_methods, l_usage_close);
}
