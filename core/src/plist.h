/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_PLIST_H
#define PAIRPERF_PLIST_H

#include <stddef.h>

#include "pairperf/status.h"

/* One string to be taken from the top dictionary of a property list. */
typedef struct pp__plist_want {
    const char *key;
    char *value; /* NULL when the key is absent; the caller frees it, also after an error */
} pp__plist_want;

/* Reads an XML property list strictly: the whole text must be one, and a wanted key must hold a
 * string, at most once.
 *
 * wants   filled in; values must be NULL before
 * Errors  PP_E_UNSUPPORTED  a binary property list
 *         PP_E_MALFORMED    detail says what and in which line
 */
pp_status pp__plist_read(const char *text, size_t size, pp__plist_want *wants, size_t count,
                         pp_error *reterr);

#endif
