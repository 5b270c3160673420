/* SPDX-License-Identifier: Apache-2.0 */
/* core.samples: samples.jsonl as tables of its frames, whose process rows stay packed in C. A line
 * that is not plain canonical JSON is read and written again by jansson first, so what is JSON and
 * what is not is decided there alone. Everything allocated hangs on the handle. */
#include "samples.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "decimal.h"
#include "pairperf/fs.h"
#include "ppl.h"
#include "resize.h"

enum { READ_SIZE = 1 << 18 };
enum { SELF = 1, ARGUMENT = 2, FRAMES = ARGUMENT + PPL_SAMPLES_VALUES + 1 };

static void drop_value(ppl_samples *samples) {
    json_decref(samples->value);
    samples->value = NULL;
    free(samples->rewritten);
    samples->rewritten = NULL;
}

static void drop_file(ppl_samples *samples) {
    drop_value(samples);
    if (samples->file)
        (void)fclose(samples->file);
    samples->file = NULL;
    free(samples->buffer);
    samples->buffer = NULL;
    free(samples->line);
    samples->line = NULL;
}

static void free_list(ppl_shared_list *list) {
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].text);
    free(list->items);
    *list = (ppl_shared_list){ 0 };
}

static int l_samples_close(lua_State *L) {
    ppl_samples *samples = luaL_checkudata(L, SELF, PPL_SAMPLES_TYPE);
    drop_file(samples);
    free(samples->rows);
    free(samples->traces);
    free_list(&samples->exes);
    free_list(&samples->missing);
    *samples = (ppl_samples){ 0 };
    return 0;
}

static ppl_samples *check_samples(lua_State *L) {
    return luaL_checkudata(L, SELF, PPL_SAMPLES_TYPE);
}

static int l_samples_open(lua_State *L) {
    ppl_samples *samples = lua_newuserdatauv(L, sizeof *samples, PPL_SAMPLES_VALUES);
    *samples = (ppl_samples){ 0 };
    luaL_setmetatable(L, PPL_SAMPLES_TYPE);
    for (int value = 1; value <= PPL_SAMPLES_VALUES; value++) {
        lua_newtable(L);
        lua_setiuservalue(L, -2, value);
    }
    return 1;
}

/* ---- reading ---- */

static void set_integer(lua_State *L, const char *field, lua_Integer value) {
    lua_pushinteger(L, value);
    lua_setfield(L, -2, field);
}

static bool read_member(ppl_reader *reader, const json_slice *key) {
    lua_State *L = reader->L;
    size_t before = reader->samples->count;
    if (key->size != 5 || memcmp(key->text, "procs", 5) != 0) {
        lua_pushlstring(L, key->text, key->size);
        if (key->escaped || !ppl_push_scanned(L, &reader->scan))
            return false;
        lua_rawset(L, -3);
        return true;
    }
    if (!ppl_samples_rows(reader))
        return false;
    set_integer(L, "first_row", (lua_Integer)before + 1);
    set_integer(L, "last_row", (lua_Integer)reader->samples->count);
    return true;
}

/* Pushes the table of a frame. */
static bool read_frame(ppl_reader *reader) {
    json_slice key = { 0 };
    lua_createtable(reader->L, 0, 32);
    if (!json_scan_char(&reader->scan, '{'))
        return false;
    do {
        if (!json_scan_key(&reader->scan, &key) || !read_member(reader, &key))
            return false;
    } while (json_scan_char(&reader->scan, ','));
    return json_scan_char(&reader->scan, '}') && reader->scan.at == reader->scan.end;
}

static bool try_frame(ppl_reader *reader, const char *text, size_t size, bool checked) {
    ppl_samples *samples = reader->samples;
    size_t before = samples->count;
    int top = lua_gettop(reader->L);
    reader->scan = (json_scan){ .at = text, .end = text + size, .checked = checked };
    if (read_frame(reader)) {
        samples->last_count = samples->count - before;
        return true;
    }
    samples->count = before;
    lua_settop(reader->L, top);
    return false;
}

/* Pushes what a line holds that is JSON but no frame of this form, marked. False: no table. */
static bool push_stranger(ppl_reader *reader, const char *text, size_t size) {
    int top = lua_gettop(reader->L);
    json_scan scan = { .at = text, .end = text + size, .checked = true };
    if (ppl_push_scanned(reader->L, &scan) && lua_istable(reader->L, -1)) {
        lua_pushboolean(reader->L, true);
        lua_setfield(reader->L, -2, "stranger");
        return true;
    }
    lua_settop(reader->L, top);
    return false;
}

