/* SPDX-License-Identifier: Apache-2.0 */
/* Each function takes one table and returns one, with the fields of tests/vectors. Rows are copied
 * into a userdata before the core sees them, so nothing is held when Lua raises. */
#include "decimal.h"
#include "pairperf/counters.h"
#include "pairperf/window.h"
#include "ppl.h"

#include <math.h>
#include <string.h>

#define USAGE_TYPE "pairperf.window.usage"
#define MEMORY_TYPE "pairperf.window.memory"

static int l_usage_close(lua_State *L) {
    pp_window_usage_done(luaL_checkudata(L, 1, USAGE_TYPE));
    return 0;
}

static int l_memory_close(lua_State *L) {
    pp_window_memory_done(luaL_checkudata(L, 1, MEMORY_TYPE));
    return 0;
}

/* Memory for `count` things that lives as long as its stack slot; never of size 0. */
static void *scratch(lua_State *L, size_t count, size_t size) {
    void *memory = lua_newuserdatauv(L, (count + 1) * size, 0);
    memset(memory, 0, (count + 1) * size);
    return memory;
}

static void set_flags(lua_State *L, const char *field, unsigned flags) {
    lua_newtable(L);
    lua_Integer n = 0;
    for (unsigned i = 0; i < PP_FLAG_COUNT; i++) {
        if (flags & (1u << i)) {
            lua_pushstring(L, pp_flag_name(i));
            lua_rawseti(L, -2, ++n);
        }
    }
    lua_setfield(L, -2, field);
}

static void set_boolean(lua_State *L, const char *field, bool value) {
    lua_pushboolean(L, value);
    lua_setfield(L, -2, field);
}

static void set_integer(lua_State *L, const char *field, int64_t value) {
    lua_pushinteger(L, value);
    lua_setfield(L, -2, field);
}

/* Component names by index and back, in one Lua table at `names`: the index (from 0) of the string
 * in the field "name" of the row on top. A new name gets the next index. */
static size_t component_index(lua_State *L, int names) {
    int row = lua_gettop(L);
    lua_pushstring(L, "name");
    if (lua_rawget(L, row) != LUA_TSTRING)
        luaL_error(L, "field 'name': string expected, got %s", luaL_typename(L, -1));
    lua_pushvalue(L, -1);
    if (lua_rawget(L, names) == LUA_TNIL) {
        lua_pop(L, 1);
        lua_Integer next = (lua_Integer)lua_rawlen(L, names) + 1;
        lua_pushvalue(L, -1);
        lua_rawseti(L, names, next);
        lua_pushvalue(L, -1);
        lua_pushinteger(L, next);
        lua_rawset(L, names);
        lua_pushinteger(L, next);
    }
    size_t index = (size_t)lua_tointeger(L, -1) - 1;
    lua_settop(L, row);
    return index;
}

/* Rows of all frames together: frames are tables with the rows in `field`, or the rows themselves
 * when field is NULL. The array of frames is on top. */
static size_t count_rows(lua_State *L, size_t frames, const char *field) {
    size_t total = 0;
    for (size_t i = 1; i <= frames; i++) {
        ppl_row_push(L, i);
        if (field) {
            total += ppl_array_push(L, lua_gettop(L), field);
            lua_pop(L, 1);
        } else {
            total += (size_t)lua_rawlen(L, -1);
        }
        lua_pop(L, 1);
    }
    return total;
}

/* window_usage */

enum { USAGE_COUNTERS = 2, USAGE_NAMES, USAGE_EXCLUDED }; /* stack slots of tables */

