/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_JSON_SCAN_H
#define SIM_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A reader for the supervisor's own lines: no white space, and a value is a slice of the text. */
typedef struct json_slice {
    const char *at;
    size_t size;
} json_slice;

/* The members of an object, or the elements of an array (then *ret_key is empty), one by one.
 * Start with a zeroed `at`. False at the end, and with *broken when the text is no JSON. */
bool json_next(json_slice container, const char **at, json_slice *ret_key, json_slice *ret_value,
               bool *broken);
/* The member called `key`; size 0 when there is none. */
json_slice json_member(json_slice object, const char *key);
bool json_is(json_slice value, const char *text);
uint64_t json_u64(json_slice value);
/* The string without its quotes (nothing that matters here is escaped). */
json_slice json_string(json_slice value);

#endif
