/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PP_JSON_KEYS_H
#define PP_JSON_KEYS_H

#include "pairperf/json_write.h"
#include "pairperf/proc.h"

/* One key and its value, for records that are written by hand. */

static inline void key_text(pp_json *json, const char *key, const char *text) {
    pp_json_key(json, key);
    pp_json_string(json, text);
}

static inline void key_bool(pp_json *json, const char *key, bool value) {
    pp_json_key(json, key);
    pp_json_bool(json, value);
}

static inline void key_i64(pp_json *json, const char *key, int64_t value) {
    pp_json_key(json, key);
    pp_json_i64(json, value);
}

static inline void key_u64(pp_json *json, const char *key, uint64_t value) {
    pp_json_key(json, key);
    pp_json_u64(json, value);
}

/* A missing reading is null; its reason goes elsewhere in the record. */
static inline void key_reading(pp_json *json, const char *key, pp_reading value) {
    pp_json_key(json, key);
    if (value.known)
        pp_json_u64(json, value.value);
    else
        pp_json_null(json);
}

/* How a process ended: {"code":0} or {"core":false,"signal":"SIGTERM"}. */
static inline void write_exit_status(pp_json *json, const pp_exit *exit) {
    pp_json_begin_object(json);
    if (exit->by_signal) {
        key_bool(json, "core", exit->core_dumped);
        key_text(json, "signal", pp_signal_name(exit->signal_number));
    } else {
        key_i64(json, "code", exit->code);
    }
    pp_json_end_object(json);
}

#endif
