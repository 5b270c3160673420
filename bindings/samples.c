/* SPDX-License-Identifier: Apache-2.0 */
/* A row is a few plain numbers. Its predecessor, the row at the same place of the frame before,
 * almost always has the same identity, executable and reasons: then nothing is looked up. */
#include "samples.h"

#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#include "decimal.h"
#include "ppl.h"
#include "resize.h"

typedef enum key_kind {
    KEY_COLUMN,
    KEY_ESCAPED,
    KEY_EXE,
    KEY_MISSING,
    KEY_PHASE,
    KEY_PID,
    KEY_SHARES_MEMORY,
    KEY_START,
    KEY_START_NS,
    KEY_THREADS_ENDED,
    KEY_UNIQUE
} key_kind;

typedef struct known_key {
    const char *name;
    key_kind kind;
    ppl_column column;
} known_key;

/* In the order in which they are written. */
static const known_key keys[] = {
    { "billed_energy", KEY_COLUMN, PPL_BILLED_ENERGY },
    { "cancelled_write_bytes", KEY_COLUMN, PPL_CANCELLED_WRITE_BYTES },
    { "cpu_ns", KEY_COLUMN, PPL_CPU_NS },
    { "escaped", KEY_ESCAPED, PPL_COLUMNS },
    { "exe", KEY_EXE, PPL_COLUMNS },
    { "footprint_bytes", KEY_COLUMN, PPL_FOOTPRINT_BYTES },
    { "footprint_pss_bytes", KEY_COLUMN, PPL_FOOTPRINT_PSS_BYTES },
    { "involuntary_switches", KEY_COLUMN, PPL_INVOLUNTARY_SWITCHES },
    { "missing", KEY_MISSING, PPL_COLUMNS },
    { "phase", KEY_PHASE, PPL_COLUMNS },
    { "pid", KEY_PID, PPL_COLUMNS },
    { "pss_bytes", KEY_COLUMN, PPL_PSS_BYTES },
    { "rss_bytes", KEY_COLUMN, PPL_RSS_BYTES },
    { "shares_memory", KEY_SHARES_MEMORY, PPL_COLUMNS },
    { "start", KEY_START, PPL_COLUMNS },
    { "start_ns", KEY_START_NS, PPL_COLUMNS },
    { "swap_bytes", KEY_COLUMN, PPL_SWAP_BYTES },
    { "switches_lower_bound", KEY_THREADS_ENDED, PPL_COLUMNS },
    { "unique", KEY_UNIQUE, PPL_COLUMNS },
    { "uss_bytes", KEY_COLUMN, PPL_USS_BYTES },
    { "voluntary_switches", KEY_COLUMN, PPL_VOLUNTARY_SWITCHES },
    { "wakeups_interrupt", KEY_COLUMN, PPL_WAKEUPS_INTERRUPT },
    { "wakeups_pkg_idle", KEY_COLUMN, PPL_WAKEUPS_PKG_IDLE },
    { "write_bytes", KEY_COLUMN, PPL_WRITE_BYTES },
};
enum { KEYS = sizeof keys / sizeof *keys };

ppl_column ppl_samples_column(const char *field) {
    for (size_t i = 0; i < KEYS; i++)
        if (strcmp(keys[i].name, field) == 0)
            return keys[i].column;
    return PPL_COLUMNS;
}

/* ---- any value ---- */

/* What is rare goes through json.decode. */
static void push_decoded(lua_State *L, const char *text, size_t size) {
    lua_getfield(L, LUA_REGISTRYINDEX, PPL_SAMPLES_DECODE);
    lua_pushlstring(L, text, size);
    lua_call(L, 1, 1);
}

static void push_string(lua_State *L, const json_slice *slice) {
    if (slice->escaped)
        push_decoded(L, slice->text - 1, slice->size + 2);
    else
        lua_pushlstring(L, slice->text, slice->size);
}

static bool push_number(lua_State *L, json_scan *scan) {
    const char *start = scan->at;
    int64_t value;
    bool real;
    if (!json_scan_number(scan, &value, &real))
        return false;
    if (real)
        push_decoded(L, start, (size_t)(scan->at - start));
    else
        lua_pushinteger(L, value);
    return true;
}