/* Pushes the table of a line. False: it does not parse. */
static bool read_line(ppl_reader *reader, const char *text, size_t size) {
    if (try_frame(reader, text, size, false))
        return true;
    ppl_samples *samples = reader->samples;
    json_error_t problem;
    samples->value =
        json_loadb(text, size, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &problem);
    if (!samples->value)
        return false;
    samples->rewritten =
        json_dumps(samples->value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
    if (!samples->rewritten)
        ppl_no_memory(reader->L);
    size = strlen(samples->rewritten);
    bool found = try_frame(reader, samples->rewritten, size, true) ||
                 push_stranger(reader, samples->rewritten, size);
    drop_value(samples);
    return found;
}

/* Appends to the table at FRAMES, and sets its marks. Answers errno of a read that failed. */
static int read_lines(ppl_reader *reader) {
    lua_State *L = reader->L;
    ppl_samples *samples = reader->samples;
    lua_Integer count = 0, malformed = 0;
    size_t capacity = 0;
    ssize_t size;
    bool torn = false;
    while ((size = getline(&samples->line, &capacity, samples->file)) > 0) {
        torn = samples->line[size - 1] != '\n';
        if (torn)
            break;
        if (read_line(reader, samples->line, (size_t)size - 1))
            lua_rawseti(L, FRAMES, ++count);
        else
            malformed++;
    }
    if (ferror(samples->file))
        return errno;
    set_integer(L, "malformed", malformed);
    lua_pushboolean(L, torn);
    lua_setfield(L, -2, "torn");
    return 0;
}

static pp_status open_file(ppl_samples *samples, const char *path, pp_error *reterr) {
    pp_fs_info info;
    pp_status status = pp_fs_stat(path, true, &info, reterr);
    if (status != PP_OK)
        return status;
    if (strcmp(info.type, "file") != 0)
        return pp_fail(reterr, PP_E_INVALID, 0, "read", "%s: not a regular file", path);
    samples->file = fopen(path, "re");
    if (!samples->file)
        return pp_fail(reterr, PP_E_SYS, errno, "open", "%s", path);
    samples->buffer = malloc(READ_SIZE);
    if (samples->buffer)
        (void)setvbuf(samples->file, samples->buffer, _IOFBF, READ_SIZE);
    return PP_OK;
}

static int l_samples_read(lua_State *L) {
    ppl_samples *samples = check_samples(L);
    const char *path = ppl_check_text(L, ARGUMENT);
    lua_settop(L, ARGUMENT);
    for (int value = 1; value <= PPL_SAMPLES_VALUES; value++)
        lua_getiuservalue(L, SELF, value);
    lua_newtable(L);
    drop_file(samples);

    pp_error err;
    if (open_file(samples, path, &err) != PP_OK)
        return ppl_push_failure(L, &err);

    ppl_reader reader = { .L = L, .samples = samples, .base = ARGUMENT };
    int failed = read_lines(&reader);
    drop_file(samples);
    if (failed) {
        (void)pp_fail(&err, PP_E_SYS, failed, "read", "%s", path);
        return ppl_push_failure(L, &err);
    }
    return 1;
}

/* ---- asking ---- */

static const ppl_sample *check_row(lua_State *L, const ppl_samples *samples) {
    lua_Integer i = luaL_checkinteger(L, ARGUMENT);
    luaL_argcheck(L, i >= 1 && (lua_Unsigned)i <= samples->count, ARGUMENT, "no such row");
    return &samples->rows[i - 1];
}

static const ppl_sample *check_range(lua_State *L, const ppl_samples *samples, size_t *ret_count) {
    luaL_checktype(L, ARGUMENT, LUA_TTABLE);
    return ppl_samples_range(L, ARGUMENT, samples, ret_count);
}

static int l_samples_exes(lua_State *L) {
    (void)check_samples(L);
    lua_getiuservalue(L, SELF, PPL_EXES);
    return 1;
}

static int l_samples_identity(lua_State *L) {
    ppl_samples *samples = check_samples(L);
    luaL_checktype(L, ARGUMENT, LUA_TTABLE);
    lua_settop(L, ARGUMENT);
    pp_proc_id id = { .pid = (int32_t)ppl_integer_need(L, ARGUMENT, "pid"),
                      .start = ppl_decimal_field(L, ARGUMENT, "start").value,
                      .unique = ppl_decimal_field(L, ARGUMENT, "unique").value };
    lua_getiuservalue(L, SELF, PPL_IDENTITIES);
    lua_pushinteger(L, ppl_samples_identity(L, samples, ARGUMENT + 1, id));
    return 1;
}

static void push_value(lua_State *L, pp_reading reading) {
    if (reading.known)
        ppl_push_u64(L, reading.value);
    else
        lua_pushnil(L);
}

static void push_start_ns(lua_State *L, const ppl_sample *row) {
    if (row->start_ns == INT64_MIN)
        lua_pushnil(L);
    else
        lua_pushinteger(L, row->start_ns);
}

static int l_samples_about(lua_State *L) {
    const ppl_samples *samples = check_samples(L);
    const ppl_sample *row = check_row(L, samples);
    lua_settop(L, ARGUMENT);
    lua_getiuservalue(L, SELF, PPL_EXES);
    lua_getiuservalue(L, SELF, PPL_MISSING);
    ppl_push_proc_id(L, row->id);
    set_integer(L, "identity", row->identity);
    push_start_ns(L, row);
    lua_setfield(L, -2, "start_ns");
    lua_rawgeti(L, ARGUMENT + 1, row->exe);
    lua_setfield(L, -2, "exe");
    lua_pushboolean(L, row->escaped);
    lua_setfield(L, -2, "escaped");
    lua_rawgeti(L, ARGUMENT + 2, row->missing);
    lua_setfield(L, -2, "missing");
    return 1;
}

static int l_samples_resident(lua_State *L) {
    const ppl_samples *samples = check_samples(L);
    size_t count;
    const ppl_sample *rows = check_range(L, samples, &count);
    uint64_t sum = 0;
    bool any = false, complete = true;
    for (size_t i = 0; i < count; i++) {
        if (!ppl_samples_holds(samples, &rows[i], PPL_RSS_BYTES))
            continue;
        pp_reading bytes = ppl_samples_reading(samples, &rows[i], PPL_RSS_BYTES);
        any |= bytes.known;
        complete &= bytes.known;
        sum += bytes.known ? bytes.value : 0;
    }
    push_value(L, any ? pp_known(sum) : pp_missing(PP_OK));
    lua_pushboolean(L, complete);
    return 2;
}

/* Is a field in none of the rows, for no other reason than that the system does not have it? */
static int l_samples_nowhere(lua_State *L) {
    const ppl_samples *samples = check_samples(L);
    size_t count;
    const ppl_sample *rows = check_range(L, samples, &count);
    ppl_column column = ppl_samples_column(luaL_checkstring(L, 3));
    luaL_argcheck(L, column != PPL_COLUMNS, 3, "no such column");
    bool unsupported = false;
    for (size_t i = 0; i < count; i++) {
        pp_reading reading = ppl_samples_reading(samples, &rows[i], column);
        uint32_t missing = rows[i].missing;
        bool named = missing && samples->missing.items[missing - 1].named & (1u << column);
        if (reading.known || (named && reading.why != PP_E_UNSUPPORTED)) {
            lua_pushboolean(L, false);
            return 1;
        }
        unsupported |= named;
    }
    lua_pushboolean(L, true);
    lua_pushboolean(L, unsupported);
    return 2;
}

static int l_samples_threads_ended(lua_State *L) {
    const ppl_samples *samples = check_samples(L);
    size_t count;
    const ppl_sample *rows = check_range(L, samples, &count);
    bool ended = false;
    for (size_t i = 0; i < count; i++)
        ended |= rows[i].threads_ended;
    lua_pushboolean(L, ended);
    return 1;
}

static int l_samples_identities(lua_State *L) {
    const ppl_samples *samples = check_samples(L);
    size_t count;
    const ppl_sample *rows = check_range(L, samples, &count);
    luaL_checktype(L, 3, LUA_TTABLE);
    lua_settop(L, 3);
    for (size_t i = 0; i < count; i++) {
        lua_pushboolean(L, true);
        lua_rawseti(L, 3, rows[i].identity);
    }
    return 0;
}

static int l_samples_pids(lua_State *L) {
    const ppl_samples *samples = check_samples(L);
    size_t count;
    const ppl_sample *rows = check_range(L, samples, &count);
    luaL_checktype(L, 3, LUA_TTABLE);
    lua_settop(L, 3);
    for (size_t i = 0; i < count; i++) {
        lua_pushinteger(L, &rows[i] - samples->rows + 1);
        lua_rawseti(L, 3, rows[i].id.pid);
    }
    return 0;
}

static int l_samples_denied(lua_State *L) {
    const ppl_samples *samples = check_samples(L);
    size_t count;
    const ppl_sample *rows = check_range(L, samples, &count);
    lua_newtable(L);
    lua_Integer n = 0;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].missing && samples->missing.items[rows[i].missing - 1].denied) {
            lua_pushinteger(L, &rows[i] - samples->rows + 1);
            lua_rawseti(L, -2, ++n);
        }
    }
    return 1;
}

