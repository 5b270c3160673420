/* SPDX-License-Identifier: Apache-2.0 */
#include "json_scan.h"

#include <stdlib.h>
#include <string.h>

static bool is_escaped(const char *quote) {
    size_t slashes = 0;

    while (quote[-1 - (ptrdiff_t)slashes] == '\\')
        slashes++;
    return slashes % 2 != 0;
}

static const char *skip_string(const char *at, const char *end) {
    const char *quote = at;

    do {
        quote = memchr(quote + 1, '"', (size_t)(end - quote - 1));
    } while (quote && is_escaped(quote));
    return quote ? quote + 1 : NULL;
}

/* Characters that mean something outside of strings. */
static const bool means[256] = {
    ['"'] = true, ['{'] = true, ['['] = true, ['}'] = true, [']'] = true, [','] = true
};

static const char *skip_value(const char *at, const char *end) {
    int depth = 0;

    while (at < end) {
        while (at < end && !means[(unsigned char)*at])
            at++;
        if (at == end)
            break;
        if (*at == '"') {
            at = skip_string(at, end);
            if (!at)
                return NULL;
            if (depth == 0)
                return at;
            continue;
        }
        if (*at == '{' || *at == '[') {
            depth++;
        } else if (*at == '}' || *at == ']') {
            if (depth == 0)
                return at;
            if (--depth == 0)
                return at + 1;
        } else if (*at == ',' && depth == 0) {
            return at;
        }
        at++;
    }
    return depth == 0 ? at : NULL;
}

bool json_next(json_slice container, const char **at, json_slice *ret_key, json_slice *ret_value,
               bool *broken) {
    const char *end = container.at + container.size;
    bool is_object = container.size > 0 && *container.at == '{';

    *broken = true;
    if (container.size < 2 || (*container.at != '{' && *container.at != '['))
        return false;
    const char *next = *at ? *at : container.at + 1;
    if (next == end - 1) {
        *broken = false;
        return false;
    }
    if (*at && *next++ != ',')
        return false;
    *ret_key = (json_slice){ 0 };
    if (is_object) {
        const char *after = *next == '"' ? skip_string(next, end) : NULL;
        if (!after || *after != ':')
            return false;
        *ret_key = (json_slice){ next + 1, (size_t)(after - next) - 2 };
        next = after + 1;
    }
    const char *after = skip_value(next, end);
    if (!after || after == next)
        return false;
    *ret_value = (json_slice){ next, (size_t)(after - next) };
    *at = after;
    *broken = false;
    return true;
}

json_slice json_member(json_slice object, const char *key) {
    const char *at = NULL;
    json_slice name, value;
    bool broken;

    while (json_next(object, &at, &name, &value, &broken))
        if (name.at && name.size == strlen(key) && memcmp(name.at, key, name.size) == 0)
            return value;
    return (json_slice){ 0 };
}

bool json_is(json_slice value, const char *text) {
    return value.size == strlen(text) && memcmp(value.at, text, value.size) == 0;
}

uint64_t json_u64(json_slice value) {
    if (value.size > 0 && *value.at == '"')
        return strtoull(value.at + 1, NULL, 10);
    return value.size > 0 ? strtoull(value.at, NULL, 10) : 0;
}

json_slice json_string(json_slice value) {
    if (value.size < 2 || *value.at != '"')
        return (json_slice){ 0 };
    return (json_slice){ value.at + 1, value.size - 2 };
}
