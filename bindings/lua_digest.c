/* SPDX-License-Identifier: Apache-2.0 */
#include "ppl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pairperf/digest.h"

static int l_digest_file(lua_State *L) {
    const char *path = ppl_check_text(L, 1);

    pp_digest *digest;
    char hex[PP_DIGEST_HEX];
    pp_error err;
    pp_status status = pp_digest_new(&digest, &err);
    if (status == PP_OK) {
        status = pp_digest_file(digest, path, hex, &err);
        pp_digest_free(digest);
    }
    if (status != PP_OK)
        return ppl_push_failure(L, &err);

    lua_pushstring(L, hex);
    return 1;
}

static int l_digest_bytes(lua_State *L) {
    size_t size;
    const char *bytes = luaL_checklstring(L, 1, &size);

    pp_digest *digest;
    char hex[PP_DIGEST_HEX];
    pp_error err;
    pp_status status = pp_digest_new(&digest, &err);
    if (status == PP_OK) {
        status = pp_digest_bytes(digest, bytes, size, hex, &err);
        pp_digest_free(digest);
    }
    if (status != PP_OK)
        return ppl_push_failure(L, &err);

    lua_pushstring(L, hex);
    return 1;
}

#define LINES_TYPE "pairperf.digest.lines"

typedef struct line_digests {
    pp_digest *digest, *whole; /* of one line, of all */
    FILE *file;
    char *buffer, *line;
} line_digests;

enum { READ_SIZE = 1 << 18 };

static int l_lines_close(lua_State *L) {
    line_digests *held = luaL_checkudata(L, 1, LINES_TYPE);
    pp_digest_free(held->digest);
    pp_digest_free(held->whole);
    if (held->file)
        (void)fclose(held->file);
    free(held->buffer);
    free(held->line);
    *held = (line_digests){ 0 };
    return 0;
}

static line_digests *new_lines(lua_State *L, pp_error *reterr) {
    lua_Integer digits = luaL_checkinteger(L, 2);
    luaL_argcheck(L, digits > 0 && digits < PP_DIGEST_HEX, 2, "1 to 64 digits");
    line_digests *held = ppl_new_handle(L, sizeof *held, LINES_TYPE);
    return pp_digest_new(&held->digest, reterr) == PP_OK ? held : NULL;
}

static pp_status add_line(lua_State *L, luaL_Buffer *parts, const line_digests *held,
                          const char *line, size_t size, pp_error *reterr) {
    char hex[PP_DIGEST_HEX];
    pp_status status = pp_digest_bytes(held->digest, line, size, hex, reterr);
    if (status == PP_OK)
        luaL_addlstring(parts, hex, (size_t)lua_tointeger(L, 2));
    return status;
}

static int l_digest_lines(lua_State *L) {
    size_t size;
    const char *at = luaL_checklstring(L, 1, &size), *end = at + size;
    pp_error err;
    line_digests *held = new_lines(L, &err);
    if (!held)
        return ppl_push_failure(L, &err);

    luaL_Buffer parts;
    luaL_buffinit(L, &parts);
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const char *next = stop ? stop + 1 : end;
        if (add_line(L, &parts, held, at, (size_t)(next - at), &err) != PP_OK)
            return ppl_push_failure(L, &err);
        at = next;
    }
    luaL_pushresult(&parts);
    return 1;
}

static pp_status open_lines(line_digests *held, const char *path, pp_error *reterr) {
    held->file = fopen(path, "re");
    if (!held->file)
        return pp_fail(reterr, PP_E_SYS, errno, "open", "%s", path);
    held->buffer = malloc(READ_SIZE);
    if (held->buffer)
        (void)setvbuf(held->file, held->buffer, _IOFBF, READ_SIZE);
    pp_status status = pp_digest_new(&held->whole, reterr);
    return status == PP_OK ? pp_digest_begin(held->whole, reterr) : status;
}

/* Lines, and what they are together, in one pass: they cannot be of different contents. */
static pp_status read_lines(lua_State *L, luaL_Buffer *parts, line_digests *held,
                            uint64_t *ret_size, pp_error *reterr) {
    size_t capacity = 0;
    ssize_t size;
    *ret_size = 0;
    while ((size = getline(&held->line, &capacity, held->file)) > 0) {
        pp_status status = add_line(L, parts, held, held->line, (size_t)size, reterr);
        if (status == PP_OK)
            status = pp_digest_add(held->whole, held->line, (size_t)size, reterr);
        if (status != PP_OK)
            return status;
        *ret_size += (uint64_t)size;
    }
    if (!feof(held->file))
        return pp_fail(reterr, PP_E_SYS, errno, "read", "%s", lua_tostring(L, 1));
    return PP_OK;
}

static int l_digest_file_lines(lua_State *L) {
    const char *path = ppl_check_text(L, 1);
    pp_error err;
    line_digests *held = new_lines(L, &err);
    if (!held || open_lines(held, path, &err) != PP_OK)
        return ppl_push_failure(L, &err);

    luaL_Buffer parts;
    uint64_t size;
    char hex[PP_DIGEST_HEX];
    luaL_buffinit(L, &parts);
    if (read_lines(L, &parts, held, &size, &err) != PP_OK ||
        pp_digest_end(held->whole, hex, &err) != PP_OK)
        return ppl_push_failure(L, &err);
    luaL_pushresult(&parts);
    lua_pushstring(L, hex);
    lua_pushinteger(L, (lua_Integer)size);
    return 3;
}

int ppl_open_digest(lua_State *L) {
    static const luaL_Reg functions[] = {
        { "bytes", l_digest_bytes },
        { "file", l_digest_file },
        { "lines", l_digest_lines },
        { "file_lines", l_digest_file_lines },
        { NULL, NULL },
    };
    static const luaL_Reg no_methods[] = { { NULL, NULL } };
    ppl_handle_type(L, LINES_TYPE, no_methods, l_lines_close);
    luaL_newlib(L, functions);
    return 1;
}
