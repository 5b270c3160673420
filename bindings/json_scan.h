/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_JSON_SCAN_H
#define PAIRPERF_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A cursor over one JSON text without spaces. It accepts plain canonical text only: printable ASCII
 * strings without escapes, integers of 64 bits, keys in rising order. `checked` says that
 * jansson read the text and wrote it again: then escapes, UTF-8 and reals are accepted, too.
 * Whatever it does not accept is answered with false, and says nothing about the text's validity.
 */
typedef struct json_scan {
    const char *at, *end;
    bool checked;
    int depth;
} json_scan;

/* A string as it stands between its quotes. */
typedef struct json_slice {
    const char *text;
    size_t size;
    bool escaped;
} json_slice;

/* Steps over `c`. */
bool json_scan_char(json_scan *scan, char c);
bool json_scan_string(json_scan *scan, json_slice *ret_slice);
/* A member's key and its colon; `last` is the key before it, or {0}, and becomes this one. */
bool json_scan_key(json_scan *scan, json_slice *last);
/* ret_real: it has a fraction or an exponent, or is beyond 64 bits; ret_value is 0 then. */
bool json_scan_number(json_scan *scan, int64_t *ret_value, bool *ret_real);
/* Steps over any value. */
bool json_scan_skip(json_scan *scan);
/* Steps over `word` ("null"). */
bool json_scan_word(json_scan *scan, const char *word, size_t size);

int json_compare(const char *one, size_t one_size, const char *other, size_t other_size);

#endif
