/* SPDX-License-Identifier: Apache-2.0 */
/* The text is a valid prefix of one JSON document until the first error, and then stays as it is:
 * every public call asks `ready` first. Each open object remembers its last key, as a name or in
 * `keys`, a stack of bytes, so that order is checked and not assumed. */
#include "pairperf/json_write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool refuse(pp_json *json, pp_status status, const char *why) {
    if (json->error.status == PP_OK)
        pp_fail(&json->error, status, 0, "json", "%s", why);
    return false;
}

static bool ready(const pp_json *json) {
    return json->error.status == PP_OK;
}

static bool grow(pp_json *json, pp_json_bytes *bytes, size_t size) {
    size_t capacity = bytes->capacity ? bytes->capacity : 256;
    while (capacity - bytes->size < size && capacity <= SIZE_MAX / 2)
        capacity *= 2;
    char *grown = capacity - bytes->size < size ? NULL : realloc(bytes->data, capacity);
    if (!grown)
        return refuse(json, PP_E_NOMEM, "no memory");
    bytes->data = grown;
    bytes->capacity = capacity;
    return true;
}

/* Room for so many bytes more, which the caller fills and counts; NULL: there is none. */
static inline char *room(pp_json *json, pp_json_bytes *bytes, size_t size) {
    if ((!bytes->data || size > bytes->capacity - bytes->size) && !grow(json, bytes, size))
        return NULL; /* nothing has a place, too */
    return bytes->data + bytes->size;
}

void pp_json_into(pp_json *json, char *memory, size_t size) {
    free(json->text.data);
    json->text = (pp_json_bytes){ .data = memory, .capacity = size };
}

static inline bool put(pp_json *json, const char *data, size_t size) {
    char *at = room(json, &json->text, size);
    if (!at)
        return false;
    memcpy(at, data, size);
    json->text.size += size;
    return true;
}

static bool put_text(pp_json *json, const char *text) {
    return put(json, text, strlen(text));
}

/* Is a value allowed here? Writes the comma between array elements. */
static bool begin_value(pp_json *json) {
    if (!ready(json))
        return false;
    pp_json_level *level = &json->levels[json->depth];
    if (level->kind == '{' && !level->has_key)
        return refuse(json, PP_E_INVALID, "a value without a key");
    if (level->kind == 0 && level->has_value)
        return refuse(json, PP_E_INVALID, "a second value");
    if (level->kind == '[' && level->has_value && !put(json, ",", 1))
        return false;
    level->has_value = true;
    level->has_key = false;
    return true;
}

static void begin_level(pp_json *json, char kind) {
    if (!begin_value(json))
        return;
    if (json->depth == PP_JSON_DEPTH) {
        refuse(json, PP_E_NOMEM, "nested too deep");
        return;
    }
    json->levels[++json->depth] = (pp_json_level){ .kind = kind, .key_at = json->keys.size };
    put(json, &kind, 1);
}

static void end_level(pp_json *json, char kind, char end) {
    if (!ready(json))
        return;
    pp_json_level *level = &json->levels[json->depth];
    if (level->kind != kind || level->has_key) {
        refuse(json, PP_E_INVALID, "an end that does not belong here");
        return;
    }
    json->keys.size = level->key_at;
    json->depth--;
    put(json, &end, 1);
}

void pp_json_begin_object(pp_json *json) {
    begin_level(json, '{');
}

void pp_json_end_object(pp_json *json) {
    end_level(json, '{', '}');
}

void pp_json_begin_array(pp_json *json) {
    begin_level(json, '[');
}

void pp_json_end_array(pp_json *json) {
    end_level(json, '[', ']');
}

static bool put_escaped(pp_json *json, unsigned char byte) {
    static const char short_forms[] = "\bb\ff\nn\rr\tt\"\"\\\\";
    for (size_t i = 0; i + 1 < sizeof short_forms; i += 2) {
        if ((unsigned char)short_forms[i] == byte) {
            char escape[2] = { '\\', short_forms[i + 1] };
            return put(json, escape, sizeof escape);
        }
    }
    char escape[8];
    snprintf(escape, sizeof escape, "\\u%04x", byte);
    return put(json, escape, 6);
}

/* Eight bytes of ASCII that need no escape, tested at once: a borrow into the high bit shows a byte
 * below 0x20, or one that is equal to what it was compared with. */
static bool eight_plain(const char *text) {
    const uint64_t ones = UINT64_C(0x0101010101010101), high = ones << 7;
    uint64_t word;
    memcpy(&word, text, sizeof word);
    uint64_t quote = word ^ ones * '"', backslash = word ^ ones * '\\';
    return ((word | (word - ones * 0x20) | (quote - ones) | (backslash - ones)) & high) == 0;
}

