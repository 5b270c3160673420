/* SPDX-License-Identifier: Apache-2.0 */
/* Each function takes one table and returns one, with the fields of tests/vectors. */
#include "decimal.h"
#include "pairperf/counters.h"
#include "ppl.h"

static int l_counters_counter_delta(lua_State *L) {
    static const char *const names[] = { "prev", "next", NULL };
    ppl_check_fields(L, 1, names);
    uint64_t prev = ppl_decimal_need(L, 1, "prev");
    uint64_t next = ppl_decimal_need(L, 1, "next");

    pp_reading delta = pp_counter_delta(prev, next);

    lua_createtable(L, 0, 3);
    ppl_decimal_set(L, "delta", delta);
    if (delta.known)
        ppl_number_set(L, "as_double", (double)delta.value);
    lua_pushboolean(L, !delta.known);
    lua_setfield(L, -2, "regressed");
    return 1;
}

static uint32_t need_u32(lua_State *L, const char *field) {
    uint64_t value = ppl_decimal_need(L, 1, field);
    luaL_argcheck(L, value > 0 && value <= UINT32_MAX, 1, "timebase out of range");
    return (uint32_t)value;
}

static int l_counters_ticks_to_ns(lua_State *L) {
    static const char *const names[] = { "ticks", "numer", "denom", NULL };
    ppl_check_fields(L, 1, names);
    uint64_t ticks = ppl_decimal_need(L, 1, "ticks");
    uint32_t numer = need_u32(L, "numer"), denom = need_u32(L, "denom");

    pp_reading ns = pp_ticks_to_ns(ticks, numer, denom);

    lua_createtable(L, 0, 2);
    ppl_decimal_set(L, "ns", ns);
    lua_pushboolean(L, !ns.known);
    lua_setfield(L, -2, "overflow");
    return 1;
}

static int l_counters_rate(lua_State *L) {
    static const char *const names[] = { "delta", "elapsed_ns", NULL };
    ppl_check_fields(L, 1, names);
    uint64_t delta = ppl_decimal_need(L, 1, "delta");
    int64_t elapsed_ns = ppl_integer_need(L, 1, "elapsed_ns");

    double per_second, percent;
    bool known = pp_rate_per_second(delta, elapsed_ns, &per_second) &&
                 pp_cpu_percent(delta, elapsed_ns, &percent);

    lua_createtable(L, 0, 2);
    if (known) {
        ppl_number_set(L, "per_second", per_second);
        ppl_number_set(L, "cpu_percent_of_core", percent);
    }
    return 1;
}

int ppl_open_counters(lua_State *L) {
    static const luaL_Reg functions[] = {
        { "counter_delta", l_counters_counter_delta },
        { "ticks_to_ns", l_counters_ticks_to_ns },
        { "rate", l_counters_rate },
        { NULL, NULL },
    };
    luaL_newlib(L, functions);
    return 1;
}