static bool push_members(lua_State *L, json_scan *scan) {
    json_slice key = { 0 };
    lua_createtable(L, 0, 8);
    if (json_scan_char(scan, '}'))
        return true;
    do {
        if (!json_scan_key(scan, &key))
            return false;
        push_string(L, &key);
        if (!ppl_push_scanned(L, scan))
            return false;
        lua_rawset(L, -3);
    } while (json_scan_char(scan, ','));
    return json_scan_char(scan, '}');
}

static bool push_elements(lua_State *L, json_scan *scan) {
    lua_newtable(L);
    luaL_setmetatable(L, "pairperf.json.array");
    if (json_scan_char(scan, ']'))
        return true;
    lua_Integer n = 0;
    do {
        if (!ppl_push_scanned(L, scan))
            return false;
        lua_rawseti(L, -2, ++n);
    } while (json_scan_char(scan, ','));
    return json_scan_char(scan, ']');
}

static bool push_nested(lua_State *L, json_scan *scan, bool members) {
    if (scan->depth >= 64)
        return false;
    luaL_checkstack(L, 8, "json");
    scan->at++;
    scan->depth++;
    bool fine = members ? push_members(L, scan) : push_elements(L, scan);
    scan->depth--;
    return fine;
}

bool ppl_push_scanned(lua_State *L, json_scan *scan) {
    json_slice slice;
    if (scan->at == scan->end)
        return false;
    switch (*scan->at) {
    case '"':
        if (!json_scan_string(scan, &slice))
            return false;
        push_string(L, &slice);
        return true;
    case '{':
    case '[':
        return push_nested(L, scan, *scan->at == '{');
    case 't':
    case 'f':
        lua_pushboolean(L, *scan->at == 't');
        return json_scan_word(scan, "true", 4) || json_scan_word(scan, "false", 5);
    case 'n':
        lua_pushlightuserdata(L, NULL);
        return json_scan_word(scan, "null", 4);
    default:
        return push_number(L, scan);
    }
}

/* ---- what repeats ---- */

static ppl_shared *new_shared(lua_State *L, ppl_shared_list *list, const char *text, size_t size) {
    if (list->count == list->capacity) {
        size_t wanted = list->capacity ? list->capacity * 2 : 16;
        void *bigger = pp_resize(list->items, wanted, sizeof *list->items);
        if (!bigger)
            ppl_no_memory(L);
        list->items = bigger;
        list->capacity = wanted;
    }
    ppl_shared *added = &list->items[list->count];
    *added = (ppl_shared){ .text = malloc(size + 1), .size = size };
    if (!added->text)
        ppl_no_memory(L);
    memcpy(added->text, text, size);
    list->count++;
    return added;
}

/* The statuses of the table of reasons on top. */
static void note_reasons(lua_State *L, ppl_shared *shared) {
    for (size_t i = 0; i < KEYS; i++) {
        if (keys[i].kind != KEY_COLUMN)
            continue;
        lua_pushstring(L, keys[i].name);
        if (lua_rawget(L, -2) == LUA_TSTRING) {
            pp_status why = pp_status_parse(lua_tostring(L, -1));
            shared->why[keys[i].column] = why == PP_STATUS_COUNT ? PP_OK : why;
            shared->named |= (uint16_t)(1u << keys[i].column);
        }
        lua_pop(L, 1);
    }
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
        shared->denied |= lua_type(L, -1) == LUA_TSTRING && !strcmp(lua_tostring(L, -1), "denied");
}

/* Number of the value at the cursor; `before` is that of the predecessor. 0: it is not plain. */
static uint32_t read_shared(ppl_reader *reader, ppl_shared_list *list, ppl_samples_value values,
                            ppl_samples_value numbers, uint32_t before) {
    lua_State *L = reader->L;
    json_scan *scan = &reader->scan;
    if (before) {
        const ppl_shared *last = &list->items[before - 1];
        if (json_scan_word(scan, last->text, last->size))
            return before;
    }
    const char *text = scan->at;
    if (!json_scan_skip(scan))
        return 0;
    size_t size = (size_t)(scan->at - text);
    int top = lua_gettop(L);
    lua_pushlstring(L, text, size);
    lua_pushvalue(L, -1);
    if (lua_rawget(L, reader->base + (int)numbers) == LUA_TNIL) {
        json_scan again = { .at = text, .end = scan->at, .checked = scan->checked };
        lua_pop(L, 1);
        (void)ppl_push_scanned(L, &again);
        ppl_shared *added = new_shared(L, list, text, size);
        if (values == PPL_MISSING && lua_istable(L, -1))
            note_reasons(L, added);
        lua_rawseti(L, reader->base + (int)values, (lua_Integer)list->count);
        lua_pushinteger(L, (lua_Integer)list->count);
        lua_pushvalue(L, -1);
        lua_insert(L, -3);
        lua_rawset(L, reader->base + (int)numbers);
    }
    uint32_t number = (uint32_t)lua_tointeger(L, -1);
    lua_settop(L, top);
    return number;
}