static bool is_plain(unsigned char byte) {
    return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

/* How many of the first bytes are ASCII that needs no escape. */
static size_t plain_size(const char *text, size_t size) {
    size_t at = 0;
    while (size - at >= sizeof(uint64_t) && eight_plain(text + at))
        at += sizeof(uint64_t);
    while (at < size && is_plain((unsigned char)text[at]))
        at++;
    return at;
}

/* The first `plain` bytes are. */
static void put_quoted(pp_json *json, const char *text, size_t size, size_t plain) {
    char *at = room(json, &json->text, size + 2);
    if (!at)
        return;
    *at++ = '"';
    memcpy(at, text, plain);
    json->text.size += 1 + plain;
    size_t from = plain; /* start of the bytes not written yet */
    for (size_t i = plain; i < size; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte >= 0x20 && byte != '"' && byte != '\\')
            continue;
        put(json, text + from, i - from);
        put_escaped(json, byte);
        from = i + 1;
    }
    put(json, text + from, size - from);
    put(json, "\"", 1);
}

static bool follows(const char *key, size_t size, const char *last, size_t last_size) {
    size_t common = size < last_size ? size : last_size;
    for (size_t i = 0; i < common; i++) /* most differ early */
        if (key[i] != last[i])
            return (unsigned char)key[i] > (unsigned char)last[i];
    return size > last_size;
}

/* Is a key allowed here, and this one? */
static inline bool may_begin(pp_json *json, const char *key, size_t size) {
    if (!ready(json))
        return false;
    const pp_json_level *level = &json->levels[json->depth];
    if (level->kind != '{' || level->has_key)
        return refuse(json, PP_E_INVALID, "a key that does not belong here");
    if (!level->has_value)
        return true;
    const char *last = level->name ? level->name : json->keys.data + level->key_at;
    if (follows(key, size, last, level->key_size))
        return true;
    pp_fail(&json->error, PP_E_INVALID, 0, "json", "key \"%.*s\" after \"%.*s\"", (int)size, key,
            (int)level->key_size, last);
    return false;
}

void pp_json_key_bytes(pp_json *json, const char *key, size_t size) {
    size_t plain = plain_size(key, size);
    if (ready(json) && plain < size && !pp_utf8_valid(key, size)) {
        refuse(json, PP_E_MALFORMED, "a key that is not UTF-8");
        return;
    }
    pp_json_level *level = &json->levels[json->depth];
    if (!may_begin(json, key, size) || (level->has_value && !put(json, ",", 1)))
        return;
    json->keys.size = level->key_at;
    char *kept = room(json, &json->keys, size);
    if (!kept)
        return;
    memcpy(kept, key, size);
    json->keys.size += size;
    level->name = NULL;
    level->key_size = size;
    level->has_key = true;
    put_quoted(json, key, size, plain);
    put(json, ":", 1);
}

void pp_json_name_key(pp_json *json, const pp_json_name *name) {
    pp_json_level *level = &json->levels[json->depth];
    size_t size = name->size - 3; /* without quotes and colon */
    if (!may_begin(json, name->quoted + 1, size))
        return;
    char *at = room(json, &json->text, name->size + 1);
    if (!at)
        return;
    *at = ',';
    memcpy(at + level->has_value, name->quoted, name->size);
    json->text.size += name->size + level->has_value;
    level->name = name->quoted + 1;
    level->key_size = size;
    level->has_key = true;
}

void pp_json_key(pp_json *json, const char *key) {
    pp_json_key_bytes(json, key, strlen(key));
}

void pp_json_document(pp_json *json, const char *text, size_t size) {
    if (begin_value(json))
        put(json, text, size);
}

void pp_json_null(pp_json *json) {
    if (begin_value(json))
        put_text(json, "null");
}

void pp_json_bool(pp_json *json, bool value) {
    if (begin_value(json))
        put_text(json, value ? "true" : "false");
}

enum { DIGITS_MAX = 21 }; /* 20 and a sign */

/* Most of a frame's record is numbers, and printf takes several times as long. */
static const char *digits_of(uint64_t value, bool negative, char digits[DIGITS_MAX],
                             size_t *ret_size) {
    char *at = digits + DIGITS_MAX;
    do
        *--at = (char)('0' + value % 10);
    while ((value /= 10) != 0);
    if (negative)
        *--at = '-';
    *ret_size = (size_t)(digits + DIGITS_MAX - at);
    return at;
}

void pp_json_i64(pp_json *json, int64_t value) {
    char digits[DIGITS_MAX];
    size_t size;
    uint64_t absolute = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    const char *text = digits_of(absolute, value < 0, digits, &size);
    if (begin_value(json))
        put(json, text, size);
}

