/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRPERF_TEMPLATE_H
#define PAIRPERF_TEMPLATE_H

#include <stdint.h>

#include "pairperf/digest.h"
#include "pairperf/status.h"

/* A trusted tree that fresh homes start from (BOX-4). It is only ever read. */
typedef struct pp_template {
    uint64_t entries;
    uint64_t bytes;             /* sizes of its files */
    char sha256[PP_DIGEST_HEX]; /* of its manifest */
} pp_template;

/* May this tree serve as a template?
 *
 * Errors  PP_E_REFUSED  it holds symlinks, devices, sockets or FIFOs; detail names them (as many
 *                       as fit, then the number of others)
 *         PP_E_INVALID  not a directory
 *         and those of pp_manifest_build()
 */
pp_status pp_template_check(const char *directory, pp_template *ret_template, pp_error *reterr);

/* Checks it, copies what it holds into the existing directory `home`, and checks that content,
 * modes and times of the template are afterwards what they were before. Modes (07777) and
 * modification times are kept, holes stay holes, hard links become files of their own. The mode of
 * `home` itself stays.
 *
 * Errors  as above; PP_E_EXISTS  `home` already holds such a name
 *         PP_E_UNVERIFIED  the template changed meanwhile
 * A failed copy leaves what it had made.
 */
pp_status pp_template_copy(const char *directory, const char *home, pp_template *ret_template,
                           pp_error *reterr);

#endif