static const char *counter_name(lua_State *L, size_t c) {
    lua_rawgeti(L, USAGE_COUNTERS, (lua_Integer)c + 1);
    const char *name = lua_tostring(L, -1); /* stays alive in that table */
    lua_pop(L, 1);
    return name;
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
    row->component = component_index(L, USAGE_NAMES);
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

/* The array of frames is on top. */
static void fill_usage(lua_State *L, pp_usage_frame *frames, pp_usage_row *rows,
                       const pp_usage_input *input) {
    for (size_t i = 0; i < input->frame_count; i++) {
        ppl_row_push(L, i + 1);
        int at = lua_gettop(L);
        frames[i].t_ns = ppl_integer_need(L, at, "t_ns");
        frames[i].start_clock_ns = ppl_opt_integer(L, at, "start_clock_ns", frames[i].t_ns);
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
    static const char *const fields[] = { "frames", "excluded", "counters", "start_step_ns", NULL };
    ppl_check_fields(L, 1, fields);
    lua_settop(L, 1);
    input->start_step_ns = ppl_opt_integer(L, 1, "start_step_ns", 0);
    input->counter_count = push_counter_names(L);
    lua_newtable(L); /* USAGE_NAMES */
    size_t excluded_count = ppl_array_push(L, 1, "excluded");

    input->frame_count = ppl_array_push(L, 1, "frames");
    luaL_argcheck(L, input->frame_count > 0, 1, "no frame");
    input->row_count = count_rows(L, input->frame_count, "procs");
    pp_usage_frame *frames = scratch(L, input->frame_count, sizeof *frames);
    pp_usage_row *rows = scratch(L, input->row_count, sizeof *rows);
    lua_pushvalue(L, -3);
    fill_usage(L, frames, rows, input);
    lua_pop(L, 1);

    input->component_count = (size_t)lua_rawlen(L, USAGE_NAMES);
    bool *excluded = scratch(L, input->component_count, sizeof *excluded);
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
    set_flags(L, "flags", usage->flags);
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
    set_integer(L, "elapsed_ns", usage->elapsed_ns);
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

static int l_window_window_usage(lua_State *L) {
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

/* memory */

static void set_memory_stat(lua_State *L, const pp_memory_stat *stat) {
    if (!stat->known)
        return;
    ppl_decimal_set(L, "max", pp_known(stat->max_bytes));
    ppl_number_set(L, "mean", stat->mean_bytes);
}

static void push_memory(lua_State *L, const pp_window_memory *memory, int names) {
    lua_newtable(L);
    set_memory_stat(L, &memory->total);
    set_flags(L, "flags", memory->flags);
    lua_newtable(L);
    set_memory_stat(L, &memory->partial);
    set_integer(L, "frames", (int64_t)memory->partial_frames);
    lua_setfield(L, -2, "partial");
    lua_newtable(L);
    size_t count = (size_t)lua_rawlen(L, names);
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, names, (lua_Integer)i + 1);
        lua_newtable(L);
        set_memory_stat(L, &memory->components[i]);
        lua_rawset(L, -3);
    }
    lua_setfield(L, -2, "components");
}

static int l_window_memory(lua_State *L) {
    static const char *const fields[] = { "frames", NULL };
    enum { NAMES = 2 };
    ppl_check_fields(L, 1, fields);
    lua_settop(L, 1);
    lua_newtable(L);
    size_t frame_count = ppl_array_push(L, 1, "frames");
    size_t row_count = count_rows(L, frame_count, NULL);
    pp_memory_row *rows = scratch(L, row_count, sizeof *rows), *row = rows;
    lua_insert(L, -2);
    for (size_t i = 0; i < frame_count; i++) {
        ppl_row_push(L, i + 1);
        size_t procs = (size_t)lua_rawlen(L, -1);
        for (size_t p = 1; p <= procs; p++, row++) {
            ppl_row_push(L, p);
            row->frame = i;
            row->component = component_index(L, NAMES);
            row->bytes = ppl_decimal_field(L, lua_gettop(L), "bytes");
            lua_pop(L, 1);
        }
        lua_pop(L, 1);
    }
    pp_window_memory *memory = ppl_new_handle(L, sizeof *memory, MEMORY_TYPE);

    pp_error err;
    if (pp_window_memory_sum(rows, row_count, frame_count, (size_t)lua_rawlen(L, NAMES), memory,
                             &err) != PP_OK)
        return ppl_push_failure(L, &err);

    push_memory(L, memory, NAMES);
    pp_window_memory_done(memory);
    return 1;
}

/* window_validity */

/* A planned time, given in `unit_ns`, as whole nanoseconds. */
static int64_t planned_ns(lua_State *L, const char *field, double unit_ns) {
    double value = ppl_opt_number(L, 1, field, 0) * unit_ns;
    luaL_argcheck(L, value >= 1 && value < 9e18, 1, "planned times are positive");
    return (int64_t)llround(value);
}

static int l_window_window_validity(lua_State *L) {
    static const char *const fields[] = { "frames", "interval_ms", "duration_s", NULL };
    ppl_check_fields(L, 1, fields);
    int64_t interval_ns = planned_ns(L, "interval_ms", 1e6);
    int64_t duration_ns = planned_ns(L, "duration_s", 1e9);
    size_t count = ppl_array_push(L, 1, "frames");
    pp_frame_times *frames = scratch(L, count, sizeof *frames);
    lua_insert(L, -2);
    for (size_t i = 0; i < count; i++) {
        ppl_row_push(L, i + 1);
        int at = lua_gettop(L);
        frames[i] = (pp_frame_times){ .t_ns = ppl_integer_need(L, at, "t_ns"),
                                      .end_ns = ppl_integer_need(L, at, "end_ns"),
                                      .used_ns = ppl_integer_need(L, at, "used_ns"),
                                      .cont_ns = ppl_integer_need(L, at, "cont_ns") };
        lua_pop(L, 1);
    }

    pp_window_verdict verdict = pp_window_validity(frames, count, interval_ns, duration_ns);

    lua_createtable(L, 0, 4);
    set_boolean(L, "valid", verdict.reasons == 0);
    set_flags(L, "reasons", verdict.reasons);
    set_flags(L, "warnings", verdict.warnings);
    if (verdict.has_elapsed)
        set_integer(L, "elapsed_ns", verdict.elapsed_ns);
    return 1;
}

/* policy_aggregate */

/* An array of the ids of the members that are escaped, or of the owned ones without a reading. */
static void set_ids(lua_State *L, const char *field, int members, const pp_policy_member *member,
                    size_t count, bool escaped) {
    lua_newtable(L);
    lua_Integer n = 0;
    for (size_t i = 0; i < count; i++) {
        if (member[i].escaped != escaped || (!escaped && member[i].bytes.known))
            continue;
        lua_rawgeti(L, members, (lua_Integer)i + 1);
        lua_getfield(L, -1, "id");
        lua_remove(L, -2);
        lua_rawseti(L, -2, ++n);
    }
    lua_setfield(L, -2, field);
}

static int l_window_policy_aggregate(lua_State *L) {
    static const char *const fields[] = { "members",     "begin_ns",   "end_ns", "used_ns",
                                          "max_pass_ns", "max_age_ns", NULL };
    enum { MEMBERS = 2 };
    ppl_check_fields(L, 1, fields);
    lua_settop(L, 1);
    pp_policy_pass pass = { .begin_ns = ppl_integer_need(L, 1, "begin_ns"),
                            .end_ns = ppl_integer_need(L, 1, "end_ns"),
                            .used_ns = ppl_integer_need(L, 1, "used_ns"),
                            .max_pass_ns = ppl_integer_need(L, 1, "max_pass_ns"),
                            .max_age_ns = ppl_integer_need(L, 1, "max_age_ns") };
    size_t count = ppl_array_push(L, 1, "members");
    pp_policy_member *members = scratch(L, count, sizeof *members);
    lua_pushvalue(L, MEMBERS);
    for (size_t i = 0; i < count; i++) {
        ppl_row_push(L, i + 1);
        members[i].bytes = ppl_decimal_field(L, lua_gettop(L), "bytes");
        members[i].escaped = ppl_opt_boolean(L, lua_gettop(L), "escaped", false);
        lua_pop(L, 1);
    }

    pp_policy_sum sum = pp_policy_aggregate(members, count, &pass);

    lua_createtable(L, 0, 6);
    set_boolean(L, "usable", sum.reasons == 0);
    set_flags(L, "reasons", sum.reasons);
    pp_reading known = sum.has_known ? pp_known(sum.known_bytes) : pp_missing(PP_E_OVERFLOW);
    ppl_decimal_set(L, "known", known);
    if (sum.reasons == 0)
        ppl_decimal_set(L, "total", known);
    set_ids(L, "missing", MEMBERS, members, count, false);
    set_ids(L, "escaped", MEMBERS, members, count, true);
    return 1;
}

/* time_until, censored_summary */

static void set_bound(lua_State *L, const char *field, double value) {
    if (isfinite(value))
        ppl_number_set(L, field, value);
}

static int l_window_time_until(lua_State *L) {
    static const char *const fields[] = { "samples", NULL };
    ppl_check_fields(L, 1, fields);
    size_t count = ppl_array_push(L, 1, "samples");
    pp_until_sample *samples = scratch(L, count, sizeof *samples);
    lua_insert(L, -2);
    for (size_t i = 0; i < count; i++) {
        ppl_row_push(L, i + 1);
        samples[i].t_ms = ppl_opt_number(L, lua_gettop(L), "t_ms", 0);
        samples[i].holds = ppl_opt_boolean(L, lua_gettop(L), "holds", false);
        lua_pop(L, 1);
    }

    pp_until until = pp_time_until(samples, count);

    lua_createtable(L, 0, 3);
    lua_pushstring(L, pp_until_outcome_name(until.outcome));
    lua_setfield(L, -2, "outcome");
    if (until.outcome != PP_UNTIL_UNOBSERVED)
        set_bound(L, "low_ms", until.low_ms);
    set_bound(L, "high_ms", until.high_ms);
    return 1;
}

static pp_until_outcome outcome_of(lua_State *L, int row) {
    const char *name = ppl_need_string(L, row, "outcome");
    pp_until_outcome outcome = PP_UNTIL_UNOBSERVED;
    while (strcmp(name, pp_until_outcome_name(outcome)) != 0) {
        if (outcome++ == PP_UNTIL_RIGHT_CENSORED)
            luaL_error(L, "field 'outcome': unknown '%s'", name);
    }
    return outcome;
}

static int l_window_censored_summary(lua_State *L) {
    static const char *const fields[] = { "results", NULL };
    ppl_check_fields(L, 1, fields);
    size_t count = ppl_array_push(L, 1, "results");
    pp_until *results = scratch(L, count, sizeof *results);
    lua_insert(L, -2);
    for (size_t i = 0; i < count; i++) {
        ppl_row_push(L, i + 1);
        int at = lua_gettop(L);
        results[i].outcome = outcome_of(L, at);
        if (results[i].outcome != PP_UNTIL_UNOBSERVED)
            results[i].low_ms = ppl_opt_number(L, at, "low_ms", 0);
        if (results[i].outcome == PP_UNTIL_OBSERVED)
            results[i].high_ms = ppl_opt_number(L, at, "high_ms", 0);
        lua_pop(L, 1);
    }

    pp_censored_summary summary;
    pp_error err;
    if (pp_censored_summarize(results, count, &summary, &err) != PP_OK)
        return ppl_push_failure(L, &err);

    lua_createtable(L, 0, 6);
    set_integer(L, "n", (int64_t)summary.count);
    set_integer(L, "right_censored", (int64_t)summary.right_censored);
    if (summary.count > 0) {
        set_bound(L, "median_low_ms", summary.median_low_ms);
        set_bound(L, "median_high_ms", summary.median_high_ms);
        set_bound(L, "max_low_ms", summary.max_low_ms);
        set_bound(L, "max_high_ms", summary.max_high_ms);
    }
    return 1;
}

int ppl_open_window(lua_State *L) {
    static const luaL_Reg functions[] = {
        { "window_usage", l_window_window_usage },
        { "memory", l_window_memory },
        { "window_validity", l_window_window_validity },
        { "policy_aggregate", l_window_policy_aggregate },
        { "time_until", l_window_time_until },
        { "censored_summary", l_window_censored_summary },
        { NULL, NULL },
    };
    static const luaL_Reg no_methods[] = { { NULL, NULL } };
    ppl_handle_type(L, USAGE_TYPE, no_methods, l_usage_close);
    ppl_handle_type(L, MEMORY_TYPE, no_methods, l_memory_close);
    luaL_newlib(L, functions);
    return 1;
}