uint32_t ppl_samples_identity(lua_State *L, ppl_samples *samples, int table, pp_proc_id id) {
    char key[sizeof id.pid + sizeof id.start + sizeof id.unique];
    memcpy(key, &id.pid, sizeof id.pid);
    memcpy(key + sizeof id.pid, &id.start, sizeof id.start);
    memcpy(key + sizeof id.pid + sizeof id.start, &id.unique, sizeof id.unique);
    lua_pushlstring(L, key, sizeof key);
    lua_pushvalue(L, -1);
    if (lua_rawget(L, table) == LUA_TNIL) {
        lua_pop(L, 1);
        lua_pushinteger(L, ++samples->identities);
        lua_rawset(L, table);
        return (uint32_t)samples->identities;
    }
    uint32_t number = (uint32_t)lua_tointeger(L, -1);
    lua_pop(L, 2);
    return number;
}

/* ---- rows ---- */

static ppl_sample *new_row(lua_State *L, ppl_samples *samples) {
    if (samples->count == samples->capacity) {
        size_t wanted = samples->capacity ? samples->capacity * 2 : 1024;
        void *bigger = pp_resize(samples->rows, wanted, sizeof *samples->rows);
        if (!bigger)
            ppl_no_memory(L);
        samples->rows = bigger;
        samples->capacity = wanted;
    }
    ppl_sample *row = &samples->rows[samples->count++];
    *row = (ppl_sample){ .start_ns = INT64_MIN, .threads_ended = true };
    return row;
}

/* An unsigned number: digits, or a string of digits; null leaves *ret_known false. */
static bool read_unsigned(json_scan *scan, uint64_t *ret_value, bool *ret_known) {
    json_slice digits;
    int64_t value;
    bool real;
    if (scan->at < scan->end && *scan->at == '"') {
        *ret_known = true;
        return json_scan_string(scan, &digits) &&
               ppl_decimal_parse(digits.text, digits.size, ret_value);
    }
    if (json_scan_word(scan, "null", 4))
        return true;
    if (!json_scan_number(scan, &value, &real) || real || value < 0)
        return false;
    *ret_value = (uint64_t)value;
    *ret_known = true;
    return true;
}

/* null is false. */
static bool read_boolean(json_scan *scan, bool *ret_value) {
    *ret_value = json_scan_word(scan, "true", 4);
    return *ret_value || json_scan_word(scan, "false", 5) || json_scan_word(scan, "null", 4);
}

static bool read_column(json_scan *scan, ppl_sample *row, ppl_column column) {
    bool known = false;
    if (!read_unsigned(scan, &row->values[column], &known))
        return false;
    row->known |= (uint16_t)((unsigned)known << column);
    return true;
}

static bool read_pid(json_scan *scan, ppl_sample *row) {
    int64_t value;
    bool real;
    if (!json_scan_number(scan, &value, &real) || real || value < 1 || value > INT32_MAX)
        return false;
    row->id.pid = (int32_t)value;
    return true;
}

static bool read_start_ns(json_scan *scan, ppl_sample *row) {
    bool real;
    return json_scan_word(scan, "null", 4) ||
           (json_scan_number(scan, &row->start_ns, &real) && !real);
}

static bool read_phase(json_scan *scan, ppl_sample *row) {
    row->zombie = json_scan_word(scan, "\"zombie\"", 8);
    return row->zombie || json_scan_skip(scan);
}

/* switches_lower_bound: only `false` says that no thread ended. */
static bool read_threads_ended(json_scan *scan, ppl_sample *row) {
    row->threads_ended = !json_scan_word(scan, "false", 5);
    return !row->threads_ended || json_scan_skip(scan);
}

