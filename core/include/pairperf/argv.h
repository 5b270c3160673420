/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_ARGV_H
#define PAIRPERF_ARGV_H

#include <stddef.h>

#include "pairperf/status.h"

/* A command line in words, split as a shell splits quotes, and nothing else of a shell: no
 * variables, globs, tildes, operators or comments; those characters stand for themselves.
 *
 *   blank, tab, newline   end a word outside quotes
 *   '...'                 everything as it is
 *   "..."                 \ before " \ $ ` or newline escapes, else it stays
 *   \c                    outside quotes: c; before a newline: nothing
 *   '' and ""             an empty word
 */
typedef struct pp_argv {
    char **words; /* `count` words, then NULL; one block of memory with their text */
    size_t count;
} pp_argv;

/* ret_argv  pp_argv_done() frees it
 *
 * Errors    PP_E_INVALID  a quote that is not closed (detail names its position, from 1), or a
 *                         backslash at the end
 *           PP_E_NOMEM
 */
pp_status pp_argv_split(const char *text, pp_argv *ret_argv, pp_error *reterr);

/* Frees and empties; NULL is fine. */
void pp_argv_done(pp_argv *argv);

#endif
