/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_SANDBOX_H
#define PAIRPERF_SANDBOX_H

#include <stddef.h>

#include "pairperf/status.h"
#include "pairperf/template.h"

/* A home of its own for one run (BOX-2, BOX-5), and the environment that points into it (BOX-3).
 * Redirection only: this is no OS-enforced file-system or network sandbox (BOX-8).
 *
 * Names that the sandbox owns, and where they point:
 *
 *   HOME CFFIXED_USER_HOME      the home itself
 *   TMPDIR TMP TEMP             tmp
 *   XDG_CACHE_HOME              .cache
 *   XDG_CONFIG_HOME             .config
 *   XDG_DATA_HOME               .local/share
 *   XDG_STATE_HOME              .local/state
 *   XDG_RUNTIME_DIR             run
 *   PATH                        /usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin, unless named
 *
 * Names taken from the harness's environment when they are set there, and no others:
 *
 *   DISPLAY LANG LC_* LOGNAME TZ USER
 *
 * XDG_DATA_DIRS and XDG_CONFIG_DIRS are left unset: their defaults are the system's read-only
 * directories. */

typedef struct pp_sandbox {
    const char *home;                /* to be made; its parent exists */
    const char *template_dir;        /* copied into the home first, or NULL */
    const pp_template_watch *watch;  /* asked meanwhile, or NULL */
    const char *const *link_dotdirs; /* names like ".omlx", NULL-terminated; NULL = none */
    const char *real_home;           /* where the links lead; needed with link_dotdirs */
} pp_sandbox;

/* Makes the home, mode 0700, from template, links and the directories above. tmp and run are 0700
 * whatever the template says; other directories of the template keep their modes.
 *
 * ret_template  what was copied; untouched without a template. May be NULL.
 *
 * Errors  PP_E_EXISTS   the home, or what a link would be called, is already there
 *         PP_E_INVALID  a name that is not one dot-prefixed component; no absolute real_home
 *         PP_E_REFUSED  a name that the layout above uses; a link to something that is no directory
 *         and those of pp_template_copy() and fs.h
 * A failure leaves what was made: evidence is not deleted.
 */
pp_status pp_sandbox_prepare(const pp_sandbox *sandbox, pp_template *ret_template,
                             pp_error *reterr);

/* "K=V" strings and names, each array NULL-terminated or NULL. */
typedef struct pp_environment_request {
    const char *home;
    const char *const *pass;  /* names taken from the harness's environment, where set */
    const char *const *set;   /* "K=V"; beats pass */
    const char *const *extra; /* "K=V" of the harness itself; beats set */
} pp_environment_request;

/* Sorted by name; `entries` ends with NULL. */
typedef struct pp_environment {
    char **entries; /* "K=V" */
    size_t count;
    size_t capacity;
} pp_environment;

/* ret_environment  pp_environment_done() frees it
 *
 * Errors  PP_E_REFUSED  pass, set or extra name what the sandbox owns (PATH may be named)
 *         PP_E_INVALID  an entry without a name, or a home that is not absolute
 */
pp_status pp_sandbox_environment(const pp_environment_request *request,
                                 pp_environment *ret_environment, pp_error *reterr);

/* Frees and empties; NULL is fine. */
void pp_environment_done(pp_environment *environment);

/* Bytes left for the name of a socket in TMPDIR (negative: none), of a limit that the system sets
 * for a whole socket path with its NUL. */
long pp_sandbox_socket_room(const char *home, size_t *ret_limit);

#endif