static bool read_known(ppl_reader *reader, const known_key *key, const ppl_sample *before) {
    ppl_samples *samples = reader->samples;
    ppl_sample *row = &samples->rows[samples->count - 1];
    json_scan *scan = &reader->scan;
    bool known;
    switch (key->kind) {
    case KEY_COLUMN:
        return read_column(scan, row, key->column);
    case KEY_ESCAPED:
        return read_boolean(scan, &row->escaped);
    case KEY_EXE:
        row->exe = read_shared(reader, &samples->exes, PPL_EXES, PPL_EXE_NUMBERS,
                               before ? before->exe : 0);
        return row->exe != 0;
    case KEY_MISSING:
        row->missing = read_shared(reader, &samples->missing, PPL_MISSING, PPL_MISSING_NUMBERS,
                                   before ? before->missing : 0);
        return row->missing != 0;
    case KEY_PHASE:
        return read_phase(scan, row);
    case KEY_PID:
        return read_pid(scan, row);
    case KEY_SHARES_MEMORY:
        return read_boolean(scan, &row->shares_memory);
    case KEY_START:
        return read_unsigned(scan, &row->id.start, &known);
    case KEY_START_NS:
        return read_start_ns(scan, row);
    case KEY_THREADS_ENDED:
        return read_threads_ended(scan, row);
    case KEY_UNIQUE:
        return read_unsigned(scan, &row->id.unique, &known);
    }
    return false;
}

/* Members come in rising order, and so do the known keys: one walk over both. */
static bool read_members(ppl_reader *reader, const ppl_sample *before) {
    json_scan *scan = &reader->scan;
    json_slice key = { 0 };
    size_t next = 0;
    do {
        int order = -1;
        if (!json_scan_key(scan, &key))
            return false;
        while (next < KEYS && (order = json_compare(keys[next].name, strlen(keys[next].name),
                                                    key.text, key.size)) < 0)
            next++;
        bool fine = next < KEYS && order == 0 ? read_known(reader, &keys[next], before)
                                              : json_scan_skip(scan);
        if (!fine)
            return false;
    } while (json_scan_char(scan, ','));
    return json_scan_char(scan, '}');
}

static bool read_row(ppl_reader *reader, size_t place) {
    ppl_samples *samples = reader->samples;
    if (!json_scan_char(&reader->scan, '{'))
        return false;
    (void)new_row(reader->L, samples);
    size_t at = samples->count - 1;
    bool has_before = samples->last_count > place && at >= samples->last_count;
    const ppl_sample *before = has_before ? &samples->rows[at - samples->last_count] : NULL;
    if (!read_members(reader, before))
        return false;
    ppl_sample *row = &samples->rows[at];
    if (row->id.start == 0 && row->start_ns != INT64_MIN)
        row->id.start = (uint64_t)row->start_ns;
    if (before && row->id.pid == before->id.pid && row->id.start == before->id.start &&
        row->id.unique == before->id.unique)
        row->identity = before->identity;
    else
        row->identity =
            ppl_samples_identity(reader->L, samples, reader->base + (int)PPL_IDENTITIES, row->id);
    return row->id.pid > 0;
}

bool ppl_samples_rows(ppl_reader *reader) {
    if (!json_scan_char(&reader->scan, '['))
        return false;
    if (json_scan_char(&reader->scan, ']'))
        return true;
    size_t place = 0;
    do {
        if (!read_row(reader, place++))
            return false;
    } while (json_scan_char(&reader->scan, ','));
    return json_scan_char(&reader->scan, ']');
}

/* ---- what others ask ---- */

pp_reading ppl_samples_reading(const ppl_samples *samples, const ppl_sample *row,
                               ppl_column column) {
    if (row->known & (1u << column))
        return pp_known(row->values[column]);
    return pp_missing(row->missing ? samples->missing.items[row->missing - 1].why[column] : PP_OK);
}

bool ppl_samples_holds(const ppl_samples *samples, const ppl_sample *row, ppl_column column) {
    pp_status why = row->missing ? samples->missing.items[row->missing - 1].why[column] : PP_OK;
    return !row->zombie && !row->shares_memory && why != PP_E_VANISHED && why != PP_E_STALE;
}

const ppl_sample *ppl_samples_range(lua_State *L, int index, const ppl_samples *samples,
                                    size_t *ret_count) {
    int64_t first = ppl_integer_need(L, index, "first_row");
    int64_t last = ppl_integer_need(L, index, "last_row");
    if (first < 1 || last < first - 1 || last > (int64_t)samples->count)
        luaL_error(L, "rows %d to %d: there are %d", (int)first, (int)last, (int)samples->count);
    *ret_count = (size_t)(last - first + 1);
    return samples->rows + first - 1;
}
