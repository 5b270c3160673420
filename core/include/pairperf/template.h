/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_TEMPLATE_H
#define PAIRPERF_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pairperf/digest.h"
#include "pairperf/status.h"

/* A trusted tree that fresh homes start from (BOX-4). It is only ever read. */
typedef struct pp_template {
    uint64_t entries;
    uint64_t bytes;             /* sizes of its files */
    char sha256[PP_DIGEST_HEX]; /* of its manifest */
} pp_template;

/* Asked on the caller's thread about ten times a second while a template is hashed, and after each
 * file and between some MiB of one while it is copied. False: stop. May be NULL. */
typedef struct pp_template_watch {
    bool (*go_on)(void *ctx);
    void *ctx;
} pp_template_watch;

/* May this tree serve as a template?
 *
 * watch  or NULL
 *
 * Errors  PP_E_REFUSED    it holds symlinks, devices, sockets or FIFOs; detail names them (as many
 *                         as fit, then the number of others; pp_template_rejects_list() gives all)
 *         PP_E_INVALID    not a directory
 *         PP_E_CANCELLED  go_on said no
 *         and those of pp_manifest_build()
 */
pp_status pp_template_check(const char *directory, const pp_template_watch *watch,
                            pp_template *ret_template, pp_error *reterr);

/* What no home may start with, by path: symlinks, devices, sockets and FIFOs. */
typedef struct pp_template_reject {
    char *path;       /* relative to the template */
    const char *type; /* "symlink", "fifo", ...; static */
} pp_template_reject;

typedef struct pp_template_rejects {
    pp_template_reject *items;
    size_t count;
} pp_template_rejects;

/* All of them; only lists, reads no file.
 *
 * ret_rejects  pp_template_rejects_done() frees it
 *
 * Errors  as pp_template_check(), but PP_E_REFUSED
 */
pp_status pp_template_rejects_list(const char *directory, pp_template_rejects *ret_rejects,
                                   pp_error *reterr);

/* Frees and empties; NULL is fine. */
void pp_template_rejects_done(pp_template_rejects *rejects);

/* Checks it, copies what it holds into the existing directory `home`, and checks that content,
 * modes and times of the template are afterwards what they were before. Modes (07777) and
 * modification times are kept, holes stay holes, hard links become files of their own. The mode of
 * `home` itself stays.
 *
 * Errors  as above; PP_E_EXISTS  `home` already holds such a name
 *         PP_E_UNVERIFIED  the template changed meanwhile
 * A failed copy leaves what it had made.
 */
pp_status pp_template_copy(const char *directory, const char *home, const pp_template_watch *watch,
                           pp_template *ret_template, pp_error *reterr);

#endif