/* ---- pass after pass ---- */

static const char *const traced[] = { "voluntary_switches", "involuntary_switches",
                                      "wakeups_pkg_idle", "wakeups_interrupt" };
enum { TRACED = sizeof traced / sizeof *traced, SWITCHES = 2 };

static ppl_trace *trace_of(lua_State *L, ppl_samples *samples, uint32_t identity) {
    if (identity > samples->trace_capacity) {
        size_t wanted = (size_t)identity * 2 + 64;
        ppl_trace *bigger = pp_resize(samples->traces, wanted, sizeof *bigger);
        if (bigger) {
            memset(bigger + samples->trace_capacity, 0,
                   (wanted - samples->trace_capacity) * sizeof *bigger);
            samples->traces = bigger;
            samples->trace_capacity = wanted;
        } else {
            ppl_no_memory(L);
        }
    }
    return &samples->traces[identity - 1];
}

/* Adds what a counter gained since it was seen last; all of it when it is new, nothing when it
 * fell. */
static void gain(ppl_trace *trace, size_t counter, pp_reading now, pp_reading gained[2]) {
    pp_reading *sum = &gained[counter / SWITCHES];
    if (!now.known)
        return;
    uint64_t before = trace->known[counter] ? trace->last[counter] : 0;
    *sum = pp_known(sum->value + (now.value > before ? now.value - before : 0));
    trace->last[counter] = now.value;
    trace->known[counter] = true;
}

