/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_JSON_WRITE_H
#define PAIRPERF_JSON_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pairperf/status.h"

/* The writer of all evidence: one value as canonical JSON in memory.
 *
 * Form     no spaces, no line end; keys strictly ascending by their bytes; raw UTF-8, escaped are
 *          only `"`, `\` and bytes below 0x20 (short form, else \u00xx); integers exact; doubles
 *          the first of %.15g, %.16g, %.17g that reads back equal, -0 as 0, always with a point,
 *          whatever the locale
 * Strings  bytes that are not UTF-8 become the object {"bytes_hex":"<lowercase hex>"}
 *
 * Errors are kept: after the first one every call does nothing and pp_json_finish() reports it:
 *          PP_E_INVALID    a key missing, misplaced or out of order; a value too many; an open or
 *                          never begun value at the end; NaN or infinity
 *          PP_E_MALFORMED  a key that is not UTF-8
 *          PP_E_NOMEM      no memory, or nested deeper than PP_JSON_DEPTH
 */

enum { PP_JSON_DEPTH = 100 };

typedef struct pp_json_level {
    char kind; /* '{', '[', or 0 for the document itself */
    bool has_value;
    bool has_key;     /* a key waits for its value */
    const char *name; /* the last key of this object; NULL: it is in `keys`, from key_at on */
    size_t key_at;
    size_t key_size; /* its length */
} pp_json_level;

typedef struct pp_json_bytes {
    char *data;
    size_t size, capacity;
} pp_json_bytes;

/* Zero-initialised is ready to write. Fields are private. */
typedef struct pp_json {
    pp_json_bytes text;
    pp_json_bytes keys; /* last key of each open object, innermost last */
    pp_json_level levels[PP_JSON_DEPTH + 1];
    size_t depth;
    pp_error error; /* status PP_OK while all is well */
} pp_json;

/* Frees the memory; ready to write again. NULL is fine. */
void pp_json_done(pp_json *json);
/* Ready to write another document into the same memory, of which a small one is kept. */
void pp_json_again(pp_json *json);

void pp_json_begin_object(pp_json *json);
void pp_json_end_object(pp_json *json);
void pp_json_begin_array(pp_json *json);
void pp_json_end_array(pp_json *json);

/* A key of the innermost object; greater than the one before. */
void pp_json_key(pp_json *json, const char *key);
void pp_json_key_bytes(pp_json *json, const char *key, size_t size);

/* A key that is known when the program is built, plain ASCII without `"` and `\`: several times
 * faster than the above. `name` is made by PP_JSON_NAME and lives as long as the object is open. */
typedef struct pp_json_name {
    const char *quoted; /* with the quotes and the colon */
    size_t size;
} pp_json_name;
#define PP_JSON_NAME(key)                                                                          \
    { "\"" key "\":", sizeof "\"" key "\":" - 1 }
void pp_json_name_key(pp_json *json, const pp_json_name *name);

void pp_json_null(pp_json *json);
void pp_json_bool(pp_json *json, bool value);
void pp_json_i64(pp_json *json, int64_t value);
/* Above 2^63-1 a string of decimal digits. */
void pp_json_u64(pp_json *json, uint64_t value);
void pp_json_double(pp_json *json, double value);
/* A string; NULL writes null. */
void pp_json_string(pp_json *json, const char *text);
void pp_json_string_bytes(pp_json *json, const char *text, size_t size);
/* A value: the text of a document that another writer finished. */
void pp_json_document(pp_json *json, const char *text, size_t size);

/* Before anything is written: the text begins in this malloc'd memory, which is taken over. */
void pp_json_into(pp_json *json, char *memory, size_t size);

/* Ends the document. *ret_text has no NUL and belongs to `json`, valid until it is written again
 * or done. */
pp_status pp_json_finish(pp_json *json, const char **ret_text, size_t *ret_size, pp_error *reterr);

/* Ends the document and hands its text over: the caller frees it. */
pp_status pp_json_take(pp_json *json, char **ret_text, size_t *ret_size, pp_error *reterr);

/* Is this strict UTF-8 (no surrogates, no overlong forms, at most U+10FFFF)? */
bool pp_utf8_valid(const char *bytes, size_t size);

#endif
