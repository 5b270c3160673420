/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing is taken for JSON here that jansson would refuse: what is not plain is left to it. */
#include "json_scan.h"

#include <string.h>

enum { DEPTH_MAX = 64 };

int json_compare(const char *one, size_t one_size, const char *other, size_t other_size) {
    int order = memcmp(one, other, one_size < other_size ? one_size : other_size);
    return order ? order : (one_size > other_size) - (one_size < other_size);
}

bool json_scan_char(json_scan *scan, char c) {
    if (scan->at == scan->end || *scan->at != c)
        return false;
    scan->at++;
    return true;
}

bool json_scan_word(json_scan *scan, const char *word, size_t size) {
    if ((size_t)(scan->end - scan->at) < size || memcmp(scan->at, word, size) != 0)
        return false;
    scan->at += size;
    return true;
}

bool json_scan_string(json_scan *scan, json_slice *ret_slice) {
    if (!json_scan_char(scan, '"'))
        return false;
    json_slice slice = { .text = scan->at };
    for (const char *at = scan->at; at < scan->end; at++) {
        unsigned char c = (unsigned char)*at;
        if (c == '"') {
            slice.size = (size_t)(at - slice.text);
            scan->at = at + 1;
            *ret_slice = slice;
            return true;
        }
        if (c < 0x20 || (!scan->checked && (c == '\\' || c > 0x7e)))
            return false;
        if (c == '\\') {
            slice.escaped = true;
            at++;
        }
    }
    return false;
}

bool json_scan_key(json_scan *scan, json_slice *last) {
    json_slice key;
    if (!json_scan_string(scan, &key))
        return false;
    if (!scan->checked && last->text &&
        json_compare(last->text, last->size, key.text, key.size) >= 0)
        return false;
    *last = key;
    return json_scan_char(scan, ':');
}

static bool is_digit(const json_scan *scan) {
    return scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9';
}

static bool is_real_mark(const json_scan *scan) {
    return scan->at < scan->end && (*scan->at == '.' || *scan->at == 'e' || *scan->at == 'E');
}

static bool is_sign(const json_scan *scan) {
    return scan->at < scan->end && (*scan->at == '+' || *scan->at == '-');
}

/* The rest of a number that jansson wrote. */
static void skip_real(json_scan *scan) {
    while (is_digit(scan) || is_sign(scan) || is_real_mark(scan))
        scan->at++;
}

bool json_scan_number(json_scan *scan, int64_t *ret_value, bool *ret_real) {
    bool negative = json_scan_char(scan, '-');
    const char *digits = scan->at;
    int64_t value = 0;
    bool beyond = false;
    for (; is_digit(scan); scan->at++) /* added up below 0: that reaches one further */
        beyond |= __builtin_mul_overflow(value, 10, &value) ||
                  __builtin_sub_overflow(value, *scan->at - '0', &value);
    if (scan->at == digits)
        return false;
    bool leading = *digits == '0' && (negative || scan->at - digits > 1);
    beyond |= !negative && value == INT64_MIN;
    beyond |= is_real_mark(scan);
    if ((leading || beyond) && !scan->checked)
        return false;
    if (beyond)
        skip_real(scan);
    *ret_real = beyond;
    *ret_value = beyond ? 0 : negative ? value : -value;
    return true;
}

static bool skip_members(json_scan *scan, char close, bool keys) {
    json_slice key = { 0 };
    if (json_scan_char(scan, close))
        return true;
    do {
        if ((keys && !json_scan_key(scan, &key)) || !json_scan_skip(scan))
            return false;
    } while (json_scan_char(scan, ','));
    return json_scan_char(scan, close);
}

bool json_scan_skip(json_scan *scan) {
    json_slice slice;
    int64_t value;
    bool real;
    if (scan->at == scan->end || scan->depth >= DEPTH_MAX)
        return false;
    switch (*scan->at) {
    case '"':
        return json_scan_string(scan, &slice);
    case '{':
    case '[': {
        bool keys = *scan->at++ == '{';
        scan->depth++;
        bool fine = skip_members(scan, keys ? '}' : ']', keys);
        scan->depth--;
        return fine;
    }
    case 't':
        return json_scan_word(scan, "true", 4);
    case 'f':
        return json_scan_word(scan, "false", 5);
    case 'n':
        return json_scan_word(scan, "null", 4);
    default:
        return json_scan_number(scan, &value, &real);
    }
}