static void push_gained(lua_State *L, const pp_reading gained[2]) {
    push_value(L, gained[0]);
    push_value(L, gained[1]);
}

static int l_samples_pass(lua_State *L) {
    ppl_samples *samples = check_samples(L);
    size_t count;
    const ppl_sample *row = check_range(L, samples, &count);
    pp_reading gained[2] = { 0 };
    lua_Integer news = 0;
    lua_settop(L, ARGUMENT);
    lua_newtable(L);
    samples->passes++;
    for (; count > 0; count--, row++) {
        ppl_trace *trace = trace_of(L, samples, row->identity);
        for (size_t i = 0; i < TRACED; i++)
            gain(trace, i, ppl_samples_reading(samples, row, ppl_samples_column(traced[i])),
                 gained);
        bool is_new = !trace->seen || trace->exe != row->exe || (row->escaped && !trace->escaped);
        trace->seen = true;
        trace->exe = row->exe;
        trace->escaped |= row->escaped;
        trace->pass = samples->passes;
        if (is_new) {
            lua_pushinteger(L, row - samples->rows + 1);
            lua_rawseti(L, -2, ++news);
        }
    }
    push_gained(L, gained);
    return 3;
}

static int l_samples_ended(lua_State *L) {
    ppl_samples *samples = check_samples(L);
    (void)l_samples_identity(L);
    uint32_t identity = (uint32_t)lua_tointeger(L, -1);
    pp_reading gained[2] = { 0 };
    ppl_trace *trace = trace_of(L, samples, identity);
    for (size_t i = 0; i < TRACED; i++)
        gain(trace, i, ppl_decimal_field(L, ARGUMENT, traced[i]), gained);
    memset(trace->known, 0, sizeof trace->known);
    push_gained(L, gained);
    return 3;
}

static int l_samples_last_pass(lua_State *L) {
    ppl_samples *samples = check_samples(L);
    lua_Integer identity = luaL_checkinteger(L, ARGUMENT);
    luaL_argcheck(L, identity >= 1 && identity <= samples->identities, ARGUMENT,
                  "no such identity");
    lua_pushinteger(L, trace_of(L, samples, (uint32_t)identity)->pass);
    return 1;
}

int ppl_open_samples(lua_State *L) {
    static const luaL_Reg functions[] = { { "open", l_samples_open }, { NULL, NULL } };
    static const luaL_Reg methods[] = {
        { "read", l_samples_read },
        { "close", l_samples_close },
        { "exes", l_samples_exes },
        { "identity", l_samples_identity },
        { "about", l_samples_about },
        { "resident", l_samples_resident },
        { "nowhere", l_samples_nowhere },
        { "threads_ended", l_samples_threads_ended },
        { "identities", l_samples_identities },
        { "pids", l_samples_pids },
        { "denied", l_samples_denied },
        { "pass", l_samples_pass },
        { "ended", l_samples_ended },
        { "last_pass", l_samples_last_pass },
        { NULL, NULL },
    };
    ppl_handle_type(L, PPL_SAMPLES_TYPE, methods, l_samples_close);
    (void)ppl_open_json(L);
    lua_getfield(L, -1, "decode");
    lua_setfield(L, LUA_REGISTRYINDEX, PPL_SAMPLES_DECODE);
    lua_pop(L, 1);
    luaL_newlib(L, functions);
    return 1;
}
