/* SPDX-License-Identifier: Apache-2.0 */
/* The environment begins empty and gains only what the table, the allow-list and the caller name;
 * nothing is removed from an inherited one. Later sources replace earlier ones by name, and none
 * may touch what the sandbox owns. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "fs_internal.h"
#include "pairperf/sandbox.h"
#include "platform.h"
#include "sandbox_layout.h"

#define DEFAULT_PATH "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"

/* A trailing * stands for any rest. */
static const char *const ambient[] = { "DISPLAY", "LANG", "LC_*", "LOGNAME", "TZ", "USER" };

static size_t name_size(const char *entry) {
    const char *sign = strchr(entry, '=');
    return sign ? (size_t)(sign - entry) : strlen(entry);
}

static bool has_name(const char *entry, const char *name) {
    size_t size = strlen(name);
    return name_size(entry) == size && memcmp(entry, name, size) == 0;
}

static bool is_owned(const char *entry) {
    for (size_t i = 0; i < pp__sandbox_place_count; i++)
        if (has_name(entry, pp__sandbox_places[i].name))
            return true;
    return false;
}

static bool is_ambient(const char *entry) {
    if (!strchr(entry, '='))
        return false;
    for (size_t i = 0; i < sizeof ambient / sizeof *ambient; i++) {
        size_t size = strlen(ambient[i]);
        if (ambient[i][size - 1] == '*' ? strncmp(entry, ambient[i], size - 1) == 0
                                        : has_name(entry, ambient[i]))
            return true;
    }
    return false;
}

void pp_environment_done(pp_environment *environment) {
    if (!environment)
        return;
    for (size_t i = 0; i < environment->count; i++)
        free(environment->entries[i]);
    free(environment->entries);
    *environment = (pp_environment){ 0 };
}

/* Room for one more and the NULL. */
static bool grow(pp_environment *environment) {
    if (environment->count + 1 < environment->capacity)
        return true;
    size_t capacity = environment->capacity ? environment->capacity * 2 : 32;
    char **grown = realloc(environment->entries, capacity * sizeof *grown);
    if (!grown)
        return false;
    environment->entries = grown;
    environment->capacity = capacity;
    return true;
}

/* Adds "K=V" or replaces what has its name. Takes `entry`, which may be NULL (no memory). */
static pp_status put(pp_environment *environment, char *entry, pp_error *reterr) {
    if (!entry || !grow(environment)) {
        free(entry);
        return pp_fail(reterr, PP_E_NOMEM, ENOMEM, "malloc", "environment");
    }
    size_t size = name_size(entry) + 1;
    for (size_t i = 0; i < environment->count; i++) {
        if (strncmp(environment->entries[i], entry, size) == 0) {
            free(environment->entries[i]);
            environment->entries[i] = entry;
            return PP_OK;
        }
    }
    environment->entries[environment->count++] = entry;
    environment->entries[environment->count] = NULL;
    return PP_OK;
}

static char *entry_for_place(const char *home, const pp__sandbox_place *place) {
    PP_AUTO_FREE char *path =
        *place->directory ? pp__fs_join(home, place->directory) : strdup(home);
    size_t size = path ? strlen(place->name) + strlen(path) + 2 : 0;
    char *entry = path ? malloc(size) : NULL;
    if (!entry)
        return NULL;
    size_t name = strlen(place->name);
    memcpy(entry, place->name, name);
    entry[name] = '=';
    memcpy(entry + name + 1, path, size - name - 1);
    return entry;
}

static pp_status put_base(pp_environment *environment, const char *home, pp_error *reterr) {
    pp_status status = put(environment, strdup(DEFAULT_PATH), reterr);
    for (size_t i = 0; status == PP_OK && i < pp__sandbox_place_count; i++)
        status = put(environment, entry_for_place(home, &pp__sandbox_places[i]), reterr);
    for (char **entry = pp_platform_environment(); status == PP_OK && *entry; entry++)
        if (is_ambient(*entry))
            status = put(environment, strdup(*entry), reterr);
    return status;
}

static pp_status check_name(const char *entry, pp_error *reterr) {
    if (name_size(entry) == 0)
        return pp_fail(reterr, PP_E_INVALID, 0, "environment", "%s: the name is missing", entry);
    if (is_owned(entry))
        return pp_fail(reterr, PP_E_REFUSED, 0, "environment", "%.*s: belongs to the sandbox",
                       (int)name_size(entry), entry);
    return PP_OK;
}

static pp_status put_passed(pp_environment *environment, const char *const *names,
                            pp_error *reterr) {
    for (; names && *names; names++) {
        pp_status status = check_name(*names, reterr);
        if (status == PP_OK && strchr(*names, '='))
            status = pp_fail(reterr, PP_E_INVALID, 0, "environment", "%s: not a name", *names);
        for (char **entry = pp_platform_environment(); status == PP_OK && *entry; entry++)
            if (strchr(*entry, '=') && has_name(*entry, *names))
                status = put(environment, strdup(*entry), reterr);
        if (status != PP_OK)
            return status;
    }
    return PP_OK;
}

static pp_status put_set(pp_environment *environment, const char *const *entries,
                         pp_error *reterr) {
    for (; entries && *entries; entries++) {
        pp_status status = check_name(*entries, reterr);
        if (status == PP_OK && !strchr(*entries, '='))
            status = pp_fail(reterr, PP_E_INVALID, 0, "environment", "%s: no value", *entries);
        if (status == PP_OK)
            status = put(environment, strdup(*entries), reterr);
        if (status != PP_OK)
            return status;
    }
    return PP_OK;
}

static int compare_names(const void *a, const void *b) {
    const char *left = *(char *const *)a, *right = *(char *const *)b;
    size_t left_size = name_size(left), right_size = name_size(right);
    int order = memcmp(left, right, left_size < right_size ? left_size : right_size);
    return order ? order : (left_size > right_size) - (left_size < right_size);
}

pp_status pp_sandbox_environment(const pp_environment_request *request,
                                 pp_environment *ret_environment, pp_error *reterr) {
    if (request->home[0] != '/')
        return pp_fail(reterr, PP_E_INVALID, 0, "environment", "%s: not absolute", request->home);
    pp_environment environment = { 0 };
    pp_status status = put_base(&environment, request->home, reterr);
    if (status == PP_OK)
        status = put_passed(&environment, request->pass, reterr);
    if (status == PP_OK)
        status = put_set(&environment, request->set, reterr);
    if (status == PP_OK)
        status = put_set(&environment, request->extra, reterr);
    if (status != PP_OK) {
        pp_environment_done(&environment);
        return status;
    }
    qsort(environment.entries, environment.count, sizeof *environment.entries, compare_names);
    *ret_environment = environment;
    return PP_OK;
}
