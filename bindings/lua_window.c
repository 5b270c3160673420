/* SPDX-License-Identifier: Apache-2.0 */
/* Each function takes one table and returns one, with the fields of tests/vectors. Rows are copied
 * into a userdata before the core sees them, so nothing is held when Lua raises. */
#include "decimal.h"
#include "pairperf/window.h"
#include "ppl.h"
#include "window_rows.h"

#include <math.h>
#include <string.h>

#define MEMORY_TYPE "pairperf.window.memory"

static int l_memory_close(lua_State *L) {
    pp_window_memory_done(luaL_checkudata(L, 1, MEMORY_TYPE));
    return 0;
}

static void set_boolean(lua_State *L, const char *field, bool value) {
    lua_pushboolean(L, value);
    lua_setfield(L, -2, field);
}

static void set_integer(lua_State *L, const char *field, int64_t value) {
    lua_pushinteger(L, value);
    lua_setfield(L, -2, field);
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
    ppl_flags_set(L, "flags", memory->flags);
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

enum { MEMORY_NAMES = 2 };

/* The rows of frame `i`, whose table is on top; returns the place after them. */
static pp_memory_row *fill_memory(lua_State *L, size_t i, pp_memory_row *row, ppl_packed *packed,
                                  ppl_column column) {
    size_t count = 0;
    const ppl_sample *sample =
        packed->samples ? ppl_samples_range(L, lua_gettop(L), packed->samples, &count) : NULL;
    for (; count > 0; count--, sample++) {
        if (!ppl_samples_holds(packed->samples, sample, column))
            continue;
        row->frame = i;
        row->component = ppl_packed_component(L, packed, sample, MEMORY_NAMES);
        row->bytes = ppl_samples_reading(packed->samples, sample, column);
        row++;
    }
    size_t procs = (size_t)lua_rawlen(L, -1);
    for (size_t p = 1; p <= procs; p++, row++) {
        ppl_row_push(L, p);
        row->frame = i;
        row->component = ppl_component_index(L, MEMORY_NAMES);
        row->bytes = ppl_decimal_field(L, lua_gettop(L), "bytes");
        lua_pop(L, 1);
    }
    return row;
}

static int l_window_memory(lua_State *L) {
    static const char *const fields[] = { "frames", "rows", "names", "column", NULL };
    ppl_check_fields(L, 1, fields);
    ppl_column column = ppl_samples_column(ppl_opt_string(L, 1, "column", ""));
    lua_settop(L, 1);
    lua_newtable(L);
    ppl_packed packed = ppl_packed_open(L);
    luaL_argcheck(L, !packed.samples || column != PPL_COLUMNS, 1, "no such column");
    size_t frame_count = ppl_array_push(L, 1, "frames");
    size_t most = ppl_count_rows(L, frame_count, NULL) + ppl_packed_count(L, &packed, frame_count);
    pp_memory_row *rows = ppl_scratch(L, most, sizeof *rows), *row = rows;
    lua_insert(L, -2);
    for (size_t i = 0; i < frame_count; i++) {
        ppl_row_push(L, i + 1);
        row = fill_memory(L, i, row, &packed, column);
        lua_pop(L, 1);
    }
    pp_window_memory *memory = ppl_new_handle(L, sizeof *memory, MEMORY_TYPE);

    pp_error err;
    if (pp_window_memory_sum(rows, (size_t)(row - rows), frame_count,
                             (size_t)lua_rawlen(L, MEMORY_NAMES), memory, &err) != PP_OK)
        return ppl_push_failure(L, &err);

    push_memory(L, memory, MEMORY_NAMES);
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
    pp_frame_times *frames = ppl_scratch(L, count, sizeof *frames);
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
    ppl_flags_set(L, "reasons", verdict.reasons);
    ppl_flags_set(L, "warnings", verdict.warnings);
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
    pp_policy_member *members = ppl_scratch(L, count, sizeof *members);
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
    ppl_flags_set(L, "reasons", sum.reasons);
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
    pp_until_sample *samples = ppl_scratch(L, count, sizeof *samples);
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
    pp_until *results = ppl_scratch(L, count, sizeof *results);
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
        { "window_usage", ppl_window_usage },
        { "memory", l_window_memory },
        { "window_validity", l_window_window_validity },
        { "policy_aggregate", l_window_policy_aggregate },
        { "time_until", l_window_time_until },
        { "censored_summary", l_window_censored_summary },
        { NULL, NULL },
    };
    static const luaL_Reg no_methods[] = { { NULL, NULL } };
    ppl_window_usage_type(L);
    ppl_handle_type(L, MEMORY_TYPE, no_methods, l_memory_close);
    luaL_newlib(L, functions);
    return 1;
}