void pp_json_u64(pp_json *json, uint64_t value) {
    char digits[DIGITS_MAX];
    size_t size;
    const char *text = digits_of(value, false, digits, &size);
    if (value > INT64_MAX)
        pp_json_string_bytes(json, text, size);
    else if (begin_value(json))
        put(json, text, size);
}

/* The locale's decimal sign, one byte or more, is the only thing in a %g text that is neither a
 * digit nor a sign nor 'e'. */
static void point_instead_of_locale(char *text) {
    char *to = text;
    for (const char *from = text; *from; from++) {
        if (strchr("0123456789+-e", *from))
            *to++ = *from;
        else if (to == text || to[-1] != '.')
            *to++ = '.';
    }
    *to = '\0';
}

void pp_json_double(pp_json *json, double value) {
    if (!ready(json))
        return;
    if (!isfinite(value)) {
        refuse(json, PP_E_INVALID, "NaN or infinity");
        return;
    }
    if (value == 0)
        value = 0; /* -0 is 0 */
    char text[64];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    point_instead_of_locale(text);
    if (begin_value(json))
        put_text(json, text);
}

static void put_hex(pp_json *json, const char *bytes, size_t size) {
    put(json, "{\"bytes_hex\":\"", 14);
    for (size_t i = 0; i < size; i++) {
        char hex[3];
        snprintf(hex, sizeof hex, "%02x", (unsigned char)bytes[i]);
        put(json, hex, 2);
    }
    put(json, "\"}", 2);
}

void pp_json_string_bytes(pp_json *json, const char *text, size_t size) {
    if (!begin_value(json))
        return;
    size_t plain = plain_size(text, size);
    if (plain == size || pp_utf8_valid(text, size))
        put_quoted(json, text, size, plain);
    else
        put_hex(json, text, size);
}

void pp_json_string(pp_json *json, const char *text) {
    if (text)
        pp_json_string_bytes(json, text, strlen(text));
    else
        pp_json_null(json);
}

pp_status pp_json_finish(pp_json *json, const char **ret_text, size_t *ret_size, pp_error *reterr) {
    if (ready(json) && (json->depth > 0 || !json->levels[0].has_value))
        refuse(json, PP_E_INVALID, "the document is not complete");
    if (!ready(json)) {
        if (reterr)
            *reterr = json->error;
        return json->error.status;
    }
    *ret_text = json->text.data;
    *ret_size = json->text.size;
    return PP_OK;
}

pp_status pp_json_take(pp_json *json, char **ret_text, size_t *ret_size, pp_error *reterr) {
    const char *text;
    pp_status status = pp_json_finish(json, &text, ret_size, reterr);
    if (status != PP_OK)
        return status;
    *ret_text = json->text.data;
    json->text = (pp_json_bytes){ 0 };
    return PP_OK;
}

void pp_json_done(pp_json *json) {
    if (!json)
        return;
    free(json->text.data);
    free(json->keys.data);
    memset(json, 0, sizeof *json);
}

void pp_json_again(pp_json *json) {
    enum { KEPT_MAX = 64 << 10 };
    if (json->text.capacity > KEPT_MAX) {
        free(json->text.data);
        json->text = (pp_json_bytes){ 0 };
    }
    json->text.size = json->keys.size = 0;
    json->levels[0] = (pp_json_level){ 0 };
    json->depth = 0;
    json->error.status = PP_OK;
}

/* Length of the UTF-8 sequence at `at`, 0 when there is none. Bounds of the second byte exclude
 * overlong forms, surrogates and what lies above U+10FFFF (Unicode, table 3-7). */
static size_t sequence_size(const unsigned char *at, size_t left) {
    unsigned char first = at[0];
    if (first < 0x80)
        return 1;
    size_t size = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    if (size == 0 || size > left)
        return 0;
    unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (at[1] < low || at[1] > high)
        return 0;
    for (size_t i = 2; i < size; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    return size;
}

static bool is_ascii(uint64_t word) {
    return (word & UINT64_C(0x8080808080808080)) == 0;
}

bool pp_utf8_valid(const char *bytes, size_t size) {
    const unsigned char *at = (const unsigned char *)bytes;
    for (size_t left = size; left > 0;) {
        uint64_t word;
        if (left >= sizeof word && (memcpy(&word, at, sizeof word), is_ascii(word))) {
            at += sizeof word;
            left -= sizeof word;
            continue;
        }
        size_t step = sequence_size(at, left);
        if (step == 0)
            return false;
        at += step;
        left -= step;
    }
    return true;
}
